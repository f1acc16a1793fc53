"""Krylov methods in the manner of SciPy."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any, Callable, Concatenate, ParamSpec, TypeVar

import numpy as np

from . import _core
from ._arguments import MOST, _host_array, accuracy_number, real_number, whole_number
from ._complex import OnParts, is_complex, parts
from ._matrix import Matrix, as_matrix, entries_of, right_hand_side
from ._operators import How, Shifted, run_operator, without_entries
from ._places import Host
from ._preconditioner import Preconditioner, preconditioner_of, preconditioner_on_parts
from ._result import ConvergenceWarning, Result
from ._solve import (
    SQUARE,
    Iteration,
    _complex_callback,
    _device_for,
    _guess,
    _matrix_to_solve,
    _real_form,
    _run,
    _tolerances,
    _upcast,
)


class KrylovResult(tuple):
    """The pair (x, info) that SciPy's functions return, with the whole `Result` as an attribute."""

    result: Result

    @property
    def x(self) -> np.ndarray:
        return self[0]

    @property
    def info(self) -> int:
        return self[1]


def _info(result: Result) -> int:
    """0 converged, > 0 the iterations made, < 0 a breakdown, an indefinite matrix, or numbers that are not finite."""
    if result.converged:
        return 0
    return {"breakdown": -10, "non-finite": -1, "indefinite": -11}.get(result.status, max(result.iterations, 1))


def _start(place: Host, x0: Any, b: Any, m: Any, matrix: Matrix) -> Any:
    """A copy of the guess; 'Mb' means M b, that is zeros where M is chosen here."""
    if isinstance(x0, str) and x0 == "Mb":
        if m == "auto":
            return _guess(place, None, b, False)
        return place.copied(b) if m == "none" else (m if isinstance(m, Preconditioner) else Preconditioner(matrix, m)) @ b
    return _guess(place, None if x0 is None else place.cast(place.floats(x0, "x0"), place.dtype(b)).reshape(-1), b, False)


def _with_iterates(callback: Callable[[np.ndarray], Any] | None) -> Callable[[Iteration], Any] | None:
    """A callback in SciPy's manner as one of `solve`, which it does not stop."""
    if callback is None or not callable(callback):
        return callback

    def told(step: Iteration) -> None:
        if step.number > 0:
            callback(step.x)

    return told


def _run_shifted(method: str, matrix: Matrix, b: Any, x0: Any, M: Any, options: dict[str, Any], how: How) -> Result:
    """A - shift I, of which only products are known."""
    if isinstance(M, str) and M not in ("auto", "none"):
        expected = f"a Preconditioner, such as Preconditioner(A, {M!r}), a LinearOperator, or None"
        raise _core.NotSupported(f"{method}: M is {M!r}, and such a kind is not made of A - shift I; give {expected}")
    return run_operator(method, Shifted(matrix, how.shift), b, x0, M, options, how._replace(device=None))


def _run_matrix(method: str, a: Any, b: Any, x0: Any, M: Any, options: dict[str, Any], how: How) -> Result:
    device = _device_for(a, b, how.device)
    if how.shift != 0 and device is None:
        device = "cpu"  # where b lies, and with it all but the product
    matrix = _matrix_to_solve(a, device, how.threads)
    place = matrix._place_of(b=b, x0=None if isinstance(x0, str) else x0)
    given = place.floats(b, "b")
    matrix = _upcast(matrix, place.dtype(given))
    if how.shift != 0:
        return _run_shifted(method, matrix, given, x0, M, options, how)
    flat = right_hand_side(place, given, matrix).reshape(-1)
    preconditioner = "none" if M is None else M if isinstance(M, str) else preconditioner_of(M, matrix.shape, matrix.dtype)
    guess = _start(place, x0, flat, preconditioner, matrix)
    return _run(place, matrix, flat, guess, preconditioner, {**options, "method": method}, how.callback)


def _system(method: str, a: Any) -> Any:
    """A, which is square, as what has a shape."""
    if isinstance(a, (list, tuple, np.ndarray)):
        a = _host_array(a, "A")
    if not hasattr(a, "shape"):
        seen = "None" if a is None else f"of the type {type(a).__name__}"
        raise _core.InvalidArgument(f"{method}: A is {seen}, which has no shape; expected a matrix, or an operator with shape and matvec")
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise _core.DimensionMismatch(f"{method}: A has the shape {tuple(a.shape)}; {SQUARE}")
    return a


