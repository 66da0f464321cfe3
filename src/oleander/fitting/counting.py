"""The last step of a fit on a sample: what the explainers say of all other rows is counted.

The rows of a source are read once, block by block. Those of a table that stays in its engine are counted by one query.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.answers import check_given
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.reading import Reading
from oleander.data.source_sample import promise, to_frame
from oleander.data.sources import Block, Source, load_arrow
from oleander.engines.query import UncountableError, count
from oleander.engines.tables import Sampled
from oleander.files.checkpoint import Checkpoint, hash_array, hash_text
from oleander.fitting.engine import Engine
from oleander.fitting.options import Given, Parameters
from oleander.fitting.rules_on_draws import ENOUGH_FOR_DRAWS, SHARE_TAUGHT
from oleander.judging.certificate import JointCertificate
from oleander.messages import warn_user
from oleander.results.evaluation import Evaluation, Ranges
from oleander.results.explainer_set import ExplainerSet
from oleander.results.fit_record import Accuracy, FitRecord
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# Rows with the same rules and label are counted as one if that many bits, and those of a label, make a whole number.
MOST_BITS = 40


@dataclass(frozen=True, eq=False)
class Counts:
    """Figures of the explainers on all rows of a file or table: on those learned from, held out, and not sampled."""

    learned: Evaluation
    held: Evaluation
    others: Evaluation

    @property
    def whole(self) -> Evaluation:
        """The figures on all rows."""
        whole = self.learned + self.held + self.others
        # No row may lie in a range of numbers.
        return replace(whole, class_counts=tuple(one for one in whole.class_counts if one.n_rows))

    def accuracy(self, epsilon: float, delta: float, n_candidates: int | None) -> Accuracy:
        """Return the accuracy of the held-out rows; without a number of candidates nothing is promised."""
        whole, n_judged, n_others = self.whole, self.held.n_rows, self.others.n_rows
        promised = float("nan") if n_candidates is None else promise(n_judged, n_others, delta, n_candidates)
        sizes = whole.n_rows, self.learned.n_rows + n_judged, n_judged, whole.n_unread
        return Accuracy(*sizes, epsilon, delta, promised, self._find_furthest())

    def certificate(self, confidence: float, *, chosen_on_held: bool) -> JointCertificate | None:
        """Return what can be claimed from the rows that nothing was learned or chosen from."""
        new = self.others if chosen_on_held else self.held + self.others
        # Fewer rows than those that the explainers were chosen on would say less.
        if not new.n_rows or (chosen_on_held and new.n_rows < self.held.n_rows):
            return None
        pairs = [(one.n_right, one.n_rows) for one in new.explainer_counts]
        pairs += [(new.n_answered, new.n_rows), (new.n_right, new.n_answered)]
        return JointCertificate.of_counts(pairs, confidence)

    def _find_furthest(self) -> float:
        """Return the largest distance of a held-out share from that of all rows that were not learned from."""
        if not self.held.n_rows:
            return float("nan")
        shares = []
        for one in (self.held, self.held + self.others):
            counts = [one.n_answered, one.n_right, *(n for each in one.explainer_counts for n in each[:2])]
            # Rows that cannot be read are in no sample.
            shares.append(np.array(counts) / (one.n_rows - one.n_unread))
        return float(np.abs(shares[0] - shares[1]).max())


def plan_sample(options: Parameters, *, has_background: bool) -> tuple[float | None, int]:
    """Return the share of a sample that will be held out, or else how many of its rows will not."""
    if options.holdout is not None or has_background or not options.asks:
        return options.holdout, 0
    return (None, ENOUGH_FOR_DRAWS) if options.draws.n else (SHARE_TAUGHT, 0)


def plan_count(source: Source, reading: Reading, black_box: CountingBlackBox) -> bool:
    """Set aside the queries that the count of all rows needs; return False, with a warning, where there are too few."""
    if black_box.can_ask(source.n_rows + N_ASKED_TWICE):
        black_box.reserve(source.n_rows - len(reading.values))
        return True
    warn_user(
        f"max_queries={black_box.max_queries:,} does not pay for all {source.n_rows:,} rows after the sample: "
        "only the sample's figures are known."
    )
    return False


def add_counts(
    options: Parameters,
    given: Given,
    record: FitRecord,
    engine: Engine,
    whole: Source | Sampled,
    checkpoint: Checkpoint | None,
) -> FitRecord:
    """Return the record of the fit of a sample with the figures of all rows.

    All rows that nothing was learned or chosen from certify, and the sample's accuracy is promised for all candidates.
    Of a source with groups nothing is promised, and the held-out groups certify. Of a table with groups whole ones were
    sampled, and the others certify.
    """
    explainers, reading, confidence, labels = record.explainers, engine.reading, options.floor.confidence, given.labels
    taught = reading.take(engine.parts.learned)
    taught_rows = label_rows(taught.values, engine.black_box, known=engine.known, answers=taught.labels)
    answers = taught_rows.labels_of_rows, engine.held.labels_of_rows
    # Numbers are counted in the same ranges everywhere, those of the sample.
    ranges = Ranges.of(np.concatenate(answers).astype(float)) if record.is_number else None
    learned, held = (
        explainers.read(reading.schema.fold(reading.values[rows])).evaluate(known, ranges=ranges)
        for rows, known in zip(engine.parts, answers, strict=True)
    )
    others, certificate = Evaluation.nothing(len(explainers.members)), None
    if isinstance(whole, Source):
        if labels is None:
            engine.black_box.release(whole.n_rows - len(reading.values))
        assert reading.positions is not None
        sampled = np.sort(reading.positions[np.concatenate(engine.parts)])
        how: dict[str, Any] = {"labels": labels, "ranges": ranges, "n_jobs": options.n_jobs, "checkpoint": checkpoint}
        others = count_others(whole, explainers, engine.black_box, sampled, **how)
    elif whole.n_rows > len(whole.rows):
        assert labels is not None
        try:
            with tell_progress("counting all other rows of the table, in its engine"):
                said = answers[0].tolist()
                counted = count(explainers, whole.table, labels, given.groups, expected=said, where=whole.others)
        except UncountableError as error:
            warn_user(f"only the sample's figures are known: {error}")
            return record
        others = counted.evaluate(ranges)
        whole.check_unchanged(others.n_rows)
        if given.groups is not None and others.n_rows >= held.n_rows:
            certificate = counted.answers.certify(counted.labels, confidence, counted.weights, counted.groups)
    counts, n_candidates = Counts(learned, held, others), None
    if reading.groups is None:
        # The sample is promised to be near the exact shares of all candidates that rows could choose.
        n_candidates = engine.n_candidates
        # Where explainers are learned by asking, held-out rows chose among steps and certify only through the sequence.
        certificate = counts.certificate(confidence, chosen_on_held=record.is_asked)
    record = replace(
        record,
        exact=counts.whole,
        accuracy=counts.accuracy(whole.epsilon, whole.delta, n_candidates),
        n_queries=engine.black_box.n_queries,
    )
    if certificate is None or not reading.can_certify:
        return record
    return replace(record, certificate=certificate, judged=None, explainers=explainers.with_claims(certificate))


def count_others(
    source: Source,
    explainers: ExplainerSet,
    black_box: CountingBlackBox,
    sampled: Ints,
    *,
    labels: str | None = None,
    ranges: Ranges | None = None,
    n_jobs: int | None = None,
    checkpoint: Checkpoint | None = None,
) -> Evaluation:
    """Count what the explainers say of every row of a source that is not in the sample, whose positions ascend.

    The black box is asked about them, unless ``labels`` names the column of the answers.
    """
    columns = [*map(str, explainers.schema.columns or ())]
    if labels is not None:
        used = explainers.columns
        columns = [*(name for j, name in enumerate(columns) if used is None or j in used), labels]
    total = Evaluation.nothing(len(explainers.members))
    # Claims come after the count, and do not change what is counted.
    content = repr(labels) + repr([{**member.to_dict(), "claim": None} for member in explainers.members])
    if ranges is not None:
        content += repr(ranges.edges.tolist())
    names, tasks = [], []
    for block in source.blocks(columns):
        own = sampled[block.find(sampled)] - block.start
        name = hash_text(f"{block.name} {block.start} {hash_array(own)} {content}")
        kept = None if checkpoint is None else checkpoint.get("counts", name)
        if checkpoint is None or kept is None:
            names.append(name)
            tasks.append((block, own))
        else:
            with checkpoint.reading():
                total += Evaluation.from_dict(kept)
    box = BlackBox(black_box.black_box.model, explainers.schema, is_number=ranges is not None)
    most = (labels is None and black_box.batch_size) or source.block_size
    shared = [BlockCounter(explainers, box, ranges, labels), columns, min(source.block_size, most)]
    with tell_progress("counting all rows of the source, block by block", len(tasks)) as tell:
        for done, (number, counts) in enumerate(run_tasks(BlockCounter.count, shared, tasks, n_jobs=n_jobs), start=1):
            total += counts
            tell(done, f"{total.n_rows:,} of {source.n_rows - len(sampled):,} rows counted")
            if checkpoint is not None:
                checkpoint.keep("counts", names[number], counts.to_dict())
    if labels is None:
        # Every row that could be read was asked about.
        black_box.charge(total.n_rows - total.n_unread)
    return total


@dataclass(frozen=True, eq=False)
class BlockCounter:
    """Counts what explainers say of a block's rows, in the process that reads them."""

    explainers: ExplainerSet
    box: BlackBox
    ranges: Ranges | None
    labels: str | None = None

    def count(self, columns: Sequence[str], block_size: int, block: Block, sampled: Ints) -> Evaluation:
        """Return the figures on a block's rows but for the sampled ones, given by their places in the block."""
        is_other = np.ones(block.n_rows, dtype=bool)
        is_other[sampled] = False
        found, start = Evaluation.nothing(len(self.explainers.members)), 0
        for table in block.read(columns, block_size):
            here = is_other[start : start + len(table)]
            start += len(table)
            found += self._count_rows(_filter(table.replace_schema_metadata(None), here))
        return found

    def _count_rows(self, table: Any) -> Evaluation:
        frame = to_frame([table])
        rows, readable = self._encode(frame, table)
        n_rows, n_unread = len(rows), int((~readable).sum())
        if n_unread == n_rows:
            return replace(Evaluation.nothing(len(self.explainers.members)), n_rows=n_rows, n_unread=n_unread)
        if n_unread:
            frame, rows = to_frame([_filter(table, readable)]), rows[readable]
        if self.labels is None:
            labels = self.box.ask_table(self._as_learned(frame))
        else:
            labels = check_given(frame[self.labels], len(frame), is_number=self.ranges is not None)
        weights, members = None, self.explainers.members
        if self.ranges is None and len(members) < MOST_BITS and all(one.explainer.is_constant for one in members):
            lines, weights = self._merge(rows, labels)
            rows, labels = rows[lines], labels[lines]
        found = self.explainers.read(rows).evaluate(labels, weights, self.ranges)
        return replace(found, n_rows=n_rows, n_unread=n_unread)

    def _merge(self, rows: Floats, labels: Labels) -> tuple[Ints, Ints]:
        """Return one of all rows with the same rules and label, for each of them, and the number of these rows."""
        key = pd.factorize(labels)[0]
        for inside in self.explainers.covers(rows):
            key = 2 * key + inside
        codes, found = pd.factorize(key)
        first = np.empty(len(found), dtype=np.intp)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        return first, np.bincount(codes)

    def _encode(self, frame: pd.DataFrame, table: Any) -> tuple[Floats, Bools]:
        """Return the codes of the columns, and a mask of the rows whose values are all allowed."""
        features = self.explainers.schema.features
        rows = np.empty((len(frame), len(features)), order="F")
        readable = np.ones(len(frame), dtype=bool)
        for j, name in enumerate(self.explainers.schema.columns or ()):
            if name not in frame.columns:
                continue
            column = frame[name]
            if pd.api.types.is_string_dtype(column.dtype) and column.notna().any():
                # Each level is looked up once.
                column = table.column(name).dictionary_encode().to_pandas()
            rows[:, j], allowed = features[j].read(column)
            readable &= allowed
        return rows, readable

    def _as_learned(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the dtypes of those learned from: a block may lack the missing values of others."""
        other = [name for name, dtype in self.dtypes.items() if frame[name].dtype != dtype]
        if not other:
            return frame
        # The schema does not know a category that no row of the sample has.
        exact = self.explainers.schema.knowing(frame).exact
        features = [exact[exact.position(name)] for name in other]
        return frame.assign(**{one.name: one.decode(one.read(frame[one.name])[0]) for one in features})

    @cached_property
    def dtypes(self) -> "pd.Series[Any]":
        """The dtypes of the rows that the black box got before."""
        exact = self.explainers.schema.exact
        found: pd.Series[Any] = exact.decode(np.empty((0, len(exact)))).dtypes
        return found


def _filter(table: Any, rows: Bools) -> Any:
    """Return some rows of a pyarrow table, which copies all columns faster than pandas does."""
    return table if rows.all() else table.filter(load_arrow().array(rows))
