"""
Iterating in single, solving as in double
=========================================

With ``precision='mixed'`` the iteration reads a matrix of floats, half of the memory, while x and its true residual are kept in double: the solution is as good as that of
double.
"""

import matplotlib.pyplot as plt
import numpy as np

import samebits as sb

a = sb.generate("convection_diffusion_200")
b = a @ np.ones(a.shape[1])
figure, axes = plt.subplots()
for precision in ("double", "mixed"):
    r = sb.solve(a, b, precision=precision, preconditioner="ilu0", accuracy="compensated", history=True)
    print(f"{precision:8} {r}, error of x {np.abs(r.x - 1).max():.1e}")
    axes.semilogy(r.history["recursive_residual"], label=precision)
    assert r.converged and r.residual <= 1e-10
axes.set_xlabel("iteration")
axes.set_ylabel("||r|| / ||b||")
axes.legend()
