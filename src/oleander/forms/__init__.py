"""Forms of answer: how explainers are made and read together."""
