#pragma once

/// The backend of the Krylov methods on a CUDA device.

#include "cuda/spmv.hpp"
#include "kernels/gram_schmidt.hpp"
#include "kernels/krylov.hpp"
#include "kernels/vectors.hpp"
#include "krylov/backend.hpp"
#include "krylov/task.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/preconditioner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {

/// Something to await that is there already.
template <class T>
struct Ready {
    T value;

    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    T await_resume() { return std::move(value); }
};

/// What the solves with one matrix share on a device, so many right-hand sides at once: the analyses of A, streams and vectors,
/// made once for all methods and preconditioners. The iteration runs in Value.
template <class Value>
class CudaSystem {
public:
    /// `a` is A in Value. It must outlive the system, and so must the stream, where all work goes.
    CudaSystem(const SpmvPlan<Value>& a, Accuracy mode, int most_columns, cuda::Stream of_caller)
        : CudaSystem(a.on_device()->new_products(of_caller, most_columns), a.rows(), mode, a.device().index(), of_caller,
                     most_columns) {
        a_ = &a;
    }

    /// Of an A of so many rows of which there are only products.
    CudaSystem(std::unique_ptr<cuda::MatrixProducts<Value>> of_a, std::int64_t rows, Accuracy mode, int device_index,
               cuda::Stream of_caller, int most_columns = 1)
        : accuracy(mode),
          device(device_index),
          columns(most_columns),
          stream(of_caller),
          reducer(device),
          norm_place(device, 1, "a norm"),
          products(std::move(of_a)),
          rows_(rows) {}

    std::int64_t rows() const { return rows_; }

    /// How many of so many right-hand sides are solved at once: what half of the free memory can hold. x and b are in Wide.
    template <class Wide>
    static int columns_at_once(int device, std::int64_t rows, std::int64_t right_hand_sides) {
        constexpr std::int64_t vectors_around = 6;  // b, x, the best x and their residual, each perhaps as a pair
        const std::int64_t bytes = cuda::DeviceRecurrence<BicgstabScalars<Value>>::bytes_a_column(rows) +
                                   vectors_around * rows * static_cast<std::int64_t>(sizeof(Wide));
        const std::int64_t room = cuda::free_bytes(device) / 2 / bytes;
        return static_cast<int>(std::clamp<std::int64_t>(std::min(right_hand_sides, room), 1, cuda::most_krylov_columns));
    }

    /// Before the solves of a method with another M, of so many columns at once.
    template <class Scalars>
    void precondition(const Preconditioner<Value>& m, int at_once) {
        auto& of_method = std::get<Recurrence<Scalars>>(recurrences_);
        if (!of_method) {
            recurrences_ = {};  // one method's vectors at a time
            of_method = std::make_unique<cuda::DeviceRecurrence<Scalars>>(device, rows(), *products, accuracy, stream, columns);
        }
        take(m);
        of_method->precondition(preconditioner_.get(), on_host_, at_once);
    }

    /// Before the solves of a method that goes step by step.
    void precondition(const Preconditioner<Value>& m) {
        recurrences_ = {};
        take(m);
    }

    /// z = M^-1 r
    void apply_preconditioner(const cuda::DeviceArray<Value>& r, const cuda::DeviceArray<Value>& z) {
        if (preconditioner_) return preconditioner_->apply(r.data(), z.data(), accuracy, stream);
        std::vector<Value> host_r(static_cast<std::size_t>(r.size())), host_z(host_r.size());
        r.copy_to(host_r, stream);
        on_host_(host_r, host_z);
        cuda::detail::copy_to_device(device, z.data(), host_z.data(), z.bytes(), stream);
    }

    bool has_preconditioner() const { return !(preconditioner_ && preconditioner_->is_identity()); }

    /// Whether products and preconditioner are kernels, and not calls of what a user has written or of the host.
    bool launches_all() const { return a_ != nullptr && preconditioner_ != nullptr; }

    template <class Scalars>
    cuda::DeviceRecurrence<Scalars>& recurrence() {
        return *std::get<Recurrence<Scalars>>(recurrences_);
    }

    template <class T>
    cuda::DeviceArray<T> zeros() const {
        cuda::DeviceArray<T> x(device, rows(), "a vector of a Krylov method");
        x.fill_with_zeros(stream);
        return x;
    }

