/// Sparse matrix times vector.

#include "benchmarks.hpp"
#include "common.hpp"
#include "products.hpp"
#include "sparse_product.hpp"
#include "tools/page/exact_product.hpp"

namespace solver::bench {
namespace {

template <class T>
void bench_spmv(const Options& options, const std::string& matrix, const CsrView<T>& a, Report& report) {
    const std::string name = preparation::is_real_form(a) ? matrix + " in its real form" : matrix;
    const std::unique_ptr<SparseProduct<T>> product = make_sparse_product(options, a);
    for (const Vector which : options.vectors) {
        const std::vector<T> x = make_x<T>(which, a.columns);
        const std::vector<T> exact = exact_product(a, x, options.threads);
        product->use(x, exact);
        if (const std::string packed = product->packed(); !packed.empty()) report.note(packed);
        Contest contest{.parameters = parameters_of(a, name, which, product->kernel()),
                        .heading = heading_of(options, a, name, which, product->kernel())};
        enter(contest, *product);
        report.run(contest);
    }
}

}  // namespace

void bench_spmv(const Options& options, Report& report) {
    for_each_matrix(options, report,
                    [&](const std::string& name, const auto& a) { bench_spmv(options, name, a.view(), report); });
}

}  // namespace solver::bench
