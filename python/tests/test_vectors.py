import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import any_double, finite, moderate, same, true_dot, true_sum

import samebits as sb

pairs = st.lists(st.tuples(finite, finite), max_size=60).map(lambda p: ([a for a, _ in p], [b for _, b in p]))


@given(st.lists(any_double, max_size=80))
def test_sum_is_the_true_one(x):
    assert same(sb.sum(x), true_sum(x))


@given(st.lists(moderate, max_size=80))
def test_sum_is_fsum(x):
    assert same(sb.sum(x), math.fsum(x) + 0.0)


@given(st.lists(st.tuples(any_double, any_double), max_size=60))
def test_dot_is_the_true_one(p):
    x, y = [a for a, _ in p], [b for _, b in p]
    assert same(sb.dot(x, y), true_dot(x, y))
    assert same(sb.vdot(x, y), true_dot(x, y))


@given(st.lists(finite, max_size=60))
def test_expansion_is_the_sum_itself(x):
    true = sum(map(Fraction, x), Fraction(0))
    if math.isinf(true_sum(x)):
        with pytest.raises(sb.InvalidArgument, match="finite"):
            sb.sum_expansion(x)
    else:
        assert sum(map(Fraction, sb.sum_expansion(x).tolist()), Fraction(0)) == true


@given(st.lists(moderate.filter(lambda a: a == 0 or abs(a) > 1e-140), max_size=60))
def test_dot_expansion_is_the_dot_product_itself(x):
    components = sb.dot_expansion(x, x)
    assert sum(map(Fraction, components.tolist()), Fraction(0)) == sum((Fraction(a) ** 2 for a in x), Fraction(0))


@given(st.lists(finite, max_size=60))
def test_norm_is_rounded_once(x):
    square = sum((Fraction(a) ** 2 for a in x), Fraction(0))
    found = sb.norm(x)
    if math.isinf(found):
        assert square >= (Fraction(np.finfo(float).max) + Fraction(2) ** 970) ** 2
        return
    below, above = Fraction(math.nextafter(found, 0)), Fraction(math.nextafter(found, math.inf)) if found < 1e308 else None
    middle = (Fraction(found) + below) / 2
    assert middle**2 <= square
    assert above is None or math.isinf(float(above)) or square <= ((Fraction(found) + above) / 2) ** 2


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_bits_do_not_depend_on_threads(threads):
    rng = np.random.default_rng(5)
    x = rng.standard_normal(200_001) * 10.0 ** rng.integers(-20, 20, 200_001)
    y = rng.standard_normal(200_001)
    assert same(sb.sum(x, threads=threads), math.fsum(x))
    assert same(sb.dot(x, y, threads=threads), sb.dot(x, y, threads=1))
    with sb.threads(threads):
        assert same(sb.norm(x), sb.norm(x, threads=1))


@pytest.mark.parametrize("accuracy", ["fast", "compensated", "exact"])
def test_floats_are_summed_as_floats(accuracy):
    x = np.full(1000, 0.1, np.float32)
    true = Fraction(float(x[0])) * 1000
    assert abs(Fraction(sb.sum(x, accuracy=accuracy)) - true) <= (1 if accuracy == "exact" else 1000) * true * Fraction(2) ** -24


def test_modes_keep_their_bounds():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(5000), rng.standard_normal(5000)
    true = sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist())), Fraction(0))
    size = sum((abs(Fraction(a) * Fraction(b)) for a, b in zip(x.tolist(), y.tolist())), Fraction(0))
    u = Fraction(1, 2**53)
    gamma = 5000 * u / (1 - 5000 * u)
    assert abs(Fraction(sb.dot(x, y, accuracy="fast")) - true) <= gamma * size
    h = 1024 * u / (1 - 1024 * u)
    assert abs(Fraction(sb.dot(x, y, accuracy="compensated")) - true) <= u * abs(true) + h * h * size


def test_takes_what_numpy_takes():
    assert sb.sum([1, 2, 3]) == 6
    assert sb.sum(np.arange(6).reshape(2, 3)) == 15
    assert sb.sum(np.ones((4, 4))[::2, ::2]) == 4
    assert sb.sum(np.array([True, False])) == 1
    assert sb.sum(np.array([1.0, 2.0**-24], np.float16)) == 1 + 2.0**-24 and sb.sum_expansion(np.float16([0.5])).dtype == float
    assert sb.vdot(np.float16([1.0, 2.0**-12]), np.float16([1.0, 2.0**-12])) == 1 + 2.0**-24
    assert sb.sum(np.array([1.5], ">f8")) == 1.5
    assert sb.sum([]) == 0
    assert sb.sum(3.0) == 3
    read_only = np.ones(3)
    read_only.flags.writeable = False
    assert sb.sum(read_only) == 3
    assert sb.dot(np.ones(2, np.float32), np.full(2, 0.1)) == 0.2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sb.sum_expansion(np.array([1j], dtype=np.clongdouble)), sb.InvalidArgument, "expected complex128"),
        (lambda: sb.sum(np.array([-(2**53) - 1])), sb.InvalidArgument, "2\\^53"),
        (lambda: sb.sum(["a"]), sb.InvalidArgument, "dtype"),
        (lambda: sb.sum([1.0], accuracy="best"), sb.InvalidArgument, "'best'"),
        (lambda: sb.sum([1.0], threads=-1), sb.InvalidArgument, "threads is -1"),
        (lambda: sb.sum([1.0], threads=1.5), sb.InvalidArgument, "threads is 1.5"),
        (lambda: sb.dot([1.0], [1.0, 2.0]), sb.DimensionMismatch, "shape"),
        (lambda: sb.dot([[1.0]], [[1.0]]), sb.InvalidArgument, "vectors"),
        (lambda: sb.sum_expansion([math.inf]), sb.InvalidArgument, "finite"),
        (lambda: sb.sum(np.array([1], dtype=np.longdouble)), sb.InvalidArgument, "longdouble|float128"),
    ],
)
def test_refuses_with_reasons(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_errors_are_pythons_kinds():
    assert issubclass(sb.InvalidArgument, ValueError)
    assert issubclass(sb.DimensionMismatch, sb.InvalidArgument)
    assert issubclass(sb.ResourceLimit, MemoryError)
    assert issubclass(sb.NotSupported, NotImplementedError)
    assert issubclass(sb.FileError, OSError)
