"""
A sum of 47 193 numbers that cancel
===================================

One row of this circuit adds up 47 193 numbers, most of which cancel. What do ordinary products make of it in single precision?
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import samebits as sb

a = sb.generate("dc2_like").to_scipy().astype(np.float32)
ones = np.ones(a.shape[1], np.float32)
row = int(np.argmax(np.diff(a.indptr)))
terms = a.data[a.indptr[row] : a.indptr[row + 1]]

# %%
# The truth is a fraction.

truth = float(sum(Fraction(float(t)) for t in terms))
m = sb.Matrix(a)
found = {"scipy": (a @ ones)[row]}
for accuracy in ("fast", "compensated", "exact"):
    found[accuracy] = m.matvec(ones, accuracy=accuracy)[row]
for name, value in {**found, "truth": truth}.items():
    print(f"{name:12} {value:.9g}")

# %%
# `exact` has the bits of the truth rounded once. Here is how far the others are off:

figure, axes = plt.subplots()
axes.bar(list(found), [abs(float(v) - truth) / abs(truth) for v in found.values()])
axes.set_yscale("symlog", linthresh=1e-9)
axes.set_ylabel("relative error")

assert found["exact"] == np.float32(truth)
assert abs(float(found["scipy"]) - truth) > 1e-3 * abs(truth)
