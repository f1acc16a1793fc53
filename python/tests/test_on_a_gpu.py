"""The same bits from arrays of NumPy, CuPy and PyTorch, on the processor and on a CUDA device, in sums and products.

Skipped where there is no device, or no CuPy or PyTorch that can use it."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from on_a_gpu import DEVICE, cupy, matrix, torch, vectors
from oracle import any_double, same, true_dot

import samebits as sb


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


def test_triangular_solves(library):
    there, here, kind = library
    a, b = matrix()
    lower = sp.csr_array(sp.tril(a))
    assert same(here(sb.solve_triangular(sb.Matrix(lower, device="cuda"), there(b))), sb.solve_triangular(lower, b))
    columns = np.stack([b, b[::-1], 2 * b], axis=1)
    assert same(here(sb.solve_triangular(sb.Matrix(lower, device="cuda"), there(columns))), sb.solve_triangular(lower, columns))
    turned = lower * (1 + 0.5j)
    for dtype in (np.complex128, np.complex64):
        numbers, right = turned.astype(dtype), (b * 1j).astype(dtype)
        real = lower.astype(dtype(0).real.dtype)
        for of, right_side in ((numbers, right), (real, right), (numbers, right.imag.copy())):
            found = sb.solve_triangular(sb.Matrix(of, device="cuda"), there(right_side))
            parts, expected = here(found).view(real.dtype), sb.solve_triangular(of, right_side).view(real.dtype)
            assert isinstance(found, kind) and same(parts, expected)


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


def test_tensors_with_the_negative_or_the_conjugate_bit():
    library = torch()
    z = library.tensor([1 + 2j, 3 - 5j], dtype=library.complex128)
    for device in ("cpu", "cuda"):
        turned = z.to(device).conj()
        assert sb.sum(turned.imag) == 3.0 and sb.sum(turned.imag[:1]) == -2.0
        assert sb.sum(turned) == 4 + 3j
    with pytest.raises(sb.InvalidArgument):
        sb.sum(z.real.to_sparse())
