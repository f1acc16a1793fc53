"""Complex numbers: each part of a result is a real result."""

from fractions import Fraction

import numpy as np
import pickle
import pytest
import samebits as sb

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

TYPES = [np.complex128, np.complex64]


def hard(rng, *shape, dtype=np.complex128):
    """Numbers of very different sizes, so that sums cancel."""

    def part():
        return rng.standard_normal(shape) * 2.0 ** rng.integers(-20, 20, shape)

    return (part() + 1j * part()).astype(dtype)


def exact_products(pairs):
    """(Re, Im) of the sum of products of complex numbers as fractions."""
    re = im = Fraction(0)
    for a, b in pairs:
        ar, ai, br, bi = (Fraction(float(v)) for v in (a.real, a.imag, b.real, b.imag))
        re, im = re + ar * br - ai * bi, im + ar * bi + ai * br
    return re, im


def test_dot_and_vdot_have_numpys_conventions_and_are_rounded_once():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = hard(rng, 30), hard(rng, 30)
        re, im = exact_products(zip(x, y))
        assert sb.dot(x, y) == complex(float(re), float(im))
        re, im = exact_products(zip(x.conj(), y))
        assert sb.vdot(x, y) == complex(float(re), float(im))
        assert sb.sum(x) == complex(float(sum(map(Fraction, x.real))), float(sum(map(Fraction, x.imag))))
    assert sb.dot([1j], [1j]) == -1
    assert sb.vdot([1j], [1j]) == 1
    assert sb.norm([3 + 4j, 0]) == 5
    assert sb.dot([1.0, 2.0], [1j, 1.0]) == 2 + 1j


@pytest.mark.parametrize("dtype", TYPES)
def test_expansions_are_both_parts_without_rounding(dtype):
    rng = np.random.default_rng(9)
    for _ in range(20):
        x, y = hard(rng, 30, dtype=dtype), hard(rng, 30, dtype=dtype)
        for part, exact in zip(sb.dot_expansion(x, y), exact_products(zip(x, y))):
            assert part.dtype == dtype(0).real.dtype and sum(map(Fraction, part.tolist())) == exact
        for part, exact in zip(sb.sum_expansion(x), exact_products((z, dtype(1)) for z in x)):
            assert sum(map(Fraction, part.tolist())) == exact
        re, im = sb.dot_expansion(x.conj(), y)
        assert sb.vdot(x, y) == complex(re[0], im[0])
    table = hard(rng, 4, 5, dtype=dtype)
    assert [part.tolist() for part in sb.dot_expansion(table, table)] == [
        part.tolist() for part in sb.dot_expansion(table.ravel(), table.ravel())
    ]
    with pytest.raises(sb.InvalidArgument, match="not a finite sum"):
        sb.sum_expansion([1j, complex(0, np.inf)])
    with pytest.raises(sb.DimensionMismatch):
        sb.dot_expansion([1j], [1j, 1])


def test_what_is_real_beside_complex_numbers_becomes_complex():
    x = np.array([1 + 2j, 3j], dtype=np.complex64)
    assert sb.dot(x, np.array([2, 1], dtype=np.float32)) == 2 + 7j
    assert sb.vdot(x, np.array([1e300, 0.0])) == complex(1e300, -2e300)
    assert sb.norm(np.array([[3j], [4]])) == 5 and sb.sum(np.array([[1j, 2], [3, 4]]).T[::-1]) == 9 + 1j
    with pytest.raises(sb.InvalidArgument, match="expected vectors"):
        sb.dot([[1j]], [[1j]])


