"""The page: one file of HTML that opens in any browser, without a server and without a network."""

from oleander.report.page.writing import Page, make_page, write_report

__all__ = ["Page", "make_page", "write_report"]
