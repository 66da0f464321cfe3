"""The steps of the studies. Each module computes tables and facts, draws figures and says what the page shows."""
