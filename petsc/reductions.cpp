#include "reductions.hpp"

#include "local_dots.hpp"
#include "settings.hpp"
#include "solver/partial.hpp"
#include "solver/reduce.hpp"

#include <petscvec.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace petscsolver {
namespace {

using solver::Accuracy;
using solver::SumDigits;
using Partial = solver::PartialSum<double>;

MPI_Datatype partial_type = MPI_DATATYPE_NULL;
MPI_Op merge_operation = MPI_OP_NULL;
PetscLogEvent digits_event = -1;

void merge_partials(void* in, void* in_out, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<Partial*>(in_out)[i].merge(static_cast<const Partial*>(in)[i]);
}

PetscErrorCode free_merge_operation() {
    PetscFunctionBegin;
    free_device_memory();
    PetscCallMPI(MPI_Op_free(&merge_operation));
    PetscCallMPI(MPI_Type_free(&partial_type));
    PetscFunctionReturn(0);
}

PetscErrorCode merge_over(MPI_Comm comm, std::vector<Partial>& partials) {
    PetscMPIInt ranks;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm, &ranks));
    if (ranks > 1)
        PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, partials.data(), static_cast<PetscMPIInt>(partials.size()), partial_type,
                                   merge_operation, comm));
    PetscFunctionReturn(0);
}

/// As if in twice the precision; without an opinion of its own where that overflowed.
double in_twice_the_precision(const Partial& sum, Rounding rounding) {
    const auto& parts = sum.filter();
    const double tail = parts.c() + parts.d();
    const double value = solver::is_finite(tail) ? parts.s() + tail : parts.s();
    return solver::canonical(rounding == Rounding::sum ? value : solver::sqrt_rn(value));
}

bool try_round(const Partial& sum, Rounding rounding, double& result) {
    return rounding == Rounding::sum ? sum.try_result(result) : sum.try_sqrt(result);
}

double round_digits(const SumDigits& sum, Rounding rounding) {
    return rounding == Rounding::sum ? sum.result<double>() : sum.sqrt_result<double>();
}

/// Rounds what is certified, and adds up the integers of the rest. All ranks hold the same partials, hence decide alike.
template <class DigitsOf>
PetscErrorCode round_over(MPI_Comm comm, const std::vector<Partial>& partials, const DigitsOf& digits_of, Rounding rounding,
                          double* results) {
    std::vector<std::size_t> open;
    std::vector<SumDigits> digits;
    PetscFunctionBegin;
    for (std::size_t j = 0; j < partials.size(); ++j)
        if (!try_round(partials[j], rounding, results[j])) open.push_back(j);
    if (open.empty()) PetscFunctionReturn(0);
    PetscCall(PetscLogEventBegin(digits_event, nullptr, nullptr, nullptr, nullptr));
    for (const std::size_t j : open) PetscCallCXX(digits.push_back(digits_of(j)));
    static_assert(sizeof(SumDigits) == SumDigits::size * sizeof(std::int64_t));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, digits.data(), static_cast<PetscMPIInt>(open.size() * SumDigits::size),
                               MPI_INT64_T, MPI_SUM, comm));
    for (std::size_t k = 0; k < open.size(); ++k) results[open[k]] = round_digits(digits[k], rounding);
    PetscCall(PetscLogEventEnd(digits_event, nullptr, nullptr, nullptr, nullptr));
    PetscFunctionReturn(0);
}

template <class DigitsOf>
PetscErrorCode complete(MPI_Comm comm, std::vector<Partial> partials, const DigitsOf& digits_of, Rounding rounding,
                        double* results, Accuracy accuracy) {
    PetscFunctionBegin;
    PetscCall(merge_over(comm, partials));
    if (accuracy == Accuracy::exact) {
        PetscCall(round_over(comm, partials, digits_of, rounding, results));
    } else {
        for (std::size_t j = 0; j < partials.size(); ++j) results[j] = in_twice_the_precision(partials[j], rounding);
    }
    PetscFunctionReturn(0);
}

/// fast: every rank's results added up as MPI does it.
PetscErrorCode add_over(MPI_Comm comm, std::size_t count, Rounding rounding, double* results) {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, results, static_cast<PetscMPIInt>(count), MPI_DOUBLE, MPI_SUM, comm));
    if (rounding == Rounding::square_root)
        for (std::size_t j = 0; j < count; ++j) results[j] = solver::sqrt_rn(results[j]);
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode reduce_dots(MPI_Comm comm, const Place& place, std::span<const Span> xs, std::span<const Span> ys,
                           Rounding rounding, double* results, Accuracy accuracy) {
    std::vector<Partial> partials;
    const std::size_t count = ys.size();
    PetscFunctionBegin;
    if (accuracy == Accuracy::fast) {
        for (std::size_t k = 0; k < xs.size(); ++k) PetscCallCXX(plain_dots(place, xs[k], ys, results + k * count));
        PetscCall(add_over(comm, xs.size() * count, rounding, results));
    } else {
        const auto digits_of = [&](std::size_t j) { return dot_digits(place, xs[j / count], ys[j % count]); };
        for (const Span x : xs) PetscCallCXX(std::ranges::copy(partial_dots(place, x, ys), std::back_inserter(partials)));
        PetscCall(complete(comm, std::move(partials), digits_of, rounding, results, accuracy));
    }
    PetscFunctionReturn(0);
}

PetscErrorCode reduce_sum(MPI_Comm comm, Span x, double* result) {
    PetscFunctionBegin;
    if (settings().accuracy == Accuracy::fast) {
        *result = solver::sum(x, Accuracy::fast, one_thread());
        PetscCall(add_over(comm, 1, Rounding::sum, result));
    } else {
        const auto digits_of = [&](std::size_t) { return solver::sum_digits(x, one_thread()); };
        PetscCall(
            complete(comm, {solver::partial_sum(x, one_thread())}, digits_of, Rounding::sum, result, settings().accuracy));
    }
    PetscFunctionReturn(0);
}

double reduced_dot(MPI_Comm comm, Span x, Span y, Rounding rounding, Accuracy accuracy) {
    double result;
    PetscCallAbort(comm, reduce_dots(comm, {}, {&x, 1}, {&y, 1}, rounding, &result, accuracy));
    return result;
}

PetscErrorCode prepare_reductions() {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Type_contiguous(sizeof(Partial), MPI_BYTE, &partial_type));
    PetscCallMPI(MPI_Type_commit(&partial_type));
    PetscCallMPI(MPI_Op_create(merge_partials, 1, &merge_operation));
    PetscCall(PetscRegisterFinalize(free_merge_operation));
    PetscCall(PetscLogEventRegister("VecSumDigits", VEC_CLASSID, &digits_event));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
