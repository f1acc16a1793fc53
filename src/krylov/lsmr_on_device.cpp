#include "cuda/spmv.hpp"
#include "kernels/products.hpp"
#include "kernels/vectors.hpp"
#include "krylov/lsmr_on_processor.hpp"
#include "krylov/lsmr_solve.hpp"
#include "krylov/lsmr_way.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/cuda/reduce.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/preconditioner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace solver {
namespace {

/// LSMR's vectors in the memory of a device, where the plans are.
template <class T>
class LsmrOnDevice {
public:
    using Value = T;
    using Vector = cuda::DeviceArray<T>;

    LsmrOnDevice(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed)
        : a_(a),
          device_(a.device().index()),
          owned_stream_(device_),
          stream_(owned_stream_.get()),
          reducer_(device_),
          place_(device_, 1, "a norm"),
          has_lost_(device_, 1, "a flag"),
          scaled_(device_, std::max(a.rows(), a.columns()), "a vector of LSMR"),
          products_(a.on_device()->new_products(stream_, 1)),
          of_transposed_(transposed.on_device()->new_products(stream_, 1)) {}

    Vector vector(std::size_t size) const {
        Vector x(device_, static_cast<std::int64_t>(size), "a vector of LSMR");
        set_zero(x);
        return x;
    }
    void load(std::span<const T> source, Vector& out) const { out.copy_from(source, stream_); }
    void store(const Vector& x, std::span<T> target) const { x.copy_to(target, stream_); }
    std::span<const T> on_host(const Vector& x) {
        host_.resize(static_cast<std::size_t>(x.size()));
        store(x, host_);
        return host_;
    }
    void copy(const Vector& x, const Vector& out) const { cuda::copy(x, out, stream_); }
    void set_zero(const Vector& out) const { out.fill_with_zeros(stream_); }

    std::optional<double> norm(Accuracy accuracy) const { return frobenius_norm(a_, accuracy, Device::cpu()); }

    void multiply(T alpha, const Vector& x, T beta, const Vector& y, Accuracy accuracy) const {
        multiply_by(*products_, alpha, x, beta, y, accuracy);
    }
    void multiply_transposed(T alpha, const Vector& x, T beta, const Vector& y, Accuracy accuracy) const {
        multiply_by(*of_transposed_, alpha, x, beta, y, accuracy);
    }
    void residual(const Vector& b, const Vector& x, const Vector& r, Accuracy accuracy) const {
        products_->multiply({.alpha = -1, .x = x.data(), .beta = 1, .y_in = b.data(), .y = r.data()}, accuracy, stream_);
    }

    /// Multigrid on the device; factors on the host, where they are made: few steps follow, and to copy factors takes longer
    /// than these.
    void precondition(const Preconditioner<T>& inverse, const Vector& x, Vector& out, Accuracy accuracy) {
        if (!inverse_there_ && !inverse.levels().empty()) inverse_there_ = inverse.on_device(device_);
        if (inverse_there_) return inverse_there_->apply(x.data(), out.data(), accuracy, stream_);
        on_host(x);
        std::vector<T> result(host_.size());
        inverse.apply(host_, result, accuracy);
        load(result, out);
    }

    double norm2(const Vector& x, Accuracy accuracy) { return cuda::norm2(reducer_, x, accuracy, place_, stream_); }
    double dot(const Vector& x, const Vector& y, Accuracy accuracy) {
        const T* const xs = x.data();
        double result = 0;
        cuda::dots(reducer_, std::span(&xs, 1), y, accuracy, place_, std::span(&result, 1), stream_);
        return result;
    }
    void scale(T a, const Vector& out) const { cuda::scale(a, out, out, stream_); }
    void add(T a, const Vector& x, const Vector& out) const { cuda::add_scaled(a, x, out, stream_); }
    void scale_and_add(T a, const Vector& x, const Vector& out) const { cuda::scale_and_add(a, x, out, stream_); }

private:
    /// Rows are summed quickly, and packed storage is read, where alpha is 1: x is multiplied in its place if it can be, which
    /// only the device knows.
    void multiply_by(const cuda::MatrixProducts<T>& a, T alpha, const Vector& x, T beta, const Vector& y,
                     Accuracy accuracy) const {
        cuda::RowTask<T> task{.alpha = alpha, .x = x.data(), .beta = beta, .y_in = y.data(), .y = y.data()};
        if (alpha == 1) return a.multiply(task, accuracy, stream_);
        cuda::scale_without_rounding(alpha, x, scaled_.part(0, x.size()), has_lost_, stream_);
        const auto gate_of = [&](int has_lost) { return cuda::Gate{has_lost_.data(), std::uint32_t{1} << has_lost}; };
        a.multiply(task, accuracy, stream_, gate_of(1));
        task.alpha = 1;
        task.x = scaled_.data();
        a.multiply(task, accuracy, stream_, gate_of(0));
    }

    const SpmvPlan<T>& a_;
    int device_;
    cuda::OwnedStream owned_stream_;
    cuda::Stream stream_;
    cuda::Reducer reducer_;
    cuda::DeviceArray<double> place_;
    cuda::DeviceArray<std::int32_t> has_lost_;
    Vector scaled_;
    std::unique_ptr<cuda::MatrixProducts<T>> products_, of_transposed_;
    std::unique_ptr<cuda::DevicePreconditioner<T>> inverse_there_;
    std::vector<T> host_;
};

}  // namespace

template <class T>
LeastSquaresResult lsmr_on_device(const LsmrWay<T>& way, const SpmvPlan<T>& a, const SpmvPlan<T>& transposed,
                                  std::span<const T> b, std::span<T> x, const KrylovOptions& options) {
    LsmrOnDevice<T> backend(a, transposed);
    return LsmrSolve(backend, b, x, options, way).run();
}
template LeastSquaresResult lsmr_on_device(const LsmrWay<float>&, const SpmvPlan<float>&, const SpmvPlan<float>&,
                                           std::span<const float>, std::span<float>, const KrylovOptions&);
template LeastSquaresResult lsmr_on_device(const LsmrWay<double>&, const SpmvPlan<double>&, const SpmvPlan<double>&,
                                           std::span<const double>, std::span<double>, const KrylovOptions&);

}  // namespace solver
