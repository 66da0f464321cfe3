"""The last step of a fit on a sample: what the explainers say of all other rows is counted.

The rows of a source are read once, block by block. Those of a table that stays in its engine are counted by one query.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.answers import check_given, share_texts
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox, CountingBlackBox
from oleander.data.reading import Reading
from oleander.data.sampling import promise, to_frame
from oleander.data.sources import Block, Source, load_arrow
from oleander.engines.query import UncountableError, count
from oleander.engines.tables import Sampled
from oleander.files.checkpoint import Checkpoint, hash_array, hash_text
from oleander.files.codec import Saved
from oleander.fitting.engine import Engine
from oleander.fitting.options import Parameters
from oleander.fitting.rules_on_draws import ENOUGH_FOR_DRAWS, SHARE_TAUGHT
from oleander.judging.certificate import JointCertificate
from oleander.messages import warn_user
from oleander.results.evaluation import Evaluation, Ranges
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.results.fit_record import Accuracy, FitRecord
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# Ascending positions of rows and their answers, which are not asked for again.
Known = tuple[Ints, Labels]
# Rows are counted apart by their part in the fit.
LEARNED, HELD, OUTSIDE = range(3)
# A key of the rules that hold has at most about this many values.
MOST_LINES = 1 << 12


@dataclass(frozen=True, eq=False)
class Counts(Saved):
    """Figures of the explainers on all rows of a file or table: on those learned from, held out, and not sampled."""

    parts: tuple[Evaluation, ...]

    @classmethod
    def nothing(cls, explainers: ExplainerSet) -> Self:
        """Return the counts of no rows."""
        return cls((Evaluation.nothing(explainers.complexities),) * 3)

    def __add__(self, other: Self) -> "Counts":
        return Counts(tuple(map(operator.add, self.parts, other.parts)))

    @property
    def evaluation(self) -> Evaluation:
        """The figures on all rows."""
        whole = reduce(operator.add, self.parts)
        # No row may lie in a range of numbers.
        return replace(whole, class_counts=tuple(one for one in whole.class_counts if one.n_rows))

    def accuracy(self, epsilon: float, delta: float, n_sample: int, n_candidates: int | None) -> Accuracy:
        """Return the accuracy of the held-out rows; without a number of candidates nothing is promised."""
        whole, n_judged, n_others = self.evaluation, self.parts[HELD].n_rows, self.parts[OUTSIDE].n_rows
        return Accuracy(
            n_rows=whole.n_rows,
            n_sample=n_sample,
            n_judged=n_judged,
            n_unread=whole.n_unread,
            epsilon=epsilon,
            delta=delta,
            promised=float("nan") if n_candidates is None else promise(n_judged, n_others, delta, n_candidates),
            seen=self._find_furthest(),
        )

    def certificate(self, confidence: float, *, chosen_on_held: bool) -> JointCertificate | None:
        """Return what can be claimed from the rows that nothing was learned or chosen from.

        None where they are fewer than the held-out rows that the explainers were chosen on.
        """
        held, new = self.parts[HELD:]
        if not chosen_on_held:
            new = held + new
        if not new.n_rows or (chosen_on_held and new.n_rows < held.n_rows):
            return None
        pairs = [(one.n_right, one.n_rows) for one in new.explainer_counts]
        pairs += [(new.n_answered, new.n_rows), (new.n_right, new.n_answered)]
        return JointCertificate.of_counts(pairs, confidence)

    def _find_furthest(self) -> float:
        """Return the largest distance of a held-out share from that of all rows that were not learned from."""
        held, outside = self.parts[HELD:]
        if not held.n_rows:
            return float("nan")
        shares = []
        for one in (held, held + outside):
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
    record: FitRecord,
    engine: Engine,
    whole: Source | Sampled,
    labels: str | None = None,
    groups: str | None = None,
    checkpoint: Checkpoint | None = None,
) -> FitRecord:
    """Return the record of the fit of a sample with the figures of all rows.

    The black box is asked about the rows of a source, for which ``plan_count`` has set queries aside, unless ``labels``
    names the column of its answers; those of a table are counted by one query. All rows that nothing was learned or
    chosen from certify, and the sample's accuracy is promised for all candidates. Of a source with groups nothing is
    promised, and the held-out groups certify. Of a table with groups whole ones were sampled, and the others certify.
    """
    explainers, parts, confidence = record.explainers, engine.parts, options.floor.confidence
    reading, black_box, certificate = engine.reading, engine.black_box, None
    known = engine.label_learned(), engine.held.labels_of_rows
    # Every block counts numbers in the same ranges, those of the sample.
    ranges = Ranges.of(np.concatenate(known).astype(float)) if record.is_number else None
    if isinstance(whole, Source):
        if labels is None:
            black_box.release(whole.n_rows - len(reading.values))
        assert reading.positions is not None
        learned, held = ((reading.positions[rows], own) for rows, own in zip(parts, known, strict=True))
        how = partial(count_all, labels=labels, ranges=ranges, n_jobs=options.n_jobs, checkpoint=checkpoint)
        counts = how(whole, explainers, black_box, learned, held, saw_all=options.schema is None)
    else:
        answers = explainers.read(reading.schema.fold(reading.values[np.concatenate(parts)]))
        roles = np.repeat(np.array([LEARNED, HELD], dtype=np.int8), [len(part) for part in parts])
        counts = tally(explainers, answers, np.concatenate(known), roles, ranges=ranges)
        if whole.n_rows > len(whole.rows):
            assert labels is not None
            try:
                with tell_progress("counting all other rows of the table, in its engine"):
                    seen = known[0].tolist()
                    others = count(explainers, whole.table, labels, groups, expected=seen, where=whole.others)
            except UncountableError as error:
                warn_user(f"only the sample's figures are known: {error}")
                return record
            counts += Counts((*Counts.nothing(explainers).parts[:OUTSIDE], others.evaluate(explainers, ranges)))
            whole.check_unchanged(counts.parts[OUTSIDE].n_rows)
            if groups is not None and counts.parts[OUTSIDE].n_rows >= counts.parts[HELD].n_rows:
                certificate = others.answers.certify(others.labels, confidence, others.weights, others.groups)
    is_promised = reading.groups is None
    if is_promised:
        # Where explainers are learned by asking, held-out rows chose among steps and certify only through the sequence.
        certificate = counts.certificate(confidence, chosen_on_held=record.is_asked)
    n_sample, n_candidates = sum(map(len, known)), engine.n_candidates if is_promised else None
    record = replace(
        record,
        exact=counts.evaluation,
        accuracy=counts.accuracy(whole.epsilon, whole.delta, n_sample, n_candidates),
        n_queries=black_box.n_queries,
    )
    if certificate is None or not reading.can_certify:
        return record
    return replace(record, certificate=certificate, judged=None, explainers=explainers.with_claims(certificate))


def count_all(
    source: Source,
    explainers: ExplainerSet,
    black_box: CountingBlackBox,
    learned: Known,
    held: Known,
    *,
    labels: str | None = None,
    ranges: Ranges | None = None,
    saw_all: bool = False,
    n_jobs: int | None = None,
    checkpoint: Checkpoint | None = None,
) -> Counts:
    """Ask the black box about every row of a source that is not in the sample, and count what the explainers say.

    The answers of ``learned`` and ``held`` rows are known, and those of all rows where ``labels`` names their column.
    Numbers are counted in ``ranges``. ``saw_all`` says that the schema was made from all rows.
    """
    columns = [*map(str, explainers.schema.columns or ())]
    if labels is not None:
        columns = [
            *(name for j, name in enumerate(columns) if explainers.columns is None or j in explainers.columns),
            labels,
        ]
    total = Counts.nothing(explainers)
    # Claims come after the count, and do not change what is counted.
    content = repr(labels) + repr([{**member.to_dict(), "claim": None} for member in explainers.members])
    if ranges is not None:
        content += repr(ranges.edges.tolist())
    box = BlackBox(black_box.black_box.model, explainers.schema, is_number=ranges is not None)
    names, tasks = [], []
    for block in source.blocks(columns):
        inside = [(part, block.find(part[0])) for part in (learned, held)]
        own = [(positions[here] - block.start, labels[here]) for (positions, labels), here in inside]
        name = hash_text(f"{block.name} {block.start} {[hash_array(positions) for positions, _ in own]} {content}")
        kept = None if checkpoint is None else checkpoint.get("counts", name)
        if checkpoint is None or kept is None:
            names.append(name)
            tasks.append((block, *own))
        else:
            with checkpoint.reading():
                total += Counts.from_dict(kept)
    most = (labels is None and black_box.batch_size) or source.block_size
    shared = [BlockCounter(explainers, box, ranges, labels, saw_all), columns, min(source.block_size, most)]
    with tell_progress("counting all rows of the source, block by block", len(tasks)) as tell:
        for done, (number, counts) in enumerate(run_tasks(BlockCounter.count, shared, tasks, n_jobs=n_jobs), start=1):
            total += counts
            tell(done, f"{total.evaluation.n_rows:,} of {source.n_rows:,} rows counted")
            if checkpoint is not None:
                checkpoint.keep("counts", names[number], counts.to_dict())
    if labels is None:
        # Rows outside the sample were asked about, if they could be read.
        black_box.charge(total.parts[OUTSIDE].n_rows - total.parts[OUTSIDE].n_unread)
    return total


@dataclass(frozen=True, eq=False)
class BlockCounter:
    """Counts what explainers say of a block's rows, in the process that reads them.

    The black box gets rows as they are read. Of the others, only the columns of the rules are encoded.
    """

    explainers: ExplainerSet
    box: BlackBox
    ranges: Ranges | None
    labels: str | None = None
    # Whether the schema has the levels of all rows.
    saw_all: bool = False

    def count(self, columns: Sequence[str], block_size: int, block: Block, learned: Known, held: Known) -> Counts:
        """Return the counts of a block, of which some rows were learned from or held out and have known answers."""
        parts = np.full(block.n_rows, OUTSIDE, dtype=np.int8)
        known = np.empty(block.n_rows, dtype=object)
        for part, (positions, labels) in ((LEARNED, learned), (HELD, held)):
            parts[positions], known[positions] = part, labels
        counts, start = Counts.nothing(self.explainers), 0
        for table in block.read(columns, block_size):
            here = slice(start, start + len(table))
            counts += self._count_rows(table.replace_schema_metadata(None), parts[here], known[here])
            start = here.stop
        return counts

    def _count_rows(self, table: Any, parts: NDArray[np.int8], known: Labels) -> Counts:
        frame = to_frame([table])
        n_rows, rows, readable = np.bincount(parts, minlength=3).tolist(), *self._encode(frame, table)
        counts = Counts.nothing(self.explainers)
        if readable.any():
            counts = self._count_readable(frame, table, rows, readable, parts, known)
        pairs = zip(counts.parts, n_rows, strict=True)
        return Counts(tuple(replace(one, n_rows=n, n_unread=n - one.n_rows) for one, n in pairs))

    def _count_readable(
        self,
        frame: pd.DataFrame,
        table: Any,
        rows: Floats,
        readable: Bools,
        parts: NDArray[np.int8],
        known: Labels,
    ) -> Counts:
        if self.labels is not None:
            frame = frame[[self.labels]][readable]
            labels = check_given(frame[self.labels], len(frame), is_number=self.ranges is not None)
        else:
            labels = self._label(frame, table, readable, known, parts == OUTSIDE)
        if not readable.all():
            rows, parts = rows[readable], parts[readable]
        if self.ranges is None and all(member.explainer.is_constant for member in self.explainers.members):
            return tally(self.explainers, *self._merge(rows, labels, parts))
        return tally(self.explainers, self.explainers.read(rows), labels, parts, ranges=self.ranges)

    def _label(self, frame: pd.DataFrame, table: Any, readable: Bools, known: Labels, is_new: Bools) -> Labels:
        """Return the answers for the rows that can be read, those known or the black box's."""
        asked, own = readable & is_new, is_new[readable]
        said = share_texts(known[readable & ~is_new].tolist())
        if not own.any():
            return said
        if not asked.all():
            # The one copy of all columns, which Arrow makes faster than pandas.
            frame = to_frame([table.filter(load_arrow().array(asked))])
        found = self.box.ask_table(self._as_learned(frame))
        if own.all():
            return found
        labels = np.empty(len(own), dtype=np.result_type(found, said))
        labels[own], labels[~own] = found, said
        return labels

    def _merge(
        self, rows: Floats, labels: Labels, parts: NDArray[np.int8]
    ) -> tuple[Answers, Labels, NDArray[np.int8], Ints]:
        """Return a line for all rows with the same rules, label and part, and the number of rows of each."""
        covers = self.explainers.covers(rows)
        codes, names = pd.factorize(labels)
        key, size = codes * 3 + parts, 3 * len(names)
        # A key of few numbers is counted without sorting.
        for inside in covers:
            key = 2 * key + inside
            if (size := 2 * size) > MOST_LINES:
                _, key = np.unique(key, return_inverse=True)
                size = int(key.max()) + 1
        first = np.full(size, -1)
        first[key[::-1]] = np.arange(len(key))[::-1]
        lines = first[first >= 0]
        return (
            self.explainers.read(rows[lines]),
            labels[lines],
            parts[lines],
            np.bincount(key, minlength=size)[first >= 0],
        )

    def _encode(self, frame: pd.DataFrame, table: Any) -> tuple[Floats, Bools]:
        """Return the codes of the rules' columns, and a mask of the rows whose values are all allowed."""
        features, used = self.explainers.schema.features, self.explainers.columns
        rows = np.empty((len(frame), len(features)), order="F")
        readable = np.ones(len(frame), dtype=bool)
        for j, name in enumerate(self.explainers.schema.columns or ()):
            if name not in frame.columns:
                continue
            column, is_used = frame[name], used is None or j in used
            if not is_used and ((self.saw_all and not features[j].is_number) or features[j].surely_allows(column)):
                continue
            if pd.api.types.is_string_dtype(column.dtype):
                # Each level is looked up once.
                column = table.column(name).dictionary_encode().to_pandas()
            rows[:, j], allowed = features[j].read(column)
            readable &= allowed
        return rows, readable

    def _as_learned(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the dtypes of those learned from: a block may lack the missing values of others."""
        exact = self.explainers.schema.exact
        other = {
            feature.name: feature.decode(feature.read(frame[name])[0])
            for feature, (name, dtype) in zip(exact.features, self.dtypes.items(), strict=True)
            if frame[name].dtype != dtype
        }
        return frame.assign(**other) if other else frame

    @cached_property
    def dtypes(self) -> "pd.Series[Any]":
        """The dtypes of the rows that the black box got before."""
        exact = self.explainers.schema.exact
        found: pd.Series[Any] = exact.decode(np.empty((0, len(exact)))).dtypes
        return found


def tally(
    explainers: ExplainerSet,
    answers: Answers,
    labels: Labels,
    parts: NDArray[np.int8],
    weights: Ints | None = None,
    ranges: Ranges | None = None,
) -> Counts:
    """Return the counts of some answers, given the part of each in the fit, and the rows that it stands for."""
    found = []
    for own in (parts == part for part in (LEARNED, HELD, OUTSIDE)):
        counts = None if weights is None else weights[own]
        found.append(explainers.evaluate_answers(answers.of_rows(own), labels[own], counts, ranges))
    return Counts(tuple(found))
