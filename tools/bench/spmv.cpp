/// Sparse matrix times vector.

#include "solver/spmv.hpp"
#include "benchmarks.hpp"
#include "common.hpp"
#include "eigen_peer.hpp"
#include "products.hpp"
#include "tools/page/ulp_error.hpp"

#include <fmt/format.h>

#include <optional>

namespace solver::bench {
namespace {

/// One matrix with everything that multiplies by it.
template <class T>
class Product {
public:
    Product(const Options& options, std::string name, const CsrView<T>& a)
        : options_(options),
          name_(std::move(name)),
          a_(a),
          plan_(a, Device::cpu(options.threads), SpmvOptions{.kernel = options.kernel, .storage = SpmvStorage::csr}),
          packed_(options.storage == SpmvStorage::csr ? plan_ : packed_plan()) {
        if (eigen::fits(a)) peer_.emplace(a);
    }

    void run(Vector which, Report& report) {
        x_ = make_x<T>(which, a_.columns);
        y_.assign(static_cast<std::size_t>(a_.rows), T(0));
        exact_ = exact_product(a_, x_, options_.threads);
        Contest contest{.parameters = parameters_of(a_, name_, which, plan_.kernel()),
                        .heading = heading_of(options_, a_, name_, which, plan_.kernel())};
        add_ours(contest, "", plan_);
        if (has_packed()) {
            report.note(packed_.describe().text);
            add_ours(contest, "packed ", packed_);
        }
        contest.must_be_exact = contest.competitors.size() - 1;
        if (peer_) {
            contest.peers = {contest.competitors.size()};
            contest.competitors.push_back(peer());
        }
        if (has_packed()) contest.competitors.push_back(packing());
        report.run(contest);
    }

private:
    bool has_packed() const { return options_.storage != SpmvStorage::csr; }

    void add_ours(Contest& contest, const std::string& prefix, const SpmvPlan<T>& plan) {
        for (const Accuracy accuracy : all_accuracies)
            contest.competitors.push_back(ours(prefix + std::string(to_string(accuracy)), plan, accuracy));
    }

    SpmvPlan<T> packed_plan() const {
        return {a_, Device::cpu(options_.threads), SpmvOptions{.kernel = options_.kernel, .storage = SpmvStorage::packed}};
    }

    Competitor ours(std::string name, const SpmvPlan<T>& plan, Accuracy accuracy) {
        const auto multiply = [this, &plan, accuracy] { plan.multiply(T(1), x_, T(0), y_, accuracy); };
        return {.name = std::move(name),
                .threads = static_cast<int>(plan_.boundaries().size()) - 1,
                .bytes = traffic(a_, sizeof(std::int64_t)),
                .run = multiply,
                .error = [this] { return take_error(); },
                .histogram = [this, multiply] { return histogram_of(multiply); }};
    }

    Competitor packing() const {
        return {.name = "pack", .threads = options_.threads, .run = [this] { packed_plan(); }, .error = [] { return 0.0; }};
    }

    Competitor peer() {
        const int threads = eigen::usable_threads(options_.threads);
        return {.name = "eigen",
                .threads = threads,
                .bytes = traffic(a_, sizeof(int)),
                .run = [this, threads] { peer_->multiply(threads, x_, y_); },
                .error = [this] { return take_error(); },
                .leave = eigen::end_threads,
                .histogram = [this, threads] { return histogram_of([&] { peer_->multiply(threads, x_, y_); }); }};
    }

    template <class Multiply>
    page::UlpHistogram histogram_of(const Multiply& multiply) {
        multiply();
        return page::ulp_histogram<T>(y_, exact_, a_.row_offsets);
    }

    /// Clears y as well: what is not computed cannot pass.
    double take_error() {
        const double error = max_ulp_error<T>(y_, exact_);
        std::fill(y_.begin(), y_.end(), std::numeric_limits<T>::quiet_NaN());
        return error;
    }

    const Options& options_;
    std::string name_;
    CsrView<T> a_;
    SpmvPlan<T> plan_;
    SpmvPlan<T> packed_;
    std::optional<eigen::SparseMatrix<T>> peer_;
    std::vector<T> x_, y_, exact_;
};

template <class T>
void bench(const Options& options, const matrices::FoundMatrix& found, Report& report) {
    if (!found.announcement.empty()) report.note(found.announcement);
    const CsrMatrix<T> matrix = load<T>(found, options.threads);
    Product<T> product(options, name_of(found), matrix.view());
    for (const Vector which : options.vectors) product.run(which, report);
}

}  // namespace

void bench_spmv(const Options& options, Report& report) {
    for (const auto& found : find_matrices(options, report, "G3_circuit", {"stencil27_128", "power_law_2000000", "dc2_like"})) {
        if (options.in_double) bench<double>(options, found, report);
        if (options.in_single) bench<float>(options, found, report);
    }
}

}  // namespace solver::bench
