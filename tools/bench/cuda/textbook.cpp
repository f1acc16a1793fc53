#include "textbook.hpp"

namespace solver::bench::on_cuda {
namespace {

template <class T>
std::vector<T> inverse_diagonal(const CsrView<T>& a) {
    std::vector<T> inverse(static_cast<std::size_t>(a.rows), T(1));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) inverse[i] = 1 / a.values[k];
    return inverse;
}

}  // namespace

template <class T>
TextbookBicgstab<T>::TextbookBicgstab(int device, const CsrView<T>& a, const cuda::DeviceCsrView<T>& on_device,
                                      SpmvAlgorithm algorithm)
    : n_(a.rows),
      stream_(device),
      matrix_(a, on_device, algorithm, stream_),
      blas_(Scalars::on_host, stream_),
      inverse_diagonal_(device, inverse_diagonal(a), "textbook", stream_),
      x_(device, n_, "textbook"),
      r_(device, n_, "textbook"),
      shadow_(device, n_, "textbook"),
      p_(device, n_, "textbook"),
      p_hat_(device, n_, "textbook"),
      v_(device, n_, "textbook"),
      s_hat_(device, n_, "textbook"),
      t_(device, n_, "textbook") {}

template <class T>
T TextbookBicgstab<T>::dot(const cuda::DeviceArray<T>& x, const cuda::DeviceArray<T>& y) {
    T result = 0;
    blas_.dot(n_, x.data(), y.data(), &result);
    return result;
}

template <class T>
T TextbookBicgstab<T>::norm2(const cuda::DeviceArray<T>& x) {
    T result = 0;
    blas_.norm2(n_, x.data(), &result);
    return result;
}

template <class T>
void TextbookBicgstab<T>::axpy(T alpha, const cuda::DeviceArray<T>& x, cuda::DeviceArray<T>& y) {
    blas_.axpy(n_, alpha, x.data(), y.data());
}

template <class T>
Solve TextbookBicgstab<T>::solve(std::span<const T> b, std::span<T> x, double tolerance, std::int64_t max_iterations) {
    r_.copy_from(b, stream_);
    blas_.copy(n_, r_.data(), shadow_.data());
    for (cuda::DeviceArray<T>* vector : {&x_, &p_, &v_}) vector->fill_with_zeros(stream_);
    const T enough = static_cast<T>(tolerance) * norm2(r_);
    T rho = 1, alpha = 1, omega = 1;
    Solve result{.status = "iteration limit"};
    while (result.iterations < max_iterations) {
        ++result.iterations;
        const T last_rho = rho;
        rho = dot(shadow_, r_);
        const T beta = (rho / last_rho) * (alpha / omega);
        axpy(-omega, v_, p_);  // p = r + beta (p - omega v)
        blas_.scale(n_, beta, p_.data());
        axpy(1, r_, p_);
        blas_.multiply(n_, inverse_diagonal_.data(), p_.data(), p_hat_.data());
        matrix_.multiply(p_hat_.data(), v_.data());
        alpha = rho / dot(shadow_, v_);
        axpy(-alpha, v_, r_);  // r holds s
        blas_.multiply(n_, inverse_diagonal_.data(), r_.data(), s_hat_.data());
        matrix_.multiply(s_hat_.data(), t_.data());
        omega = dot(t_, r_) / dot(t_, t_);
        axpy(alpha, p_hat_, x_);
        axpy(omega, s_hat_, x_);
        axpy(-omega, t_, r_);
        const T residual = norm2(r_);
        if (residual > enough) continue;
        result.status = residual <= enough ? "says it converged" : "non-finite";
        break;
    }
    x_.copy_to(x, stream_);
    return result;
}

template class TextbookBicgstab<float>;
template class TextbookBicgstab<double>;

}  // namespace solver::bench::on_cuda
