import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from oracle import same

import samebits as sb


def poisson(n=30):
    """The five-point stencil on n x n points, with wind."""
    one = sp.diags_array([-1.0, 2.0, -0.5], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(sp.eye_array(n), one) + sp.kron(one, sp.eye_array(n)))


def hard(n=200):
    """So badly scaled and conditioned that no Krylov method without preconditioner does it soon."""
    a = poisson(n)
    return sp.csr_array(sp.diags_array(10.0 ** np.linspace(-6, 6, a.shape[0])) @ a)


def relative_residual(a, b, x):
    return np.linalg.norm(sb.Matrix(a).residual(b, x)) / np.linalg.norm(b)


def test_floats_beside_doubles_are_solved_in_double():
    a, b = poisson(), np.linspace(0, 1, 900)
    single = a.astype("f4")
    for of, right in ((single, b), (single, b * 1j), (single.astype("c8"), b)):
        found = sb.solve(of, right)
        expected = sb.solve(of.astype(np.complex128 if of.dtype.kind == "c" else np.float64), right)
        assert found.x.dtype == expected.x.dtype and (found.x == expected.x).all()
    assert sb.solve(single, b.astype("f4"), rtol=1e-5).x.dtype == np.float64  # the sum of two floats
    assert sb.solve(sb.Matrix(single), np.arange(900)).x.dtype == np.float64


def held_by_a_penalty(m=50, penalty=2.0**40):
    one = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(m, m))
    a = sp.kron(one, sp.eye_array(m)) + sp.kron(sp.eye_array(m), one)
    known = np.arange(m * m) % 9 - 4.0  # so that b is exact
    a = sp.csr_array(a + sp.diags_array(np.where(np.arange(m * m) < m, penalty, 0)))
    return a, a @ known, known


def test_a_penalty_does_not_hide_the_rest():
    a, b, known = held_by_a_penalty()
    r = sb.solve(a, b)
    # ||S r|| <= 1e-10 ||S b||, and the inverse of S A is 51^2 / 2 at most (row_equilibration_test.cpp)
    assert r.converged and abs(r.x - known).max() <= 51**2 / 2 * 1e-10 * 8 * 50
    with pytest.warns(sb.ConvergenceWarning, match="the small ones are not solved"):
        few = sb.solve(a, b, maxiter=4)
    assert few.converged and few.residual <= 1e-10
    with pytest.warns(sb.ConvergenceWarning, match="the small ones are not solved"):
        assert sb.solve(a, b, method="cg").converged
    for A, right in ((a, b), (a.astype(complex), b + 0j)):
        with pytest.warns(sb.ConvergenceWarning, match="cg: .*the small ones are not solved") as told:
            assert sb.cg(A, right, rtol=1e-8)[1] == 0
        assert told[0].filename == __file__
    single = sb.solve(a.astype(np.float32), b.astype(np.float32), rtol=1e-6)
    assert single.converged and abs(single.x - known).max() <= 51**2 / 2 * 1e-6 * 8 * 50
    bounded = sb.solve(a, b, guarantee="bound")
    assert bounded.proof.status == "proven" and abs(bounded.x - known).max() <= bounded.proof.bounds.max() <= 1e-3


def test_what_grows_is_not_singular():
    n, c = 190, 1.25
    a = sp.diags_array([1.0, -c], offsets=[0, -1], shape=(n, n))
    with pytest.warns(sb.ConvergenceWarning, match="to round x to double precision changes b - A x"):
        r = sb.solve(a, np.ones(n))
    expected = [(c ** (i + 1) - 1) / (c - 1) for i in range(n)]
    assert r.status == "stagnated" and np.allclose(r.x, expected, rtol=2 * n * 2.0**-52, atol=0)


def test_solves_and_tells():
    a, b = poisson(), np.ones(900)
    r = sb.solve(a, b, history=True)
    assert r.converged and r.status == "converged" and r.raise_for_status() is r
    assert relative_residual(a, b, r.x) <= 1e-10
    assert r.residual <= 1e-10 and r.iterations >= 1 and len(r.history) >= r.iterations
    assert r.attempts and r.attempts[-1].status == "converged"
    assert "converged" in repr(r) and "<table>" in r._repr_html_() and len(r.fingerprint) == 16


@pytest.mark.parametrize("preconditioner", ["auto", "none", "jacobi", "ilu0", "isai", "ilut", "klu", "amg", None])
def test_every_preconditioner(preconditioner):
    a, b = poisson(), np.ones(900)
    assert relative_residual(a, b, sb.solve(a, b, preconditioner=preconditioner).x) <= 1e-10


