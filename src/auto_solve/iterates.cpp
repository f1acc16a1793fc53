#include "auto_solve/iterates.hpp"

#include "core/column_norms.hpp"
#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "cuda/spmv.hpp"

namespace solver {

template <class T>
T Iterates<T>::norm_of_terms(std::span<const T> x) {
    if (a_.on_device() != nullptr) return a_.on_device()->norm_of_terms(a_, x);
    if (column_norms_.empty()) column_norms_ = one_norms_of_columns(a_);
    std::vector<T> terms = zeros<T>(std::ssize(x), a_.device().threads());
    cpu::update(std::span(terms), a_.device(), [&](T, std::int64_t j) { return mul_rn(column_norms_[j], x[j]); });
    return norm2(terms, Accuracy::exact, a_.device());
}

template float Iterates<float>::norm_of_terms(std::span<const float>);
template double Iterates<double>::norm_of_terms(std::span<const double>);

}  // namespace solver
