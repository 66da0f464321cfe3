"""Unions of boxes, learned and chosen on labelled draws: a family from careful to bold."""
