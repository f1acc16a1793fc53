#pragma once

/// Dense matrix times vector, and the residual. On the processor only: NotSupported on a CUDA device, to which taking A would
/// cost more than the product.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <span>

namespace solver {

/// y = alpha A x + beta y with the contracts, special values and errors of SpmvPlan::multiply.
void gemv(double alpha, const DenseView<double>& a, std::span<const double> x, double beta, std::span<double> y,
          Accuracy accuracy, const Device& device = Device::cpu());
void gemv(float alpha, const DenseView<float>& a, std::span<const float> x, float beta, std::span<float> y, Accuracy accuracy,
          const Device& device = Device::cpu());

/// r = b - A (x + x_low) as SpmvPlan::residual has it.
void residual(std::span<const double> b, const DenseView<double>& a, std::span<const double> x, std::span<const double> x_low,
              std::span<double> r, Accuracy accuracy, const Device& device = Device::cpu());
void residual(std::span<const float> b, const DenseView<float>& a, std::span<const float> x, std::span<const float> x_low,
              std::span<float> r, Accuracy accuracy, const Device& device = Device::cpu());

}  // namespace solver
