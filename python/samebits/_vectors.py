"""Sums, dot products, norms and dense products."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import (
    accuracy_number,
    as_dtype,
    checked_output,
    common_dtype,
    device_number,
    float_array,
    number_of_threads,
)


def _elements(x: Any, name: str) -> np.ndarray:
    """All elements in the order in which they lie in memory, where that is one after the other."""
    return np.ravel(float_array(x, name), order="K")


def _pair(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    a, b = float_array(x, "x"), float_array(y, "y")
    if a.shape != b.shape:
        raise _core.DimensionMismatch(f"x has the shape {a.shape}, y {b.shape}; expected equal ones")
    dtype = common_dtype(a, b)
    return np.ravel(as_dtype(a, dtype, "x")), np.ravel(as_dtype(b, dtype, "y"))


def sum(x: Any, *, accuracy: str = "exact", threads: int | None = None) -> float:
    """The sum of all elements.

    Parameters
    ----------
    x : array_like
        Of float64, float32 or integers that doubles can hold, of any shape.
    accuracy : {'exact', 'compensated', 'fast'}
        'exact' is the real sum, rounded once; partial sums do not overflow.
    threads : int, optional
        For this call; see `threads`.

    Returns
    -------
    float
        Of float32 the sum is rounded to that. NaN where there is a NaN, or both infinities; else an infinity where there is one.

    Raises
    ------
    InvalidArgument
        For a dtype that would have to be rounded.

    See Also
    --------
    sum_expansion : the sum without any rounding.

    Examples
    --------
    >>> import math
    >>> import samebits as sb
    >>> sb.sum([1e308, 1e308, -1e308, 1.0, -1e308])
    1.0
    >>> x = [0.1] * 10
    >>> sb.sum(x) == math.fsum(x)
    True
    """
    return _core.sum(_elements(x, "x"), accuracy_number(accuracy), number_of_threads(threads))


def vdot(x: Any, y: Any, *, accuracy: str = "exact", threads: int | None = None) -> float:
    """The sum of the products of elements of two real arrays of one shape.

    Parameters
    ----------
    x, y : array_like
        Of equal shapes. Where one is float64 and the other float32, the result is float64.
    accuracy, threads
        As for `sum`.

    Returns
    -------
    float

    Examples
    --------
    >>> import samebits as sb
    >>> sb.vdot([[1e200, 1.0], [1e200, 0.5]], [[1e200, 3.0], [-1e200, 2.0]])
    4.0
    """
    a, b = _pair(x, y)
    return _core.dot(a, b, accuracy_number(accuracy), number_of_threads(threads))


def dot(x: Any, y: Any, *, accuracy: str = "exact", threads: int | None = None) -> float:
    """The dot product of two vectors.

    Parameters
    ----------
    x, y : array_like
        One-dimensional and of equal length; see `vdot` for other shapes and `matmul` for matrices.
    accuracy, threads
        As for `sum`.

    Returns
    -------
    float

    Examples
    --------
    >>> import samebits as sb
    >>> sb.dot([1e16, 1.0, -1e16], [1.0, 1.0, 1.0])
    1.0
    """
    a, b = float_array(x, "x"), float_array(y, "y")
    if a.ndim != 1 or b.ndim != 1:
        raise _core.InvalidArgument(f"dot: x has the shape {a.shape}, y {b.shape}; expected vectors (vdot and matmul take others)")
    return vdot(a, b, accuracy=accuracy, threads=threads)


def norm(x: Any, *, accuracy: str = "exact", threads: int | None = None) -> float:
    """The Euclidean norm, the square root of the sum of all squares; for matrices that of Frobenius.

    It neither overflows nor underflows on the way. 'exact' is the real number, rounded once.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.norm([3 * 2.0**600, 4 * 2.0**600]) == 5 * 2.0**600
    True
    """
    return _core.norm(_elements(x, "x"), accuracy_number(accuracy), number_of_threads(threads))


def _components(found: tuple[list[float], bool], dtype: np.dtype, exact: bool) -> np.ndarray:
    components, is_exact = found
    if exact and not is_exact:
        raise _core.InvalidArgument("the value is not a finite sum of numbers of this precision: Inf, NaN or products that underflow")
    return np.array(components, dtype=dtype)


def sum_expansion(x: Any, *, threads: int | None = None) -> np.ndarray:
    """The sum of all elements itself, without any rounding, as few numbers that do not overlap.

    The first one is ``sum(x)``, the second what is then missing, rounded, and so on: added up as real numbers they are the sum.

    Raises
    ------
    InvalidArgument
        Where there is an Inf or NaN.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.sum_expansion([1e16, 1.0])
    array([1.e+16, 1.e+00])
    """
    a = _elements(x, "x")
    return _components(_core.sum_expansion(a, number_of_threads(threads)), a.dtype, True)


def dot_expansion(x: Any, y: Any, *, threads: int | None = None) -> np.ndarray:
    """The sum of the products of elements itself; see `sum_expansion`.

    Raises
    ------
    InvalidArgument
        Where there is an Inf or NaN, or products go below the smallest subnormal number.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.dot_expansion([1e16, 1.0], [1.0, 0.5])
    array([1.e+16, 5.e-01])
    """
    a, b = _pair(x, y)
    return _components(_core.dot_expansion(a, b, number_of_threads(threads)), a.dtype, True)


def _with_a_unit_stride(a: np.ndarray) -> np.ndarray:
    """The array itself where it is stored by rows or by columns, else a copy by rows."""
    rows, columns = a.shape
    item = a.itemsize
    by_rows = a.strides[1] == item and (a.strides[0] >= columns * item and a.strides[0] % item == 0)
    by_columns = a.strides[0] == item and (a.strides[1] >= rows * item and a.strides[1] % item == 0)
    return a if a.size and (by_rows or by_columns) else np.ascontiguousarray(a)


def matmul(
    a: Any,
    b: Any,
    *,
    out: np.ndarray | None = None,
    accuracy: str = "exact",
    device: str | None = "cpu",
    threads: int | None = None,
) -> np.ndarray:
    """The product of two dense matrices.

    Parameters
    ----------
    a, b : array_like
        Two-dimensional, stored by rows or by columns or in part, without copies.
    out : ndarray, optional
        Where the product is written, of its shape and dtype; it must not overlap `a` or `b`.
    accuracy, threads
        As for `sum`: with 'exact' every element is rounded once.
    device : str, optional
        'cpu', or 'cuda' for arrays in the host's memory that are multiplied on a CUDA device; None for the best there is.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import samebits as sb
    >>> sb.matmul([[1e16, 1.0, -1e16]], [[1.0], [1.0], [1.0]])
    array([[1.]])
    """
    x, y = float_array(a, "a"), float_array(b, "b")
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        raise _core.DimensionMismatch(f"matmul: a has the shape {x.shape}, b {y.shape}; expected m x k and k x n")
    dtype = common_dtype(x, y)
    x, y = _with_a_unit_stride(as_dtype(x, dtype, "a")), _with_a_unit_stride(as_dtype(y, dtype, "b"))
    shape = (x.shape[0], y.shape[1])
    result = np.empty(shape, dtype) if out is None else checked_output(out, shape, dtype)
    _core.matmul(x, y, result, accuracy_number(accuracy), device_number(device), number_of_threads(threads))
    return result
