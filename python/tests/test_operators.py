"""Operators without entries, and the methods beside bicgstab and cg."""

import ctypes

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import samebits as sb
from samebits import _complex, _operators, _places

METHODS = [sb.bicgstab, sb.cg, sb.gmres, sb.minres, sb.idr]


def poisson(n=30):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))


def operator_of(a):
    return spla.LinearOperator(a.shape, matvec=lambda x: a @ x, dtype=a.dtype)


def relative_residual(a, b, x):
    return np.linalg.norm(b - a @ x) / np.linalg.norm(b)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("accuracy", ["exact", "compensated", "fast"])
def test_matrices_and_operators(method, accuracy):
    a, b = poisson(), np.ones(900)
    for given in (a, operator_of(a), sb.Matrix(a)):
        for m in ("auto", None, spla.LinearOperator(a.shape, matvec=lambda r: r / 4)):
            x, info = method(given, b, M=m, rtol=1e-8, accuracy=accuracy)
            assert info == 0 and relative_residual(a, b, x) <= 1.001e-8
    x, info = method(operator_of(a.astype(np.float32)), b.astype(np.float32), rtol=1e-4)
    assert info == 0 and x.dtype == np.float32 and relative_residual(a, b, x) <= 1.1e-4


class Gram:
    """A'A, with A kept as `A`, as many a class does."""

    def __init__(self, a):
        self.A, self.shape, self.dtype = a, a.shape, float

    def matvec(self, x):
        return self.A.T @ (self.A @ x)


@pytest.mark.parametrize("method", [sb.bicgstab, sb.gmres, sb.idr, sb.bicgstab2])
def test_operators_are_applied_whatever_they_keep(method):
    a, b = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.5, 0.0, 4.0]]), np.array([1.0, -1.0, 2.0])
    forward = spla.LinearOperator(a.shape, matvec=lambda x: a @ x, rmatvec=lambda x: a.T @ x, dtype=float)
    of_matrix = spla.aslinearoperator(a)
    for operator, meant in ((forward.T, a.T), (forward.H, a.T), (Gram(a), a.T @ a), (of_matrix.T, a.T), (of_matrix, a)):
        x, info = method(operator, b, M=None, rtol=1e-10)
        assert info == 0 and relative_residual(meant, b, x) <= 1e-9


@pytest.mark.parametrize("dtype", [np.complex128, complex, np.dtype("complex128")])
def test_an_operator_names_its_numbers_by_a_type_or_a_dtype(dtype):
    class Turned:
        shape = (50, 50)

        def matvec(self, x):
            return (1 + 1j) * x

    Turned.dtype = dtype
    x, info = sb.gmres(Turned(), np.ones(50), M=None)
    assert info == 0 and np.allclose(x, 0.5 - 0.5j)


def test_the_fingerprint_knows_imaginary_parts():
    identity = np.eye(2) + 0j
    of_one, of_five = (sb.solve(identity, np.array([1, k * 1j])).fingerprint for k in (1, 5))
    assert of_one != of_five


def test_what_a_callback_raises_ends_all_columns():
    calls = []

    def raising(step):
        calls.append(step.column)
        if len(calls) == 5:
            raise KeyError("the first")
        if len(calls) > 5:
            raise ValueError("another")

    a = poisson()
    with pytest.raises(KeyError, match="the first"):
        sb.solve(a, np.random.default_rng(1).standard_normal((900, 3)), preconditioner="none", callback=raising)
    assert len(calls) == 5


@pytest.mark.parametrize("method", METHODS)
def test_complex_numbers(method):
    hermitian = poisson(10) + 0j
    hermitian = hermitian + sp.diags_array([1j, -1j], offsets=[-1, 1], shape=(100, 100)) * 0.05
    b = np.exp(1j * np.arange(100.0))
    for given in (hermitian, operator_of(hermitian)):
        x, info = method(given, b, M=None, rtol=1e-8)
        assert info == 0 and x.dtype == np.complex128 and relative_residual(hermitian, b, x) <= 1.001e-8


