#include "triangles.hpp"

#include "cuda/benchmarks.hpp"
#include "tools/page/ulp_error.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace solver::bench {
namespace {

template <class T>
class SolveOnProcessor final : public Operation {
public:
    SolveOnProcessor(const Options& options, const TriangularSystem<T>& system)
        : threads_(options.threads),
          system_(system),
          plan_(system.a, system.triangle, system.diagonal, Device::cpu(options.threads)),
          exact_(system.exact_solution(1)),
          x_(system.b.size()) {}

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all;
        for (const Accuracy accuracy : all_accuracies)
            all.push_back({.name = std::string(to_string(accuracy)),
                           .threads = threads_,
                           .bytes = traffic(system_.a, sizeof(std::int64_t)),
                           .run = [this, accuracy] { plan_.solve(system_.b, x_, accuracy); },
                           .error = [this] { return take_error(); }});
        all.back().must_be_exact = true;
        return all;
    }

private:
    double take_error() {
        const double error = max_ulp_error<T>(x_, exact_);
        std::fill(x_.begin(), x_.end(), std::numeric_limits<T>::quiet_NaN());
        return error;
    }

    int threads_;
    const TriangularSystem<T>& system_;
    TriangularSolvePlan<T> plan_;
    std::vector<T> exact_, x_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation> make_triangular_solve(const Options& options, const TriangularSystem<T>& system) {
    if (options.cuda_device) return on_cuda::make_triangular_solve(options, system);
    return std::make_unique<SolveOnProcessor<T>>(options, system);
}

template std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<float>&);
template std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<double>&);

}  // namespace solver::bench
