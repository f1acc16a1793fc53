#include "products.hpp"

#include "matrices/random.hpp"
#include "tools/page/exact_product.hpp"

#include <fmt/format.h>

#include <Eigen/SparseCore>
#include <limits>
#include <span>

namespace solver::command {
namespace {

template <class T>
std::vector<T> eigen_product(const CsrView<T>& a, const std::vector<T>& x) {
    using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    const Eigen::Map<const Matrix> matrix(static_cast<int>(a.rows), static_cast<int>(a.columns), static_cast<int>(a.nonzeros()),
                                          offsets.data(), a.column_indices.data(), a.values.data());
    const Vector y = matrix * Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
    return {y.data(), y.data() + y.size()};
}

template <class T>
ProductErrors errors_for(const Options& options, const SpmvPlan<T>& plan, std::string name, const std::vector<T>& x) {
    const CsrView<T>& a = plan.matrix();
    const std::vector<T> truth = exact_product(a, x, Device::cpu(options.threads).threads());
    const auto histogram = [&](const std::vector<T>& y) { return page::ulp_histogram<T>(y, truth, a.row_offsets); };
    ProductErrors errors{std::move(name), {}};
    std::vector<T> y(truth.size());
    for (const Accuracy accuracy : all_accuracies) {
        plan.multiply(T(1), x, T(0), y, accuracy);
        errors.ways.push_back({std::string(to_string(accuracy)), {}, histogram(y)});
    }
    if (a.nonzeros() <= std::numeric_limits<int>::max()) errors.ways.push_back({"Eigen", {}, histogram(eigen_product(a, x))});
    return errors;
}

}  // namespace

template <class T>
std::vector<ProductErrors> product_errors(const Options& options, const SpmvPlan<T>& a, LiveLine& live) {
    live.show("  judging products");
    const std::int64_t n = a.matrix().columns;
    std::vector<ProductErrors> all{errors_for(options, a, "<i>x</i> = ones", std::vector<T>(static_cast<std::size_t>(n), T(1))),
                                   errors_for(options, a, "<i>x</i> random in [−1, 1)", matrices::random_vector<T>(n, 1))};
    live.clear();
    return all;
}

template std::vector<ProductErrors> product_errors(const Options&, const SpmvPlan<float>&, LiveLine&);
template std::vector<ProductErrors> product_errors(const Options&, const SpmvPlan<double>&, LiveLine&);

std::string eigen_version() {
    return fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace solver::command
