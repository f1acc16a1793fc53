#include "solver/linear_operator.hpp"

#include "core/floating_point_guard.hpp"
#include "krylov/columns.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/methods.hpp"
#include "krylov/operator_products.hpp"
#include "preconditioner/identity.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <utility>

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
    check_memory(method, options, a.rows(), sizeof(T), 1);
    const cpu::FloatingPointGuard guard;
    const Identity<T> identity(a.rows());
    const Preconditioner<T>& none = identity;
    OperatorProducts<T> products(a, processor);
    using Backend = CpuSolverBackend<T, OperatorProducts<T>>;
    const Pauses pauses = pauses_of(options);
    const auto results = solve_together<Backend>(
        {std::span(&unknown, 1), options, pauses},
        [&](const Unknown<T>& column, std::int64_t) {
            return Backend(products, m != nullptr ? *m : none, column.b, false, options.accuracy);
        },
        [&](Backend& backend) { return make_recurrence(method, backend, options); }, [&] { products.run(); });
    return results.front();
}

template SolveResult krylov_solve(KrylovMethod, const LinearOperator<float>&, const Preconditioner<float>*,
                                  std::span<const float>, std::span<float>, const KrylovOptions&, const Device&);
template SolveResult krylov_solve(KrylovMethod, const LinearOperator<double>&, const Preconditioner<double>*,
                                  std::span<const double>, std::span<double>, const KrylovOptions&, const Device&);

}  // namespace solver
