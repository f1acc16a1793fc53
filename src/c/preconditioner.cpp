#include "c/preconditioner.hpp"

#include "c/arguments.hpp"
#include "c/matrix.hpp"
#include "c/status.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/solver_cuda.h"

#include <utility>

namespace solver::c {
namespace {

void check_answer(std::int32_t answer) {
    if (answer != 0) throw CallbackFailed(fmt::format("the caller's preconditioner returned {}; 0 goes on", answer));
}

/// The caller's own.
template <class T>
class Callback final : public Preconditioner<T> {
public:
    Callback(solver_apply apply, void* context) : apply_(apply), context_(context) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_answer(apply_(context_, r.data(), z.data(), to_c(accuracy)));
    }

private:
    solver_apply apply_;
    void* context_;
};

/// The caller's own, on a device alone.
template <class T>
class CallbackOnDevice final : public Preconditioner<T> {
public:
    CallbackOnDevice(solver_cuda_apply apply, void* context) : apply_(apply), context_(context) {}

    void apply(std::span<const T>, std::span<T>, Accuracy) const override {
        throw NotSupported(
            "the caller's preconditioner works in the memory of a CUDA device, and these vectors lie in the host's; expected a "
            "solve on a device, or one of solver_preconditioner_from");
    }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int) const override {
        class There final : public cuda::DevicePreconditioner<T> {
        public:
            There(solver_cuda_apply apply, void* context) : apply_(apply), context_(context) {}
            void apply(const T* r, T* z, Accuracy accuracy, cuda::Stream stream) override {
                check_answer(apply_(context_, r, z, to_c(accuracy), stream));
            }

        private:
            solver_cuda_apply apply_;
            void* context_;
        };
        return std::make_unique<There>(apply_, context_);
    }

private:
    solver_cuda_apply apply_;
    void* context_;
};

/// M is a class of the library's that calls `apply`.
template <template <class> class M, class Apply>
void make_of_callback(const char* name, int32_t type, int64_t rows, Apply apply, void* context,
                      solver_preconditioner** preconditioner) {
    required(preconditioner, name, "preconditioner") = nullptr;
    require(apply != nullptr, name, "apply is NULL");
    require(rows >= 0, name, "the number of rows is negative");
    with_type(type, name, [&](auto number) {
        using T = decltype(number);
        *preconditioner = new solver_preconditioner{solver_preconditioner_of<T>{std::make_unique<M<T>>(apply, context), rows}};
    });
}

}  // namespace
}  // namespace solver::c

using namespace solver;
using namespace solver::c;

solver_status solver_factors_init(solver_factors* factors, uint64_t size) {
    constexpr const char* name = "solver_factors_init";
    return guarded([&] {
        required(factors, name, "factors").size = size;
        hand_over(default_factors(), factors, name, "factors");
    });
}

solver_status solver_preconditioner_create(const solver_matrix* matrix, const char* kind, int32_t accuracy,
                                           const solver_factors* factors, solver_preconditioner** preconditioner) {
    constexpr const char* name = "solver_preconditioner_create";
    return guarded([&] {
        required(preconditioner, name, "preconditioner") = nullptr;
        const PreconditionerKind which = preconditioner_from_text(&required(kind, name, "kind"));
        PreconditionerOptions options = factors_from_c(factors, name);
        options.complex_numbers = required(matrix, name, "matrix").is_complex;
        with_matrix(matrix, name, [&](const auto& of) {
            using T = element_t<decltype(of)>;
            const SpmvPlan<T>& plan = of.plan();
            solver_preconditioner_of<T> made{make_preconditioner<T>(which, plan, accuracy_of(accuracy, name), options),
                                             plan.rows()};
            *preconditioner = new solver_preconditioner{std::move(made)};
        });
    });
}

solver_status solver_preconditioner_from(int32_t type, int64_t rows, solver_apply apply, void* context,
                                         solver_preconditioner** preconditioner) {
    return guarded(
        [&] { make_of_callback<Callback>("solver_preconditioner_from", type, rows, apply, context, preconditioner); });
}

solver_status solver_cuda_preconditioner_from(int32_t type, int64_t rows, solver_cuda_apply apply, void* context,
                                              solver_preconditioner** preconditioner) {
    return guarded([&] {
        make_of_callback<CallbackOnDevice>("solver_cuda_preconditioner_from", type, rows, apply, context, preconditioner);
    });
}

solver_status solver_preconditioner_apply(const solver_preconditioner* preconditioner, const void* r, void* z,
                                          int32_t accuracy) {
    constexpr const char* name = "solver_preconditioner_apply";
    return guarded([&] {
        std::visit(
            [&]<class T>(const solver_preconditioner_of<T>& of) {
                of.apply->apply(elements<const T>(r, of.rows, name, "r"), elements<T>(z, of.rows, name, "z"),
                                accuracy_of(accuracy, name));
            },
            required(preconditioner, name, "preconditioner").of);
    });
}

solver_status solver_preconditioner_facts(const solver_preconditioner* preconditioner, int64_t* entries, uint64_t* hash) {
    constexpr const char* name = "solver_preconditioner_facts";
    return guarded([&] {
        required(entries, name, "entries");
        required(hash, name, "hash");
        std::visit(
            [&](const auto& of) {
                *entries = of.apply->factor_entries();
                *hash = of.apply->factor_hash();
            },
            required(preconditioner, name, "preconditioner").of);
    });
}

void solver_preconditioner_destroy(solver_preconditioner* preconditioner) { delete preconditioner; }
