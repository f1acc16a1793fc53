#pragma once

/// The methods that there are, by name.

#include "core/krylov/bicgstab_scalars.hpp"
#include "core/krylov/cg_scalars.hpp"
#include "krylov/any_recurrence.hpp"
#include "krylov/bicgstab2_recurrence.hpp"
#include "krylov/bicgstab_recurrence.hpp"
#include "krylov/cg_recurrence.hpp"
#include "krylov/cocg_recurrence.hpp"
#include "krylov/complex_steps.hpp"
#include "krylov/gmres_recurrence.hpp"
#include "krylov/idr_recurrence.hpp"
#include "krylov/minres_recurrence.hpp"
#include "solver/error.hpp"
#include "solver/krylov.hpp"

#include <memory>
#include <string>
#include <type_traits>

namespace solver {

/// Recurrence is the method on a StepBackend B, ForComplex, where there is one, that with complex scalars: the scalars of the
/// other methods are real for Hermitian A. Where a CUDA device has kernels for whole steps of it, Scalars is what these
/// share with it; the other methods run there operation by operation.
struct Bicgstab {
    template <class B>
    using Recurrence = BicgstabRecurrence<B>;
    template <class B>
    using ForComplex = OnComplexSteps<B, BicgstabRecurrence>;
    template <class Value>
    using Scalars = BicgstabScalars<Value>;
};
struct Cg {
    template <class B>
    using Recurrence = CgRecurrence<B>;
    template <class Value>
    using Scalars = CgScalars<Value>;
};

struct Gmres {
    template <class B>
    using Recurrence = GmresRecurrence<B>;
    template <class B>
    using ForComplex = OnComplexSteps<B, GmresRecurrence>;
};
struct Minres {
    template <class B>
    using Recurrence = MinresRecurrence<B>;
};
struct Bicgstab2 {
    template <class B>
    using Recurrence = Bicgstab2Recurrence<B>;
    template <class B>
    using ForComplex = OnComplexSteps<B, Bicgstab2Recurrence>;
};
struct Idr {
    template <class B>
    using Recurrence = IdrRecurrence<B>;
    template <class B>
    using ForComplex = OnComplexSteps<B, IdrRecurrence>;
};

struct Cocg {
    template <class B>
    using Recurrence = CocgRecurrence<B>;
    template <class B>
    using ForComplex = OnComplexSteps<B, CocgRecurrence>;
};

template <class Method>
concept HasKernelsOfSteps = requires {
    typename Method::template Scalars<double>;
};

template <class Method, class B>
concept HasComplexScalars = requires {
    typename Method::template ForComplex<B>;
};

/// f(Bicgstab()), for instance.
template <class F>
auto with_method(KrylovMethod method, const F& f) {
    switch (method) {
        case KrylovMethod::bicgstab:
            return f(Bicgstab());
        case KrylovMethod::cg:
            return f(Cg());
        case KrylovMethod::gmres:
            return f(Gmres());
        case KrylovMethod::minres:
            return f(Minres());
        case KrylovMethod::idr:
            return f(Idr());
        case KrylovMethod::bicgstab2:
            return f(Bicgstab2());
        case KrylovMethod::cocg:
            return f(Cocg());
    }
    throw InvalidArgument("krylov: there is no method number " + std::to_string(static_cast<int>(method)));
}

/// R on a backend, told the options if it asks for them.
template <class R, class B>
std::unique_ptr<AnyRecurrence<typename B::Vector>> make_recurrence(B& backend, const KrylovOptions& options) {
    using Made = RecurrenceOf<R, typename B::Vector>;
    if constexpr (std::is_constructible_v<R, B&, const KrylovOptions&>)
        return std::make_unique<Made>(backend, options);
    else
        return std::make_unique<Made>(backend);
}

/// A method on a backend that makes its operations one by one, with the scalars that the options ask for.
template <class B>
std::unique_ptr<AnyRecurrence<typename B::Vector>> make_recurrence(KrylovMethod method, B& backend,
                                                                   const KrylovOptions& options) {
    return with_method(method, [&]<class Method>(Method) {
        if constexpr (HasComplexScalars<Method, B>)
            if (options.complex_scalars) return make_recurrence<typename Method::template ForComplex<B>>(backend, options);
        return make_recurrence<typename Method::template Recurrence<B>>(backend, options);
    });
}

}  // namespace solver
