"""Matrices made ready for many products."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import (
    accuracy_number,
    as_dtype,
    checked_output,
    device_number,
    float_array,
    number_of_threads,
    vector,
)
from ._vectors import _with_a_unit_stride

_EXACT = 2


def _narrow_indices(indices: np.ndarray, columns: int) -> np.ndarray:
    """32 bits as they are; wider ones are copied once it is clear that they fit."""
    if indices.size == 0:
        return np.empty(0, np.int32)
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices)
    if indices.dtype.kind not in "iu":
        raise _core.InvalidArgument(f"column indices have the dtype {indices.dtype}; expected integers")
    if (indices.min() < 0 or indices.max() >= columns):
        raise _core.InvalidArgument(f"a column index lies outside 0..{columns - 1}")
    return indices.astype(np.int32)


def _rows_of_torch(a: Any) -> tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]:
    parts = [np.from_dlpack(part.detach()) for part in (a.crow_indices(), a.col_indices(), a.values())]
    return (int(a.shape[0]), int(a.shape[1])), parts[0], parts[1], parts[2]


def _sparse_parts(a: Any) -> tuple[tuple[int, int], Any, Any, Any] | None:
    """Shape, row offsets, column indices and values of what is sparse; None for what is not."""
    if type(a).__module__.startswith("cupy"):
        raise _core.NotSupported("the matrix lies on a CUDA device; copy it to the host with .get() and give device='cuda' here")
    if hasattr(a, "crow_indices"):
        if a.device.type != "cpu":
            raise _core.NotSupported("the matrix lies on a CUDA device; copy it to the host with .cpu() and give device='cuda' here")
        return _rows_of_torch(a)
    if hasattr(a, "tocsr") and hasattr(a, "shape"):
        rows = a if getattr(a, "format", "") == "csr" else a.tocsr()
        return rows.shape, rows.indptr, rows.indices, rows.data
    return None


class Matrix:
    """A matrix made ready for products and solves.

    Parameters
    ----------
    a : sparse matrix, array_like or Matrix
        A SciPy sparse matrix or array (CSR is taken as it is, others are converted), a PyTorch CSR tensor on the processor, or anything
        that NumPy makes two-dimensional. Values and 32-bit column indices are not copied: do not change them while the matrix is in
        use, or call `update` afterwards. Row offsets of 32 bits are widened.
    device : str, optional
        'cpu' (the default), 'cuda', 'cuda:1', or None for the best there is. On a CUDA device the matrix is copied there, vectors for
        each product.
    threads : int, optional
        See `threads`.
    storage : {'auto', 'csr', 'packed'}
        What products of a sparse matrix read. 'csr' are its arrays as they are; 'packed' is a copy beside them, compressed without loss,
        which makes products faster where memory is what they wait for; 'auto' packs where `expected_products` pay for it. No bit of
        'exact' depends on it.
    expected_products : int
        With this matrix, for 'auto'.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
        float64 or float32.
    nnz : int
        Stored entries; of a dense matrix all elements.
    is_sparse : bool
    device : str
    storage : str
        'csr', 'packed', or 'dense'; `describe` says more.

    Raises
    ------
    InvalidArgument
        For offsets or indices that describe no matrix, and dtypes that would have to be rounded.

    Examples
    --------
    >>> import numpy as np
    >>> import samebits as sb
    >>> m = sb.Matrix([[1e16, 1.0, -1e16], [0.0, 1.0, 0.0]])
    >>> m @ np.ones(3)
    array([1., 1.])
    >>> m.shape
    (2, 3)
    """

    def __init__(
        self,
        a: Any,
        *,
        device: str | None = "cpu",
        threads: int | None = None,
        storage: str = "auto",
        expected_products: int = 1,
    ) -> None:
        self._device = device_number(device)
        self._threads = number_of_threads(threads)
        self._storage = (storage, int(expected_products))
        if isinstance(a, Matrix):
            self._take(a.shape, *a._parts)
            return
        sparse = _sparse_parts(a)
        if sparse is None:
            elements = float_array(a, "the matrix")
            if elements.ndim != 2:
                raise _core.InvalidArgument(f"the matrix has {elements.ndim} dimensions; expected two")
            self._take(elements.shape, _with_a_unit_stride(elements))
            return
        shape, offsets, indices, values = sparse
        if len(shape) != 2:
            raise _core.InvalidArgument(f"the matrix has {len(shape)} dimensions; expected two")
        self._take_sparse(shape, offsets, indices, values)

    def _take_sparse(self, shape: tuple[int, int], offsets: Any, indices: Any, values: Any) -> None:
        wide = np.ascontiguousarray(offsets, dtype=np.int64)
        narrow = _narrow_indices(np.asarray(indices), shape[1])
        self._take(shape, wide, narrow, np.ascontiguousarray(float_array(values, "the matrix")))

    def _take(self, shape: Any, *parts: np.ndarray) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = parts[-1].dtype
        self._parts = parts
        kind: Any = _core.Matrix64 if self.dtype == np.float64 else _core.Matrix32
        size = self.shape if len(parts) == 3 else ()
        stored = self._storage if len(parts) == 3 else ()
        self._core = kind(*size, *parts, self._device, self._threads, *stored)

    @classmethod
    def from_csr(
        cls,
        shape: tuple[int, int],
        offsets: Any,
        indices: Any,
        values: Any,
        *,
        device: str | None = "cpu",
        threads: int | None = None,
        storage: str = "auto",
        expected_products: int = 1,
    ) -> Matrix:
        """A matrix of its rows: those of row i are ``values[offsets[i]:offsets[i + 1]]`` in the columns ``indices[...]``.

        Examples
        --------
        >>> import samebits as sb
        >>> sb.Matrix.from_csr((2, 2), [0, 1, 2], [1, 0], [3.0, 4.0]) @ [1.0, 1.0]
        array([3., 4.])
        """
        made = cls.__new__(cls)
        made._device = device_number(device)
        made._threads = number_of_threads(threads)
        made._storage = (storage, int(expected_products))
        made._take_sparse(shape, offsets, np.asarray(indices), values)
        return made

    @property
    def is_sparse(self) -> bool:
        return len(self._parts) == 3

    @property
    def nnz(self) -> int:
        return int(self._parts[-1].size)

    @property
    def device(self) -> str:
        return "cpu" if self._device < 0 else f"cuda:{self._device}"

    @property
    def storage(self) -> str:
        return self._core.describe()[0]

    def describe(self) -> str:
        """What products read, why, and how many bytes of it a nonzero, in a line.

        Examples
        --------
        >>> import samebits as sb
        >>> sb.Matrix.from_csr((1, 1), [0, 1], [0], [2.0], storage='csr').describe()
        'csr, as asked for: 28.0 bytes a nonzero'
        """
        return self._core.describe()[2]

    def __repr__(self) -> str:
        what = f"{self.nnz} stored entries" if self.is_sparse else "dense"
        return f"<samebits.Matrix {self.shape[0]} x {self.shape[1]} of {self.dtype}, {what}, on {self.device}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.shape, self._parts, self.device, self._threads, self._storage)

    def __matmul__(self, x: Any) -> np.ndarray:
        # Vectors that need no conversion, first: this is the inner loop of many programs.
        if type(x) is np.ndarray and x.ndim == 1 and x.dtype == self.dtype and x.flags.c_contiguous:
            y = np.empty(self.shape[0], self.dtype)
            self._core.multiply(x, y, _EXACT)
            return y
        array = float_array(x, "x")
        return self.matvec(array) if array.ndim == 1 else self.matmat(array)

    def matvec(self, x: Any, *, accuracy: str = "exact", out: np.ndarray | None = None) -> np.ndarray:
        """The product with a vector; ``m @ x`` is that in 'exact'.

        Parameters
        ----------
        x : array_like
            As many elements as there are columns.
        accuracy : {'exact', 'compensated', 'fast'}
        out : ndarray, optional
            Where the product is written; it must not overlap `x`.

        Examples
        --------
        >>> import numpy as np
        >>> import samebits as sb
        >>> m, y = sb.Matrix(np.eye(2)), np.empty(2)
        >>> m.matvec([1.0, 2.0], out=y) is y
        True
        """
        given = self._vector(x, "x")
        y = np.empty(self.shape[0], self.dtype) if out is None else self._output(out, self.shape[0], given)
        self._core.multiply(given, y, accuracy_number(accuracy))
        return y

    def matmat(self, x: Any, *, accuracy: str = "exact") -> np.ndarray:
        """The product with a matrix of several columns, with the bits of products of its columns; the matrix is read once for all.

        Examples
        --------
        >>> import numpy as np
        >>> import samebits as sb
        >>> sb.Matrix([[2.0, 0.0], [0.0, 4.0]]) @ np.ones((2, 2))
        array([[2., 2.],
               [4., 4.]])
        """
        array = as_dtype(float_array(x, "x"), self.dtype, "x")
        if array.ndim != 2 or array.shape[0] != self.shape[1]:
            raise _core.DimensionMismatch(f"x has the shape {array.shape}, the matrix {self.shape}; expected {self.shape[1]} rows")
        y = np.empty((self.shape[0], array.shape[1]), self.dtype, order="F")
        self._core.multiply_columns(np.ravel(array, order="F"), np.ravel(y, order="F"), accuracy_number(accuracy))
        return y

    def residual(
        self,
        b: Any,
        x: Any,
        *,
        x_low: Any = None,
        accuracy: str = "exact",
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """``b - A (x + x_low)``; with 'exact' every element is that real number, rounded once.

        Examples
        --------
        >>> import samebits as sb
        >>> sb.Matrix([[3.0]]).residual([1.0], [1 / 3])
        array([5.55111512e-17])
        """
        low = None if x_low is None else self._vector(x_low, "x_low")
        right, given = self._vector(b, "b"), self._vector(x, "x")
        r = np.empty(self.shape[0], self.dtype) if out is None else self._output(out, self.shape[0], given)
        self._core.residual(right, given, low, r, accuracy_number(accuracy))
        return r

    def update(self, values: Any) -> None:
        """New values in the same places, in the order of the entries; of a dense matrix one of the same shape.

        Examples
        --------
        >>> import samebits as sb
        >>> m = sb.Matrix([[1.0]])
        >>> m.update([[2.0]])
        >>> m @ [1.0]
        array([2.])
        """
        array = as_dtype(float_array(values, "values"), self.dtype, "values")
        if array.shape != self._parts[-1].shape:
            raise _core.DimensionMismatch(f"values have the shape {array.shape}; expected {self._parts[-1].shape}")
        new = np.ascontiguousarray(array) if self.is_sparse else _with_a_unit_stride(array)
        self._take(self.shape, *self._parts[:-1], new)

    def to_scipy(self) -> Any:
        """The sparse matrix as a ``scipy.sparse.csr_array`` that shares its arrays."""
        from scipy.sparse import csr_array

        if not self.is_sparse:
            return csr_array(self._parts[0])
        offsets, indices, values = self._parts
        return csr_array((values, indices, offsets), shape=self.shape, copy=False)

    def _vector(self, x: Any, name: str) -> np.ndarray:
        return as_dtype(vector(x, name), self.dtype, name)

    def _output(self, out: Any, length: int, x: np.ndarray) -> np.ndarray:
        checked = checked_output(out, (length,), self.dtype)
        if not checked.flags.c_contiguous or np.may_share_memory(checked, x):
            raise _core.InvalidArgument("out overlaps x or has gaps between its elements; expected memory of its own, without gaps")
        return checked


def _unpickle(
    shape: tuple[int, int], parts: tuple[np.ndarray, ...], device: str, threads: int, storage: tuple[str, int]
) -> Matrix:
    made = Matrix.__new__(Matrix)
    made._device = device_number(device)
    made._threads = threads
    made._storage = storage
    made._take(shape, *parts)
    return made


def as_matrix(a: Any, *, device: str | None = "cpu", threads: int | None = None) -> Matrix:
    """What is a `Matrix` as it is, everything else made one."""
    return a if isinstance(a, Matrix) else Matrix(a, device=device, threads=threads)


def solve_triangular(
    a: Any,
    b: Any,
    *,
    lower: bool = True,
    unit_diagonal: bool = False,
    accuracy: str = "exact",
    threads: int | None = None,
) -> np.ndarray:
    """Solves A x = b for a triangular matrix by substitution.

    Each x_i is (b_i - sum_j a_ij x_j) / a_ii, where with 'exact' the numerator is rounded once before the division is.

    Parameters
    ----------
    a : sparse matrix, array_like or Matrix
        Square. Of a sparse matrix, whose columns are sorted in each row, every entry must be of the triangle; of a dense one the other
        triangle is not looked at.
    b : array_like
        A vector.
    lower : bool
        Which triangle.
    unit_diagonal : bool
        The diagonal is 1 and, in a sparse matrix, not stored.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0])
    array([1., 2.])
    """
    matrix = as_matrix(a, threads=threads)
    right = matrix._vector(b, "b")
    x = np.empty(matrix.shape[0], matrix.dtype)
    matrix._core.solve_triangular(bool(lower), bool(unit_diagonal), right, x, accuracy_number(accuracy))
    return x
