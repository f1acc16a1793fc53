"""Linear systems."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arguments import accuracy_number, device_number, number_of_threads, text, tolerances, whole_number, yes_or_no
from ._complex import is_complex, parts, parts_of_rows, whole, whole_shape
from ._complex_matrix import as_complex
from ._matrix import Matrix, _device_of, entries_of, right_hand_side
from ._places import Host, beside_a_matrix, host_array, place_of, same_dtype
from ._preconditioner import KINDS, Preconditioner
from ._result import Attempt, ConvergenceWarning, Proof, Result, raise_again


PRODUCTS_OF_A_SOLVE = 1000
LEAST_SINGLE = math.nextafter(2.0**-150, 1)  #: what is less becomes 0 as a float; 2^-150 is a tie
LARGEST_SINGLE = math.nextafter(2.0**128 - 2.0**103, 0)  #: what is greater becomes infinite
METHODS = "'bicgstab', 'cg', 'gmres', 'minres', 'idr', 'bicgstab2' or 'cocg'"
SQUARE = "expected a square one (lsmr finds the least squares of others)"


class _Step(NamedTuple):
    number: int  #: 0 is the initial guess
    recursive_residual: float  #: ||r|| / ||b|| of the updated residual
    true_residual: float  #: ||b - A x|| / ||b|| where it was computed in this step, else negative
    replaced: bool  #: r was replaced by the true residual
    column: int  #: of several right-hand sides, from 0


class Iteration(_Step):
    """What the callback of `solve` is told: number, recursive_residual, true_residual, replaced, column, and `x`.

    ``number`` is 0 for the initial guess; the residuals are relative to ``||b||``, the true one negative where it was not computed.
    """

    _iterate: Any = None
    _rows = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Iteration, tuple(self)

    @property
    def x(self) -> np.ndarray:
        """The iterate after this step, a copy made when it is asked for, which costs about one vector update.

        It can be had only while the callback runs, and not of copies.
        """
        if self._iterate is None:
            raise _core.InvalidArgument("iteration: this is a copy, and x can be asked for only of what the callback was given, while it runs")
        copy = np.empty(self._rows)
        self._iterate.copy_to(copy)
        return copy


def _with_values(matrix: Matrix, dtype: Any) -> Matrix:
    """A copy of the matrix with every value as a number of this type, to float32 rounded."""
    made = Matrix.__new__(Matrix)
    made._device, made._threads, made._storage = matrix._device, matrix._threads, matrix._storage
    values = matrix._place.cast(matrix._parts[-1], np.dtype(dtype))
    made._take(matrix.shape, *matrix._parts[:-1], values, place=matrix._place)
    return made


def _place_in(matrix: Matrix, where: tuple[int, ...]) -> tuple[int, ...]:
    """The row and the column of one of its values."""
    if not matrix.is_sparse:
        return where
    offsets, indices, _ = matrix._host_parts()
    return int(np.searchsorted(offsets, where[0], side="right")) - 1, int(indices[where[0]])


def _entry(name: str, where: tuple[int, ...], value: float, of_parts: bool) -> str:
    """What an element of A, b or x0 is; of a complex system which part of a number."""
    if not of_parts:
        return f"{name}[{', '.join(map(str, where))}] is {value!r}"
    halved = 2 if name == "A" else 1  # each number of A is the block (a, -b; b, a)
    part = "imaginary" if sum(where[:halved]) % 2 else "real"
    value = -value if name == "A" and where[0] % 2 < where[1] % 2 else value
    whole_numbers = [i // 2 for i in where[:halved]] + [*where[halved:]]
    return f"the {part} part of {name}[{', '.join(map(str, whole_numbers))}] is {value!r}"


def _check_range(matrix: Matrix, place: Host, b: Any, x0: Any, of_parts: bool) -> None:
    """Refuses finite numbers that floats make infinite, or 0, which does no harm to a guess alone."""
    given = [("A", matrix._place, matrix._parts[-1], LEAST_SINGLE), ("b", place, place.floats(b, "b"), LEAST_SINGLE)]
    if x0 is not None:
        given.append(("x0", place, place.floats(x0, "x0"), 0.0))
    for name, there, x, least in given:
        where = None if there.dtype(x) == np.float32 else there.first_beyond(x, least, LARGEST_SINGLE)
        if where is not None:
            value = float(x[where])
            seen = _entry(name, _place_in(matrix, where) if name == "A" else where, value, of_parts)
            raise _core.InvalidArgument(
                f"precision 'single': {seen}, which is beyond the range of single precision, 1.4e-45 to 3.4e+38, and would become "
                f"{'infinite' if abs(value) > 1 else '0'}; work in double, precision='double', or scale A and b"
            )


def _in_precision(matrix: Matrix, precision: str | None) -> Matrix:
    if precision is None:
        return matrix
    if precision == "single":
        return matrix if matrix.dtype == np.float32 else _with_values(matrix, np.float32)
    if precision not in ("double", "mixed"):
        raise _core.InvalidArgument(f"precision {precision!r}: expected 'double', 'single', 'mixed', or None for that of A")
    if matrix.dtype == np.float32:
        raise _core.InvalidArgument(f"precision {precision!r}: the matrix has floats; make it of doubles, A.astype('float64')")
    return matrix


def _upcast(matrix: Matrix, dtype: np.dtype) -> Matrix:
    """A in double where it has floats and b doubles; that changes no value."""
    return _with_values(matrix, np.float64) if matrix.dtype == np.float32 and dtype == np.float64 else matrix


def _guess(place: Host, x0: Any, b: Any, rounds: bool) -> Any:
    """A copy of the guess, column by column."""
    dtype = place.dtype(b)
    if x0 is None:
        return place.zeros((math.prod(b.shape),), dtype)
    array = place.cast(place.floats(x0, "x0"), dtype) if rounds else same_dtype(place, x0, dtype, "x0")
    if array.shape != b.shape:
        raise _core.DimensionMismatch(f"x0 has the shape {tuple(array.shape)}, b {tuple(b.shape)}; expected equal ones")
    return place.copied(place.by_columns(array))


def method_name(method: Any) -> str:
    """The name of a method, which the library knows or refuses."""
    name = text(method, "method", f"'auto', {METHODS}")
    if name == "lsmr":
        raise _core.InvalidArgument(f"method is 'lsmr', which is a function of its own, sb.lsmr(A, b); expected 'auto', {METHODS}")
    return name


def _tolerances(rtol: Any, atol: Any) -> dict[str, float]:
    """The two as numbers, one of them above 0."""
    found = tolerances(rtol=rtol, atol=atol)
    if found["rtol"] == 0 and found["atol"] == 0:
        raise _core.InvalidArgument("rtol and atol are both 0, which rounding does not allow to meet; expected one above 0")
    return found


def _matrix_to_solve(a: Any, device: str | None, threads: int | None) -> Matrix:
    """A square matrix that many products will be made with. One that is made keeps its threads and its device."""
    number_of_threads(threads)
    if device is not None:
        device_number(device)
    matrix = a if isinstance(a, Matrix) else Matrix(a, device=device, threads=threads, expected_products=PRODUCTS_OF_A_SOLVE)
    if matrix.shape[0] != matrix.shape[1]:
        raise _core.DimensionMismatch(f"A has the shape {matrix.shape}; {SQUARE}")
    return matrix


def _device_for(a: Any, b: Any, device: str | None) -> str | None:
    """That of b where nothing else says it."""
    place = place_of(b, "b")
    return f"cuda:{place.device}" if device is None and place.device >= 0 and _device_of(a) < 0 else device


def _real_form(a: Any, device: str | None, threads: int | None) -> Matrix:
    """That of a square matrix, complex or to be taken for complex."""
    return as_complex(_matrix_to_solve(a, device, threads)).real_form


def _real_system(a: Any, b: Any, x0: Any, rounds: bool, device: str | None, threads: int | None) -> tuple[Any, Any, Any]:
    """The real form of A, and the parts of b and x0; at least one of them is complex."""
    real = _real_form(a, _device_for(a, b, device), threads)
    dtype = np.dtype(np.float64) if rounds else real.dtype
    right = parts_of_rows(b, "b", real.shape[0] // 2, whole_shape(real)[:1] * 2, dtype)
    guess = None if x0 is None else parts(beside_a_matrix(x0, dtype, "x0"), "x0")
    if guess is not None and guess.shape != right.shape:
        raise _core.DimensionMismatch(f"x0 has the shape {whole_shape(guess)}, b {whole_shape(right)}; expected equal ones")
    return real, right, guess


def _make_complex(result: Result) -> None:
    """The result of the real form as one of complex numbers; bounds stay those of parts, and what sums them up is by the modulus."""
    for j, proof in enumerate(result.proofs):
        if proof.bounds.size > 0:
            column = host_array(result.x if result.x.ndim == 1 else result.x[:, j])
            bound = _core.complex_error_bound(proof.bounds, np.ascontiguousarray(column))
            result.proofs[j] = proof._replace(error_bound=bound)
    result.x = whole(result.x)


class _ComplexIteration(Iteration):
    """An iteration on the parts of a complex system."""

    def __repr__(self) -> str:
        return repr(Iteration(*self))

    @property
    def x(self) -> np.ndarray:
        return whole(super().x)


def _complex_callback(callback: Callable[[Iteration], Any] | None) -> Callable[[Iteration], Any] | None:
    if callback is None or not callable(callback):
        return callback

    def told(step: Iteration) -> Any:
        iteration = _ComplexIteration(*step)
        iteration._iterate, iteration._rows = step._iterate, step._rows
        return callback(iteration)

    return told


def _attempt(found: dict[str, Any]) -> Attempt:
    results = found["results"]
    first: dict[str, Any] = results[0] if results else {"status": "", "residual": math.nan}
    return Attempt(
        found["preconditioner"],
        found["method"],
        found["repeated"],
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


def _status(column: dict[str, Any], proof: Proof | None, stopped: bool, raised: BaseException | None) -> str:
    """How a column ended: an iteration limit is also told of one that was interrupted or stopped, and of one that was not iterated."""
    if column["status"] != "iteration limit":
        return column["status"]
    if isinstance(raised, KeyboardInterrupt):
        return "interrupted"
    if stopped:
        return "stopped"
    is_refuted = proof is not None and proof.status == "singular" and column["iterations"] == 0
    return "singular" if is_refuted else "iteration limit"


def _callback(callback: Callable[[Iteration], Any] | None, rows: int) -> Callable[..., Any] | None:
    if callback is None:
        return None
    if not callable(callback):
        raise _core.InvalidArgument(f"callback is {callback!r}; expected a function, or None")

    def told(*step: Any) -> Any:
        iteration = Iteration(*step[:-1])
        iteration._iterate, iteration._rows = step[-1], rows
        return callback(iteration)

    return told


def _run(
    place: Host,
    matrix: Matrix,
    b: Any,
    x: Any,
    m: str | Preconditioner,
    options: dict[str, Any],
    callback: Callable[[Iteration], Any] | None,
) -> Result:
    """Solves with checked arguments; raises what the callback raised, and KeyboardInterrupt with the best x as ``result``."""
    single = matrix.dtype == np.float32
    low = place.zeros(x.shape, matrix.dtype) if single else None
    given = m._core if isinstance(m, Preconditioner) else None
    if isinstance(m, Preconditioner) and m.dtype != matrix.dtype:
        raise _core.InvalidArgument(f"the preconditioner was made for {m.dtype}, and the matrix is solved in {matrix.dtype}")
    options["preconditioner"] = "auto" if isinstance(m, Preconditioner) else m
    options["interval"] = 1 if callback is not None or matrix._device < 0 else 32
    right = place.by_columns(b)
    place.wait()
    told = _callback(callback, matrix.shape[0])
    found = _core.solve(matrix._core, given, b.ndim == 1, right, x, low, options, told)
    columns, attempts, proofs, profile, obstacle, stopped, raised = found
    whole = x if low is None else place.cast(x, np.dtype(np.float64)) + low
    made: list[Any] = [Proof(**{**p, "bounds": np.frombuffer(p["bounds"])}) for p in proofs]
    ended = [{**c, "status": _status(c, p, stopped, raised)} for c, p in zip(columns, made or [None] * len(columns))]
    tried = [] if any(c["status"] == "singular" for c in ended) else [_attempt(a) for a in attempts]
    result = Result(place.shaped(whole, tuple(b.shape)), ended, tried, options["history"])
    result.obstacle, result.profile, result.proofs = obstacle, profile if attempts else "", made
    if options["complex"]:
        _make_complex(result)
    raise_again(raised, result)
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
    restart: int = 30,
    profile: str = "auto",
    precision: str | None = None,
    accuracy: str = "exact",
    callback: Callable[[Iteration], Any] | None = None,
    history: bool = False,
    guarantee: str = "none",
    memory_limit: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> Result:
    """Solves A x = b by a preconditioned Krylov method, and finds method and preconditioner that will do.

    Convergence is claimed on the true residual, recomputed with accurate sums. With ``accuracy='exact'``, the default, the bits of x are
    the same on every machine and device and for every number of threads; they depend on `preconditioner`, `method` and `profile`, on
    `memory_limit` where it forbids something, and where ilut or klu is tried on SuiteSparse's version.

    Parameters
    ----------
    a : Matrix, sparse matrix or array_like
        Square. A `Matrix` is used where it is, others are put on `device`. Where A, b, x0 or the preconditioner is complex the solution
        is, and scalars are, too; proofs count real and imaginary parts one after another: component 2 i is the real part of x_i.
    b : array_like
        A vector, or a matrix whose columns are solved together. An array of CuPy or PyTorch on a CUDA device stays there, as do `x0` and
        the solution, which are arrays of the same library; the matrix is to be on that device.
    x0 : array_like, optional
        Where to begin; zeros otherwise.
    rtol, atol : float
        The aim, for each column, is ``||b - A x|| <= max(rtol ||b||, atol)``. One of both must be above 0.
    maxiter : int
        Iterations of all attempts together.
    preconditioner : str or Preconditioner
        'auto' tries several, of growing strength; else the kind of a `Preconditioner`, or one that is made. None is 'none'.
        With 'auto' here and in `method` x is least squares where A is singular and nothing solves the system, and rows of A
        that are far smaller than others are solved by their own size, as inside of a boundary that a penalty holds; one that
        is made leaves that to the caller.
    method : {'auto', 'bicgstab', 'cg', 'gmres', 'minres', 'idr', 'bicgstab2', 'cocg'}
        'cg', conjugate gradients, is for symmetric positive definite A and preconditioners, 'minres' for symmetric A, definite or not,
        and positive definite preconditioners, 'cocg' for complex ones that are their own transposes, the others for any. 'auto' takes 'cg' where A is symmetric with a positive diagonal and
        the preconditioner symmetric, too, goes on with 'minres' where that turns out to be wrong, takes 'cocg' where both are complex
        and their own transposes, 'idr' with 'schur', and 'bicgstab' elsewhere.
    restart : int
        Of 'gmres': the steps of a cycle, for which it keeps twice as many vectors.
    profile : {'auto', 'processor', 'gpu'}
        What the choice of preconditioners takes operations to cost. 'auto' is 'processor' on every device where `accuracy` is 'exact',
        so that x has the same bits everywhere, else that of the device. For 'gpu' iterations are cheap and the
        host's work is dear; it has other bits.
    precision : {'double', 'single', 'mixed'}, optional
        'single' rounds A and b to float32, of which residual and proofs speak then, and returns the sum of two floats; finite numbers
        that would become infinite are refused, those of x0, too, and others than 0 of A and b that would become 0. 'mixed' iterates in
        single and solves as accurately as double. None is that of A, or of b where A has floats and b doubles.
    accuracy : {'exact', 'compensated', 'fast'}
    callback : callable, optional
        Called with an `Iteration` after every step; a true value stops. What it raises arrives unchanged. ``iteration.x`` is the iterate.
    history : bool
        Keeps every iteration in the result.
    guarantee : {'none', 'bound', 'rounded'}
        'bound' proves how far each component can be off, 'rounded' rounds the solution once, component by component, proven: bits that
        depend on A and b alone. `Result.proof` says what was proven. A solution proven to be rounded counts as converged whatever its
        residual is, since no other x is nearer. What is proven singular is not iterated, and has
        the status 'singular'. Not with a `Preconditioner` that is made.
    memory_limit : int
        Bytes that factors and levels may take; 0 means half of the memory that the process may use: control groups and ``ulimit`` count.
        What does not fit is passed over, so that x has other bits where the limit forbids what is chosen elsewhere.
    device : str, optional
        None, the default, is that of `a` or `b` where one lies on a CUDA device, else the first CUDA device where there is one, else the
        processor.
    threads : int, optional
        See `threads`.

    Returns
    -------
    Result

    Warns
    -----
    ConvergenceWarning
        Where the tolerance was not met, rows far smaller than others are not solved, or what a guarantee asked for could not be
        proven; it has the result as ``result``.
        `Result.raise_for_status` makes an error of it.

    Notes
    -----
    Ctrl-C ends the iteration within some milliseconds; the ``KeyboardInterrupt`` has the best x as ``error.result.x``, unless it
    arrived while a function of the caller's was running. Making a preconditioner or a proof cannot be interrupted.

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
    a, m = entries_of(a), "none" if preconditioner is None else preconditioner
    if not isinstance(m, Preconditioner):
        m = text(m, "preconditioner", f"'auto', {KINDS}, a Preconditioner (from_function makes one of a function), or None")
    options = {
        "mixed": precision == "mixed",
        "accuracy": accuracy_number(accuracy),
        **_tolerances(rtol, atol),
        "method": method_name(method),
        "profile": text(profile, "profile", "'auto', 'processor' or 'gpu'"),
        "maxiter": whole_number(maxiter, "maxiter"),
        "restart": whole_number(restart, "restart", least=1),
        "history": yes_or_no(history, "history"),
        "guarantee": text(guarantee, "guarantee", "'none', 'bound' or 'rounded'"),
        "memory_limit": whole_number(memory_limit, "memory_limit"),
        "complex": any(is_complex(given) for given in (a, b, x0, m)),
    }
    if isinstance(m, Preconditioner) and guarantee != "none":
        raise _core.InvalidArgument(f"guarantee {guarantee!r} needs a preconditioner that is made here; give its kind")
    if isinstance(m, Preconditioner) and options["mixed"]:
        raise _core.InvalidArgument("precision 'mixed' makes its preconditioner itself, in single; give its kind")
    rounds = precision == "single"
    if options["complex"]:
        a, b, x0 = _real_system(a, b, x0, rounds, device, threads)
        m = m._on_parts(a.shape[0] // 2) if isinstance(m, Preconditioner) else m
        callback = _complex_callback(callback)
    matrix = _matrix_to_solve(a, _device_for(a, b, device), threads)
    place = matrix._place_of(b=b, x0=x0)
    if rounds:
        _check_range(matrix, place, b, x0, options["complex"])
    matrix = _in_precision(matrix, precision)
    if precision is None:
        b = place.floats(beside_a_matrix(b, matrix.dtype, "b"), "b")
        matrix = _upcast(matrix, place.dtype(b))
    right = right_hand_side(place, b, matrix, rounds)
    result = _run(place, matrix, right, _guess(place, x0, right, rounds), m, options, callback)
    leaves_rows = result.converged and result._other_obstacle()
    if leaves_rows or (not result.converged and result.status != "stopped") or result._open_proof() is not None:
        warnings.warn(ConvergenceWarning(f"solve: {result}", result), stacklevel=2)
    return result
