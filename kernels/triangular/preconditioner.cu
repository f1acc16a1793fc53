#include "preconditioner.hpp"

#include "core/complex_quotient.hpp"
#include "products.hpp"
#include "runtime/check.cuh"
#include "runtime/for_each.cuh"
#include "solver/numeric/rounding.hpp"
#include "triangular.hpp"

#include <utility>

namespace solver::cuda {
namespace {

template <class T>
struct Copy {
    const T* r;
    T* z;
    __device__ void operator()(std::int64_t i) const { z[i] = r[i]; }
};

template <class T>
class DeviceIdentity final : public GatedPreconditioner<T> {
public:
    DeviceIdentity(int device, std::int64_t rows) : device_(device), rows_(rows) {}

    void apply_if_open(const T* r, T* z, Accuracy, Stream stream, Gate gate) override {
        const CurrentDevice current(device_);
        launch_for_each("the identity", rows_, stream, gate, Copy<T>{r, z});
    }
    bool is_identity() const override { return true; }

private:
    int device_;
    std::int64_t rows_;
};

template <class T>
struct Divide {
    const T* r;
    const T* diagonal;
    T* z;
    __device__ void operator()(std::int64_t i) const { z[i] = div_rn(r[i], diagonal[i]); }
};

template <class T>
class DeviceJacobi final : public GatedPreconditioner<T> {
public:
    DeviceJacobi(int device, std::span<const T> diagonal) : device_(device), diagonal_(device, diagonal, "Jacobi's diagonal") {}

    void apply_if_open(const T* r, T* z, Accuracy, Stream stream, Gate gate) override {
        const CurrentDevice current(device_);
        launch_for_each("Jacobi's division", diagonal_.size(), stream, gate, Divide<T>{r, diagonal_.data(), z});
    }
    const T* diagonal() const override { return diagonal_.data(); }

private:
    int device_;
    DeviceArray<T> diagonal_;
};

template <class T>
struct DivideComplex {
    const T* r;
    const T* diagonal;
    T* z;
    __device__ void operator()(std::int64_t i) const { z[i] = quotient_part(r, diagonal, i); }
};

template <class T>
class DeviceComplexJacobi final : public GatedPreconditioner<T> {
public:
    DeviceComplexJacobi(int device, std::span<const T> diagonal)
        : device_(device), diagonal_(device, diagonal, "Jacobi's diagonal") {}

    void apply_if_open(const T* r, T* z, Accuracy, Stream stream, Gate gate) override {
        const CurrentDevice current(device_);
        launch_for_each("Jacobi's complex division", diagonal_.size(), stream, gate, DivideComplex<T>{r, diagonal_.data(), z});
    }

private:
    int device_;
    DeviceArray<T> diagonal_;
};

template <class T>
class DeviceLu final : public GatedPreconditioner<T> {
public:
    DeviceLu(int device, const CsrView<T>& lower, const CsrView<T>& upper)
        : lower_(device, lower, Triangle::lower, Diagonal::unit), upper_(device, upper, Triangle::upper, Diagonal::stored) {}

    void apply_if_open(const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) override {
        lower_.solve(r, z, accuracy, stream, gate);
        upper_.solve(z, z, accuracy, stream, gate);
    }

private:
    TriangularSystem<T> lower_;
    TriangularSystem<T> upper_;
};

template <class T>
class DeviceTwoProducts final : public GatedPreconditioner<T> {
public:
    DeviceTwoProducts(int device, const CsrView<T>& first, const CsrView<T>& second)
        : first_(device, first),
          second_(device, second),
          first_products_(make_products(first_.view(), SpmvKernel::automatic, nullptr)),
          second_products_(make_products(second_.view(), SpmvKernel::automatic, nullptr)),
          between_(device, first.rows, "an approximate inverse's middle") {}

