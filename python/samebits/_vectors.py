"""Sums, dot products, norms and dense products."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import accuracy_number, device_number, number_of_threads
from ._complex import REAL_OF_COMPLEX
from ._places import HOST, Host, common_place, has_a_unit_stride, one_number_dtype, output, place_of


def _elements(x: Any) -> tuple[Any, Host]:
    """All elements in the order in which they lie in memory, where that is one after the other, and where that is."""
    place = place_of(x, "x")
    array = place.numbers(x, "x")
    flat = np.ravel(array, order="K") if place is HOST else place.by_columns(array)
    place.wait()
    return flat, place


def _pair(x: Any, y: Any) -> tuple[Any, Any, Host]:
    """The elements of both in one order, of one dtype, and where they lie."""
    place = common_place(x=x, y=y)
    a, b = place.numbers(x, "x"), place.numbers(y, "y")
    if a.shape != b.shape:
        raise _core.DimensionMismatch(f"x has the shape {tuple(a.shape)}, y {tuple(b.shape)}; expected equal ones")
    flat = [place.by_columns(array) for array in one_number_dtype(place, a, b)]
    place.wait()
    return flat[0], flat[1], place


def sum(x: Any, *, accuracy: str = "exact", threads: int | None = None) -> Any:
    """The sum of all elements.

    Parameters
    ----------
    x : array_like
        Of float64, float32, complex128, complex64, float16 or integers, the last two as doubles, of any shape. Arrays of CuPy and PyTorch on a
        CUDA device, but for those of integers and float16, are added up there.
    accuracy : {'exact', 'compensated', 'fast'}
        'exact' is the real sum, rounded once; partial sums do not overflow.
    threads : int, optional
        For this call; see `threads`.

    Returns
    -------
    float or complex
        Of float32 the sum is rounded to that; of complex numbers both parts are sums. NaN where there is a NaN, or both infinities;
        else an infinity where there is one.

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
    a, place = _elements(x)
    return _core.sum(a, accuracy_number(accuracy), place.device, number_of_threads(threads))


def vdot(x: Any, y: Any, *, accuracy: str = "exact", threads: int | None = None) -> Any:
    """The sum of the products of elements of two arrays of one shape; of complex ones the first is conjugated, as NumPy's vdot.

    Parameters
    ----------
    x, y : array_like
        Of equal shapes. Where one is float64 and the other float32, the result is float64; where one is complex, it is complex.
    accuracy, threads
        As for `sum`.

    Returns
    -------
    float or complex

    Examples
    --------
    >>> import samebits as sb
    >>> sb.vdot([[1e200, 1.0], [1e200, 0.5]], [[1e200, 3.0], [-1e200, 2.0]])
    4.0
    """
    a, b, place = _pair(x, y)
    return _core.vdot(a, b, accuracy_number(accuracy), place.device, number_of_threads(threads))


def dot(x: Any, y: Any, *, accuracy: str = "exact", threads: int | None = None) -> Any:
    """The dot product of two vectors; nothing is conjugated, as in NumPy's dot.

    Parameters
    ----------
    x, y : array_like
        One-dimensional and of equal length; see `vdot` for other shapes and `matmul` for matrices.
    accuracy, threads
        As for `sum`.

    Returns
    -------
    float or complex

    Examples
    --------
    >>> import samebits as sb
    >>> sb.dot([1e16, 1.0, -1e16], [1.0, 1.0, 1.0])
    1.0
    """
    place = common_place(x=x, y=y)
    a, b = place.numbers(x, "x"), place.numbers(y, "y")
    if a.ndim != 1 or b.ndim != 1:
        shapes = f"x has the shape {tuple(a.shape)}, y {tuple(b.shape)}"
        raise _core.InvalidArgument(f"dot: {shapes}; expected vectors (vdot and matmul take others)")
    a, b, place = _pair(a, b)
    return _core.dot(a, b, accuracy_number(accuracy), place.device, number_of_threads(threads))


