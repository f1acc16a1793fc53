/// Dense matrix times dense matrix.

#include "solver/gemm.hpp"
#include "benchmarks.hpp"
#include "common.hpp"
#include "eigen_peer.hpp"
#include "gemms.hpp"
#include "openblas_peer.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <functional>

namespace solver::bench {
namespace {

template <class T>
class DenseProduct {
public:
    DenseProduct(const Options& options, Elements elements, std::int64_t n)
        : options_(options),
          factors_(make_factors<T>(options, elements, n)),
          c_(static_cast<std::size_t>(n * n)),
          samples_(factors_, options.threads),
          contest_(product_contest<T>(options, elements, n)) {}

    void run(Report& report) {
        for (const Accuracy accuracy : all_accuracies) add_ours(std::string(to_string(accuracy)), accuracy, {});
        contest_.must_be_exact = contest_.competitors.size() - 1;
        for (const GemmSummation summation : all_gemm_summations)
            if (summation != GemmSummation::automatic && summation != GemmSummation::plain)
                add_ours(std::string(to_string(summation)), Accuracy::fast, {summation, options_.block});
        const int threads = eigen::usable_threads(options_.threads);
        add_peer("eigen", threads, eigen::end_threads,
                 [this, threads] { eigen::multiply<T>(threads, factors_.n, factors_.a, factors_.b, c_); });
        if (openblas::is_there())
            add_peer("openblas", options_.threads, openblas::rest,
                     [this] { openblas::multiply<T>(options_.threads, factors_.n, factors_.a, factors_.b, c_); });
        report.run(contest_);
    }

private:
    void add(std::string name, int threads, std::function<void()> run) {
        contest_.competitors.push_back({.name = std::move(name),
                                        .threads = threads,
                                        .operations = operations_of_product(factors_.n),
                                        .run = std::move(run),
                                        .error = [this] { return take_error(); },
                                        .details =
                                            [this] {
                                                return std::vector{error_.mean, error_.relative};
                                            }});
    }

    void add_ours(std::string name, Accuracy accuracy, const GemmOptions& options) {
        add(std::move(name), options_.threads, [this, accuracy, options] {
            const MutableDenseView<T> c{factors_.n, factors_.n, 1, factors_.n, c_.data()};
            gemm(T(1), factors_.a_view(), factors_.b_view(), T(0), c, accuracy, Device::cpu(options_.threads), options);
        });
    }

    void add_peer(std::string name, int threads, std::function<void()> leave, std::function<void()> run) {
        contest_.peers.push_back(contest_.competitors.size());
        add(std::move(name), threads, std::move(run));
        contest_.competitors.back().leave = std::move(leave);
    }

    /// Fills C with NaN as well: what is not computed cannot pass.
    double take_error() {
        std::vector<T> found;
        for (const std::int64_t place : samples_.places()) found.push_back(c_[static_cast<std::size_t>(place)]);
        error_ = samples_.error(found);
        std::fill(c_.begin(), c_.end(), std::numeric_limits<T>::quiet_NaN());
        return error_.largest;
    }

    const Options& options_;
    DenseFactors<T> factors_;
    std::vector<T> c_;
    ProductSamples<T> samples_;
    ProductError error_;
    Contest contest_;
};

}  // namespace

void require_memory_for_product(std::int64_t n) {
    constexpr double gigabyte = 1e9;
    const double needed = 3.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n);
    const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (needed > memory)
        throw InvalidArgument(fmt::format("--size {}: matrices of {:.1f} GB, but this machine has {:.1f} GB of memory", n,
                                          needed / gigabyte, memory / gigabyte));
}

void bench_gemm(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory_for_product(n);
    for (const std::int64_t n : options.sizes)
        for (const Elements elements : options.elements) {
            if (options.in_double) DenseProduct<double>(options, elements, n).run(report);
            if (options.in_single) DenseProduct<float>(options, elements, n).run(report);
        }
}

}  // namespace solver::bench