@pytest.mark.parametrize("method", METHODS)
def test_the_bits_do_not_depend_on_threads(method):
    a = operator_of(poisson(150))
    b = np.cos(np.arange(22500.0))
    found = [method(a, b, M=None, maxiter=15, threads=threads)[0] for threads in (1, 2)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("method", METHODS)
def test_what_an_operator_raises_arrives(method):
    def raises(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        method(spla.LinearOperator((3, 3), matvec=raises, dtype=float), np.ones(3))


def test_refusals_of_operators():
    a, b = operator_of(poisson(3)), np.ones(9)
    with pytest.raises(sb.NotSupported, match="gmres: M is 'ilu0', which is made of entries"):
        sb.gmres(a, b, M="ilu0")
    with pytest.raises(sb.DimensionMismatch, match="b has the shape"):
        sb.gmres(a, np.ones(4))
    with pytest.raises(sb.DimensionMismatch, match="expected a square one"):
        sb.gmres(spla.LinearOperator((3, 4), matvec=lambda x: x[:3]), np.ones(3))
    with pytest.raises(sb.NotSupported, match="has no part in it"):
        sb.gmres(a, b, device="cuda")

    class Wrong:
        shape, dtype = (9, 9), np.dtype(float)

        def matvec(self, x):
            return x[:4]

    with pytest.raises(sb.InvalidArgument, match="matvec returned float64 of the shape .4,.; expected 9 real numbers"):
        sb.gmres(Wrong(), b)
    with pytest.raises(sb.InvalidArgument, match="minres: the preconditioner is not known to be symmetric"):
        sb.minres(poisson(3), b, M="ilu0")
    with pytest.raises(sb.InvalidArgument, match="minres: A is not symmetric"):
        sb.minres([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0], check=True)
    assert sb.minres([[3.0, 1.0], [1.0 + 2.0**-50, 4.0]], [1.0, 1.0], check=True)[1] == 0, "rounding"
    with pytest.raises(sb.InvalidArgument, match="minres: A is not symmetric"):
        sb.minres([[3.0, 1.0], [1.0 + 2.0**-40, 4.0]], [1.0, 1.0], check=True)
    with pytest.raises(sb.InvalidArgument, match="restart is 0"):
        sb.gmres(poisson(3), b, M="none", restart=0)


class There(_places.OnDevice):
    """The host's memory in the part of a device's."""

    device = 0
    words = "on cuda:0"
    solves = 0

    def current(self):
        return np.errstate()

    def stream(self):
        return 0

    def at(self, address, size, dtype):
        memory = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
        return np.frombuffer(memory, dtype)


@pytest.fixture
def there(monkeypatch):
    """Solves of a device, without one: on the processor, but by all that Python does for those on a device."""
    place = There()
    core = sb._core.solve_operator

    def of_addresses(function):
        return lambda x, y: function(x.ctypes.data, y.ctypes.data)

    def solve(function, m, m_there, method, b, x, options, stream, callback):
        if m_there is not None:
            dtype = np.dtype(b.dtype)
            make = sb._core.preconditioner_of_function64 if dtype == np.float64 else sb._core.preconditioner_of_function32
            m = make(of_addresses(m_there), b.size)
        place.solves += 1
        return core(of_addresses(function), m, method, b, x, options, 1, callback)

    monkeypatch.setattr(sb._core, "solve_operator_there", solve)
    for module in (_operators, _complex, _places):
        if hasattr(module, "place_of"):
            monkeypatch.setattr(module, "place_of", lambda x, name: place if isinstance(x, np.ndarray) else _places.HOST)
    return place


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_vectors_of_a_device_are_handed_over(there, monkeypatch, method, dtype):
    a = sp.csr_array(poisson(10).astype(dtype))
    b = np.cos(np.arange(100.0)).astype(dtype)
    a_of, m_of = operator_of(a), spla.LinearOperator(a.shape, matvec=lambda r: r / 4, dtype=dtype)
    for x0 in (None, b / 2, "Mb"):
        for m in (None, m_of, sp.csr_array(sp.eye_array(100) * dtype(0.25))):
            options = {"rtol": 1e-4, "M": m, "x0": x0}
            x, info = method(a_of, b, **options)
            assert info == 0 and x.dtype == dtype and x.shape == (100,)
            with monkeypatch.context() as here:
                for module in (_operators, _complex, _places):
                    here.setattr(module, "place_of", lambda x, name: _places.HOST, raising=False)
                expected, _ = method(a_of, b, **options)
            assert np.array_equal(x, expected)
    assert there.solves == 9


@pytest.mark.parametrize("method", METHODS)
def test_functions_on_a_device_are_checked(there, method):
    class Mine(Exception):
        pass

    mine = Mine()

    def raises(x):
        raise mine

    b = np.ones(9)
    for returned, words in (
        (None, "matvec returned None"),
        ([1.0] * 9, "matvec returned a list"),
        (np.ones(4), "matvec returned float64 of the shape .4,."),
        (np.ones(9, int), "matvec returned int64 of the shape .9,."),
        (np.ones(9, complex), "matvec returned complex128 of the shape .9,."),
    ):
        with pytest.raises(sb.InvalidArgument, match=words + "; expected 9 numbers of float64 or float32 on cuda:0"):
            method(operator(9, lambda x: returned), b)
    for a, m in ((raises, lambda r: r), (lambda x: x + np.arange(9) * x, raises)):
        with pytest.raises(Mine) as caught:
            method(operator(9, a), b, M=operator(9, m))
        assert caught.value is mine
    with pytest.raises(sb.InvalidArgument, match="a preconditioner's function returned None"):
        method(operator(9, lambda x: x + np.arange(9) * x), b, M=operator(9, lambda r: None))
    with pytest.raises(sb.InvalidArgument, match="device 'cpu' is another one"):
        method(operator(9, lambda x: x), b, device="cpu")
    with pytest.raises(sb.DimensionMismatch, match="M has the shape"):
        method(operator(9, lambda x: x), b, M=operator(8, lambda r: r))


def operator(n, function):
    class Operator:
        shape, dtype = (n, n), float

        def matvec(self, x):
            return function(x)

    return Operator()


def test_functions_on_a_device_may_change_what_they_are_given(there):
    a, b = poisson(10), np.ones(100)

    def greedy(x):
        y = a @ x
        x *= np.nan
        return y

    x, info = sb.cg(operator(100, greedy), b, M=None)
    assert info == 0 and relative_residual(a, b, x) <= 1.001e-5


def test_a_device_shifts(there):
    a, b = poisson(10), np.ones(100)
    x, info = sb.minres(operator_of(a), b, shift=1.5, M=None, rtol=1e-9)
    assert info == 0 and relative_residual(a - 1.5 * sp.eye_array(100), b, x) <= 1.1e-9


def test_gmres_counts_cycles_or_steps():
    a, b = poisson(), np.ones(900)
    norms, iterates = [], []
    assert sb.gmres(a, b, M=None, restart=10, maxiter=3, callback=norms.append, callback_type="pr_norm").info == 3
    assert len(norms) == 30 and np.all(np.diff(norms) <= 1e-12)
    assert sb.gmres(a, b, M=None, restart=10, maxiter=3, callback=iterates.append, callback_type="x").info == 3
    assert len(iterates) == 3 and relative_residual(a, b, iterates[-1]) == pytest.approx(norms[-1], rel=1e-6)
    with pytest.warns(DeprecationWarning, match="callback_type"):
        assert sb.gmres(a, b, M=None, restart=10, maxiter=3, callback=lambda norm: None).info == 3
    assert sb.gmres(a, b, M=None, restart=10, maxiter=3).result.iterations == 30


def test_minres_shifts():
    a, b = poisson(), np.ones(900)
    x, info = sb.minres(a, b, shift=1.5, M=None, rtol=1e-9)
    assert info == 0 and relative_residual(a - 1.5 * sp.eye_array(900), b, x) <= 1.1e-9


def test_minres_shifts_what_it_solves_without_a_shift():
    """Matrices of floats beside doubles, real ones beside complex vectors, complex ones of either width."""
    r = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
    h = np.array([[4.0, 1j, 0.0], [-1j, 3.0, 1.0], [0.0, 1.0, 5.0]])
    for a in (r, r.astype("f4"), h, h.astype("c8")):
        for given in (a, sp.coo_array(a), sb.Matrix(a), sb.Matrix(sp.csr_array(a))):
            for b in (np.ones(3), np.array([1.0, 2.0, 3j]), np.ones((3, 1))):
                x, info = sb.minres(given, b, shift=0.5, rtol=1e-12)
                assert info == 0 and relative_residual(a - 0.5 * np.eye(3), b.reshape(-1), x) <= 1.1e-12
    x, info = sb.minres(sb.Matrix(r.astype("f4")), np.ones(3, "f4"), shift=0.5)
    assert info == 0 and x.dtype == np.float32


def test_minres_with_a_shift_computes_products_exactly():
    a = np.array([[1e16, 1.0, -1e16], [1.0, 2.0, 1.0], [-1e16, 1.0, 1e16]])
    for given in (a, sp.csr_array(a), sb.Matrix(a)):
        x, info = sb.minres(given, [0.5, 3.5, 0.5], np.ones(3), shift=0.5, M=None, rtol=1e-15)
        assert info == 0 and np.array_equal(x, np.ones(3))
    wide = a.astype(np.longdouble)
    with pytest.raises(sb.InvalidArgument, match="the matrix has the dtype"):
        sb.minres(wide, np.ones(3), shift=0.5)


def test_every_method_of_solve():
    a, b = poisson(), np.ones(900)
    for method in ("bicgstab", "cg", "gmres", "minres", "idr", "bicgstab2", "cocg"):
        r = sb.solve(a, b, method=method, preconditioner="jacobi")
        assert r.converged and r.attempts[-1].method == method
    few = sb.solve(a, b, method="gmres", preconditioner="none", restart=100).iterations
    assert few < sb.solve(a, b, method="gmres", preconditioner="none", restart=5).iterations


@pytest.mark.parametrize("shape", [(50, 20), (20, 50), (30, 30)])
def test_lsmr_finds_the_least_squares_of_least_norm(shape):
    a = np.random.default_rng(1).standard_normal(shape)
    a[:, 3] = a[:, 1]
    b = np.ones(shape[0])
    found = sb.lsmr(a, b, atol=1e-13, btol=1e-13, maxiter=1000)
    expected = np.linalg.lstsq(a, b)[0]
    assert found.istop in (1, 2) and np.allclose(found.x, expected, rtol=1e-8, atol=1e-10)
    assert found.normr == pytest.approx(np.linalg.norm(b - a @ expected), abs=1e-9)
    assert found.norma == pytest.approx(np.linalg.norm(a))
    assert np.array_equal(found.x, sb.lsmr(sp.csr_array(a), b, atol=1e-13, btol=1e-13, maxiter=1000, threads=2).x)


@pytest.mark.parametrize("dtype", [float, complex])
def test_lsmr_damps(dtype):
    """The minimum of ||b - A x||^2 + damp^2 ||x||^2 solves (A^H A + damp^2 I) x = A^H b."""
    random = np.random.default_rng(3)
    a, b = random.standard_normal((9, 6)).astype(dtype), random.standard_normal(9).astype(dtype)
    if dtype is complex:
        a, b = a + 1j * random.standard_normal(a.shape), b - 1j * random.standard_normal(9)
    for damp in (0.5, -3.0):
        found = sb.lsmr(a, b, damp=damp, atol=1e-13, btol=1e-13)
        expected = np.linalg.solve(a.conj().T @ a + damp**2 * np.eye(6), a.conj().T @ b)
        assert found.istop == 2 and np.allclose(found.x, expected, rtol=1e-9)
        of_both = np.linalg.norm(np.concatenate([b - a @ expected, damp * expected]))
        assert found.normr == pytest.approx(of_both) and found.norma == pytest.approx(np.sqrt(np.linalg.norm(a) ** 2 + 6 * damp**2))


def test_lsmr_says_how_it_ended():
    a, b = np.random.default_rng(1).standard_normal((50, 20)), np.ones(50)
    assert sb.lsmr(a, np.zeros(50)).istop == 0
    assert sb.lsmr(a, b, maxiter=2).istop == 7
    assert sb.lsmr(a, np.full(50, np.nan)).istop == 8
    with pytest.raises(sb.DimensionMismatch, match="b has the shape"):
        sb.lsmr(a, np.ones(4))


class Series:
    """As pandas tells of numbers: no array, but what NumPy makes one of."""

    def __init__(self, numbers):
        self.numbers = np.array(numbers)
        self.shape, self.dtype = self.numbers.shape, self.numbers.dtype

    def __array__(self, dtype=None, copy=None):
        return self.numbers


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("last", [3.0, 3j])
def test_lsmr_takes_what_numpy_makes_an_array_of(last):
    b = [1.0, 2.0, last]
    for given in (Series(b), np.matrix(b), np.matrix(b).T):
        found = sb.lsmr(np.eye(3), given)
        assert found.istop == 1 and np.array_equal(found.x, sb.lsmr(np.eye(3), b).x)


def with_adjoint(a):
    return spla.LinearOperator(a.shape, matvec=lambda x: a @ x, rmatvec=lambda y: a.conj().T @ y, dtype=a.dtype)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(50, 20), (20, 50), (30, 30)])
