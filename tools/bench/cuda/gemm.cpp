/// Dense matrix times dense matrix on a CUDA device.

#include "solver/cuda/gemm.hpp"
#include "benchmarks.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "tools/bench/gemms.hpp"

#include <fmt/format.h>

#include <memory>
#include <type_traits>

namespace solver::bench::on_cuda {
namespace {

/// One product by everybody; matrices and result stay on the device.
template <class T>
class DenseProduct {
public:
    DenseProduct(const Options& options, Elements elements, std::int64_t n)
        : DenseProduct(options, make_factors<T>(options, elements, n), product_contest<T>(options, elements, n)) {}

    void run(Report& report) {
        for (const Accuracy accuracy : all_accuracies) add_ours(std::string(to_string(accuracy)), accuracy, {});
        contest_.must_be_exact = contest_.competitors.size() - 1;
        for (const GemmSummation summation : all_gemm_summations)
            if (summation != GemmSummation::automatic)
                add_ours(std::string(to_string(summation)), Accuracy::fast, {summation, options_.block});
        add_peer("cublas", BlasGemm::plain);
        add_peer("cublas tf32", BlasGemm::tf32);
        blas_.emulate_eagerly(device_, n_, stream_);
        add_peer("cublas emulated", BlasGemm::emulated);
        add_peer("cublas emulated dynamic", BlasGemm::emulated_dynamic);
        report.run(contest_);
    }

private:
    DenseProduct(const Options& options, const DenseFactors<T>& factors, Contest contest)
        : options_(options),
          device_(options.cuda_device.value()),
          n_(factors.n),
          samples_(factors, options.threads),
          contest_(std::move(contest)),
          stream_(device_),
          stopwatch_(stream_),
          a_(device_, factors.a, "A", stream_),
          b_(device_, factors.b, "B", stream_),
          c_(device_, n_ * n_, "C"),
          places_(device_, samples_.places(), "places of samples", stream_),
          multiplier_(device_),
          blas_(Scalars::on_host, stream_) {}

    void add_ours(std::string name, Accuracy accuracy, const GemmOptions& options) {
        const GemmTask<T> task{T(1), {n_, n_, 1, n_, a_.data()}, {n_, n_, 1, n_, b_.data()}, T(0), {n_, n_, 1, n_, c_.data()}};
        add(std::move(name), [this, task, accuracy, options] { multiplier_.gemm(task, accuracy, options, stream_); });
        const auto last = std::make_shared<cuda::GemmReport>();  // of this competitor, though the multiplier serves all
        contest_.competitors.back().error = [this, last] {
            *last = multiplier_.report(stream_);
            return take_error();
        };
        contest_.competitors.back().remark = [last] { return describe(*last); };
    }

    void add_peer(std::string name, BlasGemm how) {
        if (!blas_.gemm(how, n_, a_.data(), b_.data(), c_.data())) return;
        if (how == BlasGemm::plain) contest_.peers.push_back(contest_.competitors.size());
        add(std::move(name), [this, how] { blas_.gemm(how, n_, a_.data(), b_.data(), c_.data()); });
        if (std::is_same_v<T, double> && how != BlasGemm::plain) say_bits(contest_.competitors.back());
    }

    void say_bits(Competitor& emulated) {
        const auto bits = std::make_shared<int>(-1);  // of this competitor's product, though the handle serves all
        emulated.error = [this, bits] {
            *bits = blas_.bits_kept(stream_);
            return take_error();
        };
        emulated.remark = [bits] { return *bits < 0 ? "native after all" : fmt::format("{} bits", *bits); };
    }

    void add(std::string name, std::function<void()> multiply) {
        contest_.competitors.push_back({.name = std::move(name),
                                        .threads = 0,
                                        .operations = operations_of_product(n_),
                                        .error = [this] { return take_error(); },
                                        .details =
                                            [this] {
                                                return std::vector{error_.mean, error_.relative};
                                            },
                                        .turn =
                                            [this, multiply = std::move(multiply)] {
                                                multiply();
                                                return stopwatch_.seconds_of(multiply);
                                            }});
    }

    /// Fills C with NaN as well: what is not computed cannot pass.
    double take_error() {
        error_ = samples_.error(gather(places_, c_.data(), stream_));
        fill_with_nan(n_ * n_, c_.data(), stream_);
        return error_.largest;
    }

    static std::string describe(const cuda::GemmReport& report) {
        if (report.route != cuda::GemmRoute::residues) return "";
        return fmt::format("{} moduli, {} elements again, {:.1f} GB", report.moduli, report.recomputed,
                           1e-9 * static_cast<double>(report.workspace_bytes));
    }

    const Options& options_;
    int device_;
    std::int64_t n_;
    ProductSamples<T> samples_;
    ProductError error_;
    Contest contest_;
    OwnStream stream_;
    Stopwatch stopwatch_;
    cuda::DeviceArray<T> a_, b_, c_;
    cuda::DeviceArray<std::int64_t> places_;
    cuda::Multiplier multiplier_;
    CuBlas blas_;
};

}  // namespace

void bench_gemm(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory_for_product(n);
    for (const std::int64_t n : options.sizes)
        for (const Elements elements : options.elements) {
            if (options.in_double) DenseProduct<double>(options, elements, n).run(report);
            if (options.in_single) DenseProduct<float>(options, elements, n).run(report);
        }
}

}  // namespace solver::bench::on_cuda
