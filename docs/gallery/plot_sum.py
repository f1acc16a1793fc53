"""
A sum that fsum cannot do
=========================

``math.fsum`` rounds once, too, but its partial sums overflow, and an array goes through Python's objects one by one.
"""

import math
import time

import numpy as np

import samebits as sb

x = [1e308, 1e308, -1e308, 1.0, -1e308]
try:
    print("fsum  ", math.fsum(x))
except OverflowError as error:
    print("fsum  ", type(error).__name__, error)
with np.errstate(over="ignore", invalid="ignore"):
    print("numpy ", np.sum(x))
print("here  ", sb.sum(x))

# %%
# The sum of a million doubles of all sizes, which cancel: the same bits as fsum's.

random = np.random.default_rng(0)
y = random.standard_normal(500_000) * 10.0 ** random.integers(-20, 20, 500_000)
y = random.permutation(np.concatenate([y, -y, random.standard_normal(1000)]))
seconds = {}
for name, add in {"fsum": math.fsum, "numpy": np.sum, "here": sb.sum}.items():
    start = time.perf_counter()
    total = add(y)
    seconds[name] = time.perf_counter() - start
    print(f"{name:6} {float(total):24.17g} {1e3 * seconds[name]:8.2f} ms")

assert sb.sum(y) == math.fsum(y)
assert sb.sum(x) == 1.0