def _check_column(method: str, x: Any, name: str, shape: Any) -> None:
    if x is None:
        raise _core.InvalidArgument(f"{method}: {name} is None; expected an array of numbers")
    found = tuple((x if hasattr(x, "shape") else _host_array(x, name)).shape)
    if found not in ((shape[0],), (shape[0], 1)):
        expected = "one column of so many rows (solve takes several)"
        raise _core.DimensionMismatch(f"{method}: {name} has the shape {found}, A {tuple(shape)}; expected {expected}")


def _solved(method: str, a: Any, b: Any, x0: Any, M: Any, options: dict[str, Any], how: How) -> KrylovResult:
    """The pair, of a matrix or of an operator."""
    _check_column(method, b, "b", a.shape)
    if x0 is not None and not isinstance(x0, str):
        _check_column(method, x0, "x0", a.shape)
    explicit = entries_of(a)
    if any(is_complex(given) for given in (explicit, b, x0, M)):
        return _solved_on_parts(method, explicit, b, x0, M, options, how)
    if without_entries(explicit):
        operator = Shifted(explicit, how.shift) if how.shift != 0 else explicit
        result = run_operator(method, operator, b, x0, M, options, how)
    else:
        result = _run_matrix(method, explicit, b, x0, M, options, how)
    if result.converged and result.obstacle:
        to_caller = 6 if options["complex"] else 4  # by way of _solved_on_parts
        warnings.warn(ConvergenceWarning(f"{method}: {result}", result), stacklevel=to_caller)
    return _pair(result, _info(result))


def _solved_on_parts(method: str, a: Any, b: Any, x0: Any, M: Any, options: dict[str, Any], how: How) -> KrylovResult:
    """The pair of a complex system, which is solved on real and imaginary parts."""
    if without_entries(a):
        system: Any = OnParts(a, "matvec")
    else:
        system = _real_form(a, _device_for(a, b, how.device), how.threads)
    guess = x0 if x0 is None or isinstance(x0, str) else parts(x0, "x0")
    on_parts = how._replace(callback=_complex_callback(how.callback))
    m = preconditioner_on_parts(M, a.shape)
    return _solved(method, system, parts(b, "b"), guess, m, {**options, "complex": True}, on_parts)


def _pair(result: Result, info: int) -> KrylovResult:
    pair = KrylovResult((result.x, info))
    pair.result = result
    return pair


def _options(accuracy: str, rtol: Any, atol: Any, maxiter: int, restart: int = 30) -> dict[str, Any]:
    return {
        "mixed": False,
        "accuracy": accuracy_number(accuracy),
        **_tolerances(rtol, atol),
        "profile": "auto",
        "maxiter": maxiter,
        "restart": restart,
        "history": False,
        "guarantee": "none",
        "memory_limit": 0,
        "complex": False,
    }


def _in_scipys_manner(
    method: str,
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = "auto",
    callback: Callable[[np.ndarray], Any] | None = None,
    accuracy: str = "exact",
    device: str | None = None,
    threads: int | None = None,
) -> KrylovResult:
    a = _system(method, A)
    steps = 10 * int(a.shape[0]) if maxiter is None else whole_number(maxiter, "maxiter")
    options = _options(accuracy, rtol, atol, steps)
    return _solved(method, a, b, x0, M, options, How(_with_iterates(callback), device, threads))


def _is_hermitian_but_for_rounding(a: Any) -> bool:
    """By what `solve` takes for symmetric: 128 unit roundoffs of an entry or of sqrt(abs(a_ii a_jj))."""
    apart = (a - a.conj().T).tocoo()
    root = np.sqrt(np.abs(a.diagonal()))
    sizes = np.maximum(np.abs(np.asarray(a[apart.row, apart.col]).ravel()), root[apart.row] * root[apart.col])
    return bool(np.all(np.abs(apart.data) <= 64 * np.finfo(root.dtype).eps * sizes))


