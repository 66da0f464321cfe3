"""The look of a study's figures. matplotlib is imported when a figure is drawn, not before."""

import io
from dataclasses import dataclass
from typing import Any

from oleander.messages import import_extra

# Okabe and Ito's colours, which most kinds of colour blindness keep apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "*")
SYNTHETIC = "synthetic cohort, no real patients"


@dataclass(frozen=True)
class Pen:
    """Makes figures; their titles say when the data are synthetic."""

    # Whether every title says that the data are synthetic.
    is_synthetic: bool = False

    def sheet(
        self,
        title: str,
        n_rows: int = 1,
        n_columns: int = 1,
        *,
        width: float = 4.2,
        height: float = 3.4,
        **options: Any,
    ) -> tuple[Any, Any]:
        """Return a new figure and its axes, as an array of shape (n_rows, n_columns)."""
        figures = import_extra("matplotlib.figure", extra="plot", purpose="Drawing a study's figures")
        figure = figures.Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
        figure.suptitle(f"{title}\n({SYNTHETIC})" if self.is_synthetic else title, fontsize="medium")
        for ax in axes.flat:
            ax.spines[["top", "right"]].set_visible(False)
        return figure, axes


def to_png(figure: Any, dpi: int = 110) -> bytes:
    """Return a figure as the bytes of a PNG file, the same bytes for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()
