"""Compiled inner loops: pure functions of arrays. No other folder imports numba.

A kernel is imported when it is first used, so importing the package imports no numba and compiles nothing.
"""

from typing import TYPE_CHECKING

from oleander.running.lazily import import_lazily

if TYPE_CHECKING:
    from oleander.kernels.binning import bin_numbers
    from oleander.kernels.growth import grow_nodes
    from oleander.kernels.passing import find_leaves

__all__ = ["bin_numbers", "find_leaves", "grow_nodes"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_lazily(
        __name__,
        {
            "bin_numbers": "oleander.kernels.binning",
            "find_leaves": "oleander.kernels.passing",
            "grow_nodes": "oleander.kernels.growth",
        },
    )
