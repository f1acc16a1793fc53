/// BiCGStab with Jacobi on a CUDA device.

#include "benchmarks.hpp"
#include "textbook.hpp"
#include "tools/bench/solves.hpp"

#include <memory>

namespace solver::bench::on_cuda {
namespace {

template <class T>
void bench(const Options& options, const std::string& name, const CsrView<T>& a, Report& report) {
    const int device = options.cuda_device.value();
    Solves<T> solves(options, name, a, Device::cuda(device));
    const cuda::DeviceCsrMatrix<T> on_device(device, a);
    std::vector<Competitor> peers;
    for (const SpmvAlgorithm algorithm : {SpmvAlgorithm::alg1, SpmvAlgorithm::alg2}) {
        const auto peer = std::make_shared<TextbookBicgstab<T>>(device, a, on_device.view(), algorithm);
        peers.push_back(solves.competitor(algorithm == SpmvAlgorithm::alg1 ? "textbook alg1" : "textbook alg2",
                                          [&, peer](std::int64_t max_iterations) {
                                              return peer->solve(solves.b(), solves.x(), options.tolerance, max_iterations);
                                          }));
    }
    solves.run(std::move(peers), report);
}

}  // namespace

void bench_solve(const Options& options, Report& report) {
    for (const auto& found : find_matrices(options, report, "G3_circuit", {"stencil27_64", "dc2_like"})) {
        if (!found.announcement.empty()) report.note(found.announcement);
        const CsrMatrix<double> matrix = load<double>(found, options.threads);
        if (options.in_double) bench<double>(options, name_of(found), matrix, report);
        if (options.in_single) bench<float>(options, name_of(found), convert<float>(matrix.view()), report);
    }
}

}  // namespace solver::bench::on_cuda
