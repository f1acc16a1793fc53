#pragma once

/// Preconditioners made by the library, or of a Python function.

#include "arguments.hpp"
#include "lock.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/preconditioner.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace samebits {

/// The counterpart of a preconditioner on the CUDA device where it was last applied.
template <class T>
struct OnDevice {
    std::mutex turn;  // it has working memory of its own
    int device = -1;
    std::unique_ptr<solver::cuda::DevicePreconditioner<T>> m;
};

template <class T>
struct Preconditioner {
    std::unique_ptr<solver::Preconditioner<T>> m;
    std::int64_t rows = 0;
    std::unique_ptr<OnDevice<T>> on_device = std::make_unique<OnDevice<T>>();
};

/// function(r, z) fills z; what it raises goes through the solve to whoever called it.
template <class T>
class PythonFunction final : public solver::Preconditioner<T> {
public:
    explicit PythonFunction(nb::callable function) : function_(std::move(function)) {}
    PythonFunction(const PythonFunction&) = delete;
    ~PythonFunction() override {
        const Acquired acquired;
        function_.reset();
    }

    void apply(std::span<const T> r, std::span<T> z, solver::Accuracy) const override {
        const Acquired acquired;
        ask(function_, nb::ndarray<nb::numpy, const T>(r.data(), {r.size()}, nb::none()),
            nb::ndarray<nb::numpy, T>(z.data(), {z.size()}, nb::none()));
    }

    /// Who calls a method that needs it vouches for it.
    bool is_symmetric() const override { return true; }

    /// What Python's collector of cycles looks at, and lets go: the function may refer to what refers to this.
    nb::callable& function() { return function_; }

private:
    nb::callable function_;
};

}  // namespace samebits
