#include "solver/linear_operator.hpp"

#include "core/floating_point_guard.hpp"
#include "krylov/place.hpp"
#include "krylov/run.hpp"
#include "preconditioner/identity.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <span>

namespace solver {

template <class T>
SolveResult krylov_solve(KrylovMethod method, const LinearOperator<T>& a, const Preconditioner<T>* m, std::span<const T> b,
                         std::span<T> x, const KrylovOptions& options, const Device& processor) {
    if (processor.kind() != Device::Kind::cpu)
        throw InvalidArgument(fmt::format("{}: an operator is applied on the processor, not on {}; expected Device::cpu()",
                                          to_string(method), to_string(processor)));
    const Unknown<T> unknown = checked_unknown<T>(a.rows(), b, x, {}, options, to_string(method));
    if (m != nullptr) check_symmetry(method, m->is_symmetric());
    check_complex_scalars(method, options, a.rows());
    const Identity<T> none(a.rows());
    const Preconditioner<T>& preconditioner = m != nullptr ? *m : static_cast<const Preconditioner<T>&>(none);
    check_memory(method, options, !preconditioner.is_identity(), a.rows(), sizeof(T), 1);
    const cpu::FloatingPointGuard guard;
    const Pauses pauses = pauses_of(options);
    return solve_operator_on_processor<T>(method, a, preconditioner, {std::span(&unknown, 1), options, pauses}, processor);
}

template SolveResult krylov_solve(KrylovMethod, const LinearOperator<float>&, const Preconditioner<float>*,
                                  std::span<const float>, std::span<float>, const KrylovOptions&, const Device&);
template SolveResult krylov_solve(KrylovMethod, const LinearOperator<double>&, const Preconditioner<double>*,
                                  std::span<const double>, std::span<double>, const KrylovOptions&, const Device&);

}  // namespace solver
