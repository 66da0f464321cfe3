"""Reports for people: displays drawn with matplotlib, and the page."""

from oleander.report.displays import RulesDisplay, TradeOffDisplay
from oleander.report.page import Page, make_page

__all__ = ["Page", "RulesDisplay", "TradeOffDisplay", "make_page"]
