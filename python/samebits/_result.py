"""How a solve went."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._places import host_array

HISTORY_DTYPE = np.dtype(
    [("number", np.int64), ("recursive_residual", np.float64), ("true_residual", np.float64), ("replaced", np.bool_)]
)


class _WithResult(Exception):
    """What is told of a solve, with its result."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.result)


class ConvergenceWarning(_WithResult, UserWarning):
    """A solve did not converge, or could not prove what a guarantee asked for; ``warning.result`` is the result."""


class NotConverged(_WithResult, ArithmeticError):
    """Raised by `Result.raise_for_status`; ``error.result`` is the result."""


def raise_again(raised: BaseException | None, result: Any) -> None:
    """Raises what was raised while a solve ran, if anything was; a KeyboardInterrupt has what was found by then as ``result``."""
    if isinstance(raised, KeyboardInterrupt):
        raised.result = result  # type: ignore[attr-defined]
    if raised is not None:
        raise raised


class Attempt(NamedTuple):
    """One preconditioner that a solve tried."""

    preconditioner: str
    method: str  #: 'bicgstab', 'cg', 'gmres', 'minres', 'idr', 'bicgstab2', 'cocg', or 'lsmr' of least squares
    repeated: bool  #: by the next attempt, which is the same with 'minres' or 'bicgstab': A or M was not positive definite, or 'cocg' broke down
    mixed: bool  #: the iteration ran in single precision
    refusal: str  #: why it could not be made; empty where it was
    status: str  #: of the first right-hand side; empty where it was refused
    iterations: int
    residual: float
    factor_entries: int
    factor_hash: int
    setup_seconds: float
    solve_seconds: float


class Proof(NamedTuple):
    """What ``guarantee='bound'`` or ``'rounded'`` proved of one column; x* is the solution with the numbers as they are stored."""

    status: str  #: 'proven', 'singular' or 'could not prove'
    reason: str  #: how it was proven, or why it was not
    backward_error: float  #: x solves exactly a system whose entries differ by at most this, relatively
    #: ``|x_i - x*_i| <= error_bound |x_i|``, of complex x_i, too: 0 where x is proven to be x* itself, infinite where some x_i is 0
    #: and x*_i may not be; negative where nothing is proven, and for 'rounded'
    error_bound: float
    estimated_error: float  #: where nothing is proven, and as an estimate alone: ``max |x - x*| / max |x|``; else negative
    certified_digits: float  #: in the mean over the components
    rounded: int  #: components that are proven to be x* rounded once, by the rules of ties and zeros
    ties: int  #: of these, ties
    zeros: int  #: of these, zeros
    dropped: int  #: of the zeros, those by the rule alone: x*_i is small, and not known to be 0
    undecided: int  #: the others
    first_undecided: list[int]  #: the first ten of them
    bounds: np.ndarray  #: of ``|x_i - x*_i|``, for 'bound'; where x is complex of its real and imaginary parts in turn
    refinements: int  #: corrections that were solved for
    iterations: int  #: of the Krylov method in these


def iterations_in_words(count: int) -> str:
    return f"{count} iteration" if count == 1 else f"{count} iterations"


def largest(residuals: list[float]) -> float:
    """0 where there is none; NaN where one is NaN, which Python's max takes for the largest or not by its place."""
    return float(np.max(residuals, initial=0.0))


def fingerprint(x: np.ndarray) -> str:
    """The first 16 digits of the SHA-256 of the elements as little-endian doubles, of complex ones both parts in turn, column by column."""
    import hashlib  # here: importing it takes a while, and few need it

    elements = "<c16" if np.iscomplexobj(x) else "<f8"
    return hashlib.sha256(np.ravel(x, order="F").astype(elements).tobytes()).hexdigest()[:16]


