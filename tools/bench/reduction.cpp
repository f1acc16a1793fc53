#include "reductions.hpp"

#include "cuda/benchmarks.hpp"
#include "eigen_peer.hpp"
#include "solver/reduce.hpp"
#include "tools/page/ulp_error.hpp"

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver::bench {
namespace {

template <class T>
class ReductionOnProcessor final : public Operation {
public:
    ReductionOnProcessor(const Options& options, const Factors<T>& data, T exact)
        : subject_(options.subject), threads_(options.threads), data_(data), exact_(exact) {}

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all;
        for (const Accuracy accuracy : all_accuracies)
            all.push_back(
                competitor(std::string(to_string(accuracy)), threads_, [this, accuracy] { return reduced(accuracy); }));
        all.back().must_be_exact = true;
        return all;
    }

    /// Eigen's reductions have one thread: split among several where there are, or as they are.
    std::vector<Competitor> peers() override {
        const int parts = eigen::usable_threads(threads_);
        return {parts > 1 ? by_eigen("eigen split", parts) : by_eigen("eigen", 1)};
    }
    std::vector<Competitor> others() override {
        if (eigen::usable_threads(threads_) > 1) return {by_eigen("eigen", 1)};
        return {};
    }

private:
    T reduced(Accuracy accuracy) const {
        const std::span<const T> x(data_.x);
        const Device device = Device::cpu(threads_);
        if (subject_ == Subject::norm2) return norm2(x, accuracy, device);
        return subject_ == Subject::sum ? sum(x, accuracy, device) : dot(x, std::span<const T>(data_.y), accuracy, device);
    }

    T reduced_by_eigen(int parts) const {
        const std::span<const T> x(data_.x);
        if (subject_ == Subject::norm2) return eigen::norm2(x, parts);
        return subject_ == Subject::sum ? eigen::sum(x, parts) : eigen::dot(x, std::span<const T>(data_.y), parts);
    }

    Competitor by_eigen(std::string name, int parts) {
        Competitor peer = competitor(std::move(name), parts, [this, parts] { return reduced_by_eigen(parts); });
        if (parts > 1) peer.leave = eigen::end_threads;
        return peer;
    }

    Competitor competitor(std::string name, int threads, std::function<T()> compute) {
        return {.name = std::move(name),
                .threads = threads,
                .bytes = traffic(data_),
                .run = [this, compute = std::move(compute)] { result_ = compute(); },
                .error = [this] { return ulp_error(std::exchange(result_, std::numeric_limits<T>::quiet_NaN()), exact_); }};
    }

    Subject subject_;
    int threads_;
    const Factors<T>& data_;
    T exact_;
    T result_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Operation> make_reduction(const Options& options, const Factors<T>& data, T exact) {
    if (options.cuda_device) return on_cuda::make_reduction(options, data, exact);
    return std::make_unique<ReductionOnProcessor<T>>(options, data, exact);
}

template std::unique_ptr<Operation> make_reduction(const Options&, const Factors<float>&, float);
template std::unique_ptr<Operation> make_reduction(const Options&, const Factors<double>&, double);

}  // namespace solver::bench
