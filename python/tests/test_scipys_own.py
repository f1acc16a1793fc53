"""SciPy's own tests of bicgstab and cg, for matrices with real entries, with the import changed.

What is left out, and why:

- ``test_maxiter``: the default ``M='auto'`` solves in the one iteration that it allows. It is run with ``M=None``, as SciPy's default.
- ``test_convergence`` with sym-nonpd asserts that bicgstab fails; here it solves.
- ``test_precond_inverse``: A is a LinearOperator without entries.
"""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

SAMEBITS = """
import functools
import samebits
bicgstab, cg = samebits.bicgstab, samebits.cg
"""
WITHOUT_PRECONDITIONER = """
import functools
import samebits
bicgstab, cg = (functools.wraps(f)(functools.partial(f, M=None)) for f in (samebits.bicgstab, samebits.cg))
"""
NOT_REAL = "not cmplx and not nonsymposdef-F"  # the last one is astype('F')
OF_OTHERS = "not TestQMR and not TestGMRES and not test_show"  # which test tfqmr


def run_scipys(tmp_path, imports, selection):
    found = importlib.util.find_spec("scipy.sparse.linalg._isolve.tests.test_iterative")
    if found is None:
        pytest.skip("this SciPy came without its tests")
    with open(found.origin) as file:
        text = file.read()
    text, solvers = re.subn(r"_SOLVERS = \[[^]]*\]", imports + "_SOLVERS = [bicgstab, cg]", text)
    assert solvers == 1
    if "make_xp_pytest" in text:
        pytest.skip("these tests, of SciPy 1.18 or later, run for functions in SciPy's own tables only")
    (tmp_path / "test_iterative.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rN", "-k", selection]
    done = subprocess.run([*command, "test_iterative.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    return done, {kind: int(count) for count, kind in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}


def test_with_the_import_changed(tmp_path):
    left_out = "not test_maxiter and not test_precond_inverse and not (test_convergence and sym-nonpd)"
    done, counts = run_scipys(tmp_path, SAMEBITS, f"{NOT_REAL} and {OF_OTHERS} and {left_out}")
    assert set(counts) == {"passed"} and counts["passed"] > 70, done.stdout[-8000:] + done.stderr[-2000:]


def test_with_scipys_default_preconditioner(tmp_path):
    done, counts = run_scipys(tmp_path, WITHOUT_PRECONDITIONER, f"{NOT_REAL} and test_maxiter")
    assert set(counts) == {"passed"} and counts["passed"] > 15, done.stdout[-8000:] + done.stderr[-2000:]
