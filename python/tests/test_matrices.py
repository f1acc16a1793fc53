import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from oracle import any_double, moderate, same, true_dot

import samebits as sb
from samebits._coordinates import _sorted_by_rows


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


@given(systems(moderate), st.data())
def test_coordinates_repeated_in_one_place_are_added_up_with_one_rounding(system, data):
    a, _ = system
    rows, columns = np.nonzero(np.ones_like(a))
    entries = data.draw(st.lists(st.tuples(st.sampled_from(range(a.size)), moderate), max_size=30))
    places, values = np.array([p for p, _ in entries], int), np.array([v for _, v in entries])
    given = sp.coo_array((values, (rows[places], columns[places])), shape=a.shape)
    expected = np.zeros(a.size)
    for place in set(places):
        expected[place] = true_dot(values[places == place], np.ones((places == place).sum()))
    for coordinates in (given, sp.coo_matrix(given)):
        seen = sb.Matrix(coordinates)
        assert seen.nnz == len(set(places)) and same(seen.to_scipy().toarray().ravel(), expected)
    assert given.nnz == len(entries) and not given.has_canonical_format  # as it was
    assert same(sb.Matrix(given * 1j).to_scipy().toarray().imag.ravel(), expected)


def test_a_symmetric_matrix_assembled_by_coordinates_stays_symmetric():
    rng = np.random.default_rng(6)
    i, j = rng.integers(0, 40, (2, 3000))
    values = rng.standard_normal(3000).astype(np.float32)
    order = rng.permutation(6000)
    rows, columns = np.concatenate([i, j])[order], np.concatenate([j, i])[order]
    seen = sb.Matrix(sp.coo_array((np.concatenate([values, values])[order], (rows, columns)), shape=(40, 40))).to_scipy()
    assert seen.dtype == np.float32 and seen.has_canonical_format and (seen != seen.T).nnz == 0


def repeated():
    """1e16 + 1 - 1e16 in one place, in the formats that keep the three apart."""
    values = np.array([1e16, 1.0, -1e16])
    lil = sp.lil_array((1, 1))
    lil.rows[0], lil.data[0] = [0, 0, 0], values.tolist()
    return {
        "coo": sp.coo_array((values, ([0, 0, 0], [0, 0, 0])), shape=(1, 1)),
        "csc": sp.csc_array((values, [0, 0, 0], [0, 3]), shape=(1, 1)),
        "bsr": sp.bsr_array((values.reshape(3, 1, 1), [0, 0, 0], [0, 3]), shape=(1, 1)),
        "lil": lil,
    }


@pytest.mark.parametrize("format", repeated())
def test_every_format_takes_repeated_entries_by_their_sum(format, tmp_path):
    a = repeated()[format]
    assert (sb.Matrix(a) @ [1.0]).tolist() == sb.solve(a, [1.0]).x.tolist() == [1.0]
    assert sb.lsmr(a, [1.0]).x == 1 and abs(sb.lsmr(a, [1.0], damp=1.0, atol=1e-14, btol=1e-14).x - 0.5) <= 1e-14
    sb.write_mtx(tmp_path / "a.mtx", a)
    assert sb.read_mtx(tmp_path / "a.mtx") @ [1.0] == 1


def test_coordinates_are_sorted():
    rng = np.random.default_rng(4)
    a = sp.coo_array((rng.standard_normal(5000), tuple(rng.integers(0, 20, (2, 5000)))), shape=(25, 20))
    seen = sb.Matrix(a).to_scipy()
    order = np.lexsort((a.col, a.row))
    offsets, columns, values = _sorted_by_rows(a, np)  # as CuPy is asked
    assert same(values, a.data[order]) and same(columns, a.col[order])
    assert same(np.diff(offsets), np.bincount(a.row, minlength=25))
    assert seen.nnz == len(set(zip(a.row, a.col))) and seen.has_canonical_format
    lower = sp.coo_array(([4.0, 1.0, 2.0], ([1, 1, 0], [1, 0, 0])), shape=(2, 2))
    assert sb.solve_triangular(lower, [2.0, 9.0]).tolist() == [1.0, 2.0]


