#include "lock.hpp"
#include "preconditioner.hpp"
#include "solver/cuda/linear_operator.hpp"
#include "solver/linear_operator.hpp"
#include "solves.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace samebits {
namespace {

/// function(x, y) fills y; what it raises goes through the solve to whoever called it.
template <class T>
class PythonOperator final : public solver::LinearOperator<T> {
public:
    PythonOperator(std::int64_t rows, const nb::callable& function) : rows_(rows), function_(function) {}

    std::int64_t rows() const override { return rows_; }

    void apply(std::span<const T> x, std::span<T> y) const override {
        const Acquired acquired;
        ask(function_, nb::ndarray<nb::numpy, const T>(x.data(), {x.size()}, nb::none()),
            nb::ndarray<nb::numpy, T>(y.data(), {y.size()}, nb::none()));
    }

private:
    std::int64_t rows_;
    const nb::callable& function_;
};

/// function(x, y), of addresses in the memory of a device, has y filled by work on the stream that its library works on, which
/// is that of the solve.
void call_there(const nb::callable& function, const void* x, void* y) {
    const Acquired acquired;
    ask(function, reinterpret_cast<std::uintptr_t>(x), reinterpret_cast<std::uintptr_t>(y));
}

template <class T>
class PythonOperatorThere final : public solver::cuda::LinearOperator<T> {
public:
    PythonOperatorThere(std::int64_t rows, const nb::callable& function) : rows_(rows), function_(function) {}

    std::int64_t rows() const override { return rows_; }
    void apply(const T* x, T* y, solver::cuda::Stream) const override { call_there(function_, x, y); }

private:
    std::int64_t rows_;
    const nb::callable& function_;
};

template <class T>
class PythonPreconditionerThere final : public solver::Preconditioner<T> {
public:
    explicit PythonPreconditionerThere(const nb::callable& function) : function_(function) {}

    void apply(std::span<const T>, std::span<T>, solver::Accuracy) const override {
        throw solver::NotSupported("the preconditioner's function works on a CUDA device alone");
    }

    /// Who calls a method that needs it vouches for it.
    bool is_symmetric() const override { return true; }

    std::unique_ptr<solver::cuda::DevicePreconditioner<T>> on_device(int) const override {
        class There final : public solver::cuda::DevicePreconditioner<T> {
        public:
            explicit There(const nb::callable& function) : function_(function) {}
            void apply(const T* r, T* z, solver::Accuracy, solver::cuda::Stream) override { call_there(function_, r, z); }

        private:
            const nb::callable& function_;
        };
        return std::make_unique<There>(function_);
    }

private:
    const nb::callable& function_;
};

/// (result, whether the callback stopped it, what was raised) of `solve`, which is given the method and the options.
template <class Solve>
nb::tuple solved(const std::string& method, const nb::dict& given, nb::object callback, const Solve& solve) {
    solver::KrylovOptions options = iteration_of(given);
    Watch watch(std::move(callback));
    options.callback = [&](const solver::Iteration& iteration) { return watch.goes_on(iteration); };
    solver::SolveResult result;
    {
        const Released released;
        result = solve(solver::krylov_method_from_text(method), options);
    }
    return nb::make_tuple(column_in_python(result), watch.stopped(), watch.raised());
}

/// x holds the guess and then the best iterate.
template <class T>
nb::tuple solve_operator(const nb::callable& function, const Preconditioner<T>* m, const std::string& method,
                         const Vector<T>& b, const MutableVector<T>& x, const nb::dict& given, int threads,
                         nb::object callback) {
    const PythonOperator<T> a(static_cast<std::int64_t>(x.size()), function);
    return solved(method, given, std::move(callback), [&](solver::KrylovMethod by, const solver::KrylovOptions& options) {
        return solver::krylov_solve<T>(by, a, m == nullptr ? nullptr : m->m.get(), view<T>(b), view<T>(x), options,
                                       solver::Device::cpu(threads));
    });
}

/// Of vectors on a device; `m_there` is a function as A is, m a preconditioner that the library made, or one of the host's.
template <class T>
nb::tuple solve_operator_there(const nb::callable& function, const Preconditioner<T>* m,
                               const std::optional<nb::callable>& m_there, const std::string& method, const Vector<T>& b,
                               const MutableVector<T>& x, const nb::dict& given, std::uintptr_t stream, nb::object callback) {
    const PythonOperatorThere<T> a(static_cast<std::int64_t>(x.size()), function);
    std::optional<PythonPreconditionerThere<T>> of_function;
    if (m_there) of_function.emplace(*m_there);
    const solver::Preconditioner<T>* const given_m = of_function ? &*of_function : m != nullptr ? m->m.get() : nullptr;
    return solved(method, given, std::move(callback), [&](solver::KrylovMethod by, const solver::KrylovOptions& options) {
        return solver::cuda::krylov_solve<T>(by, a, given_m, view<T>(b), view<T>(x), options,
                                             solver::Device::cuda(b.device_id()),
                                             reinterpret_cast<solver::cuda::Stream>(stream));
    });
}

template <class T>
void bind_operator(nb::module_& module) {
    module.def("solve_operator", &solve_operator<T>, nb::arg("function"), nb::arg("m").none(), nb::arg("method"),
               nb::arg("b").noconvert(), nb::arg("x").noconvert(), nb::arg("options"), nb::arg("threads"),
               nb::arg("callback").none());
    module.def("solve_operator_there", &solve_operator_there<T>, nb::arg("function"), nb::arg("m").none(),
               nb::arg("m_there").none(), nb::arg("method"), nb::arg("b").noconvert(), nb::arg("x").noconvert(),
               nb::arg("options"), nb::arg("stream"), nb::arg("callback").none());
}

}  // namespace

void bind_operators(nb::module_& module) {
    bind_operator<double>(module);
    bind_operator<float>(module);
}

}  // namespace samebits
