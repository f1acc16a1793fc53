"""Least squares, by whatever finds them and in the manner of SciPy."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arguments import _host_array, accuracy_number, into, number_of_threads, real_number, returned_vector, tolerances, whole_number
from ._complex import is_complex, parts, whole
from ._complex_matrix import as_complex
from ._matrix import Matrix, as_matrix, entries_of
from ._operators import without_entries
from ._places import HOST, host_array, place_of
from ._result import ConvergenceWarning, fingerprint, iterations_in_words, largest, raise_again
from ._solve import _device_for, _with_values
from ._vectors import norm


class LsmrResult(NamedTuple):
    """What `lsmr` found, as SciPy's tells it."""

    x: np.ndarray  #: the solution
    istop: int  #: 0: x = 0 is it; 1: A x = b is solved; 2: least squares; 5: the limit of this precision; 7: maxiter, or Ctrl-C; 8: not finite
    itn: int  #: iterations, each of a product with A and one with its transpose
    normr: float  #: ``||b - A x||``, computed from x
    normar: float  #: ``||A^H (b - A x)||``, computed from x
    norma: float  #: Frobenius's norm of A
    conda: float  #: not estimated: NaN
    normx: float  #: ``||x||``


class LeastSquaresResult(NamedTuple):
    """What `lstsq` found: ``x``; ``status``, 'converged', 'iteration limit', 'stagnated', 'non-finite' or 'interrupted' (by Ctrl-C);
    ``iterations``; ``residual``, ``||r|| / ||b||`` of ``r = b - A x``; ``normal_residual``, the largest cosine of the angle between r and a column of A, 0 for the
    least squares (where A x = b is solved r is what rounding leaves, and its direction says nothing); ``factor_entries`` of a
    preconditioner; these five of each column of b in ``columns``."""

    x: np.ndarray  #: the solution, or the best iterate
    status: str  #: 'converged', 'iteration limit', 'stagnated', 'non-finite' or 'interrupted'
    iterations: int  #: each of a product with A and one with its transpose
    residual: float  #: ``||b - A x|| / ||b||``, computed from x: in general not small
    #: the largest ``|a_j^H r| / (||a_j|| ||r||)`` of a column a_j and ``r = b - A x``, computed from x: 0 for the least squares; of complex
    #: numbers at most 1.5 times that
    normal_residual: float
    factor_entries: int  #: of a preconditioner, where one was made of the normal equations: factors, or levels of multigrid
    #: the same five of each column of b. Those above are the first status that is not 'converged', and the largest numbers
    columns: list[dict[str, Any]]

    @property
    def converged(self) -> bool:
        """Whether x is a solution or a least-squares solution, to the tolerance."""
        return self.status == "converged"

    @property
    def fingerprint(self) -> str:
        """Of the bits of `x`: equal fingerprints, equal solutions."""
        return fingerprint(host_array(self.x))


def _on_host(x0: Any) -> Any:
    return None if x0 is None else host_array(x0, "x0")


def _told(found: dict[str, Any], x: np.ndarray, bnorm: float, aim: float, size: float) -> LsmrResult:
    """The result by what the library found with a matrix whose norm is so many times that of A; `aim` is that of ``||r||``."""
    normr = found["residual"] * bnorm if bnorm != 0 else 0.0
    normar = found["normal_residual"] * found["matrix_norm"] * normr
    istop = {"iteration limit": 7, "non-finite": 8}.get(found["status"], 5)
    if found["status"] == "converged":
        istop = 0 if found["iterations"] == 0 and not np.any(x) else 1 if normr <= aim else 2
    return LsmrResult(x, istop, found["iterations"], normr, normar, found["matrix_norm"] / size, math.nan, float(norm(x)))


def _column(b: Any, shape: tuple[int, int], caller: str) -> np.ndarray:
    """b, of one column or one row, in one dimension."""
    given = HOST.numbers(b, "b")
    if given.size != shape[0] or given.ndim > 2 or (given.ndim == 2 and 1 not in given.shape):
        raise _core.DimensionMismatch(f"{caller}: b has the shape {given.shape}, A {shape}; expected one column of so many rows as A has")
    return given.reshape(-1)


def _columns(b: Any, shape: tuple[int, int], caller: str) -> np.ndarray:
    """b, a vector or a matrix."""
    given = HOST.numbers(b, "b")
    if given.ndim not in (1, 2) or given.shape[0] != shape[0]:
        expected = f"{shape[0]} elements, or so many rows in two dimensions"
        raise _core.DimensionMismatch(f"{caller}: b has the shape {given.shape}, A {shape}; expected {expected}")
    return given