    /// Zeros where they are not known.
    const cuda::DeviceArray<Value>& column_norms() {
        if (a_ != nullptr) return a_->on_device()->column_norms(*a_);
        if (no_norms_.size() == 0) no_norms_ = zeros<Value>();
        return no_norms_;
    }

    template <class T>
    double norm2(const cuda::DeviceArray<T>& x, Accuracy mode) {
        return cuda::norm2(reducer, x, mode, norm_place, stream);
    }

    double dot(const cuda::DeviceArray<Value>& x, const cuda::DeviceArray<Value>& y) {
        double result = 0;
        const Value* const xs = x.data();
        dots(std::span(&xs, 1), y, std::span(&result, 1));
        return result;
    }
    void dots(std::span<const Value* const> xs, const cuda::DeviceArray<Value>& y, std::span<double> to) {
        cuda::dots(reducer, xs, y, accuracy, places(std::ssize(xs)), to, stream);
    }

    Accuracy accuracy;
    int device;
    int columns;  ///< at once, at most
    cuda::Stream stream;
    cuda::Reducer reducer;
    cuda::DeviceArray<double> norm_place;
    cuda::DeviceArray<Value> terms;  ///< made when first used
    std::unique_ptr<cuda::MatrixProducts<Value>> products;

private:
    template <class Scalars>
    using Recurrence = std::unique_ptr<cuda::DeviceRecurrence<Scalars>>;

    /// Room for so many numbers on the device.
    const cuda::DeviceArray<double>& places(std::int64_t count) {
        constexpr std::int64_t often_enough = 32;
        if (places_.size() < count)
            places_ = cuda::DeviceArray<double>(device, std::max(often_enough, 2 * count), "dot products");
        return places_;
    }

    /// M on the device, or, where it has no counterpart there, on the host.
    void take(const Preconditioner<Value>& m) {
        preconditioner_.reset();  // before the next one needs its memory
        preconditioner_ = m.on_device(device);
        on_host_ = {};
        if (!preconditioner_)
            on_host_ = [&m, mode = accuracy](std::span<const Value> r, std::span<Value> z) { m.apply(r, z, mode); };
    }

    std::int64_t rows_;
    const SpmvPlan<Value>* a_ = nullptr;  ///< null of an A that has only products
    cuda::DeviceArray<Value> no_norms_;   ///< of such a one; made when first used
    std::unique_ptr<cuda::DevicePreconditioner<Value>> preconditioner_;
    cuda::HostPreconditioner<Value> on_host_;
    cuda::DeviceArray<double> places_;  ///< made when first used
    std::tuple<Recurrence<BicgstabScalars<Value>>, Recurrence<CgScalars<Value>>> recurrences_;
};

/// Vectors and the operations on them that do not ask how x is held. A recurrence on them has every operation launched by
/// itself: CudaRecurrence has many steps in one go.
template <class T>
class CudaVectors {
public:
    using Value = T;
    using Vector = cuda::DeviceArray<T>;

    /// The column of the system is this one's until it is done.
    CudaVectors(CudaSystem<T>& system, int column) : system_(system), column_(column) {}

    CudaSystem<T>& system() const { return system_; }
    int column() const { return column_; }

    std::int64_t rows() const { return system_.rows(); }
    Vector vector() const { return system_.template zeros<Value>(); }
    void copy(const Vector& x, const Vector& out) const { cuda::copy(x, out, stream()); }

    Ready<int> multiply(const Vector& x, const Vector& out) const { return multiply(x, out, system_.accuracy); }
    Ready<int> multiply_accurately(const Vector& x, const Vector& out) const {
        return multiply(x, out, system_.accuracy == Accuracy::exact ? system_.accuracy : Accuracy::compensated);
    }
    void precondition(const Vector& x, const Vector& out) const { system_.apply_preconditioner(x, out); }
    bool has_preconditioner() const { return system_.has_preconditioner(); }
    bool launches_all() const { return system_.launches_all(); }

    double dot(const Vector& x, const Vector& y) const { return system_.dot(x, y); }
    double norm2(const Vector& x) const { return system_.norm2(x, system_.accuracy); }
    void dots(std::span<const Vector> xs, const Vector& y, std::span<double> to) const { system_.dots(pointers(xs), y, to); }
    double dot_uncertainty() const { return solver::dot_uncertainty<Value>(system_.accuracy, system_.rows()); }

