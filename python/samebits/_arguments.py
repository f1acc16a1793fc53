"""Arrays, names and devices as they arrive from users."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Callable, Iterator

import numpy as np

from . import _core

ACCURACIES = {"fast": 0, "compensated": 1, "exact": 2}
MOST = 2**63 - 1  #: that a count can be

_default_threads = 0
_threads: ContextVar[int | None] = ContextVar("samebits_threads", default=None)


def accuracy_number(accuracy: str) -> int:
    """The number of an accuracy's name."""
    try:
        return ACCURACIES[accuracy]
    except (KeyError, TypeError):
        raise _core.InvalidArgument(f"accuracy {accuracy!r}: expected 'fast', 'compensated' or 'exact'") from None


def text(value: Any, name: str, expected: str) -> str:
    """A name of something, which the library knows or refuses."""
    if isinstance(value, str) and value.isprintable():
        return value
    raise _core.InvalidArgument(f"{name} is {value!r}; expected {expected}")


def number_type(dtype: Any, what: str, expected: str) -> np.dtype:
    """A dtype, which is looked at elsewhere; what is none is refused."""
    try:
        return np.dtype(dtype)
    except TypeError:
        raise _core.InvalidArgument(f"{what}: the dtype is {dtype!r}; expected {expected}") from None


def whole_number(value: Any, name: str, least: int = 0) -> int:
    """A count, which the library can hold. 1e6 will do."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        if least <= value <= MOST and int(value) == value:
            return int(value)
    raise _core.InvalidArgument(f"{name} is {value!r}; expected a whole number from {least} to 2^63 - 1")


def real_number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise _core.InvalidArgument(f"{name} is {value!r}; expected a real number") from None


def yes_or_no(value: Any, name: str) -> bool:
    """An option that is a boolean, of Python or NumPy."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise _core.InvalidArgument(f"{name} is {value!r}; expected True or False")


def tolerances(**given: Any) -> dict[str, float]:
    """Numbers, by their names, none of them below 0."""
    try:
        found = {} if any(isinstance(v, str) for v in given.values()) else {name: float(v) for name, v in given.items()}
    except (TypeError, ValueError, OverflowError):
        found = {}
    if not found or not all(value >= 0 for value in found.values()):
        seen = " and ".join(f"{name} is {value!r}" for name, value in given.items())
        raise _core.InvalidArgument(f"{seen}; expected numbers, 0 or more")
    return found


def checked_threads(threads: Any, name: str = "threads") -> int:
    """A number of threads, 0 for all."""
    if isinstance(threads, (int, np.integer)) and not isinstance(threads, bool) and 0 <= threads <= 4096:
        return int(threads)
    raise _core.InvalidArgument(f"{name} is {threads!r}; expected a whole number from 1 to 4096, or 0 for all")


def set_threads_from_environment() -> None:
    """Takes the default from SAMEBITS_NUM_THREADS."""
    global _default_threads
    text = os.environ.get("SAMEBITS_NUM_THREADS", "")
    if text:
        _default_threads = checked_threads(int(text) if text.isdecimal() and len(text) < 10 else text, "SAMEBITS_NUM_THREADS")


def number_of_threads(threads: int | None = None) -> int:
    """What was given, else that of the innermost `threads`, else that of the environment; 0 is all."""
    if threads is not None:
        return checked_threads(threads)
    in_context = _threads.get()
    return _default_threads if in_context is None else in_context


@contextmanager
def threads(number: int) -> Iterator[None]:
    """The number of threads of everything computed, and of matrices made, in a ``with`` block.

    It counts for the thread, or task, that enters the block. Without it all processors that the process may use (affinity, quota of its
    control group) work, or SAMEBITS_NUM_THREADS of the environment. No result of ``accuracy='exact'`` depends on it.

    Parameters
    ----------
    number : int
        1 or more; 0 means all.

    Examples
    --------
    >>> import samebits as sb
    >>> with sb.threads(2):
    ...     sb.sum([0.1] * 10)
    1.0
    """
    token = _threads.set(checked_threads(number))
    try:
        yield
    finally:
        _threads.reset(token)


def device_number(device: str | None) -> int:
    """-1 for the processor, else the CUDA device. None is the best there is."""
    if device is None:
        return _core.best_device()
    if device == "cpu":
        return -1
    if isinstance(device, str) and device.startswith("cuda"):
        index = device[5:] if device.startswith("cuda:") else ("0" if device == "cuda" else "")
        if index.isdecimal() and len(index) < 10:
            return int(index)
    raise _core.InvalidArgument(f"device {device!r}: expected None, 'cpu', 'cuda' or 'cuda:0' (or another number)")


def with_its_numbers(x: Any, name: str) -> Any:
    """A tensor of PyTorch without gradients whose memory holds its own numbers, not their negatives or conjugates; others as given."""
    if not hasattr(x, "resolve_neg"):
        return x
    if str(x.layout) != "torch.strided":
        raise _core.InvalidArgument(f"{name} is a tensor of the layout {x.layout}; expected a dense one")
    return x.detach().resolve_conj().resolve_neg()


