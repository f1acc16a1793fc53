/// Sparse matrix times vector on a CUDA device.

#include "benchmarks.hpp"
#include "check.hpp"
#include "kernels/packed.hpp"
#include "kernels/products.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "tools/bench/products.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace solver::bench::on_cuda {
namespace {

/// One matrix with everything that multiplies by it.
template <class T>
class Product {
public:
    Product(const Options& options, std::string name, const CsrView<T>& a)
        : options_(options),
          device_(options.cuda_device.value()),
          name_(std::move(name)),
          a_(a),
          stream_(device_),
          matrix_(device_, a, stream_),
          from_csr_(cuda::make_products(matrix_.view(), options.kernel, stream_)),
          from_packed_(cuda::make_products(matrix_.view(), options.kernel, stream_)),
          y_(device_, a.rows, "y") {
        if (has_packed()) {
            const auto packed = std::make_shared<const cuda::PackedOnDevice<T>>(cuda::pack(matrix_.view(), stream_));
            description_ = packed->describe(stream_).text;
            from_packed_->use(packed, stream_);
        }
        for (const SpmvAlgorithm algorithm : {SpmvAlgorithm::alg1, SpmvAlgorithm::alg2})
            peers_.push_back(std::make_unique<CuSparseMatrix<T>>(a, matrix_.view(), algorithm, stream_));
    }

    void run(Vector which, Report& report) {
        const std::vector<T> x = make_x<T>(which, a_.columns);
        x_ = cuda::DeviceArray<T>(device_, x, "x", stream_);
        truth_ = exact_product(a_, x, options_.threads);
        exact_ = cuda::DeviceArray<T>(device_, truth_, "exact product", stream_);
        Contest contest{.parameters = parameters_of(a_, name_, which, from_csr_->kernel()),
                        .heading = heading_of(options_, a_, name_, which, from_csr_->kernel())};
        add_ours(contest, "", *from_csr_);
        if (has_packed()) {
            report.note("packed: " + description_);
            add_ours(contest, "packed ", *from_packed_);
        }
        contest.must_be_exact = contest.competitors.size() - 1;
        for (const SpmvAlgorithm algorithm : {SpmvAlgorithm::alg1, SpmvAlgorithm::alg2}) {
            CuSparseMatrix<T>* const peer = peers_[static_cast<std::size_t>(algorithm)].get();
            contest.peers.push_back(contest.competitors.size());
            contest.competitors.push_back(
                product(to_string(algorithm), [this, peer] { peer->multiply(x_.data(), y_.data()); }));
        }
        contest.competitors.push_back(plan());
        if (has_packed()) contest.competitors.push_back(packing());
        report.run(contest);
    }

private:
    bool has_packed() const { return options_.storage != SpmvStorage::csr; }

    void add_ours(Contest& contest, const std::string& prefix, const cuda::MatrixProducts<T>& by) {
        for (const Accuracy accuracy : all_accuracies)
            contest.competitors.push_back(product(prefix + std::string(to_string(accuracy)), [this, &by, accuracy] {
                by.multiply({.x = x_.data(), .y = y_.data()}, accuracy, stream_);
            }));
        contest.competitors.back().remark = [this, &by] { return open_rows(by); };
    }

    Competitor product(std::string name, std::function<void()> multiply) {
        auto replay = std::make_shared<Replay>(stream_, multiply);
        return {.name = std::move(name),
                .threads = 0,
                .bytes = traffic(a_, sizeof(std::int32_t)),
                .error = [this] { return take_max_ulp_error(a_.rows, y_.data(), exact_.data(), stream_); },
                .histogram =
                    [this, multiply = std::move(multiply)] {
                        multiply();
                        std::vector<T> y(truth_.size());
                        y_.copy_to(std::span(y), stream_);
                        return page::ulp_histogram<T>(y, truth_, a_.row_offsets);
                    },
                .turn = [replay] { return replay->turn(); }};
    }

    /// The analysis, by the clock on the wall: what a user waits for before the first product.
    Competitor plan() {
        return {.name = "make the plan",
                .threads = 0,
                .error = [] { return 0.0; },
                .turn =
                    [this] {
                        const auto start = std::chrono::steady_clock::now();
                        const cuda::SpmvPlan<T> plan(matrix_.view(), options_.kernel, stream_);
                        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                    }};
    }

    /// Likewise, of a matrix that is on the device.
    Competitor packing() {
        return {
            .name = "pack", .threads = 0, .run = [this] { cuda::pack(matrix_.view(), stream_); }, .error = [] { return 0.0; }};
    }

    std::string open_rows(const cuda::MatrixProducts<T>& by) const {
        const std::int64_t rows = by.rows_not_certified(stream_);
        return rows == 0 ? "" : fmt::format("{} rows by superaccumulators", rows);
    }

    const Options& options_;
    int device_;
    std::string name_;
    CsrView<T> a_;
    OwnStream stream_;
    cuda::DeviceCsrMatrix<T> matrix_;
    std::unique_ptr<cuda::CsrProducts<T>> from_csr_, from_packed_;
    std::string description_;  ///< of the packed matrix
    std::vector<std::unique_ptr<CuSparseMatrix<T>>> peers_;
    std::vector<T> truth_;
    cuda::DeviceArray<T> x_, y_, exact_;
};

template <class T>
void bench(const Options& options, const std::string& name, const CsrView<T>& a, Report& report) {
    Product<T> product(options, name, a);
    for (const Vector which : options.vectors) product.run(which, report);
}

}  // namespace

void bench_spmv(const Options& options, Report& report) {
    for (const auto& found : find_matrices(options, report, "G3_circuit", {"stencil27_128", "power_law_2000000", "dc2_like"})) {
        if (!found.announcement.empty()) report.note(found.announcement);
        const CsrMatrix<double> matrix = load<double>(found, options.threads);
        if (options.in_double) bench<double>(options, name_of(found), matrix, report);
        if (options.in_single) bench<float>(options, name_of(found), convert<float>(matrix.view()), report);
    }
}

}  // namespace solver::bench::on_cuda
