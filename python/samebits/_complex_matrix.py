"""Matrices of complex numbers made ready for many products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core
from ._arguments import doubles_beside_floats, number_of_threads
from ._complex import REAL_OF_COMPLEX, complex_array, complex_dtype, csr_of_dense, of_vector, parts, parts_of_rows
from ._complex import parts_of_vector, real_form, whole, whole_shape
from ._matrix import PARTS, Matrix, _device_of, _narrow_indices, _row_offsets, _shape, _sparse_parts
from ._places import HOST, beside_a_matrix, host_array, place_of, same_dtype
from ._vectors import _with_a_unit_stride


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
        if isinstance(a, Matrix):
            a = as_complex(a)
        sparse = [*a._csr] if isinstance(a, ComplexMatrix) else _sparse_parts(a)
        if sparse is None:
            sparse = csr_of_dense(complex_array(a, "the matrix"))
        there = -1 if isinstance(a, ComplexMatrix) else _device_of(a)
        if there >= 0 and device in ("cpu", None):
            device = f"cuda:{there}"
        self._make(_shape(a.shape if hasattr(a, "shape") else np.shape(a)), sparse, device, threads, storage, expected_products)

    def _make(
        self, shape: tuple[int, int], sparse: Any, device: str | None, threads: int | None, storage: str, expected_products: int
    ) -> None:
        offsets, indices, values = (host_array(part, name) for part, name in zip(sparse, PARTS))
        numbers = complex_array(values, "the matrix")
        if numbers.ndim != 1:
            raise _core.InvalidArgument(f"values have the shape {numbers.shape}; expected one dimension")
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
        there = place_of(values, "values").device
        if there >= 0 and device in ("cpu", None):
            device = f"cuda:{there}"
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
        y = whole(self.real_form.matvec(of_vector(self._parts_of(x, "x"), "x"), accuracy=accuracy, out=into))
        return y if out is None else out

    def matmat(self, x: Any, *, accuracy: str = "exact") -> Any:
        """The product with a matrix of several columns, complex or real."""
        found = self._parts_of(x, "x")
        if len(found.shape) != 2:
            expected = f"a matrix of {self.shape[1]} rows (matvec takes vectors)"
            raise _core.DimensionMismatch(f"x has the shape {whole_shape(found)}, the matrix {self.shape}; expected {expected}")
        return whole(self.real_form.matmat(found, accuracy=accuracy))

    def residual(self, b: Any, x: Any, *, x_low: Any = None, accuracy: str = "exact", out: Any = None) -> Any:
        """``b - A (x + x_low)``; with 'exact' both parts of every element are rounded once."""
        low = None if x_low is None else of_vector(self._parts_of(x_low, "x_low"), "x_low")
        into = None if out is None else self._parts_to_write(out)
        right, given = parts_of_vector(b, "b", self.shape[0], self.shape, self.dtype), of_vector(self._parts_of(x, "x"), "x")
        r = whole(self.real_form.residual(right, given, x_low=low, accuracy=accuracy, out=into))
        return r if out is None else out

    def _parts_of(self, x: Any, name: str) -> Any:
        """Of what the matrix is multiplied with."""
        return parts_of_rows(x, name, self.shape[1], self.shape, self.dtype)

    def _parts_to_write(self, out: Any) -> Any:
        place = place_of(out, "out")
        is_array = place is not HOST or isinstance(out, np.ndarray)
        if not is_array or place.dtype(out) != self.dtype or not place.is_plain(out) or len(out.shape) != 1:
            raise _core.InvalidArgument(f"out: expected a writable vector of {self.dtype} without gaps, where the other arrays lie")
        if tuple(out.shape) != self.shape[:1]:
            raise _core.InvalidArgument(f"out is {self.dtype} {tuple(out.shape)}; expected {self.dtype} {self.shape[:1]}")
        return parts(out, "out")

    def update(self, values: Any) -> None:
        """New values in the same places, in the order of the entries."""
        given = complex_array(beside_a_matrix(values, self.dtype, "values"), "values")
        if given.dtype != self.dtype and self.dtype == np.complex64:
            raise doubles_beside_floats("values")
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


def _is_dense(a: Any) -> bool:
    return not a.is_sparse if isinstance(a, Matrix) else _sparse_parts(a) is None


def _solve_dense_triangular(a: Any, b: Any, lower: bool, unit_diagonal: bool, accuracy: int, threads: int | None) -> np.ndarray:
    elements = complex_array(a._host_parts()[0] if isinstance(a, Matrix) else a, "the matrix")
    if elements.ndim != 2:
        raise _core.InvalidArgument(f"the matrix has {elements.ndim} dimensions; expected two")
    place = place_of(b, "b")
    if place is not HOST:
        raise _core.InvalidArgument(f"b lies {place.words}, and with dense triangles the processor solves; make the matrix sparse")
    given = parts_of_rows(b, "b", elements.shape[0], elements.shape, elements.dtype)
    right = same_dtype(HOST, given, REAL_OF_COMPLEX[elements.dtype], "b")
    x = np.zeros(right.size, right.dtype)
    solve = _core.solve_dense_triangular64 if elements.dtype == np.complex64 else _core.solve_dense_triangular128
    device = a._device if isinstance(a, Matrix) else _device_of(a)
    columns = HOST.by_columns(right)
    solve(_with_a_unit_stride(elements), lower, unit_diagonal, columns, x, accuracy, device, number_of_threads(threads))
    return whole(HOST.shaped(x, right.shape))


def solve_complex_triangular(a: Any, b: Any, lower: bool, unit_diagonal: bool, accuracy: int, threads: int | None) -> Any:
    """`solve_triangular` where A or b is complex."""
    if _is_dense(a):
        return _solve_dense_triangular(a, b, lower, unit_diagonal, accuracy, threads)
    matrix = as_complex(a) if isinstance(a, Matrix) else ComplexMatrix(a, threads=threads)
    place = matrix._place_of(b=b)
    given = parts_of_rows(b, "b", matrix.shape[0], matrix.shape, matrix.dtype)
    right = same_dtype(place, given, matrix.real_form.dtype, "b")
    x = place.zeros((math.prod(right.shape),), matrix.real_form.dtype)
    place.wait()
    solve = _core.solve_triangular64 if matrix.dtype == np.complex64 else _core.solve_triangular128
    columns = place.by_columns(right)
    solve(*matrix.shape, *matrix._csr, lower, unit_diagonal, columns, x, accuracy, matrix._device, matrix._threads)
    return whole(place.shaped(x, tuple(right.shape)))


def _unpickle_complex(
    shape: tuple[int, int], csr: tuple[np.ndarray, ...], device: str, threads: int, storage: tuple[str, int]
) -> ComplexMatrix:
    return ComplexMatrix.from_csr(shape, *csr, device=device, threads=threads, storage=storage[0], expected_products=storage[1])
