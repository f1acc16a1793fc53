"""What the Python package costs: python tests/measure.py, in an environment that has samebits and NumPy. Medians; each line says of how many."""

from __future__ import annotations

import math
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from typing import Any, Callable

import numpy as np

import samebits as sb


def median(work: Callable[[], Any], rounds: int, calls: int = 1) -> float:
    """Seconds a call."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        seconds.append((time.perf_counter() - start) / calls)
    return statistics.median(seconds)


def import_seconds(modules: list[str], rounds: int = 31) -> list[float]:
    """In processes of their own that take turns, once the bytecode of pure Python is kept, as it is where pip has installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once(module: str) -> float:
        program = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
        return float(subprocess.check_output([sys.executable, "-c", program], env=environment))

    for module in modules:
        once(module)
    times = [[once(module) for module in modules] for _ in range(rounds)]
    return [statistics.median(of_one) for of_one in zip(*times)]


def interrupt_seconds() -> float:
    """From Ctrl-C in a solve of 10^6 unknowns to its KeyboardInterrupt."""
    pressed = []

    def press() -> None:
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
    matrix = sb.generate("poisson2d_1000")
    threading.Timer(2.0, press).start()
    try:
        sb.solve(matrix, np.ones(matrix.shape[0]), preconditioner="none", rtol=1e-300, maxiter=10**6)
    except KeyboardInterrupt:
        return time.perf_counter() - pressed[0]
    raise AssertionError("the solve ended by itself")


def grown_kilobytes(rounds: int) -> int:
    """How much larger the process is after so many matrices, preconditioners and solves; a first 1000 are not counted."""
    n = 50
    offsets, columns = np.arange(n + 1, dtype=np.int32), np.arange(n, dtype=np.int32)

    def work(count: int) -> None:
        for _ in range(count):
            m = sb.Matrix.from_csr((n, n), offsets, columns, np.full(n, 2.0), threads=1)
            sb.solve(m, np.ones(n), preconditioner=sb.Preconditioner(m, "ilu0"))

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024

    work(1000)
    before = resident()
    work(rounds)
    return resident() - before


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    sb.show_config()
    of_numpy, ours = import_seconds(["numpy", "samebits"])
    print(f"import of NumPy {1e3 * of_numpy:.0f} ms, of samebits {1e3 * (ours - of_numpy):.0f} ms more (31)")

    one = sb.Matrix.from_csr((1, 1), [0, 1], [0], [2.0], threads=1)
    x, y = np.ones(1), np.empty(1)
    print(f"m @ x of one element {1e6 * median(lambda: one @ x, 21, 2000):.2f} us, all in all (21 x 2000)")
    bound = one._core.multiply
    print(f"of these the bound C++ function {1e6 * median(lambda: bound(x, y, 2), 21, 2000):.2f} us")

    z = np.random.default_rng(0).standard_normal(10**7)
    exact, plain = median(lambda: sb.sum(z), 11), median(lambda: np.sum(z), 11)
    slow = median(lambda: math.fsum(z), 3)
    print(f"sum of 1e7: exact {1e3 * exact:.1f} ms (11), np.sum {1e3 * plain:.1f} ms (11), fsum {1e3 * slow:.0f} ms (3)")
    print(f"that is {exact / plain:.2f} times np.sum, and fsum takes {slow / exact:.0f} times as long; equal bits: {sb.sum(z) == math.fsum(z)}")
    print(f"Ctrl-C is answered after {1e3 * max(interrupt_seconds() for _ in range(3)):.0f} ms (the longest of 3)")
    print(f"10^4 rounds of create, solve and destroy leave {grown_kilobytes(10**4)} kB")


if __name__ == "__main__":
    main()
