"""Where arrays lie: in the host's memory, or on a CUDA device in those of CuPy or PyTorch."""

from __future__ import annotations

import math
import sys
from typing import Any, Callable

import numpy as np

from . import _core
from ._arguments import _host_array, doubles_beside_floats, float_array, has_integers_beyond, with_its_numbers

_CUDA = (2, 13)  # kDLCUDA and kDLCUDAManaged, of DLPack
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))
_OF_TORCH = {f"torch.{dtype.name}": dtype for dtype in (*_FLOATS, *_COMPLEX, np.dtype(np.int32), np.dtype(np.int64))}


def has_a_unit_stride(a: np.ndarray) -> bool:
    """Whether a matrix is stored by rows or by columns, maybe as a part of a larger one."""
    rows, columns = a.shape
    item = a.itemsize
    by_rows = a.strides[1] == item and a.strides[0] >= columns * item and a.strides[0] % item == 0
    by_columns = a.strides[0] == item and a.strides[1] >= rows * item and a.strides[1] % item == 0
    return a.size > 0 and (by_rows or by_columns)


class Host:
    """NumPy's arrays, and what NumPy makes arrays of."""

    device = -1
    words = "in the host's memory"

    def floats(self, x: Any, name: str) -> np.ndarray:
        """An array of doubles or floats with the very values given."""
        return float_array(x, name)

    def numbers(self, x: Any, name: str) -> Any:
        """An array of doubles, floats or complex numbers of either with the very values given."""
        array = _host_array(x, name)
        if array.dtype == np.float16:
            return array.astype(np.float64)  # for sums and products that floats would round
        if array.dtype.kind != "c":
            return self.floats(x, name)
        native = array.dtype.newbyteorder("=")
        if native not in _COMPLEX:
            raise _core.InvalidArgument(f"{name} has the dtype {array.dtype}; expected complex128 or complex64")
        return array.astype(native, copy=False)

    def dtype(self, x: Any) -> np.dtype:
        return x.dtype

    def cast(self, x: Any, dtype: np.dtype) -> Any:
        return x.astype(dtype)

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return np.zeros(shape, dtype)

    def by_columns(self, x: Any) -> Any:
        """The elements one after another, column by column; a view where that is how they lie."""
        return np.ravel(x, order="F")

    def by_rows(self, x: Any) -> Any:
        return np.ascontiguousarray(x)

    def copied(self, x: Any) -> Any:
        return x.copy()

    def extremes(self, x: Any) -> tuple[int, int]:
        """The least and the greatest of some integers."""
        return int(x.min()), int(x.max())

    def first_beyond(self, x: Any, least: float, largest: float) -> tuple[int, ...] | None:
        """Where the first number is that is neither 0, Inf nor NaN and whose size is not between these; None where none is."""
        at_once = 1 << 20  # so that what is looked at beside x stays small
        flat = x.reshape(-1)  # a view, or one copy of what has gaps
        for first in range(0, len(flat), at_once):
            size = abs(flat[first : first + at_once])
            beyond = ((size > 0) & (size < least)) | ((size > largest) & (size < math.inf))
            if bool(beyond.any()):
                place = first + int(np.flatnonzero(self.host(beyond))[0])
                return tuple(int(i) for i in np.unravel_index(place, x.shape))
        return None

    def is_plain(self, x: Any) -> bool:
        """Whether results can be written to it: a vector without gaps, or a matrix whose rows or columns have none."""
        return x.flags.writeable and (x.flags.c_contiguous or (x.ndim == 2 and has_a_unit_stride(x)))

    def bytes(self, x: Any) -> range:
        """The addresses of a plain array."""
        return range(x.ctypes.data, x.ctypes.data + x.nbytes)

    def overlap(self, x: Any, y: Any) -> bool:
        """Whether plain arrays have memory in common."""
        return np.shares_memory(x, y)

    def shaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """The inverse of by_columns."""
        return x.reshape(shape, order="F")

    def host(self, x: Any, name: str = "x") -> np.ndarray:
        return _host_array(x, name)

    def sent(self, x: np.ndarray) -> Any:
        """The inverse of host."""
        return x

    def wait(self) -> None:
        """Until what the caller's library is computing is there."""


