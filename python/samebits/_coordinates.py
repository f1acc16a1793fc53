"""Rows of matrices that are given by coordinates."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ._arguments import float_array
from ._places import HOST, place_of


def rows_of_coordinates(a: Any) -> list[Any]:
    """The parts of a COO matrix of SciPy or CuPy, columns sorted in each row. Entries repeated in one place are added up, each sum
    rounded once: tocsr would round every addition, in an order that leaves a symmetric matrix without its symmetry. Of booleans
    the sum is or, as SciPy has it."""
    if a.dtype == bool:
        rows = a.tocsr()
        rows.sort_indices()
        return [rows.indptr, rows.indices, rows.data]
    place: Any = place_of(a.data, "the matrix")
    if place is not HOST:
        with place.current():
            return _added_up(*_sorted_by_rows(a, place.library), place.library)
    distinct = copy.copy(a)  # of the same arrays
    distinct.has_canonical_format = True  # which is why nothing is added up
    rows = distinct.tocsr()
    if not rows.has_sorted_indices:
        rows = rows.tocsc().tocsr()  # two sorts by counting
    return _added_up(rows.indptr, rows.indices, rows.data, np)


def _sorted_by_rows(a: Any, library: Any) -> tuple[Any, Any, Any]:
    """For CuPy, whose tocsr adds up what is marked, too."""
    order = library.lexsort(library.stack([a.col, a.row]))
    offsets = library.searchsorted(a.row[order], library.arange(a.shape[0] + 1, dtype=a.row.dtype))
    return offsets, a.col[order], a.data[order]


def _added_up(offsets: Any, columns: Any, values: Any, library: Any) -> list[Any]:
    """Of rows with sorted columns: each sum is a row of a matrix of one column, multiplied by 1. What stands alone stays as it is."""
    is_new = library.ones(len(columns) + 1, bool)
    is_new[1:-1] = columns[1:] != columns[:-1]
    is_new[offsets] = True
    begins = library.flatnonzero(is_new)  # and the end
    if len(begins) == len(columns) + 1:
        return [offsets, columns, values]
    if values.dtype.kind in "iu":
        values = float_array(values if library is np else library.asnumpy(values), "the matrix")
        values = library.asarray(values)
    lengths = begins[1:] - begins[:-1]
    is_sum = lengths > 1
    is_of_sum = is_sum[library.cumsum(is_new[:-1]) - 1]  # entry by entry
    sums = _sums(values[is_of_sum], lengths[is_sum], library)
    result = values[begins[:-1]].astype(sums.dtype)
    result[library.flatnonzero(is_sum)] = sums
    return [library.searchsorted(begins, offsets), columns[begins[:-1]], result]


def _sums(values: Any, lengths: Any, library: Any) -> Any:
    """Of so many values after one another each, rounded once."""
    from scipy.sparse import csr_array

    from ._matrix import Matrix  # which is made of what this module makes

    def on_host(x: Any) -> Any:
        return x if library is np else library.asnumpy(x)

    offsets = np.concatenate([[0], np.cumsum(on_host(lengths))])
    parts = csr_array((on_host(values), np.zeros(len(values), np.int32), offsets), shape=(len(lengths), 1), copy=False)
    return library.asarray(Matrix(parts) @ np.ones(1, parts.dtype))
