"""What is true, by rational numbers: independent of the library and of NumPy's arithmetic."""

from fractions import Fraction
from math import inf, isinf, isnan, nan

import numpy as np
from hypothesis import strategies as st

finite = st.floats(allow_nan=False, allow_infinity=False)
any_double = st.floats()
moderate = st.one_of(
    st.floats(-1e9, 1e9),
    st.sampled_from([1e16, -1e16, 1.0, -1.0, 2.0**53, -(2.0**53), 2.0**-53, 0.1, -0.1, 0.0]),
)


def rounded(value: Fraction) -> float:
    """The nearest double, ties to even; beyond the largest one an infinity. A zero is +0."""
    try:
        return float(value) + 0.0
    except OverflowError:
        return inf if value > 0 else -inf


def special(terms) -> float | None:
    """What terms with Inf and NaN add up to; None where all are finite."""
    terms = list(terms)
    if any(isnan(t) for t in terms) or {inf, -inf} <= set(terms):
        return nan
    return next((t for t in terms if isinf(t)), None)


def product_of(x: float, y: float) -> float:
    """Inf or NaN where one of them is, else 0: what counts is whether the product is a number."""
    if isnan(x) or isnan(y) or (isinf(x) and y == 0) or (isinf(y) and x == 0):
        return nan
    return (inf if (x > 0) == (y > 0) else -inf) if isinf(x) or isinf(y) else 0.0


def true_sum(x) -> float:
    found = special(x)
    return rounded(sum(map(Fraction, x), Fraction(0))) if found is None else found


def true_dot(x, y, plus=0.0) -> float:
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    found = special([product_of(a, b) for a, b in pairs] + [float(plus)])
    if found is not None:
        return found
    return rounded(sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(float(plus))))


def same(seen, expected) -> bool:
    """Equal bits, and any NaN for a NaN."""
    seen, expected = np.asarray(seen), np.asarray(expected)
    nans = np.isnan(seen) & np.isnan(expected)
    return bool(np.all(nans | ((seen == expected) & (np.signbit(seen) == np.signbit(expected)))))
