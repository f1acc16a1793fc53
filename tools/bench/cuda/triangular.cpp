/// Triangular solves on a CUDA device.

#include "benchmarks.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "solver/cuda/triangular_solve.hpp"
#include "tools/bench/triangles.hpp"

#include <memory>

namespace solver::bench::on_cuda {
namespace {

template <class T>
void bench(const Options& options, const TriangularSystem<T>& system, Report& report) {
    const int device = options.cuda_device.value();
    const OwnStream stream(device);
    std::vector<T> right(system.b.size());
    TriangularSolvePlan<T>(system.a, system.triangle, system.diagonal, Device::cpu(options.threads))
        .solve(system.b, right, Accuracy::exact);
    const cuda::DeviceArray<T> b(device, system.b, "b", stream);
    const cuda::DeviceArray<T> exact(device, right, "exact solution", stream);
    const cuda::DeviceArray<T> x(device, system.a.rows, "x");
    const cuda::TriangularSolvePlan<T> plan(device, system.a, system.triangle, system.diagonal);
    CuSparseTriangle<T> peer(device, system.a, system.triangle, system.diagonal, b.data(), x.data(), stream);

    Contest contest{.parameters = system.parameters(), .heading = system.heading()};
    const auto add = [&](std::string name, std::function<void()> solve) {
        auto replay = std::make_shared<Replay>(stream, std::move(solve));
        contest.competitors.push_back(
            {.name = std::move(name),
             .threads = 0,
             .bytes = traffic(system.a, sizeof(std::int32_t)),
             .error = [&] { return take_max_ulp_error(system.a.rows, x.data(), exact.data(), stream); },
             .turn = [replay] { return replay->turn(); }});
    };
    for (const Accuracy accuracy : all_accuracies)
        add(std::string(to_string(accuracy)), [&, accuracy] { plan.solve(b.data(), x.data(), accuracy, stream); });
    contest.must_be_exact = contest.competitors.size() - 1;
    contest.peers = {contest.competitors.size()};
    add("cusparse", [&] { peer.solve(); });
    report.run(contest);
}

}  // namespace

void bench_triangular(const Options& options, Report& report) {
    for_each_triangle(options, report, [&](const auto& system) { bench(options, system, report); });
}

}  // namespace solver::bench::on_cuda