class _Given:
    """b and the guess of an A as real numbers, column after column."""

    def __init__(self, a: Any, right: np.ndarray, x0: Any, caller: str) -> None:
        self.shape, self.of_columns = (int(a.shape[0]), int(a.shape[1])), right.shape[1:]
        self._guess = x0
        if x0 is not None:
            found, expected = tuple((x0 if hasattr(x0, "shape") else _host_array(x0, "x0")).shape), (self.shape[1], *self.of_columns)
            if found != expected:
                words = expected if self.of_columns else f"{self.shape[1]} elements"
                raise _core.DimensionMismatch(f"{caller}: x0 has the shape {found}; expected {words}")
        self.is_one_complex = any(is_complex(given) for given in (a, right, x0))
        #: the norm of the real form, which has each entry twice, is so many times that of A
        self.size_of_norm = math.sqrt(2) if self.is_one_complex else 1.0
        if self.is_one_complex:
            right, self._guess = parts(right, "b"), None if x0 is None else parts(x0, "x0")
        self.right = self._by_columns(right, "b")

    @staticmethod
    def _by_columns(numbers: Any, name: str) -> np.ndarray:
        return HOST.by_columns(np.array(HOST.floats(numbers, name), np.float64))

    def guess_of(self, rows: int) -> np.ndarray:
        return np.zeros(rows * math.prod(self.of_columns)) if self._guess is None else self._by_columns(self._guess, "x0")

    def told(self, x: np.ndarray, rows: int) -> np.ndarray:
        """What has been found column after column, as A and b have it."""
        shaped = HOST.shaped(x, (rows, *self.of_columns))
        return whole(shaped) if self.is_one_complex else shaped


def _options(accuracy: str, rtol: float, atol: float, steps: int) -> dict[str, Any]:
    return {
        "accuracy": accuracy_number(accuracy),
        "rtol": rtol,
        "atol": atol,
        "maxiter": steps,
        "restart": 1,
        "history": False,
        "interval": 1,
        "complex": False,
    }


class _OfMatrix:
    """A of real numbers by its entries, damping times the identity under it: the least squares of that and of b, zeros under it, are those
    of A x = b, damped."""

    def __init__(self, a: Any, is_one_complex: bool, damping: float, threads: int | None) -> None:
        matrix = as_complex(a).real_form if is_one_complex else a
        if matrix.dtype == np.float32:
            matrix = _with_values(matrix, np.float64)
        self.columns = matrix.shape[1]
        if damping != 0:
            from scipy.sparse import eye_array, vstack

            # CSR on CSR stays as it is: by way of COO repeated entries would be added up, rounding
            under = vstack([matrix.to_scipy(), damping * eye_array(self.columns, format="csr")], format="csr")
            matrix = Matrix(under, device=matrix.device, threads=threads)
        transposed = matrix.to_scipy().T.tocsr() if matrix.is_sparse else matrix._host_parts()[0].T
        self._a, self._transposed = matrix, Matrix(transposed, device=matrix.device, threads=threads)

    def solve(self, right: np.ndarray, x: np.ndarray, options: dict[str, Any]) -> Any:
        return _core.lsmr(self._a._core, self._transposed._core, right, x, options)

    def solve_by_any_means(self, right: np.ndarray, x: np.ndarray, columns: int, options: dict[str, Any], memory_limit: int) -> Any:
        return _core.least_squares(self._a._core, self._transposed._core, right, x, columns, options, memory_limit)


