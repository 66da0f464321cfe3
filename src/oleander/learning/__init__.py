"""Rules learned and chosen on labelled draws, and judged on rows: a sequence of rule sets from cautious to bold."""
