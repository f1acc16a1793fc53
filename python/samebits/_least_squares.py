"""Least squares in the manner of SciPy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import _host_array, accuracy_number, real_number, tolerances, whole_number
from ._complex import is_complex, parts, whole
from ._complex_matrix import as_complex
from ._matrix import Matrix, as_matrix
from ._places import HOST
from ._solve import _right_hand_side, _with_values
from ._vectors import norm


class LsmrResult(NamedTuple):
    """What `lsmr` found, as SciPy's tells it."""

    x: np.ndarray  #: the solution
    istop: int  #: 0: x = 0 is it; 1: A x = b is solved; 2: least squares; 5: the limit of this precision; 7: maxiter; 8: not finite
    itn: int  #: iterations, each of a product with A and one with its transpose
    normr: float  #: ``||b - A x||``, computed from x
    normar: float  #: ``||A^H (b - A x)||``, computed from x
    norma: float  #: Frobenius's norm of A
    conda: float  #: not estimated: NaN
    normx: float  #: ``||x||``


def _told(found: dict[str, Any], x: np.ndarray, bnorm: float, aim: float, size: float) -> LsmrResult:
    """The result by what the library found with a matrix whose norm is so many times that of A; `aim` is that of ``||r||``."""
    normr = found["residual"] * bnorm if bnorm != 0 else 0.0
    normar = found["normal_residual"] * found["matrix_norm"] * normr
    istop = {"iteration limit": 7, "non-finite": 8}.get(found["status"], 5)
    if found["status"] == "converged":
        istop = 0 if found["iterations"] == 0 and not np.any(x) else 1 if normr <= aim else 2
    return LsmrResult(x, istop, found["iterations"], normr, normar, found["matrix_norm"] / size, math.nan, float(norm(x)))


def _column(b: Any, shape: tuple[int, int]) -> Any:
    """b, of one column or one row, in one dimension."""
    given = b if hasattr(b, "shape") else _host_array(b, "b")
    if b is None or math.prod(given.shape) != shape[0] or len(given.shape) > 2:
        seen = "is None" if b is None else f"has the shape {tuple(given.shape)}, A {shape}"
        raise _core.DimensionMismatch(f"lsmr: b {seen}; expected one column of so many rows as A has")
    return given.reshape(-1)


def _check_guess(x0: Any, elements: int) -> None:
    found = tuple((x0 if hasattr(x0, "shape") else _host_array(x0, "x0")).shape)
    if found != (elements,):
        raise _core.DimensionMismatch(f"lsmr: x0 has the shape {found}; expected {elements} elements")


def _stacked(matrix: Matrix, right: np.ndarray, damping: float, threads: int | None) -> tuple[Matrix, np.ndarray]:
    """The least squares of which are those of A x = b, damped: damping times the identity under A, and zeros under b."""
    from scipy.sparse import eye_array, vstack

    columns = matrix.shape[1]
    under = vstack([matrix.to_scipy(), damping * eye_array(columns)], format="csr")
    return Matrix(under, device="cpu", threads=threads), np.concatenate([right, np.zeros(columns)])


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
    """Solves min ``||b - A x||^2 + damp^2 ||x||^2`` in the manner of `scipy.sparse.linalg.lsmr`, for A of any shape and rank.

    It differs from SciPy's in this: residuals are those of x, recomputed with accurate sums, and nothing is claimed without them; A is a
    matrix, not a LinearOperator; `conlim` is not looked at, for the condition of A is not estimated. From zero, the default, it finds the
    solution of least norm.

    Parameters
    ----------
    a : Matrix, sparse matrix or array_like
        Of any shape.
    b : array_like
        A vector, or one column.
    damp : float
        Where it is not 0, the least squares are those of ``[A; damp I] x = [b; 0]``, and so are the norms of the result.
    atol : float
        The aim is ``||A^H r|| <= atol ||A|| ||r||`` with Frobenius's norm of A, or ``||r|| <= atol ||b||``.
    btol : float
        Or ``||r|| <= btol ||b||``.
    maxiter : int, optional
        min(m, n) where it is None, of complex matrices, too.
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
    damping = real_number(damp, "damp")
    if not math.isfinite(damping):
        raise _core.InvalidArgument(f"lsmr: damp is {damp!r}; expected a finite number")
    aims = tolerances(atol=atol, btol=btol)
    matrix = as_matrix(a, threads=threads)
    steps = min(matrix.shape) if maxiter is None else whole_number(maxiter, "maxiter")
    right, guess, size = _column(b, matrix.shape), x0, 1.0
    if x0 is not None:
        _check_guess(x0, matrix.shape[1])
    is_one_complex = any(is_complex(given) for given in (matrix, right, x0))
    if is_one_complex:  # the norm of the real form, which has each entry twice, is that of A times the square root of 2
        matrix, size = as_complex(matrix).real_form, math.sqrt(2)
        right, guess = parts(right, "b"), None if x0 is None else parts(x0, "x0")
    if matrix.dtype == np.float32:
        matrix = _with_values(matrix, np.float64)
    right = np.ascontiguousarray(_right_hand_side(HOST, right, matrix, False))
    if damping != 0:
        matrix, right = _stacked(matrix, right, damping, threads)
    x = np.zeros(matrix.shape[1]) if guess is None else np.array(HOST.floats(guess, "x0"), np.float64)
    transposed = Matrix(matrix.to_scipy().T.tocsr(), device="cpu", threads=threads)
    bnorm = float(norm(right))
    aim = max(aims.values()) or float(np.finfo(float).eps)
    options = {
        "accuracy": accuracy_number(accuracy),
        "rtol": (aims["atol"] if any(aims.values()) else aim) / size,
        "atol": aim * bnorm if math.isfinite(bnorm) else 0.0,
        "maxiter": steps,
        "restart": 1,
        "history": False,
        "interval": 1,
        "complex": False,
    }
    found, raised = _core.lsmr(matrix._core, transposed._core, right, x, options)
    if raised is not None:
        raise raised
    result = _told(found, x, bnorm, aim * bnorm, size)
    if show:
        print(f"lsmr: {found['status']} after {result.itn} iterations, ||r|| = {result.normr:.1e}, ||A^H r|| = {result.normar:.1e}")
    return result._replace(x=whole(x)) if is_one_complex else result