def test_products_of_matrices_are_rounded_once():
    rng = np.random.default_rng(2)
    dense = hard(rng, 12, 9) * (rng.random((12, 9)) < 0.5)
    x = hard(rng, 9)
    expected = [complex(*map(float, exact_products(zip(row, x)))) for row in dense]
    for a in (dense, sparse.csr_array(dense), sparse.coo_array(dense)):
        m = sb.Matrix(a)
        assert isinstance(m, sb.ComplexMatrix) and m.shape == (12, 9) and m.dtype == np.complex128
        assert (m @ x == expected).all()
        out = np.empty(12, complex)
        assert m.matvec(x, out=out) is out and (out == expected).all()
        assert (m.matmat(np.stack([x, 2 * x], axis=1)) == np.stack([expected, 2 * np.array(expected)], axis=1)).all()
        assert (m.residual(np.zeros(12, complex), x) == -np.array(expected)).all()
        assert (pickle.loads(pickle.dumps(m)) @ x == expected).all()
        assert (m.to_scipy().toarray() == dense).all()
    b = hard(rng, 9, 4)
    expected = [[complex(*map(float, exact_products(zip(row, column)))) for column in b.T] for row in dense]
    assert (sb.matmul(dense, b) == expected).all()
    assert (sb.matmul(np.asfortranarray(dense), np.asfortranarray(b)) == expected).all()
    out = np.empty((12, 4), complex)
    assert sb.matmul(dense, b, out=out) is out and (out == expected).all()
    assert (sb.matmul(dense[::2, 1:], b[1:, ::-1]) == sb.matmul(dense[::2, 1:].copy(), b[1:, ::-1].copy())).all()


def test_matmul_takes_any_two_kinds_of_numbers():
    rng = np.random.default_rng(3)
    kinds = {np.float32: 0, np.float64: 1, np.complex64: 2, np.complex128: 3}
    for first, one in kinds.items():
        for second, other in kinds.items():
            a, b = (rng.integers(-9, 9, (3, 3)).astype(kind) for kind in (first, second))
            found = sb.matmul(a, b)
            double = one % 2 or other % 2
            assert found.dtype == (("c16" if double else "c8") if max(one, other) > 1 else ("f8" if double else "f4"))
            assert (found == a @ b).all()
    with pytest.raises(sb.InvalidArgument, match="expected complex128 or complex64"):
        sb.matmul(np.eye(2), np.eye(2, dtype=np.clongdouble))
    with pytest.raises(sb.DimensionMismatch, match="m x k and k x n"):
        sb.matmul(np.eye(2, dtype=complex), np.eye(3))


def test_a_real_matrix_takes_no_complex_vector_silently():
    with pytest.raises(sb.NotSupported, match="complex"):
        sb.Matrix(np.eye(2)) @ np.array([1j, 1])


def test_update_takes_new_values():
    m = sb.Matrix(np.array([[1j, 0], [2, 3 + 1j]]))
    m.update(m.to_scipy().data * 2)
    assert (m @ np.ones(2) == [2j, 10 + 2j]).all()
    with pytest.raises(sb.DimensionMismatch):
        m.update(np.ones(2))


@pytest.mark.parametrize("dtype", TYPES)
def test_solve_gives_what_a_real_system_gives(dtype):
    rng = np.random.default_rng(3)
    a = sparse.csr_array((np.eye(40) * 10 + rng.standard_normal((40, 40)) + 1j * rng.standard_normal((40, 40))).astype(dtype))
    x = (rng.standard_normal(40) + 1j * rng.standard_normal(40)).astype(dtype)
    b = (a @ x).astype(dtype)
    seen = []
    result = sb.solve(a, b, history=True, callback=lambda step: seen.append(step.x) and False)
    assert result.converged and result.residual <= 1e-10
    assert result.x.dtype == np.complex128 and np.allclose(result.x, x, rtol=1e-5)
    assert seen[0].dtype == np.complex128 and seen[0].shape == (40,)
    two = sb.solve(a, np.stack([b, 1j * b], axis=1).astype(dtype))
    assert two.x.shape == (40, 2) and np.allclose(two.x[:, 1], 1j * two.x[:, 0], rtol=1e-5)


