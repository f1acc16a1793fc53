"""Matrix Market files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._arguments import number_of_threads, number_type, text
from ._complex import complex_array, is_complex
from ._complex_matrix import ComplexMatrix
from ._matrix import Matrix, as_matrix
from ._places import host_array


def _file_name(path: Any) -> str:
    """As the library takes it."""
    name = os.fsdecode(path)
    if not name or any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name):  # the latter are bytes that are no UTF-8
        raise _core.InvalidArgument(f"path is {name!r}; expected a name in UTF-8, without zeros")
    return name


def read_mtx(path: str | os.PathLike[str], *, dtype: Any = None, threads: int | None = None) -> Matrix | np.ndarray:
    """Reads a Matrix Market file, plain or compressed by gzip.

    Parameters
    ----------
    path : path_like
    dtype : dtype, optional
        float64, float32, complex128 or complex64; every value is rounded to it once, from its decimal text. None is complex128 for a
        complex file, else float64. A real file can be read as complex; a complex one as real is refused.

    Returns
    -------
    Matrix or ndarray
        A `Matrix` of a file in coordinate format (``.to_scipy()`` makes it SciPy's), an array of one in array format, one-dimensional
        where it has one column.

    Raises
    ------
    FileError
        With the path, the line, what was seen and what was expected.

    Examples
    --------
    >>> import os, tempfile
    >>> import samebits as sb
    >>> path = os.path.join(tempfile.mkdtemp(), 'b.mtx')
    >>> sb.write_mtx(path, [1.5, 2.0])
    >>> sb.read_mtx(path)
    array([1.5, 2. ])
    """
    name = _file_name(path)
    readers = {"float64": _core.read64, "float32": _core.read32, "complex128": _core.read_complex128, "complex64": _core.read_complex64}
    if dtype is None:
        dtype = np.complex128 if _core.holds_complex_numbers(name) else np.float64
    kind = number_type(dtype, "read_mtx", ", ".join(readers))
    if kind.name not in readers:
        raise _core.InvalidArgument(f"read_mtx: the dtype is {kind}; expected {', '.join(readers)}")
    rows, columns, *parts = readers[kind.name](name, number_of_threads(threads))
    if len(parts) == 3:
        return Matrix.from_csr((rows, columns), *parts, threads=threads)
    elements = parts[0].reshape((rows, columns), order="F")
    return elements[:, 0] if columns == 1 else elements


def generate(name: str, *, device: str | None = "cpu", threads: int | None = None) -> Matrix:
    """A test matrix by its name, the same on every machine to the last bit.

    Parameters
    ----------
    name : str
        For instance 'dc2_like', a circuit of 116 835 unknowns with a row of 47 193 numbers that cancel, or 'poisson2d_100', five points
        on 100 x 100 unknowns. A name that is not known is refused with the list of all.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.generate('poisson2d_3').shape
    (9, 9)
    """
    found: Any = _core.generate(text(name, "name", "that of a matrix, such as 'poisson2d_100'"))
    if found is None:
        known = "\n".join(f"  {pattern.removesuffix('.mtx'):24} {purpose}" for pattern, purpose in _core.generator_kinds())
        raise _core.InvalidArgument(f"generate: {name!r} is not known; there are\n{known}")
    rows, columns, *parts = found
    return Matrix.from_csr((rows, columns), *parts, device=device, threads=threads)


def write_mtx(path: str | os.PathLike[str], a: Any) -> None:
    """Writes a sparse or dense matrix or a vector; whole, or not at all.

    Decimals are the shortest that read back to the same bits. A name that ends in .gz is compressed.

    Raises
    ------
    FileError
        Where it cannot be written.
    InvalidArgument
        For Inf and NaN, which the format does not have, and for a name that cannot be one, such as an empty one.
    """
    name = _file_name(path)
    is_dense = not isinstance(a, (Matrix, ComplexMatrix)) and not hasattr(a, "tocsr") and not hasattr(a, "crow_indices")
    is_strided = str(getattr(a, "layout", "")) == "torch.strided"
    if is_complex(a) and (is_dense or is_strided):
        elements = complex_array(a, "a")
        if elements.ndim not in (1, 2):
            raise _core.InvalidArgument(f"write_mtx: a has {elements.ndim} dimensions; expected one or two")
        write_elements = _core.write_complex_elements64 if elements.dtype == np.complex64 else _core.write_complex_elements128
        rows, columns = elements.shape if elements.ndim == 2 else (elements.size, 1)
        write_elements(name, rows, columns, np.ravel(elements, order="F"))
    elif is_complex(a):
        matrix = a if isinstance(a, ComplexMatrix) else ComplexMatrix(a)
        write = _core.write_complex64 if matrix.dtype == np.complex64 else _core.write_complex128
        write(name, *matrix.shape, *matrix._csr)
    else:
        array = host_array(a, "a") if is_dense else a
        _core.write(name, as_matrix(array.reshape(-1, 1) if is_dense and array.ndim == 1 else array)._core)
