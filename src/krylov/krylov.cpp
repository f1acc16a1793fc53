#include "solver/krylov.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>

namespace solver {

std::string_view to_string(KrylovMethod method) {
    switch (method) {
        case KrylovMethod::bicgstab:
            return "bicgstab";
        case KrylovMethod::cg:
            return "cg";
        case KrylovMethod::gmres:
            return "gmres";
        case KrylovMethod::minres:
            return "minres";
        case KrylovMethod::idr:
            return "idr";
        case KrylovMethod::bicgstab2:
            return "bicgstab2";
        case KrylovMethod::cocg:
            return "cocg";
    }
    throw InvalidArgument(fmt::format("krylov: there is no method number {}", static_cast<int>(method)));
}

KrylovMethod krylov_method_from_text(std::string_view text) {
    for (const KrylovMethod method : all_krylov_methods)
        if (text == to_string(method)) return method;
    throw InvalidArgument(
        fmt::format("method '{}' is not known; choose bicgstab, cg, gmres, minres, idr, bicgstab2 or cocg", text));
}

std::string_view to_string(SolveStatus status) {
    switch (status) {
        case SolveStatus::converged:
            return "converged";
        case SolveStatus::iteration_limit:
            return "iteration limit";
        case SolveStatus::breakdown:
            return "breakdown";
        case SolveStatus::stagnated:
            return "stagnated";
        case SolveStatus::non_finite:
            return "non-finite";
        case SolveStatus::indefinite:
            return "indefinite";
    }
    throw InvalidArgument(fmt::format("krylov: there is no status number {}", static_cast<int>(status)));
}

}  // namespace solver