def test_small_integers_in_coordinates_do_not_wrap_around():
    assert sb.Matrix(sp.coo_array((np.array([100, 100], "i1"), ([0, 0], [0, 0])))) @ [1.0] == 200


def test_booleans_repeated_in_one_place_are_one_true():
    a = sp.coo_array((np.array([True, True, True]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert (sb.Matrix(a) @ [3.0, 5.0]).tolist() == (a.tocsr() @ [3.0, 5.0]).tolist() == [5.0, 3.0]


def test_integers_beyond_doubles_are_refused_beside_repeated_entries():
    for alone in (2**53 + 1, -(2**60)):
        a = sp.coo_array((np.array([alone, 1, 1]), ([0, 1, 1], [0, 0, 0])), shape=(2, 2))
        with pytest.raises(sb.InvalidArgument, match="integers beyond 2\\^53"):
            sb.Matrix(a)


def test_entries_beside_repeated_ones_stay_as_they_are():
    values = [1 + 0j, 1 + 0j, complex(1, np.inf), complex(-0.0, -0.0)]
    seen = sb.Matrix(sp.coo_array((values, ([0, 0, 1, 1], [0, 0, 0, 1])))).to_scipy().data
    assert same(seen.view(float), [2.0, 0.0, 1.0, np.inf, -0.0, -0.0])


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


@pytest.mark.parametrize("factor", [1, 1j])
@pytest.mark.parametrize("given", [[3, 0, 2**24], np.array([-(2**24), 1, 0]), np.array([True, False, True]), np.array([0.5, 2, -1], "f2")])
def test_floats_beside_integers(given, factor):
    """Integers, booleans and float16 that floats hold are taken beside a matrix of floats, as the floats that they are."""
    dtype = np.complex64 if factor == 1j else np.float32
    dense = (np.eye(3) * 2 * factor).astype(dtype)
    x = np.array(given, np.float32)
    for a in (dense, sp.csr_array(dense)):
        m = sb.Matrix(a)
        assert (m @ given).dtype == dtype and np.array_equal(m @ given, m @ x)
        assert np.array_equal(m.matvec(given), m @ x) and np.array_equal(m @ np.stack([given, given], axis=1), np.stack([m @ x, m @ x], axis=1))
        assert np.array_equal(m.residual(given, given, x_low=given), m.residual(x, x, x_low=x))
        assert np.array_equal(sb.solve(m, given, x0=given).x, sb.solve(m, x, x0=x).x)
        assert np.array_equal(sb.Preconditioner(m, "klu") @ given, sb.Preconditioner(m, "klu") @ x)
        assert np.array_equal(sb.solve_triangular(a, given), sb.solve_triangular(a, x))
        assert np.array_equal(sb.certify(m).error_bound(given, given), sb.certify(m).error_bound(x, x))
    diagonal = sb.Matrix(sp.csr_array(dense))
    diagonal.update(given)
    assert diagonal.dtype == dtype and np.array_equal(diagonal @ np.ones(3, np.float32), x)


@pytest.mark.parametrize("factor", [1, 1j])
def test_integers_that_no_float_holds_are_refused_beside_floats(factor):
    a = (np.eye(1) * factor).astype(np.complex64 if factor == 1j else np.float32)
    for given in ([2**24 + 1], np.array([-(2**24) - 1], np.int32)):
        for call in (lambda: sb.Matrix(a) @ given, lambda: sb.solve(a, given), lambda: sb.solve(a, [1], x0=given)):
            with pytest.raises(sb.InvalidArgument, match=r"(x|b|x0) has integers beyond 2\^24, the matrix floats; make the matrix of doubles"):
                call()
        assert sb.solve(a, given, precision="single").converged  # which is asked to round


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
    columns = np.asfortranarray(rng.standard_normal((50, 3)))
    for of in (a, sp.csr_array(a)):
        for right in (columns, columns.copy(order="C"), columns[:, :0]):
            found = sb.solve_triangular(of, right)
            assert found.shape == right.shape
            assert all(same(found[:, j], sb.solve_triangular(of, right[:, j])) for j in range(right.shape[1]))
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
