"""Operations on vectors so long that several threads share them, from Python and from C, beside rational numbers: most terms cancel in pairs,
so that the truth is that of the few that hypothesis draws."""

import ctypes
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import finite, moderate, same, true_dot, true_sum

import samebits as sb

LENGTH = 120_000  # enough for seven threads
HALF = np.random.default_rng(1).standard_normal(LENGTH // 2)
DRAWN = st.lists(finite, min_size=1, max_size=12)
THREADS = st.sampled_from([1, 2, 7])
SEEDS = st.integers(0, 2**32 - 1)
EXACT = 2


def hidden(values, seed):
    """The values among numbers that cancel others far away."""
    half = HALF * 2.0 ** (seed % 600 - 300)
    places = (seed // 600 + 4099 * np.arange(len(values))) % half.size
    half[places] = 0
    x = np.concatenate([half, -half[::-1]])
    x[places] = values
    return x


class FromC:
    """The functions of solver.h that are asked here."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.solver_last_error.restype = ctypes.c_char_p

    def call(self, name, threads, *arguments):
        assert self.library.solver_set_threads(threads) == 0
        status = getattr(self.library, name)(*arguments)
        assert status == 0, self.library.solver_last_error()

    def reduced(self, name, threads, *vectors):
        result = ctypes.c_double()
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in vectors]
        self.call(name, threads, 0, ctypes.c_int64(vectors[0].size), *pointers, EXACT, ctypes.byref(result))
        return result.value


@pytest.fixture(scope="module")
def c():
    path = os.environ.get("SAMEBITS_C_LIBRARY")
    if not path:
        pytest.skip("SAMEBITS_C_LIBRARY names no libsolver.so")
    return FromC(path)


@given(DRAWN, SEEDS, THREADS)
def test_sums(values, seed, threads):
    x = hidden(values, seed)
    assert same(sb.sum(x, threads=threads), true_sum(values))


@given(DRAWN, SEEDS, THREADS)
def test_sums_from_c(c, values, seed, threads):
    x = hidden(values, seed)
    assert same(c.reduced("solver_sum", threads, x), true_sum(values))


@given(st.lists(moderate, min_size=1, max_size=12), SEEDS, THREADS)
def test_dots(values, seed, threads):
    x = hidden(values, seed)
    y = np.full(x.size, 0.75)
    assert same(sb.dot(x, y, threads=threads), true_dot(values, [0.75] * len(values)))


@given(st.lists(moderate, min_size=1, max_size=12), SEEDS, THREADS)
def test_dots_from_c(c, values, seed, threads):
    x = hidden(values, seed)
    y = np.full(x.size, 0.75)
    assert same(c.reduced("solver_dot", threads, x, y), true_dot(values, [0.75] * len(values)))


@given(st.lists(moderate, min_size=1, max_size=12), SEEDS, THREADS)
def test_expansions(values, seed, threads):
    parts = sb.sum_expansion(hidden(values, seed), threads=threads)
    assert sum(map(Fraction, parts), Fraction(0)) == sum(map(Fraction, values), Fraction(0))


@given(DRAWN, SEEDS, THREADS, st.sampled_from(["csr", "packed"]))
def test_a_row_that_threads_share(values, seed, threads, storage):
    """Beside short ones."""
    x = hidden(values, seed)
    n = x.size
    offsets = np.concatenate([[0, n], n + np.arange(1, 2001)]).astype(np.int32)
    columns = np.concatenate([np.arange(n), np.arange(2000)]).astype(np.int32)
    entries = np.concatenate([x, np.full(2000, 3.0)])
    y = sb.Matrix.from_csr((2001, n), offsets, columns, entries, threads=threads, storage=storage) @ np.ones(n)
    assert same(y[0], true_sum(values)) and np.array_equal(y[1:], np.full(2000, 3.0))


@given(st.lists(moderate, min_size=1, max_size=12), SEEDS, THREADS)
def test_norms(values, seed, threads):
    """Of what is drawn among zeros: no neighbour is nearer to the root."""
    x = np.zeros(LENGTH)
    x[(seed + 9001 * np.arange(len(values))) % LENGTH] = values
    square = sum((Fraction(v) ** 2 for v in values), Fraction(0))
    found = sb.norm(x, threads=threads)
    if square == 0:
        assert same(found, 0.0)
        return
    below, above = (Fraction(float(np.nextafter(found, to))) for to in (0.0, np.inf))
    assert ((below + Fraction(found)) / 2) ** 2 <= square <= ((above + Fraction(found)) / 2) ** 2
