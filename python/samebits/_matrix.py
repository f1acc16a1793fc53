"""Matrices made ready for many products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core
from ._arguments import accuracy_number, device_number, float_array, number_of_threads, text, whole_number
from ._complex import complex_array, complex_dtype, csr_of_dense, is_complex, parts, parts_of_rows, real_form, whole
from ._places import HOST, Host, common_place, host_array, output, place_of, same_dtype
from ._vectors import _with_a_unit_stride

_EXACT = 2


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
    return place.by_rows(offsets if place.dtype(offsets) in (np.int32, np.int64) else place.cast(offsets, np.dtype(np.int64)))


def _stored(storage: Any, expected_products: Any) -> tuple[str, int]:
    return text(storage, "storage", "'auto', 'csr' or 'packed'"), whole_number(expected_products, "expected_products")


def _shape(shape: Any) -> tuple[int, int]:
    try:
        rows, columns = shape
    except (TypeError, ValueError):
        raise _core.InvalidArgument(f"shape is {shape!r}; expected two numbers, of rows and of columns") from None
    return whole_number(rows, "shape[0]"), whole_number(columns, "shape[1]")


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
    """Row offsets, column indices and values of what is sparse; None for what is not."""
    if _is_of_torch(a):
        return [part.detach() for part in (a.crow_indices(), a.col_indices(), a.values())]
    if hasattr(a, "tocsr") and hasattr(a, "shape"):
        rows = a if getattr(a, "format", "") == "csr" else a.tocsr()
        return [rows.indptr, rows.indices, rows.data]
    return None


class Matrix:
    """A matrix made ready for products and solves.

    Parameters
    ----------
    a : sparse matrix, array_like or Matrix
        A sparse matrix of SciPy or CuPy (CSR is taken as it is, others are converted), a PyTorch CSR tensor, or anything that NumPy
        makes two-dimensional. Complex ones make a `ComplexMatrix`. Values, row offsets and 32-bit column indices are not copied: do not change them while the matrix is in
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
        return object.__new__(ComplexMatrix if cls is Matrix and is_complex(a) else cls)

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
        if sparse is None and hasattr(a, "matvec"):
            raise _core.NotSupported(f"the matrix is a {type(a).__name__}; only matrices with entries are supported")
        if sparse is None:
            elements = float_array(a if there < 0 else host_array(a), "the matrix")
            if elements.ndim != 2:
                raise _core.InvalidArgument(f"the matrix has {elements.ndim} dimensions; expected two")
            self._take(elements.shape, _with_a_unit_stride(elements))
            return
        if len(a.shape) != 2:
            raise _core.InvalidArgument(f"the matrix has {len(a.shape)} dimensions; expected two")
        self._take_sparse(a.shape, *sparse)

    def _take_sparse(self, shape: Any, offsets: Any, indices: Any, values: Any) -> None:
        """Arrays in the host's memory, or on a CUDA device: they are used there if it is this matrix's."""
        place = common_place(offsets=offsets, indices=indices, values=values)
        parts = [offsets, indices, values]
        if place.device != self._device or place is HOST:
            parts, place = [place.host(part) for part in parts], HOST
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
            return ComplexMatrix.from_csr(shape, offsets, indices, values, device=device, threads=threads, **kept)
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
        array = same_dtype(place, place.floats(x, "x"), self.dtype, "x")
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
        r = output(place, out, self.shape[:1], self.dtype, given, low)
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
        array = same_dtype(place, place.floats(values, "values"), self.dtype, "values")
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
        array = place.floats(x, name)
        if array.ndim != 1:
            shape = tuple(array.shape)
            raise _core.InvalidArgument(f"{name} has {array.ndim} dimensions, the shape {shape}; expected one dimension")
        return place.by_columns(same_dtype(place, array, self.dtype, name))

    def _host_parts(self) -> tuple[np.ndarray, ...]:
        return tuple(self._place.host(part) for part in self._parts)