    void multiply_elements(const Vector& x, const Vector& y, const Vector& out) const {
        cuda::multiply_elements(x, y, out, stream());
    }
    void scale(Value a, const Vector& out) const { cuda::scale(a, out, out, stream()); }
    void scaled(Value a, const Vector& x, const Vector& out) const { cuda::scale(a, x, out, stream()); }
    void add(Value a, const Vector& x, const Vector& out) const { cuda::add_scaled(a, x, out, stream()); }
    void subtract(Value a, const Vector& x, const Vector& out) const { add(-a, x, out); }
    void scale_and_add(Value a, const Vector& x, const Vector& out) const { cuda::scale_and_add(a, x, out, stream()); }
    void add_both(Value a, const Vector& x, Value b, const Vector& y, const Vector& out) const {
        const std::array factors{a, b};
        const std::array vectors{static_cast<const Value*>(x.data()), static_cast<const Value*>(y.data())};
        cuda::add_combination<Value>(factors, vectors, out, stream());
    }
    void add_combination(std::span<const Value> a, std::span<const Vector> xs, const Vector& out) const {
        cuda::add_combination<Value>(a, pointers(xs), out, stream());
    }
    /// By the additions of ComplexSteps.
    void add_complex_combination(std::span<const std::complex<Value>> a, std::span<const Vector> xs, const Vector& out) const {
        cuda::add_combination<Value>(a, pointers(xs), out, stream());
    }
    void direction(const Vector& x, Value a, Value b, const Vector& y, const Vector& out) const {
        cuda::make_direction(x, a, b, y, out, stream());
    }
    void turn(const Vector& x, const Vector& out) const { cuda::turn(x, out, stream()); }
    void conjugate(const Vector& x, const Vector& out) const { cuda::conjugate(x, out, stream()); }
    void fill_random(std::uint64_t seed, const Vector& out) const { cuda::fill_random(seed, out, stream()); }
    void set_zero(const Vector& x) const { x.fill_with_zeros(stream()); }

    /// As ImmediateGramSchmidtPass, but that start does not wait.
    class GramSchmidtPass {
    public:
        explicit GramSchmidtPass(CudaVectors& vectors) : system_(vectors.system()), pass_(system_.device) {}

        void start(std::span<const Vector> xs, const Vector& w, const Vector& v) {
            pass_.start(system_.reducer, pointers(xs), w, v, system_.accuracy, system_.stream);
        }
        cuda::NormsOfPass take(std::span<double> h) const { return pass_.take(h); }

    private:
        CudaSystem<Value>& system_;
        cuda::GramSchmidtPass<Value> pass_;
    };

protected:
    cuda::Stream stream() const { return system_.stream; }

private:
    Ready<int> multiply(const Vector& x, const Vector& out, Accuracy mode) const {
        system_.products->multiply({.x = x.data(), .y = out.data()}, mode, stream());
        return {0};
    }
    static std::vector<const Value*> pointers(std::span<const Vector> vectors) {
        std::vector<const Value*> all;
        for (const Vector& vector : vectors) all.push_back(vector.data());
        return all;
    }

    CudaSystem<Value>& system_;
    int column_;
};

/// The recurrence of a method on a device, for one of a system's columns.
template <class Scalars>
class CudaRecurrence {
public:
    using Value = typename Scalars::Value;
    using Vector = cuda::DeviceArray<Value>;

    static constexpr bool has_random_starts = Scalars::has_random_starts;
    static constexpr bool has_bounded_residuals = Scalars::has_bounded_residuals;
    static constexpr bool keeps_directions = true;

    explicit CudaRecurrence(CudaVectors<Value>& vectors)
        : r(vectors.system().template recurrence<Scalars>().r(vectors.column())),
          z(vectors.system().template recurrence<Scalars>().z(vectors.column())),
          recurrence_(vectors.system().template recurrence<Scalars>()),
          column_(vectors.column()) {}

    void start(const Vector* weights) { recurrence_.start(column_, weights != nullptr ? weights->data() : nullptr); }
    void begin(double r_norm, std::uint64_t seed) { recurrence_.begin(column_, r_norm, seed); }
    void update_z() const {}
    void continue_from_replaced(double r_norm) { recurrence_.continue_from_replaced(column_, r_norm); }
    void reset_drift(double r_norm, double x_terms) { recurrence_.reset_drift(column_, r_norm, x_terms); }
    std::span<const double> norms() const { return recurrence_.norms(column_); }

