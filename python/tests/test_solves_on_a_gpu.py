"""The same bits from arrays of NumPy, CuPy and PyTorch, on the processor and on a CUDA device, in solves and least squares.

Skipped where there is no device, or no CuPy or PyTorch that can use it."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from on_a_gpu import cupy, matrix, torch
from oracle import same

import samebits as sb


@pytest.mark.parametrize("kind", ["none", "jacobi", "ilu0", "isai", "ilut", "klu", "amg"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_preconditioners_are_applied_there(library, kind, dtype):
    there, here, array = library
    a, r = matrix(dtype=dtype)
    p = sb.Preconditioner(a, kind)
    for vector in (r, r[::-1].copy()):
        z = p @ there(vector)
        assert isinstance(z, array) and same(here(z), p @ vector)


def test_functions_as_preconditioners_see_the_host(library):
    there, here, _ = library
    p = sb.Preconditioner.from_function(lambda r: r / 3, rows=4)
    assert same(here(p @ there(np.arange(4.0))), np.arange(4.0) / 3)


def test_minres_shifts_a_matrix_of_the_host(library):
    there, here, _ = library
    real, b = matrix()
    a = sp.csr_array(real + real.T)
    x, info = sb.minres(a, there(b), shift=1.5, M=None, rtol=1e-9)
    expected, _ = sb.minres(a, b, shift=1.5, M=None, rtol=1e-9)
    assert info == 0 and same(here(x), expected)


@pytest.mark.parametrize("kind", ["none", "jacobi", "ilu0", "isai", "ilut", "klu", "auto"])
@pytest.mark.parametrize("precision", ["double", "single", "mixed"])
def test_solves(library, kind, precision):
    there, here, array = library
    a, b = matrix()
    options = {"preconditioner": kind, "precision": precision, "rtol": 1e-12}
    expected = sb.solve(a, b, device="cpu", **options)
    found = sb.solve(a, there(b), **options)
    assert isinstance(found.x, array) and found.fingerprint == expected.fingerprint
    assert (found.status, found.iterations, found.residual) == (expected.status, expected.iterations, expected.residual)


def test_solves_of_several_columns_from_a_guess(library):
    there, here, _ = library
    a, b = matrix()
    columns = np.stack([b, 0 * b, b[::-1]], axis=1)
    guess = columns / 9
    for options in ({"method": "bicgstab"}, {"atol": 1e-3}, {"maxiter": 2}):
        with pytest.warns(sb.ConvergenceWarning) if "maxiter" in options else nullcontext():
            expected = sb.solve(a, columns, x0=guess, device="cpu", **options)
            found = sb.solve(a, there(columns), x0=there(guess), **options)
        assert tuple(found.x.shape) == columns.shape and found.fingerprint == expected.fingerprint
        assert same(here(found.x), expected.x)


def test_least_squares_have_the_bits_of_the_processor(library):
    """With factors, without, damped, dense and complex."""
    there, here, array = library
    rng = np.random.default_rng(5)
    grid = sp.kron(sp.eye_array(40), sp.diags_array([1.0, -1.0], offsets=[0, -1], shape=(41, 40)), format="csr") * 0.7
    b = rng.standard_normal((grid.shape[0], 2))
    for a in (grid, grid * (1 + 0.5j), rng.standard_normal((grid.shape[0], 7))):
        found, expected = sb.lstsq(a, there(b)), sb.lstsq(a, b, device="cpu")
        assert isinstance(found.x, array) and here(found.x).tobytes() == expected.x.tobytes() and found.fingerprint == expected.fingerprint
        assert found.converged and found.columns == expected.columns
        again = sb.lstsq(a, b[:, 0], x0=there(expected.x[:, 1]))
        assert again.fingerprint == sb.lstsq(a, b[:, 0], x0=expected.x[:, 1], device="cpu").fingerprint
        assert sb.lstsq(sb.Matrix(a, device="cuda"), b, device="cpu").fingerprint == expected.fingerprint
        for damp in (0.0, 0.1):
            found, expected = (sb.lsmr(a, right, damp=damp, maxiter=30, device=d) for right, d in ((there(b[:, 0]), None), (b[:, 0], "cpu")))
            assert isinstance(found.x, array) and here(found.x).tobytes() == expected.x.tobytes() and found[1:6] == expected[1:6]


def test_hard_systems_go_from_attempt_to_attempt(library):
    """With copies of iterates, and from the initial guess again."""
    there, _, _ = library
    a = sb.generate("dc2_like").to_scipy()[:4000, :4000] + sp.eye_array(4000) * 1e-3
    b = np.ones(4000)
    expected = sb.solve(a, b, device="cpu", rtol=1e-13)
    found = sb.solve(a, there(b), rtol=1e-13)
    assert found.fingerprint == expected.fingerprint and found.status == expected.status
    assert [attempt[:2] for attempt in found.attempts] == [attempt[:2] for attempt in expected.attempts]


def test_in_scipys_manner(library):
    there, here, array = library
    a, b = matrix()
    spd = sp.csr_array(a @ a.T)
    for solve, of in ((sb.bicgstab, a), (sb.cg, spd)):
        x, info = solve(of, b, M="jacobi", device="cpu")
        y, info_there = solve(of, there(b), M="jacobi", x0=there(0 * b))
        assert isinstance(y, array) and info == info_there == 0 and same(here(y), x)
        m = sb.Matrix(of, device="cuda")
        z, _ = solve(m, there(b), M=sb.Preconditioner(m, "jacobi"))
        assert same(here(z), x)
    seen = []
    sb.bicgstab(a, there(b), M=None, callback=seen.append)
    assert all(isinstance(x, np.ndarray) for x in seen) and len(seen) > 1


METHODS = [sb.bicgstab, sb.cg, sb.gmres, sb.minres, sb.idr, sb.bicgstab2, sb.cocg]


class Operator:
    """What is needed of an operator: a shape, a dtype, and products."""

    def __init__(self, a, matvec, dtype=np.float64):
        self.shape, self.dtype, self.matvec = a.shape, dtype, matvec


def operator(kind, a, matvec, dtype=np.float64):
    """Of CuPy where the arrays are CuPy's; PyTorch has none."""
    if not kind.__module__.startswith("cupy"):
        return Operator(a, matvec, getattr(torch(), np.dtype(dtype).name))
    from cupyx.scipy.sparse.linalg import LinearOperator

    return LinearOperator(a.shape, matvec=matvec, dtype=dtype)


