#pragma once

/// The methods that there are, by name.

#include "core/krylov/bicgstab_scalars.hpp"
#include "core/krylov/cg_scalars.hpp"
#include "krylov/bicgstab_recurrence.hpp"
#include "krylov/cg_recurrence.hpp"
#include "solver/error.hpp"
#include "solver/krylov.hpp"

#include <string>

namespace solver {

/// Recurrence is the method on a StepBackend B, Scalars what it shares with that on a CUDA device.
struct Bicgstab {
    template <class B>
    using Recurrence = BicgstabRecurrence<B>;
    template <class Value>
    using Scalars = BicgstabScalars<Value>;
};
struct Cg {
    template <class B>
    using Recurrence = CgRecurrence<B>;
    template <class Value>
    using Scalars = CgScalars<Value>;
};

/// f(Bicgstab()), for instance.
template <class F>
auto with_method(KrylovMethod method, const F& f) {
    switch (method) {
        case KrylovMethod::bicgstab:
            return f(Bicgstab());
        case KrylovMethod::cg:
            return f(Cg());
    }
    throw InvalidArgument("krylov: there is no method number " + std::to_string(static_cast<int>(method)));
}

}  // namespace solver