class _OfFunctions:
    """A of real numbers by its products and those with A^H, damped as `_OfMatrix` is."""

    def __init__(self, a: Any, is_one_complex: bool, damping: float, threads: int | None) -> None:
        if not hasattr(a, "rmatvec"):
            raise _core.InvalidArgument("lsmr: A is an operator without rmatvec, which returns A^H y; expected one that has it")
        self._threads, times = number_of_threads(threads), 2 if is_one_complex else 1
        rows, self.columns = times * int(a.shape[0]), times * int(a.shape[1])
        self._apply = self._of_numbers(a.matvec, "matvec", rows, is_one_complex)
        self._apply_transposed = self._of_numbers(a.rmatvec, "rmatvec", self.columns, is_one_complex)
        if damping != 0:
            plain, plain_transposed = self._apply, self._apply_transposed
            self._apply = lambda x: np.concatenate([plain(x), damping * x])
            self._apply_transposed = lambda y: plain_transposed(y[:rows]) + damping * y[rows:]

    @staticmethod
    def _of_numbers(apply: Callable[[Any], Any], what: str, size: int, is_one_complex: bool) -> Callable[[np.ndarray], np.ndarray]:
        if not is_one_complex:
            return lambda x: returned_vector(apply(x), size, what)
        return lambda x: parts(returned_vector(apply(whole(x)), size // 2, what, "biufc"), what)

    def solve(self, right: np.ndarray, x: np.ndarray, options: dict[str, Any]) -> Any:
        apply, apply_transposed = into(self._apply, "matvec"), into(self._apply_transposed, "rmatvec")
        return _core.lsmr_of_functions(apply, apply_transposed, right, x, options, self._threads)


def _of_one_column(found: dict[str, Any], size_of_norm: float) -> dict[str, Any]:
    kept = {name: found[name] for name in ("status", "iterations", "residual", "factor_entries")}
    return {**kept, "normal_residual": found["normal_residual"] * size_of_norm}


def _of_all_columns(x: np.ndarray, columns: list[dict[str, Any]]) -> LeastSquaresResult:
    status = next((c["status"] for c in columns if c["status"] != "converged"), "converged")
    residual, normal_residual = (largest([c[name] for c in columns]) for name in ("residual", "normal_residual"))
    iterations, entries = (max((c[name] for c in columns), default=0) for name in ("iterations", "factor_entries"))
    return LeastSquaresResult(x, status, iterations, residual, normal_residual, entries, columns)


def lstsq(
    A: Any,
    b: Any,
    *,
    x0: Any = None,
    rtol: float = 1e-10,
    atol: float = 0.0,
    maxiter: int = 10000,
    accuracy: str = "exact",
    memory_limit: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> LeastSquaresResult:
    """Solves min ``||b - A x||`` for A of any shape and rank, by LSMR, where that takes long with a preconditioner.

    From zero, the default, it finds the solution of least norm. Where A has lost rank, a part of the order of eps cond(A)^2 of x may stand
    beside that, cond(A) being the largest singular value by the smallest that is not zero.

    Preconditioners are multigrid of the normal equations, where these are like an elliptic problem, or their complete factors. x comes from
    residuals of A, recomputed with accurate sums, and nothing is claimed without them. With ``accuracy='exact'`` the bits of x are the same
    on every machine and device and for every number of threads; where more than the first attempts was needed they depend on SuiteSparse's
    version, too, and on memory, `memory_limit` and a device's, where that forbids a preconditioner.

    Parameters
    ----------
    A : Matrix, sparse matrix or array_like
        Of any shape. For operators without entries there is `lsmr`.
    b : array_like
        A vector, or a matrix: x has as many columns, each with the bits that it has by itself. Factors are made once for all. Where b is
        an array of CuPy or PyTorch on a CUDA device, so is x.
    x0 : array_like, optional
        Where to begin, in the shape of x; zeros otherwise.
    rtol, atol : float
        The aim is ``|a_j^H r| <= rtol ||a_j|| ||r||`` for every column a_j of A, which does not depend on its unit, or
        ``||r|| <= max(rtol ||b||, atol)``. One of both must be above 0. Where rounding x alone leaves a larger angle, as where b is fitted
        nearly exactly, that is enough. Singular values of A, its n columns scaled to norm 1, up to sqrt(n) rtol may count as zero, as
        below NumPy's ``rcond``: two columns that differ by 1e-11 of their length may need a smaller rtol, and so may a square A that is
        nearly singular: where ``residual`` is not small, look whether a smaller rtol makes it so. Rows of zeros stand aside, and where
        heavy rows alone make r small beside b, as constraints do, the angle counts, for an rtol of 9e-7 or less and no atol. Rows that are
        heavier than others by ``1 / rtol`` and more may hide these all the same, even where 'converged' is said: scale them down.
    maxiter : int
        Iterations in all, of each column of b.
    accuracy : {'exact', 'compensated', 'fast'}
    memory_limit : int
        Bytes that a preconditioner may take; 0 means half of the memory that the process may use.
    device : str, optional
        Where A and the vectors of LSMR lie, and levels of multigrid; factors are made on the processor. As in `solve`: None, the default, is that of A or b where
        one lies on a CUDA device, else the first CUDA device where there is one, else the processor.
    threads : int, optional
        See `threads`.

    Returns
    -------
    LeastSquaresResult

    Warns
    -----
    ConvergenceWarning
        Where the aim was not met; it has the result as ``result``.

    Notes
    -----
    Ctrl-C ends the iteration as it does in `solve`; ``error.result`` of the ``KeyboardInterrupt`` is what was found by then.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0]).x
    array([1., 2.])
    """
    A = entries_of(A)
    if without_entries(A):
        raise _core.InvalidArgument("lstsq: A is an operator without entries, of which factors are made; lsmr takes it")
    aims = tolerances(rtol=rtol, atol=atol)
    if not any(aims.values()):
        raise _core.InvalidArgument("lstsq: rtol and atol are both 0; expected one of them above 0")
    place = place_of(b, "b")
    a = as_matrix(A, device=_device_for(A, b, device), threads=threads)
    given = _Given(a, _columns(place.host(b, "b"), a.shape, "lstsq"), _on_host(x0), "lstsq")
    system = _OfMatrix(a, given.is_one_complex, 0.0, threads)
    x, columns = given.guess_of(system.columns), math.prod(given.of_columns)
    # of complex numbers, whose real and imaginary parts have columns of their own, a part is the modulus by sqrt(2) at least
    options = _options(accuracy, aims["rtol"] / given.size_of_norm, aims["atol"], whole_number(maxiter, "maxiter"))
    found, raised = system.solve_by_any_means(given.right, x, columns, options, whole_number(memory_limit, "memory_limit"))
    result = _of_all_columns(place.sent(given.told(x, system.columns)), [_of_one_column(c, given.size_of_norm) for c in found])
    if isinstance(raised, KeyboardInterrupt) and result.status == "iteration limit":
        result = result._replace(status="interrupted")
    raise_again(raised, result)
    if not result.converged:
        warnings.warn(ConvergenceWarning(_failure(result, aims["rtol"]), result), stacklevel=2)
    return result


def _failure(result: LeastSquaresResult, rtol: float) -> str:
    said = f"lstsq: {result.status} after {iterations_in_words(result.iterations)}"
    if result.status == "non-finite":
        return f"{said}: A, b or x0 has a number that is not finite, or what is made of them leaves the range of numbers"
    said = f"{said}, normal residual {result.normal_residual:.1e} for rtol={rtol:.1e}"
    if result.status == "stagnated":
        return f"{said}: columns of A may depend on one another as far as this precision sees; what may help: centre or scale them"
    return f"{said}; what may help: a larger maxiter"


def lsmr(
    A: Any,
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
    device: str | None = None,
    threads: int | None = None,
) -> LsmrResult:
    """Solves min ``||b - A x||^2 + damp^2 ||x||^2`` in the manner of `scipy.sparse.linalg.lsmr`, for A of any shape and rank.

    It differs from SciPy's in this: residuals are those of x, recomputed with accurate sums, and nothing is claimed without them;
    `conlim` is not looked at, for the condition of A is not estimated. From zero, the default, it finds the solution of least norm.

    Parameters
    ----------
    A : Matrix, sparse matrix, array_like or LinearOperator
        Of any shape. Of an operator without entries (anything with ``shape``, ``matvec`` and ``rmatvec``) Frobenius's norm is not known: the
        largest ``||A v||`` of a unit vector v that the iteration has met, which is not larger, stands for it.
    b : array_like
        A vector, or one column. Where it is an array of CuPy or PyTorch on a CUDA device and A has entries, so is x.
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
    device : str, optional
        Where A, if it has entries, and the vectors of LSMR lie, as in `lstsq`.
    threads : int, optional
        See `threads`.

    Returns
    -------
    LsmrResult

    Notes
    -----
    Ctrl-C ends the iteration as it does in `solve`; ``error.result`` of the ``KeyboardInterrupt`` is what was found by then.

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
    made_by: type[_OfMatrix] | type[_OfFunctions]
    place = HOST if without_entries(A) else place_of(b, "b")
    a, made_by = (A, _OfFunctions) if without_entries(A) else (as_matrix(A, device=_device_for(A, b, device), threads=threads), _OfMatrix)
    if place is not HOST:
        b, x0 = place.host(b, "b"), _on_host(x0)
    given = _Given(a, _column(b, (int(a.shape[0]), int(a.shape[1])), "lsmr"), x0, "lsmr")
    steps = min(given.shape) if maxiter is None else whole_number(maxiter, "maxiter")
    size = given.size_of_norm
    system = made_by(a, given.is_one_complex, damping, threads)
    right = given.right
    if damping != 0:
        right = np.concatenate([right, np.zeros(system.columns)])
    x = given.guess_of(system.columns)
    bnorm = float(norm(right))
    aim = max(aims.values()) or float(np.finfo(float).eps)
    options = _options(accuracy, (aims["atol"] if any(aims.values()) else aim) / size, aim * bnorm if math.isfinite(bnorm) else 0.0, steps)
    found, raised = system.solve(right, x, options)
    result = _told(found, x, bnorm, aim * bnorm, size)
    result = result._replace(x=place.sent(given.told(x, system.columns)))
    raise_again(raised, result)
    if show:
        print(f"lsmr: {found['status']} after {result.itn} iterations, ||r|| = {result.normr:.1e}, ||A^H r|| = {result.normar:.1e}")
    return result
