/// The plans of solver/cuda/, which have no launch predicates, from those that the library uses itself.

#include "core/paired_rows.hpp"
#include "kernels/complex.hpp"
#include "kernels/products.hpp"
#include "kernels/triangular.hpp"
#include "solver/cuda/memory.hpp"

#include <complex>

namespace solver::cuda {

/// What multiplies for a plan, and what that needs.
template <class T>
struct PlannedProducts {
    std::unique_ptr<CsrProducts<T>> products;

    PlannedProducts(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream) : products(make_products(a, kernel, stream)) {}

    void multiply(const RowTask<T>& task, Accuracy accuracy, Stream stream) const {
        products->multiply(task, accuracy, stream);
    }
    std::int64_t workspace_bytes() const { return products->workspace_bytes(); }
};

template <class T>
struct PlannedProducts<std::complex<T>> {
    DeviceMatrix<T> real;
    std::unique_ptr<CsrProducts<T>> products;
    DeviceArray<T> high, low;  ///< of products with factors that have imaginary parts

    PlannedProducts(const DeviceCsrView<std::complex<T>>& a, SpmvKernel kernel, Stream stream)
        : real(real_form(a, stream)),
          products(make_products(real.view(), kernel, stream)),
          high(a.device, real.rows, "a product rounded once"),
          low(a.device, real.rows, "a product rounded twice") {}

    void multiply(const RowTask<std::complex<T>>& task, Accuracy accuracy, Stream stream) const {
        RowTask<T> parts{.alpha = task.alpha.real(),
                         .x = reinterpret_cast<const T*>(task.x),
                         .x_low = reinterpret_cast<const T*>(task.x_low),
                         .beta = task.beta.real(),
                         .y_in = reinterpret_cast<const T*>(task.y_in),
                         .y = reinterpret_cast<T*>(task.y)};
        if (task.alpha.imag() == T(0) && task.beta.imag() == T(0)) return products->multiply(parts, accuracy, stream);
        if (task.alpha != std::complex<T>(0)) multiply_twice(parts, stream);
        round_complex_rows(real.view(), task, {high.data(), low.data()}, stream);
    }

    std::int64_t workspace_bytes() const {
        return real.row_offsets.bytes() + real.column_indices.bytes() + real.values.bytes() + high.bytes() + low.bytes() +
               products->workspace_bytes();
    }

private:
    void multiply_twice(RowTask<T> times_x, Stream stream) const {
        times_x.alpha = 1;
        times_x.beta = 0;
        times_x.y = high.data();
        products->multiply(times_x, Accuracy::exact, stream);
        times_x.beta = -1;
        times_x.y_in = high.data();
        times_x.y = low.data();
        products->multiply(times_x, Accuracy::exact, stream);
    }
};

template <class T>
SpmvPlan<T>::SpmvPlan(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream)
    : products_(std::make_unique<PlannedProducts<T>>(a, kernel, stream)) {}
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
    return products_->products->kernel();
}

template <class T>
std::int64_t SpmvPlan<T>::workspace_bytes() const {
    return products_->workspace_bytes();
}

template <class T>
std::int64_t SpmvPlan<T>::rows_not_certified(Stream stream) const {
    return products_->products->rows_not_certified(stream);
}

template class SpmvPlan<float>;
template class SpmvPlan<double>;
template class SpmvPlan<std::complex<float>>;
template class SpmvPlan<std::complex<double>>;

namespace {

template <class T>
std::unique_ptr<TriangularSystem<T>> made_ready(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    return std::make_unique<TriangularSystem<T>>(device, a, triangle, diagonal);
}

template <class T>
std::unique_ptr<TriangularSystem<T>> made_ready(int device, const CsrView<std::complex<T>>& a, Triangle triangle, Diagonal) {
    require_few_paired_rows(a.rows);
    return std::make_unique<TriangularSystem<T>>(device, PairedRows<T>(a).triangle(triangle));
}

}  // namespace

template <class T>
TriangularSolvePlan<T>::TriangularSolvePlan(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal)
    : system_(made_ready(device, a, triangle, diagonal)) {}
template <class T>
TriangularSolvePlan<T>::TriangularSolvePlan(TriangularSolvePlan&&) noexcept = default;
template <class T>
TriangularSolvePlan<T>& TriangularSolvePlan<T>::operator=(TriangularSolvePlan&&) noexcept = default;
template <class T>
TriangularSolvePlan<T>::~TriangularSolvePlan() = default;

template <class T>
void TriangularSolvePlan<T>::solve(const T* b, T* x, Accuracy accuracy, Stream stream) const {
    using Part = RealOf<T>;
    system_->solve(reinterpret_cast<const Part*>(b), reinterpret_cast<Part*>(x), accuracy, stream);
}

template <class T>
std::int64_t TriangularSolvePlan<T>::bytes() const {
    return system_->bytes();
}

template class TriangularSolvePlan<float>;
template class TriangularSolvePlan<double>;
template class TriangularSolvePlan<std::complex<float>>;
template class TriangularSolvePlan<std::complex<double>>;

}  // namespace solver::cuda