def definite(n=40):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)) + sp.eye_array(n * n) * 0.01


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_operators_have_the_bits_of_the_processor(library, method, dtype):
    """Where their products have, as those of a Matrix; with an M of the same kind, and with one of the library."""
    there, here, array = library
    a = sp.csr_array(definite().astype(dtype))
    b = np.cos(np.arange(float(a.shape[0]))).astype(dtype)
    inverse = sp.csr_array(sp.diags_array((0.2 + 0.1 * (np.arange(a.shape[0]) % 3)).astype(dtype)))
    on_host, on_device = sb.Matrix(a, device="cpu"), sb.Matrix(a, device="cuda")
    m_on_host, m_on_device = sb.Matrix(inverse, device="cpu"), sb.Matrix(inverse, device="cuda")
    a_here, a_there = Operator(a, lambda x: on_host @ x, dtype), operator(array, a, lambda x: on_device @ x, dtype)
    m_here, m_there = Operator(a, lambda r: m_on_host @ r, dtype), operator(array, a, lambda r: m_on_device @ r, dtype)
    jacobi = sb.Preconditioner(a, "jacobi")
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    for left, right in ((None, None), (m_here, m_there), (jacobi, jacobi)):
        x, info = method(a_here, b, M=left, rtol=rtol)
        y, info_there = method(a_there, there(b), M=right, rtol=rtol)
        assert info == info_there == 0
        assert isinstance(y, array) and y.dtype == there(b).dtype and same(here(y), x)
        z, _ = method(a_there, there(b.reshape(-1, 1)), M=right, rtol=rtol, x0=there(b / 2), device="cuda")
        assert same(here(z), method(a_here, b, M=left, rtol=rtol, x0=b / 2)[0])
        started, _ = method(a_there, there(b), M=right, rtol=rtol, x0="Mb")
        assert same(here(started), method(a_here, b, M=left, rtol=rtol, x0="Mb")[0])


