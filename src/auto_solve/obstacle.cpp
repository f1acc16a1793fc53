#include "auto_solve/obstacle.hpp"

#include "auto_solve/matrix_facts.hpp"
#include "core/row_facts.hpp"
#include "preconditioner/klu.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace solver {
namespace {

constexpr std::string_view nearly_singular = "singular as far as this precision can tell", ill_conditioned = "ill-conditioned";

constexpr std::string_view for_some_b =
    "; there is a solution only for some b, which least squares find as they do others (lstsq, --least-squares)";

constexpr std::string_view in_more_precision = "; a guarantee ('rounded', --rounded) works in more precision";
constexpr std::string_view for_any_b = ", least squares (lstsq, --least-squares) find an x for any b";

std::string counted(const Occurrences& found, const char* what, const char* of) {
    return fmt::format("{} {}{}, the first is {} (counted from 1{})", found.count, what, found.count == 1 ? "" : "s",
                       found.first + 1, of);
}

std::string structural(const Diagnosis& real_form, bool is_complex) {
    const Diagnosis known = is_complex ? in_complex_numbers(real_form) : real_form;
    const char* const of = is_complex ? ", of the complex matrix" : "";
    if (known.structural_rank == known.rows) return "";
    const std::string rank =
        fmt::format("A is singular whatever its values are: structural rank {} of {}; ", known.structural_rank, known.rows);
    const std::string help(for_some_b);
    if (known.empty_rows.count > 0) return rank + counted(known.empty_rows, "empty row", of) + help;
    if (known.empty_columns.count > 0) return rank + counted(known.empty_columns, "empty column", of) + help;
    return rank + counted(known.unmatched_rows, "row", of) + " that no permutation gives a place with a nonzero diagonal" +
           help;
}

/// Why KLU refused A; what it advises where A is singular was tried.
std::string refused_by_klu(std::string_view refusal) {
    if (!refusal.starts_with(klu_refuses) || !refusal.ends_with(instead_where_singular)) return std::string(refusal);
    refusal.remove_prefix(klu_refuses.size());
    refusal.remove_suffix(instead_where_singular.size());
    return fmt::format("{}{}{}", refusal, in_more_precision, for_any_b);
}

/// That the last method wants another A; empty where it does not.
template <class T>
std::string unsymmetric(const SpmvPlan<T>& a, std::span<const Attempt> attempts, bool is_complex) {
    const KrylovMethod method = attempts.empty() ? KrylovMethod::bicgstab : attempts.back().method;
    const bool is_cocg = method == KrylovMethod::cocg;
    if (!is_cocg && method != KrylovMethod::cg && method != KrylovMethod::minres) return "";
    const MatrixFacts facts = facts_of(a);
    const OwnTranspose kind = is_cocg && is_complex ? OwnTranspose::of_complex_numbers : OwnTranspose::of_reals;
    const bool is_suited = kind == OwnTranspose::of_reals ? facts.is_nearly_symmetric : facts.is_complex_symmetric;
    if (!facts.is_finite || is_suited) return "";
    const std::string_view wanted = !is_complex ? "symmetric" : is_cocg ? "its own transpose" : "Hermitian";
    return fmt::format("A is not {}, as {} needs it; gmres, idr and bicgstab take any", wanted, to_string(method));
}

/// The first time that they stand there.
void replace(std::string& text, std::string_view words, std::string_view others) {
    if (const std::size_t found = text.find(words); found != std::string::npos) text.replace(found, words.size(), others);
}

/// Numbers of A, b or x, or overflow where they are multiplied.
bool began_beyond_numbers(const Attempt& attempt) {
    return std::ranges::any_of(attempt.results, [](const SolveResult& result) {
        return result.status == SolveStatus::non_finite && result.iterations == 0;
    });
}

}  // namespace

template <class T>
std::string obstacle(const SpmvPlan<T>& a, std::span<const Attempt> attempts, bool is_complex) {
    constexpr double few_elements = 1 << 24;  // to be looked at as a sparse matrix
    if (a.dense() == nullptr || static_cast<double>(a.rows()) * static_cast<double>(a.columns()) <= few_elements) {
        try {
            const Diagnosis found = diagnose(a.matrix(), a.device());
            if (std::string text = structural(found, is_complex); !text.empty()) return text;
        } catch (const InvalidArgument& error) {  // an entry that is not finite
            return error.what();
        }
    }
    if (!attempts.empty() && began_beyond_numbers(attempts.front()))
        return "b - A x of the initial x is Inf or NaN: a number of A, b or x is, or they overflow";
    if (std::string text = unsymmetric(a, attempts, is_complex); !text.empty()) return text;
    const double least_of_well_conditioned = std::sqrt(unit_roundoff<T>);
    for (const Attempt& attempt : attempts) {
        if (attempt.preconditioner != PreconditionerKind::klu) continue;
        if (!attempt.refusal.empty()) return refused_by_klu(attempt.refusal);
        const bool is_singular = found_singular(attempt, least_pivot_ratio<T>(a.rows()));
        if (attempt.pivot_ratio < least_of_well_conditioned)
            return fmt::format(
                "A is {}: of the pivots of its complete factors, scaled, the smallest is {:.1e} times the largest{}{}",
                is_singular ? nearly_singular : ill_conditioned, attempt.pivot_ratio, in_more_precision,
                is_singular ? for_any_b : "");
    }
    return "";
}

bool found_singular(const Attempt& attempt, double least_pivot_ratio) {
    if (attempt.preconditioner != PreconditionerKind::klu) return false;
    return attempt.refusal.empty() ? attempt.pivot_ratio < least_pivot_ratio
                                   : attempt.refusal.ends_with(instead_where_singular);
}

std::string obstacle_with_least_squares(std::string obstacle) {
    for (const std::string_view advice : {for_some_b, for_any_b}) replace(obstacle, advice, "");
    if (obstacle.empty()) obstacle = fmt::format("A is {}", nearly_singular);
    return obstacle +
           "; no x that solves this system was found, and to this precision this one is its least squares (as by lstsq, "
           "--least-squares)";
}

std::string obstacle_of_nonsingular(std::string obstacle) {
    replace(obstacle, nearly_singular, ill_conditioned);
    replace(obstacle, for_any_b, "");
    return obstacle;
}

template std::string obstacle(const SpmvPlan<float>&, std::span<const Attempt>, bool);
template std::string obstacle(const SpmvPlan<double>&, std::span<const Attempt>, bool);

}  // namespace solver
