#include "sparse_product.hpp"

#include "cuda/benchmarks.hpp"
#include "eigen_peer.hpp"
#include "mkl_peer.hpp"
#include "products.hpp"
#include "tools/page/ulp_error.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace solver::bench {
namespace {

template <class T>
class ProductOnProcessor final : public SparseProduct<T> {
public:
    ProductOnProcessor(const Options& options, const CsrView<T>& a)
        : options_(options), a_(a), csr_(plan(SpmvStorage::csr)), y_(static_cast<std::size_t>(a.rows)) {
        if (options.storage != SpmvStorage::csr) packed_.emplace(plan(SpmvStorage::packed));
        with_matrix_of_peers(a, [this](const auto& of_peers) { meet_peers(of_peers); });
    }

    void use(std::span<const T> x, std::span<const T> exact) override {
        x_.assign(x.begin(), x.end());
        exact_.assign(exact.begin(), exact.end());
    }

    SpmvKernel kernel() const override { return csr_.kernel(); }
    std::string packed() const override { return packed_ ? packed_->describe().text : ""; }

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all = by(csr_, "");
        if (packed_) std::ranges::move(by(*packed_, "packed "), std::back_inserter(all));
        return all;
    }

    std::vector<Competitor> peers() override {
        std::vector<Competitor> all;
        const int threads = eigen::usable_threads(options_.threads);
        if (eigen_) {
            all.push_back(competitor("eigen", threads, sizeof(int), eigen_));
            all.back().leave = eigen::end_threads;
        }
        if (mkl_) {
            all.push_back(competitor("mkl", options_.threads, sizeof(int), mkl_));
            all.back().leave = mkl::rest;
        }
        return all;
    }

    std::vector<Competitor> others() override {
        if (!packed_) return {};
        return {{.name = "pack",
                 .threads = options_.threads,
                 .run = [this] { plan(SpmvStorage::packed); },
                 .error = [] { return 0.0; }}};
    }

private:
    template <class S>
    void meet_peers(const CsrView<S>& a) {
        numbers_ = traffic(a, 0);
        if (!eigen::fits(a_)) return;
        eigen_ = [this, in_eigen = eigen::SparseMatrix<S>(a), threads = eigen::usable_threads(options_.threads)] {
            in_eigen.multiply(threads, numbers<S>(x_), numbers<S>(y_));
        };
        if (!mkl::is_there()) return;
        mkl_ = [this, in_mkl = mkl::SparseMatrix<S>(a, options_.threads)] { in_mkl.multiply(numbers<S>(x_), numbers<S>(y_)); };
    }

    /// Pairs as complex numbers where S is complex.
    template <class S>
    static std::span<S> numbers(std::vector<T>& x) {
        return {reinterpret_cast<S*>(x.data()), x.size() * sizeof(T) / sizeof(S)};
    }

    SpmvPlan<T> plan(SpmvStorage storage) const {
        return {a_, Device::cpu(options_.threads), SpmvOptions{.kernel = options_.kernel, .storage = storage}};
    }

    std::vector<Competitor> by(const SpmvPlan<T>& plan, const std::string& prefix) {
        std::vector<Competitor> all;
        const int threads = static_cast<int>(csr_.boundaries().size()) - 1;
        for (const Accuracy accuracy : all_accuracies)
            all.push_back(competitor(prefix + std::string(to_string(accuracy)), threads, sizeof(std::int64_t),
                                     [this, &plan, accuracy] { plan.multiply(T(1), x_, T(0), y_, accuracy); }));
        all.back().must_be_exact = true;
        return all;
    }

    Competitor competitor(std::string name, int threads, std::size_t bytes_of_offset, std::function<void()> multiply) {
        return {.name = std::move(name),
                .threads = threads,
                .bytes = numbers_ + static_cast<double>(a_.rows + 1) * static_cast<double>(bytes_of_offset),
                .run = multiply,
                .error = [this] { return take_error(); },
                .histogram =
                    [this, multiply] {
                        multiply();
                        return page::ulp_histogram<T>(y_, exact_, a_.row_offsets);
                    }};
    }

    double take_error() {
        const double error = max_ulp_error<T>(y_, exact_);
        std::fill(y_.begin(), y_.end(), std::numeric_limits<T>::quiet_NaN());
        return error;
    }

    const Options& options_;
    CsrView<T> a_;
    SpmvPlan<T> csr_;
    std::optional<SpmvPlan<T>> packed_;
    double numbers_ = 0;                 ///< bytes of a product but for row offsets
    std::function<void()> eigen_, mkl_;  ///< y_ = A x_; empty where they cannot
    std::vector<T> x_, y_, exact_;
};

}  // namespace

template <class T>
std::unique_ptr<SparseProduct<T>> make_sparse_product(const Options& options, const CsrView<T>& a) {
    if (options.cuda_device) return on_cuda::make_sparse_product<T>(options, a);
    return std::make_unique<ProductOnProcessor<T>>(options, a);
}

template std::unique_ptr<SparseProduct<float>> make_sparse_product(const Options&, const CsrView<float>&);
template std::unique_ptr<SparseProduct<double>> make_sparse_product(const Options&, const CsrView<double>&);

}  // namespace solver::bench
