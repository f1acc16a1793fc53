"""Proofs that belong to a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import accuracy_number, text, whole_number
from ._complex import is_complex, parts_of_vector, whole_shape
from ._matrix import Matrix
from ._preconditioner import KINDS
from ._solve import _matrix_to_solve, _real_form, _tolerances, method_name


class Certificate:
    """What `certify` found.

    Attributes
    ----------
    status : str
        'proven' (A has an inverse), 'singular' (it has none) or 'could not prove'.
    reason : str
        How it was proven, or what stood in the way.
    reach, weights : ndarray
        ``|A^-1 r|_i <= reach_i N(r)`` for every r, where N(r) is the largest of ``weights_j |r_j|``, or their sum. Empty unless proven.
        For complex numbers i and j count their real and imaginary parts in turn.
    adds_up : bool
        N(r) is the sum.
    iterations : int
        Of the Krylov method that found it.
    """

    def __init__(self, matrix: Matrix, core: Any, is_complex: bool) -> None:
        self._matrix, self._core, self._is_complex = matrix, core, is_complex
        self.status: str = core.status
        self.reason: str = core.reason
        self.adds_up: bool = core.adds_up
        self.iterations: int = core.iterations
        self.reach = np.frombuffer(core.reach)
        self.weights = np.frombuffer(core.weights)

    def error_bound(self, b: Any, x: Any, *, x_low: Any = None) -> np.ndarray:
        """Proven bounds of ``|x_i + x_low_i - x*_i|``, x* the solution of A x = b, one for each number, complex or not.

        They are 0 where x + x_low is proven to be x* itself. Vectors lie in the host's memory, and may be complex where A is. Raises
        `InvalidArgument` where nothing is proven.

        Examples
        --------
        >>> import samebits as sb
        >>> c = sb.certify([[4.0, 1.0], [1.0, 3.0]])
        >>> bool((c.error_bound([1.0, 2.0], [0.09, 0.64]) < 0.01).all())
        True
        """
        if self._is_complex:
            shape = whole_shape(self._matrix)[:1] * 2
            b, x, x_low = (
                None if given is None and name == "x_low" else parts_of_vector(given, name, shape[0], shape, self._matrix.dtype)
                for given, name in ((b, "b"), (x, "x"), (x_low, "x_low"))
            )
        bounds = self._bounds(b, x, x_low)
        if not self._is_complex:
            return bounds
        of_moduli = np.empty(bounds.size // 2)
        _core.bound_moduli(bounds, of_moduli)
        return of_moduli

    def _bounds(self, b: Any, x: Any, x_low: Any) -> np.ndarray:
        place = self._matrix._place_of(b=b, x=x, x_low=x_low)
        right, given = self._matrix._vector(b, "b", place), self._matrix._vector(x, "x", place)
        low = None if x_low is None else self._matrix._vector(x_low, "x_low", place)
        bounds = np.empty(self._matrix.shape[0])
        place.wait()
        _core.error_bound(self._matrix._core, self._core, right, given, low, bounds)
        return bounds

    def __copy__(self) -> Certificate:
        return self

    def __deepcopy__(self, _: Any) -> Certificate:
        return self  # nothing of it changes

    def __reduce__(self) -> Any:
        raise TypeError("a Certificate cannot be pickled; send the Matrix and call certify there")

    def __repr__(self) -> str:
        return f"{self.status}: {self.reason}"


def certify(
    a: Any,
    *,
    rtol: float = 1e-10,
    maxiter: int = 10000,
    preconditioner: str | None = "auto",
    method: str = "auto",
    profile: str = "auto",
    accuracy: str = "exact",
    memory_limit: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> Certificate:
    """Looks for a proof that the square matrix A has an inverse, or that it has none; it serves any number of right-hand sides.

    Parameters are those of `solve`, with which vectors for the proof are computed.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import samebits as sb
    >>> sb.certify([[4.0, 1.0], [1.0, 3.0]])
    proven: H-matrix
    >>> sb.certify([[1.0, 2.0], [2.0, 4.0]]).status
    'singular'
    """
    if isinstance(a, np.ndarray):
        a = a.copy()  # so that the certificate is of A as it was, whatever becomes of the array
    matrix = _real_form(a, device, threads) if is_complex(a) else _matrix_to_solve(a, device, threads)
    options = {
        "mixed": False,
        "accuracy": accuracy_number(accuracy),
        **_tolerances(rtol, 0.0),
        "preconditioner": text("none" if preconditioner is None else preconditioner, "preconditioner", f"'auto', {KINDS}, or None"),
        "method": method_name(method),
        "profile": text(profile, "profile", "'auto', 'processor' or 'gpu'"),
        "maxiter": whole_number(maxiter, "maxiter"),
        "memory_limit": whole_number(memory_limit, "memory_limit"),
        "restart": 30,
        "history": False,
        "guarantee": "none",
        "interval": 32,
        "complex": is_complex(a),
    }
    return Certificate(matrix, _core.certify(matrix._core, options), is_complex(a))
