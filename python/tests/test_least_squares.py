"""`lstsq` beside NumPy's, and what it claims."""

import numpy as np
import pytest
import scipy.sparse as sp

import samebits as sb


def differences(n):
    """x_i - x_(i-1), n + 1 rows: LSMR takes n steps."""
    return sp.diags_array([1.0, -1.0], offsets=[0, -1], shape=(n + 1, n), format="csr")


def largest_cosine(a, b, x):
    """In long double."""
    a = np.asarray(a.toarray() if sp.issparse(a) else a).astype(np.clongdouble)
    r = b - a @ x
    return float(np.max(np.abs(a.conj().T @ r) / np.linalg.norm(np.abs(a), axis=0)) / np.linalg.norm(np.abs(r)))


@pytest.mark.parametrize("shape, rank", [((30, 8), 8), ((8, 30), 8), ((30, 12), 5), ((12, 30), 5), ((9, 9), 9), ((7, 1), 1), ((1, 7), 1)])
@pytest.mark.parametrize("is_complex", [False, True])
def test_is_numpys_of_least_norm(shape, rank, is_complex):
    rng = np.random.default_rng(3)

    def numbers(rows, columns):
        return rng.integers(-4, 5, (rows, columns)) + (1j * rng.integers(-4, 5, (rows, columns)) if is_complex else 0.0)

    a, b = numbers(shape[0], rank) @ numbers(rank, shape[1]), rng.standard_normal(shape[0])
    expected = np.linalg.lstsq(a, b, rcond=1e-12)[0]
    for given in (a, sp.csr_array(a), sb.Matrix(a)):
        found = sb.lstsq(given, b, rtol=1e-13)
        assert found.converged and found.x.dtype == (complex if is_complex else float)
        assert np.linalg.norm(found.x - expected) < 1e-9 * np.linalg.norm(expected)


@pytest.mark.parametrize("rtol", [1e-2, 1e-4])
def test_claims_hold_of_both_parts_of_complex_numbers_together(rtol):
    rng = np.random.default_rng(8)
    for _ in range(40):
        a = rng.standard_normal((30, 12)) + 1j * rng.standard_normal((30, 12))
        b = rng.standard_normal(30)
        found = sb.lstsq(a, b, rtol=rtol)
        cosine = largest_cosine(a, b, found.x)
        assert found.converged and cosine <= rtol and found.normal_residual / 1.5 <= cosine <= found.normal_residual * (1 + 1e-9)


def test_factors_save_nearly_all_steps_and_units_do_not_matter():
    b = np.random.default_rng(3).standard_normal(701)
    a = differences(700)
    plain = sb.lsmr(a, b, atol=1e-10, btol=1e-10)
    for scaled in (a, a @ sp.diags_array(10.0 ** np.linspace(-8, 8, 700))):
        found = sb.lstsq(scaled, b)
        assert found.converged and found.iterations < 70 < plain.itn and found.factor_entries > 700
        assert largest_cosine(scaled, b, found.x) == pytest.approx(found.normal_residual, rel=0.2, abs=1e-15)
    assert sb.lstsq(a, b, threads=1).fingerprint == sb.lstsq(a, b, threads=2).fingerprint
    without = sb.lstsq(a, b, memory_limit=1000)
    assert without.converged and without.factor_entries == 0 and without.iterations > 600


def test_fits_a_cubic_in_large_numbers():
    t = np.linspace(0, 1000, 400)
    a = np.vander(t, 4)
    b = a @ [1e-6, -2e-3, 3.0, 5.0] + np.random.default_rng(2).standard_normal(400)
    exact = np.linalg.lstsq(a / np.linalg.norm(a, axis=0), b, rcond=None)[0] / np.linalg.norm(a, axis=0)
    assert np.allclose(sb.lstsq(a, b).x, exact, rtol=1e-9)


def test_a_guess_stays_in_the_null_space():
    a = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    found = sb.lstsq(a, np.array([2.0, 4.0, 1.0]), x0=np.array([7.0, -7.0]))
    assert found.converged and np.allclose(found.x, [8, -6])


def test_warns_where_the_aim_is_not_met():
    with pytest.warns(sb.ConvergenceWarning, match="lstsq: iteration limit after 3 iterations") as warned:
        found = sb.lstsq(differences(300), np.random.default_rng(1).standard_normal(301), maxiter=3)
    assert not found.converged and warned[0].message.result is found


