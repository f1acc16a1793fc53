"""PyAMG's smoothed aggregation on a system that solver-bench wrote into a folder.

usage: pyamg_peer.py FOLDER PROBLEM cg|bicgstab symmetric|nonsymmetric TOLERANCE MAX_ITERATIONS

FOLDER holds offsets (int64), columns (int32), values and b (double); it gets x (double) and result.json.
"""

import json
import re
import sys
import time

import numpy as np
import pyamg
import scipy.sparse


def counted_memory(name):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(name + ":"))


def near_null_space(problem, rows):
    """The rigid-body modes of a plate in plane elasticity; nothing, which means constants, otherwise."""
    size = re.fullmatch(r"elasticity2d_(\d+)", problem)
    if not size:
        return None
    n = int(size[1])
    x, y = np.meshgrid(np.arange(1.0, n + 1), np.arange(0.0, n + 1))
    modes = np.zeros((rows, 3))
    modes[0::2, 0] = 1
    modes[1::2, 1] = 1
    modes[0::2, 2] = -y.ravel()
    modes[1::2, 2] = x.ravel()
    return modes


def settings(symmetry):
    """The defaults; of an unsymmetric matrix, where these stall on convection, what holds there."""
    if symmetry == "symmetric":
        return {}
    return {"strength": ("evolution", {}), "smooth": ("energy", {"krylov": "gmres"})}


def main(folder, problem, method, symmetry, tolerance, max_iterations):
    memory = counted_memory("VmRSS")
    offsets = np.fromfile(folder + "/offsets", np.int64).astype(np.int32)
    columns = np.fromfile(folder + "/columns", np.int32)
    values = np.fromfile(folder + "/values")
    b = np.fromfile(folder + "/b")
    a = scipy.sparse.csr_matrix((values, columns, offsets), shape=(len(b), len(b)))
    modes = near_null_space(problem, len(b))
    if modes is not None:
        a = a.tobsr(blocksize=(2, 2))

    start = time.perf_counter()
    hierarchy = pyamg.smoothed_aggregation_solver(a, B=modes, symmetry=symmetry, **settings(symmetry))
    setup = time.perf_counter() - start
    residuals = []
    start = time.perf_counter()
    x, info = hierarchy.solve(b, x0=np.zeros_like(b), tol=float(tolerance), maxiter=int(max_iterations), accel=method,
                              residuals=residuals, return_info=True)
    solve = time.perf_counter() - start
    x.tofile(folder + "/x")
    with open(folder + "/result.json", "w") as file:
        json.dump({"converged": info == 0, "iterations": len(residuals) - 1, "setup": setup, "solve": solve,
                   "memory": counted_memory("VmHWM") - memory}, file)


main(*sys.argv[1:])
