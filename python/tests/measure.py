"""What the Python package costs: python tests/measure.py, in an environment that has samebits and NumPy. Medians; each line says of how many."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
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


def import_seconds(module: str, rounds: int = 11) -> float:
    program = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    return statistics.median(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(rounds))


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    sb.show_config()
    of_numpy, ours = import_seconds("numpy"), import_seconds("samebits")
    print(f"import of NumPy {1e3 * of_numpy:.0f} ms, of samebits {1e3 * (ours - of_numpy):.0f} ms more (11)")

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


if __name__ == "__main__":
    main()
