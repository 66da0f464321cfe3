"""Reports for people: displays drawn with matplotlib, and the page."""

from oleander.report.displays import CoverageDisplay, ExplainerDisplay, TradeOffDisplay
from oleander.report.page import write_report

__all__ = ["CoverageDisplay", "ExplainerDisplay", "TradeOffDisplay", "write_report"]