@pytest.mark.parametrize("method", METHODS)
def test_complex_operators_have_the_bits_of_the_processor(library, method):
    there, here, array = library
    a = definite(12) + 0j
    sign = 1 if method is sb.cocg else -1  # its own transpose, or Hermitian
    a = sp.csr_array(a + sp.diags_array([0.05j, sign * 0.05j], offsets=[-1, 1], shape=a.shape))
    b = np.exp(1j * np.arange(float(a.shape[0])))
    on_host, on_device = sb.Matrix(a, device="cpu"), sb.Matrix(a, device="cuda")
    x, info = method(Operator(a, lambda x: on_host @ x, complex), b, M=None, rtol=1e-9)
    y, info_there = method(operator(array, a, lambda x: on_device @ x, np.complex128), there(b), M=None, rtol=1e-9)
    assert info == info_there == 0 and same(here(y).view(float), x.view(float))
    halves = operator(array, a, lambda r: r / 2, np.complex128)
    z, info = method(operator(array, a, lambda x: on_device @ x, np.complex128), there(b), M=halves, rtol=1e-9)
    expected, _ = method(Operator(a, lambda x: on_host @ x, complex), b, M=Operator(a, lambda r: r / 2, complex), rtol=1e-9)
    assert info == 0 and same(here(z).view(float), expected.view(float))


def test_operators_of_the_librarys_own_products(library):
    there, here, array = library
    a = definite()
    b = np.ones(a.shape[0])
    if array.__module__.startswith("cupy"):
        from cupyx.scipy import sparse

        given = sparse.csr_matrix(sp.csr_matrix(a))
        m = sparse.diags(there(np.full(a.shape[0], 0.25)), format="csr")
    else:
        given = torch().sparse_csr_tensor(*(torch().as_tensor(part) for part in (a.indptr, a.indices, a.data)), size=a.shape).to("cuda")
        m = None
    for method in METHODS:
        x, info = method(operator(array, a, lambda v: given @ v), there(b), M=m, rtol=1e-9)
        assert info == 0 and np.linalg.norm(b - a @ here(x)) <= 1.001e-9 * np.linalg.norm(b)
    x, info = sb.minres(operator(array, a, lambda v: given @ v), there(b), shift=1.5, M=None, rtol=1e-9)
    assert info == 0 and np.linalg.norm(b - a @ here(x) + 1.5 * here(x)) <= 1.001e-9 * np.linalg.norm(b)


@pytest.mark.parametrize("method", METHODS)
def test_what_functions_on_the_device_raise_arrives(library, method):
    there, _, array = library
    a, b = definite(10), np.arange(1.0, 101)

    class Mine(Exception):
        pass

    mine = Mine("mine")

    products = []

    def raises(x):
        products.append(0)
        if len(products) > 3:
            raise mine
        return 2 * x + x[[*range(1, 100), 0]]

    def interrupts(x):
        raise KeyboardInterrupt

    with pytest.raises(Mine) as caught:
        method(operator(array, a, raises), there(b))
    assert caught.value is mine
    with pytest.raises(Mine):
        method(operator(array, a, lambda x: 2 * x), there(b), M=operator(array, a, raises))
    with pytest.raises(KeyboardInterrupt):
        method(operator(array, a, interrupts), there(b))

    def stops(_):
        raise mine

    with pytest.raises(Mine):
        options = {"callback_type": "pr_norm"} if method is sb.gmres else {}
        method(operator(array, a, lambda x: x * there(np.arange(1.0, 101))), there(b), M=None, callback=stops, **options)