def norm(x: Any, *, accuracy: str = "exact", threads: int | None = None) -> float:
    """The Euclidean norm, the square root of the sum of all squares; for matrices that of Frobenius.

    It neither overflows nor underflows on the way. 'exact' is the real number, rounded once.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.norm([3 * 2.0**600, 4 * 2.0**600]) == 5 * 2.0**600
    True
    """
    a, place = _elements(x)
    return _core.norm(a, accuracy_number(accuracy), place.device, number_of_threads(threads))


def _components(found: tuple[list[float], bool], dtype: np.dtype) -> np.ndarray:
    components, is_exact = found
    if not is_exact:
        raise _core.InvalidArgument("the value is not a finite sum of numbers of this precision: Inf, NaN or products that underflow")
    return np.array(components, dtype=dtype)


def _expansion(found: Any, dtype: np.dtype) -> Any:
    """The components of a real number, or of both parts of a complex one."""
    if dtype not in REAL_OF_COMPLEX:
        return _components(found, dtype)
    return tuple(_components(part, REAL_OF_COMPLEX[dtype]) for part in found)


def sum_expansion(x: Any, *, threads: int | None = None) -> Any:
    """The sum of all elements itself, without any rounding, as few numbers that do not overlap.

    The first one is ``sum(x)``, the second what is then missing, rounded, and so on: added up as real numbers they are the sum.

    Returns
    -------
    ndarray
        Of complex numbers two, for the real and the imaginary part, which need not be equally long.

    Raises
    ------
    InvalidArgument
        Where there is an Inf or NaN.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.sum_expansion([1e16, 1.0])
    array([1.e+16, 1.e+00])
    >>> sb.sum_expansion([1e16 + 2j, 1.0])
    (array([1.e+16, 1.e+00]), array([2.]))
    """
    a, place = _elements(x)
    return _expansion(_core.sum_expansion(a, place.device, number_of_threads(threads)), place.dtype(a))


def dot_expansion(x: Any, y: Any, *, threads: int | None = None) -> Any:
    """The sum of the products of elements itself, of two arrays of one shape; see `sum_expansion`.

    Nothing is conjugated, as in `dot`: ``dot_expansion(np.conj(x), y)`` is that of `vdot`.

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
    a, b, place = _pair(x, y)
    return _expansion(_core.dot_expansion(a, b, place.device, number_of_threads(threads)), place.dtype(a))


def _with_a_unit_stride(a: np.ndarray) -> np.ndarray:
    """The array itself where it is stored by rows or by columns, else a copy by rows."""
    return a if has_a_unit_stride(a) else np.ascontiguousarray(a)


def matmul(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    accuracy: str = "exact",
    device: str | None = "cpu",
    threads: int | None = None,
) -> Any:
    """The product of two dense matrices.

    Parameters
    ----------
    a, b : array_like
        Two-dimensional, real or complex, stored by rows or by columns or in part, without copies. Both on a CUDA device, of CuPy or
        PyTorch: then so is the product, and it is made there.
    out : ndarray, optional
        Where the product is written, of its shape, dtype and place. It must not overlap `a` or `b`.
    accuracy, threads
        As for `sum`: with 'exact' every element is rounded once.
    device : str, optional
        'cpu', or 'cuda' for arrays in the host's memory that are multiplied on a CUDA device; None for the best there is.

    Returns
    -------
    ndarray
        Or an array of the library of `a` and `b`.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.matmul([[1e16, 1.0, -1e16]], [[1.0], [1.0], [1.0]])
    array([[1.]])
    """
    place = common_place(a=a, b=b)
    x, y = one_number_dtype(place, place.numbers(a, "a"), place.numbers(b, "b"))
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        raise _core.DimensionMismatch(f"matmul: a has the shape {tuple(x.shape)}, b {tuple(y.shape)}; expected m x k and k x n")
    lines = _with_a_unit_stride if place is HOST else place.by_rows
    x, y = lines(x), lines(y)
    result = output(place, out, (x.shape[0], y.shape[1]), place.dtype(x), x, y)
    place.wait()
    where = device_number(device) if place is HOST else place.device
    _core.matmul(x, y, place.numbers(result, "out"), accuracy_number(accuracy), where, number_of_threads(threads))
    return result
