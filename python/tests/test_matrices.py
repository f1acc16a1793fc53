import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from oracle import any_double, moderate, same, true_dot

import samebits as sb


@st.composite
def systems(draw, elements=any_double):
    """A small dense matrix with zeros, and a vector."""
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    element = st.one_of(st.just(0.0), elements)
    a = draw(st.lists(element, min_size=rows * columns, max_size=rows * columns))
    x = draw(st.lists(elements, min_size=columns, max_size=columns))
    return np.array(a).reshape(rows, columns), np.array(x)


@given(systems())
def test_dense_products_are_rounded_once(system):
    a, x = system
    assert same(sb.Matrix(a) @ x, [true_dot(row, x) for row in a])
    assert same(sb.matmul(a, x[:, None])[:, 0], [true_dot(row, x) for row in a])


@given(systems())
def test_sparse_products_are_rounded_once(system):
    a, x = system
    sparse = sp.csr_array(a)
    stored = [(sparse.indices[b:e], sparse.data[b:e]) for b, e in zip(sparse.indptr, sparse.indptr[1:])]
    assert same(sb.Matrix(sparse) @ x, [true_dot(values, x[columns]) for columns, values in stored])


@given(systems(moderate), st.data())
def test_residuals_are_rounded_once(system, data):
    a, x = system
    b = np.array(data.draw(st.lists(moderate, min_size=len(a), max_size=len(a))))
    assert same(sb.Matrix(sp.csr_array(a)).residual(b, x), [true_dot(-row, x, plus) for row, plus in zip(a, b)])
    low = x * 2.0**-60
    expected = [true_dot(np.concatenate([-row, -row]), np.concatenate([x, low]), plus) for row, plus in zip(a, b)]
    assert same(sb.Matrix(a).residual(b, x, x_low=low), expected)


@given(systems(moderate), systems(moderate))
def test_matmul_is_rounded_once(left, right):
    a, b = left[0], right[0]
    b = np.resize(b, (a.shape[1], b.shape[1]))
    expected = [[true_dot(row, column) for column in b.T] for row in a]
    assert same(sb.matmul(a, b), expected)
    assert same(sb.matmul(np.asfortranarray(a), b), expected)
    assert same(sb.Matrix(a) @ b, expected)
    assert same(sb.Matrix(sp.csr_array(a)) @ b, expected)


def random_sparse(n=2000, seed=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    a = sp.random_array((n, n), density=5 / n, rng=rng, format="csr") + sp.eye_array(n) * 10
    return sp.csr_array(a.astype(dtype)), rng.standard_normal(n).astype(dtype)


def test_nothing_is_copied():
    a, x = random_sparse()
    assert a.indptr.dtype == a.indices.dtype == np.int32
    m = sb.Matrix(a)
    for mine, given in zip(m._parts, (a.indptr, a.indices, a.data)):
        assert mine.ctypes.data == given.ctypes.data
    back = m.to_scipy()
    assert np.shares_memory(back.data, a.data)
    dense = np.eye(3)
    assert sb.Matrix(dense)._parts[0] is dense


def test_matrix_keeps_its_arrays_alive():
    a, x = random_sparse()
    m, expected = sb.Matrix(a), sb.Matrix(a) @ x
    del a
    assert same(m @ x, expected)


@pytest.mark.parametrize("width", [np.int16, np.int32, np.int64, np.uint64])
def test_row_offsets_of_any_width(width):
    a, x = random_sparse()
    m = sb.Matrix.from_csr(a.shape, a.indptr.astype(width), a.indices, a.data)
    assert same(m @ x, sb.Matrix(a) @ x)
    assert sb.solve(m, x).fingerprint == sb.solve(a, x).fingerprint
    for offsets, complaint in (([0, 2, 1], "falls from 2 to 1"), ([1, 1, 2], "row_offsets.0. is 1"), ([0, 1], "has 2 elements")):
        with pytest.raises(sb.InvalidArgument, match=complaint):
            sb.Matrix.from_csr((2, 2), np.array(offsets, width), np.zeros(2, np.int32), [1.0, 2.0])
    with pytest.raises(sb.InvalidArgument, match="expected integers"):
        sb.Matrix.from_csr((1, 1), [0.0, 1.0], np.zeros(1, np.int32), [1.0])


def test_indices_of_64_bits():
    a, x = random_sparse()
    wide = sp.csr_array((a.data, a.indices.astype(np.int64), a.indptr.astype(np.int64)), shape=a.shape)
    assert same(sb.Matrix(wide) @ x, sb.Matrix(a) @ x)
    with pytest.raises(sb.InvalidArgument, match="column index is 4294967296; expected 0 to 1"):
        sb.Matrix.from_csr((1, 2), [0, 1], np.array([2**32]), [1.0])


@pytest.mark.parametrize("convert", [sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix])
def test_other_formats(convert):
    a, x = random_sparse()
    assert same(sb.Matrix(convert(a)) @ x, sb.Matrix(a) @ x)


def test_bits_do_not_depend_on_threads():
    a, x = random_sparse(20_000)
    expected = sb.Matrix(a, threads=1) @ x
    for threads in (2, 7):
        assert same(sb.Matrix(a, threads=threads) @ x, expected)


def test_floats():
    a, x = random_sparse(dtype=np.float32)
    m = sb.Matrix(a)
    assert m.dtype == np.float32 and (m @ x).dtype == np.float32
    with pytest.raises(sb.InvalidArgument, match="float32"):
        m @ x.astype(np.float64)
    assert (sb.Matrix(a.astype(np.float64)) @ x).dtype == np.float64


def test_out():
    a, x = random_sparse()
    m, y = sb.Matrix(a), np.empty(a.shape[0])
    assert m.matvec(x, out=y) is y and same(y, m @ x)
    for wrong in (np.empty(3), np.empty(a.shape[0], np.float32), np.empty(2 * a.shape[0])[::2], x, "no"):
        with pytest.raises(sb.InvalidArgument, match="out"):
            m.matvec(x, out=wrong)
    c = np.empty((2, 2))
    assert sb.matmul(np.eye(2), np.eye(2), out=c) is c
    with pytest.raises(sb.InvalidArgument, match="overlap"):
        sb.matmul(c, np.eye(2), out=c)


def test_pickle_and_update():
    a, x = random_sparse()
    m = pickle.loads(pickle.dumps(sb.Matrix(a, threads=2)))
    assert same(m @ x, sb.Matrix(a) @ x)
    m.update(a.data * 2)
    assert same(m @ x, sb.Matrix(a * 2) @ x)
    with pytest.raises(sb.DimensionMismatch):
        m.update([1.0])
    assert "2000 x 2000" in repr(m)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sb.Matrix.from_csr((2, 2), [0, 2, 1], [0, 1], [1.0, 2.0]), "falls"),
        (lambda: sb.Matrix.from_csr((2, 2), [0, 1], [0], [1.0]), "rows need 3"),
        (lambda: sb.Matrix.from_csr((1, 2), [0, 1], np.array([2], np.int32), [1.0]), "column 2"),
        (lambda: sb.Matrix.from_csr((-1, 2), [0], [], []), r"shape\[0\] is -1"),
        (lambda: sb.Matrix([1.0, 2.0]), "dimensions"),
        (lambda: sb.Matrix(np.eye(2)) @ [1.0], "x has 1 elements"),
        (lambda: sb.Matrix(np.eye(2), device="tpu"), "'tpu'"),
        (lambda: sb.matmul(np.eye(2), np.eye(3)), "m x k"),
    ],
)
def test_refuses_with_reasons(make, words):
    with pytest.raises(sb.InvalidArgument, match=words):
        make()