def test_what_functions_on_the_device_return_is_checked(library):
    there, _, array = library
    a, b = definite(3), there(np.ones(9))
    for returned, words in (
        (None, "matvec returned None"),
        (np.ones(9), "matvec returned an array of NumPy in the host's memory"),
        (there(np.ones(4)), "matvec returned .*float64 of the shape .4,."),
        (there(np.arange(9)), "matvec returned .*int64 of the shape .9,."),
        ([1.0] * 9, "matvec returned a list"),
    ):
        with pytest.raises(sb.InvalidArgument, match=words + ".*; expected 9 numbers of float64 or float32 on cuda:"):
            sb.gmres(Operator(a, lambda x: returned), b)
    with pytest.raises(sb.InvalidArgument, match="a preconditioner's function returned None"):
        sb.gmres(Operator(a, lambda x: 2 * x), b, M=Operator(a, lambda r: None))
    with pytest.raises(sb.NotSupported, match="made of entries"):
        sb.gmres(Operator(a, lambda x: 2 * x), b, M="ilu0")
    with pytest.raises(sb.InvalidArgument, match="is another one"):
        sb.gmres(Operator(a, lambda x: 2 * x), b, device="cpu")
    with pytest.raises(sb.InvalidArgument, match="in one place"):
        sb.gmres(Operator(a, lambda x: 2 * x), b, x0=np.ones(9))
    x, info = sb.cg(Operator(a, lambda x: x * float("nan")), b)
    assert info == -1


def test_operators_may_keep_and_change_what_they_are_given(library):
    there, here, array = library
    a, b = definite(10), np.ones(100)
    on_host, on_device = sb.Matrix(a, device="cpu"), sb.Matrix(a, device="cuda")
    kept = []

    def greedy(x):
        kept.append(x)
        y = on_device @ x
        x *= float("nan")
        return y

    x, info = sb.cg(Operator(a, greedy), there(b), M=None)
    assert info == 0 and same(here(x), sb.cg(Operator(a, lambda v: on_host @ v), b, M=None)[0])


def test_operators_work_on_the_callers_stream(library):
    """b is on its way on that stream when the solve is called, and so is every product when it is read."""
    there, here, array = library
    n = 100_000
    diagonal = there(1.0 + np.arange(n) % 5)
    expected, _ = sb.cg(Operator(sp.eye_array(n), lambda x: (1.0 + np.arange(n) % 5) * x), np.full(n, 200.0), M=None)
    if array.__module__.startswith("cupy"):
        stream = cupy().cuda.Stream(non_blocking=True)
        context, current = stream, lambda: cupy().cuda.get_current_stream().ptr
    else:
        stream = torch().cuda.Stream()
        context, current = torch().cuda.stream(stream), lambda: torch().cuda.current_stream().cuda_stream
    on = []

    def slow(x):
        on.append(current())
        y = 0 * x
        for _ in range(100):
            y += x * diagonal
        return y / 100

    zeros = there(np.zeros(n))
    with context:
        b = zeros.copy() if hasattr(zeros, "copy") else zeros.clone()
        mine = current()
        for _ in range(200):
            b += 1
        x, info = sb.cg(Operator(sp.eye_array(n), slow), b, M=None)
    assert info == 0 and set(on) == {mine} and np.allclose(here(x), expected, rtol=1e-4)


def test_preconditioners_of_another_size_are_refused(library):
    there, _, array = library
    a, b = matrix(200)
    other = sb.Preconditioner(matrix(201)[0], "ilu0")
    with pytest.raises(sb.DimensionMismatch):
        sb.solve(a, there(b), preconditioner=other)
    operator = LinearOperatorThere(there(np.arange(1.0, 201)), array)
    with pytest.raises(sb.DimensionMismatch):
        sb.gmres(operator, there(b), M=other)


class LinearOperatorThere:
    """A diagonal."""

    def __init__(self, diagonal, array):
        self.diagonal, self.shape, self.dtype = diagonal, (len(diagonal), len(diagonal)), diagonal.dtype

    def matvec(self, x):
        return self.diagonal * x