def test_solve_mixes_real_and_complex():
    x = sb.solve(np.array([[2.0, 0], [0, 4]]), np.array([2j, 4])).x
    assert (x == [1j, 1]).all()
    x = sb.solve(np.array([[2j, 0], [0, 4]]), np.array([2.0, 4])).x
    assert (x == [-1j, 1]).all()


def test_what_only_numpy_knows_to_be_complex_is_taken():
    class Numbers:
        def __init__(self, numbers):
            self.numbers = np.array(numbers)

        def __array__(self, dtype=None, copy=None):
            return self.numbers

    a, b = np.array([[4.0, 1.0], [1.0, 3.0]]), [5j, 4j]
    assert np.allclose(sb.solve(a, Numbers(b)).x, [1j, 1j]) and np.allclose(sb.bicgstab(a, Numbers(b)).x, [1j, 1j])
    assert (sb.Matrix(Numbers(a * 1j)) @ [1.0, 1.0]).tolist() == b


def test_a_rounded_solution_is_the_rational_one():
    a = np.array([[3 + 1j, 1], [1j, 2 - 1j]])
    b = np.array([1 + 0j, 1j])
    result = sb.solve(a, b, guarantee="rounded")
    assert result.proof.status == "proven" and result.proof.rounded == 4
    # by Cramer's rule: det = (3 + i)(2 - i) - i = 7 - 2i
    det = (Fraction(7), Fraction(-2))

    def quotient(re, im):
        size = det[0] ** 2 + det[1] ** 2
        return complex(float((re * det[0] + im * det[1]) / size), float((im * det[0] - re * det[1]) / size))

    assert result.x[0] == quotient(Fraction(2), Fraction(-1) - 1)  # (2 - i) - i
    assert result.x[1] == quotient(Fraction(-1), Fraction(3) - 1)  # (3 + i) i - i


def test_bicgstab_in_scipys_manner_takes_complex_systems_and_operators():
    rng = np.random.default_rng(4)
    a = sparse.csr_array(np.eye(30) * 8 + rng.standard_normal((30, 30)) + 1j * rng.standard_normal((30, 30)))
    b = rng.standard_normal(30) + 1j
    inverse = linalg.LinearOperator((30, 30), matvec=lambda r: r / a.diagonal(), dtype=complex)
    iterates = []
    for m in ("auto", None, inverse):
        x, info = sb.bicgstab(a, b, rtol=1e-10, M=m, callback=iterates.append)
        assert info == 0 and np.linalg.norm(a @ x - b) <= 1e-9 * np.linalg.norm(b)
    assert iterates[-1].dtype == np.complex128


def test_preconditioners_of_complex_matrices_take_complex_vectors():
    a = sparse.csr_array(np.array([[2j, 1], [0, 4]]))
    p = sb.Preconditioner(a, "klu")
    assert np.allclose(p @ np.array([2j + 1, 4]), [1, 1])
    assert sb.solve(a, np.array([2j + 1, 4]), preconditioner=p).converged


def test_methods_take_complex_operators():
    rng = np.random.default_rng(6)
    dense = np.eye(20) * 6 + rng.standard_normal((20, 20)) + 1j * rng.standard_normal((20, 20))
    operator = linalg.aslinearoperator(dense)
    operator = linalg.LinearOperator((20, 20), matvec=operator.matvec, dtype=complex)
    b = dense @ np.arange(20)
    for method in (sb.gmres, sb.idr, sb.bicgstab):
        x, info = method(operator, b, rtol=1e-12)
        assert info == 0 and np.allclose(x, np.arange(20))


def test_least_squares_take_complex_matrices():
    rng = np.random.default_rng(7)
    a = rng.standard_normal((12, 5)) + 1j * rng.standard_normal((12, 5))
    b = rng.standard_normal(12) + 1j
    assert np.allclose(sb.lsmr(a, b, atol=1e-12).x, np.linalg.lstsq(a, b, rcond=None)[0])


def test_certificates_of_complex_matrices():
    assert sb.certify(np.array([[3 + 1j, 1], [1j, 3]])).status == "proven"
    assert sb.certify(np.array([[1j, -1], [1, 1j]])).status == "singular"