class OnDevice(Host):
    """Arrays on a CUDA device."""

    def overlap(self, x: Any, y: Any) -> bool:
        first, second = self.bytes(x), self.bytes(y)
        return first.start < second.stop and second.start < first.stop

    def current(self) -> Any:
        """A context in which the library works on this device."""
        raise NotImplementedError

    def stream(self) -> int:
        """The cudaStream_t on which the library works there now."""
        raise NotImplementedError

    def at(self, address: int, size: int, dtype: np.dtype) -> Any:
        """The vector that lies at this address, in its memory, which is not the array's own."""
        raise NotImplementedError

    def wait(self) -> None:
        _core.synchronize(self.device, self.stream())


class _Memory:
    """A vector on a device as libraries tell one another of it."""

    def __init__(self, address: int, size: int, dtype: np.dtype) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": dtype.str, "data": (address, False), "version": 2}


class CuPy(OnDevice):
    """Arrays of CuPy on one device."""

    def __init__(self, library: Any, device: int) -> None:
        self.library, self.device = library, device
        self.words = f"on cuda:{device}"

    def floats(self, x: Any, name: str) -> Any:
        return _checked_floats(self, x, name)

    def numbers(self, x: Any, name: str) -> Any:
        return x if self.dtype(x) in _COMPLEX else self.floats(x, name)

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        with self.library.cuda.Device(self.device):
            return self.library.zeros(shape, dtype)

    def by_columns(self, x: Any) -> Any:
        with self.library.cuda.Device(self.device):
            return self.library.ascontiguousarray(x.ravel(order="F"))

    def by_rows(self, x: Any) -> Any:
        with self.library.cuda.Device(self.device):
            return self.library.ascontiguousarray(x)

    def cast(self, x: Any, dtype: np.dtype) -> Any:
        with self.library.cuda.Device(self.device):
            return x.astype(dtype)

    def extremes(self, x: Any) -> tuple[int, int]:
        with self.library.cuda.Device(self.device):
            return super().extremes(x)

    def first_beyond(self, x: Any, least: float, largest: float) -> tuple[int, ...] | None:
        with self.library.cuda.Device(self.device):
            return super().first_beyond(x, least, largest)

    def is_plain(self, x: Any) -> bool:
        return x.flags.c_contiguous

    def bytes(self, x: Any) -> range:
        return range(x.data.ptr, x.data.ptr + x.nbytes)

    def host(self, x: Any, name: str = "x") -> np.ndarray:
        return x.get()

    def sent(self, x: np.ndarray) -> Any:
        with self.current():
            return self.library.asarray(x)

    def current(self) -> Any:
        return self.library.cuda.Device(self.device)

    def stream(self) -> int:
        with self.current():
            return int(self.library.cuda.get_current_stream().ptr)

    def at(self, address: int, size: int, dtype: np.dtype) -> Any:
        with self.current():
            return self.library.asarray(_Memory(address, size, dtype))


