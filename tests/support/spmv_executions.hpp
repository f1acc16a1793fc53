#pragma once

/// Products and residuals by every kernel, number of threads and device, and the promises that each has to keep.

#include "solver/spmv.hpp"
#include "support/devices.hpp"
#include "support/products.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <span>
#include <vector>

namespace solver::testing {

/// The suite of all of tests/operations/spmv/: one class, since gpu_tests links those programs into one.
template <class T>
class Spmv : public ::testing::Test {};

struct Execution {
    Device device;
    SpmvKernel kernel;
    bool in_place;  ///< whether a residual replaces b
};

inline const std::vector<Execution>& on_processor() {
    static const std::vector<Execution> all = {
        {Device::cpu(1), SpmvKernel::general, false}, {Device::cpu(2), SpmvKernel::general, true},
        {Device::cpu(7), SpmvKernel::general, false}, {Device::cpu(1), SpmvKernel::adaptive, false},
        {Device::cpu(2), SpmvKernel::adaptive, true}, {Device::cpu(7), SpmvKernel::adaptive, false}};
    return all;
}

inline const std::vector<Execution>& on_cuda() {
    static const std::vector<Execution> all = [] {
        std::vector<Execution> found;
        for (const Device& device : cuda_devices()) {
            found.push_back({device, SpmvKernel::general, true});
            found.push_back({device, SpmvKernel::adaptive, false});
        }
        return found;
    }();
    return all;
}

inline std::vector<Execution> executions() {
    std::vector<Execution> all = on_processor();
    all.insert(all.end(), on_cuda().begin(), on_cuda().end());
    return all;
}

inline std::ostream& operator<<(std::ostream& out, const Execution& execution) {
    return out << to_string(execution.device) << ", " << execution.device.threads() << " threads, "
               << to_string(execution.kernel);
}

/// y = alpha A x + beta y in one way of doing it, x and y misaligned.
template <class T>
std::vector<T> product(const Execution& execution, T alpha, const CsrView<T>& a, Span<T> x, T beta, Span<T> y,
                       Accuracy accuracy) {
    Misaligned<T> shifted_x(x);
    Misaligned<T> shifted_y(y);
    const SpmvPlan<T> plan(a, execution.device, execution.kernel);
    plan.multiply(alpha, shifted_x.view(), beta, shifted_y.view(), accuracy);
    return {shifted_y.view().begin(), shifted_y.view().end()};
}

/// r = b - A (x + x_low), r aliasing b or not.
template <class T>
std::vector<T> residual(const Execution& execution, const CsrView<T>& a, Span<T> b, Span<T> x, Span<T> x_low, bool in_place,
                        Accuracy accuracy) {
    Misaligned<T> shifted_b(b);
    Misaligned<T> r(b.size(), nan_value<T>);
    const std::span<T> target = in_place ? shifted_b.view() : r.view();
    SpmvPlan<T>(a, execution.device, execution.kernel).residual(shifted_b.view(), x, x_low, target, accuracy);
    return {target.begin(), target.end()};
}

/// run(execution, accuracy) in every mode, on every target by both kernels and all numbers of threads, on every CUDA device by
/// both kernels, twice.
template <class T, class Run>
void expect_kept(const std::vector<ExpectedSum<T>>& rows, const Run& run) {
    const std::vector<T> rounded = testing::rounded(rows);
    const auto expect_by = [&](const std::vector<Execution>& executions) {
        for (const Execution& execution : executions)
            for (const Accuracy accuracy : all_accuracies) {
                SCOPED_TRACE(::testing::Message() << execution);
                const std::vector<T> found = run(execution, accuracy);
                EXPECT_EQ(broken_promises<T>(found, rows, rounded, accuracy), "");
                if (accuracy == Accuracy::exact) continue;
                EXPECT_EQ(differences<T>(found, run(execution, accuracy)), "") << "of two runs";
            }
    };
    for_each_target([&] { expect_by(on_processor()); });
    expect_by(on_cuda());
}

/// y = A x, y = -x-like factors with and without y, and both residuals.
template <class T>
void expect_products_kept(const CsrView<T>& a, Span<T> x) {
    check(a);
    Random random(99);
    const auto sums = expected_rows(a, x);
    const std::vector<T> nothing(sums.size(), nan_value<T>);
    const std::vector<T> y = adversarial_addends(random, sums);
    expect_kept(affine<T>(sums, 1, 0, nothing), [&](const Execution& execution, Accuracy accuracy) {
        return product<T>(execution, 1, a, x, 0, nothing, accuracy);
    });
    expect_kept(affine<T>(sums, T(0.1), 3, y), [&](const Execution& execution, Accuracy accuracy) {
        return product<T>(execution, T(0.1), a, x, 3, y, accuracy);
    });
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    expect_kept(affine<T>(expected_rows<T>(a, x, x_low), -1, 1, y), [&](const Execution& execution, Accuracy accuracy) {
        return residual<T>(execution, a, y, x, x_low, execution.in_place, accuracy);
    });
}

}  // namespace solver::testing
