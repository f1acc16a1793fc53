/// The plans of solver/cuda/, which have no launch predicates, from those that the library uses itself.

#include "kernels/products.hpp"
#include "kernels/triangular.hpp"

namespace solver::cuda {

template <class T>
SpmvPlan<T>::SpmvPlan(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream)
    : products_(make_products(a, kernel, stream)) {}
template <class T>
SpmvPlan<T>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>& SpmvPlan<T>::operator=(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>::~SpmvPlan() = default;

template <class T>
void SpmvPlan<T>::multiply(const RowTask<T>& task, Accuracy accuracy, Stream stream) const {
    products_->multiply(task, accuracy, stream);
}

template <class T>
SpmvKernel SpmvPlan<T>::kernel() const {
    return products_->kernel();
}

template <class T>
std::int64_t SpmvPlan<T>::workspace_bytes() const {
    return products_->workspace_bytes();
}

template <class T>
std::int64_t SpmvPlan<T>::rows_not_certified(Stream stream) const {
    return products_->rows_not_certified(stream);
}

template class SpmvPlan<float>;
template class SpmvPlan<double>;

template <class T>
TriangularSolvePlan<T>::TriangularSolvePlan(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal)
    : system_(std::make_unique<TriangularSystem<T>>(device, a, triangle, diagonal)) {}
template <class T>
TriangularSolvePlan<T>::TriangularSolvePlan(TriangularSolvePlan&&) noexcept = default;
template <class T>
TriangularSolvePlan<T>& TriangularSolvePlan<T>::operator=(TriangularSolvePlan&&) noexcept = default;
template <class T>
TriangularSolvePlan<T>::~TriangularSolvePlan() = default;

template <class T>
void TriangularSolvePlan<T>::solve(const T* b, T* x, Accuracy accuracy, Stream stream) const {
    system_->solve(b, x, accuracy, stream);
}

template <class T>
std::int64_t TriangularSolvePlan<T>::bytes() const {
    return system_->bytes();
}

template class TriangularSolvePlan<float>;
template class TriangularSolvePlan<double>;

}  // namespace solver::cuda
