"""Packed bits against NumPy's masks and SciPy's matrices, digit for digit."""

import numpy as np
import pytest
from scipy import sparse

from oleander import kernels
from oleander.kernels import PackedRows, count_bits, mark, pack


@pytest.fixture(params=[(1, 1), (3, 5), (70, 130), (1, 64), (65, 1), (9, 192)], ids=str)
def dense(request):
    return np.random.default_rng(0).random(request.param) < 0.4


def test_entries_are_kept(dense):
    matrix = PackedRows.pack(list(dense), dense.shape)
    listed = sparse.csr_array(dense)
    assert matrix.shape == dense.shape
    assert matrix.nnz == listed.nnz
    np.testing.assert_array_equal(matrix.toarray(), dense)
    np.testing.assert_array_equal(matrix.indptr, listed.indptr)
    np.testing.assert_array_equal(matrix.to_sparse().toarray(), dense)
    np.testing.assert_array_equal(PackedRows.from_sparse(listed).words, matrix.words)
    np.testing.assert_array_equal(mark(np.flatnonzero(dense[0]), dense.shape[1]), dense[0])


def test_sums_are_those_of_a_sparse_matrix(dense):
    rng = np.random.default_rng(1)
    matrix = PackedRows.pack(list(dense), dense.shape)
    weights = rng.normal(size=dense.shape[1])
    assert (matrix @ weights == sparse.csr_array(dense.astype(float)) @ weights).all()


def test_parts_of_a_matrix(dense):
    rng = np.random.default_rng(2)
    matrix = PackedRows.pack(list(dense), dense.shape)
    rows = rng.permutation(len(dense))[: 1 + len(dense) // 2]
    columns = rng.permutation(dense.shape[1])[: 1 + dense.shape[1] // 2]
    stays = rng.random(len(dense)) < 0.5
    np.testing.assert_array_equal(matrix[rows].toarray(), dense[rows])
    np.testing.assert_array_equal(matrix[:, columns].toarray(), dense[:, columns])
    np.testing.assert_array_equal(matrix.transposed().toarray(), dense.T)
    np.testing.assert_array_equal(matrix.keep_rows(stays).toarray(), dense & stays[:, None])
    np.testing.assert_array_equal(matrix.covered_by(rows), dense[rows].any(axis=0))
    found, lengths = matrix.entries_of(rows)
    assert found.tolist() == [column for row in rows for column in np.flatnonzero(dense[row])]
    assert lengths.tolist() == dense[rows].sum(axis=1).tolist()


def test_no_rows_cover_nothing():
    matrix = PackedRows.pack([np.ones(70, dtype=bool)], (1, 70))
    none = np.zeros(0, dtype=np.intp)
    assert not matrix.covered_by(none).any()
    assert matrix.entries_of(none)[0].tolist() == []


def test_entries_of_two_matrices():
    one, other = np.random.default_rng(3).random((2, 4, 90)) < 0.5
    first, second = (PackedRows.pack(list(dense), dense.shape) for dense in (one, other))
    np.testing.assert_array_equal((first | second).toarray(), one | other)
    np.testing.assert_array_equal((first - second).toarray(), one & ~other)


@pytest.mark.parametrize("n_columns", [100, 128])
def test_the_order_of_memory_does_not_matter(n_columns):
    rows = np.random.default_rng(0).random((3, n_columns)) < 0.5
    bits = pack(np.asfortranarray(rows))
    assert bits.tolist() == pack(rows).tolist()
    assert count_bits(np.asfortranarray(bits)).tolist() == rows.sum(axis=1).tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 200])
def test_packed_rows_and_their_counts(n_rows):
    rng = np.random.default_rng(n_rows)
    expected = rng.random((5, n_rows)) < 0.5
    bits = pack(expected)
    unpacked = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert np.array_equal(unpacked[:, :n_rows], expected)
    assert not unpacked[:, n_rows:].any()
    lines = np.array([3, 0, 3])
    counts = kernels.count_common(bits, lines, bits[:4])
    assert counts.tolist() == (expected[lines].astype(int) @ expected[:4].T.astype(int)).tolist()


def test_full_words_are_counted():
    full = np.full((2, 3), ~np.uint64(0))
    assert kernels.count_common(full, np.arange(2), full).tolist() == [[192, 192], [192, 192]]
