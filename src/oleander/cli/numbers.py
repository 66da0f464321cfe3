"""The options of ``explain`` for numbers: a tolerance, a threshold, and the probability of a class."""

from dataclasses import dataclass
from typing import Any, Literal

from oleander.black_box.output import Output
from oleander.cli.errors import CommandError, ExitCode
from oleander.data.tolerance import Tolerance
from oleander.running.wording import list_some


@dataclass(frozen=True)
class NumberOptions:
    """The options as they are given.

    Parameters
    ----------
    tolerance : str or None
        A number, a share such as "10%", or "auto".
    threshold : float or None
    proba : str or None
        The class whose probability is explained.
    """

    tolerance: str | None = None
    threshold: float | None = None
    proba: str | None = None

    @property
    def is_regression(self) -> bool:
        """Whether a model that is trained here is one of regression."""
        return self.proba is None and (self.tolerance is not None or self.threshold is not None)

    def check(self, local: str | None = None, candidates: str | None = None) -> None:
        """Raise ``CommandError`` for options that do not go together.

        Parameters
        ----------
        local : str or None
            What is trained in each ball of the paper's system.
        candidates : str or None
            The names of generators.
        """
        wrong = ""
        if self.tolerance is not None and local == "lime":
            wrong = "--local lime explains labels: with --tolerance use tree, unfiltered or line."
        if self.tolerance is None and local == "line":
            wrong = "--local line explains numbers: give --tolerance, or use tree, unfiltered or lime."
        if self.tolerance is not None and candidates not in (None, "auto", "balls"):
            wrong = f"--candidates {candidates} explains labels: with --tolerance leave it out, or use balls."
        if self.tolerance is not None and self.threshold is not None:
            wrong = "--threshold makes labels of numbers, which need no --tolerance: leave out one."
        if self.proba is not None and self.tolerance is None and self.threshold is None:
            wrong = "--proba explains a number: give --tolerance, such as 0.05, or --threshold."
        if wrong:
            raise CommandError(wrong, ExitCode.USAGE)
        if self.tolerance not in (None, "auto"):
            Tolerance.read(self._read_tolerance())

    def make(self, model: Any) -> dict[str, Any]:
        """Return the parameters of the explainer of a model."""
        of: Literal["predict", "proba"] = "predict" if self.proba is None else "proba"
        output = Output(of, None if self.proba is None else self._find_class(model), self.threshold)
        return {"tolerance": self._read_tolerance(), "output": output}

    def _read_tolerance(self) -> float | str | None:
        try:
            return None if self.tolerance is None else float(self.tolerance)
        except ValueError:
            return self.tolerance

    def _find_class(self, model: Any) -> Any:
        """Return the class by its name, as the model has it: a number that is written as text is a number."""
        known = getattr(model, "classes_", None)
        if known is None:
            return self.proba
        classes = known.tolist() if hasattr(known, "tolist") else list(known)
        for one in classes:
            if str(one) == self.proba:
                return one
        raise CommandError(
            f"--proba {self.proba} is no class of the model; it has {list_some(classes)}.", ExitCode.USAGE
        )