    /// Pauses while steps of all columns are made.
    Task<Stretch> advance(const StepLimits& limits) {
        recurrence_.ask(column_, limits);
        while (!recurrence_.has_ended(column_)) co_await Pause();
        co_return recurrence_.stretch(column_);
    }

    Vector& r;
    Vector& z;

private:
    cuda::DeviceRecurrence<Scalars>& recurrence_;
    int column_;
};

/// x as one vector of Wide numbers, which are Value or wider, or, where Wide is Value, as the unevaluated sum of two.
template <class T, class W>
class CudaSolverBackend : public CudaVectors<T> {
    using Base = CudaVectors<T>;

public:
    using Value = T;
    using Wide = W;
    using Vector = typename Base::Vector;
    using Residual = cuda::DeviceArray<Wide>;
    struct Solution {
        Residual x;
        Residual low;  ///< empty where there is none
    };

    /// The column of the system is this one's until it is done; `residuals` are those with A in Wide, and must outlive it.
    CudaSolverBackend(CudaSystem<Value>& system, int column, const cuda::MatrixProducts<Wide>& residuals,
                      std::span<const Wide> b, bool as_pair)
        : Base(system, column), residuals_(residuals), b_(system.device, b, "b", system.stream), as_pair_(as_pair) {}

    using Base::copy;
    using Base::set_zero;

    Solution solution() const { return {residual_vector(), as_pair_ ? residual_vector() : Residual()}; }
    Residual residual_vector() const { return this->system().template zeros<Wide>(); }
    void load(std::span<const Wide> source, Solution& x) const { x.x.copy_from(source, this->stream()); }
    void store(const Solution& x, std::span<Wide> to, std::span<Wide> low) const {
        x.x.copy_to(to, this->stream());
        x.low.copy_to(low, this->stream());
    }
    void read(const Solution& x, std::span<double> to) const {
        std::vector<Wide> value(static_cast<std::size_t>(x.x.size())), low(static_cast<std::size_t>(x.low.size()));
        store(x, value, low);
        write_sum<Wide>(value, low, to);
    }
    void copy(const Solution& x, Solution& out) const {
        cuda::copy(x.x, out.x, this->stream());
        cuda::copy(x.low, out.low, this->stream());
    }
    void set_zero(Solution& x) const {
        x.x.fill_with_zeros(this->stream());
        x.low.fill_with_zeros(this->stream());
    }

    Ready<int> residual(double scale, const Solution& x, Residual& out) const {
        const Wide factor = static_cast<Wide>(scale);
        const cuda::RowTask<Wide> task{
            .alpha = -factor, .x = x.x.data(), .x_low = x.low.data(), .beta = factor, .y_in = b_.data(), .y = out.data()};
        residuals_.multiply(task, Accuracy::exact, this->stream());
        return {0};
    }
    void take(double factor, const Residual& residual, const Vector& out) const {
        cuda::scale(factor, residual, out, this->stream());
    }
    const Vector& column_norms() const { return this->system().column_norms(); }
    double right_hand_side_norm() const { return this->system().norm2(b_, Accuracy::exact); }
    double true_norm(const Residual& x) const { return this->system().norm2(x, Accuracy::exact); }
    bool is_finite(const Solution& x) const {
        const Accuracy mode = std::is_same_v<Value, Wide> ? this->system().accuracy : Accuracy::exact;
        return std::isfinite(this->system().norm2(x.x, mode)) &&
               (x.low.size() == 0 || std::isfinite(this->system().norm2(x.low, mode)));
    }
    double rounding_terms(const Vector& weights, const Solution& x) const {
        if constexpr (std::is_same_v<Value, Wide>) {
            if (as_pair_) return 0;
            Vector& terms = this->system().terms;  // allocating takes longer than all the rest
            if (terms.data() == nullptr) terms = this->system().template zeros<Value>();
            cuda::multiply_elements(weights, x.x, terms, this->stream());
            return this->system().norm2(terms, this->system().accuracy);
        } else {
            return 0;
        }
    }
    void add_to_solution(double factor, const Vector& z, Solution& x) const {
        if constexpr (std::is_same_v<Value, Wide>) {
            if (as_pair_) return cuda::add_scaled_to_pair(factor, z, x.x, x.low, this->stream());
        }
        cuda::add_scaled(factor, z, x.x, this->stream());
    }

private:
    const cuda::MatrixProducts<Wide>& residuals_;
    Residual b_;
    bool as_pair_;
};

}  // namespace solver
