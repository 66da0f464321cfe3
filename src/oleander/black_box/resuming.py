"""A black box whose answers are kept in a checkpoint, so that an interrupted fit asks about no row again."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.black_box.answers import read_labels, write_labels
from oleander.black_box.asking import BlackBox
from oleander.files.checkpoint import Checkpoint, CheckpointError, hash_array, hash_text
from oleander.messages import visible

# How Python prints an object whose class has no ``__repr__``.
ADDRESS = re.compile(r"<[^,\[\]()]*? at 0x[0-9a-fA-F]+>")


@dataclass(frozen=True)
class KeptBlackBox(BlackBox):
    """A black box whose answers are kept in a checkpoint, which may hold those of an earlier run to resume."""

    checkpoint: Checkpoint
    is_resumed: bool = False
    # An answer is kept when its batch is complete, so an interrupt costs at most this many rows.
    batch_size: ClassVar[int] = 5_000
    keeps: ClassVar[bool] = True

    @property
    def plain(self) -> BlackBox:
        """The same black box without the checkpoint."""
        return BlackBox(self.model, self.schema, is_number=self.is_number)

    def ask_each(self, batches: Sequence[Floats], n_jobs: int) -> Iterator[tuple[int, Labels]]:
        """Yield the number and the labels of each batch: first those kept, then the new ones, which are kept now."""
        left = []
        for number, rows in enumerate(batches):
            key = hash_array(rows)
            kept = self.checkpoint.get("answers", key)
            if kept is None:
                left.append((number, key))
                continue
            with self.checkpoint.reading():
                labels = read_labels(kept)
                if len(labels) != len(rows):
                    raise ValueError(f"it holds {len(labels)} labels of {len(rows)} rows")
            yield number, labels
        for place, labels in self.plain.ask_each([batches[number] for number, _ in left], n_jobs):
            (number, key), answers = left[place], write_labels(labels)
            # Labels that JSON cannot hold are asked for again.
            if {type(label) for label in answers["values"]} <= {str, int, float, bool}:
                self.checkpoint.keep("answers", key, answers)
            yield number, labels

    def ask(self, rows: Floats) -> Labels:
        """Return the kept labels of exactly these rows, or ask the black box and keep its answer."""
        return next(self.ask_each([rows], 1))[1]

    def complain(self, n_changed: int, n_asked: int) -> None:
        """Warn that answers have changed; raise ``CheckpointError`` where they differ from an earlier run's."""
        if not self.is_resumed:
            super().complain(n_changed, n_asked)
            return
        raise CheckpointError(
            f"the black box answers {n_changed} of {n_asked} rows differently than when the checkpoint in "
            f"{visible(self.checkpoint.folder)} was made: it is another black box, or contradicts itself. Give another "
            "folder."
        )


def resume(checkpoint: Checkpoint, box: BlackBox, data: Sequence[Any], options: Mapping[str, Any]) -> KeptBlackBox:
    """Return the black box with the answers of an earlier run of the same fit, if there was one.

    Two fits are the same if their data, options, schema and version are. Another fit's checkpoint is refused.
    """
    # By default NumPy leaves out the middle of a long array, and digits.
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        option_text = repr(sorted(options.items()))
    nameless = ADDRESS.search(option_text)
    if nameless is not None:
        raise CheckpointError(
            f"the checkpoint cannot tell whether options are the same, because one prints as {nameless[0]}: give its "
            "class a __repr__ that shows its settings, or leave out checkpoint."
        )
    is_resumed = checkpoint.claim(
        {
            "version": version("oleander"),
            "data": " ".join("none" if part is None else hash_array(np.asarray(part)) for part in data),
            "schema": hash_text(json.dumps([box.schema.to_dict(), box.schema.exact.to_dict()], sort_keys=True)),
            "options": hash_text(option_text),
        }
    )
    return KeptBlackBox(box.model, box.schema, checkpoint, is_resumed, is_number=box.is_number)
