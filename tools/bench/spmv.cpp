/// Sparse matrix times vector.

#include "solver/spmv.hpp"
#include "benchmarks.hpp"
#include "common.hpp"
#include "eigen_peer.hpp"
#include "matrices/random.hpp"
#include "solver/matrix_market.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "ulp_error.hpp"

#include <fmt/format.h>

#include <optional>

namespace solver::bench {
namespace {

template <class T>
CsrMatrix<T> load(const matrices::FoundMatrix& found, int threads) {
    if (const auto* generator = std::get_if<matrices::Generator>(&found.source)) {
        CsrMatrix<double> matrix = generator->make();
        if constexpr (std::is_same_v<T, double>)
            return matrix;
        else
            return convert<T>(matrix.view());
    }
    return read_csr<T>(std::get<std::filesystem::path>(found.source), {.threads = threads});
}

template <class T>
std::vector<T> make_x(Vector which, std::int64_t n) {
    std::vector<T> x(static_cast<std::size_t>(n), T(1));
    matrices::Random random(1);
    if (which == Vector::random)
        for (T& element : x) element = static_cast<T>(2 * random.uniform() - 1);
    return x;
}

/// RN(A x), row by row in a superaccumulator.
template <class T>
std::vector<T> exact_product(const CsrView<T>& a, const std::vector<T>& x) {
    std::vector<T> y(static_cast<std::size_t>(a.rows));
    for (std::int64_t row = 0; row < a.rows; ++row) {
        Superaccumulator sum;
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            sum.add_product(a.values[k], x[a.column_indices[k]]);
        y[row] = sum.result<T>();
    }
    return y;
}

template <class T>
double traffic(const CsrView<T>& a, std::size_t bytes_of_offset) {
    return static_cast<double>(a.nonzeros()) * (sizeof(T) + sizeof(std::int32_t)) +
           static_cast<double>(a.rows + 1) * static_cast<double>(bytes_of_offset) +
           static_cast<double>(a.columns + a.rows) * sizeof(T);
}

/// One matrix with everything that multiplies by it.
template <class T>
class Product {
public:
    Product(const Options& options, std::string name, const CsrView<T>& a)
        : options_(options), name_(std::move(name)), a_(a), plan_(a, Device::cpu(options.threads), options.kernel) {
        if (eigen::fits(a)) peer_.emplace(a);
    }

    void run(Vector which, Report& report) {
        x_ = make_x<T>(which, a_.columns);
        y_.assign(static_cast<std::size_t>(a_.rows), T(0));
        exact_ = exact_product(a_, x_);
        Contest contest{.parameters = parameters(which), .heading = heading(which)};
        for (const Accuracy accuracy : all_accuracies) contest.competitors.push_back(ours(accuracy));
        contest.must_be_exact = contest.competitors.size() - 1;
        if (peer_) {
            contest.peer = contest.competitors.size();
            contest.competitors.push_back(peer());
        }
        report.run(contest);
    }

private:
    Competitor ours(Accuracy accuracy) {
        return {.name = std::string(to_string(accuracy)),
                .threads = static_cast<int>(plan_.boundaries().size()) - 1,
                .bytes = traffic(a_, sizeof(std::int64_t)),
                .run = [this, accuracy] { plan_.multiply(T(1), x_, T(0), y_, accuracy); },
                .error = [this] { return take_error(); }};
    }

    Competitor peer() {
        const int threads = eigen::usable_threads(options_.threads);
        return {.name = "eigen",
                .threads = threads,
                .bytes = traffic(a_, sizeof(int)),
                .run = [this, threads] { peer_->multiply(threads, x_, y_); },
                .error = [this] { return take_error(); },
                .leave = eigen::end_threads};
    }

    /// Clears y as well: what is not computed cannot pass.
    double take_error() {
        const double error = max_ulp_error<T>(y_, exact_);
        std::fill(y_.begin(), y_.end(), std::numeric_limits<T>::quiet_NaN());
        return error;
    }

    std::vector<std::pair<std::string, std::string>> parameters(Vector which) const {
        return {{"matrix", name_},
                {"x", std::string(to_string(which))},
                {"precision", precision_name<T>},
                {"kernel", std::string(to_string(plan_.kernel()))},
                {"rows", std::to_string(a_.rows)},
                {"columns", std::to_string(a_.columns)},
                {"nonzeros", std::to_string(a_.nonzeros())}};
    }

    std::string heading(Vector which) const {
        return fmt::format("{}: {} x {}, {} nonzeros ({}), x {}, {}, kernel {}", name_, a_.rows, a_.columns, a_.nonzeros(),
                           place_of(traffic(a_, sizeof(std::int64_t))), to_string(which), precision_name<T>,
                           to_string(plan_.kernel()));
    }

    const Options& options_;
    std::string name_;
    CsrView<T> a_;
    SpmvPlan<T> plan_;
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
