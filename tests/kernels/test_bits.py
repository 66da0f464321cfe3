import numpy as np
import pytest

from oleander import kernels


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 200])
def test_packed_rows_and_their_counts(n_rows):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, 7, (5, n_rows)).astype(np.int32)
    tables = rng.random((5, 7)) < 0.5
    bits = np.array([kernels.pack_matches(*pair) for pair in zip(codes, tables, strict=True)], dtype=np.uint64)
    expected = np.take_along_axis(tables, codes, axis=1)
    unpacked = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert np.array_equal(unpacked[:, :n_rows], expected)
    assert not unpacked[:, n_rows:].any()
    lines = np.array([3, 0, 3])
    counts = kernels.count_common(bits, lines, bits[:4])
    assert counts.tolist() == (expected[lines].astype(int) @ expected[:4].T.astype(int)).tolist()


def test_full_words_are_counted():
    full = np.full((2, 3), ~np.uint64(0))
    assert kernels.count_common(full, np.arange(2), full).tolist() == [[192, 192], [192, 192]]
