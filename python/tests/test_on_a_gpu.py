"""The same bits from arrays of NumPy, CuPy and PyTorch, on the processor and on a CUDA device, for every operation.

Skipped where there is no device, or no CuPy or PyTorch that can use it."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import any_double, same, true_dot

import samebits as sb

DEVICE = sb._core.best_device()


def cupy():
    library = pytest.importorskip("cupy")
    if library.cuda.runtime.getDeviceCount() == 0:
        pytest.skip("CuPy sees no device")
    return library


def torch():
    library = pytest.importorskip("torch")
    if not library.cuda.is_available():
        pytest.skip("PyTorch sees no device")
    return library


def with_cupy():
    library = cupy()
    return library.asarray, lambda x: library.asnumpy(x), library.ndarray


def with_torch():
    library = torch()
    return (lambda x: library.as_tensor(np.ascontiguousarray(x)).to("cuda")), (lambda x: x.cpu().numpy()), library.Tensor


@pytest.fixture(params=[with_cupy, with_torch], ids=["cupy", "torch"])
def library(request):
    if DEVICE < 0:
        pytest.skip(f"no CUDA device: {sb._core.describe_cuda()}")
    return request.param()


def vectors(n=20_000, seed=1, dtype=np.float64):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n) * 2.0 ** rng.integers(-40, 40, n)
    return x.astype(dtype), rng.standard_normal(n).astype(dtype)


def matrix(n=3000, dtype=np.float64):
    rng = np.random.default_rng(3)
    a = sp.random_array((n, n), density=6 / n, rng=rng, format="csr") + sp.eye_array(n) * 10
    return sp.csr_array(a.astype(dtype)), rng.standard_normal(n).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reductions(library, dtype):
    there, _, _ = library
    x, y = vectors(dtype=dtype)
    u, v = there(x), there(y)
    assert same([sb.sum(u), sb.dot(u, v), sb.norm(u)], [sb.sum(x), sb.dot(x, y), sb.norm(x)])
    assert same(sb.sum_expansion(u), sb.sum_expansion(x)) and same(sb.dot_expansion(u, v), sb.dot_expansion(x, y))
    table = x.reshape(100, -1)
    assert sb.vdot(there(table), there(table[::-1].copy())) == sb.vdot(table, table[::-1])
    assert sb.sum(there(table)[::2, 1::3]) == sb.sum(table[::2, 1::3])
    assert sb.norm(there(table).T) == sb.norm(table)
    assert sb.sum(there(x[:0])) == 0


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_reductions(library, dtype):
    there, _, _ = library
    x, y = (part.view(dtype) for part in vectors(dtype=dtype(0).real.dtype.type))
    u, v = there(x), there(y)
    assert (sb.sum(u), sb.dot(u, v), sb.vdot(u, v)) == (sb.sum(x), sb.dot(x, y), sb.vdot(x, y))
    assert sb.norm(u) == sb.norm(x)
    for shifted in (slice(1, None), slice(0, None, 3)):
        assert sb.dot(u[shifted], v[shifted]) == sb.dot(x[shifted], y[shifted])
    for part, expected in zip(sb.sum_expansion(u) + sb.dot_expansion(u, v), sb.sum_expansion(x) + sb.dot_expansion(x, y)):
        assert same(part, expected)
    table = x.reshape(100, -1)
    assert sb.vdot(there(table), there(table[::-1].copy())) == sb.vdot(table, table[::-1])
    assert sb.sum(there(table)[::2, 1::3]) == sb.sum(table[::2, 1::3])
    assert sb.norm(there(table).T) == sb.norm(table)
    assert sb.dot(u.conj(), v) == sb.vdot(u, v)
    assert sb.sum(there(x[:0])) == 0
    for accuracy in ("fast", "compensated"):
        assert abs(sb.vdot(v, v, accuracy=accuracy) - sb.vdot(y, y)) <= 1e-4 * sb.norm(y) ** 2


def test_mixed_types_are_complex(library):
    there, _, _ = library
    x, y = vectors()
    z = y.view(np.complex128)
    half = len(z)
    assert sb.dot(there(x[:half]), there(z)) == sb.dot(x[:half], z)
    assert sb.vdot(there(z), there(x[:half].astype(np.float32))) == sb.vdot(z, x[:half].astype(np.float32))


def test_mixed_types_are_doubles(library):
    there, _, _ = library
    x, y = vectors()
    assert sb.dot(there(x.astype(np.float32)), there(y)) == sb.dot(x.astype(np.float32), y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", ["csr", "packed"])
def test_products(library, dtype, storage):
    there, here, kind = library
    a, x = matrix(dtype=dtype)
    on_host, m = sb.Matrix(a), sb.Matrix(a, device="cuda", storage=storage)
    y = m @ there(x)
    assert isinstance(y, kind) and same(here(y), on_host @ x)
    low = (x * 2.0**-30).astype(dtype)
    assert same(here(m.residual(y, there(x), x_low=there(low))), on_host.residual(on_host @ x, x, x_low=low))
    columns = np.stack([x, low, -x], axis=1)
    assert same(here(m @ there(columns)), on_host @ columns)
    with pytest.raises(sb.InvalidArgument, match="made for cpu"):
        on_host @ there(x)
    with pytest.raises(sb.InvalidArgument, match="in one place"):
        m.residual(x, there(x))


def lying_there(kind, there, a, index=np.int32):
    """A sparse matrix of the library of these arrays, and its three arrays."""
    parts = [there(a.indptr.astype(index)), there(a.indices.astype(index)), there(a.data)]
    if not kind.__module__.startswith("cupy"):
        made = torch().sparse_csr_tensor(*parts, size=a.shape)
        return made, [made.crow_indices(), made.col_indices(), made.values()]
    from cupyx.scipy import sparse

    made = sparse.csr_matrix((parts[2], parts[1], parts[0]), shape=a.shape)
    return made, [made.indptr, made.indices, made.data]


def test_coordinates_that_lie_on_the_device_are_added_up_with_one_rounding():
    cupy()
    from cupyx.scipy import sparse

    a = sp.coo_matrix(([1e16, 2.0, 1.0, -1e16], ([1, 0, 1, 1], [0, 1, 0, 0])), shape=(3, 2))
    m = sb.Matrix(sparse.coo_matrix(a))
    assert m.nnz == 2 and (m @ np.ones(2)).tolist() == [2.0, 1.0, 0.0]


def address(x):
    return x.data_ptr() if hasattr(x, "data_ptr") else x.data.ptr


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", ["csr", "packed"])
def test_matrices_that_lie_on_the_device_are_used_there(library, dtype, storage):
    there, here, kind = library
    a, x = matrix(dtype=dtype)
    expected = sb.Matrix(a) @ x
    given, arrays = lying_there(kind, there, a)
    m = sb.Matrix(given, storage=storage)
    assert m.device == f"cuda:{DEVICE}" and m.storage == storage and m.nnz == a.nnz and m.dtype == dtype
    assert [address(mine) for mine in m._parts] == [address(array) for array in arrays]
    assert same(here(m @ there(x)), expected) and same(m @ x, expected)
    assert same(here(sb.Matrix.from_csr(a.shape, *arrays) @ there(x)), expected)
    back, pickled = m.to_scipy(), pickle.loads(pickle.dumps(m))
    assert (back != a).nnz == 0 and same(here(pickled @ there(x)), expected)
    assert same(sb.Matrix(m, device="cpu") @ x, expected)


def test_solves_with_matrices_that_lie_on_the_device(library):
    there, here, kind = library
    a, b = matrix()
    given, _ = lying_there(kind, there, a)
    for options in ({}, {"preconditioner": "klu"}, {"preconditioner": "amg"}, {"precision": "mixed"}, {"precision": "single"}):
        expected = sb.solve(a, b, device="cpu", **options)
        assert sb.solve(given, there(b), **options).fingerprint == expected.fingerprint
        assert sb.solve(given, b, **options).fingerprint == expected.fingerprint


def test_wide_indices_and_other_formats_on_the_device(library):
    there, here, kind = library
    a, x = matrix()
    expected = sb.Matrix(a) @ x
    wide, arrays = lying_there(kind, there, a, np.int64)
    m = sb.Matrix(wide)
    assert same(here(m @ there(x)), expected) and address(m._parts[0]) == address(arrays[0])
    if kind.__module__.startswith("cupy"):
        assert same(here(sb.Matrix(lying_there(kind, there, a)[0].tocsc()) @ there(x)), expected)
    with pytest.raises(sb.InvalidArgument):
        sb.Matrix.from_csr((a.shape[0], 3), *arrays)
    with pytest.raises(sb.InvalidArgument):
        sb.Matrix.from_csr((a.shape[0], 3), *lying_there(kind, there, a)[1])


def test_values_that_change_on_the_device(library):
    there, here, kind = library
    a, x = matrix()
    given, arrays = lying_there(kind, there, a)
    m = sb.Matrix(given)
    m.update(there(a.data * 3))
    assert same(here(m @ there(x)), sb.Matrix(a * 3) @ x)
    with pytest.raises(sb.InvalidArgument, match="values lie in the host's memory"):
        m.update(a.data)


def test_results_are_written_where_out_says(library):
    there, here, kind = library
    a, x = matrix()
    m = sb.Matrix(a, device="cuda")
    y = there(0 * x)
    assert m.matvec(there(x), out=y) is y and same(here(y), sb.Matrix(a) @ x)
    r = there(0 * x)
    rounding = sb.Matrix(a).residual(here(y), x)  # of A x, which y is but for it
    assert m.residual(y, there(x), out=r) is r and same(here(r), rounding)
    c = there(np.zeros((50, 50)))
    left, right = x[:2500].reshape(50, 50), a.data[:2500].reshape(50, 50)
    assert sb.matmul(there(left), there(right), out=c) is c and same(here(c), sb.matmul(left, right))
    u = there(x)
    for out, words in ((u, "overlaps"), (there(x[:-1].copy()), "out is"), (np.empty_like(x), "on cuda"), (there(np.tile(x, 2))[::2], "gaps")):
        with pytest.raises(sb.InvalidArgument, match=words):
            m.matvec(u, out=out)


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matmul(library, dtype):
    there, here, kind = library
    a, b = (vectors(64 * 96, seed, dtype)[0] for seed in (5, 6))
    a, b = a.reshape(64, 96), b.reshape(96, 64)
    expected = sb.matmul(a, b)
    c = sb.matmul(there(a), there(b))
    assert isinstance(c, kind) and same(here(c), expected)
    assert same(here(sb.matmul(there(b).T, there(a).T)), expected.T)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_matmul(library, dtype):
    there, here, kind = library
    a, b = (vectors(2 * 64 * 96, seed, dtype(0).real.dtype.type)[0].view(dtype) for seed in (5, 6))
    a, b = a.reshape(64, 96), b.reshape(96, 64)
    expected = sb.matmul(a, b).view(dtype(0).real.dtype)
    c = sb.matmul(there(a), there(b))
    assert isinstance(c, kind) and same(here(c).view(expected.dtype), expected)
    assert (here(sb.matmul(there(a).conj(), there(b).conj())) == sb.matmul(a, b).conj()).all()
    assert (here(sb.matmul(there(a), there(np.ascontiguousarray(b.real)))) == sb.matmul(a, b.real)).all()


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_products_where_the_arrays_lie(library, dtype):
    there, here, kind = library
    real, _ = matrix()
    a = (real * (1 + 0.5j)).astype(dtype)
    x = vectors(2 * a.shape[1], 8, dtype(0).real.dtype.type)[0].view(dtype)
    m = sb.Matrix.from_csr(a.shape, there(a.indptr), there(a.indices), there(a.data))
    assert m.device == "cuda:0" and isinstance(m, sb.ComplexMatrix)
    expected = sb.Matrix(a) @ x
    parts = dtype(0).real.dtype
    out = there(np.zeros_like(x))
    assert m.matvec(there(x), out=out) is out and same(here(out).view(parts), expected.view(parts))
    assert m.residual(there(x), there(x), out=out) is out
    assert same(here(out).view(parts), sb.Matrix(a).residual(x, x).view(parts))
    for wrong in (out[::2], np.zeros_like(x), there(x.real.copy())):
        with pytest.raises(sb.InvalidArgument, match="out"):
            m.matvec(there(x), out=wrong)


def test_minres_shifts_a_matrix_of_the_host(library):
    there, here, _ = library
    real, b = matrix()
    a = sp.csr_array(real + real.T)
    x, info = sb.minres(a, there(b), shift=1.5, M=None, rtol=1e-9)
    expected, _ = sb.minres(a, b, shift=1.5, M=None, rtol=1e-9)
    assert info == 0 and same(here(x), expected)


def test_triangular_solves(library):
    there, here, kind = library
    a, b = matrix()
    lower = sp.csr_array(sp.tril(a))
    assert same(here(sb.solve_triangular(sb.Matrix(lower, device="cuda"), there(b))), sb.solve_triangular(lower, b))
    turned = lower * (1 + 0.5j)
    for dtype in (np.complex128, np.complex64):
        numbers, right = turned.astype(dtype), (b * 1j).astype(dtype)
        real = lower.astype(dtype(0).real.dtype)
        for of, right_side in ((numbers, right), (real, right), (numbers, right.imag.copy())):
            found = sb.solve_triangular(sb.Matrix(of, device="cuda"), there(right_side))
            parts, expected = here(found).view(real.dtype), sb.solve_triangular(of, right_side).view(real.dtype)
            assert isinstance(found, kind) and same(parts, expected)


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


def test_work_under_way_on_the_callers_stream_is_waited_for(library):
    """What is queued takes long enough that a library which does not wait sees old numbers."""
    _, _, kind = library
    n = 4_000_000
    if kind.__module__.startswith("cupy"):
        library_, stream = cupy(), cupy().cuda.Stream(non_blocking=True)
        x = library_.zeros(n)
        library_.cuda.Device().synchronize()
        with stream:
            for _ in range(200):
                x += 1
            total = sb.sum(x)
    else:
        library_ = torch()
        x = library_.zeros(n, dtype=library_.float64, device="cuda")
        library_.cuda.synchronize()
        with library_.cuda.stream(library_.cuda.Stream()):
            for _ in range(200):
                x += 1
            total = sb.sum(x)
    assert total == 200.0 * n


def test_what_cannot_be_taken_is_refused_with_reasons(library):
    there, _, _ = library
    with pytest.raises(sb.InvalidArgument, match="float64 or float32"):
        sb.sum(there(np.arange(3)))
    with pytest.raises(sb.InvalidArgument, match="in one place"):
        sb.dot(there(np.ones(3)), np.ones(3))
    with pytest.raises(sb.InvalidArgument, match="out is of NumPy"):
        sb.matmul(there(np.eye(2)), there(np.eye(2)), out=np.eye(2))


def test_against_fractions(library):
    there, _, _ = library

    @settings(max_examples=300, deadline=None)
    @given(st.lists(any_double, min_size=1, max_size=40))
    def check(values):
        x = np.array(values)
        assert same([sb.sum(there(x))], [true_dot(x, np.ones_like(x))])
        assert same([sb.dot(there(x), there(x[::-1].copy()))], [true_dot(x, x[::-1])])

    check()


def test_products_of_nothing_and_of_many_columns(library):
    """An inner dimension of 0, and dense matrices with so many columns that they are multiplied together."""
    there, here, _ = library
    for dtype in (np.float64, np.float32, np.complex128):
        found = sb.matmul(there(np.ones((2, 0), dtype)), there(np.ones((0, 3), dtype)))
        assert same(here(found).view(dtype(0).real.dtype), np.zeros((2, 3), dtype).view(dtype(0).real.dtype))
    a, x = vectors(2400)
    dense, columns = a.reshape(40, 60), x[:540].reshape(60, 9)
    expected = sb.Matrix(dense) @ columns
    for given in (dense, there(dense)):
        assert same(here(sb.Matrix(given, device="cuda") @ there(columns)), expected)
    assert same(sb.Matrix(dense, device="cuda") @ columns, expected)


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


def test_tensors_with_the_negative_or_the_conjugate_bit():
    library = torch()
    z = library.tensor([1 + 2j, 3 - 5j], dtype=library.complex128)
    for device in ("cpu", "cuda"):
        turned = z.to(device).conj()
        assert sb.sum(turned.imag) == 3.0 and sb.sum(turned.imag[:1]) == -2.0
        assert sb.sum(turned) == 4 + 3j
    with pytest.raises(sb.InvalidArgument):
        sb.sum(z.real.to_sparse())
