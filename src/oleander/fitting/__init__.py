"""From rows to explainers: propose candidates, choose by a program, judge."""