def quotient(re, im, pivot):
    """(re + im i) / pivot as fractions."""
    p, q = Fraction(float(pivot.real)), Fraction(float(pivot.imag))
    return (re * p + im * q) / (p * p + q * q), (im * p - re * q) / (p * p + q * q)


def rounded(part, dtype):
    """A fraction as the number nearest to it, of 53 or 24 bits."""
    if dtype == np.complex128:
        return float(part)
    near = np.float32(float(part))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return float(min(around, key=lambda v: abs(Fraction(float(v)) - part)))


@pytest.mark.parametrize("dtype", TYPES)
def test_triangular_solves_round_numerators_and_quotients_once(dtype):
    rng = np.random.default_rng(11)
    n = 30
    diagonal = np.diag(rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    a, b = np.tril(hard(rng, n, n, dtype=dtype), -1) * dtype(2.0**-30) + diagonal, hard(rng, n, dtype=dtype)
    x = sb.solve_triangular(a, b)
    assert x.dtype == dtype
    for i in range(n):
        re, im = exact_products([(-a[i, j], x[j]) for j in range(i)] + [(b[i], np.complex128(1))])
        parts = quotient(*(Fraction(rounded(part, dtype)) for part in (re, im)), a[i, i])
        assert x[i] == complex(*(rounded(part, dtype) for part in parts))
    full = a + np.triu(hard(rng, n, n, dtype=dtype), 1)
    assert (sb.solve_triangular(full, b) == x).all()
    assert (sb.solve_triangular(sparse.csr_array(a), b) == x).all()
    assert (sb.solve_triangular(sb.Matrix(sparse.csr_array(a)), b, threads=2) == x).all()
    assert (sb.solve_triangular(full[::-1, ::-1], b[::-1], lower=False) == x[::-1]).all()
    columns = np.stack([b, b[::-1], 1j * b], axis=1)
    for of in (a, sparse.csr_array(a)):
        found = sb.solve_triangular(of, columns)
        assert found.shape == (n, 3)
        assert all((found[:, j] == sb.solve_triangular(of, columns[:, j].copy())).all() for j in range(3))


def test_triangular_solves_take_any_mixture():
    a, b = np.array([[2.0, 7], [1, 4]]), np.array([2j, 9])
    expected = sb.solve_triangular(a + 0j, b)
    for same in (a, sb.Matrix(a), sparse.csr_array(np.tril(a)), sb.Matrix(sparse.csr_array(np.tril(a)))):
        assert (sb.solve_triangular(same, b) == expected).all()
    assert (sb.solve_triangular(a * 1j, [2.0, 9.0]) == [-1j, -2j]).all()
    assert (sb.solve_triangular(a * 1j, b, unit_diagonal=True) == [2j, 11]).all()


def test_triangular_solves_refuse_what_is_no_triangle():
    with pytest.raises(sb.InvalidArgument, match="the diagonal entry of row 2 is 0"):
        sb.solve_triangular(np.array([[1j, 0], [1, 0]]), [1, 2])
    with pytest.raises(sb.InvalidArgument, match="beyond the diagonal of a lower"):
        sb.solve_triangular(sparse.csr_array([[1j, 1], [0, 1]]), [1, 2])
    with pytest.raises(sb.InvalidArgument, match="must be square"):
        sb.solve_triangular(np.array([[1j, 0, 3], [1, 1, 3]]), [1, 2])
    with pytest.raises(sb.DimensionMismatch):
        sb.solve_triangular(np.array([[1j]]), [1, 2])
    with pytest.raises(sb.InvalidArgument, match="the matrix floats"):
        sb.solve_triangular(np.array([[1j]], np.complex64), np.array([1j]))
    with pytest.raises(sb.InvalidArgument, match="b has 3 dimensions"):
        sb.solve_triangular(np.array([[1j]]), np.array([[[1j]]]))


@pytest.mark.parametrize("dtype", TYPES)
def test_triangular_solves_take_dense_matrices_as_they_lie(dtype):
    rng = np.random.default_rng(12)
    n = 40
    a = hard(rng, n, n, dtype=dtype) * dtype(2.0**-30) + np.eye(n, dtype=dtype) * dtype(3 + 4j)
    b = hard(rng, n, dtype=dtype)
    expected = sb.solve_triangular(sparse.csr_array(np.tril(a)), b)
    strided = np.zeros((2 * n, 3 * n), dtype)[::2, ::3]
    strided[...] = a
    for same in (a, np.asfortranarray(a), strided):
        assert (sb.solve_triangular(same, b) == expected).all()
    with np.errstate(all="ignore"):
        assert np.isnan(sb.solve_triangular(np.array([[1, 0], [0, 1]]) * (1 + 0j), [np.inf, 0])[1])  # zero times Inf


def test_jacobi_divides_by_complex_diagonals():
    a = sparse.csr_array([[2j, 1, 0], [0, 1 + 1j, 5], [0, 0, 4]])
    r = np.array([1 + 2j, 4, 1j])
    jacobi = sb.Preconditioner(a, "jacobi")
    assert (jacobi @ r == [1 - 0.5j, 2 - 2j, 0.25j]).all()
    b = a @ np.array([1, 2j, 3])
    by_name = sb.solve(a, b, preconditioner="jacobi")
    assert by_name.converged and (by_name.x == sb.solve(a, b, preconditioner=jacobi).x).all()


def test_blocks_are_those_of_complex_rows():
    a = sparse.csr_array([[2 + 2j, 1, 0], [3, 1 + 1j, 5], [0, 7, 4]])
    alone = sb.Preconditioner(sparse.csr_array([[2 + 2j, 1, 0], [3, 1 + 1j, 0], [0, 0, 4]]), "ilu0")
    assert sb.Preconditioner(a, "ilu0", block_of_row=[0, 0, 1]).factor_hash == alone.factor_hash


def test_hermitian_matrices_are_solved_by_conjugate_gradients():
    a = sparse.csr_array([[3, 1j, 0], [-1j, 3, 1], [0, 1, 3]])
    result = sb.solve(a, np.array([1, 2j, 3]), preconditioner="jacobi")
    assert {attempt.method for attempt in result.attempts} == {"cg"} and result.converged


def test_files_come_back(tmp_path):
    path = tmp_path / "a.mtx"
    a = sparse.csr_array(np.array([[1 + 2j, 0], [0.1j, 1e-300]]))
    sb.write_mtx(path, a)
    again = sb.read_mtx(path)
    assert again.dtype == np.complex128 and (again.to_scipy().toarray() == a.toarray()).all()
    with pytest.raises(sb.FileError, match="complex"):
        sb.read_mtx(path, dtype=np.float64)
    for dense in (np.array([1j, 0, 2]), np.array([[1j, 0, 2], [3, 4j, 0]]), np.array([1j, 0.1], np.complex64), np.array([1j, 2], ">c16")):
        sb.write_mtx(path, dense)
        assert (sb.read_mtx(path, dtype=dense.dtype.newbyteorder("=")) == dense).all()
    with pytest.raises(sb.InvalidArgument, match="3 dimensions; expected one or two"):
        sb.write_mtx(path, np.zeros((2, 2, 2), complex))


def test_the_order_of_bytes_does_not_matter():
    a, b = np.array([[2, 1j], [-1j, 3]]), np.array([1, 2j])
    x = sb.solve(a, b).x
    assert (sb.solve(a.astype(">c16"), b.astype(">c16")).x == x).all()
    assert sb.sum(b.astype(">c16")) == sb.sum(b) and (sb.Matrix(a.astype(">c16")) @ b.astype(">c8") == sb.Matrix(a) @ b).all()


def test_generated_matrices_are_complex():
    m = sb.generate("helmholtz_5")
    assert m.dtype == np.complex128 and m.shape == (25, 25)
    a = m.to_scipy().toarray()
    assert (a == a.T).all() and not (a == a.conj().T).all()


REAL = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])


