"""Answers with a value of the user's where the explainers abstain."""

from typing import Any

import numpy as np


def fill_abstentions(answers: np.ma.MaskedArray[Any, Any], value: Any) -> Any:
    """Return answers as a plain array, with a value where the explainers abstain; ``np.ma.masked`` keeps the mask.

    Numbers and a number, and text and text, share a dtype. Any other pair is an array of objects.

    Examples
    --------
    >>> answers = np.ma.masked_array(["no", "yes"], mask=[False, True])
    >>> fill_abstentions(answers, "unknown").tolist(), fill_abstentions(answers, None).tolist()
    (['no', 'unknown'], ['no', None])
    """
    if value is np.ma.masked:
        return answers
    labels, filler = np.ma.getdata(answers), np.asarray(value)
    if filler.ndim:
        raise ValueError(f"abstain={value!r} is not allowed: give one value.")
    alike = any(labels.dtype.kind in kinds and filler.dtype.kind in kinds for kinds in ("biuf", "U"))
    filled = labels.astype(np.result_type(labels.dtype, filler.dtype) if alike else object)
    filled[np.ma.getmaskarray(answers)] = value
    return filled
