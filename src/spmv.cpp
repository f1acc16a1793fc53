#include "solver/spmv.hpp"
#include "solver/error.hpp"
#include "solver/numeric/accumulators.hpp"
#include <fmt/format.h>
namespace solver {
std::string_view to_string(SpmvKernel kernel) {
    switch (kernel) {
        case SpmvKernel::automatic: return "auto";
        case SpmvKernel::general: return "general";
        case SpmvKernel::adaptive: return "adaptive";
    }
    throw InvalidArgument(fmt::format("spmv: there is no kernel number {}", static_cast<int>(kernel)));
}
SpmvKernel spmv_kernel_from_text(std::string_view text) {
    for (const SpmvKernel kernel : {SpmvKernel::automatic, SpmvKernel::general, SpmvKernel::adaptive})
        if (text == to_string(kernel)) return kernel;
    throw InvalidArgument(fmt::format("SpMV kernel '{}' is not known; choose auto, general or adaptive", text));
}
template <class T> SpmvPlan<T>::SpmvPlan(const CsrView<T>& a, const Device& device, SpmvKernel kernel) : a_(a), device_(device), kernel_(kernel == SpmvKernel::automatic ? SpmvKernel::general : kernel) {}
template <class T> void SpmvPlan<T>::multiply(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy) const {
    for (std::int64_t i = 0; i < a_.rows; ++i) {
        Dot2<T> acc;
        for (auto k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k) acc.add_product(alpha * a_.values[k], x[a_.column_indices[k]]);
        if (beta != 0) acc.add_product(beta, y[i]);
        y[i] = acc.result();
    }
}
template <class T> void SpmvPlan<T>::residual(std::span<const T> b, std::span<const T> x, std::span<const T> x_low, std::span<T> r, Accuracy) const {
    for (std::int64_t i = 0; i < a_.rows; ++i) {
        Dot2<T> acc;
        acc.add(b[i]);
        for (auto k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k) {
            acc.add_product(-a_.values[k], x[a_.column_indices[k]]);
            if (!x_low.empty()) acc.add_product(-a_.values[k], x_low[a_.column_indices[k]]);
        }
        r[i] = acc.result();
    }
}
template class SpmvPlan<float>;
template class SpmvPlan<double>;
}
