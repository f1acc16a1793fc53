#include "peers.hpp"

#include "solver/error.hpp"

#include <memory>

#ifdef SOLVER_BLAS2_EIGEN
#include "tools/bench/eigen_peer.hpp"
#endif
#ifdef SOLVER_BLAS2_CUSPARSE
#include "peers_on_cuda.hpp"
#endif

namespace solver::blas2 {
namespace {

template <class T>
Subject<T> eigen([[maybe_unused]] const CsrView<T>& a, [[maybe_unused]] std::span<const T> x, [[maybe_unused]] int threads) {
#ifdef SOLVER_BLAS2_EIGEN
    if (!bench::eigen::fits(a)) throw NotSupported("Eigen's 32-bit indices do not count the entries of this matrix");
    const auto matrix = std::make_shared<bench::eigen::SparseMatrix<T>>(a);
    const int usable = bench::eigen::usable_threads(threads);
    return {.compute = [matrix, x, usable](Accuracy, std::span<T> y) { matrix->multiply(usable, x, y); }};
#else
    throw NotSupported("this program was built without Eigen");
#endif
}

template <class T>
Subject<T> cusparse([[maybe_unused]] const std::string& name, [[maybe_unused]] const CsrView<T>& a,
                    [[maybe_unused]] std::span<const T> x, [[maybe_unused]] const Device& device) {
#ifdef SOLVER_BLAS2_CUSPARSE
    return on_cuda::cusparse(name, a, x, device.index());
#else
    throw NotSupported("this program was built without cuSPARSE");
#endif
}

}  // namespace

std::vector<std::string> peer_names(Judged judged) {
    if (judged == Judged::eigen) return {"eigen"};
    return {"cusparse_alg1", "cusparse_alg2"};
}

std::string obstacle_to_judging(Judged judged, [[maybe_unused]] const Device& device) {
    if (judged == Judged::eigen) {
#ifdef SOLVER_BLAS2_EIGEN
        return "";
#else
        return "this program was built without Eigen (SOLVER_BUILD_TOOLS)";
#endif
    }
#ifdef SOLVER_BLAS2_CUSPARSE
    return device.kind() == Device::Kind::cuda ? "" : "cuSPARSE runs on a CUDA device; --device cuda chooses one";
#else
    return "this program was built without cuSPARSE";
#endif
}

template <class T>
Peer<T> make_peer(const std::string& name, const CsrView<T>& a, std::span<const T> x, const Device& device, int threads) {
    return {name, name == "eigen" ? eigen(a, x, threads) : cusparse(name, a, x, device)};
}

template Peer<float> make_peer(const std::string&, const CsrView<float>&, std::span<const float>, const Device&, int);
template Peer<double> make_peer(const std::string&, const CsrView<double>&, std::span<const double>, const Device&, int);

}  // namespace solver::blas2
