"""Compiled inner loops: pure functions of arrays. No other folder imports numba.

A kernel is imported when it is first used, so importing the package imports no numba and compiles nothing.
"""

from typing import TYPE_CHECKING

from oleander.running.lazily import import_lazily

if TYPE_CHECKING:
    from oleander.kernels.binning import bin_numbers
    from oleander.kernels.bits import count_bits, count_common, pack, pack_matches, unpack
    from oleander.kernels.dual import VolumeSteps, descend_steps
    from oleander.kernels.filtering import score_features
    from oleander.kernels.growth import grow_nodes
    from oleander.kernels.packed import PackedRows, mark
    from oleander.kernels.passing import find_leaves
    from oleander.kernels.polishing import find_reward, improve_box, measure_losses
    from oleander.kernels.pruning import find_best_cut
    from oleander.kernels.ranking import rank_values

__all__ = [
    "PackedRows",
    "VolumeSteps",
    "bin_numbers",
    "count_bits",
    "count_common",
    "descend_steps",
    "find_best_cut",
    "find_leaves",
    "find_reward",
    "grow_nodes",
    "improve_box",
    "mark",
    "measure_losses",
    "pack",
    "pack_matches",
    "rank_values",
    "score_features",
    "unpack",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_lazily(
        __name__,
        {
            "PackedRows": "oleander.kernels.packed",
            "VolumeSteps": "oleander.kernels.dual",
            "bin_numbers": "oleander.kernels.binning",
            "count_bits": "oleander.kernels.bits",
            "count_common": "oleander.kernels.bits",
            "descend_steps": "oleander.kernels.dual",
            "find_best_cut": "oleander.kernels.pruning",
            "find_leaves": "oleander.kernels.passing",
            "find_reward": "oleander.kernels.polishing",
            "grow_nodes": "oleander.kernels.growth",
            "improve_box": "oleander.kernels.polishing",
            "mark": "oleander.kernels.packed",
            "measure_losses": "oleander.kernels.polishing",
            "pack": "oleander.kernels.bits",
            "pack_matches": "oleander.kernels.bits",
            "rank_values": "oleander.kernels.ranking",
            "score_features": "oleander.kernels.filtering",
            "unpack": "oleander.kernels.bits",
        },
    )
