"""The page: one file of HTML that opens in any browser, without a server and without a network."""

from oleander.report.page.writing import write_report

__all__ = ["write_report"]
