"""Linear systems."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arguments import accuracy_number, as_dtype, device_number, float_array
from ._matrix import Matrix, as_matrix
from ._preconditioner import Preconditioner, preconditioner_of
from ._result import Attempt, ConvergenceWarning, Result
from ._vectors import norm


class Iteration(NamedTuple):
    """What a callback is told. Its true value, if it returns one, stops the solve."""

    number: int  #: 0 is the initial guess
    recursive_residual: float  #: ||r|| / ||b|| of the updated residual
    true_residual: float  #: ||b - A x|| / ||b|| where it was computed in this step, else negative
    replaced: bool  #: r was replaced by the true residual
    column: int  #: of several right-hand sides, from 0


def _single(matrix: Matrix) -> Matrix:
    """The same matrix with every value rounded to float32."""
    made = Matrix.__new__(Matrix)
    made._device, made._threads = matrix._device, matrix._threads
    made._take(matrix.shape, *matrix._parts[:-1], matrix._parts[-1].astype(np.float32))
    return made


def _in_precision(matrix: Matrix, precision: str | None) -> Matrix:
    if precision is None:
        return matrix
    if precision == "single":
        return matrix if matrix.dtype == np.float32 else _single(matrix)
    if precision not in ("double", "mixed"):
        raise _core.InvalidArgument(f"precision {precision!r}: expected 'double', 'single', 'mixed', or None for that of A")
    if matrix.dtype == np.float32:
        raise _core.InvalidArgument(f"precision {precision!r}: the matrix has floats; make it of doubles, A.astype('float64')")
    return matrix


def _right_hand_side(b: Any, matrix: Matrix, rounds: bool) -> np.ndarray:
    array = float_array(b, "b")
    if array.ndim not in (1, 2) or array.shape[0] != matrix.shape[0]:
        raise _core.DimensionMismatch(f"b has the shape {array.shape}, the matrix {matrix.shape}; expected {matrix.shape[0]} rows")
    return array.astype(matrix.dtype) if rounds else as_dtype(array, matrix.dtype, "b")


def _guess(x0: Any, b: np.ndarray, rounds: bool) -> np.ndarray:
    """A copy of the guess, column by column."""
    if x0 is None:
        return np.zeros(b.size, b.dtype)
    array = float_array(x0, "x0")
    if array.shape != b.shape:
        raise _core.DimensionMismatch(f"x0 has the shape {array.shape}, b {b.shape}; expected equal ones")
    same = array.astype(b.dtype) if rounds else as_dtype(array, b.dtype, "x0")
    return np.array(np.ravel(same, order="F"))


def _relative_tolerance(b: np.ndarray, rtol: float, atol: float) -> float:
    """What both tolerances come to: ||r|| <= max(rtol ||b||, atol). Of several columns the largest b counts for all."""
    if not (rtol >= 0 and atol >= 0):
        raise _core.InvalidArgument(f"rtol is {rtol} and atol {atol}; expected none below 0")
    size = max((norm(column) for column in b.reshape(b.shape[0], -1).T), default=0.0) if atol > 0 else 0.0
    tolerance = max(rtol, atol / size) if size > 0 and math.isfinite(size) else rtol
    if not tolerance > 0 and not (atol > 0 and size == 0):
        raise _core.InvalidArgument("rtol and atol are both 0, which rounding does not allow to meet; expected one above 0")
    return tolerance if tolerance > 0 else 1.0


def _attempt(found: dict[str, Any]) -> Attempt:
    results = found["results"]
    first = results[0] if results else {"status": "", "residual": math.nan}
    return Attempt(
        found["preconditioner"],
        found["mixed"],
        found["refusal"],
        first["status"],
        max((r["iterations"] for r in results), default=0),
        first["residual"],
        found["factor_entries"],
        found["factor_hash"],
        found["setup_seconds"],
        found["solve_seconds"],
    )


def _callback(callback: Callable[[Iteration], Any] | None) -> Callable[..., Any] | None:
    return None if callback is None else lambda *step: callback(Iteration(*step))


def _run(
    matrix: Matrix,
    b: np.ndarray,
    x: np.ndarray,
    m: str | Preconditioner,
    options: dict[str, Any],
    callback: Callable[[Iteration], Any] | None,
) -> Result:
    """Solves with checked arguments; raises what the callback raised, and KeyboardInterrupt with the best x as ``result``."""
    single = matrix.dtype == np.float32
    low = np.zeros_like(x) if single else None
    given = m._core if isinstance(m, Preconditioner) else None
    options["preconditioner"] = "auto" if given is not None else m
    options["interval"] = 1 if callback is not None or matrix._device < 0 else 32
    right = np.ravel(b, order="F")
    found = _core.solve(matrix._core, given, b.ndim == 1, right, x, low, options, _callback(callback))
    columns, attempts, stopped, raised = found
    if stopped:
        columns = [{**c, "status": "stopped" if c["status"] == "iteration limit" else c["status"]} for c in columns]
    whole = x if low is None else x.astype(np.float64) + low
    result = Result(whole.reshape(b.shape, order="F"), columns, [_attempt(a) for a in attempts], options["history"])
    if raised is not None:
        if isinstance(raised, KeyboardInterrupt):
            raised.result = result
        raise raised
    return result


def solve(
    a: Any,
    b: Any,
    *,
    x0: Any = None,
    rtol: float = 1e-10,
    atol: float = 0.0,
    maxiter: int = 10000,
    preconditioner: str | Preconditioner | None = "auto",
    method: str = "auto",
    precision: str | None = None,
    accuracy: str = "exact",
    callback: Callable[[Iteration], Any] | None = None,
    history: bool = False,
    device: str | None = None,
    threads: int | None = None,
) -> Result:
    """Solves A x = b by preconditioned BiCGStab, and finds a preconditioner that will do.

    Convergence is claimed on the true residual, recomputed with accurate sums. With ``accuracy='exact'`` the bits of x are the same on
    every machine and for every number of threads.

    Parameters
    ----------
    a : Matrix, sparse matrix or array_like
        Square. A `Matrix` is used where it is, others are put on `device`.
    b : array_like
        A vector, or a matrix whose columns are solved together.
    x0 : array_like, optional
        Where to begin; zeros otherwise.
    rtol, atol : float
        The aim is ``||b - A x|| <= max(rtol ||b||, atol)``. Of several columns the largest ``||b||`` counts for `atol`.
    maxiter : int
        Iterations of all attempts together.
    preconditioner : str or Preconditioner
        'auto' tries several, of growing strength; else the kind of a `Preconditioner`, or one that is made. None is 'none'.
    method : {'auto', 'bicgstab'}
    precision : {'double', 'single', 'mixed'}, optional
        'single' rounds A and b to float32 and returns the sum of two floats; 'mixed' iterates in single and solves as accurately as
        double. None is that of A.
    accuracy : {'exact', 'compensated', 'fast'}
    callback : callable, optional
        Called with an `Iteration` after every step; a true value stops. What it raises arrives unchanged.
    history : bool
        Keeps every iteration in the result.
    device : str, optional
        None, the default, is the first CUDA device where there is one, else the processor.
    threads : int, optional
        See `threads`.

    Returns
    -------
    Result

    Warns
    -----
    ConvergenceWarning
        Where the tolerance was not met; `Result.raise_for_status` makes an error of it.

    Notes
    -----
    Ctrl-C ends the iteration within some milliseconds; the ``KeyboardInterrupt`` has the best x as ``error.result.x``. Making a
    preconditioner cannot be interrupted.

    Examples
    --------
    >>> import numpy as np
    >>> import samebits as sb
    >>> r = sb.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0])
    >>> r.status
    'converged'
    >>> bool(np.allclose(r.x, [1 / 11, 7 / 11]))
    True
    """
    if method not in ("auto", "bicgstab"):
        raise _core.NotSupported(f"method {method!r}: only 'bicgstab' is there so far")
    matrix = _in_precision(as_matrix(a, device=device, threads=threads), precision)
    rounds = precision == "single"
    right = _right_hand_side(b, matrix, rounds)
    m = "none" if preconditioner is None else preconditioner
    options = {
        "mixed": precision == "mixed",
        "accuracy": accuracy_number(accuracy),
        "tolerance": _relative_tolerance(right, rtol, atol),
        "maxiter": int(maxiter),
        "history": bool(history),
    }
    if isinstance(m, Preconditioner) and options["mixed"]:
        raise _core.InvalidArgument("precision 'mixed' makes its preconditioner itself, in single; give its kind")
    result = _run(matrix, right, _guess(x0, right, rounds), m, options, callback)
    if not result.converged and result.status != "stopped":
        warnings.warn(f"solve: {result}", ConvergenceWarning, stacklevel=2)
    return result


class BicgstabResult(tuple):
    """The pair (x, info) that SciPy's functions return, with the whole `Result` as an attribute."""

    result: Result

    @property
    def x(self) -> np.ndarray:
        return self[0]

    @property
    def info(self) -> int:
        return self[1]


