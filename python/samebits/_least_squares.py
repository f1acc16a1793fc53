"""Least squares in the manner of SciPy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import accuracy_number, whole_number
from ._complex import is_complex, parts, whole
from ._matrix import Matrix, as_complex, as_matrix
from ._places import HOST
from ._solve import _guess, _right_hand_side, _with_values
from ._vectors import norm


class LsmrResult(NamedTuple):
    """What `lsmr` found, as SciPy's tells it."""

    x: np.ndarray  #: the solution
    istop: int  #: 0: x = 0 is it; 1: A x = b is solved; 2: least squares; 5: the limit of this precision; 7: maxiter; 8: not finite
    itn: int  #: iterations, each of a product with A and one with its transpose
    normr: float  #: ``||b - A x||``, computed from x
    normar: float  #: ``||A^T (b - A x)||``, computed from x
    norma: float  #: Frobenius's norm of A
    conda: float  #: not estimated: NaN
    normx: float  #: ``||x||``


def _istop(found: dict[str, Any], normr: float, bnorm: float, atol: float, btol: float, x: np.ndarray) -> int:
    if found["status"] == "converged":
        if found["iterations"] == 0 and not np.any(x):
            return 0
        return 1 if normr <= max(atol, btol) * bnorm else 2
    return {"iteration limit": 7, "non-finite": 8}.get(found["status"], 5)


def lsmr(
    a: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
    *,
    accuracy: str = "exact",
    threads: int | None = None,
) -> LsmrResult:
    """Solves min ``||b - A x||`` in the manner of `scipy.sparse.linalg.lsmr`, for A of any shape and rank.

    It differs from SciPy's in this: residuals are those of x, recomputed with accurate sums, and nothing is claimed without them; A is a
    matrix, not a LinearOperator; there is no damping; `conlim` is not looked at, for the condition of A is not estimated. From zero, the
    default, it finds the solution of least norm.

    Parameters
    ----------
    a : Matrix, sparse matrix or array_like
        Of any shape.
    b : array_like
        A vector, or one column.
    damp : float
        0.
    atol : float
        The aim is ``||A^T r|| <= atol ||A|| ||r||`` with Frobenius's norm of A, or ``||r|| <= atol ||b||``.
    btol : float
        Or ``||r|| <= btol ||b||``.
    maxiter : int, optional
        min(m, n) where it is None.
    show : bool
        Prints a line at the end.
    x0 : array_like, optional
        Where to begin; zeros otherwise.
    accuracy : {'exact', 'compensated', 'fast'}
    threads : int, optional
        See `threads`.

    Returns
    -------
    LsmrResult

    Examples
    --------
    >>> import samebits as sb
    >>> sb.lsmr([[1.0], [1.0]], [1.0, 2.0]).x
    array([1.5])
    """
    if damp != 0:
        raise _core.NotSupported(f"lsmr: damp is {damp!r}; only 0 is supported. Stack damp times the identity under A, and zeros under b")
    if is_complex(a) or is_complex(b) or is_complex(x0):
        kept: dict[str, Any] = {"atol": atol, "btol": btol, "maxiter": maxiter, "show": show, "accuracy": accuracy, "threads": threads}
        guess = None if x0 is None else parts(x0, "x0")
        found = lsmr(as_complex(as_matrix(a, threads=threads)).real_form, parts(np.reshape(b, -1), "b"), x0=guess, **kept)
        return found._replace(x=whole(found.x))
    matrix = as_matrix(a, threads=threads)
    if matrix.dtype == np.float32:
        matrix = _with_values(matrix, np.float64)
    given = np.atleast_1d(b)
    right = _right_hand_side(HOST, given.reshape(-1) if given.size == matrix.shape[0] else given, matrix, False)
    if right.ndim != 1:
        raise _core.DimensionMismatch(f"lsmr: b has the shape {right.shape}; expected one column")
    x = _guess(HOST, x0, np.empty(matrix.shape[1], matrix.dtype), False)
    transposed = Matrix(matrix.to_scipy().T.tocsr(), device="cpu", threads=threads)
    bnorm = float(norm(right))
    options = {
        "accuracy": accuracy_number(accuracy),
        "rtol": float(atol) if atol > 0 or btol > 0 else float(np.finfo(float).eps),
        "atol": float(btol) * bnorm if math.isfinite(bnorm) else 0.0,
        "maxiter": min(matrix.shape) if maxiter is None else whole_number(maxiter, "maxiter"),
        "restart": 1,
        "history": False,
        "interval": 1,
    }
    found, raised = _core.lsmr(matrix._core, transposed._core, np.ascontiguousarray(right), x, options)
    if raised is not None:
        raise raised
    normr = found["residual"] * bnorm if bnorm > 0 else 0.0
    normar = found["normal_residual"] * found["matrix_norm"] * normr
    istop = _istop(found, normr, bnorm, atol, btol, x)
    result = LsmrResult(x, istop, found["iterations"], normr, normar, found["matrix_norm"], math.nan, float(norm(x)))
    if show:
        print(f"lsmr: {found['status']} after {result.itn} iterations, ||r|| = {normr:.1e}, ||A^T r|| = {normar:.1e}")
    return result