@pytest.mark.parametrize("method", [sb.bicgstab, sb.gmres, sb.idr])
def test_a_complex_preconditioner_makes_a_real_system_complex(method):
    b, inverse = np.array([1.0, 2, 3]), (1 + 2j) * np.linalg.inv(REAL)
    for m in (inverse, linalg.aslinearoperator(inverse), sb.Preconditioner(REAL * (1 + 2j), "klu")):
        for a in (REAL, linalg.LinearOperator((3, 3), matvec=lambda x: REAL @ x, dtype=float)):
            found = method(a, b, M=m, rtol=1e-12)
            assert found.info == 0 and found.x.dtype == np.complex128 and np.allclose(REAL @ found.x, b)
    assert np.allclose(REAL @ sb.solve(REAL, b, preconditioner=sb.Preconditioner(REAL * (1 + 2j), "klu")).x, b)


def test_a_preconditioner_that_returns_complex_numbers_unasked_is_refused():
    says_real = linalg.LinearOperator((3, 3), matvec=lambda r: 1j * r, dtype=float)
    with pytest.raises(sb.InvalidArgument, match=r"returned complex128 of the shape \(3,\); expected 3 real numbers"):
        sb.gmres(REAL, np.ones(3), M=says_real)


@pytest.mark.parametrize("dtype", TYPES)
def test_real_preconditioners_serve_complex_systems(dtype):
    a, b = (REAL + 1j * np.eye(3)).astype(dtype), np.array([1, 2j, 3], dtype)
    real = REAL.astype(dtype(0).real.dtype)
    for m in (np.linalg.inv(REAL), sb.Preconditioner(real, "klu")):
        assert sb.gmres(a, b, M=m, rtol=1e-5).info == 0
    assert sb.solve(a, b, preconditioner=sb.Preconditioner(real, "klu"), rtol=1e-5).converged
    assert sb.Preconditioner(a, "klu").dtype == dtype