class Result:
    """What `solve` found.

    Attributes
    ----------
    x : ndarray
        The solution, or the best iterate, or least squares where nothing solves a singular system, where b lies and in an array of the same library. In single precision a sum of two floats, in double.
    status : str
        'converged', 'iteration limit', 'breakdown', 'stagnated', 'non-finite', 'indefinite' (for 'cg' and 'minres' only), 'stopped' (by the
        callback), 'interrupted' (by Ctrl-C, in the ``result`` of the KeyboardInterrupt) or 'singular' (proven so for a guarantee, before any iteration). Of several columns the first one that did not converge.
    converged : bool
        Whether all columns did.
    iterations : int
        Of all attempts; of several columns the largest.
    residual : float
        ``||b - A x|| / ||b||``, recomputed at the end with accurate sums; of several columns the largest, NaN where one is NaN.
    recursive_residual : float
        What the recursion believed; of several columns as `residual`.
    attempts : list of Attempt
        The preconditioners that were tried, and the methods; empty where the preconditioner was given ready-made, or A was
        proven singular before.
    obstacle : str
        What is known to stand in the way, in one sentence, where not all was solved, far smaller rows of A among it; else empty.
    profile : str
        That the choice of preconditioners followed, 'processor' or 'gpu'.
    proofs : list of Proof
        With a guarantee one for each column, else empty; `proof` is the first.
    history : ndarray or None
        With ``history=True`` a structured array: number, recursive_residual, true_residual (negative where it was not computed),
        replaced; of several columns a list of them.
    columns : list of dict
        The same for each column.
    fingerprint : str
        Of the bits of `x`: equal fingerprints, equal solutions.
    """

    def __init__(self, x: np.ndarray, columns: list[dict[str, Any]], attempts: list[Attempt], keeps_history: bool) -> None:
        self.x = x
        self.obstacle = ""
        self.profile = ""
        self.proofs: list[Proof] = []
        self.columns = columns
        self.attempts = attempts
        self.converged = all(c["status"] == "converged" for c in columns)
        self.status = next((c["status"] for c in columns if c["status"] != "converged"), "converged")
        self.iterations = max((c["iterations"] for c in columns), default=0)
        self.residual = largest([c["residual"] for c in columns])
        self.recursive_residual = largest([c["recursive_residual"] for c in columns])
        histories = [np.array(c["history"], dtype=HISTORY_DTYPE) for c in columns]
        self.history = None if not keeps_history else histories[0] if x.ndim == 1 else histories

    @property
    def proof(self) -> Proof | None:
        """That of the first column; None where no guarantee was asked for."""
        return self.proofs[0] if self.proofs else None

    @property
    def fingerprint(self) -> str:
        return fingerprint(host_array(self.x))

    def raise_for_status(self) -> Result:
        """Raises `NotConverged` unless all columns converged and have the proof that was asked for; else returns the result itself."""
        if not self.converged or self._open_proof() is not None:
            raise NotConverged(str(self), self)
        return self

    def _open_proof(self) -> Proof | None:
        """The first one that did not succeed."""
        return next((p for p in self.proofs if p.status != "proven"), None)

    def _ending(self) -> str:
        return "not solved" if self.status == "singular" else f"{self.status} after {iterations_in_words(self.iterations)}"

    def _other_obstacle(self) -> str:
        """The obstacle, unless a proof that failed says the same."""
        proof = self._open_proof()
        return "" if proof is not None and proof.reason == self.obstacle else self.obstacle

    def _said(self, proof: Proof) -> str:
        """What was proven; of several columns with the one that it is about."""
        column = [p is proof for p in self.proofs].index(True)
        return f"{f'proofs[{column}] ' if len(self.proofs) > 1 else ''}{proof.status}: {proof.reason}"

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("status", self._ending()),
            ("true residual", f"{self.residual:.1e}, updated residual {self.recursive_residual:.1e}"),
        ]
        for a in self.attempts:
            said = a.refusal or f"{a.status} after {iterations_in_words(a.iterations)}, residual {a.residual:.1e}"
            rows.append((f"{a.method} {a.preconditioner}" + (" (mixed)" if a.mixed else ""), said))
        for p in [self._open_proof() or self.proof] if self.proofs else []:
            estimate = f" (estimated, not proven: {p.estimated_error:.0e})" if p.estimated_error >= 0 else ""
            dropped = f"; {p.dropped} components that are not known to be 0 became 0 by the rule of zeros" if p.dropped else ""
            rows.append(("proof", f"{self._said(p)}{estimate}{dropped}"))
        if self._other_obstacle():
            rows.append(("obstacle", self.obstacle))
        return [*rows, ("fingerprint", self.fingerprint)]

    def __str__(self) -> str:
        proof = self._open_proof()
        open_proof = f"; {self._said(proof)}" if proof else ""
        why = f"; {self.obstacle}" if self._other_obstacle() else ""
        return f"{self._ending()}, true residual {self.residual:.1e}{open_proof}{why}"

    def __repr__(self) -> str:
        return "\n".join(f"{name:16} {said}" for name, said in self._rows())

    def _repr_html_(self) -> str:
        from html import escape

        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(n)}</th><td style='text-align:left'>{escape(t)}</td></tr>"
            for n, t in self._rows()
        )
        return f"<table>{cells}</table>{self._curve()}"

    def _curve(self) -> str:
        """The history as a small picture; empty without one."""
        history = self.history if isinstance(self.history, np.ndarray) else None
        if history is None or len(history) < 2:
            return ""
        believed = np.log10(np.maximum(history["recursive_residual"], 1e-300))
        drawn = np.isfinite(believed)  # what is Inf or NaN has no place
        seen = (history["true_residual"] >= 0) & (history["true_residual"] < np.inf)
        true = np.log10(np.maximum(history["true_residual"][seen], 1e-300))
        low, high = np.floor(min(believed[drawn].min(initial=0), true.min(initial=0))), np.ceil(believed[drawn].max(initial=0))
        across = 10 + 460 * np.arange(len(history)) / (len(history) - 1)

        def down(values: np.ndarray) -> np.ndarray:
            return 10 + 140 * (high - values) / max(high - low, 1)

        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across[drawn], down(believed[drawn])))
        dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='#c40'/>" for x, y in zip(across[seen], down(true)))
        return (
            "<svg width='480' height='160' role='img' aria-label='residuals'>"
            f"<polyline points='{line}' fill='none' stroke='#06c'/>{dots}</svg>"
            f"<div>line: residual of the recursion; dots: true residual; 1e{high:.0f} to 1e{low:.0f}</div>"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draws the history, which ``history=True`` keeps, by Matplotlib; returns the axes."""
        if self.history is None:
            raise ValueError("there is no history; call solve(..., history=True)")
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if ax is None else ax
        for history in self.history if isinstance(self.history, list) else [self.history]:
            steps = np.arange(len(history))
            seen = history["true_residual"] >= 0
            axes.semilogy(steps, history["recursive_residual"], label="recursion")
            axes.semilogy(steps[seen], history["true_residual"][seen], "o", markersize=3, label="true")
        axes.set_xlabel("iteration")
        axes.set_ylabel("||b - A x|| / ||b||")
        axes.legend()
        return axes
