#include "tools/bench/triangles.hpp"

#include "benchmarks.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "solver/cuda/triangular_solve.hpp"

namespace solver::bench::on_cuda {
namespace {

template <class T>
class SolveOnDevice final : public Operation {
public:
    SolveOnDevice(const Options& options, const TriangularSystem<T>& system)
        : rows_(system.a.rows),
          bytes_(traffic(system.a, sizeof(std::int32_t))),
          device_(options.cuda_device.value()),
          stream_(device_),
          b_(device_, system.b, "b", stream_),
          exact_(device_, system.exact_solution(options.threads), "exact solution", stream_),
          x_(device_, rows_, "x"),
          plan_(device_, system.a, system.triangle, system.diagonal),
          peer_(device_, system.a, system.triangle, system.diagonal, b_.data(), x_.data(), stream_) {}

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all;
        for (const Accuracy accuracy : all_accuracies)
            all.push_back(competitor(std::string(to_string(accuracy)),
                                     [this, accuracy] { plan_.solve(b_.data(), x_.data(), accuracy, stream_); }));
        all.back().must_be_exact = true;
        return all;
    }

    std::vector<Competitor> peers() override {
        return {competitor("cusparse", [this] { peer_.solve(); })};
    }

private:
    Competitor competitor(std::string name, std::function<void()> solve) {
        auto replay = std::make_shared<Replay>(stream_, std::move(solve));
        return {.name = std::move(name),
                .threads = 0,
                .bytes = bytes_,
                .error = [this] { return take_max_ulp_error(rows_, x_.data(), exact_.data(), stream_); },
                .turn = [replay] { return replay->turn(); }};
    }

    std::int64_t rows_;
    double bytes_;
    int device_;
    OwnStream stream_;
    cuda::DeviceArray<T> b_, exact_, x_;
    cuda::TriangularSolvePlan<T> plan_;
    CuSparseTriangle<T> peer_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation> make_triangular_solve(const Options& options, const TriangularSystem<T>& system) {
    return std::make_unique<SolveOnDevice<T>>(options, system);
}

template std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<float>&);
template std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<double>&);

}  // namespace solver::bench::on_cuda