def test_saddle_points():
    """The heat flow through n x n cells: flows with their resistances, then temperatures."""
    n = 60
    step = sp.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(n - 1, n))
    gradient = sp.vstack([sp.kron(sp.eye_array(n), step), sp.kron(step, sp.eye_array(n))])[:, :-1]
    resistances = sp.diags_array(1.0 + np.arange(gradient.shape[0]) % 7)
    a = sp.csr_array(sp.block_array([[resistances, gradient], [gradient.T, None]]))
    b = np.ones(a.shape[0])
    for preconditioner in ("auto", "schur"):
        r = sb.solve(a, b, preconditioner=preconditioner)
        assert relative_residual(a, b, r.x) <= 1e-10
    assert r.attempts[0].method == "idr"
    p = sb.Preconditioner(a, "schur")
    assert sb.solve(a, b, preconditioner=p, method="gmres").converged
    with pytest.raises(sb.InvalidArgument, match="no saddle point"):
        sb.Preconditioner(poisson(), "schur")


@pytest.mark.parametrize("precision", ["double", "single", "mixed"])
def test_every_precision(precision):
    a, b = poisson(), np.ones(900)
    r = sb.solve(a, b, precision=precision)
    assert r.converged and r.x.dtype == np.float64
    assert relative_residual(a, b, r.x) <= 2e-10


def test_bits_do_not_depend_on_threads():
    a, b = poisson(80), np.random.default_rng(1).standard_normal(6400)
    prints = {sb.solve(a, b, threads=threads, preconditioner="ilu0").fingerprint for threads in (1, 2, 7)}
    assert len(prints) == 1


def test_columns_are_solved_as_one_by_one():
    a, b = poisson(), np.random.default_rng(1).standard_normal((900, 3))
    together = sb.solve(a, b, preconditioner="jacobi")
    for j in range(3):
        assert same(together.x[:, j], sb.solve(a, b[:, j], preconditioner="jacobi").x)
    assert len(together.columns) == 3


def test_guess_and_tolerances():
    a, b = poisson(), np.ones(900)
    x = sb.solve(a, b).x
    assert sb.solve(a, b, x0=x, rtol=1e-8).iterations == 0
    assert sb.solve(a, b, rtol=0.0, atol=1e-3).residual <= 1e-3 / np.linalg.norm(b)
    assert sb.solve(a, b, rtol=0.0, atol=np.linalg.norm(b)).iterations == 0
    assert sb.solve(a, np.zeros(900), atol=1.0).x.any() == False  # noqa: E712
    two = sb.solve(a, np.stack([b, 1e6 * b], axis=1), rtol=0.0, atol=1e-3)
    for j, scale in enumerate([1, 1e6]):  # each column by itself
        assert two.columns[j]["residual"] * scale * np.linalg.norm(b) <= 1e-3
    for wrong in ({"rtol": -1.0}, {"rtol": np.nan}, {"rtol": 0.0}, {"atol": -1.0}, {"atol": None}):
        with pytest.raises(sb.InvalidArgument, match="tol"):
            sb.solve(a, b, **wrong)


def test_what_does_not_converge_warns():
    with pytest.warns(sb.ConvergenceWarning, match="iteration limit"):
        r = sb.solve(poisson(), np.ones(900), preconditioner="none", maxiter=2)
    assert not r.converged and r.status == "iteration limit"
    with pytest.raises(sb.NotConverged) as caught:
        r.raise_for_status()
    assert caught.value.result is r
    with pytest.warns(sb.ConvergenceWarning, match="non-finite"):
        assert sb.solve(np.eye(2), [1.0, np.nan]).status == "non-finite"


def test_a_warning_that_is_made_an_error_has_the_result():
    a, b = poisson(), np.ones(900)
    with warnings.catch_warnings(), pytest.raises(sb.ConvergenceWarning, match="solve: iteration limit") as caught:
        warnings.simplefilter("error")
        sb.solve(a, b, preconditioner="none", maxiter=2)
    back = pickle.loads(pickle.dumps(caught.value))
    for warning in (caught.value, back):
        assert warning.result.iterations == 2 and relative_residual(a, b, warning.result.x) == pytest.approx(warning.result.residual)
    assert str(back) == str(caught.value)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_no_column_hides_a_nan(column):
    """Result.residual, "of several columns the largest, NaN where one is NaN"."""
    b = np.ones((3, 3))
    b[0, column] = np.nan
    with pytest.warns(sb.ConvergenceWarning, match="non-finite .* true residual nan"):
        r = sb.solve(np.eye(3) * 2, b)
    assert np.isnan(r.residual) and np.isnan(r.recursive_residual) and "true residual    nan, updated residual nan" in repr(r)
    assert [c["status"] for j, c in enumerate(r.columns) if j != column] == ["converged"] * 2
    assert sb.solve(np.eye(3), np.ones((3, 0))).residual == 0


