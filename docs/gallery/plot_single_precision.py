"""
A solve that stagnates, and does not
====================================

BiCGStab in single precision, with Jacobi's preconditioner. In plain arithmetic the true residual stands still, however long it iterates. With accurate sums the same method, in
the same precision, solves the same system.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import samebits as sb

a = sb.generate("dc2_like")
b = a @ np.ones(a.shape[1])

# %%
# SciPy's, in single. We look at the true residual, exactly, after every 20th of its iterations.

single = a.to_scipy().astype(np.float32)
jacobi = sp.diags_array(1 / single.diagonal())
plain, calls = [], []


def look(xk):
    calls.append(1)
    if len(calls) % 20 == 0:
        plain.append(sb.norm(a.residual(b, xk.astype(np.float64))) / sb.norm(b))


x, info = spla.bicgstab(single, b.astype(np.float32), M=jacobi, rtol=1e-8, maxiter=600, callback=look)
print(f"plain        info {info}, best true residual {min(plain):.1e}, error of x {np.abs(x - 1).max():.1e}")

# %%
# The same with accurate sums.

r = sb.solve(a, b, precision="single", preconditioner="jacobi", method="bicgstab", rtol=1e-8, accuracy="compensated", history=True)
print(f"compensated  {r}, error of x {np.abs(r.x - 1).max():.1e}")

# %%
# Lines: true residuals of the plain solve, and what the accurate one believes of its own; dots: its true residuals.

axes = r.plot()
axes.semilogy(20 * np.arange(1, len(plain) + 1), plain, label="plain, true")
axes.legend()

assert min(plain) > 1e-6
assert r.converged
