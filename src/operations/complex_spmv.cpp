#include "core/check.hpp"
#include "core/complex_affine.hpp"
#include "core/thread_pool.hpp"
#include "kernels/complex.hpp"
#include "operations/real_form_products.hpp"
#include "solver/complex.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace solver {
namespace {

struct ComplexShape {
    std::int64_t rows;
    std::int64_t columns;
};

template <class T>
using ComplexProduct = SpmvTask<std::complex<T>>;

template <class T>
void require_valid(const ComplexProduct<T>& task, const ComplexShape& a) {
    require_length("spmv", "x", task.x.size(), a.columns, "the columns of A", a);
    if (!task.x_low.empty()) require_length("spmv", "x_low", task.x_low.size(), a.columns, "the columns of A", a);
    if (task.beta != std::complex<T>(0)) require_length("spmv", "y_in", task.y_in.size(), a.rows, "the rows of A", a);
    require_length("spmv", "y", task.y.size(), a.rows, "the rows of A", a);
    require_apart<std::complex<T>>("spmv", "y", task.y, "x", task.x);
    require_apart<std::complex<T>>("spmv", "y", task.y, "x_low", task.x_low);
    if (task.beta != std::complex<T>(0)) require_same_or_apart<std::complex<T>>("spmv", "y", task.y, "y_in", task.y_in);
}

template <class T>
bool has_real_factors(const ComplexProduct<T>& task) {
    return task.alpha.imag() == T(0) && task.beta.imag() == T(0);
}

template <class T>
SpmvTask<T> real_task(const ComplexProduct<T>& task) {
    return {.alpha = task.alpha.real(),
            .x = real_view(task.x),
            .x_low = real_view(task.x_low),
            .beta = task.beta.real(),
            .y_in = real_view(task.y_in),
            .y = real_view(task.y)};
}

/// The exact sum of a row of the real form times x.
template <class T>
Superaccumulator row_sum(const CsrView<T>& k, std::int64_t row, const SpmvTask<T>& task) {
    Superaccumulator sum;
    for (std::int64_t entry = k.row_offsets[row]; entry < k.row_offsets[row + 1]; ++entry) {
        const auto column = static_cast<std::size_t>(k.column_indices[entry]);
        sum.add_product(k.values[entry], task.x[column]);
        if (!task.x_low.empty()) sum.add_product(k.values[entry], task.x_low[column]);
    }
    return sum;
}

/// Adds factor times a sum. A factor of zero is none.
template <class T>
void add_scaled(Superaccumulator& total, Superaccumulator sum, T factor) {
    if (factor == T(0)) return;
    sum.multiply(factor);
    total.merge(sum);
}

template <class T>
void add_product(Superaccumulator& total, T factor, T y) {
    if (factor != T(0)) total.add_product(factor, y);
}

/// Both parts of alpha s + beta y.
template <class T>
struct BothParts {
    PartFactors<T> re, im;

    explicit BothParts(const ComplexProduct<T>& task)
        : re(factors_of_real_part(task.alpha, task.beta)), im(factors_of_imaginary_part(task.alpha, task.beta)) {}
};

/// y_i, where it is read.
template <class T>
std::complex<T> addend(const ComplexProduct<T>& task, std::int64_t i) {
    return task.beta == std::complex<T>(0) ? std::complex<T>(0) : task.y_in[static_cast<std::size_t>(i)];
}

/// RN of both parts of alpha (A x)_i + beta y_i, from sums without rounding.
template <class T>
std::complex<T> rounded_row(const CsrView<T>& k, std::int64_t i, const ComplexProduct<T>& task) {
    const SpmvTask<T> x{.x = real_view(task.x), .x_low = real_view(task.x_low), .y = {}};
    Superaccumulator s_re, s_im;
    if (task.alpha != std::complex<T>(0)) {
        s_re = row_sum(k, 2 * i, x);
        s_im = row_sum(k, 2 * i + 1, x);
    }
    const std::complex<T> y = addend(task, i);
    const auto part = [&](const PartFactors<T>& factors) {
        Superaccumulator sum;
        add_scaled(sum, s_re, factors.s_re);
        add_scaled(sum, s_im, factors.s_im);
        add_product(sum, factors.y_re, y.real());
        add_product(sum, factors.y_im, y.imag());
        return sum.result<T>();
    };
    const BothParts<T> parts(task);
    return {part(parts.re), part(parts.im)};
}

/// K x rounded twice.
template <class T>
class TwiceRoundedProduct {
public:
    TwiceRoundedProduct(const SpmvPlan<T>& real, const ComplexProduct<T>& task)
        : high_(static_cast<std::size_t>(real.rows())), low_(high_.size()) {
        if (task.alpha == std::complex<T>(0)) return;  // nothing of it is used
        SpmvTask<T> times_x{.x = real_view(task.x), .x_low = real_view(task.x_low), .y = high_};
        real.multiply(std::span(&times_x, 1), Accuracy::exact);
        times_x.beta = -1;
        times_x.y_in = high_;
        times_x.y = low_;
        real.multiply(std::span(&times_x, 1), Accuracy::exact);
    }

