"""Boxes on a grid of bin codes: compact keys, memberships as packed bits, and conversion to conditions.

A box is a tuple of cuts, one per restricted column in ascending order. A cut is a column and a bit mask of the codes it
allows; the bit after the last code stands for missing. Two boxes are equal exactly if their keys are.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from oleander import kernels
from oleander.arrays import Bools, Floats
from oleander.data.schema import FeatureSchema
from oleander.rules import Box
from oleander.rules.conditions import Condition, Levels, Range
from oleander.rules.growth import Column, make_columns

Bits = NDArray[np.uint64]
Cut = tuple[int, int]
Key = tuple[Cut, ...]


@dataclass(frozen=True, eq=False)
class Grid:
    """Readable bins of every column, with the codes of the draws that they were learned from."""

    schema: FeatureSchema
    columns: Sequence[Column]

    @classmethod
    def learn(cls, draws: Floats, schema: FeatureSchema) -> Self:
        """Return the grid whose edges are readable quantiles of the draws."""
        return cls(schema, make_columns(draws, schema, tuple(range(len(schema)))))

    @property
    def codes(self) -> NDArray[np.int32]:
        """The bin codes of the draws that the bins were learned from, of shape (n_features, n_draws)."""
        return np.stack([column.codes for column in self.columns])

    def encode_column(self, rows: Floats, position: int) -> NDArray[np.int32]:
        """Return the bin codes of one column of encoded rows."""
        column, values = self.columns[position], rows[:, position]
        if column.is_number:
            return kernels.bin_numbers(values, column.edges)
        return np.where(np.isnan(values), column.n_codes, values).astype(np.int32)

    def full_mask(self, position: int) -> int:
        """Return the mask that allows every code of a column, missing included."""
        return (1 << (self.columns[position].n_codes + 1)) - 1

    def to_box(self, key: Key) -> Box:
        """Return the box in the user's words."""
        return Box(tuple(self._to_condition(cut) for cut in key))

    def _to_condition(self, cut: Cut) -> Condition:
        position, mask = cut
        column, feature = self.columns[position], self.schema[position]
        missing = feature.missing and bool(mask >> column.n_codes & 1)
        known = mask & ((1 << column.n_codes) - 1)
        if not column.is_number:
            return Levels(position, feature, frozenset(c for c in range(column.n_codes) if known >> c & 1), missing)
        if not known:
            return Range(position, feature, lower=np.inf, upper=np.inf, missing=missing)
        first, last = (known & -known).bit_length() - 1, known.bit_length() - 1
        lower = -np.inf if first == 0 else float(column.edges[first - 1])
        upper = np.inf if last == column.n_codes - 1 else float(column.edges[last])
        return Range(position, feature, lower, upper, missing)


def restrict(key: Key, column: int, mask: int, full: int) -> Key:
    """Return the key with one column's mask replaced; a mask that allows everything removes the cut."""
    others = [cut for cut in key if cut[0] != column]
    if mask != full:
        others.append((column, mask))
    return tuple(sorted(others))


@lru_cache(maxsize=2**14)
def mask_table(mask: int, n_codes: int) -> Bools:
    """Return a mask as a lookup table over codes, missing last."""
    as_bytes = np.frombuffer(mask.to_bytes(n_codes // 8 + 1, "little"), dtype=np.uint8)
    table = np.unpackbits(as_bytes, count=n_codes + 1, bitorder="little").view(bool)
    table.setflags(write=False)
    return table


def read_tables(tables: Bools) -> list[int]:
    """Return the masks of lookup tables, as in ``mask_table``; codes that a column does not have are false."""
    return [int.from_bytes(line.tobytes(), "little") for line in np.packbits(tables, axis=1, bitorder="little")]


@dataclass(eq=False)
class Memberships:
    """Which boxes contain which rows, as packed bits; cuts and boxes are looked up once."""

    grid: Grid
    codes: NDArray[np.int32]
    _cuts: dict[Cut, Bits] = field(default_factory=dict, repr=False)
    _boxes: dict[Key, Bits] = field(default_factory=dict, repr=False)

    @classmethod
    def lay(cls, grid: Grid, rows: Floats, keys: Collection[Key]) -> Self:
        """Return which of these boxes, and no others, contain which encoded rows; one column at a time has codes."""
        laid = cls(grid, np.empty((0, len(rows)), dtype=np.int32))
        for position, cuts in groupby(sorted({cut for key in keys for cut in key}), itemgetter(0)):
            codes = grid.encode_column(rows, position)
            for cut in cuts:
                laid._cuts[cut] = laid._find_matches(codes, cut)
        laid.of_boxes(list(keys))
        laid._cuts.clear()
        return laid

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_words(self) -> int:
        """The number of words that hold a bit for each row."""
        return -(-self.n_rows // 64)

    def of_cut(self, cut: Cut) -> Bits:
        """Return which rows fulfil one cut."""
        if cut not in self._cuts:
            self._cuts[cut] = self._find_matches(self.codes[cut[0]], cut)
        return self._cuts[cut]

    def _find_matches(self, codes: NDArray[np.int32], cut: Cut) -> Bits:
        n_codes, mask = self.grid.columns[cut[0]].n_codes, cut[1]
        first, last = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
        if mask.bit_count() <= last - first:
            return kernels.pack(mask_table(mask, n_codes).take(codes))
        return kernels.pack((codes >= first) & (codes <= last))

    def of_box(self, key: Key) -> Bits:
        """Return which rows lie in a box."""
        if key not in self._boxes:
            found = kernels.pack(np.ones(self.n_rows, dtype=bool))
            for cut in key:
                found = found & self.of_cut(cut)
            self._boxes[key] = found
        return self._boxes[key]

    def remember(self, keys: Sequence[Key], inside: Bits) -> None:
        """Keep which rows lie in some boxes."""
        self._boxes.update(zip(keys, inside, strict=True))

    def of_boxes(self, keys: Sequence[Key]) -> Bits:
        """Return one line of bits per box."""
        return np.array([self.of_box(key) for key in keys], dtype=np.uint64).reshape(len(keys), self.n_words)

    def covers(self, keys: Sequence[Key]) -> Bools:
        """Return which rows lie in which boxes, of shape (n_boxes, n_rows)."""
        return kernels.unpack(self.of_boxes(keys), self.n_rows)