def _minres_in_scipys_manner(
    method: str,
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = "auto",
    callback: Callable[[np.ndarray], Any] | None = None,
    show: bool = False,
    check: bool = False,
    accuracy: str = "exact",
    device: str | None = None,
    threads: int | None = None,
) -> KrylovResult:
    a = _system(method, A)
    if check and not without_entries(a):
        if not _is_hermitian_but_for_rounding(as_matrix(a).to_scipy()):
            raise _core.InvalidArgument("minres: A is not symmetric; gmres, idr and bicgstab take any")
    by = real_number(shift, "shift")
    if not math.isfinite(by):
        raise _core.InvalidArgument(f"minres: shift is {shift!r}; expected a finite number")
    steps = 5 * int(a.shape[0]) if maxiter is None else whole_number(maxiter, "maxiter")
    options = _options(accuracy, rtol, atol, steps)
    pair = _solved(method, a, b, x0, M, options, How(_with_iterates(callback), device, threads, by))
    if show:
        print(f"minres: {pair.result}")
    return pair


def _with_norms(callback: Callable[[float], Any]) -> Callable[[Iteration], Any]:
    def told(step: Iteration) -> None:
        if step.number > 0:
            callback(np.float64(step.recursive_residual))

    return told


def _with_cycles(callback: Callable[[np.ndarray], Any]) -> Callable[[Iteration], Any]:
    """At the end of each cycle, where the true residual is computed."""

    def told(step: Iteration) -> None:
        if step.number > 0 and step.true_residual >= 0:
            callback(step.x)

    return told