    void apply_if_open(const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) override {
        first_products_->multiply({.x = r, .y = between_.data()}, accuracy, stream, gate);
        second_products_->multiply({.x = between_.data(), .y = z}, accuracy, stream, gate);
    }

private:
    DeviceCsrMatrix<T> first_;
    DeviceCsrMatrix<T> second_;
    std::unique_ptr<CsrProducts<T>> first_products_;
    std::unique_ptr<CsrProducts<T>> second_products_;
    DeviceArray<T> between_;
};

template <class T>
class DeviceBlockTriangular final : public GatedPreconditioner<T> {
public:
    DeviceBlockTriangular(int device, std::unique_ptr<DevicePreconditioner<T>> first, const CsrView<T>& coupling,
                          std::unique_ptr<DevicePreconditioner<T>> second)
        : first_(std::move(first)),
          second_(std::move(second)),
          coupling_(device, coupling),
          products_(make_products(coupling_.view(), SpmvKernel::automatic, nullptr)),
          between_(device, coupling.rows, "a block triangle's middle") {}

    void apply_if_open(const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) override {
        const std::int64_t first_rows = between_.size();
        cuda::apply_if_open(*second_, r + first_rows, z + first_rows, accuracy, stream, gate);
        products_->multiply({.alpha = T(-1), .x = z + first_rows, .beta = T(1), .y_in = r, .y = between_.data()}, accuracy,
                            stream, gate);
        cuda::apply_if_open(*first_, between_.data(), z, accuracy, stream, gate);
    }

private:
    std::unique_ptr<DevicePreconditioner<T>> first_;
    std::unique_ptr<DevicePreconditioner<T>> second_;
    DeviceCsrMatrix<T> coupling_;
    std::unique_ptr<CsrProducts<T>> products_;
    DeviceArray<T> between_;
};

/// x 2^exponent in double, which holds every exponent of a preparation. NaNs stay as they are.
template <class T>
__device__ T scaled(T x, std::int16_t exponent) {
    constexpr int bias = 1023, mantissa_bits = 52;
    if (x != x) return x;
    const double power = __longlong_as_double(static_cast<std::int64_t>(bias + exponent) << mantissa_bits);
    return static_cast<T>(mul_rn(static_cast<double>(x), power));
}

template <class T>
struct Gather {
    const T* from;
    const std::int32_t* order;
    const std::int16_t* exponents;
    T* to;
    __device__ void operator()(std::int64_t k) const { to[k] = scaled(from[order[k]], exponents[k]); }
};

template <class T>
struct Scatter {
    const T* from;
    const std::int32_t* order;
    const std::int16_t* exponents;
    T* to;
    __device__ void operator()(std::int64_t k) const { to[order[k]] = scaled(from[k], exponents[k]); }
};

template <class T>
class DevicePrepared final : public GatedPreconditioner<T> {
public:
    DevicePrepared(int device, std::unique_ptr<DevicePreconditioner<T>> inner, std::span<const std::int32_t> row_order,
                   std::span<const std::int16_t> row_exponents, std::span<const std::int32_t> column_order,
                   std::span<const std::int16_t> column_exponents)
        : device_(device),
          inner_(std::move(inner)),
          row_order_(device, row_order, "a preparation's row order"),
          row_exponents_(device, row_exponents, "a preparation's row exponents"),
          column_order_(device, column_order, "a preparation's column order"),
          column_exponents_(device, column_exponents, "a preparation's column exponents"),
          prepared_r_(device, row_order_.size(), "a prepared vector"),
          prepared_z_(device, row_order_.size(), "a prepared vector") {}

