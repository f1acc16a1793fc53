#include "solver/gemm.hpp"

#include "core/check.hpp"
#include "core/dense_check.hpp"
#include "core/names.hpp"
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
    if (device.kind() == Device::Kind::cuda) return cuda::multiply(task, accuracy, options, device.index());
    if (task.alpha == T(0) || task.inner() == 0) return scale(task.c, task.beta);
    cpu::multiply(task, accuracy, options, device.threads());
}

constexpr Name<GemmSummation> gemm_summation_names[] = {
    {GemmSummation::automatic, "automatic"}, {GemmSummation::plain, "plain"},
    {GemmSummation::kahan, "kahan"},         {GemmSummation::doubly_compensated, "doubly-compensated"},
    {GemmSummation::pairwise, "pairwise"},   {GemmSummation::dot2, "dot2"}};

}  // namespace

std::string_view to_string(GemmSummation summation) {
    return name_of(summation, gemm_summation_names, "gemm: there is no summation");
}

GemmSummation gemm_summation_from_text(std::string_view text) { return value_of(text, gemm_summation_names, "summation"); }

void gemm(const GemmTask<double>& task, Accuracy accuracy, const Device& device, const GemmOptions& options) {
    checked_gemm(task, accuracy, device, options);
}

void gemm(const GemmTask<float>& task, Accuracy accuracy, const Device& device, const GemmOptions& options) {
    checked_gemm(task, accuracy, device, options);
}

}  // namespace solver
