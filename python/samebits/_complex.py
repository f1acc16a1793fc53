"""Complex numbers: a complex result is two real results, each in the accuracy asked for.

A complex matrix of n rows is a real one of 2 n: every number a + b i is the block (a, -b; b, a), and every vector its real and imaginary
parts in turn. The real functions do the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import returned_vector
from ._places import HOST, beside_a_matrix, place_of, returned_numbers_there

REAL_OF_COMPLEX = {np.dtype(np.complex128): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.float32)}


def is_complex(x: Any) -> bool:
    """Whether an array, a matrix, or what NumPy makes an array of holds complex numbers."""
    if isinstance(x, str) or x is None:
        return False
    dtype = getattr(x, "dtype", None)
    if dtype is None and (isinstance(x, (list, tuple, complex)) or hasattr(x, "__array__")):
        try:
            dtype = np.asarray(x).dtype
        except ValueError:  # rows of different lengths, which others refuse
            return False
    if isinstance(dtype, type):
        dtype = np.dtype(dtype)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "c"  # before the name, which takes NumPy microseconds to make
    return getattr(dtype, "kind", "") == "c" or str(dtype).startswith("torch.complex")


def complex_dtype(real: np.dtype) -> np.dtype:
    return np.dtype(np.complex64 if real == np.float32 else np.complex128)


def _as_array(x: Any, name: str) -> Any:
    """The array itself where it is one; complex, where it is NumPy's."""
    if place_of(x, name) is not HOST:
        return x
    array = HOST.numbers(x, name)
    return array if array.dtype.kind == "c" else array.astype(complex_dtype(array.dtype))


def parts(x: Any, name: str = "x") -> Any:
    """Re x_0, Im x_0, Re x_1, ...: a vector of twice the length, or a matrix of twice as many rows; of a vector without gaps a view."""
    array = _as_array(x, name)
    if len(array.shape) not in (1, 2):
        raise _core.InvalidArgument(f"{name} has {len(array.shape)} dimensions, the shape {tuple(array.shape)}; expected one or two")
    if type(array).__module__.startswith("torch"):
        import torch

        whole = array if array.is_complex() else torch.complex(array, torch.zeros_like(array))
        pairs = torch.view_as_real(whole.resolve_conj().T.contiguous() if whole.ndim == 2 else whole.resolve_conj().contiguous())
        return pairs.reshape(*pairs.shape[:-2], -1).T if whole.ndim == 2 else pairs.reshape(-1)
    if array.dtype.kind != "c":
        array = array.astype(complex_dtype(array.dtype))
    lines = array.T if array.ndim == 2 else array
    lines = lines if lines.flags.c_contiguous else lines.copy(order="C")
    real = lines.view(REAL_OF_COMPLEX[np.dtype(lines.dtype)])
    return real.T if array.ndim == 2 else real


def parts_of_rows(x: Any, name: str, rows: int, shape: tuple[int, int], dtype: np.dtype) -> Any:
    """The parts of what must have so many rows because the matrix, of this dtype, has this shape."""
    found = parts(beside_a_matrix(x, dtype, name), name)
    if found.shape[0] != 2 * rows:
        expected = f"{rows} elements, or so many rows in two dimensions"
        raise _core.DimensionMismatch(f"{name} has the shape {whole_shape(found)}, the matrix {shape}; expected {expected}")
    return found


def parts_of_vector(x: Any, name: str, rows: int, shape: tuple[int, int], dtype: np.dtype) -> Any:
    """The parts of a vector, which must have so many elements."""
    return of_vector(parts_of_rows(x, name, rows, shape, dtype), name)


def of_vector(found: Any, name: str) -> Any:
    """These parts, once it is clear that they are of a vector."""
    if len(found.shape) != 1:
        raise _core.InvalidArgument(f"{name} has {len(found.shape)} dimensions, the shape {whole_shape(found)}; expected one dimension")
    return found


def whole_shape(x: Any) -> tuple[int, ...]:
    """That of the complex numbers of these parts."""
    return (int(x.shape[0]) // 2, *(int(n) for n in x.shape[1:]))


def whole(x: Any) -> Any:
    """The complex numbers of these parts, in their memory where they lie one after another."""
    if type(x).__module__.startswith("torch"):
        import torch

        lines = x.T.contiguous() if x.ndim == 2 else x.contiguous()
        made = torch.view_as_complex(lines.reshape(*lines.shape[:-1], -1, 2))
        return made.T if x.ndim == 2 else made
    lines = x.T if x.ndim == 2 else x
    lines = lines if lines.flags.c_contiguous else lines.copy(order="C")
    made = lines.view(complex_dtype(np.dtype(lines.dtype)))
    return made.T if x.ndim == 2 else made


class OnParts:
    """A complex operator as a real one of twice the order."""

    dtype = np.dtype(np.float64)

    def __init__(self, a: Any, what: str) -> None:
        self.shape = (2 * int(a.shape[0]), 2 * int(a.shape[1]))
        self._apply = a.matvec if hasattr(a, "matvec") else lambda x: a @ x
        self._what = what

    def matvec(self, x: Any) -> Any:
        place, size = place_of(x, "x"), int(x.shape[0]) // 2
        returned = self._apply(whole(x))
        if place is HOST:
            return parts(returned_vector(returned, size, self._what, "biufc").astype(np.complex128))
        return parts(returned_numbers_there(place, returned, size, self._what))


def csr_of_dense(elements: np.ndarray) -> list[np.ndarray]:
    """The elements other than zero, by rows."""
    if elements.ndim != 2:
        raise _core.InvalidArgument(f"the matrix has {elements.ndim} dimensions; expected two")
    rows, columns = np.nonzero(elements)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=elements.shape[0]))))
    return [offsets.astype(np.int64), columns.astype(np.int32), elements[rows, columns]]


def real_form(shape: tuple[int, int], offsets: np.ndarray, indices: np.ndarray, values: np.ndarray) -> Any:
    """(rows, columns, offsets, indices, values) of the real matrix of twice the order."""
    make = _core.real_form64 if values.dtype == np.complex64 else _core.real_form128
    return make(*shape, offsets, indices, np.ascontiguousarray(values))


def complex_array(x: Any, name: str) -> np.ndarray:
    """In the host's memory."""
    place = place_of(x, name)
    return _as_array(x if place is HOST else place.host(x), name)