def test_the_picture_leaves_out_what_is_not_finite():
    columns = [{"status": "non-finite", "iterations": 4, "residual": np.nan, "recursive_residual": np.nan}]
    columns[0]["history"] = [(0, 1.0, 1.0, False), (1, 0.1, -1.0, False), (2, np.inf, np.inf, False), (3, np.nan, np.nan, False)]
    picture = sb.Result(np.ones(2), columns, [], True)._repr_html_().partition("<svg")[2]
    assert picture.count("<circle") == 1 and "nan" not in picture and "inf" not in picture and "points='10.0,10.0 163.3,150.0'" in picture


def test_callback_stops_and_raises():
    a, b, seen = poisson(), np.ones(900), []

    def three(step):
        seen.append(step)
        return step.number >= 3

    r = sb.solve(a, b, preconditioner="none", callback=three)
    assert r.status == "stopped" and r.iterations == 3 and seen[0].number == 0 and seen[-1].number == 3
    with pytest.raises(sb.InvalidArgument, match="while the callback runs"):
        seen[0].x

    error = KeyError("mine")

    def fail(step):
        raise error

    with pytest.raises(KeyError) as caught:
        sb.solve(a, b, callback=fail)
    assert caught.value is error


@pytest.mark.parametrize("precision", ["double", "single", "mixed"])
def test_callback_sees_the_iterate(precision):
    a, b, seen = poisson(), np.ones(900), []

    def look(step):
        seen.append(step.x)
        assert np.isclose(relative_residual(a, b, seen[-1]), step.recursive_residual, rtol=1e-3, atol=1e-6)

    r = sb.solve(a, b, preconditioner="jacobi", precision=precision, callback=look)
    assert same(seen[-1], r.x) and len({x.ctypes.data for x in seen}) == len(seen)
    assert same(r.x, sb.solve(a, b, preconditioner="jacobi", precision=precision).x)  # looking changes nothing


@pytest.mark.parametrize("method", [sb.cg, sb.bicgstab])
def test_callback_in_scipys_manner(method):
    a, seen = poisson() + poisson().T, []
    x, info = method(a, np.ones(900), M=None, rtol=1e-8, callback=lambda xk: seen.append(xk) or "a true value is no wish to stop")
    assert info == 0 and same(seen[-1], x) and len(seen) == method(a, np.ones(900), M=None, rtol=1e-8).result.iterations
    assert seen[0].shape == (900,) and np.any(seen[0] != seen[1])


def test_methods_and_profiles():
    symmetric, b = poisson() + poisson().T, np.ones(900)
    assert sb.solve(symmetric, b, preconditioner="jacobi").attempts[0].method == "cg"
    assert sb.solve(poisson(), b, preconditioner="jacobi").attempts[0].method == "bicgstab"
    by_cg = sb.solve(symmetric, b, preconditioner="jacobi", method="cg")
    assert same(by_cg.x, sb.solve(symmetric, b, preconditioner=sb.Preconditioner(symmetric, "jacobi"), method="cg").x)
    assert same(by_cg.x, sb.cg(symmetric, b, M="jacobi", rtol=1e-10).x)
    indefinite = np.diag([1.0, -1.0])
    with pytest.warns(sb.ConvergenceWarning, match="indefinite"):
        assert sb.solve(indefinite, [1.0, 1.0], preconditioner="none", method="cg").status == "indefinite"
    assert sb.cg(indefinite, [1.0, 1.0], M=None).info < 0
    for profile in ("processor", "gpu"):
        assert sb.solve(symmetric, b, profile=profile).profile == profile


def test_says_what_stands_in_the_way():
    with pytest.warns(sb.ConvergenceWarning, match="the first is 2"):
        r = sb.solve(sp.csr_array([[1.0, 0.0], [0.0, 0.0]]), [1.0, 1.0])
    assert "the first is 2" in r.obstacle and "obstacle" in repr(r)
    assert sb.solve(np.eye(2), [1.0, 1.0]).obstacle == ""