def _is_masked(x: Any) -> bool:
    """Whether it is a masked array of NumPy, of a class made of these, or the constant `masked`; numpy.ma need not be imported for that."""
    return isinstance(x, np.ndarray) and any(kind.__name__ == "MaskedArray" for kind in type(x).__mro__)


def _host_array(x: Any, name: str) -> np.ndarray:
    """A NumPy array of what is given, without a copy where it lies in the host's memory."""
    if type(x) is np.ndarray:
        return x
    x = with_its_numbers(x, name)
    if _is_masked(x):
        raise _core.NotSupported(f"{name} is a masked array; take what is not masked (.compressed()), or fill it (.filled(0))")
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    if hasattr(x, "__cuda_array_interface__"):
        raise _core.NotSupported(
            f"{name} lies on a CUDA device, and this takes arrays in the host's memory; copy it there (CuPy: .get(), PyTorch: .cpu())"
        )
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array_interface__"):
        return np.from_dlpack(x)
    try:
        array = np.asarray(x)
    except ValueError as error:  # rows of different lengths
        raise _core.InvalidArgument(f"{name} makes no array: {error}") from None
    if array.dtype in (np.float64, np.complex128) and isinstance(x, (list, tuple)) and _rounds_integers(x, array):
        raise _core.InvalidArgument(f"{name} has integers beyond 2^53 among other numbers, which doubles cannot hold; round them yourself")
    return array


def _rounds_integers(x: list[Any] | tuple[Any, ...], array: np.ndarray) -> bool:
    """Whether integers of a list became other numbers in this array."""
    if not (np.abs(array.real) >= 2**53).any():
        return False
    return any(isinstance(n, (int, np.integer)) and int(float(n)) != n for n in np.array(x, dtype=object).flat)


def returned_vector(returned: Any, size: int, what: str, kinds: str = "biuf") -> np.ndarray:
    """What a function of the caller's returned, once it is clear that it is so many numbers, real ones or also complex ones."""
    if returned is None:
        raise _core.InvalidArgument(f"{what} returned None; expected {size} numbers")
    array = _host_array(returned, f"what {what} returned")
    if array.dtype.kind not in kinds or array.size != size:
        numbers = "numbers" if "c" in kinds else "real numbers"
        raise _core.InvalidArgument(f"{what} returned {array.dtype} of the shape {array.shape}; expected {size} {numbers}")
    return array.reshape(-1)


def into(apply: Callable[[np.ndarray], Any], what: str) -> Callable[[np.ndarray, np.ndarray], None]:
    """A function that returns a real vector as one that writes it."""

    def fill(x: np.ndarray, y: np.ndarray) -> None:
        y[...] = returned_vector(apply(x.copy()), y.size, what)

    return fill


def has_integers_beyond(array: np.ndarray, most: int) -> bool:
    return array.size > 0 and bool(array.max() > most or array.min() < -most)


def _from_integers(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.itemsize == 8 and has_integers_beyond(array, 2**53):
        raise _core.InvalidArgument(f"{name} has integers beyond 2^53, which doubles cannot hold; convert it to float64 yourself")
    return array.astype(np.float64)


def float_array(x: Any, name: str) -> np.ndarray:
    """An array of doubles or floats with the very values given; nothing is rounded."""
    array = _host_array(x, name)
    dtype = array.dtype
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        return array if dtype.isnative else array.astype(dtype.newbyteorder("="))
    if dtype.kind in "biu":
        return _from_integers(array, name)
    if dtype == np.float16:
        return array.astype(np.float32)
    if dtype.kind == "c":
        raise _core.NotSupported(f"{name} is complex, beside real numbers; make the matrix complex, sb.Matrix(A.astype(complex))")
    if array.size == 0 and dtype == object:
        return array.astype(np.float64)
    if array.dtype == object and array.ndim == 0 and hasattr(array.item(), "toarray"):
        raise _core.InvalidArgument(f"{name} is a sparse matrix, {type(array.item()).__name__}; expected a dense array, as its toarray() makes it")
    raise _core.InvalidArgument(f"{name} {_described(array)}; expected float64, float32, complex128, complex64, float16, booleans, or integers that doubles can hold")


def _described(array: np.ndarray) -> str:
    """In words what is no array of numbers."""
    if array.dtype != object:
        return f"has the dtype {array.dtype}"
    if array.ndim == 0:
        value = array.item()
        return "is None" if value is None else f"is of the type {type(value).__name__}"
    return f"holds Python objects, the first of the type {type(array.flat[0]).__name__}"


def doubles_beside_floats(name: str, seen: str = "doubles") -> _core.InvalidArgument:
    """The refusal to round; what changes no value comes first."""
    return _core.InvalidArgument(
        f"{name} has {seen}, the matrix floats; make the matrix of doubles, A.astype('float64') (of complex numbers 'complex128'), "
        f"which changes no value, or round {name} yourself: {name}.astype('float32') (of complex numbers 'complex64')"
    )
