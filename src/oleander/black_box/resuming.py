"""Answers that are kept in a checkpoint, so that an interrupted fit asks about no row again."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.black_box.answers import read_labels, write_labels
from oleander.data.schema import FeatureSchema
from oleander.files.checkpoint import Checkpoint, CheckpointError, hash_array, hash_text

# How Python prints an object whose class has no ``__repr__``.
ADDRESS = re.compile(r"<[^,\[\]()]*? at 0x[0-9a-fA-F]+>")


def resume(checkpoint: Checkpoint, schema: FeatureSchema, data: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Return whether the checkpoint has answers of an earlier run of the same fit; refuse another fit's.

    Two fits are the same if their data, options, schema and version are.
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
    return checkpoint.claim(
        {
            "version": version("oleander"),
            "data": " ".join("none" if part is None else hash_array(np.asarray(part)) for part in data),
            "schema": hash_text(json.dumps([schema.to_dict(), schema.exact.to_dict()], sort_keys=True)),
            "options": hash_text(option_text),
        }
    )


def recall(checkpoint: Checkpoint | None, rows: Floats) -> Labels | None:
    """Return the labels that were kept of exactly these rows; None if none were."""
    kept = None if checkpoint is None else checkpoint.get("answers", hash_array(rows))
    if checkpoint is None or kept is None:
        return None
    with checkpoint.reading():
        labels = read_labels(kept)
        if len(labels) != len(rows):
            raise ValueError(f"it holds {len(labels)} labels of {len(rows)} rows")
    return labels


def keep(checkpoint: Checkpoint | None, rows: Floats, labels: Labels) -> Labels:
    """Return the labels of these rows, after keeping them; those that JSON cannot hold are not kept."""
    answers = write_labels(labels)
    if checkpoint is not None and {type(label) for label in answers["values"]} <= {str, int, float, bool}:
        checkpoint.keep("answers", hash_array(rows), answers)
    return labels