def test_least_squares_of_complex_matrices_count_and_measure_complex_numbers():
    rng = np.random.default_rng(7)
    a = rng.standard_normal((12, 5)) + 1j * rng.standard_normal((12, 5))
    b = rng.standard_normal(12) + 1j
    found = sb.lsmr(a, b, atol=1e-10, btol=1e-10)
    assert found.istop == 2 and found.itn <= 5
    assert np.isclose(found.norma, np.linalg.norm(a)) and np.isclose(found.normr, np.linalg.norm(b - a @ found.x))
    assert found.normar <= 1e-10 * found.norma * found.normr
    assert sb.lsmr(a, b, atol=1e-15, btol=0, maxiter=2).istop == 7
    assert sb.lsmr(a, a @ np.ones(5), atol=0, btol=0, maxiter=50).istop in (1, 5)


@pytest.mark.parametrize("a", [np.eye(3, 2), np.eye(3, 2) * 1j])
def test_least_squares_tell_of_what_is_not_finite(a):
    found = sb.lsmr(a, [1.0, np.nan, 2.0])
    assert found.istop == 8 and np.isnan(found.normr)


def test_gmres_counts_complex_steps():
    n, seen = 60, []
    a = np.diag(np.full(n, 2.0 + 0.1j)) - np.eye(n, k=1) - np.eye(n, k=-1)
    for kind, steps in (("pr_norm", 15), ("legacy", 3)):
        seen.clear()
        info = sb.gmres(a, np.ones(n), M=None, restart=5, maxiter=3, callback=seen.append, callback_type=kind).info
        assert info == 3 and len(seen) == steps


@pytest.mark.parametrize("guarantee", ["none", "bound", "rounded"])
def test_empty_systems_are_solved(guarantee):
    found = sb.solve(np.empty((0, 0), complex), np.empty(0), guarantee=guarantee)
    assert found.x.shape == (0,) and found.x.dtype == np.complex128