def _info(result: Result) -> int:
    """0 converged, > 0 the iterations made, < 0 a breakdown, or numbers that are not finite."""
    if result.converged:
        return 0
    return {"breakdown": -10, "non-finite": -1}.get(result.status, max(result.iterations, 1))


def bicgstab(
    a: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = "auto",
    callback: Callable[[Iteration], Any] | None = None,
    accuracy: str = "exact",
    device: str | None = None,
    threads: int | None = None,
) -> BicgstabResult:
    """Solves A x = b in the manner of `scipy.sparse.linalg.bicgstab`.

    It differs from SciPy's in this: `M` is 'auto' by default, convergence is that of the true residual, A is a matrix (not a
    LinearOperator), and the callback is told of an `Iteration` instead of the iterate.

    Parameters
    ----------
    a, b, x0, callback, accuracy, device, threads
        As for `solve`; b may have the shape (n, 1).
    rtol, atol : float
        ``||b - A x|| <= max(rtol ||b||, atol)``.
    maxiter : int, optional
        10 n where it is None.
    M : str, Preconditioner, matrix, LinearOperator or None
        The name of a kind, or what stands for A^-1.

    Returns
    -------
    BicgstabResult
        The pair (x, info), info 0 where it converged, above 0 the iterations made where it did not, below 0 after a breakdown or where
        numbers were not finite; ``.result`` has everything else.

    Examples
    --------
    >>> import samebits as sb
    >>> x, info = sb.bicgstab([[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0])
    >>> info
    0
    """
    if not hasattr(a, "tocsr") and hasattr(a, "matvec") and not isinstance(a, Matrix):
        raise _core.NotSupported("bicgstab: A is a LinearOperator; only matrices with entries are supported")
    matrix = as_matrix(a, device=device, threads=threads)
    right = _right_hand_side(b, matrix, False)
    if right.ndim == 2 and right.shape[1] != 1:
        raise _core.DimensionMismatch(f"bicgstab: b has the shape {right.shape}; expected one column (solve takes several)")
    flat = right.reshape(-1)
    m: str | Preconditioner = "none" if M is None else M if isinstance(M, str) else preconditioner_of(M, matrix)
    options = {
        "mixed": False,
        "accuracy": accuracy_number(accuracy),
        "tolerance": _relative_tolerance(flat, rtol, atol),
        "maxiter": 10 * matrix.shape[0] if maxiter is None else int(maxiter),
        "history": False,
    }
    guess = _guess(None if x0 is None else np.reshape(float_array(x0, "x0"), -1), flat, False)
    result = _run(matrix, flat, guess, m, options, callback)
    pair = BicgstabResult((result.x, _info(result)))
    pair.result = result
    return pair
