"""python -m samebits: solves a system from Matrix Market files, a little sister of the command `solver`."""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np

import samebits as sb


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m samebits", description="Solves A x = b from Matrix Market files.")
    parser.add_argument("matrix", nargs="?", help="A, in a Matrix Market file, plain or gzip")
    parser.add_argument("--rhs", metavar="FILE", help="b; without it A times ones, rounded once")
    parser.add_argument("--solution", metavar="FILE", help="where x is written")
    parser.add_argument("--tolerance", type=float, default=1e-10, help="on ||b - A x|| / ||b|| (default: %(default)s)")
    parser.add_argument("--absolute-tolerance", type=float, default=0.0, help="or on ||b - A x|| (default: %(default)s)")
    parser.add_argument("--preconditioner", default="auto", help="auto, none, jacobi, ilu0, isai, ilut, klu, amg or schur")
    parser.add_argument("--method", default="auto", help="auto, bicgstab, cg, gmres, minres, idr, bicgstab2 or cocg")
    parser.add_argument("--precision", default=None, choices=["double", "single", "mixed"])
    parser.add_argument("--accuracy", default="exact", choices=["exact", "compensated", "fast"])
    parser.add_argument("--device", default=None, help="cpu, cuda or cuda:1; the best there is")
    parser.add_argument("--version", action="store_true", help="says what runs here")
    return parser


def run(options: argparse.Namespace) -> int:
    a = sb.Matrix(sb.read_mtx(options.matrix), device=options.device)
    b = a @ np.ones(a.shape[1]) if options.rhs is None else sb.read_mtx(options.rhs)
    if isinstance(b, sb.Matrix):
        raise sb.InvalidArgument(f"{options.rhs}: a sparse matrix, in coordinate format; expected b in array format")
    result = sb.solve(
        a,
        b,
        rtol=options.tolerance,
        atol=options.absolute_tolerance,
        preconditioner=options.preconditioner,
        method=options.method,
        precision=options.precision,
        accuracy=options.accuracy,
    )
    print(f"{'matrix':16} {options.matrix}, {a.shape[0]} x {a.shape[1]}, {a.nnz} entries, on {a.device}")
    print(repr(result))
    if options.solution:
        sb.write_mtx(options.solution, result.x)
    return 0 if result.converged else 2


def main() -> int:
    parser = arguments()
    options = parser.parse_args()
    if options.version:
        sb.show_config()
        return 0
    if options.matrix is None:
        parser.error("a matrix is needed, in a Matrix Market file")
    warnings.simplefilter("ignore", sb.ConvergenceWarning)
    try:
        return run(options)
    except (sb.InvalidArgument, sb.ResourceLimit, sb.NotSupported, sb.FileError) as error:
        print(f"python -m samebits: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
