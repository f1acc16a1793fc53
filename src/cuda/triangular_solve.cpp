#include "cuda/triangular_solve.hpp"

namespace solver::cuda {

template <class T>
TriangleOnDevice<T>::TriangleOnDevice(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal)
    : stream_(device), system_(device, a, triangle, diagonal), x_(device, a.rows, "x of a triangular solve") {}

template <class T>
TriangleOnDevice<T>::TriangleOnDevice(int device, const PairedTriangle<T>& a)
    : stream_(device), system_(device, a), x_(device, a.beside.rows, "x of a triangular solve") {}

template <class T>
void TriangleOnDevice<T>::solve(std::span<const T> b, std::span<T> x, Accuracy accuracy) {
    const std::lock_guard lock(mutex_);
    x_.copy_from(b, stream_.get());
    system_.solve(x_.data(), x_.data(), accuracy, stream_.get());
    x_.copy_to(x, stream_.get());
}

template class TriangleOnDevice<float>;
template class TriangleOnDevice<double>;

}  // namespace solver::cuda
