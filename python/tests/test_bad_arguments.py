"""What is refused, and that the message says what was seen and what is expected: errors are for people."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import samebits as sb

A = sp.csr_array(sp.diags_array([-1.0, 2.5, -1.2], offsets=[-1, 0, 1], shape=(10, 10)))
b = np.ones(10)
read_only = np.ones(10)
read_only.flags.writeable = False


R = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
C = R * (1 + 1j)
b3 = np.ones(3)
masked = np.ma.array(b3, mask=[1, 0, 0])
masked_values = np.ma.array([1.0, 2.0], mask=[0, 1])
ragged = [[1.0, 2.0], [3.0]]


class OwnMaskedArray(np.ma.MaskedArray):
    pass


class Operator:
    def __init__(self, matvec, shape=(3, 3), dtype=float):
        self.matvec, self.dtype = matvec, np.dtype(dtype)
        if shape is not None:
            self.shape = shape


def far(a, where, value):
    """The matrix with another element."""
    changed = a.copy()
    changed[where] = value
    return changed


def single(a, b, **options):
    return sb.solve(a, b, precision="single", **options)


def precondition(function, rows=10, **options):
    return sb.Preconditioner.from_function(function, rows, **options)


DOUBLES_BESIDE_FLOATS = r"{0} has doubles, .* A.astype\('float64'\) .*, which changes no value, or round {0} yourself: {0}.astype\('float32'\)"

REFUSED = {
    "none": (lambda: sb.sum(None), "x is None; expected float64"),
    "rows of different lengths": (lambda: sb.sum([[1.0, 2.0], [3.0]]), "x makes no array"),
    "text": (lambda: sb.norm("abc"), "the dtype <U3"),
    "integers that no double holds": (lambda: sb.sum([2**70]), "Python objects, the first of the type int"),
    "integers that no double holds beside an integer": (lambda: sb.sum([2**63 + 1, -(2**63)]), "x has integers beyond 2\\^53"),
    "integers that no double holds beside a number": (lambda: sb.vdot([[2**53 + 1], [0.5]], [[1.0], [1.0]]), "x has integers beyond 2\\^53"),
    "integers that no double holds beside a complex number": (lambda: sb.norm((2**53 + 1, 1j)), "x has integers beyond 2\\^53"),
    "a sparse matrix as a vector": (lambda: sb.sum(A), "x is a sparse matrix, csr_array; expected a dense array"),
    "masked": (lambda: sb.sum(masked_values), "x is a masked array"),
    "the constant that is masked": (lambda: sb.sum(np.ma.masked), "x is a masked array"),
    "masked in a class of its own": (lambda: sb.norm(masked_values.view(OwnMaskedArray)), "x is a masked array"),
    "masked values": (lambda: sb.Matrix.from_csr((1, 2), [0, 2], [0, 1], masked_values), "values is a masked array"),
    "masked complex values": (lambda: sb.Matrix.from_csr((1, 2), [0, 2], [0, 1], masked_values * 1j), "values is a masked array"),
    "masked elements of a file": (lambda: sb.write_mtx("never.mtx", masked_values), "a is a masked array"),
    "rows of different lengths of a file": (lambda: sb.write_mtx("never.mtx", ragged), "a makes no array"),
    "out that is read": (lambda: sb.Matrix(A).matvec(b, out=b), "out overlaps"),
    "out that is read by matmul": (lambda: (lambda a: sb.matmul(a, a, out=a))(np.eye(3)), "out overlaps"),
    "out that is read-only": (lambda: sb.Matrix(A).matvec(b, out=read_only), "read-only"),
    "out with gaps": (lambda: sb.Matrix(A).matvec(b, out=np.ones(20)[::2]), "gaps"),
    "out of another shape": (lambda: sb.Matrix(A).residual(b, b, out=np.ones(9)), r"out is float64 \(9,\); expected float64 \(10,\)"),
    "out of another dtype": (lambda: sb.matmul(np.eye(2), np.eye(2), out=np.eye(2, dtype="f4")), "out is float32"),
    "out that is no array": (lambda: sb.Matrix(A).matvec(b, out=[0.0] * 10), "out is of list"),
    "a matrix that is none": (lambda: sb.Matrix(None), "the matrix is None"),
    "a matrix without entries": (lambda: sb.Matrix(LinearOperator((3, 3), lambda x: x)), "the matrix is of the type .*LinearOperator; expected a matrix with entries .*cg, gmres, .* take operators"),
    "an operator to solve with": (lambda: sb.solve(Operator(lambda x: x), b3), r"the matrix is of the type Operator; expected .* \(bicgstab, cg, gmres, minres"),
    "a complex operator to solve with": (lambda: sb.solve(Operator(lambda x: x, dtype=complex), b3), "the matrix is of the type Operator; expected a matrix with"),
    "a complex operator as a triangle": (lambda: sb.solve_triangular(Operator(lambda x: x), b3 * 1j), "the matrix is of the type Operator; expected a matrix with"),
    "a storage": (lambda: sb.Matrix(A, storage=None), "storage is None; expected 'auto', 'csr' or 'packed'"),
    "products": (lambda: sb.Matrix(A, expected_products=-5), "expected_products is -5"),
    "a shape": (lambda: sb.Matrix.from_csr(2, [0, 1, 2], [1, 0], [3.0, 4.0]), "shape is 2"),
    "a shape of three": (lambda: sb.Matrix.from_csr((2, 2, 2), [0, 1, 2], [1, 0], [3.0, 4.0]), "expected two numbers"),
    "values in two dimensions": (lambda: sb.Matrix.from_csr((2, 2), [0, 1, 2], [1, 0], [[3.0, 4.0]]), r"values have the shape \(1, 2\)"),
    "a column of 64 bits": (lambda: sb.Matrix.from_csr((2, 2), [0, 1, 2], [1, 5], [3.0, 4.0]), "column index is 5; expected 0 to 1"),
    "offsets": (lambda: sb.Matrix.from_csr((2, 2), [0.0, 1, 2], [1, 0], [3.0, 4.0]), "row offsets have the dtype float64"),
    "no offsets": (lambda: sb.Matrix.from_csr((0, 0), [], [], []), "row_offsets has 0 elements"),
    "a product": (lambda: sb.Matrix(A) @ np.ones((3, 3)), "a vector of 10 elements or a matrix of 10 rows"),
    "a kind": (lambda: sb.Preconditioner(A, None), "kind is None; expected 'none', 'jacobi'"),
    "a drop tolerance": (lambda: sb.Preconditioner(A, "ilut", drop_tolerance="x"), "drop_tolerance is 'x'"),
    "a memory limit": (lambda: sb.Preconditioner(A, "klu", memory_limit=-1), "memory_limit is -1"),
    "blocks of nine rows": (lambda: sb.Preconditioner(A, "ilu0", block_of_row=np.zeros(9, int)), r"of the shape \(9,\); expected 10 integers"),
    "blocks of no number": (lambda: sb.Preconditioner(A, "ilu0", block_of_row=np.zeros(10)), "block_of_row is float64"),
    "no function": (lambda: precondition(3), "3 is no function"),
    "a dtype": (lambda: precondition(lambda r: r, dtype=int), "the dtype is int64"),
    "a function of no result": (lambda: precondition(lambda r: None) @ b, "returned None; expected 10 numbers"),
    "a function of a short result": (lambda: precondition(lambda r: r[:3]) @ b, r"of the shape \(3,\); expected 10 real numbers"),
    "no right-hand side": (lambda: sb.solve(A, None), "b is None"),
    "no iterations": (lambda: sb.solve(A, b, maxiter=None), "maxiter is None; expected a whole number"),
    "half an iteration": (lambda: sb.solve(A, b, maxiter=2.5), "maxiter is 2.5"),
    "too many iterations": (lambda: sb.solve(A, b, maxiter=10**30), "expected a whole number"),
    "a preconditioner": (lambda: sb.solve(A, b, preconditioner=3), "preconditioner is 3; expected 'auto', 'none'"),
    "an unknown preconditioner": (lambda: sb.solve(A, b, preconditioner="ilu"), "'ilu' is not known; choose auto, none, "),
    "a preconditioner of floats": (
        lambda: sb.solve(A, b, preconditioner=sb.Preconditioner(A.astype("f4"), "klu")),
        "made for float32, and the matrix is solved in float64",
    ),
    "a guess of doubles beside floats": (lambda: sb.solve(A.astype("f4"), b.astype("f4"), x0=b), DOUBLES_BESIDE_FLOATS.format("x0")),
    "doubles beside a triangle of floats": (lambda: sb.solve_triangular(np.tril(R).astype("f4"), b3), DOUBLES_BESIDE_FLOATS.format("b")),
    "doubles for complex floats": (lambda: sb.Matrix(C.astype("c8")).update(C), DOUBLES_BESIDE_FLOATS.format("values")),
    "threads of a matrix that is made": (lambda: sb.solve(sb.Matrix(A), b, threads=-1), "threads is -1"),
    "a device of a matrix that is made": (lambda: sb.solve(sb.Matrix(A), b, device="x"), "device 'x'"),
    "a memory limit below 0": (lambda: sb.solve(A, b, memory_limit=-1), "memory_limit is -1"),
    "an entry that no float holds": (lambda: single(far(R, (2, 1), -1e60), b3), r"A\[2, 1\] is -1e.60, which is beyond .* would become infinite;"),
    "a sparse entry that would be 0": (lambda: single(sp.csr_array(far(R, (1, 2), 1e-46)), b3), r"A\[1, 2\] is 1e-46, .* become 0; .*='double'"),
    "a right-hand side that would be 0": (lambda: single(R, [0.0, 1.0, 2.0**-150]), r"single': b\[2\] is 7.0\d*e-46"),
    "one of several that no float holds": (lambda: single(R.astype("f4"), far(R, (0, 2), 2.0**128 - 2.0**103)), r"b\[0, 2\] is 3.4\d*e.38"),
    "a guess that no float holds": (lambda: single(R, b3, x0=[1, -1e39, 0]), r"x0\[1\] is -1e.39, which"),
    "a real part that would be 0": (lambda: single(far(C, (2, 0), 1e-50 + 0j), b3), r"the real part of A\[2, 0\] is 1e-50"),
    "an imaginary part that no float holds": (lambda: single(far(C, (0, 1), 1 + 1e39j), b3), r"the imaginary part of A\[0, 1\] is 1e.39"),
    "a negative imaginary part": (lambda: single(sb.Matrix(far(C, (1, 0), 1 - 1e39j)), b3), r"the imaginary part of A\[1, 0\] is -1e.39"),
    "an imaginary part of b": (lambda: single(R, far(C, (1, 2), 1 + 1e39j)), r"the imaginary part of b\[1, 2\] is 1e.39"),
    "a method": (lambda: sb.solve(A, b, method=None), "method is None; expected 'auto', 'bicgstab', 'cg', 'gmres', 'minres', 'idr', 'bicgstab2' or 'cocg'"),
    "least squares as a method": (lambda: sb.solve(A, b, method="lsmr"), r"method is 'lsmr', .* sb.lsmr\(A, b\); expected 'auto', 'bicgstab'"),
    "least squares as a method of proofs": (lambda: sb.certify(A, method="lsmr"), r"method is 'lsmr', .* sb.lsmr\(A, b\)"),
    "a complex vector for a real matrix": (lambda: sb.Matrix(R) @ (b3 * 1j), r"x is complex, .* sb.Matrix\(A.astype\(complex\)\)"),
    "a complex vector for a real preconditioner": (lambda: sb.Preconditioner(R, "klu") @ (b3 * 1j), r"r is complex, .* make the matrix complex"),
    "a profile": (lambda: sb.solve(A, b, profile=3), "profile is 3"),
    "a callback": (lambda: sb.solve(A, b, callback=3), "callback is 3; expected a function"),
    "SciPy's callback": (lambda: sb.cg(A, b, callback=3), "callback is 3"),
    "SciPy's M": (lambda: sb.bicgstab(A, b, M=3), "M is 3; expected a name"),
    "masked complex numbers": (lambda: sb.sum(masked * 1j), "masked array"),
    "masked factors": (lambda: sb.matmul(C, np.ma.array(R, mask=R == 0)), "b is a masked array"),
    "a masked b of a complex system": (lambda: sb.solve(C, masked), "b is a masked array"),
    "a masked b of a complex matrix": (lambda: sb.gmres(C, masked), "b is a masked array"),
    "a masked complex matrix": (lambda: sb.solve(np.ma.array(C, mask=C == 0), b3), "the matrix is a masked array"),
    "a masked M": (lambda: sb.gmres(C, b3, M=np.ma.array(np.eye(3))), "M is a masked array"),
    "a b of no dimension": (lambda: sb.solve(C, 1.0), "b has 0 dimensions"),
    "rows of different lengths in b": (lambda: sb.solve(C, ragged), "b makes no array"),
    "rows of different lengths in the b of lsmr": (lambda: sb.lsmr(C, ragged), "b makes no array"),
    "no b of lsmr": (lambda: sb.lsmr(R, None), "b is None"),
    "rows of different lengths in A": (lambda: sb.gmres(ragged, b3), "A makes no array"),
    "a number as a matrix": (lambda: sb.gmres(np.array(2.0), [1.0]), r"A has the shape \(\)"),
    "no matrix": (lambda: sb.cg(None, [1.0]), "A is None"),
    "a rectangular matrix": (lambda: sb.gmres(R[:2], b3[:2]), r"A has the shape \(2, 3\); expected a square one \(lsmr finds the"),
    "a rectangular matrix of solve": (lambda: sb.solve(R[:2], b3[:2]), r"A has the shape \(2, 3\); expected a square one \(lsmr finds the"),
    "a rectangular real matrix of certify": (lambda: sb.certify(R[:2]), r"A has the shape \(2, 3\); expected a square one \(lsmr finds the"),
    "a rectangular complex matrix": (lambda: sb.solve(C[:2], b3[:2]), r"A has the shape \(2, 3\); expected a square one"),
    "a certificate of a rectangular matrix": (lambda: sb.certify(C[:2]), r"A has the shape \(2, 3\); expected a square one"),
    "an M of another shape": (lambda: sb.gmres(C, b3, M=np.ones((3, 2))), r"M has the shape \(3, 2\), A \(3, 3\)"),
    "an M that is a number": (lambda: sb.gmres(C, b3, M=np.array(1.0)), r"M has the shape \(\), A \(3, 3\)"),
    "an operator without a shape": (lambda: sb.gmres(Operator(lambda x: x, None), b3), "A is of the type Operator, which has no shape"),
    "an operator that returns lists": (lambda: sb.gmres(Operator(lambda x: ragged), b3), "what matvec returned makes no array"),
    "a complex operator that returns nothing": (lambda: sb.gmres(Operator(lambda x: None, dtype=complex), b3), "matvec returned None"),
    "a short b": (lambda: sb.solve(C, b3[:2]), r"b has the shape \(2,\), the matrix \(3, 3\)"),
    "a short b of a method": (lambda: sb.gmres(C, b3[:2]), r"b has the shape \(2,\), A \(3, 3\)"),
    "a short b of least squares": (lambda: sb.lsmr(C, b3[:2]), r"b has the shape \(2,\), A \(3, 3\)"),
    "no b": (lambda: sb.gmres(C, None), "b is None"),
    "a row as b": (lambda: sb.gmres(C, b3.reshape(1, 3)), r"b has the shape \(1, 3\), A \(3, 3\); expected one column"),
    "a short x0": (lambda: sb.solve(C, b3, x0=b3[:2]), r"x0 has the shape \(2,\), b \(3,\)"),
    "a short b of lstsq": (lambda: sb.lstsq(C, b3[:2]), r"lstsq: b has the shape \(2,\), A \(3, 3\)"),
    "no tolerance of lstsq": (lambda: sb.lstsq(R, b3, rtol=0), "rtol and atol are both 0; expected one of them above 0"),
    "an operator without entries for lstsq": (lambda: sb.lstsq(LinearOperator((3, 3), matvec=lambda x: R @ x), b3), "without entries, .* lsmr takes it"),
    "a memory limit of lstsq": (lambda: sb.lstsq(R, b3, memory_limit=-1), "memory_limit is -1"),
    "a short x0 of least squares": (lambda: sb.lsmr(C, b3, x0=b3[:2]), r"x0 has the shape \(2,\); expected 3 elements"),
    "a short x": (lambda: sb.Matrix(C) @ b3[:2], r"x has the shape \(2,\), the matrix \(3, 3\)"),
    "a column for a complex vector": (lambda: sb.Matrix(C).matvec(np.ones((3, 1))), r"x has 2 dimensions, the shape \(3, 1\); expected one"),
    "a vector for complex columns": (lambda: sb.Matrix(C).matmat(b3), r"x has the shape \(3,\), the matrix \(3, 3\); expected a matrix of 3 rows"),
    "a complex residual of columns": (lambda: sb.Matrix(C).residual(R, b3), r"b has 2 dimensions, the shape \(3, 3\); expected one"),
    "out that is longer than complex rows": (lambda: sb.Matrix(C).matvec(b3, out=np.zeros(4, complex)), r"out is complex128 \(4,\); .* \(3,\)"),
    "a complex triangle and blocks": (lambda: sb.solve_triangular(sp.csr_array(np.tril(C)), np.ones((3, 1, 1))), r"b has 3 dimensions, the shape \(3, 1, 1\)"),
    "a triangle and blocks": (lambda: sb.solve_triangular(np.tril(R), np.ones((3, 1, 1))), r"b has the shape \(3, 1, 1\), the matrix \(3, 3\)"),
    "a triangle and too few rows": (lambda: sb.solve_triangular(np.tril(R), np.ones((2, 3))), r"b has the shape \(2, 3\), the matrix \(3, 3\)"),
    "a complex preconditioner and columns": (lambda: sb.Preconditioner(C, "klu") @ R, r"r has 2 dimensions, the shape \(3, 3\)"),
    "a short r of a complex preconditioner": (lambda: sb.Preconditioner(C, "klu") @ b3[:2], r"r has the shape \(2,\), the matrix \(3, 3\)"),
    "a complex bound of columns": (lambda: sb.certify(C).error_bound(R, b3), r"b has 2 dimensions, the shape \(3, 3\)"),
    "no b of a complex bound": (lambda: sb.certify(C).error_bound(None, b3), "b is None"),
    "complex values in two dimensions": (lambda: sb.Matrix.from_csr((2, 2), [0, 1, 2], [1, 0], [[3j, 4.0]]), r"values have the shape \(1, 2\)"),
    "a shift": (lambda: sb.minres(R, b3, shift="a"), "shift is 'a'; expected a real number"),
    "a complex shift": (lambda: sb.minres(R, b3, shift=1j), "shift is 1j; expected a real number"),
    "several shifts": (lambda: sb.minres(R, b3, shift=[1.0, 2.0]), r"shift is \[1.0, 2.0\]; expected a real number"),
    "an array of shifts": (lambda: sb.minres(R, b3, shift=b3), "shift is array.*; expected a real number"),
    "an endless shift": (lambda: sb.minres(R, b3, shift=np.inf), "shift is inf; expected a finite number"),
    "a kind of M beside a shift": (lambda: sb.minres(R, b3, shift=0.5, M="jacobi"), r"M is 'jacobi', .* Preconditioner\(A, 'jacobi'\)"),
    "a shifted operator of no result": (lambda: sb.minres(Operator(lambda x: None), b3, shift=0.5), "matvec returned None; expected 3"),
    "a shifted operator that returns lists": (lambda: sb.minres(Operator(lambda x: ragged), b3, shift=0.5), "matvec returned makes no array"),
    "GMRES's callback": (lambda: sb.gmres(R, b3, callback=3, callback_type="x"), "callback is 3; expected a function"),
    "a restart": (lambda: sb.gmres(R, b3, restart=0), "restart is 0; expected a whole number from 1 to"),
    "a restart of solve": (lambda: sb.solve(R, b3, restart=0), "restart is 0; expected a whole number from 1 to"),
    "a tolerance": (lambda: sb.gmres(R, b3, rtol=np.nan), "rtol is nan and atol is 0.0; expected numbers, 0 or more"),
    "atol of lsmr": (lambda: sb.lsmr(R, b3, atol="a"), "atol is 'a' and btol is 1e-06; expected numbers, 0 or more"),
    "btol of lsmr": (lambda: sb.lsmr(R, b3, btol=-1), "atol is 1e-06 and btol is -1; expected numbers, 0 or more"),
    "a tolerance as text": (lambda: sb.solve(R, b3, rtol="1e-3"), "rtol is '1e-3' and atol is 0.0; expected numbers, 0 or more"),
    "a tolerance that no double holds": (lambda: sb.solve(R, b3, rtol=10**400), "rtol is 10{400} and atol is 0.0; expected numbers, 0 or more"),
    "a damp that no double holds": (lambda: sb.lsmr(R, b3, damp=10**400), "damp is 10{400}; expected a real number"),
    "a drop tolerance that no double holds": (lambda: sb.Preconditioner(R, "ilut", drop_tolerance=10**400), "drop_tolerance is 10{400} and"),
    "damp of lsmr": (lambda: sb.lsmr(R, b3, damp="a"), "damp is 'a'; expected a real number"),
    "an endless damp of lsmr": (lambda: sb.lsmr(R, b3, damp=np.inf), "damp is inf; expected a finite number"),
    "a name that no text can be": (lambda: sb.generate("\udcff"), r"name is '.udcff'; expected"),
    "a kind with a zero": (lambda: sb.solve(A, b, preconditioner="klu\0"), r"preconditioner is 'klu.x00'; expected"),
    "a path that is no UTF-8": (lambda: sb.read_mtx(b"\xff.mtx"), r"path is '.udcff.mtx'; expected a name in UTF-8"),
    "a path with a zero": (lambda: sb.write_mtx("a\0.mtx", R), r"path is 'a.x00.mtx'; expected a name in UTF-8, without zeros"),
    "an empty path to write": (lambda: sb.write_mtx("", R), "path is ''; expected a name"),
    "an empty path to read": (lambda: sb.read_mtx(""), "path is ''; expected a name"),
    "an infinite element of a file": (lambda: sb.write_mtx("never.mtx", [np.inf]), "row 1, column 1 is inf; a Matrix Market file holds finite"),
    "a row offset that is no int64": (
        lambda: sb.Matrix.from_csr((1, 1), np.array([0, 2**63 + 5], np.uint64), [0], [1.0]),
        "a row offset is 9223372036854775813; expected at most 2\\^63 - 1",
    ),
    "a type of numbers": (lambda: sb.read_mtx("never.mtx", dtype="foo"), "the dtype is 'foo'; expected float64, float32, complex128"),
    "a type of vectors": (lambda: precondition(lambda r: r, dtype="foo"), "the dtype is 'foo'; expected float64 or float32"),
    "a device of no number": (lambda: sb.Matrix(R, device="cuda:\u00b2"), "device 'cuda:\u00b2': expected None, 'cpu'"),
    "a device beyond all": (lambda: sb.Matrix(R, device="cuda:" + "9" * 20), "device 'cuda:9{20}': expected None, 'cpu'"),
    "three dimensions": (lambda: sb.solve(sp.coo_array(np.ones((2, 2, 2))), b3), "the matrix has 3 dimensions; expected two"),
    "no values": (lambda: sb.Matrix.from_csr((2, 2), [0, 1, 2], [1, 0], None), "the matrix is None; expected"),
    "a triangle by its letter": (lambda: sb.solve_triangular(R, b3, lower="U"), "lower is 'U'; expected True or False"),
    "a complex triangle by its letter": (lambda: sb.solve_triangular(C, b3, lower="U"), "lower is 'U'; expected True or False"),
    "a unit diagonal that is a number": (lambda: sb.solve_triangular(R, b3, unit_diagonal=1), "unit_diagonal is 1; expected True or False"),
    "a history that is a number": (lambda: sb.solve(R, b3, history=7), "history is 7; expected True or False"),
    "a generator": (lambda: sb.generate(3), "name is 3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_was_seen_and_expected(name):
    call, message = REFUSED[name]
    with pytest.raises((sb.InvalidArgument, sb.NotSupported), match=message):
        call()


def test_paths_may_be_bytes(tmp_path):
    path = bytes(tmp_path / "b.mtx")
    sb.write_mtx(path, b3)
    assert (sb.read_mtx(path) == b3).all()


def test_type_errors_name_the_function_that_was_called():
    with pytest.raises(TypeError, match=r"bicgstab\(\) got an unexpected keyword argument 'tol'"):
        sb.bicgstab(A, b, tol=1e-5)
    with pytest.raises(TypeError, match="'Matrix'"):
        b @ sb.Matrix(A)
    with pytest.raises(TypeError, match="a Preconditioner cannot be pickled"):
        pickle.dumps(sb.Preconditioner(A, "klu"))


def test_integers_that_doubles_hold_stand_beside_other_numbers():
    assert sb.sum([2**60, 0.5, -(2**60)]) == 0.5 and sb.sum([2**60, 1j, np.nan]).imag == 1.0


def test_single_precision_takes_what_floats_hold():
    """Subnormal numbers, the largest that is rounded down, zeros, a guess that becomes 0; Inf is told as Inf."""
    for least in (np.nextafter(2.0**-150, 1), 2.0**-149):
        assert single(R * 2.0**-140, [0.0, least, -0.0], x0=[1e-300, 0, 0]).converged
    largest = np.nextafter(2.0**128 - 2.0**103, 0)
    assert single(np.eye(1), [largest]).x == np.finfo("f4").max == single([[largest]], [largest]).x * np.finfo("f4").max
    with pytest.warns(sb.ConvergenceWarning, match="non-finite"):
        single(R, [1.0, np.inf, np.nan])


def test_booleans_may_be_numpys():
    assert (sb.solve_triangular(np.triu(R), b3, lower=np.False_) == sb.solve_triangular(np.triu(R), b3, lower=False)).all()


def test_whole_numbers_may_be_written_as_floats():
    assert sb.solve(A, b, maxiter=1e3).converged and sb.solve(A, b, maxiter=np.int32(99)).converged


@pytest.mark.parametrize("a", [R, C])
def test_counts_may_be_as_large_as_you_like(a):
    assert sb.gmres(a, b3, maxiter=2**62).info == 0
    assert sb.gmres(a, b3, restart=2**62).info == 0
    assert sb.solve(a, b3, method="gmres", restart=2**62).converged
    assert sb.lsmr(a, b3, maxiter=2**62).istop == 1


def test_a_failure_survives_pickling_with_its_result():
    with pytest.warns(sb.ConvergenceWarning):
        found = sb.solve(A, b, maxiter=1, preconditioner="none")
    with pytest.raises(sb.NotConverged) as raised:
        found.raise_for_status()
    back = pickle.loads(pickle.dumps(raised.value))
    assert str(back) == str(raised.value) and back.result.fingerprint == found.fingerprint


def test_what_does_not_change_is_its_own_copy():
    for given in (sb.Preconditioner(A, "klu"), sb.certify(A), sb.certify(C)):
        assert copy.copy(given) is given and copy.deepcopy([given])[0] is given
    with pytest.raises(TypeError, match="a Certificate cannot be pickled; send the Matrix"):
        pickle.dumps(sb.certify(A))


@pytest.mark.parametrize("a", [R, C])
def test_iterations_can_be_sent_without_their_x(a):
    kept = []
    sb.solve(a, b3, callback=kept.append)
    for sent in (pickle.loads(pickle.dumps(kept)), copy.deepcopy(kept)):
        assert sent == kept and [repr(step) for step in sent] == [repr(step) for step in kept]
        with pytest.raises(sb.InvalidArgument, match="this is a copy"):
            sent[0].x


def test_products_are_written_by_columns_and_into_parts():
    a, expected = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) @ np.eye(3)
    whole = np.zeros((2, 8))
    for out in (np.zeros((2, 3), order="F"), whole[:, 3:6]):
        assert sb.matmul(a, np.eye(3), out=out) is out and (out == expected).all()
    assert (whole[:, :3] == 0).all() and (whole[:, 6:] == 0).all()