class PyTorch(OnDevice):
    """Tensors of PyTorch on one device; gradients are not followed."""

    def __init__(self, library: Any, device: int) -> None:
        self.library, self.device = library, device
        self.words = f"on cuda:{device}"

    def floats(self, x: Any, name: str) -> Any:
        return _checked_floats(self, with_its_numbers(x, name), name)

    def numbers(self, x: Any, name: str) -> Any:
        return with_its_numbers(x, name) if self.dtype(x) in _COMPLEX else self.floats(x, name)

    def dtype(self, x: Any) -> np.dtype:
        return _OF_TORCH.get(str(x.dtype), np.dtype("V"))

    def cast(self, x: Any, dtype: np.dtype) -> Any:
        return x.to(getattr(self.library, dtype.name))

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return self.library.zeros(shape, dtype=getattr(self.library, dtype.name), device=f"cuda:{self.device}")

    def by_columns(self, x: Any) -> Any:
        return (x if x.ndim < 2 else x.permute(*reversed(range(x.ndim)))).contiguous().reshape(-1)

    def by_rows(self, x: Any) -> Any:
        return x.contiguous()

    def copied(self, x: Any) -> Any:
        return x.clone()

    def is_plain(self, x: Any) -> bool:
        return x.is_contiguous() and not x.is_neg() and not x.is_conj()

    def bytes(self, x: Any) -> range:
        return range(x.data_ptr(), x.data_ptr() + x.numel() * x.element_size())

    def shaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.reshape(*reversed(shape)).permute(*reversed(range(len(shape))))

    def host(self, x: Any, name: str = "x") -> np.ndarray:
        return with_its_numbers(x, name).cpu().numpy()

    def sent(self, x: np.ndarray) -> Any:
        return self.library.as_tensor(np.ascontiguousarray(x), device=f"cuda:{self.device}")

    def current(self) -> Any:
        return self.library.cuda.device(self.device)

    def stream(self) -> int:
        return int(self.library.cuda.current_stream(self.device).cuda_stream)

    def at(self, address: int, size: int, dtype: np.dtype) -> Any:
        return self.library.as_tensor(_Memory(address, size, dtype), device=f"cuda:{self.device}")


HOST = Host()


def returned_there(place: Host, returned: Any, size: int, what: str, kinds: tuple[np.dtype, ...] = _FLOATS) -> Any:
    """What a function of the caller's returned, once it is clear that it is a vector of so many of such numbers in this place."""
    numbers = " or ".join(dtype.name for dtype in kinds)
    expected = f"expected {size} numbers of {numbers} {place.words}, in an array of {_library(place)}"
    if returned is None:
        raise _core.InvalidArgument(f"{what} returned None; {expected}")
    where = place_of(returned, f"what {what} returned")
    if (type(where), where.device) != (type(place), place.device):
        seen = f"an array of {_library(where)} {where.words}" if hasattr(returned, "dtype") else f"a {type(returned).__name__}"
        raise _core.InvalidArgument(f"{what} returned {seen}; {expected}")
    shape = tuple(int(n) for n in returned.shape)
    if place.dtype(returned) not in kinds or math.prod(shape) != size:
        raise _core.InvalidArgument(f"{what} returned {returned.dtype} of the shape {shape}; {expected}")
    return returned.reshape(-1)


def returned_numbers_there(place: Host, returned: Any, size: int, what: str) -> Any:
    """What a function of the caller's returned in this place, real or complex numbers, as so many of complex128."""
    return place.cast(returned_there(place, returned, size, what, (*_COMPLEX, *_FLOATS)), _COMPLEX[0])


def into_there(place: OnDevice, apply: Callable[[Any], Any], size: int, dtype: np.dtype, what: str) -> Callable[[int, int], None]:
    """A function that returns a vector on a device as one that is told where to read x, of which `apply` gets a copy, and where to
    write what it returns."""

    def fill(x: int, y: int) -> None:
        with place.current():
            returned = apply(place.copied(place.at(x, size, dtype)))
            place.at(y, size, dtype)[...] = returned_there(place, returned, size, what)

    return fill


def _checked_floats(place: Host, x: Any, name: str) -> Any:
    if place.dtype(x) in _FLOATS:
        return x
    raise _core.InvalidArgument(f"{name}, {place.words}, has the dtype {x.dtype}; expected float64 or float32")


