/// Dense matrix times dense matrix.

#include "solver/gemm.hpp"
#include "benchmarks.hpp"
#include "common.hpp"
#include "core/machine.hpp"
#include "gemms.hpp"
#include "operation.hpp"
#include "product_machine.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <memory>

namespace solver::bench {
namespace {

/// C = A B, judged by samples of C.
template <class T>
class DenseProduct final : public Operation {
public:
    DenseProduct(const Options& options, Elements elements, std::int64_t n)
        : DenseProduct(options, make_factors<T>(options, elements, n)) {}

    std::vector<Competitor> ours() override {
        std::vector<Competitor> all;
        for (const ProductWay& way : machine_->ours(block_, factors_are_complex_)) all.push_back(competitor(way));
        all[static_cast<std::size_t>(Accuracy::exact)].must_be_exact = true;
        return all;
    }
    std::vector<Competitor> peers() override { return others_products(true); }
    std::vector<Competitor> others() override { return others_products(false); }

private:
    DenseProduct(const Options& options, const DenseFactors<T>& factors)
        : block_(options.block),
          factors_are_complex_(factors.is_complex),
          operations_(operations_of_product(factors.n, factors.is_complex)),
          samples_(factors, options.threads),
          places_(samples_.places()),
          machine_(make_product_machine<T>(options)) {
        machine_->load(factors);
    }

    std::vector<Competitor> others_products(bool plain) {
        std::vector<Competitor> all;
        for (const ProductWay& way : machine_->peers())
            if (way.is_plain == plain) all.push_back(competitor(way));
        return all;
    }

    Competitor competitor(const ProductWay& way) {
        Competitor one = machine_->competitor(way);
        one.operations = operations_;
        const auto last = std::make_shared<std::string>();  // of this one's product, before others make theirs
        one.error = [this, last, remark = way.remark] {
            if (remark) *last = remark();
            error_ = samples_.error(machine_->result(places_));
            machine_->clear();
            return error_.largest;
        };
        one.details = [this] { return std::vector{error_.mean, error_.relative}; };
        if (way.remark) one.remark = [last] { return *last; };
        return one;
    }

    std::int64_t block_;
    bool factors_are_complex_;
    double operations_;
    ProductSamples<T> samples_;
    std::vector<std::int64_t> places_;
    std::unique_ptr<ProductMachine<T>> machine_;
    ProductError error_;
};

template <class T>
void bench_gemm(const Options& options, Elements elements, std::int64_t n, Report& report) {
    DenseProduct<T> product(options, elements, n);
    Contest contest = product_contest<T>(options, elements, n);
    enter(contest, product);
    report.run(contest);
}

}  // namespace

void require_memory_for_product(std::int64_t n, bool is_complex) {
    constexpr double gigabyte = 1e9;
    const double needed = (is_complex ? 6.0 : 3.0) * sizeof(double) * static_cast<double>(n) * static_cast<double>(n);
    const double memory = static_cast<double>(available_memory());
    if (needed > memory)
        throw InvalidArgument(fmt::format("--size {}: matrices of {:.1f} GB, but {:.1f} GB of memory may be used", n,
                                          needed / gigabyte, memory / gigabyte));
}

void bench_gemm(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory_for_product(n, options.complex_numbers);
    for (const std::int64_t n : options.sizes)
        for (const Elements elements : options.elements) {
            if (options.in_double) bench_gemm<double>(options, elements, n, report);
            if (options.in_single) bench_gemm<float>(options, elements, n, report);
        }
}

}  // namespace solver::bench
