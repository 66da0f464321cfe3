"""What people see: displays to draw with matplotlib, and the page."""

from oleander.report.displays import CoverageDisplay, ExplainerDisplay, FrontierDisplay
from oleander.report.page import write_report

__all__ = ["CoverageDisplay", "ExplainerDisplay", "FrontierDisplay", "write_report"]
