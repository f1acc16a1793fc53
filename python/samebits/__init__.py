"""Linear algebra in the accuracy that you choose, down to results rounded once.

Every function takes ``accuracy``: ``'fast'``, ``'compensated'`` (as if computed in twice the precision) or ``'exact'``, the default: the
real number, rounded once to nearest even, and so the same bits on every machine and for every number of threads.

Numbers are float64, float32, complex128 or complex64; of complex ones each part keeps the promise by itself. In the host's memory integers,
booleans and float16 count as doubles, beside a matrix of floats as floats, where these hold them; else they are refused. A matrix of float16 is one of floats.

Sums and products: `sum`, `dot`, `vdot`, `norm`, `sum_expansion`, `dot_expansion`, `matmul`. Matrices: `Matrix`, `Preconditioner`,
`solve_triangular`. Linear systems: `solve`, `certify`, and `bicgstab`, `bicgstab2`, `cg`, `cocg`, `gmres`, `minres` and `idr` in SciPy's manner; least squares: `lstsq`, and `lsmr` in SciPy's manner. Files:
`read_mtx`, `write_mtx`; test matrices:
`generate`. Besides: `threads`, `show_config`.
"""

try:
    from . import _core
except ImportError as _error:
    import pathlib as _pathlib

    if not any(_pathlib.Path(__file__).parent.glob("_core*.so")):
        raise ImportError(
            "samebits was found in its source folder, where nothing is built: leave that folder, or call pip install ./python first"
        ) from _error
    raise

from ._arguments import set_threads_from_environment as _set_threads
from ._certificate import Certificate, certify
from ._config import __version__, show_config
from ._core import DimensionMismatch, FileError, InvalidArgument, NotSupported, ResourceLimit
from ._arguments import threads
from ._files import generate, read_mtx, write_mtx
from ._complex_matrix import ComplexMatrix
from ._matrix import Matrix, solve_triangular
from ._preconditioner import Preconditioner
from ._result import Attempt, ConvergenceWarning, NotConverged, Proof, Result
from ._in_scipys_manner import KrylovResult, bicgstab, bicgstab2, cg, cocg, gmres, idr, minres
from ._least_squares import LeastSquaresResult, LsmrResult, lsmr, lstsq
from ._solve import Iteration, solve
from ._vectors import dot, dot_expansion, matmul, norm, sum, sum_expansion, vdot

__all__ = [
    "Attempt",
    "Certificate",
    "ComplexMatrix",
    "ConvergenceWarning",
    "DimensionMismatch",
    "FileError",
    "InvalidArgument",
    "Iteration",
    "KrylovResult",
    "Matrix",
    "NotConverged",
    "NotSupported",
    "Preconditioner",
    "Proof",
    "ResourceLimit",
    "Result",
    "__version__",
    "bicgstab",
    "bicgstab2",
    "certify",
    "cg",
    "cocg",
    "dot",
    "dot_expansion",
    "generate",
    "gmres",
    "idr",
    "lsmr",
    "LsmrResult",
    "lstsq",
    "LeastSquaresResult",
    "matmul",
    "minres",
    "norm",
    "read_mtx",
    "show_config",
    "solve",
    "solve_triangular",
    "sum",
    "sum_expansion",
    "threads",
    "vdot",
    "write_mtx",
]

for _error in (ConvergenceWarning, DimensionMismatch, FileError, InvalidArgument, NotConverged, NotSupported, ResourceLimit):
    _error.__module__ = "samebits"
DimensionMismatch.__doc__ = "Shapes do not fit one another; an `InvalidArgument`."
FileError.__doc__ = "A file cannot be read or written, or breaks its format; an `OSError`."
InvalidArgument.__doc__ = "A value that is not taken; the message says what is. A `ValueError`."
NotSupported.__doc__ = "Something sensible that the library, or this build or machine, cannot do; a `NotImplementedError`."
ResourceLimit.__doc__ = "More memory would be needed than may be used; a `MemoryError`."
_set_threads()
