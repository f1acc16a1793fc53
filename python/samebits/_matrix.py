"""Matrices made ready for many products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core
from ._arguments import MOST, accuracy_number, device_number, float_array, number_of_threads, text, whole_number, yes_or_no
from ._complex import is_complex
from ._coordinates import rows_of_coordinates
from ._places import HOST, Host, common_place, host_array, output, place_of, same_dtype
from ._vectors import _with_a_unit_stride

_EXACT = 2
PARTS = ("offsets", "indices", "values")  #: of a sparse matrix by its rows


def _integers(place: Host, x: Any, name: str) -> Any:
    if place.dtype(x).kind not in "iu" or len(x.shape) != 1:
        raise _core.InvalidArgument(f"{name} have the dtype {x.dtype} and the shape {tuple(x.shape)}; expected integers in one dimension")
    return x


def _narrow_indices(place: Host, given: Any, columns: int) -> Any:
    """32 bits as they are; wider ones are copied once it is clear that they fit."""
    if math.prod(given.shape) == 0:
        return place.zeros((0,), np.dtype(np.int32))
    indices = _integers(place, given, "column indices")
    if place.dtype(indices) == np.int32:
        return place.by_rows(indices)
    least, greatest = place.extremes(indices)
    if least < 0 or greatest >= columns:
        raise _core.InvalidArgument(f"a column index is {least if least < 0 else greatest}; expected 0 to {columns - 1}")
    return place.cast(indices, np.dtype(np.int32))


def _row_offsets(place: Host, given: Any) -> Any:
    """32 and 64 bits as they are; other integers as 64."""
    if math.prod(given.shape) == 0:
        return place.zeros((0,), np.dtype(np.int64))
    offsets = _integers(place, given, "row offsets")
    if place.dtype(offsets) == np.uint64 and place.extremes(offsets)[1] > MOST:
        raise _core.InvalidArgument(f"a row offset is {place.extremes(offsets)[1]}; expected at most 2^63 - 1")
    return place.by_rows(offsets if place.dtype(offsets) in (np.int32, np.int64) else place.cast(offsets, np.dtype(np.int64)))


def _stored(storage: Any, expected_products: Any) -> tuple[str, int]:
    return text(storage, "storage", "'auto', 'csr' or 'packed'"), whole_number(expected_products, "expected_products")


def _shape(shape: Any) -> tuple[int, int]:
    try:
        rows, columns = shape
    except (TypeError, ValueError):
        raise _core.InvalidArgument(f"shape is {shape!r}; expected two numbers, of rows and of columns") from None
    return whole_number(rows, "shape[0]"), whole_number(columns, "shape[1]")


def entries_of(a: Any) -> Any:
    """The matrix that aslinearoperator of SciPy or CuPy made an operator of, else a: others may keep any matrix as their A."""
    kind = type(a)
    is_matrix = kind.__name__ == "MatrixLinearOperator" and kind.__module__.startswith(("scipy.", "cupyx."))
    return a.A if is_matrix else a


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


def _sparse_parts(a: Any) -> list[Any] | None:
    """Row offsets, column indices and values of what is sparse; None for what is dense."""
    if _is_of_torch(a):
        return [part.detach() for part in (a.crow_indices(), a.col_indices(), a.values())]
    if hasattr(a, "tocsr") and hasattr(a, "shape"):
        if len(a.shape) != 2:
            raise _core.InvalidArgument(f"the matrix has {len(a.shape)} dimensions; expected two")
        if getattr(a, "format", "") == "coo" and hasattr(a, "has_canonical_format") and a.nnz > 0:
            return rows_of_coordinates(a)
        rows = a if getattr(a, "format", "") == "csr" else a.tocsr()
        return [rows.indptr, rows.indices, rows.data]
    if hasattr(a, "matvec"):
        others = "bicgstab, cg, gmres, minres, idr, bicgstab2, cocg and lsmr take operators, too"
        raise _core.NotSupported(f"the matrix is of the type {type(a).__name__}; expected a matrix with entries ({others})")
    return None


def _complex_matrix() -> type[Matrix]:
    """The class of complex matrices, which is made of this one."""
    from ._complex_matrix import ComplexMatrix

    return ComplexMatrix


class Matrix:
    """A matrix made ready for products and solves.

    Parameters
    ----------
    a : sparse matrix, array_like or Matrix
        A sparse matrix of SciPy or CuPy (CSR is taken as it is, others are converted), a PyTorch CSR tensor, or anything that NumPy
        makes two-dimensional. Entries that COO repeats in one place are added up, each sum rounded once; in other formats they count as their sum, which is not rounded. Complex ones make a `ComplexMatrix`. Values, row offsets and 32-bit column indices are not copied: do not change them while the matrix is in
        use, or call `update` afterwards.
    device : str, optional
        'cpu' (the default), 'cuda', 'cuda:1', or None for the best there is. On a CUDA device the matrix is copied there, and so are
        vectors of the host for each product; those of CuPy and PyTorch that lie there are used there. A sparse matrix that lies
        on a CUDA device is one for that device and used where it is; what preconditioners are made of, a copy on the host, is made
        when first needed. A dense one has its nonzero elements copied by way of the host.
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

    __array_ufunc__ = None  # an array does not multiply it by its elements: array @ matrix is a TypeError

    def __new__(cls, a: Any = None, **_: Any) -> Matrix:
        return object.__new__(_complex_matrix() if cls is Matrix and is_complex(a) else cls)

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
        self._storage = _stored(storage, expected_products)
        if isinstance(a, Matrix):
            self._take_sparse(a.shape, *a._parts) if a.is_sparse else self._take(a.shape, *a._parts)
            return
        sparse = _sparse_parts(a)
        if sparse is None:
            elements = float_array(a if there < 0 else host_array(a), "the matrix")
            if elements.ndim != 2:
                raise _core.InvalidArgument(f"the matrix has {elements.ndim} dimensions; expected two")
            self._take(elements.shape, _with_a_unit_stride(elements))
            return
        self._take_sparse(a.shape, *sparse)

    def _take_sparse(self, shape: Any, offsets: Any, indices: Any, values: Any) -> None:
        """Arrays in the host's memory, or on a CUDA device: they are used there if it is this matrix's."""
        place = common_place(offsets=offsets, indices=indices, values=values)
        parts = [offsets, indices, values]
        if place.device != self._device or place is HOST:
            parts, place = [place.host(part, name) for part, name in zip(parts, PARTS)], HOST
        begins, narrow = _row_offsets(place, parts[0]), _narrow_indices(place, parts[1], int(shape[1]))
        numbers = place.floats(parts[2], "the matrix")
        if numbers.ndim != 1:
            raise _core.InvalidArgument(f"values have the shape {tuple(numbers.shape)}; expected one dimension")
        self._take(shape, begins, narrow, place.by_rows(numbers), place=place)

    def _take(self, shape: Any, *parts: Any, place: Host = HOST) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = place.dtype(parts[-1])
        self._parts, self._place = parts, place
        place.wait()
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
        """A matrix of its rows: the values of row i are ``values[offsets[i]:offsets[i + 1]]`` in the columns ``indices[...]``.

        Examples
        --------
        >>> import samebits as sb
        >>> sb.Matrix.from_csr((2, 2), [0, 1, 2], [1, 0], [3.0, 4.0]) @ [1.0, 1.0]
        array([3., 4.])
        """
        if cls is Matrix and is_complex(values):
            kept: dict[str, Any] = {"storage": storage, "expected_products": expected_products}
            return _complex_matrix().from_csr(shape, offsets, indices, values, device=device, threads=threads, **kept)
        made = cls.__new__(cls)
        there = place_of(values, "values").device
        made._device = device_number(device) if there < 0 or device not in ("cpu", None) else there
        made._threads = number_of_threads(threads)
        made._storage = _stored(storage, expected_products)
        made._take_sparse(_shape(shape), offsets, indices, values)
        return made

    @property
    def is_sparse(self) -> bool:
        return len(self._parts) == 3

    @property
    def nnz(self) -> int:
        return math.prod(self._parts[-1].shape)

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
        return _unpickle, (self.shape, self._host_parts(), self.device, self._threads, self._storage)

    def __matmul__(self, x: Any) -> np.ndarray:
        # Vectors that need no conversion, first: this is the inner loop of many programs.
        if type(x) is np.ndarray and x.ndim == 1 and x.dtype == self.dtype and x.flags.c_contiguous:
            y = np.empty(self.shape[0], self.dtype)
            self._core.multiply(x, y, _EXACT)
            return y
        array = same_dtype(place_of(x, "x"), x, self.dtype, "x")
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

    def matvec(self, x: Any, *, accuracy: str = "exact", out: Any = None) -> Any:
        """The product with a vector; ``m @ x`` is that in 'exact'.

        Parameters
        ----------
        x : array_like
            As many elements as there are columns. The product is an array of the same library in the same place.
        accuracy : {'exact', 'compensated', 'fast'}
        out : ndarray, optional
            Where the product is written, of its dtype and in the place of `x`, which it must not overlap.

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
        y = output(place, out, self.shape[:1], self.dtype, given)
        place.wait()
        self._core.multiply(given, place.floats(y, "out"), accuracy_number(accuracy))
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
        array = same_dtype(place, x, self.dtype, "x")
        if array.ndim != 2 or array.shape[0] != self.shape[1]:
            shape = tuple(array.shape)
            expected = f"a vector of {self.shape[1]} elements or a matrix of {self.shape[1]} rows"
            raise _core.DimensionMismatch(f"x has the shape {shape}, the matrix {self.shape}; expected {expected}")
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
        out: Any = None,
    ) -> Any:
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
        r = output(place, out, self.shape[:1], self.dtype, given, low, replaced=right)
        place.wait()
        self._core.residual(right, given, low, place.floats(r, "out"), accuracy_number(accuracy))
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
        place, place_of_values = self._place, place_of(values, "values")
        if (type(place), place.device) != (type(place_of_values), place_of_values.device):
            raise _core.InvalidArgument(f"values lie {place_of_values.words}, those of the matrix {place.words}; expected them there")
        array = same_dtype(place, values, self.dtype, "values")
        expected = tuple(self._parts[-1].shape)
        if tuple(array.shape) != expected:
            raise _core.DimensionMismatch(f"values have the shape {tuple(array.shape)}; expected {expected}")
        new = place.by_rows(array) if self.is_sparse else _with_a_unit_stride(array)
        self._take(self.shape, *self._parts[:-1], new, place=place)

    def to_scipy(self) -> Any:
        """The sparse matrix as a ``scipy.sparse.csr_array`` that shares its arrays, where they are the host's."""
        from scipy.sparse import csr_array

        if not self.is_sparse:
            return csr_array(self._parts[0])
        offsets, indices, values = self._host_parts()
        return csr_array((values, indices, offsets), shape=self.shape, copy=False)

    def _vector(self, x: Any, name: str, place: Host = HOST) -> Any:
        """One dimension, one element after the other, of this matrix's dtype."""
        array = same_dtype(place, x, self.dtype, name)
        if array.ndim != 1:
            shape = tuple(array.shape)
            raise _core.InvalidArgument(f"{name} has {array.ndim} dimensions, the shape {shape}; expected one dimension")
        return place.by_columns(array)

    def _host_parts(self) -> tuple[np.ndarray, ...]:
        return tuple(self._place.host(part) for part in self._parts)


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


