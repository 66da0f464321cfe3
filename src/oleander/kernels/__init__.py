"""Compiled inner loops: pure functions of arrays. No other folder imports numba.

A kernel is imported when it is first used, so importing the package imports no numba and compiles nothing. Work under a
time limit loads its kernels before the clock starts.
"""

import sys
from typing import TYPE_CHECKING, Any

from oleander.running import import_without_collecting

if TYPE_CHECKING:
    from oleander.kernels.bits import PackedRows, count_bits, count_common, find_cover, mark, pack, pack_run, unpack
    from oleander.kernels.dual import take_polyak_steps, take_volume_steps
    from oleander.kernels.filtering import score_features
    from oleander.kernels.growth import bin_numbers, grow_nodes
    from oleander.kernels.polishing import CodedDraws
    from oleander.kernels.trees import find_leaves

__all__ = [
    "CodedDraws",
    "PackedRows",
    "bin_numbers",
    "count_bits",
    "count_common",
    "find_cover",
    "find_leaves",
    "grow_nodes",
    "load",
    "mark",
    "pack",
    "pack_run",
    "score_features",
    "take_polyak_steps",
    "take_volume_steps",
    "unpack",
]

if not TYPE_CHECKING:
    HOMES = {
        "bits": ("PackedRows", "count_bits", "count_common", "find_cover", "mark", "pack", "pack_run", "unpack"),
        "dual": ("take_polyak_steps", "take_volume_steps"),
        "filtering": ("score_features",),
        "growth": ("bin_numbers", "grow_nodes"),
        "polishing": ("CodedDraws",),
        "trees": ("find_leaves",),
    }

    def __getattr__(name: str) -> Any:
        for module, names in HOMES.items():
            if name in names:
                # Where the cache was empty, a second process may be compiling this file.
                import_without_collecting(f"{__name__}.compiling").SECOND.wait_for(module)
                globals()[name] = value = getattr(import_without_collecting(f"{__name__}.{module}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def load(*names: str) -> None:
    """Import these kernels now, with all others of their files."""
    for name in names:
        getattr(sys.modules[__name__], name)