def _gmres_in_scipys_manner(
    method: str,
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = "auto",
    callback: Callable[[Any], Any] | None = None,
    callback_type: str | None = None,
    accuracy: str = "exact",
    device: str | None = None,
    threads: int | None = None,
) -> KrylovResult:
    if callback_type not in (None, "x", "pr_norm", "legacy"):
        raise _core.InvalidArgument(f"callback_type is {callback_type!r}; expected 'x', 'pr_norm' or 'legacy'")
    if callback is not None and callback_type is None:
        said = "gmres: called without specifying `callback_type`, which is then 'legacy': maxiter counts steps; 'pr_norm' and 'x' count cycles"
        warnings.warn(said, DeprecationWarning, stacklevel=3)
    a = _system(method, A)
    rows = int(a.shape[0])
    cycle = min(20 if restart is None else whole_number(restart, "restart", least=1), max(rows, 1))
    count = 10 * rows if maxiter is None else whole_number(maxiter, "maxiter")
    counts_steps = callback is not None and callback_type in (None, "legacy")
    told = (_with_cycles if callback_type == "x" else _with_norms)(callback) if callable(callback) else callback
    steps = 1 if counts_steps else cycle  # that count as one
    options = _options(accuracy, rtol, atol, min(count * steps, MOST), cycle)
    pair = _solved(method, a, b, x0, M, options, How(told, device, threads))
    return pair if pair.info <= 0 else _pair(pair.result, -(-pair.info // steps))


P = ParamSpec("P")
R = TypeVar("R")


def _by(method: str, solves: Callable[Concatenate[str, P], R], doc: str) -> Callable[P, R]:
    """`solves` for one method, as a function of that name."""

    signature = inspect.signature(solves)

    def function(*args: P.args, **options: P.kwargs) -> R:
        try:
            signature.bind(method, *args, **options)
        except TypeError as error:
            raise TypeError(f"{method}() {error}") from None
        return solves(method, *args, **options)

    function.__name__ = function.__qualname__ = method
    function.__doc__ = doc
    function.__annotations__ = {name: kind for name, kind in solves.__annotations__.items() if name != "method"}
    function.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    return function


bicgstab = _by(
    "bicgstab",
    _in_scipys_manner,
    """Solves A x = b in the manner of `scipy.sparse.linalg.bicgstab`.

    It differs from SciPy's in this: `M` is 'auto' by default, and convergence is that of the true residual. Where A has floats and b
    doubles it works in double.

    Parameters
    ----------
    A : Matrix, sparse matrix, array_like or LinearOperator
        An operator without entries (anything with ``shape``, ``dtype`` and ``matvec``) is applied where b lies, and 'auto' is then no
        preconditioner; the bits of the solution are as reproducible as its products are, for the rest of the work is exact where
        `accuracy` is. Where b is an array of CuPy or PyTorch on a CUDA device, ``matvec`` is given such arrays and returns one, computed
        on the library's current stream, and so does `M` as an operator.
    b, accuracy, device, threads
        As for `solve`; b may have the shape (n, 1).
    x0 : array_like, optional
        Where to begin; zeros otherwise. 'Mb' begins at M b.
    rtol, atol : float
        ``||b - A x|| <= max(rtol ||b||, atol)``.
    maxiter : int, optional
        10 n where it is None.
    M : str, Preconditioner, matrix, LinearOperator or None
        The name of a kind, or what stands for A^-1. None is none.
    callback : callable, optional
        ``callback(xk)`` after each iteration, with a copy of the iterate. What it raises arrives unchanged.

    Returns
    -------
    KrylovResult
        The pair (x, info), info 0 where it converged, above 0 the iterations made where it did not, below 0 after a breakdown or where
        numbers were not finite; ``.result`` has everything else.

    Examples
    --------
    >>> import samebits as sb
    >>> x, info = sb.bicgstab([[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0])
    >>> info
    0
    """,
)

cg = _by(
    "cg",
    _in_scipys_manner,
    """Solves A x = b by conjugate gradients in the manner of `scipy.sparse.linalg.cg`.

    For symmetric positive definite A and `M`; where one of them is seen not to be, info is below 0 and ``.result.status`` 'indefinite'.
    All else is as in `bicgstab`.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.cg([[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0], M=None).info
    0
    >>> sb.cg([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0], M=None).result.status
    'indefinite'
    """,
)

cocg = _by(
    "cocg",
    _in_scipys_manner,
    """Solves A x = b by COCG, for complex A and `M` that are their own transposes, not conjugated. All is as in `bicgstab`; an iteration is
    one product with A.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.cocg([[4.0, 1.0j], [1.0j, 3.0]], [4.0 + 1.0j, 3.0 + 1.0j], M=None).info
    0
    """,
)

idr = _by(
    "idr",
    _in_scipys_manner,
    """Solves A x = b by IDR(4), for any A. All is as in `bicgstab`; an iteration is one product with A.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.idr([[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0], M=None).info
    0
    """,
)

bicgstab2 = _by(
    "bicgstab2",
    _in_scipys_manner,
    """Solves A x = b by BiCGStab(2), for any A. All is as in `bicgstab`; an iteration makes one product with A and three in turn.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.bicgstab2([[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0], M=None).info
    0
    """,
)

minres = _by(
    "minres",
    _minres_in_scipys_manner,
    """Solves A x = b, or (A - shift I) x = b, in the manner of `scipy.sparse.linalg.minres`.

    For symmetric A, definite or not; `M` must be symmetric and positive definite. Kinds that are not symmetric are refused, though 'auto'
    tries complete factors, a function of yours is believed to be, and where one is seen not to be definite info is below 0 and
    ``.result.status`` 'indefinite'. With `check` the entries of A are compared with those of its transpose first, up to rounding.
    `maxiter` is 5 n where it is None. With a shift `M` is no name of a kind, 'auto' is none, and ``A x`` is computed in 'exact' before
    ``shift x`` is subtracted in ordinary arithmetic. All else is as in `bicgstab`.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.minres([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0], M=None).x
    array([-1.,  1.])
    """,
)

gmres = _by(
    "gmres",
    _gmres_in_scipys_manner,
    """Solves A x = b in the manner of `scipy.sparse.linalg.gmres`.

    `restart` is the length of a cycle, 20 or n where it is None, and `maxiter` counts cycles, 10 n where it is None. `M` works from the
    right, so that the residual is that of A x = b, and may be another operator from step to step.

    callback : callable, optional
        With `callback_type` 'x' called with a copy of the iterate after each cycle; with 'pr_norm' with ``||r|| / ||b||`` after each step;
        with 'legacy', as without a type, too, and then `maxiter`, and info, count steps.

    All else is as in `bicgstab`.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.gmres([[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0], M=None).info
    0
    """,
)
