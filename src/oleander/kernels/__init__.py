"""Compiled inner loops: pure functions of arrays. No other folder imports numba.

A kernel is imported when it is first used, so importing the package imports no numba and compiles nothing. Work under a
time limit loads its kernels before the clock starts.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oleander.kernels.binning import bin_numbers, rank_values
    from oleander.kernels.bits import count_bits, count_common, pack, pack_matches, unpack
    from oleander.kernels.covering import find_cover
    from oleander.kernels.dual import VolumeSteps, descend_steps
    from oleander.kernels.filtering import score_features
    from oleander.kernels.growth import grow_nodes
    from oleander.kernels.packed import PackedRows, mark
    from oleander.kernels.passing import find_leaves
    from oleander.kernels.polishing import improve_box, widen_box
    from oleander.kernels.pruning import find_best_cut

__all__ = [
    "PackedRows",
    "VolumeSteps",
    "bin_numbers",
    "count_bits",
    "count_common",
    "descend_steps",
    "find_best_cut",
    "find_cover",
    "find_leaves",
    "grow_nodes",
    "improve_box",
    "load",
    "mark",
    "pack",
    "pack_matches",
    "rank_values",
    "score_features",
    "unpack",
    "widen_box",
]

if not TYPE_CHECKING:
    HOMES = {
        "binning": ("bin_numbers", "rank_values"),
        "bits": ("count_bits", "count_common", "pack", "pack_matches", "unpack"),
        "covering": ("find_cover",),
        "dual": ("VolumeSteps", "descend_steps"),
        "filtering": ("score_features",),
        "growth": ("grow_nodes",),
        "packed": ("PackedRows", "mark"),
        "passing": ("find_leaves",),
        "polishing": ("improve_box", "widen_box"),
        "pruning": ("find_best_cut",),
    }

    def __getattr__(name: str) -> Any:
        for module, names in HOMES.items():
            if name in names:
                globals()[name] = value = getattr(import_module(f"{__name__}.{module}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def load(*names: str) -> None:
    """Import these kernels now, with all others of their files."""
    for name in names:
        getattr(sys.modules[__name__], name)