def test_bits_do_not_depend_on_storage():
    a, b = poisson(80), np.random.default_rng(1).standard_normal(6400)
    found = {storage: sb.Matrix(a, storage=storage) for storage in ("csr", "packed")}
    assert [m.storage for m in found.values()] == ["csr", "packed"] and sb.Matrix(np.eye(2)).storage == "dense"
    assert len({sb.solve(m, b, preconditioner="jacobi").fingerprint for m in found.values()}) == 1
    assert sb.Matrix(a, expected_products=10**6).storage == "packed" and sb.Matrix(a).storage == "csr"
    assert pickle.loads(pickle.dumps(found["packed"])).storage == "packed"
    assert "packed" in found["packed"].describe()
    with pytest.raises(sb.InvalidArgument, match="tape"):
        sb.Matrix(a, storage="tape")


def test_own_preconditioners():
    a, b = poisson(), np.ones(900)
    diagonal = a.diagonal()
    mine = sb.Preconditioner.from_function(lambda r: r / diagonal, 900)
    theirs = sb.Preconditioner(a, "jacobi")
    assert same(sb.solve(a, b, preconditioner=mine).x, sb.solve(a, b, preconditioner=theirs).x)
    error = RuntimeError("mine")

    def fail(r):
        raise error

    with pytest.raises(RuntimeError) as caught:
        sb.solve(a, b, preconditioner=sb.Preconditioner.from_function(fail, 900))
    assert caught.value is error
    with pytest.raises(sb.DimensionMismatch, match="rows"):
        sb.solve(a, b, preconditioner=sb.Preconditioner.from_function(fail, 3))
    klu = sb.Preconditioner(a, "klu")
    assert klu.factor_entries > a.nnz and klu.factor_hash == sb.Preconditioner(a, "klu", accuracy="exact").factor_hash


def test_factors_within_blocks():
    a, b = poisson(), np.ones(900)
    every_other = np.arange(900) % 2
    factors = sb.Preconditioner(a, "ilu0", block_of_row=10**12 * every_other)
    r, z = np.random.default_rng(1).standard_normal(900), np.zeros(900)
    for block in (0, 1):
        rows = np.flatnonzero(every_other == block)
        z[rows] = sb.Preconditioner(a[rows][:, rows], "ilu0") @ r[rows]
    assert same(factors @ r, z)
    assert sb.solve(a, b, preconditioner=factors).converged
    one = sb.Preconditioner(a, "ilu0", block_of_row=[7] * 900)
    assert one.factor_hash == sb.Preconditioner(a, "ilu0").factor_hash != factors.factor_hash


def test_bicgstab_as_scipys():
    a, b = poisson(), np.ones(900)
    x, info = sb.bicgstab(a, b)
    assert info == 0 and relative_residual(a, b, x) <= 1e-5
    for m in (None, "ilu0", sb.Preconditioner(a, "ilut"), sp.diags_array(1 / a.diagonal()), np.diag(1 / a.diagonal())):
        assert sb.bicgstab(a, b, M=m, rtol=1e-8).info == 0
    factors = spla.splu(sp.csc_array(a))
    operator = spla.LinearOperator(a.shape, factors.solve)
    assert sb.bicgstab(a, b, M=operator, rtol=1e-8).result.iterations <= 2
    assert sb.bicgstab(a, b[:, None])[1] == 0
    assert sb.bicgstab(a, b, M=None, maxiter=1)[1] == 1
    with pytest.raises(sb.NotSupported, match="LinearOperator"):
        sb.bicgstab(operator, b, M="jacobi")
    assert sb.bicgstab(spla.aslinearoperator(a), b)[1] == 0  # one that is a matrix after all
    assert same(sb.solve(spla.aslinearoperator(a), b).x, sb.solve(a, b).x)
    assert same(sb.lstsq(spla.aslinearoperator(a), b).x, sb.lstsq(a, b).x)
    assert same(sb.bicgstab(a.astype(np.float32), b)[0], sb.bicgstab(a.astype(np.float32).astype(np.float64), b)[0])
    mine = spla.bicgstab(a, b, rtol=1e-8)[0]
    assert np.allclose(mine, sb.bicgstab(a, b, rtol=1e-8)[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"preconditioner": "magic"}, sb.InvalidArgument, "magic"),
        ({"method": "qmr"}, sb.InvalidArgument, "qmr"),
        ({"profile": "abacus"}, sb.InvalidArgument, "abacus"),
        ({"precision": "half"}, sb.InvalidArgument, "half"),
        ({"maxiter": -1}, sb.InvalidArgument, "maxiter"),
        ({"x0": np.ones(3)}, sb.DimensionMismatch, "x0"),
    ],
)
def test_refuses_with_reasons(options, error, words):
    with pytest.raises(error, match=words):
        sb.solve(poisson(), np.ones(900), **options)


