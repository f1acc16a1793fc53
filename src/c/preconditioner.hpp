#pragma once

/// What a solver_preconditioner is.

#include "c/arguments.hpp"
#include "solver/preconditioner.hpp"
#include "solver/solver.h"

#include <cstdint>
#include <memory>
#include <variant>

template <class T>
struct solver_preconditioner_of {
    std::unique_ptr<const solver::Preconditioner<T>> apply;
    std::int64_t rows = 0;
};

struct solver_preconditioner {
    std::variant<solver_preconditioner_of<double>, solver_preconditioner_of<float>> of;
};

namespace solver::c {

inline solver_factors default_factors() {
    const PreconditionerOptions options;
    return {sizeof(solver_factors), options.drop_tolerance, options.fill_factor, options.memory_limit, nullptr, 0};
}

/// NULL stands for the defaults.
inline PreconditionerOptions factors_from_c(const solver_factors* given, const char* function) {
    PreconditionerOptions options;
    if (given == nullptr) return options;
    const solver_factors factors = filled_up(given, default_factors(), function, "factors");
    require(factors.memory_limit >= 0, function, "the memory limit of the factors is negative");
    require(factors.block_of_row == nullptr || factors.block_of_row_size != 0, function,
            "factors.block_of_row is given and block_of_row_size is 0; expected the rows of A");
    options.drop_tolerance = factors.drop_tolerance;
    options.fill_factor = factors.fill_factor;
    options.memory_limit = factors.memory_limit;
    options.block_of_row =
        elements<const std::int32_t>(factors.block_of_row, factors.block_of_row_size, function, "factors.block_of_row");
    return options;
}

}  // namespace solver::c