def test_own_preconditioners_of_complex_systems_get_parts():
    a, sizes = REAL * (1 + 2j), []

    def divide(parts):
        sizes.append(parts.size)
        return parts / 4

    mine = sb.Preconditioner.from_function(divide, 6)
    assert sb.solve(a, np.ones(3), preconditioner=mine).converged
    assert sb.gmres(a, np.ones(3), M=mine).info == 0 and set(sizes) == {6}
    with pytest.raises(sb.DimensionMismatch, match="the preconditioner has 5 rows"):
        sb.solve(a, np.ones(3), preconditioner=sb.Preconditioner.from_function(divide, 5))


def test_bounds_are_those_of_complex_numbers():
    a, b = np.array([[3j, 0], [1, 7 - 1j]]), np.array([1j, 2])
    x = np.array([1 / 3, (2 - 1 / 3) / (7 - 1j)])
    proof = sb.solve(a, b, guarantee="bound").proof
    assert 0 < proof.error_bound < 1e-9 and proof.bounds.shape == (4,)
    bounds = sb.certify(a).error_bound(b, x)
    assert bounds.shape == (2,) and (0 < bounds).all() and (bounds < 1e-14).all()
    assert (sb.certify(a).error_bound([1j, 2], x, x_low=1e-3 * x) >= 1e-3 * abs(x)).all()
    assert (sb.certify(a).error_bound([3j, 8 - 1j], [1, 1]) == 0).all()
    two = sb.solve(a, np.stack([b, 1j * b], axis=1), guarantee="bound")
    assert all(0 < p.error_bound < 1e-9 for p in two.proofs)
    with pytest.raises(sb.DimensionMismatch, match=r"x has the shape \(4,\), the matrix \(2, 2\)"):
        sb.certify(a).error_bound(b, np.ones(4))


def test_certify_names_its_methods():
    with pytest.raises(sb.InvalidArgument, match="'auto', 'bicgstab', 'cg', 'gmres', 'minres', 'idr', 'bicgstab2' or 'cocg'"):
        sb.certify(REAL, method=None)


def test_scalars_are_complex():
    rng = np.random.default_rng(0)
    a, b = rng.random((10, 10)) + 1j * rng.random((10, 10)), np.ones(10)
    seen = []
    found = sb.gmres(a, b, M=None, rtol=1e-8, callback=seen.append, callback_type="pr_norm")
    assert found.info == 0 and len(seen) == 10  # one step for each of the ten dimensions, not of twenty
    assert sb.solve(a, b, method="gmres", preconditioner="none").iterations == 10


def test_an_interrupted_solve_leaves_complex_numbers():
    def stop(_):
        raise KeyboardInterrupt

    operator = linalg.LinearOperator((3, 3), matvec=lambda x: REAL @ x * 1j, dtype=complex)
    for call in (
        lambda: sb.solve(REAL * 1j, np.ones(3), callback=stop),
        lambda: sb.bicgstab(REAL * 1j, np.ones(3), M=None, callback=stop),
        lambda: sb.bicgstab(operator, np.ones(3), callback=stop),
    ):
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
        assert caught.value.result.x.dtype == np.complex128 and caught.value.result.x.shape == (3,)


def test_real_matrices_become_complex_ones():
    a = np.array([[2.0**52, 1.0, -(2.0**52)], [0.0, 2.0, 0.0]])
    for given in (a, a.astype(int), sparse.csr_array(a), sb.Matrix(a), sb.Matrix(sparse.csr_array(a)), sb.ComplexMatrix(a)):
        made = sb.ComplexMatrix(given)
        assert made.dtype == np.complex128 and np.array_equal(made @ np.full(3, 1 + 1j), [1 + 1j, 2 + 2j])
    assert sb.ComplexMatrix(sb.Matrix(np.eye(2, dtype="f4"))).dtype == np.complex64
