"""
The same bits everywhere
========================

In `exact` the solution has the same bits for every number of threads, storage and device, which its fingerprint shows: a hash of all of them.
"""

import numpy as np

import samebits as sb

a = sb.generate("poisson2d_100").to_scipy()
b = np.random.default_rng(0).standard_normal(a.shape[0])

# %%
# On the processor: one, two and seven threads, the matrix as it is and packed.

prints = {}
for threads in (1, 2, 7):
    for storage in ("csr", "packed"):
        m = sb.Matrix(a, threads=threads, storage=storage)
        prints[f"cpu, {threads} threads, {storage}"] = sb.solve(m, b).fingerprint

# %%
# And on a GPU, where there is one.

try:
    prints["cuda"] = sb.solve(sb.Matrix(a, device="cuda"), b).fingerprint
except (sb.NotSupported, sb.InvalidArgument) as error:
    print(f"no CUDA device: {error}")

for where, fingerprint in prints.items():
    print(f"{where:24} {fingerprint}")
assert len(set(prints.values())) == 1
