"""Solves with a LinearOperator: nothing is known of A but its products."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arguments import device_number, into, number_of_threads, returned_vector
from ._matrix import Matrix
from ._places import HOST, Host, OnDevice, common_place, into_there, place_of, returned_there
from ._preconditioner import Preconditioner, _check_inverse, preconditioner_of
from ._result import Result, raise_again
from ._solve import Iteration, _callback, _guess, _make_complex


APPLIES_M = "a preconditioner's function"  #: in messages


class How(NamedTuple):
    """Where, and who is told."""

    callback: Callable[[Iteration], Any] | None
    device: str | None
    threads: int | None
    shift: float = 0.0  #: A - shift I stands for A


def without_entries(a: Any) -> bool:
    """Whether it is an operator that is no matrix after all."""
    return hasattr(a, "matvec") and not hasattr(a, "tocsr") and not isinstance(a, Matrix)


def _check_device(method: str, place: Host, device: str | None) -> None:
    if place is HOST and device not in (None, "cpu"):
        raise _core.NotSupported(f"{method}: A is a LinearOperator and b lies in the host's memory; device {device!r} has no part in it")
    if place is not HOST and device is not None and device_number(device) != place.device:
        raise _core.InvalidArgument(f"{method}: b lies {place.words}, where the LinearOperator is applied; device {device!r} is another one")


def _right_hand_side(place: Host, a: Any, b: Any) -> Any:
    """b as one column in the precision that A and b ask for."""
    given = place.floats(b, "b")
    of_a = getattr(a, "dtype", None)
    single = place.dtype(given) == np.float32 and (of_a == np.float32 or str(of_a) == "torch.float32")
    return place.by_columns(place.cast(given, np.dtype(np.float32 if single else np.float64)))


def _inverse(method: str, place: Host, m: Any, shape: Any, dtype: np.dtype) -> Any:
    """M as a Preconditioner, or, on a device, as it is given: what has `matvec`, or is a matrix. None for none."""
    if m is None or (isinstance(m, str) and m in ("auto", "none")):
        return None
    if isinstance(m, str):
        raise _core.NotSupported(f"{method}: M is {m!r}, which is made of entries, and A is a LinearOperator; give M as one, too, or None")
    if isinstance(place, OnDevice) and not isinstance(m, Preconditioner):
        _check_inverse(m, shape)
        return m
    made = preconditioner_of(m, shape, dtype)
    if made.dtype != dtype:
        raise _core.InvalidArgument(f"the preconditioner was made for {made.dtype}, and the system is solved in {dtype}")
    if made.shape[0] != shape[0]:
        raise _core.DimensionMismatch(f"the preconditioner has {made.shape[0]} rows, A {shape[0]}")
    return made


def _product(m: Any) -> Callable[[Any], Any]:
    return m.matvec if hasattr(m, "matvec") else lambda r: m @ r


def _start(place: Host, x0: Any, right: Any, m: Any) -> Any:
    """A copy of the guess; 'Mb' means M b."""
    if not (isinstance(x0, str) and x0 == "Mb"):
        cast = None if x0 is None else place.cast(place.floats(x0, "x0"), place.dtype(right)).reshape(-1)
        return _guess(place, cast, right, False)
    if m is None:
        return place.copied(right)
    if isinstance(m, Preconditioner):
        return m @ right
    made = returned_there(place, _product(m)(place.copied(right)), int(right.shape[0]), APPLIES_M)
    return place.copied(place.cast(made, place.dtype(right)))


def _there(place: OnDevice, a: Any, m: Any, method: str, right: Any, x: Any, options: dict[str, Any], told: Any) -> Any:
    """On the stream on which the library of the arrays works now: that is where functions of the caller's put their work, too."""
    n, dtype = int(right.shape[0]), place.dtype(right)
    core = m._core if isinstance(m, Preconditioner) else None
    function = None if m is None or core is not None else into_there(place, _product(m), n, dtype, APPLIES_M)
    matvec = into_there(place, a.matvec, n, dtype, "matvec")
    return _core.solve_operator_there(matvec, core, function, method, right, x, options, place.stream(), told)


def run_operator(method: str, a: Any, b: Any, x0: Any, M: Any, options: dict[str, Any], how: How) -> Result:
    """Where b lies; raises what a function of the caller's raised."""
    place = common_place(b=b, x0=None if isinstance(x0, str) else x0)
    _check_device(method, place, how.device)
    right = _right_hand_side(place, a, b)
    m = _inverse(method, place, M, a.shape, place.dtype(right))
    x = _start(place, x0, right, m)
    options["interval"] = 1
    told = _callback(how.callback, int(right.shape[0]))
    if isinstance(place, OnDevice):
        column, stopped, raised = _there(place, a, m, method, right, x, options, told)
    else:
        core, threads = None if m is None else m._core, number_of_threads(how.threads)
        column, stopped, raised = _core.solve_operator(into(a.matvec, "matvec"), core, method, right, x, options, threads, told)
    if stopped and column["status"] == "iteration limit":
        column["status"] = "stopped"
    result = Result(x, [column], [], False)
    if options["complex"]:
        _make_complex(result)
    raise_again(raised, result)
    return result


class Shifted:
    """A - shift I, as an operator."""

    def __init__(self, a: Any, shift: float) -> None:
        self.shape, self._apply, self._shift = a.shape, a.matvec, shift
        self.dtype = getattr(a, "dtype", None)

    def matvec(self, x: Any) -> Any:
        place, size = place_of(x, "x"), int(x.shape[0])
        returned = self._apply(x)
        if place is HOST:
            return returned_vector(returned, size, "matvec") - self._shift * x
        return returned_there(place, returned, size, "matvec") - self._shift * x
