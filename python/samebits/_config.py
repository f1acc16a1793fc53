"""What runs here."""

from __future__ import annotations

import sys

import numpy as np

from . import _core

__version__ = "0.1.0"


def show_config() -> None:
    """Prints versions, the processor, the threads and what there is of CUDA.

    Examples
    --------
    >>> import samebits as sb
    >>> sb.show_config()  # doctest: +ELLIPSIS
    samebits   0.1.0
    ...
    """
    print(f"samebits   {__version__}")
    print(f"Python     {sys.version.split()[0]}, NumPy {np.__version__}")
    print(f"processor  {_core.describe_processor()}, {_core.available_threads()} threads may be used")
    print(f"CUDA       {_core.describe_cuda()}")
