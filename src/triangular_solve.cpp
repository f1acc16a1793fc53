#include "solver/triangular_solve.hpp"
#include "solver/numeric/accumulators.hpp"
namespace solver {
template <class T> TriangularSolvePlan<T>::TriangularSolvePlan(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const Device& device) : a_(a), triangle_(triangle), diagonal_(diagonal), device_(device) {}
template <class T> void TriangularSolvePlan<T>::solve(std::span<const T> b, std::span<T> x, Accuracy) const {
    const bool lower = triangle_ == Triangle::lower;
    for (std::int64_t n = 0; n < a_.rows; ++n) {
        const std::int64_t i = lower ? n : a_.rows - 1 - n;
        Dot2<T> acc; acc.add(b[i]); T pivot = 1;
        for (auto k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k) {
            const auto j = a_.column_indices[k];
            if (j == i) pivot = a_.values[k]; else acc.add_product(-a_.values[k], x[j]);
        }
        x[i] = acc.result() / pivot;
    }
}
template class TriangularSolvePlan<float>;
template class TriangularSolvePlan<double>;
}
