"""The page: a fit as one file of HTML."""

from oleander.report.page import Page, make_page

__all__ = ["Page", "make_page"]
