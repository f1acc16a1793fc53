#pragma once

/// Reductions over the ranks of a communicator, in the accuracy of the settings unless told. Collective; every rank gets the
/// same bits.

#include "place.hpp"
#include "settings.hpp"
#include "solver/accuracy.hpp"

#include <petscsys.h>

#include <span>

namespace petscsolver {

enum class Rounding { sum, square_root };

/// results[k ys.size() + j] = sum_i x_ki y_ji, or its root, over all ranks, by one exchange. The vectors lie at the place, the
/// results on the processor.
PetscErrorCode reduce_dots(MPI_Comm comm, const Place& place, std::span<const std::span<const double>> xs,
                           std::span<const std::span<const double>> ys, Rounding rounding, double* results,
                           solver::Accuracy accuracy = settings().accuracy);

/// *result = sum_i x_i over all ranks; x on the processor.
PetscErrorCode reduce_sum(MPI_Comm comm, std::span<const double> x, double* result);

/// sum_i x_i y_i of one pair of vectors over all ranks, or its root, on the processor; what fails ends the program.
double reduced_dot(MPI_Comm comm, std::span<const double> x, std::span<const double> y, Rounding rounding,
                   solver::Accuracy accuracy);

/// The operation of MPI that merges partial sums, until PETSc ends, and what -log_view calls the sums that no bound proves:
/// VecSumDigits. To be called once, after VecInitializePackage.
PetscErrorCode prepare_reductions();

}  // namespace petscsolver
