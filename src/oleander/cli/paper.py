"""The options of ``explain`` that choose candidates: the paper's system, or generators by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oleander.aggregate import AggregateExplainer
from oleander.candidates.balls import Balls
from oleander.cli import options as given
from oleander.cli.errors import CommandError, ExitCode, note
from oleander.explainers import FilteredTree, LimeLinear, LocalExplainer, SparseLine, UnfilteredTree

LOCAL: Mapping[str, LocalExplainer] = {
    "tree": FilteredTree(max_leaves=None),
    "unfiltered": UnfilteredTree(max_leaves=None),
    "lime": LimeLinear(),
    "line": SparseLine(),
}


@dataclass(frozen=True)
class PaperOptions:
    """The options of ``--paper``; None or False where one is not given.

    Parameters
    ----------
    radius : list of str or None
    local, formulation : str or None
    letter : bool
    draws : int or None
        Draws in each ball.
    include_rows : bool
        Whether files may hold rows; balls stand on rounded rows otherwise.
    """

    radius: Sequence[str] | None
    local: str | None
    formulation: str | None
    letter: bool
    draws: int | None
    include_rows: bool

    def refuse(self) -> None:
        """Refuse options that would do nothing without ``--paper``."""
        for name in ("local", "formulation", "letter"):
            if getattr(self, name):
                raise _wrong(f"--{name} is an option of the paper's system: add --paper, or leave it out.")

    def check(self, **unused: Any) -> None:
        """Refuse values that are not allowed, contradictions, and options that ``--paper`` has no use for."""
        for name, value in unused.items():
            if value is not None:
                raise _wrong(f"--{name.replace('_', '-')} does nothing with --paper: leave out one.")
        if self.radius is None:
            raise _wrong("--paper needs a radius in the units of the data, such as --radius 7.")
        if self.local is not None and self.local not in LOCAL:
            raise _wrong(f"--local {self.local} is not known: use {', '.join(LOCAL)}.")
        if self.formulation not in (None, "strict", "selective"):
            raise _wrong(f"--formulation {self.formulation} is not known: use strict or selective.")
        if self.draws == 0:
            raise _wrong("--draws 0 is not allowed with --paper: explainers learn from draws in balls.")
        if self.letter and self.formulation == "strict":
            raise _wrong("--letter stands for the printed program: leave out --formulation strict.")
        if self.letter and not self.include_rows:
            raise _wrong("--letter centers balls on rows, which the files would hold: allow it with --include-rows.")
        read_radii(self.radius)

    def make(self, black_box: Any, **options: Any) -> AggregateExplainer:
        """Return the paper's system."""
        if not self.include_rows:
            note("balls stand on rounded rows, so that no file holds a row; --include-rows takes the rows themselves.")
        if self.draws is not None:
            options["n_draws"] = self.draws
        return AggregateExplainer.paper(
            black_box,
            radius=read_radii(self.radius or ()),
            # The letter's tree has a filter of its own.
            local=None if self.local in (None, "tree") else LOCAL[self.local],
            formulation=self.formulation,  # type: ignore[arg-type]
            letter=self.letter,
            centers="rows" if self.include_rows else "rounded",
            **options,
        )


def read_candidates(names: str, radius: Sequence[str] | None) -> Any:
    """Return the parameter ``candidates`` that ``--candidates`` and ``--radius`` describe.

    Examples
    --------
    >>> read_candidates("auto", None), read_candidates("nodes,boxes", None)
    ('auto', ('nodes', 'boxes'))
    >>> read_candidates("auto", ["1.5"]).radius, read_candidates("balls", ["1,2"]).radius
    (1.5, [1.0, 2.0])
    """
    if radius is None:
        return names if names == "auto" else given.split_names([names])
    if names not in ("auto", "balls"):
        raise _wrong(f"--radius is for balls, and --candidates is {names}: leave out one.")
    return Balls(read_radii(radius))


def read_radii(radius: Sequence[str]) -> Any:
    """Return the radius that ``--radius`` gives, once or several times, with commas or without.

    Examples
    --------
    >>> read_radii(["7"]), read_radii(["5", "7,9"]), read_radii(["auto"])
    (7.0, [5.0, 7.0, 9.0], 'auto')
    """
    words = given.split_names(list(radius))
    if words == ("auto",):
        return "auto"
    try:
        radii = [float(word) for word in words]
    except ValueError:
        radii = []
    if not radii:
        raise _wrong(f"--radius {' '.join(radius)} is not allowed: give auto, a number, or several numbers.")
    return radii[0] if len(radii) == 1 else radii


def _wrong(sentence: str) -> CommandError:
    return CommandError(sentence, ExitCode.USAGE)
