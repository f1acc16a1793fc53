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


def test_triangular_solves(library):
    there, here, _ = library
    a, b = matrix()
    lower = sp.csr_array(sp.tril(a))
    assert same(here(sb.solve_triangular(sb.Matrix(lower, device="cuda"), there(b))), sb.solve_triangular(lower, b))


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
