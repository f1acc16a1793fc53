# For Spack. Not yet tried: packaging/README.md.
from spack.package import *


class Solver(CMakePackage, CudaPackage):
    """Linear solvers and kernels whose results keep a promise about rounding: fast, compensated, or exact, which is the
    real number rounded once and so the same bits on every machine."""

    url = "RELEASE_URL"
    license("Apache-2.0")
    version("0.1.0", sha256="RELEASE_SHA256")

    variant("tools", default=True, description="Build the commands solver, solver-bench and solver-generate")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt")
    depends_on("highway")
    depends_on("suite-sparse")
    depends_on("zlib-api")
    depends_on("cuda@12.4:", when="+cuda")
    with when("+tools"):
        depends_on("boost+program_options")
        depends_on("eigen", type="build")
        depends_on("nettle")
        depends_on("nlohmann-json")
        depends_on("pkgconfig", type="build")

    requires("%gcc@12:", when="%gcc", msg="C++20 needs GCC 12 or later")

    def cmake_args(self):
        args = [
            self.define("SOLVER_BUILD_TESTS", False),
            self.define_from_variant("SOLVER_BUILD_TOOLS", "tools"),
            self.define_from_variant("SOLVER_CUDA", "cuda"),
        ]
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", list(self.spec.variants["cuda_arch"].value)))
        return args