def test_refuses_shapes():
    with pytest.raises(sb.DimensionMismatch, match="rows"):
        sb.solve(poisson(), np.ones(899))
    with pytest.raises(sb.InvalidArgument, match="square"):
        sb.solve(np.ones((2, 3)), np.ones(2))


@pytest.fixture
def answers_ctrl_c():
    """Processes that a shell starts in the background ignore it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.usefixtures("answers_ctrl_c")
def test_ctrl_c_ends_soon_and_leaves_x():
    a, b, sent = hard(), np.ones(40_000), []

    def send():
        time.sleep(0.5)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    with pytest.raises(KeyboardInterrupt) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while True:
            sb.solve(a, b, preconditioner="none", rtol=1e-15, maxiter=10**9, threads=1)
    assert time.perf_counter() - sent[0] < 0.1 + 0.4  # the second part for machines that do other things, too
    result = getattr(caught.value, "result", None)
    assert result is None or (result.x.shape == b.shape and result.status == "interrupted")


@pytest.mark.usefixtures("answers_ctrl_c")
@pytest.mark.parametrize("factor", [1.0, 1j])
def test_ctrl_c_leaves_what_lsmr_found(factor):
    a, b = sb.Matrix(hard() * factor), np.ones(40_000)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        sb.lsmr(a, b, atol=1e-15, btol=0, maxiter=10**9, threads=1)
    found = caught.value.result
    assert found.istop == 7 and found.itn > 0 and found.x.dtype == a.dtype
    assert np.linalg.norm(a.residual(b, found.x)) == pytest.approx(found.normr)


@pytest.mark.usefixtures("answers_ctrl_c")
def test_ctrl_c_leaves_what_lstsq_found():
    a, b = sb.Matrix(hard()), np.ones(40_000)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        while True:
            sb.lstsq(a, b, rtol=1e-15, memory_limit=1, maxiter=10**9, threads=1)
    found = getattr(caught.value, "result", None)
    assert found is None or (found.status == "interrupted" and found.x.shape == b.shape)


def test_other_threads_run_meanwhile():
    a, b, turns, stop = hard(), np.ones(40_000), [], threading.Event()

    def count():
        while not stop.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(turns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sb.solve(a, b, preconditioner="none", maxiter=100, threads=1)
    during = len(turns) - before
    stop.set()
    thread.join()
    assert during >= 3


def test_plot():
    r = sb.solve(poisson(), np.ones(900), history=True, preconditioner="none")
    assert "<svg" in r._repr_html_()
    with pytest.raises(ValueError, match="history"):
        sb.solve(poisson(), np.ones(900)).plot()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert r.plot().get_xlabel() == "iteration"


def test_what_the_memory_limit_forbids_is_passed_over():
    a = sb.generate("convection_diffusion_30")
    b = a @ np.ones(a.shape[0])
    free = sb.solve(a, b, preconditioner="klu")
    assert free.converged and free.attempts[0].preconditioner == "klu"
    with pytest.raises(sb.ResourceLimit, match="klu"):
        sb.solve(a, b, preconditioner="klu", memory_limit=1)
    hard = sb.generate("dc2_like")
    right = hard @ np.ones(hard.shape[0])
    refused = [attempt for attempt in sb.solve(hard, right, memory_limit=1).attempts if attempt.refusal]
    assert refused and all("limit" in attempt.refusal for attempt in refused)
    assert sb.certify(a, memory_limit=1).status in ("proven", "could not prove")


def test_scipys_names_of_a_are_taken():
    a, b = [[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]
    for solve in (sb.bicgstab, sb.cg, sb.gmres, sb.minres):
        assert solve(A=a, b=b)[1] == 0
    assert np.allclose(sb.lsmr(A=a, b=b, atol=1e-12, btol=1e-12).x, [1 / 11, 7 / 11])


def test_least_squares_where_nothing_solves_a_singular_system():
    a, b = np.array([[1.0, 2, 0, 0], [2, 4, 0, 0], [0, 0, 0, 0], [0, 0, 0, 5]]), np.array([1.0, 3, 1, 1])
    with pytest.warns(sb.ConvergenceWarning, match="no x that solves this system was found, and to this precision this one is its least squares"):
        r = sb.solve(a, b)
    assert r.x == pytest.approx([0.28, 0.56, 0, 0.2], abs=1e-9) and r.status == "stagnated"
    assert r.attempts[-1].method == "lsmr" and r.residual == pytest.approx(np.linalg.norm(b - a @ r.x) / np.linalg.norm(b))