    TwiceRounded<T> operator[](std::int64_t i) const {
        const auto at = static_cast<std::size_t>(i);
        return {high_[at], low_[at]};
    }

private:
    std::vector<T> high_;
    std::vector<T> low_;
};

/// Both parts of alpha (A x)_i + beta y_i, from those of (A x)_i; or false.
template <class T>
bool try_round(const TwiceRoundedProduct<T>& product, std::int64_t i, const ComplexProduct<T>& task, std::complex<T>& result) {
    const std::complex<T> y = addend(task, i);
    const auto try_factors = [&](const PartFactors<T>& factors, T& part) {
        return try_part(factors, product[2 * i], product[2 * i + 1], y.real(), y.imag(), part);
    };
    const BothParts<T> factors(task);
    T parts[2];
    if (!try_factors(factors.re, parts[0]) || !try_factors(factors.im, parts[1])) return false;
    result = {parts[0], parts[1]};
    return true;
}

/// Two products on the plan's device give A x in twice the precision; rows of which that does not prove the rounding are summed
/// without rounding.
template <class T>
void multiply_exactly(const SpmvPlan<T>& real, const ComplexProduct<T>& task) {
    const TwiceRoundedProduct<T> product(real, task);
    const std::int64_t rows = real.rows() / 2;
    const int threads = static_cast<int>(std::clamp<std::int64_t>(rows / 4096, 1, real.device().threads()));
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t last = cpu::share_begin(rows, t + 1, threads);
        for (std::int64_t i = cpu::share_begin(rows, t, threads); i < last; ++i) {
            std::complex<T>& y = task.y[static_cast<std::size_t>(i)];
            std::complex<T> result;
            y = try_round(product, i, task, result) ? result : rounded_row(real.matrix(), i, task);
        }
    });
}

template <class T>
std::shared_ptr<const cuda::DeviceMatrix<T>> checked_real_form(const cuda::DeviceCsrView<std::complex<T>>& a) {
    cuda::check(a);
    return std::make_shared<const cuda::DeviceMatrix<T>>(cuda::real_form(a, nullptr));
}

/// Of a real form, which was made here.
SpmvOptions without_check(SpmvOptions options) {
    options.is_checked = true;
    return options;
}

template <class T>
void multiply_once(std::complex<T> alpha, const CsrView<std::complex<T>>& a, std::span<const std::complex<T>> x,
                   std::complex<T> beta, std::span<std::complex<T>> y, Accuracy accuracy, const Device& device) {
    SpmvPlan<std::complex<T>>(a, device).multiply(alpha, x, beta, y, accuracy);
}

}  // namespace

template <class T>
SpmvPlan<std::complex<T>>::SpmvPlan(const CsrView<Number>& a, const Device& device, const SpmvOptions& options)
    : SpmvPlan(std::make_shared<const CsrMatrix<T>>(solver::real_form(a)), device, without_check(options)) {}

template <class T>
SpmvPlan<std::complex<T>>::SpmvPlan(const cuda::DeviceCsrView<Number>& a, const SpmvOptions& options)
    : SpmvPlan(checked_real_form(a), options) {}

template <class T>
void multiply_real_form(const SpmvPlan<T>& real_form, std::span<const ComplexProduct<T>> tasks, Accuracy accuracy) {
    const cpu::FloatingPointGuard guard;
    std::vector<SpmvTask<T>> products;
    for (const ComplexProduct<T>& task : tasks)
        require_valid<T>(task, ComplexShape{real_form.rows() / 2, real_form.columns() / 2});
    for (const ComplexProduct<T>& task : tasks) {
        if (has_real_factors<T>(task))
            products.push_back(real_task<T>(task));
        else
            multiply_exactly<T>(real_form, task);
    }
    real_form.multiply(products, accuracy);
}
template void multiply_real_form(const SpmvPlan<float>&, std::span<const ComplexProduct<float>>, Accuracy);
template void multiply_real_form(const SpmvPlan<double>&, std::span<const ComplexProduct<double>>, Accuracy);

template <class T>
void SpmvPlan<std::complex<T>>::multiply(std::span<const SpmvTask<Number>> tasks, Accuracy accuracy) const {
    multiply_real_form<T>(real_, tasks, accuracy);
}

template <class T>
void SpmvPlan<std::complex<T>>::multiply(Number alpha, std::span<const Number> x, Number beta, std::span<Number> y,
                                         Accuracy accuracy) const {
    const SpmvTask<Number> task{.alpha = alpha, .x = x, .beta = beta, .y_in = y, .y = y};
    multiply(std::span(&task, 1), accuracy);
}

template <class T>
void SpmvPlan<std::complex<T>>::residual(std::span<const Number> b, std::span<const Number> x, std::span<const Number> x_low,
                                         std::span<Number> r, Accuracy accuracy) const {
    const SpmvTask<Number> task{.alpha = -1, .x = x, .x_low = x_low, .beta = 1, .y_in = b, .y = r};
    multiply(std::span(&task, 1), accuracy);
}

template class SpmvPlan<std::complex<float>>;
template class SpmvPlan<std::complex<double>>;

void spmv(std::complex<double> alpha, const CsrView<std::complex<double>>& a, std::span<const std::complex<double>> x,
          std::complex<double> beta, std::span<std::complex<double>> y, Accuracy accuracy, const Device& device) {
    multiply_once(alpha, a, x, beta, y, accuracy, device);
}
void spmv(std::complex<float> alpha, const CsrView<std::complex<float>>& a, std::span<const std::complex<float>> x,
          std::complex<float> beta, std::span<std::complex<float>> y, Accuracy accuracy, const Device& device) {
    multiply_once(alpha, a, x, beta, y, accuracy, device);
}

}  // namespace solver
