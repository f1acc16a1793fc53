#include "core/check.hpp"
#include "core/thread_pool.hpp"
#include "solver/complex.hpp"
#include "solver/numeric/escalation.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "solver/numeric/tracked_sum.hpp"

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
void require_lengths(const ComplexProduct<T>& task, const ComplexShape& a) {
    require_length("spmv", "x", task.x.size(), a.columns, "the columns of A", a);
    if (!task.x_low.empty()) require_length("spmv", "x_low", task.x_low.size(), a.columns, "the columns of A", a);
    if (task.beta != std::complex<T>(0)) require_length("spmv", "y_in", task.y_in.size(), a.rows, "the rows of A", a);
    require_length("spmv", "y", task.y.size(), a.rows, "the rows of A", a);
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

/// Adds Re or Im of beta y.
template <class T>
void add_product(Superaccumulator& total, bool imaginary, std::complex<T> beta, std::complex<T> y) {
    const T other = imaginary ? beta.imag() : -beta.imag();
    if (beta.real() != T(0)) total.add_product(beta.real(), imaginary ? y.imag() : y.real());
    if (beta.imag() != T(0)) total.add_product(other, imaginary ? y.real() : y.imag());
}

/// RN of both components of alpha (A x)_i + beta y_i.
template <class T>
std::complex<T> rounded_row(const CsrView<T>& k, std::int64_t i, const ComplexProduct<T>& task) {
    Superaccumulator re, im;
    if (task.alpha != std::complex<T>(0)) {
        const SpmvTask<T> x{.x = real_view(task.x), .x_low = real_view(task.x_low), .y = {}};
        const Superaccumulator real_sum = row_sum(k, 2 * i, x), imaginary_sum = row_sum(k, 2 * i + 1, x);
        add_scaled(re, real_sum, task.alpha.real());
        add_scaled(re, imaginary_sum, -task.alpha.imag());
        add_scaled(im, imaginary_sum, task.alpha.real());
        add_scaled(im, real_sum, task.alpha.imag());
    }
    if (task.beta != std::complex<T>(0)) {
        const std::complex<T> y = task.y_in[static_cast<std::size_t>(i)];
        add_product(re, false, task.beta, y);
        add_product(im, true, task.beta, y);
    }
    return {re.result<T>(), im.result<T>()};
}

/// A real number within `error` of high + low.
template <class T>
struct Enclosed {
    T high;
    T low;
    T error;
};

/// K x as high = RN(K x) and low = RN(K x - high): low is within u |low| + eta / 2 of what high leaves.
template <class T>
class EnclosedProduct {
public:
    EnclosedProduct(const SpmvPlan<T>& real, const ComplexProduct<T>& task)
        : high_(static_cast<std::size_t>(real.rows())), low_(high_.size()) {
        if (task.alpha == std::complex<T>(0)) return;  // nothing of it is used
        SpmvTask<T> times_x{.x = real_view(task.x), .x_low = real_view(task.x_low), .y = high_};
        real.multiply(std::span(&times_x, 1), Accuracy::exact);
        times_x.beta = -1;
        times_x.y_in = high_;
        times_x.y = low_;
        real.multiply(std::span(&times_x, 1), Accuracy::exact);
    }

    /// Component i of K x. `above` pays for half of eta, and for a product that underflows.
    Enclosed<T> operator[](std::size_t i) const {
        return {high_[i], low_[i], above(mul_rn(unit_roundoff<T>, magnitude(low_[i])))};
    }

private:
    std::vector<T> high_;
    std::vector<T> low_;
};

/// A part of alpha A x + beta y: a sum of products with numbers, and with enclosed ones.
template <class T>
class EnclosedSum {
public:
    void add_product(T factor, const Enclosed<T>& x) {
        if (factor == T(0)) return;
        sum_.add_product(factor, x.high);
        sum_.add_product(factor, x.low);
        error_ = above(add_rn(error_, above(mul_rn(magnitude(factor), x.error))));
    }
    void add_product(T factor, T y) {
        if (factor != T(0)) sum_.add_product(factor, y);
    }

    /// RN of the real number, where it is that of both ends of what it may be: rounding is monotone.
    bool try_result(T& result) const {
        constexpr std::int64_t most_products = 6;
        const T lost = underflow_bound<T>(most_products);
        Sum least = sum_, largest = sum_;
        least.sum.add(-error_);
        largest.sum.add(error_);
        T other;
        return least.try_result(result, lost) && largest.try_result(other, lost) && result == other;
    }

private:
    using Sum = TrackedSum<typename AccumulatorOf<T, Accuracy::exact>::type>;
    Sum sum_;
    T error_ = 0;
};

/// Both parts of alpha (A x)_i + beta y_i, from those of (A x)_i; or false.
template <class T>
bool try_round(const EnclosedProduct<T>& product, std::int64_t i, const ComplexProduct<T>& task, std::complex<T>& result) {
    const auto at = static_cast<std::size_t>(i);
    const Enclosed<T> real_sum = product[2 * at], imaginary_sum = product[2 * at + 1];
    EnclosedSum<T> re, im;
    re.add_product(task.alpha.real(), real_sum);
    re.add_product(-task.alpha.imag(), imaginary_sum);
    im.add_product(task.alpha.real(), imaginary_sum);
    im.add_product(task.alpha.imag(), real_sum);
    if (task.beta != std::complex<T>(0)) {
        const std::complex<T> y = task.y_in[at];
        re.add_product(task.beta.real(), y.real());
        re.add_product(-task.beta.imag(), y.imag());
        im.add_product(task.beta.real(), y.imag());
        im.add_product(task.beta.imag(), y.real());
    }
    T parts[2];
    if (!re.try_result(parts[0]) || !im.try_result(parts[1])) return false;
    result = {parts[0], parts[1]};
    return true;
}

/// Two products on the plan's device give A x in twice the precision; rows of which that does not prove the rounding are summed
/// without rounding.
template <class T>
void multiply_exactly(const SpmvPlan<T>& real, const ComplexProduct<T>& task) {
    const CsrView<T>& k = real.matrix();
    const EnclosedProduct<T> product(real, task);
    const std::int64_t rows = k.rows / 2;
    const int threads = static_cast<int>(std::clamp<std::int64_t>(rows / 4096, 1, real.device().threads()));
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t last = cpu::share_begin(rows, t + 1, threads);
        for (std::int64_t i = cpu::share_begin(rows, t, threads); i < last; ++i) {
            std::complex<T>& y = task.y[static_cast<std::size_t>(i)];
            std::complex<T> result;
            y = try_round(product, i, task, result) ? result : rounded_row(k, i, task);
        }
    });
}

template <class T>
void multiply_once(std::complex<T> alpha, const CsrView<std::complex<T>>& a, std::span<const std::complex<T>> x,
                   std::complex<T> beta, std::span<std::complex<T>> y, Accuracy accuracy, const Device& device) {
    SpmvPlan<std::complex<T>>(a, device).multiply(alpha, x, beta, y, accuracy);
}

}  // namespace

template <class T>
SpmvPlan<std::complex<T>>::SpmvPlan(const CsrView<Number>& a, const Device& device, const SpmvOptions& options)
    : SpmvPlan(std::make_shared<const CsrMatrix<T>>(solver::real_form(a)), device, options) {}

template <class T>
void SpmvPlan<std::complex<T>>::multiply(std::span<const SpmvTask<Number>> tasks, Accuracy accuracy) const {
    const cpu::FloatingPointGuard guard;
    std::vector<SpmvTask<T>> products;
    for (const SpmvTask<Number>& task : tasks) require_lengths<T>(task, ComplexShape{rows(), columns()});
    for (const SpmvTask<Number>& task : tasks) {
        if (has_real_factors<T>(task))
            products.push_back(real_task<T>(task));
        else
            multiply_exactly<T>(real_, task);
    }
    real_.multiply(products, accuracy);
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
