"""Compiled inner loops: pure functions of arrays. No other folder imports numba.

A kernel is imported when it is first used, so importing the package imports no numba and compiles nothing. Work under a
time limit loads its kernels before the clock starts.
"""

import sys
from typing import TYPE_CHECKING, Any

from oleander.running import import_without_collecting

if TYPE_CHECKING:
    from oleander.kernels.bits import PackedRows, count_bits, count_common, find_cover, mark, pack, unpack
    from oleander.kernels.dual import Dual
    from oleander.kernels.filtering import score_features
    from oleander.kernels.growth import bin_numbers, find_leaves, grow_nodes
    from oleander.kernels.moving_boxes import CodedDraws

__all__ = [
    "CodedDraws",
    "Dual",
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
    "score_features",
    "unpack",
]

if not TYPE_CHECKING:
    HOMES = {
        "bits": ("PackedRows", "count_bits", "count_common", "find_cover", "mark", "pack", "unpack"),
        "dual": ("Dual",),
        "filtering": ("score_features",),
        "growth": ("bin_numbers", "find_leaves", "grow_nodes"),
        "moving_boxes": ("CodedDraws",),
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