    void apply_if_open(const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) override {
        const CurrentDevice current(device_);
        const std::int64_t n = row_order_.size();
        launch_for_each("a preparation's rows", n, stream, gate,
                        Gather<T>{r, row_order_.data(), row_exponents_.data(), prepared_r_.data()});
        cuda::apply_if_open(*inner_, prepared_r_.data(), prepared_z_.data(), accuracy, stream, gate);
        launch_for_each("a preparation's columns", n, stream, gate,
                        Scatter<T>{prepared_z_.data(), column_order_.data(), column_exponents_.data(), z});
    }

private:
    int device_;
    std::unique_ptr<DevicePreconditioner<T>> inner_;
    DeviceArray<std::int32_t> row_order_;
    DeviceArray<std::int16_t> row_exponents_;
    DeviceArray<std::int32_t> column_order_;
    DeviceArray<std::int16_t> column_exponents_;
    DeviceArray<T> prepared_r_;
    DeviceArray<T> prepared_z_;
};

}  // namespace

template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_identity(int device, std::int64_t rows) {
    return std::make_unique<DeviceIdentity<T>>(device, rows);
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_jacobi(int device, std::span<const T> diagonal) {
    return std::make_unique<DeviceJacobi<T>>(device, diagonal);
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_complex_jacobi(int device, std::span<const T> diagonal) {
    return std::make_unique<DeviceComplexJacobi<T>>(device, diagonal);
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_lu(int device, const CsrView<T>& lower, const CsrView<T>& upper) {
    return std::make_unique<DeviceLu<T>>(device, lower, upper);
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_two_products(int device, const CsrView<T>& first, const CsrView<T>& second) {
    return std::make_unique<DeviceTwoProducts<T>>(device, first, second);
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_block_triangular(int device, std::unique_ptr<DevicePreconditioner<T>> first,
                                                               const CsrView<T>& coupling,
                                                               std::unique_ptr<DevicePreconditioner<T>> second) {
    return std::make_unique<DeviceBlockTriangular<T>>(device, std::move(first), coupling, std::move(second));
}
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_prepared(int device, std::unique_ptr<DevicePreconditioner<T>> inner,
                                                       std::span<const std::int32_t> row_order,
                                                       std::span<const std::int16_t> row_exponents,
                                                       std::span<const std::int32_t> column_order,
                                                       std::span<const std::int16_t> column_exponents) {
    return std::make_unique<DevicePrepared<T>>(device, std::move(inner), row_order, row_exponents, column_order,
                                               column_exponents);
}

template std::unique_ptr<DevicePreconditioner<float>> make_identity(int, std::int64_t);
template std::unique_ptr<DevicePreconditioner<double>> make_identity(int, std::int64_t);
template std::unique_ptr<DevicePreconditioner<float>> make_jacobi(int, std::span<const float>);
template std::unique_ptr<DevicePreconditioner<double>> make_jacobi(int, std::span<const double>);
template std::unique_ptr<DevicePreconditioner<float>> make_complex_jacobi(int, std::span<const float>);
template std::unique_ptr<DevicePreconditioner<double>> make_complex_jacobi(int, std::span<const double>);
template std::unique_ptr<DevicePreconditioner<float>> make_lu(int, const CsrView<float>&, const CsrView<float>&);
template std::unique_ptr<DevicePreconditioner<double>> make_lu(int, const CsrView<double>&, const CsrView<double>&);
template std::unique_ptr<DevicePreconditioner<float>> make_two_products(int, const CsrView<float>&, const CsrView<float>&);
template std::unique_ptr<DevicePreconditioner<double>> make_two_products(int, const CsrView<double>&, const CsrView<double>&);
template std::unique_ptr<DevicePreconditioner<float>> make_block_triangular(int, std::unique_ptr<DevicePreconditioner<float>>,
                                                                            const CsrView<float>&,
                                                                            std::unique_ptr<DevicePreconditioner<float>>);
template std::unique_ptr<DevicePreconditioner<double>> make_block_triangular(int, std::unique_ptr<DevicePreconditioner<double>>,
                                                                             const CsrView<double>&,
                                                                             std::unique_ptr<DevicePreconditioner<double>>);
template std::unique_ptr<DevicePreconditioner<float>> make_prepared(int, std::unique_ptr<DevicePreconditioner<float>>,
                                                                    std::span<const std::int32_t>,
                                                                    std::span<const std::int16_t>,
                                                                    std::span<const std::int32_t>,
                                                                    std::span<const std::int16_t>);
template std::unique_ptr<DevicePreconditioner<double>> make_prepared(int, std::unique_ptr<DevicePreconditioner<double>>,
                                                                     std::span<const std::int32_t>,
                                                                     std::span<const std::int16_t>,
                                                                     std::span<const std::int32_t>,
                                                                     std::span<const std::int16_t>);

}  // namespace solver::cuda