@pytest.mark.parametrize("damp", [0.0, 0.5])
def test_lsmr_takes_operators(shape, dtype, damp):
    random = np.random.default_rng(1)
    a = random.standard_normal(shape).astype(dtype)
    if dtype is complex:
        a += 1j * random.standard_normal(shape)
    b = a @ random.standard_normal(shape[1]) + random.standard_normal(shape[0])
    found = sb.lsmr(with_adjoint(a), b, damp=damp, atol=1e-12, btol=1e-12, maxiter=1000)
    by_entries = sb.lsmr(a, b, damp=damp, atol=1e-12, btol=1e-12, maxiter=1000)
    assert found.istop in (1, 2) and found.x.dtype == dtype and np.allclose(found.x, by_entries.x, rtol=1e-8, atol=1e-9)
    assert found.normr == pytest.approx(by_entries.normr, abs=1e-9) and 0 < found.norma <= by_entries.norma * (1 + 1e-9)
    two = sb.lsmr(with_adjoint(a), b, damp=damp, atol=1e-12, btol=1e-12, maxiter=1000, threads=2)
    assert np.array_equal(found.x, two.x)


def test_lsmr_says_what_an_operator_lacks():
    a, b = np.ones((4, 2)), np.ones(4)
    nothing = type("Nothing", (), {"shape": (4, 2), "dtype": a.dtype, "matvec": lambda self, x: a @ x})()
    with pytest.raises(sb.InvalidArgument, match="an operator without rmatvec, which returns A\\^H y"):
        sb.lsmr(nothing, b)
    with pytest.raises(sb.DimensionMismatch, match="b has the shape"):
        sb.lsmr(with_adjoint(a), np.ones(3))
    short = spla.LinearOperator((4, 2), matvec=lambda x: a @ x, rmatvec=lambda y: np.ones(3), dtype=float)
    with pytest.raises((ValueError, sb.InvalidArgument)):
        sb.lsmr(short, b)

    def fails(x):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        sb.lsmr(spla.LinearOperator((4, 2), matvec=fails, rmatvec=lambda y: a.T @ y, dtype=float), b, x0=np.ones(2))


def test_preconditioners_of_another_size_are_refused():
    a = sp.diags_array([np.arange(1.0, 6)], offsets=[0], format="csr")
    other = sb.Preconditioner(sp.eye_array(6, format="csr"), "jacobi")
    for of in (a, spla.aslinearoperator(a)):
        with pytest.raises(sb.DimensionMismatch):
            sb.gmres(of, np.ones(5), M=other)
    with pytest.raises(sb.DimensionMismatch):
        sb.solve(a, np.ones(5), preconditioner=other)


class NegativeTensor:
    """As PyTorch's tensors tell of the bits that say that memory holds other numbers than meant."""

    layout = "torch.strided"

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    resolve_conj = detach

    def resolve_neg(self):
        return -self.array


def test_tensors_are_asked_for_the_numbers_that_they_mean():
    assert sb.sum(NegativeTensor(np.array([1.0, 2.0]))) == -3.0
    odd = NegativeTensor(np.array([1.0]))
    odd.layout = "torch.sparse_coo"
    with pytest.raises(sb.InvalidArgument):
        sb.sum(odd)