def test_cuda_where_there_is_none():
    if "not built in" not in sb._core.describe_cuda():
        pytest.skip("this build knows CUDA")
    with pytest.raises(sb.NotSupported, match="without CUDA"):
        sb.Matrix(np.eye(2), device="cuda")


def test_arrays_of_devices_are_refused():
    class OnDevice:
        __cuda_array_interface__ = {}

    with pytest.raises(sb.NotSupported, match="CUDA device"):
        sb.sum(OnDevice())


def test_dlpack_without_numpy():
    class Exporter:
        """As a tensor of another library."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert sb.sum(Exporter(np.ones(4))) == 4


def test_triangular_solves():
    rng = np.random.default_rng(2)
    a = np.tril(rng.standard_normal((50, 50))) + 5 * np.eye(50)
    b = rng.standard_normal(50)
    x = np.zeros(50)
    for i in range(50):
        x[i] = true_dot(-a[i, :i], x[:i], b[i]) / a[i, i]
    assert same(sb.solve_triangular(a, b), x)
    assert same(sb.solve_triangular(sp.csr_array(a), b), x)
    assert same(sb.solve_triangular(sp.csr_array(a[::-1, ::-1]), b[::-1], lower=False), x[::-1])
    with pytest.raises(sb.InvalidArgument):
        sb.solve_triangular(sp.csr_array(a), b, lower=False)


def test_files(tmp_path):
    a, x = random_sparse(50)
    sb.write_mtx(tmp_path / "a.mtx.gz", a)
    back = sb.read_mtx(tmp_path / "a.mtx.gz")
    assert (back.to_scipy() != a).nnz == 0
    sb.write_mtx(tmp_path / "b.mtx", x)
    assert same(sb.read_mtx(tmp_path / "b.mtx"), x)
    sb.write_mtx(tmp_path / "c.mtx", np.arange(6.0).reshape(2, 3))
    assert same(sb.read_mtx(tmp_path / "c.mtx", dtype="float32"), np.arange(6.0).reshape(2, 3))
    with pytest.raises(OSError, match="missing.mtx"):
        sb.read_mtx(tmp_path / "missing.mtx")
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    with pytest.raises(sb.FileError, match="bad.mtx:3"):
        sb.read_mtx(tmp_path / "bad.mtx")


def test_residuals_may_replace_b_alone():
    m = sb.Matrix(sp.eye_array(5, format="csr"))
    memory = np.arange(7.0)
    b, x = memory[:5], np.ones(5)
    expected = m.residual(b.copy(), x)
    with pytest.raises(sb.InvalidArgument):
        m.residual(b, x, out=memory[1:6])
    assert m.residual(b, x, out=b) is b and same(b, expected)
