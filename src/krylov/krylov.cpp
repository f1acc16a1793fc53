#include "solver/krylov.hpp"

#include "core/names.hpp"

namespace solver {
namespace {

constexpr Name<KrylovMethod> krylov_method_names[] = {
    {KrylovMethod::bicgstab, "bicgstab"}, {KrylovMethod::cg, "cg"},   {KrylovMethod::gmres, "gmres"},
    {KrylovMethod::minres, "minres"},     {KrylovMethod::idr, "idr"}, {KrylovMethod::bicgstab2, "bicgstab2"},
    {KrylovMethod::cocg, "cocg"}};

constexpr Name<SolveStatus> solve_status_names[] = {
    {SolveStatus::converged, "converged"},   {SolveStatus::iteration_limit, "iteration limit"},
    {SolveStatus::breakdown, "breakdown"},   {SolveStatus::stagnated, "stagnated"},
    {SolveStatus::non_finite, "non-finite"}, {SolveStatus::indefinite, "indefinite"}};

}  // namespace

std::string_view to_string(KrylovMethod method) { return name_of(method, krylov_method_names, "krylov: there is no method"); }

KrylovMethod krylov_method_from_text(std::string_view text) { return value_of(text, krylov_method_names, "method"); }

std::optional<KrylovMethod> krylov_method_or_auto_from_text(std::string_view text) {
    return value_or_auto(text, krylov_method_names, "method");
}

std::string_view to_string(SolveStatus status) { return name_of(status, solve_status_names, "krylov: there is no status"); }

}  // namespace solver