class ComplexMatrix(Matrix):
    """A matrix of complex numbers made ready for products and solves: what `Matrix` makes of one.

    It is multiplied as the real matrix of twice the order that it stands for, by the same kernels on every device. In 'exact' the real and
    the imaginary part of every element of a product are the real numbers, each rounded once.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
        complex128 or complex64.
    nnz : int
        Stored entries.
    real_form : Matrix
        Each entry a + b i as the block (a, -b; b, a), parts that are zero left out.

    Examples
    --------
    >>> import samebits as sb
    >>> m = sb.Matrix([[1e16 + 1j, 1.0, -1e16 + 2j]])
    >>> m @ [1.0, 1.0, 1.0]
    array([1.+3.j])
    """

    real_form: Matrix

    def __init__(
        self,
        a: Any,
        *,
        device: str | None = "cpu",
        threads: int | None = None,
        storage: str = "auto",
        expected_products: int = 1,
    ) -> None:
        sparse = [*a._csr] if isinstance(a, ComplexMatrix) else _sparse_parts(a)
        if sparse is None and hasattr(a, "matvec"):
            raise _core.NotSupported(f"the matrix is a {type(a).__name__}; only matrices with entries are supported")
        if sparse is None:
            sparse = csr_of_dense(complex_array(a, "the matrix"))
        there = -1 if isinstance(a, ComplexMatrix) else _device_of(a)
        if there >= 0 and device in ("cpu", None):
            device = f"cuda:{there}"
        self._make(_shape(a.shape if hasattr(a, "shape") else np.shape(a)), sparse, device, threads, storage, expected_products)

    def _make(
        self, shape: tuple[int, int], sparse: Any, device: str | None, threads: int | None, storage: str, expected_products: int
    ) -> None:
        offsets, indices, values = (host_array(part) for part in sparse)
        numbers = complex_array(values, "the matrix")
        self._csr = (_row_offsets(HOST, offsets), _narrow_indices(HOST, indices, shape[1]), np.ascontiguousarray(numbers))
        rows, columns, *real = real_form(shape, *self._csr)
        self.real_form = Matrix.from_csr(
            (rows, columns), *real, device=device, threads=threads, storage=storage, expected_products=expected_products
        )
        self._take_over(shape)

    def _take_over(self, shape: tuple[int, int]) -> None:
        self.shape, self.dtype = shape, self._csr[2].dtype
        self._device, self._threads, self._storage = self.real_form._device, self.real_form._threads, self.real_form._storage

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
    ) -> ComplexMatrix:
        """A matrix of its rows, as `Matrix.from_csr`."""
        made = object.__new__(cls)
        made._make(_shape(shape), (offsets, indices, values), device, threads, storage, expected_products)
        return made

    @property
    def is_sparse(self) -> bool:
        return True

    @property
    def nnz(self) -> int:
        return int(self._csr[2].size)

    @property
    def storage(self) -> str:
        return self.real_form.storage

    def describe(self) -> str:
        """What products read of the real form, in a line."""
        return self.real_form.describe()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle_complex, (self.shape, self._csr, self.device, self._threads, self._storage)

    def __matmul__(self, x: Any) -> Any:
        return whole(self.real_form @ self._parts_of(x, "x"))

    def matvec(self, x: Any, *, accuracy: str = "exact", out: Any = None) -> Any:
        """The product with a vector, complex or real; ``m @ x`` is that in 'exact'."""
        into = None if out is None else self._parts_to_write(out)
        y = whole(self.real_form.matvec(self._parts_of(x, "x"), accuracy=accuracy, out=into))
        return y if out is None else out

    def matmat(self, x: Any, *, accuracy: str = "exact") -> Any:
        """The product with a matrix of several columns, complex or real."""
        return whole(self.real_form.matmat(self._parts_of(x, "x"), accuracy=accuracy))

    def residual(self, b: Any, x: Any, *, x_low: Any = None, accuracy: str = "exact", out: Any = None) -> Any:
        """``b - A (x + x_low)``; with 'exact' both parts of every element are rounded once."""
        low = None if x_low is None else self._parts_of(x_low, "x_low")
        into = None if out is None else self._parts_to_write(out)
        right = parts_of_rows(b, "b", self.shape[0], self.shape)
        r = whole(self.real_form.residual(right, self._parts_of(x, "x"), x_low=low, accuracy=accuracy, out=into))
        return r if out is None else out

    def _parts_of(self, x: Any, name: str) -> Any:
        """Of what the matrix is multiplied with."""
        return parts_of_rows(x, name, self.shape[1], self.shape)

    def _parts_to_write(self, out: Any) -> Any:
        if not isinstance(out, np.ndarray) or out.dtype != self.dtype or not out.flags.c_contiguous or out.ndim != 1:
            raise _core.InvalidArgument(f"out: expected a NumPy vector of {self.dtype} without gaps")
        return parts(out, "out")

    def update(self, values: Any) -> None:
        """New values in the same places, in the order of the entries."""
        given = complex_array(values, "values")
        if given.shape != self._csr[2].shape:
            raise _core.DimensionMismatch(f"values have the shape {given.shape}; expected {self._csr[2].shape}")
        real = self.real_form
        self._make(self.shape, (*self._csr[:2], given.astype(self.dtype)), real.device, real._threads, *real._storage)

    def to_scipy(self) -> Any:
        """As a ``scipy.sparse.csr_array`` that shares its arrays."""
        from scipy.sparse import csr_array

        offsets, indices, values = self._csr
        return csr_array((values, indices, offsets), shape=self.shape, copy=False)


def as_complex(matrix: Matrix) -> ComplexMatrix:
    """A real matrix as a complex one without imaginary parts."""
    if isinstance(matrix, ComplexMatrix):
        return matrix
    sparse = matrix._host_parts() if matrix.is_sparse else csr_of_dense(matrix._host_parts()[0])
    values = sparse[2].astype(complex_dtype(matrix.dtype))
    return ComplexMatrix.from_csr(matrix.shape, sparse[0], sparse[1], values, device=matrix.device, threads=matrix._threads)


def _unpickle_complex(
    shape: tuple[int, int], csr: tuple[np.ndarray, ...], device: str, threads: int, storage: tuple[str, int]
) -> ComplexMatrix:
    return ComplexMatrix.from_csr(shape, *csr, device=device, threads=threads, storage=storage[0], expected_products=storage[1])


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
    if is_complex(a) or is_complex(b):
        raise _core.NotSupported("solve_triangular takes real numbers only; solve takes complex ones")
    matrix = as_matrix(a, threads=threads)
    place = matrix._place_of(b=b)
    right = matrix._vector(b, "b", place)
    x = place.zeros((matrix.shape[0],), matrix.dtype)
    place.wait()
    matrix._core.solve_triangular(bool(lower), bool(unit_diagonal), right, x, accuracy_number(accuracy))
    return x
