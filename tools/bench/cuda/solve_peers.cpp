#include "benchmarks.hpp"
#include "textbook.hpp"

#include <memory>

namespace solver::bench::on_cuda {

template <class T>
std::vector<Competitor> make_solve_peers(const Options& options, Solves<T>& solves, const CsrView<T>& a) {
    const int device = options.cuda_device.value();
    const auto on_device = std::make_shared<const cuda::DeviceCsrMatrix<T>>(device, a);
    std::vector<Competitor> peers;
    for (const SpmvAlgorithm algorithm : {SpmvAlgorithm::alg1, SpmvAlgorithm::alg2}) {
        const auto peer = std::make_shared<TextbookBicgstab<T>>(device, a, on_device->view(), algorithm);
        peers.push_back(solves.competitor(algorithm == SpmvAlgorithm::alg1 ? "textbook alg1" : "textbook alg2",
                                          [&options, &solves, on_device, peer](std::int64_t max_iterations) {
                                              return peer->solve(solves.b(), solves.x(), options.tolerance, max_iterations);
                                          }));
    }
    return peers;
}

template std::vector<Competitor> make_solve_peers(const Options&, Solves<float>&, const CsrView<float>&);
template std::vector<Competitor> make_solve_peers(const Options&, Solves<double>&, const CsrView<double>&);

}  // namespace solver::bench::on_cuda
