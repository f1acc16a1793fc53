"""What tests on a CUDA device begin with."""

import numpy as np
import pytest
import scipy.sparse as sp

import samebits as sb

DEVICE = sb._core.best_device()


def cupy():
    library = pytest.importorskip("cupy")
    if library.cuda.runtime.getDeviceCount() == 0:
        pytest.skip("CuPy sees no device")
    return library


def torch():
    library = pytest.importorskip("torch")
    if not library.cuda.is_available():
        pytest.skip("PyTorch sees no device")
    return library


def with_cupy():
    library = cupy()
    return library.asarray, lambda x: library.asnumpy(x), library.ndarray


def with_torch():
    library = torch()
    return (lambda x: library.as_tensor(np.ascontiguousarray(x)).to("cuda")), (lambda x: x.cpu().numpy()), library.Tensor


@pytest.fixture(params=[with_cupy, with_torch], ids=["cupy", "torch"])
def library(request):
    if DEVICE < 0:
        pytest.skip(f"no CUDA device: {sb._core.describe_cuda()}")
    return request.param()


def vectors(n=20_000, seed=1, dtype=np.float64):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n) * 2.0 ** rng.integers(-40, 40, n)
    return x.astype(dtype), rng.standard_normal(n).astype(dtype)


def matrix(n=3000, dtype=np.float64):
    rng = np.random.default_rng(3)
    a = sp.random_array((n, n), density=6 / n, rng=rng, format="csr") + sp.eye_array(n) * 10
    return sp.csr_array(a.astype(dtype)), rng.standard_normal(n).astype(dtype)
