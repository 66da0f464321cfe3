"""The page: one file of HTML that opens anywhere, without a server and without the net."""

from oleander.report.page.writing import write_report

__all__ = ["write_report"]
