"""The residual that a solve tells is that of the x that it returns, whatever was asked for: of systems and options at random."""

import numpy as np
import pytest
import scipy.sparse as sp

import samebits as sb


def some_matrix(rng, n):
    a = sp.random_array((n, n), density=0.05, rng=rng, format="csr")
    kind = rng.integers(4)
    if kind == 0:
        return sp.csr_array(a + 3 * sp.eye_array(n))
    if kind == 1:
        return sp.csr_array(a + sp.diags_array(0.1 * rng.standard_normal(n)))
    if kind == 2:
        return sp.csr_array(sp.diags_array(10.0 ** rng.integers(-8, 8, n)) @ (a + 2 * sp.eye_array(n)))
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(line + sp.eye_array(n))


def some_options(rng, is_complex):
    def one_of(*choices):
        return choices[rng.integers(len(choices))]

    return {
        "rtol": 10.0 ** rng.integers(-30, 0),
        "maxiter": one_of(0, 1, 2, 7, 40, 400),
        "preconditioner": one_of("auto", "auto", "none", "jacobi", "ilu0", "klu", "amg"),
        "method": one_of("auto", "auto", "bicgstab", "gmres", "idr", "bicgstab2", "cg", "minres", "cocg"),
        "accuracy": one_of("exact", "exact", "fast", "compensated"),
        "guarantee": one_of("none", "none", "none", "bound", "rounded"),
        "precision": None if is_complex else one_of(None, None, None, "mixed"),
    }


def residual_in_long_double(a, b, x):
    """||b - A x|| / ||b||, and how far that may be off."""
    wide = np.clongdouble if np.iscomplexobj(b) else np.longdouble
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    r = b.astype(wide)
    np.subtract.at(r, rows, a.data.astype(wide) * x.astype(wide)[a.indices])
    size = np.sqrt(np.sum(np.abs(b.astype(wide)) ** 2))
    terms = np.linalg.norm(abs(a) @ np.abs(x))
    return float(np.sqrt(np.sum(np.abs(r) ** 2)) / size), float(a.shape[0] * np.finfo(np.longdouble).eps * terms / size)


@pytest.mark.filterwarnings("ignore::samebits.ConvergenceWarning")
def test_is_that_of_x():
    rng = np.random.default_rng(20261125)
    told = 0
    for _ in range(400):
        n = int(rng.integers(2, 200))
        is_complex = rng.random() < 0.2
        a, shape = some_matrix(rng, n), (n, 2) if rng.random() < 0.3 else (n,)
        b = rng.standard_normal(shape)
        x0 = 10.0 ** rng.integers(-3, 6) * rng.standard_normal(shape) if rng.random() < 0.3 else None
        if is_complex:
            a.data = a.data * np.exp(0.3j * rng.random(a.nnz))
            b = b + 1j * rng.standard_normal(shape)
        options = some_options(rng, is_complex)
        try:
            result = sb.solve(a, b, x0=x0, **options)
        except sb.InvalidArgument:  # what was asked for by name cannot be made of this matrix
            continue
        for column, said in enumerate(result.columns):
            b_j, x_j = b.reshape(n, -1)[:, column], result.x.reshape(n, -1)[:, column]
            if not np.isfinite(said["residual"]):
                continue
            true, noise = residual_in_long_double(a, b_j, x_j)
            assert abs(said["residual"] - true) <= 1e-9 * true + noise, (n, is_complex, options, said["status"])
            told += 1
    assert told > 300
