from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import samebits as sb
from test_solves import poisson


def test_rounded_bits_depend_on_the_system_alone():
    a, b = poisson(), np.random.default_rng(2).standard_normal(900)
    prints = set()
    for preconditioner in ("auto", "none", "jacobi", "ilu0", "amg"):
        for accuracy in ("fast", "exact"):
            for precision in ("double", "mixed"):
                options = {"preconditioner": preconditioner, "accuracy": accuracy, "precision": precision}
                r = sb.solve(a, b, rtol=1e-8, guarantee="rounded", **options)
                assert r.converged and r.proof.status == "proven" and r.proof.undecided == 0 and r.proof.rounded == 900
                prints.add(r.fingerprint)
    assert len(prints) == 1


def test_bounds_hold():
    """The solution of this system is known: (1, 7) / 11."""
    r = sb.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0], guarantee="bound")
    assert r.proof.status == "proven" and "proof" in repr(r)
    for x, exact, bound in zip(r.x, (Fraction(1, 11), Fraction(7, 11)), r.proof.bounds):
        assert abs(Fraction(float(x)) - exact) <= Fraction(float(bound))
    assert 0 <= r.proof.error_bound < 1e-9 and r.proof.certified_digits > 9
    rounded = sb.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0], guarantee="rounded")
    assert list(rounded.x) == [1 / 11, 7 / 11]


def decaying():
    """Of its solution the last components are far below what can be proven of them."""
    a = sp.diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    return a, np.eye(100)[0]


def test_what_is_not_proven_warns():
    a, b = decaying()
    with pytest.warns(sb.ConvergenceWarning, match="could not prove"):
        r = sb.solve(a, b, guarantee="rounded")
    assert r.converged and r.proof.undecided > 0 and "could not prove" in str(r)
    with pytest.raises(sb.NotConverged, match="could not be decided"):
        r.raise_for_status()
    both = np.stack([np.zeros(100), b], axis=1)
    with pytest.warns(sb.ConvergenceWarning, match="could not prove"):
        of_both = sb.solve(a, both, guarantee="rounded")
    assert "proofs[1] could not prove" in repr(of_both) and "proofs[1] could not prove" in str(of_both)
    assert sb.solve(a, b, guarantee="bound").raise_for_status().proof.status == "proven"


def test_a_certificate_is_of_the_matrix_as_it_was():
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    c = sb.certify(a)
    a[1, 1] = 0.25000001
    assert (c.error_bound([1.0, 2.0], [1 / 11, 7 / 11]) < 1e-15).all()


def test_columns_have_a_proof_each():
    a, b = poisson(10), np.random.default_rng(3).standard_normal((100, 3))
    r = sb.solve(a, b, guarantee="rounded")
    assert [p.status for p in r.proofs] == ["proven"] * 3
    alone = [sb.solve(a, b[:, j].copy(), guarantee="rounded").x for j in range(3)]
    assert np.array_equal(r.x, np.array(alone).T)


@pytest.mark.parametrize("factor", [1.0, 1j])
@pytest.mark.parametrize("guarantee", ["bound", "rounded"])
def test_singular_matrices_are_named(guarantee, factor):
    with pytest.warns(sb.ConvergenceWarning, match="solve: not solved, true residual"):
        r = sb.solve(np.array([[1.0, -1.0], [-1.0, 1.0]]) * factor, [1.0, 1.0], guarantee=guarantee)
    assert r.status == r.proof.status == "singular" and r.iterations == 0 and r.attempts == [] and "A times ones" in r.proof.reason
    assert "iteration limit" not in repr(r)
    assert r.obstacle == r.proof.reason and str(r).count(r.obstacle) == repr(r).count(r.obstacle) == 1


def test_every_column_of_a_singular_system_has_its_status():
    with pytest.warns(sb.ConvergenceWarning, match=r"solve: not solved, .*; proofs\[0\] singular: A is singular: [^;]*zero$"):
        r = sb.solve([[1.0, -1.0], [-1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]], guarantee="bound")
    assert [column["status"] for column in r.columns] == ["converged", "singular"] and r.status == "singular"


def test_a_limit_of_no_iterations_is_one():
    with pytest.warns(sb.ConvergenceWarning, match="solve: iteration limit after 0 iterations"):
        assert sb.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0], guarantee="bound", maxiter=0).status == "iteration limit"


def test_an_obstacle_beside_a_failed_proof_is_told():
    r = sb.Result(np.zeros(1), [{"status": "stagnated", "iterations": 1, "residual": 1.0, "recursive_residual": 1.0, "history": []}], [], False)
    r.obstacle = "a row is empty"
    with pytest.warns(sb.ConvergenceWarning):
        r.proofs = sb.solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 0.0], guarantee="bound").proofs
    assert str(r).endswith("multiples of one another; a row is empty") and "\nobstacle         a row is empty\n" in repr(r)


def test_certificates_serve_any_right_hand_side():
    a = [[4.0, 1.0], [1.0, 3.0]]
    c = sb.certify(a)
    assert (c.status, c.reason, repr(c)) == ("proven", "H-matrix", "proven: H-matrix")
    assert c.reach.shape == c.weights.shape == (2,) and not c.adds_up and c.iterations >= 1
    for b, exact in (([1.0, 2.0], (Fraction(1, 11), Fraction(7, 11))), ([0.0, 11.0], (Fraction(-1), Fraction(4)))):
        x, low = [float(e) + 0.25 for e in exact], [-0.25, -0.25]
        for bound, e, given in zip(c.error_bound(b, x), exact, x):
            assert abs(Fraction(given) - e) <= Fraction(float(bound)) <= 1
        assert (c.error_bound(b, x, x_low=low) < 1e-14).all()
    with pytest.raises(sb.DimensionMismatch):
        c.error_bound([1.0], [1.0, 2.0])


def test_certificates_of_floats():
    a = np.array([[4, 1], [1, 3]], dtype=np.float32)
    bounds = sb.certify(a).error_bound(np.float32([1, 2]), np.float32([1 / 11, 7 / 11]))
    assert bounds.dtype == np.float64 and (bounds < 1e-6).all()


def test_certificates_of_singular_matrices_bound_nothing():
    c = sb.certify([[1.0, 2.0], [3.0, 6.0]])
    assert c.status == "singular" and "multiples of one another" in c.reason and c.reach.size == 0
    with pytest.raises(sb.InvalidArgument, match="singular"):
        c.error_bound([1.0, 1.0], [1.0, 1.0])
    with pytest.raises(sb.DimensionMismatch):
        sb.certify([[1.0, 2.0]])
    with pytest.raises(sb.InvalidArgument, match="preconditioner"):
        sb.certify([[1.0]], preconditioner="magic")


def test_proofs_need_no_estimates():
    r = sb.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0], guarantee="bound")
    assert r.proof.estimated_error < 0


def test_without_a_guarantee_there_is_no_proof():
    r = sb.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0])
    assert r.proof is None and r.proofs == []


def test_bad_guarantees_are_refused():
    a, b = [[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]
    with pytest.raises(sb._core.InvalidArgument, match="none, bound or rounded"):
        sb.solve(a, b, guarantee="sure")
    with pytest.raises(sb._core.InvalidArgument, match="made here"):
        sb.solve(a, b, guarantee="bound", preconditioner=sb.Preconditioner(a, "jacobi"))
