#include "tools/bench/sparse_product.hpp"

#include "benchmarks.hpp"
#include "check.hpp"
#include "kernels/packed.hpp"
#include "kernels/products.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "tools/bench/products.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>

namespace solver::bench::on_cuda {
namespace {

constexpr auto all_algorithms = {SpmvAlgorithm::alg1, SpmvAlgorithm::alg2};

template <class T>
class ProductOnDevice final : public SparseProduct<T> {
public:
    ProductOnDevice(const Options& options, const CsrView<T>& a)
        : options_(options),
          device_(options.cuda_device.value()),
          a_(a),
          stream_(device_),
          matrix_(device_, a, stream_),
          from_csr_(cuda::make_products(matrix_.view(), options.kernel, stream_)),
          from_packed_(cuda::make_products(matrix_.view(), options.kernel, stream_)),
          y_(device_, a.rows, "y") {
        if (has_packed()) {
            const auto packed = std::make_shared<const cuda::PackedOnDevice<T>>(cuda::pack(matrix_.view(), stream_));
            description_ = "packed: " + packed->describe(stream_).text;
            from_packed_->use(packed, stream_);
        }
        with_matrix_of_peers(a, [this](const auto& of_peers) { meet_peers(of_peers); });
    }

    void use(std::span<const T> x, std::span<const T> exact) override {
        x_ = cuda::DeviceArray<T>(device_, x, "x", stream_);
        truth_.assign(exact.begin(), exact.end());
        exact_ = cuda::DeviceArray<T>(device_, truth_, "exact product", stream_);
    }

    SpmvKernel kernel() const override { return from_csr_->kernel(); }
    std::string packed() const override { return description_; }

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all = by(*from_csr_, "");
        if (has_packed()) std::ranges::move(by(*from_packed_, "packed "), std::back_inserter(all));
        return all;
    }

    std::vector<Competitor> peers() override {
        std::vector<Competitor> all;
        for (const SpmvAlgorithm algorithm : all_algorithms)
            all.push_back(competitor(to_string(algorithm), peers_[static_cast<std::size_t>(algorithm)]));
        return all;
    }

    std::vector<Competitor> others() override {
        std::vector<Competitor> all{plan()};
        if (has_packed()) all.push_back(packing());
        return all;
    }

private:
    template <class S>
    void meet_peers(const CsrView<S>& a) {
        bytes_ = traffic(a, sizeof(std::int32_t));
        const auto on_device = std::make_shared<const cuda::DeviceCsrMatrix<S>>(device_, a, stream_);
        for (const SpmvAlgorithm algorithm : all_algorithms)
            peers_.push_back(
                [this, on_device, peer = std::make_shared<CuSparseMatrix<S>>(a, on_device->view(), algorithm, stream_)] {
                    peer->multiply(reinterpret_cast<const S*>(x_.data()), reinterpret_cast<S*>(y_.data()));
                });
    }

    bool has_packed() const { return options_.storage != SpmvStorage::csr; }

    std::vector<Competitor> by(const cuda::MatrixProducts<T>& products, const std::string& prefix) {
        std::vector<Competitor> all;
        for (const Accuracy accuracy : all_accuracies)
            all.push_back(competitor(prefix + std::string(to_string(accuracy)), [this, &products, accuracy] {
                products.multiply({.x = x_.data(), .y = y_.data()}, accuracy, stream_);
            }));
        all.back().must_be_exact = true;
        all.back().remark = [this, &products] { return open_rows(products); };
        return all;
    }

    Competitor competitor(std::string name, std::function<void()> multiply) {
        auto replay = std::make_shared<Replay>(stream_, multiply);
        return {.name = std::move(name),
                .threads = 0,
                .bytes = bytes_,
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

    /// Packing, of a matrix that is on the device.
    Competitor packing() {
        return {
            .name = "pack", .threads = 0, .run = [this] { cuda::pack(matrix_.view(), stream_); }, .error = [] { return 0.0; }};
    }

    std::string open_rows(const cuda::MatrixProducts<T>& products) const {
        const std::int64_t rows = products.rows_not_certified(stream_);
        return rows == 0 ? "" : fmt::format("{} rows by superaccumulators", rows);
    }

    const Options& options_;
    int device_;
    CsrView<T> a_;
    OwnStream stream_;
    cuda::DeviceCsrMatrix<T> matrix_;
    std::unique_ptr<cuda::CsrProducts<T>> from_csr_, from_packed_;
    std::string description_;                   ///< of the packed matrix
    double bytes_ = 0;                          ///< that a product has to move
    std::vector<std::function<void()>> peers_;  ///< y_ = A x_, by algorithm
    std::vector<T> truth_;
    cuda::DeviceArray<T> x_, y_, exact_;
};

}  // namespace

template <class T>
std::unique_ptr<SparseProduct<T>> make_sparse_product(const Options& options, const CsrView<T>& a) {
    return std::make_unique<ProductOnDevice<T>>(options, a);
}

template std::unique_ptr<SparseProduct<float>> make_sparse_product(const Options&, const CsrView<float>&);
template std::unique_ptr<SparseProduct<double>> make_sparse_product(const Options&, const CsrView<double>&);

}  // namespace solver::bench::on_cuda
