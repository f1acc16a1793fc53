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
)
from ._places import HOST, Host, common_place, host_array, place_of, same_dtype
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


def _row_offsets(offsets: np.ndarray) -> np.ndarray:
    """32 and 64 bits as they are; other integers as 64."""
    if offsets.dtype.kind not in "iu":
        raise _core.InvalidArgument(f"row offsets have the dtype {offsets.dtype}; expected integers")
    if offsets.dtype in (np.int32, np.int64):
        return np.ascontiguousarray(offsets)
    return offsets.astype(np.int64)


def _rows_of_torch(a: Any) -> tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]:
    parts = [part.detach().cpu().numpy() for part in (a.crow_indices(), a.col_indices(), a.values())]
    return (int(a.shape[0]), int(a.shape[1])), parts[0], parts[1], parts[2]


def _is_of_torch(a: Any) -> bool:
    """Whether it is a CSR tensor; dense ones have the same methods."""
    return str(getattr(a, "layout", "")) == "torch.sparse_csr"


def _device_of(a: Any) -> int:
    """The CUDA device on which a matrix lies, or -1."""
    if _is_of_torch(a):
        return -1 if a.device.type != "cuda" else int(a.device.index)
    if type(a).__module__.startswith("cupyx"):
        return int(a.data.device.id)
    return place_of(a, "the matrix").device


def _sparse_parts(a: Any) -> tuple[tuple[int, int], Any, Any, Any] | None:
    """Shape, row offsets, column indices and values of what is sparse; None for what is not."""
    if _is_of_torch(a):
        return _rows_of_torch(a)
    if type(a).__module__.startswith("cupyx"):
        a = a.tocsr().get()
    if hasattr(a, "tocsr") and hasattr(a, "shape"):
        rows = a if getattr(a, "format", "") == "csr" else a.tocsr()
        return rows.shape, rows.indptr, rows.indices, rows.data
    return None


class Matrix:
    """A matrix made ready for products and solves.

    Parameters
    ----------
    a : sparse matrix, array_like or Matrix
        A sparse matrix of SciPy or CuPy (CSR is taken as it is, others are converted), a PyTorch CSR tensor, or anything that NumPy makes two-dimensional. Values, row offsets and 32-bit column indices are not copied: do not change them while the
        matrix is in use, or call `update` afterwards.
    device : str, optional
        'cpu' (the default), 'cuda', 'cuda:1', or None for the best there is. On a CUDA device the matrix is copied there, and so are
        vectors of the host for each product; those of CuPy and PyTorch that lie there are used there. A matrix that lies on a CUDA
        device is one for that device, and has a copy on the host, of which preconditioners are made.
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
        there = -1 if isinstance(a, Matrix) else _device_of(a)
        self._device = device_number(device) if there < 0 or device not in ("cpu", None) else there
        self._threads = number_of_threads(threads)
        self._storage = (storage, int(expected_products))
        if isinstance(a, Matrix):
            self._take(a.shape, *a._parts)
            return
        sparse = _sparse_parts(a)
        if sparse is None:
            elements = float_array(host_array(a), "the matrix")
            if elements.ndim != 2:
                raise _core.InvalidArgument(f"the matrix has {elements.ndim} dimensions; expected two")
            self._take(elements.shape, _with_a_unit_stride(elements))
            return
        shape, offsets, indices, values = sparse
        if len(shape) != 2:
            raise _core.InvalidArgument(f"the matrix has {len(shape)} dimensions; expected two")
        self._take_sparse(shape, offsets, indices, values)

    def _take_sparse(self, shape: tuple[int, int], offsets: Any, indices: Any, values: Any) -> None:
        begins = _row_offsets(np.asarray(offsets))
        narrow = _narrow_indices(np.asarray(indices), shape[1])
        self._take(shape, begins, narrow, np.ascontiguousarray(float_array(values, "the matrix")))

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
        array = place_of(x, "x").floats(x, "x")
        return self.matvec(array) if array.ndim == 1 else self.matmat(array)

    def _place_of(self, **vectors: Any) -> Host:
        """Where these vectors lie, which is the host or the device of this matrix."""
        place = common_place(**vectors)
        if place.device not in (-1, self._device):
            raise _core.InvalidArgument(
                f"{next(iter(vectors))} lies {place.words}, and the matrix was made for {self.device}; make it with "
                f"device='cuda:{place.device}'"
            )
        return place

    def matvec(self, x: Any, *, accuracy: str = "exact", out: np.ndarray | None = None) -> np.ndarray:
        """The product with a vector; ``m @ x`` is that in 'exact'.

        Parameters
        ----------
        x : array_like
            As many elements as there are columns. The product is an array of the same library in the same place.
        accuracy : {'exact', 'compensated', 'fast'}
        out : ndarray, optional
            Where the product of a vector of the host is written; it must not overlap `x`.

        Examples
        --------
        >>> import numpy as np
        >>> import samebits as sb
        >>> m, y = sb.Matrix(np.eye(2)), np.empty(2)
        >>> m.matvec([1.0, 2.0], out=y) is y
        True
        """
        place = self._place_of(x=x)
        given = self._vector(x, "x", place)
        y = self._output(out, place, given)
        place.wait()
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
        place = self._place_of(x=x)
        array = same_dtype(place, place.floats(x, "x"), self.dtype, "x")
        if array.ndim != 2 or array.shape[0] != self.shape[1]:
            shape = tuple(array.shape)
            raise _core.DimensionMismatch(f"x has the shape {shape}, the matrix {self.shape}; expected {self.shape[1]} rows")
        columns = int(array.shape[1])
        given, y = place.by_columns(array), place.zeros((self.shape[0] * columns,), self.dtype)
        place.wait()
        self._core.multiply_columns(given, y, accuracy_number(accuracy))
        return place.shaped(y, (self.shape[0], columns))

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
        place = self._place_of(b=b, x=x, x_low=x_low)
        low = None if x_low is None else self._vector(x_low, "x_low", place)
        right, given = self._vector(b, "b", place), self._vector(x, "x", place)
        r = self._output(out, place, given)
        place.wait()
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

    def _vector(self, x: Any, name: str, place: Host = HOST) -> Any:
        """One dimension, one element after the other, of this matrix's dtype."""
        array = place.floats(x, name)
        if array.ndim != 1:
            shape = tuple(array.shape)
            raise _core.InvalidArgument(f"{name} has {array.ndim} dimensions, the shape {shape}; expected one dimension")
        return place.by_columns(same_dtype(place, array, self.dtype, name))

    def _output(self, out: Any, place: Host, x: Any) -> Any:
        """`out` once it is checked, or else an array where x lies."""
        if out is None:
            return np.empty(self.shape[0], self.dtype) if place is HOST else place.zeros((self.shape[0],), self.dtype)
        if place is not HOST:
            raise _core.NotSupported("out is for vectors in the host's memory")
        checked = checked_output(out, (self.shape[0],), self.dtype)
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
        A vector; x is an array of the same library in the same place.
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
    place = matrix._place_of(b=b)
    right = matrix._vector(b, "b", place)
    x = place.zeros((matrix.shape[0],), matrix.dtype)
    place.wait()
    matrix._core.solve_triangular(bool(lower), bool(unit_diagonal), right, x, accuracy_number(accuracy))
    return x