def place_of(x: Any, name: str) -> Host:
    """Where an array lies. What is no array lies on the host."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack_device__"):
        return HOST
    kind, index = x.__dlpack_device__()
    if kind not in _CUDA:
        return HOST
    library = type(x).__module__.partition(".")[0]
    places = {"cupy": CuPy, "torch": PyTorch}
    if library not in places:
        raise _core.NotSupported(f"{name} lies on cuda:{index} in an array of {library}; there, those of CuPy and PyTorch are taken")
    return places[library](sys.modules[library], int(index))


def common_place(**arrays: Any) -> Host:
    """Where all of them lie; those that are None lie anywhere."""
    places = {name: place_of(x, name) for name, x in arrays.items() if x is not None}
    if not places:
        raise _core.InvalidArgument(f"{next(iter(arrays))} is None; expected an array of numbers")
    first, *others = places
    for other in others:
        if (type(places[first]), places[first].device) != (type(places[other]), places[other].device):
            raise _core.InvalidArgument(
                f"{first} lies {places[first].words} ({_library(places[first])}), {other} {places[other].words} "
                f"({_library(places[other])}); expected both in one place"
            )
    return places[first]


def output(place: Host, out: Any, shape: tuple[int, ...], dtype: np.dtype, *reads: Any, replaced: Any = None) -> Any:
    """Where a result that is computed from plain arrays is written: a new array, or `out` once it is checked, which may be
    `replaced` itself."""
    if out is None:
        return place.zeros(shape, dtype)
    of_numpy = isinstance(out, np.ndarray)
    where = place_of(out, "out")
    if (type(where), where.device) != (type(place), place.device) or (place is HOST and not of_numpy):
        seen = "NumPy" if of_numpy else type(out).__name__ if where is HOST else type(where).__name__
        raise _core.InvalidArgument(f"out is of {seen}, {where.words}; expected an array of {_library(place)} {place.words}")
    if tuple(out.shape) != shape or place.dtype(out) != dtype:
        raise _core.InvalidArgument(f"out is {out.dtype} {tuple(out.shape)}; expected {dtype} {shape}")
    if not place.is_plain(out):
        raise _core.InvalidArgument("out is read-only, or has gaps between its elements; expected a writable array without gaps")
    if replaced is not None and place.bytes(out) != place.bytes(replaced):
        reads = (*reads, replaced)
    if any(place.overlap(out, x) for x in reads if x is not None):
        raise _core.InvalidArgument("out overlaps an array that is read; expected memory of its own")
    return out


def _library(place: Host) -> str:
    return "NumPy" if place is HOST else type(place).__name__


def host_array(x: Any, name: str = "x") -> np.ndarray:
    return place_of(x, name).host(x, name)


def beside_a_matrix(x: Any, dtype: np.dtype, name: str) -> Any:
    """Integers, booleans and float16 as floats where this is the dtype of a matrix of floats, real or complex; all else as given."""
    if dtype not in (np.float32, np.complex64) or place_of(x, name) is not HOST:
        return x
    array = _host_array(x, name)
    if array.dtype.kind not in "biu" and array.dtype != np.float16:
        return x
    if array.dtype.itemsize >= 4 and has_integers_beyond(array, 2**24):
        raise doubles_beside_floats(name, "integers beyond 2^24")
    return array.astype(np.float32)


def same_dtype(place: Host, x: Any, dtype: np.dtype, name: str) -> Any:
    """The numbers of x as those of a matrix of this dtype, without rounding: doubles do not become floats silently."""
    array = place.floats(beside_a_matrix(x, dtype, name), name)
    if place.dtype(array) == dtype:
        return array
    if dtype == np.float64:
        return place.cast(array, dtype)
    raise doubles_beside_floats(name)


def one_number_dtype(place: Host, *arrays: Any) -> list[Any]:
    """Doubles where any are double, complex where any are; that changes no value."""
    dtypes = [place.dtype(a) for a in arrays]
    single = all(dtype in (np.float32, np.complex64) for dtype in dtypes)
    kinds = _COMPLEX if any(dtype in _COMPLEX for dtype in dtypes) else _FLOATS
    return [a if dtype == kinds[single] else place.cast(a, kinds[single]) for a, dtype in zip(arrays, dtypes)]
