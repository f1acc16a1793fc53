#include "solver/gemm.hpp"

#include "core/check.hpp"
#include "core/dense_check.hpp"
#include "cpu/gemm/gemm.hpp"
#include "cuda/gemm.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>

namespace solver {
namespace {

template <class T>
void scale(const MutableDenseView<T>& c, T beta) {
    for (std::int64_t j = 0; j < c.columns; ++j)
        for (std::int64_t i = 0; i < c.rows; ++i) {
            T& element = c.data[i * c.row_stride + j * c.column_stride];
            element = beta == T(0) ? T(0) : canonical(mul_rn(beta, element));
        }
}

template <class T>
void checked_gemm(const GemmTask<T>& task, Accuracy accuracy, const Device& device, const GemmOptions& options) {
    require_valid(task, options);
    if (task.c.rows == 0 || task.c.columns == 0) return;
    const cpu::FloatingPointGuard guard;
    if (task.alpha == T(0) || task.inner() == 0) return scale(task.c, task.beta);
    if (device.kind() == Device::Kind::cuda) return cuda::multiply(task, accuracy, options, device.index());
    cpu::multiply(task, accuracy, options, device.threads());
}

}  // namespace

std::string_view to_string(GemmSummation summation) {
    switch (summation) {
        case GemmSummation::automatic:
            return "automatic";
        case GemmSummation::plain:
            return "plain";
        case GemmSummation::kahan:
            return "kahan";
        case GemmSummation::doubly_compensated:
            return "doubly-compensated";
        case GemmSummation::pairwise:
            return "pairwise";
        case GemmSummation::dot2:
            return "dot2";
    }
    throw InvalidArgument(fmt::format("gemm: there is no summation number {}", static_cast<int>(summation)));
}

GemmSummation gemm_summation_from_text(std::string_view text) {
    for (const GemmSummation summation : all_gemm_summations)
        if (text == to_string(summation)) return summation;
    throw InvalidArgument(
        fmt::format("summation '{}' is not known; choose automatic, plain, kahan, doubly-compensated, pairwise or dot2", text));
}

void gemm(const GemmTask<double>& task, Accuracy accuracy, const Device& device, const GemmOptions& options) {
    checked_gemm(task, accuracy, device, options);
}

void gemm(const GemmTask<float>& task, Accuracy accuracy, const Device& device, const GemmOptions& options) {
    checked_gemm(task, accuracy, device, options);
}

}  // namespace solver
