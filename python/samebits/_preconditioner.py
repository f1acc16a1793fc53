"""Preconditioners."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _core
from ._arguments import _host_array, accuracy_number, into, number_type, text, whole_number
from ._complex import OnParts, parts_of_vector, whole
from ._complex_matrix import ComplexMatrix
from ._matrix import Matrix, as_matrix
from ._places import place_of, same_dtype


KINDS = "'none', 'jacobi', 'ilu0', 'isai', 'ilut', 'klu', 'amg' or 'schur'"


def _blocks(block_of_row: Any, rows: int) -> np.ndarray:
    """One number for each row, or none at all."""
    if block_of_row is None:
        return np.zeros(0, np.int32)
    given = _host_array(block_of_row, "block_of_row")
    if given.dtype.kind not in "iu" or given.shape != (rows,):
        raise _core.InvalidArgument(f"block_of_row is {given.dtype} of the shape {given.shape}; expected {rows} integers, one for each row")
    return np.unique(given, return_inverse=True)[1].astype(np.int32)


class Preconditioner:
    """M ~ A, applied as M^-1 r by ``p @ r``, to vectors of the host or, of CuPy and PyTorch, on a CUDA device.

    Parameters
    ----------
    a : Matrix, sparse matrix or array_like
        Square; not referred to afterwards.
    kind : str
        'none', 'jacobi', 'ilu0', 'isai', 'ilut', 'klu' (complete factors), 'amg' (multigrid, for positive diagonals) or 'schur'
        (symmetric saddle points).
    accuracy : {'exact', 'compensated', 'fast'}
        Of its making and, by ``@``, of its application.
    drop_tolerance, fill_factor : float
        For 'ilut': entries below `drop_tolerance` times the mean of their row are dropped; at most `fill_factor` times the mean number
        of entries of a row are kept.
    memory_limit : int
        Of 'ilut', 'klu', 'amg' and 'schur': bytes they may take; 0 means half of the memory that the process may use.
    block_of_row : array_like of int
        For 'ilu0', 'isai', 'ilut' and 'klu': the block of each row, by any numbers. Entries between rows of different blocks are left out, and each
        block is factored as if it stood alone. None: all rows are one block.

    Raises
    ------
    InvalidArgument
        Where it cannot be made: zeros on the diagonal, a singular matrix, an unknown kind.
    ResourceLimit
        Where the factors would take more than `memory_limit`.

    Examples
    --------
    >>> import samebits as sb
    >>> p = sb.Preconditioner([[2.0, 1.0], [0.0, 4.0]], 'klu')
    >>> p @ [3.0, 4.0]
    array([1., 1.])
    """

    __array_ufunc__ = None  # array @ preconditioner is a TypeError

    def __init__(
        self,
        a: Any,
        kind: str,
        *,
        accuracy: str = "exact",
        drop_tolerance: float = 1e-3,
        fill_factor: float = 10.0,
        memory_limit: int = 0,
        block_of_row: Any = None,
        _of_real_form: bool = False,
    ) -> None:
        matrix = as_matrix(a)
        try:
            drop_tolerance, fill_factor = float(drop_tolerance), float(fill_factor)
        except (TypeError, ValueError, OverflowError):
            given = f"drop_tolerance is {drop_tolerance!r} and fill_factor {fill_factor!r}"
            raise _core.InvalidArgument(f"{given}; expected numbers") from None
        self.kind = text(kind, "kind", KINDS)
        self.accuracy = accuracy
        self.shape, self.dtype = matrix.shape, matrix.dtype
        choices = {
            "drop_tolerance": drop_tolerance,
            "fill_factor": fill_factor,
            "memory_limit": whole_number(memory_limit, "memory_limit"),
            "block_of_row": block_of_row if _of_real_form else _blocks(block_of_row, matrix.shape[0]),
        }
        self._of_parts: Preconditioner | None = None
        if isinstance(matrix, ComplexMatrix):
            self._of_parts = Preconditioner(matrix.real_form, kind, accuracy=accuracy, _of_real_form=True, **choices)
            self._core = self._of_parts._core
        else:
            self._core = _core.make_preconditioner(matrix._core, kind, accuracy_number(accuracy), *choices.values(), _of_real_form)

    @classmethod
    def from_function(cls, apply: Callable[[np.ndarray], Any], rows: int, dtype: Any = np.float64) -> Preconditioner:
        """One that applies M^-1 by a function of yours: it is given r and returns M^-1 r.

        What it raises ends the solve and arrives unchanged.

        Examples
        --------
        >>> import samebits as sb
        >>> p = sb.Preconditioner.from_function(lambda r: r / 2, rows=2)
        >>> p @ [2.0, 4.0]
        array([1., 2.])
        """

        if not callable(apply):
            raise _core.InvalidArgument(f"from_function: {apply!r} is no function; expected one that is given r and returns M^-1 r")
        made = cls.__new__(cls)
        made.kind = "function"
        made._of_parts = None
        made.accuracy = "exact"
        made.shape = (whole_number(rows, "rows"), whole_number(rows, "rows"))
        made.dtype = number_type(dtype, "from_function", "float64 or float32")
        if made.dtype not in (np.float64, np.float32):
            raise _core.InvalidArgument(f"from_function: the dtype is {made.dtype}; expected float64 or float32")
        double = made.dtype == np.float64
        of_function = _core.preconditioner_of_function64 if double else _core.preconditioner_of_function32
        made._core = of_function(into(apply, "a preconditioner's function"), made.shape[0])
        return made

    @property
    def factor_entries(self) -> int:
        """How many numbers the factors hold."""
        return int(self._core.factor_entries)

    @property
    def factor_hash(self) -> int:
        """Depends on every bit of the factors: equal hashes, equal preconditioners."""
        return int(self._core.factor_hash)

    def __matmul__(self, r: Any) -> Any:
        if self._of_parts is not None:
            return whole(self._of_parts @ parts_of_vector(r, "r", self.shape[0], self.shape, self.dtype))
        return self._apply(r)

    def _on_parts(self, rows: int) -> Preconditioner:
        """That of the real and imaginary parts of complex vectors of so many rows; a real one may be one of parts already."""
        if self._of_parts is not None:
            return self._of_parts
        if self.shape[0] != rows:
            return self

        def apply(r: np.ndarray) -> np.ndarray:
            return np.stack([self._apply(r[0::2]), self._apply(r[1::2])], axis=1)

        return Preconditioner.from_function(apply, 2 * self.shape[0], self.dtype)

    def _apply(self, r: Any) -> Any:
        place = place_of(r, "r")
        given = same_dtype(place, r, self.dtype, "r")
        if given.ndim != 1:
            raise _core.InvalidArgument(f"r has {given.ndim} dimensions, the shape {tuple(given.shape)}; expected one dimension")
        given = place.by_columns(given)
        z = place.zeros(tuple(given.shape), self.dtype)
        place.wait()
        self._core.apply(given, z, accuracy_number(self.accuracy))
        return z

    def __copy__(self) -> Preconditioner:
        return self

    def __deepcopy__(self, _: Any) -> Preconditioner:
        return self  # nothing of it changes

    def __reduce__(self) -> Any:
        raise TypeError("a Preconditioner cannot be pickled; send the Matrix and make it there")

    def __repr__(self) -> str:
        return f"<samebits.Preconditioner {self.kind}, {self.shape[0]} x {self.shape[1]}, {self.factor_entries} entries>"


def _check_inverse(m: Any, shape: tuple[int, int]) -> None:
    """What SciPy's methods take as M, which stands for A^-1, is a matrix or a LinearOperator."""
    if not hasattr(m, "matvec") and not hasattr(m, "__matmul__"):
        raise _core.InvalidArgument(f"M is {m!r}; expected a name, a Preconditioner, a matrix or a LinearOperator that is A^-1, or None")
    if isinstance(m, np.ndarray):
        _host_array(m, "M")
    if tuple(getattr(m, "shape", shape)) != tuple(shape):
        raise _core.DimensionMismatch(f"M has the shape {m.shape}, A {tuple(shape)}; expected equal ones")


def preconditioner_of(m: Any, shape: tuple[int, int], dtype: Any) -> Preconditioner:
    """One that applies SciPy's M."""
    if isinstance(m, Preconditioner):
        return m
    _check_inverse(m, shape)
    apply = m.matvec if hasattr(m, "matvec") else lambda r: m @ r
    return Preconditioner.from_function(apply, shape[0], dtype)


def preconditioner_on_parts(m: Any, shape: tuple[int, int]) -> Any:
    """The M of a complex system as that of the parts of its vectors; names as they are."""
    if m is None or isinstance(m, str):
        return m
    if isinstance(m, Preconditioner):
        return m._on_parts(shape[0])
    _check_inverse(m, shape)
    return OnParts(m, "a preconditioner's function")
