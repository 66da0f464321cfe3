"""Rows on their way in: read, checked, encoded, merged and split."""
