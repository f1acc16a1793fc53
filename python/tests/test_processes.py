"""Forks, spawned processes, threads, the command, docstrings."""

import doctest
import gc
import importlib
import math
import multiprocessing
import os
import pathlib
import pkgutil
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import samebits as sb

x = np.random.default_rng(0).standard_normal(300_000)


def sum_in_parallel(threads):
    return sb.sum(x, threads=threads)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    expected = sum_in_parallel(4)
    assert expected == math.fsum(x)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(sum_in_parallel, [1, 2, 4, 7]).get(timeout=120) == [expected] * 4


def test_eight_threads():
    expected, seen = sb.sum(x), []

    def work():
        m = sb.Matrix(np.eye(50))
        for _ in range(20):
            assert (m @ np.ones(50) == 1).all()
            seen.append(sb.sum(x))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert seen == [expected] * 160


def test_threads_of_a_block_count_for_its_thread():
    def make():
        return sb.Matrix(np.eye(2))._core.threads

    seen = []
    with sb.threads(3):
        assert make() == 3
        with sb.threads(5):
            assert make() == 5
        other = threading.Thread(target=lambda: seen.append(make()))
        other.start()
        other.join()
    assert seen == [make()]


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, check=False, timeout=120
    )


def test_daemon_threads_may_compute_until_the_process_ends():
    program = """
import threading, time
import numpy as np
import samebits as sb

A = sb.generate("poisson2d_60")
b = np.ones(A.shape[0])
own = sb.Preconditioner.from_function(lambda r: r / 4, rows=b.size)

def again_and_again(work):
    while True:
        work()

for work in (
    lambda: sb.sum(b),
    lambda: sb.solve(A, b, preconditioner="none", callback=lambda step: False),
    lambda: sb.solve(A, b, preconditioner=own),
):
    threading.Thread(target=again_and_again, args=(work,), daemon=True).start()
time.sleep(0.3)
"""
    done = run("-c", program)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_solve_in_a_thread_leaves_the_lock_to_others():
    program = """
import ctypes, threading, time
import numpy as np
import samebits as sb

A = sb.generate("poisson2d_300")
solve = threading.Thread(target=lambda: sb.solve(A, np.ones(A.shape[0]), preconditioner="none", threads=1), daemon=True)
solve.start()
time.sleep(0.1)
before = time.process_time()
ctypes.PyDLL(None).usleep(500_000)  # with the lock
print(time.process_time() - before > 0.05)
"""
    assert run("-c", program).stdout == "True\n"


def test_subinterpreters_are_refused():
    pytest.importorskip("_xxsubinterpreters")
    program = "import _xxsubinterpreters as s; s.run_string(s.create(isolated=False), 'import samebits; samebits.sum([1.0])')"
    assert "main interpreter" in run("-W", "ignore", "-c", program).stderr


def test_threads_of_the_environment():
    program = "import numpy, samebits; print(samebits.Matrix(numpy.eye(2))._core.threads)"
    assert run("-c", program, SAMEBITS_NUM_THREADS="3").stdout == "3\n"
    assert "SAMEBITS_NUM_THREADS" in run("-c", program, SAMEBITS_NUM_THREADS="many").stderr


def test_command(tmp_path):
    sb.write_mtx(tmp_path / "a.mtx", np.diag([2.0, 4.0]))
    done = run("-m", "samebits", str(tmp_path / "a.mtx"), "--solution", str(tmp_path / "x.mtx"))
    assert done.returncode == 0 and "converged" in done.stdout and "fingerprint" in done.stdout
    assert sb.read_mtx(tmp_path / "x.mtx").tolist() == [1, 1]
    assert run("-m", "samebits", "nowhere.mtx").returncode == 1
    assert "samebits" in run("-m", "samebits", "--version").stdout


def test_examples_of_docstrings():
    failed = 0
    for found in pkgutil.iter_modules(sb.__path__):
        if found.name not in ("_core", "__main__"):
            failed += doctest.testmod(importlib.import_module(f"samebits.{found.name}")).failed
    assert failed == 0


@pytest.mark.parametrize("text", ["README.md", "../docs/python.md"])
def test_examples_of_texts(text):
    path = pathlib.Path(__file__).parent.parent / text
    assert doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS).failed == 0


def test_example_of_the_front_page(tmp_path):
    text = (pathlib.Path(__file__).parent / "../../README.md").read_text()
    program = text.split("## From C++ and Python")[1].split("```python\n")[1].split("```")[0]
    (tmp_path / "A.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "converged, x[0] = 0.5\n"


def test_nothing_leaks():
    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def rounds(count):
        for _ in range(count):
            m = sb.Matrix(np.eye(20))
            sb.solve(m, np.ones(20), preconditioner=sb.Preconditioner.from_function(lambda r: r, 20))

    rounds(1000)
    before = memory()
    rounds(9000)
    assert memory() - before < 4 << 20


def test_a_preconditioner_of_a_method_goes_with_its_object():
    class Mine:
        def __init__(self):
            self.preconditioner = sb.Preconditioner.from_function(self.apply, rows=3)

        def apply(self, r):
            return r

    seen = weakref.ref(Mine())
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("name", [name for name in sb.__all__ if name != "__version__"])
def test_all_that_is_public_has_a_docstring(name):
    assert getattr(sb, name).__doc__
