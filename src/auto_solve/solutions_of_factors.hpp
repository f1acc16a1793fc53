#pragma once

/// What complete factors make of b, where nothing but rounding x keeps that from the tolerance.

#include "auto_solve/iterates.hpp"
#include "auto_solve/obstacle.hpp"
#include "auto_solve/progress.hpp"
#include "solver/accuracy.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "solver/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {

/// A solution that factors found is kept aside until it is taken: of a nearly singular A a smaller x may meet the tolerance.
template <class T>
class SolutionsOfFactors {
public:
    /// Applications of factors are as accurate as asked for.
    SolutionsOfFactors(Iterates<T>& iterates, Accuracy accuracy)
        : iterates_(iterates), accuracy_(accuracy), columns_(iterates.columns()) {}

    /// Where complete factors stagnate at what rounding x comes to, at an x that they would hardly change, nothing else gets
    /// nearer, unless A is nearly singular: any other x that meets the tolerance t lies within ||A^-1|| t ||b|| of the
    /// solution, so that for u ||A|| ||A^-1|| < 1 rounding it comes to as much, less t ||b|| at most. Where that is little more
    /// than the tolerance another x may meet it by chance. Returns whether nothing else can. Keeps x in any case: what has less
    /// of a residual, and misses the tolerance, may be much further from the solution.
    bool is_final(std::int64_t column, const SolveResult& result, const Preconditioner<T>& inverse) {
        const double aim = iterates_.tolerance(column);
        if (!is_at_limit(column, result, aim, inverse)) return false;
        Column& of = columns_[column];
        of.is_at_limit = true;
        if (!iterates_.holds_pair(column)) of.at_limit = Refined<T>{iterates_.x(column), result.relative_residual, 0};
        return iterates_.rounding(column) > clearly * aim;
    }

    /// Keeps x = M^-1 b after iterative refinement where one more step would hardly change it, which no singular A allows, and
    /// rounding it comes to clearly more than the tolerance allows. Not before some iteration has tried.
    void find(std::int64_t column, const SolveResult& result, const Preconditioner<T>& inverse) {
        constexpr double surely_not_all = 0x1p-20;
        if (result.iterations == 0 || iterates_.holds_pair(column)) return;
        std::optional<Refined<T>> refined = refined_x(column, inverse);
        if (!refined || !(refined->error <= surely_not_all)) return;
        iterates_.exchange(column, refined->x);
        const bool is_limited = is_limited_by_rounding(column, refined->residual, clearly * iterates_.tolerance(column));
        iterates_.exchange(column, refined->x);
        if (is_limited) columns_[column].found = std::move(refined);
    }

    /// Whether factors brought x as near as rounding it leaves room for.
    bool has_reached_limit(std::int64_t column) const { return columns_[column].is_at_limit; }

    bool has(std::int64_t column) const { return columns_[column].found.has_value(); }

    bool has_any_of(std::span<const std::int64_t> columns) const {
        return std::ranges::any_of(columns, [&](std::int64_t column) { return has(column); });
    }

    /// Returns whether x is now what was found.
    bool take(std::int64_t column, Progress& progress) {
        const bool is_found = take(columns_[column].found, column, progress);
        columns_[column].is_at_limit |= is_found;
        return is_found;
    }

    /// Of a column that did not converge: x is what factors brought to the limit of rounding, if they did.
    void take_at_limit(std::int64_t column, Progress& progress) {
        if (!is_taken(column)) take(columns_[column].at_limit, column, progress);
    }

    bool is_taken(std::int64_t column) const { return columns_[column].is_taken; }

    bool is_nearly_singular(const Preconditioner<T>& inverse) const {
        return inverse.pivot_ratio() < least_pivot_ratio<T>(iterates_.rows());
    }

    /// Empty unless nothing but rounding is in the way of all columns that have not converged.
    std::string obstacle(std::span<const SolveResult> results) const {
        double most = 0;
        for (std::size_t column = 0; column < results.size(); ++column) {
            if (results[column].status == SolveStatus::converged) continue;
            if (!columns_[column].is_at_limit) return "";
            most = std::max(most, results[column].relative_residual);
        }
        if (!(most > 0)) return "";
        const char* const precision = std::is_same_v<T, float> ? "single" : "double";
        return fmt::format(
            "to round x to {} precision changes b - A x by about {:.0e} ||b||, more than the tolerance allows, and this x is "
            "as good as that; {} a guarantee says how many digits are right",
            precision, most, most < 1 ? "a larger tolerance can be met, and" : "its residual tells nothing,");
    }

private:
    static constexpr double clearly = 16;  ///< times the tolerance: more than what another x may meet by chance

    struct Column {
        std::optional<Refined<T>> found;
        std::optional<Refined<T>> at_limit;
        bool is_taken = false;
        bool is_at_limit = false;  ///< x is as near as rounding it leaves room for
    };

    bool take(std::optional<Refined<T>>& solution, std::int64_t column, Progress& progress) {
        if (!solution) return false;
        iterates_.exchange(column, solution->x);
        SolveResult& result = progress.result(column);
        if (!progress.has_stopped(column)) result.status = SolveStatus::stagnated;
        result.relative_residual = result.recursive_residual = solution->residual;
        solution.reset();
        columns_[column].is_taken = true;
        return true;
    }

    bool is_at_limit(std::int64_t column, const SolveResult& result, double aim, const Preconditioner<T>& inverse) {
        constexpr double hardly = 0x1p-10;
        const bool may_be = result.status == SolveStatus::stagnated && !is_nearly_singular(inverse);
        if (!may_be || !is_limited_by_rounding(column, result.relative_residual, aim)) return false;
        try {
            return iterates_.estimated_error(column, inverse, accuracy_) <= hardly;
        } catch (const Error&) {  // no memory for a look at it
            return false;
        }
    }

    bool is_limited_by_rounding(std::int64_t column, double residual, double aim) {
        const double rounding = iterates_.rounding(column);
        return residual <= rounding && rounding > aim;
    }

    /// Nothing where there is no memory for it.
    std::optional<Refined<T>> refined_x(std::int64_t column, const Preconditioner<T>& inverse) {
        try {
            return iterates_.refined(column, inverse, accuracy_);
        } catch (const Error&) {
        } catch (const std::bad_alloc&) {
        }
        return std::nullopt;
    }

    Iterates<T>& iterates_;
    Accuracy accuracy_;
    std::vector<Column> columns_;
};

}  // namespace solver