def right_hand_side(place: Host, b: Any, matrix: Matrix, rounds: bool = False) -> Any:
    """A vector, or a matrix of several, of the matrix's dtype: rounded, or refused where it would have to be."""
    array = place.cast(place.floats(b, "b"), matrix.dtype) if rounds else same_dtype(place, b, matrix.dtype, "b")
    if array.ndim not in (1, 2) or array.shape[0] != matrix.shape[0]:
        shape = tuple(array.shape)
        expected = f"{matrix.shape[0]} elements, or so many rows in two dimensions"
        raise _core.DimensionMismatch(f"b has the shape {shape}, the matrix {matrix.shape}; expected {expected}")
    return array


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

    Each x_i is (b_i - sum_j a_ij x_j) / a_ii, where with 'exact' the numerator is rounded once before the division is; of complex
    numbers both are, each part by itself.

    Parameters
    ----------
    a : sparse matrix, array_like or Matrix
        Square. Of a sparse matrix, whose columns are sorted in each row, every entry must be of the triangle; of a dense one the other
        triangle is not looked at. A `ComplexMatrix` is sparse.
    b : array_like
        A vector, or a matrix of several; x is an array of the same library in the same place. Where the matrix or b is complex, so is x.
    lower : bool
        Which triangle.
    unit_diagonal : bool
        The diagonal is 1 and, in a sparse matrix, not stored.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0])
    array([1., 2.])
    >>> sb.solve_triangular([[2j, 0], [1, 4]], [2, 9 - 1j])
    array([0.  -1.j, 2.25+0.j])
    """
    is_lower, is_unit = yes_or_no(lower, "lower"), yes_or_no(unit_diagonal, "unit_diagonal")
    if is_complex(a) or is_complex(b):
        from ._complex_matrix import solve_complex_triangular

        return solve_complex_triangular(a, b, is_lower, is_unit, accuracy_number(accuracy), threads)
    matrix = as_matrix(a, threads=threads)
    place = matrix._place_of(b=b)
    right = right_hand_side(place, b, matrix)
    x = place.zeros((math.prod(right.shape),), matrix.dtype)
    place.wait()
    matrix._core.solve_triangular(is_lower, is_unit, place.by_columns(right), x, accuracy_number(accuracy))
    return place.shaped(x, tuple(right.shape))