def test_takes_floats_and_a_column():
    a = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dtype=np.float32)
    assert np.allclose(sb.lstsq(a, np.array([[1.0], [3.0], [5.0]])).x, [[1], [2]])
    assert np.allclose(sb.lstsq(a, np.array([1.0, 3.0, 5.0], dtype=np.float32)).x, [1, 2])


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("rank", [6, 4])
def test_columns_have_the_bits_that_they_have_by_themselves(is_complex, rank):
    rng = np.random.default_rng(3)

    def numbers(rows, columns):
        return rng.standard_normal((rows, columns)) + (1j * rng.standard_normal((rows, columns)) if is_complex else 0)

    a, b, x0 = numbers(20, rank) @ numbers(rank, 6), numbers(20, 3), numbers(6, 3)
    b[:, 1] = 0
    for given in (a, sp.csr_array(a)):
        together = sb.lstsq(given, b, x0=x0, rtol=1e-12)
        assert together.converged and together.x.shape == (6, 3) and len(together.columns) == 3
        for j, told in enumerate(together.columns):
            alone = sb.lstsq(given, b[:, j], x0=x0[:, j], rtol=1e-12)
            assert np.array_equal(together.x[:, j], alone.x) and alone.columns == [told]
            assert (alone.status, alone.iterations, alone.residual) == (told["status"], told["iterations"], told["residual"])
        assert together.normal_residual == max(c["normal_residual"] for c in together.columns)
    assert np.allclose(sb.lstsq(a, b).x, np.linalg.lstsq(a, b, rcond=1e-12)[0], rtol=1e-8, atol=1e-8)
    assert sb.lstsq(a, b[:, :1]).x.shape == (6, 1) and sb.lstsq(a, b[:, :0]).x.shape == (6, 0)


def test_the_first_column_that_did_not_converge_gives_the_status():
    b = np.random.default_rng(1).standard_normal((301, 2)) * [0, 1]
    with pytest.warns(sb.ConvergenceWarning, match="lstsq: iteration limit after 3 iterations"):
        found = sb.lstsq(differences(300), b, maxiter=3)
    assert found.status == "iteration limit" and [c["status"] for c in found.columns] == ["converged", "iteration limit"]


def test_lstsq_says_what_was_missed_and_what_may_help():
    a = np.vander(np.arange(1960, 2020.0), 9)
    b = np.random.default_rng(1).standard_normal(60)
    with pytest.warns(sb.ConvergenceWarning, match=r"stagnated after \d+ iterations, normal residual .* for rtol=1.0e-10: columns of A .*centre"):
        sb.lstsq(a, b)
    sparse = sp.random_array((400, 300), density=0.1, rng=2)
    with pytest.warns(sb.ConvergenceWarning, match="iteration limit after 1 iteration, .*larger maxiter"):
        sb.lstsq(sparse, np.ones(400), maxiter=1)
    with pytest.warns(sb.ConvergenceWarning, match="non-finite after 0 iterations: A, b or x0 has a number that is not finite"):
        sb.lstsq([[1.0], [np.inf]], [1.0, 2.0])


def test_lstsq_fits_polynomials_as_far_as_doubles_go():
    """Beside the fit by Legendre's polynomials, which are nearly at right angles to one another, so that its coefficients are good to
    some units of the largest; those of P_k by powers add up to at most (1 + sqrt(2))^k. Powers have condition numbers to 2e9."""
    t = np.linspace(-1, 1, 200)
    b = np.exp(np.sin(5 * t))
    for degree in (5, 10, 15, 20, 25):
        found = sb.lstsq(np.vander(t, degree + 1), b)
        assert found.converged, degree
        legendre = np.polynomial.legendre.legfit(t, b, degree)
        error = 100 * 2.0**-52 * np.abs(legendre).max() * (1 + np.sqrt(2)) ** degree
        assert np.abs(np.polynomial.legendre.leg2poly(legendre)[::-1] - found.x).max() <= error, degree


def test_a_masked_measurement_and_heavy_constraints_hide_nothing():
    a = np.array([[1.0, 0], [1, 1], [1, 2], [0, 0]])
    assert np.allclose(sb.lstsq(a, [1, 3, 5, 1e12]).x, [1, 2], rtol=1e-12)
    rng = np.random.default_rng(2)
    rows, held = sp.random_array((1000, 200), density=0.05, rng=rng), sp.random_array((20, 200), density=0.1, rng=rng)
    b, d = rng.standard_normal(1000), rng.standard_normal(20)
    found = sb.lstsq(sp.vstack([rows, 1e12 * held]).tocsr(), np.r_[b, 1e12 * d])
    kkt = np.block([[(rows.T @ rows).toarray(), held.T.toarray()], [held.toarray(), np.zeros((20, 20))]])
    expected = np.linalg.solve(kkt, np.r_[rows.T @ b, d])[:200]
    assert found.converged and np.linalg.norm(found.x - expected) <= 1e-6 * np.linalg.norm(expected)
