"""A fit on more rows than memory holds: a sample of them to learn from, and a count of the outcome on all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from numpy.typing import NDArray

from oleander.arrays import Ints
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox
from oleander.data.checks import names_of_columns, seed_of
from oleander.results.explanation import rank_highest
from oleander.results.outcome import Outcome
from oleander.storage.checkpoint import Checkpoint
from oleander.streaming import Sample, Source, count_all, draw_sample, sample_size


@dataclass(frozen=True, eq=False)
class SourceFit:
    """What is learned from of a source, and how the rest of it is counted.

    Parameters
    ----------
    source : Source
    sample : Sample
    options : mapping
        Of the explainer that is fitted on the sample.
    checkpoint : Checkpoint or None
    truth, groups : array or None
        True labels of the sample's rows, and which of them belong together.
    is_paid : bool
        Whether ``max_queries`` allows that all rows are counted.
    """

    source: Source
    sample: Sample
    options: Mapping[str, Any]
    checkpoint: Checkpoint | None
    truth: NDArray[Any] | None
    groups: NDArray[Any] | None
    is_paid: bool

    @classmethod
    def plan(cls, source: Source, options: Mapping[str, Any], y: str | None, groups: str | None) -> Self:
        """Draw the sample.

        Parameters
        ----------
        source : Source
        options : mapping
            The user's, by the names of the explainer's parameters.
        y, groups : str or None
            Columns that are no features.
        """
        seed = seed_of(options["random_state"])
        checkpoint = None if options["checkpoint"] is None else Checkpoint(options["checkpoint"])
        if checkpoint is not None and options["random_state"] is None:
            seed = int(checkpoint.remember("seed", str(seed)))
        sample = draw_sample(
            source,
            sample_size(options["epsilon"], options["delta"], options["holdout"]),
            seed,
            others=names_of_columns(y=y, groups=groups),
            schema=options["schema"],
            scale=options["scale"],
            block_size=options["block_size"],
            n_jobs=options["n_jobs"],
        )
        max_queries = options["max_queries"]
        left = None if max_queries is None else max_queries - source.n_rows
        is_paid = left is None or left >= len(sample.table) + N_ASKED_TWICE
        changed = {"schema": sample.schema, "random_state": seed, "max_queries": left if is_paid else max_queries}
        return cls(
            source,
            sample,
            {**options, **changed},
            checkpoint,
            None if y is None else sample.others[y],
            None if groups is None else sample.others[groups],
            is_paid,
        )

    def count(self, outcome: Outcome, learned: Ints, held: Ints, n_candidates: int) -> Outcome:
        """Return the outcome of the sample's fit with what is counted on all rows.

        Parameters
        ----------
        outcome : Outcome
        learned, held : int arrays
            Which rows of the sample were learned from, and which were held out.
        n_candidates : int
            How many there were to choose from: what is promised of the sample holds for all of them.
        """
        # Who answers is settled by what was learned from: held-out rows must not have a say in what they judge.
        ranks = rank_highest([member.floor_value for member in outcome.chosen.members])
        chosen = replace(outcome.chosen, ranks=ranks if outcome.chosen.min_votes is None else None)
        options, positions, is_grouped = self.options, self.sample.positions, self.groups is not None
        counts = count_all(
            self.source,
            chosen,
            BlackBox(options["black_box"], self.sample.schema),
            positions[learned],
            positions[held],
            block_size=options["block_size"],
            n_jobs=options["n_jobs"],
            checkpoint=self.checkpoint,
        )
        certificate = outcome.certificate
        if not is_grouped and counts.n_new:
            certificate = counts.certificate(options["confidence"], alone=chosen.min_votes is None)
            chosen = chosen.with_claims(certificate)
        return replace(
            outcome,
            chosen=chosen,
            certificate=certificate,
            n_queries=outcome.n_queries + counts.n_asked,
            exact=counts.evaluation([member.explainer.complexity for member in chosen.members]),
            accuracy=counts.accuracy(
                options["epsilon"], options["delta"], len(positions), None if is_grouped else n_candidates
            ),
        )
