#include "solver/gemv.hpp"

#include "core/check.hpp"
#include "core/dense_check.hpp"
#include "cpu/spmv.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>

namespace solver {
namespace {

/// Below this many elements of A a thread is not worth waking.
constexpr std::int64_t least_elements_per_thread = 16384;

template <class T>
void multiply(const char* name, const DenseView<T>& a, const cpu::RowTask<T>& task, Accuracy accuracy, const Device& device) {
    require_cpu(device, name);
    const cpu::FloatingPointGuard guard;
    if (task.alpha == T(0)) {
        for (std::int64_t i = 0; i < a.rows; ++i)
            task.y[i] = task.beta == T(0) ? T(0) : canonical(mul_rn(task.beta, task.y_in[i]));
        return;
    }
    const int threads =
        static_cast<int>(std::clamp<std::int64_t>(a.rows * a.columns / least_elements_per_thread, 1, device.threads()));
    cpu::multiply(a, threads, task, accuracy);
}

template <class T>
void checked_gemv(T alpha, const DenseView<T>& a, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy,
                  const Device& device) {
    require_valid("gemv", "A", a);
    require_length("gemv", "x", x.size(), a.columns, "the columns of A", a);
    require_length("gemv", "y", y.size(), a.rows, "the rows of A", a);
    require_apart<T>("gemv", "y", y, "x", x);
    multiply("gemv", a, {.alpha = alpha, .x = x.data(), .beta = beta, .y_in = y.data(), .y = y.data()}, accuracy, device);
}

template <class T>
void checked_residual(std::span<const T> b, const DenseView<T>& a, std::span<const T> x, std::span<const T> x_low,
                      std::span<T> r, Accuracy accuracy, const Device& device) {
    require_valid("residual", "A", a);
    require_length("residual", "x", x.size(), a.columns, "the columns of A", a);
    if (!x_low.empty()) require_length("residual", "x_low", x_low.size(), a.columns, "the columns of A", a);
    require_length("residual", "b", b.size(), a.rows, "the rows of A", a);
    require_length("residual", "r", r.size(), a.rows, "the rows of A", a);
    require_apart<T>("residual", "r", r, "x", x);
    require_apart<T>("residual", "r", r, "x_low", x_low);
    require_same_or_apart<T>("residual", "r", r, "b", b);
    const T* low = x_low.empty() ? nullptr : x_low.data();
    multiply("residual", a, {.alpha = -1, .x = x.data(), .x_low = low, .beta = 1, .y_in = b.data(), .y = r.data()}, accuracy,
             device);
}

}  // namespace

void gemv(double alpha, const DenseView<double>& a, std::span<const double> x, double beta, std::span<double> y,
          Accuracy accuracy, const Device& device) {
    checked_gemv(alpha, a, x, beta, y, accuracy, device);
}

void gemv(float alpha, const DenseView<float>& a, std::span<const float> x, float beta, std::span<float> y, Accuracy accuracy,
          const Device& device) {
    checked_gemv(alpha, a, x, beta, y, accuracy, device);
}

void residual(std::span<const double> b, const DenseView<double>& a, std::span<const double> x, std::span<const double> x_low,
              std::span<double> r, Accuracy accuracy, const Device& device) {
    checked_residual(b, a, x, x_low, r, accuracy, device);
}

void residual(std::span<const float> b, const DenseView<float>& a, std::span<const float> x, std::span<const float> x_low,
              std::span<float> r, Accuracy accuracy, const Device& device) {
    checked_residual(b, a, x, x_low, r, accuracy, device);
}

}  // namespace solver
