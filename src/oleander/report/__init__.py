"""What people see: displays to draw with matplotlib."""

from oleander.report.displays import CoverageDisplay, ExplainerDisplay, FrontierDisplay

__all__ = ["CoverageDisplay", "ExplainerDisplay", "FrontierDisplay"]
