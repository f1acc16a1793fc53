// -pc_type samebits_amg, samebits_auto and factors within blocks over ranks against the library's own multigrid, solve and
// ILU(0) of the whole matrix, to the last bit: the levels, and one application. -matrix NAME of the made matrices (matrices/),
// or a Matrix Market file, times -scale S, or symmetric but for rounding by -scale_both_sides, the first N rows held by a
// penalty with -held_rows N; -rigid_body_modes N with elasticity2d_N; -cut_nodes shares rows out so that nodes lie on two
// ranks, -empty_ranks so that all but two have none; -scattered_blocks N composes N blocks whose rows lie everywhere. Then
// solves, and prints hashes of the history and x, for run.sh to compare on several numbers of ranks. Several cases by -cases
// FILE (cases.hpp). Exit status 1 where bits differ.
#include "cases.hpp"
#include "matrices/elasticity.hpp"
#include "matrices/generators.hpp"
#include "solver/device.hpp"
#include "solver/matrix_market.hpp"
#include "solver/preconditioner.hpp"
#include "solver/solve.hpp"
#include "support/adversarial.hpp"
#include "support/nearly_symmetric.hpp"

#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using Matrix = solver::CsrMatrix<double>;
using Numbers = std::vector<double>;

std::uint64_t hash_of(std::span<const double> values) {  // FNV-1a
    std::uint64_t hash = 14695981039346656037u;
    for (const double value : values) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211u;
    return hash;
}

/// An even number of rows for each rank but the last one, or, as the options say, an odd one, or none for all but two.
PetscInt part_of(PetscInt rows) {
    PetscBool cut_nodes = PETSC_FALSE, empty_ranks = PETSC_FALSE;
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetBool(nullptr, nullptr, "-cut_nodes", &cut_nodes, nullptr));
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetBool(nullptr, nullptr, "-empty_ranks", &empty_ranks, nullptr));
    PetscMPIInt rank, ranks;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    if (empty_ranks && ranks > 1) return rank == 0 ? rows / 3 : rank + 1 == ranks ? rows - rows / 3 : 0;
    const PetscInt each = rows / ranks / 2 * 2 + (cut_nodes && ranks > 1 ? 1 : 0);
    return rank + 1 < ranks ? each : rows - each * (ranks - 1);
}

Mat spread(const Matrix& all, PetscInt part) {
    Mat a;
    PetscInt end, rows = static_cast<PetscInt>(all.rows);
    MPI_Scan(&part, &end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
    const PetscInt begin = end - part;
    std::vector<PetscInt> offsets, columns(all.column_indices.begin(), all.column_indices.end());
    for (PetscInt i = begin; i <= end; ++i)
        offsets.push_back(static_cast<PetscInt>(all.row_offsets[i] - all.row_offsets[begin]));
    const PetscInt* const first_column = columns.data() + all.row_offsets[begin];
    const double* const first_value = all.values.data() + all.row_offsets[begin];
    PetscCallAbort(PETSC_COMM_WORLD, MatCreate(PETSC_COMM_WORLD, &a));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetSizes(a, part, part, rows, rows));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetType(a, MATAIJ));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetFromOptions(a));
    PetscCallAbort(PETSC_COMM_WORLD, MatSeqAIJSetPreallocationCSR(a, offsets.data(), first_column, first_value));
    PetscCallAbort(PETSC_COMM_WORLD, MatMPIAIJSetPreallocationCSR(a, offsets.data(), first_column, first_value));
    return a;
}

Vec spread(const Mat a, std::span<const double> all) {
    Vec x;
    PetscInt begin, end;
    PetscScalar* values;
    PetscCallAbort(PETSC_COMM_WORLD, MatCreateVecs(a, &x, nullptr));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetOwnershipRange(x, &begin, &end));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetArray(x, &values));
    std::copy(all.begin() + begin, all.begin() + end, values);
    PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArray(x, &values));
    return x;
}

Numbers gathered(Vec x) {
    Vec all;
    VecScatter scatter;
    const PetscScalar* values;
    PetscInt size;
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterCreateToAll(x, &scatter, &all));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetSize(all, &size));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetArrayRead(all, &values));
    Numbers result(values, values + size);
    PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArrayRead(all, &values));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterDestroy(&scatter));
    PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&all));
    return result;
}

void set_near_null_space(Mat a, const Numbers& vectors, std::int64_t rows) {
    std::vector<Vec> parts;
    MatNullSpace space;
    for (std::size_t first = 0; first < vectors.size(); first += static_cast<std::size_t>(rows))
        parts.push_back(spread(a, std::span(vectors).subspan(first, static_cast<std::size_t>(rows))));
    PetscCallAbort(PETSC_COMM_WORLD, MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, static_cast<PetscInt>(parts.size()),
                                                        parts.data(), &space));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetNearNullSpace(a, space));
    PetscCallAbort(PETSC_COMM_WORLD, MatNullSpaceDestroy(&space));
    for (Vec& part : parts) PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&part));
}

/// Numbers of some magnitudes, none of them a short binary fraction.
Numbers right_hand_side(std::int64_t rows) {
    Numbers b;
    for (std::int64_t i = 0; i < rows; ++i) b.push_back((i % 3 == 0 ? -1e-3 : 1.0) / (1 + i % 1000));
    return b;
}

int count_differences(const Numbers& found, const Numbers& expected) {
    int differences = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) differences += solver::testing::same_bits(found[i], expected[i]) ? 0 : 1;
    return differences;
}

/// One application of the PC, by all ranks, against what is expected, whatever it was applied to before.
int compare(PC pc, Mat a, const Numbers& expected, const Numbers& b) {
    Vec other = spread(a, Numbers(b.rbegin(), b.rend())), r = spread(a, b), z = spread(a, b);
    PetscCallAbort(PETSC_COMM_WORLD, PCApply(pc, other, z));
    PetscCallAbort(PETSC_COMM_WORLD, PCApply(pc, r, z));
    const int differences = count_differences(gathered(z), expected);
    if (differences > 0) std::printf("M^-1 r has %d elements that are not the library's\n", differences);
    for (Vec* v : {&other, &r, &z}) PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(v));
    return differences;
}

/// M^-1 b with the library's own multigrid of the matrix, told what the Mat tells.
Numbers by_multigrid(const Matrix& all, const Numbers& near_null_space, Mat a, const Numbers& b) {
    PetscInt unknowns;
    PetscCallAbort(PETSC_COMM_WORLD, MatGetBlockSize(a, &unknowns));
    solver::PreconditionerOptions options;
    options.amg.unknowns_per_node = unknowns > 1 ? static_cast<int>(unknowns) : 0;
    options.amg.near_null_space = near_null_space;
    const auto multigrid = solver::make_preconditioner<double>(solver::PreconditionerKind::amg, all.view(),
                                                               solver::Accuracy::exact, solver::Device::cpu(1), options);
    PetscCallAbort(PETSC_COMM_WORLD, PetscPrintf(PETSC_COMM_WORLD, "  the library: %lld entries in the factors, hash %016llx\n",
                                                 static_cast<long long>(multigrid->factor_entries()),
                                                 static_cast<unsigned long long>(multigrid->factor_hash())));
    Numbers z(b.size());
    multigrid->apply(b, z, solver::Accuracy::exact);
    return z;
}

/// The block of a row: -scattered_blocks of them, by any numbers, or -pc_samebits_block_size rows each.
std::int32_t block_of(std::int64_t row) {
    PetscInt scattered = 0, size = 0;
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetInt(nullptr, nullptr, "-scattered_blocks", &scattered, nullptr));
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetInt(nullptr, nullptr, "-pc_samebits_block_size", &size, nullptr));
    if (scattered > 0) return static_cast<std::int32_t>(row / 10 * 7919 % scattered * 100'000'007 - 3);
    return static_cast<std::int32_t>(row / size);
}

/// Tells the Mat of its blocks; -blocks_without_last_row leaves one row out.
void compose_blocks(Mat a) {
    PetscBool scattered, shortened = PETSC_FALSE;
    PetscInt begin, end;
    IS blocks;
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsHasName(nullptr, nullptr, "-scattered_blocks", &scattered));
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetBool(nullptr, nullptr, "-blocks_without_last_row", &shortened, nullptr));
    if (!scattered) return;
    PetscCallAbort(PETSC_COMM_WORLD, MatGetOwnershipRange(a, &begin, &end));
    std::vector<PetscInt> numbers;
    for (PetscInt row = begin; row < end - (shortened ? 1 : 0); ++row) numbers.push_back(block_of(row));
    PetscCallAbort(PETSC_COMM_WORLD, ISCreateGeneral(PETSC_COMM_WORLD, static_cast<PetscInt>(numbers.size()), numbers.data(),
                                                     PETSC_COPY_VALUES, &blocks));
    PetscCallAbort(PETSC_COMM_WORLD, PetscObjectCompose(reinterpret_cast<PetscObject>(a), "samebits_blocks",
                                                        reinterpret_cast<PetscObject>(blocks)));
    PetscCallAbort(PETSC_COMM_WORLD, ISDestroy(&blocks));
}

/// M^-1 b with the library's own factors within the blocks.
Numbers by_blocks(solver::PreconditionerKind kind, const Matrix& all, const Numbers& b) {
    std::vector<std::int32_t> block_of_row;
    for (std::int64_t row = 0; row < all.rows; ++row) block_of_row.push_back(block_of(row));
    const auto factors = solver::make_preconditioner<double>(kind, all.view(), solver::Accuracy::exact, solver::Device::cpu(1),
                                                             {.block_of_row = block_of_row});
    PetscCallAbort(PETSC_COMM_WORLD, PetscPrintf(PETSC_COMM_WORLD, "  the library: %lld entries in the factors\n",
                                                 static_cast<long long>(factors->factor_entries())));
    Numbers z(b.size());
    factors->apply(b, z, solver::Accuracy::exact);
    return z;
}

/// A^-1 b by the library's own choice.
Numbers by_solve(const Matrix& all, const Numbers& b) {
    char guarantee[16] = "none";
    PetscCallAbort(PETSC_COMM_WORLD,
                   PetscOptionsGetString(nullptr, nullptr, "-pc_samebits_guarantee", guarantee, sizeof guarantee, nullptr));
    solver::SolveOptions options;
    options.iteration.accuracy = solver::Accuracy::exact;
    options.guarantee = solver::guarantee_from_text(guarantee);
    Numbers x(b.size());
    const solver::SpmvPlan<double> plan(all.view(), solver::Device::cpu(1));
    const solver::SolveReport report = solver::solve<double>(plan, b, x, {}, options);
    std::string attempts;
    for (const solver::Attempt& attempt : report.attempts) {
        attempts += ' ';
        attempts += to_string(attempt.preconditioner);
    }
    PetscCallAbort(PETSC_COMM_WORLD, PetscPrintf(PETSC_COMM_WORLD, "attempts:%s\n", attempts.c_str()));
    return x;
}

/// Solves, and shows the bits of the history and of x.
PetscErrorCode solve(KSP ksp, Mat a, const Numbers& b) {
    Vec right = spread(a, b), x = spread(a, b);
    const PetscReal* history;
    PetscInt entries, iterations;
    PetscFunctionBegin;
    PetscCall(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, right, x));
    PetscCall(KSPGetResidualHistory(ksp, &history, &entries));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %d history %016llx x %016llx\n", static_cast<int>(iterations),
                          static_cast<unsigned long long>(hash_of({history, static_cast<std::size_t>(entries)})),
                          static_cast<unsigned long long>(hash_of(gathered(x)))));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

/// What one application of the PC is to give.
Numbers expected_of(PC pc, const Matrix& all, const Numbers& near_null_space, Mat a, const Numbers& b) {
    PetscBool is_solve;
    PetscCallAbort(PETSC_COMM_WORLD, PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), "samebits_auto", &is_solve));
    if (is_solve) return by_solve(all, b);
    for (const auto kind :
         {solver::PreconditionerKind::ilu0, solver::PreconditionerKind::ilut, solver::PreconditionerKind::klu}) {
        PetscBool is_of_kind;
        const std::string name = "samebits_" + std::string(to_string(kind));
        PetscCallAbort(PETSC_COMM_WORLD, PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), name.c_str(), &is_of_kind));
        if (is_of_kind) return by_blocks(kind, all, b);
    }
    return by_multigrid(all, near_null_space, a, b);
}

/// Beside the first rows the others leave nothing of b that a residual shows.
void hold(std::int64_t rows, Matrix& a, Numbers& b) {
    constexpr double penalty = 0x1p40;
    for (std::int64_t i = 0; i < rows; ++i) {
        b[i] *= penalty;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) a.values[k] += penalty;
    }
}

PetscErrorCode check(const Matrix& all, const Numbers& b, const Numbers& near_null_space, int* differences) {
    KSP ksp;
    PC pc;
    PetscFunctionBegin;
    Mat a = spread(all, part_of(static_cast<PetscInt>(all.rows)));
    if (!near_null_space.empty()) set_near_null_space(a, near_null_space, all.rows);
    compose_blocks(a);
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, "samebits_amg"));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetUp(ksp));
    *differences = compare(pc, a, expected_of(pc, all, near_null_space, a, b), b);
    PetscCall(solve(ksp, a, b));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&a));
    PetscFunctionReturn(0);
}

/// What the options in force describe; adds to `differences`.
PetscErrorCode run_case(int* differences) {
    char name[PETSC_MAX_PATH_LEN] = "poisson3d_20";
    PetscInt modes = 0, held_rows = 0;
    PetscReal scale = 1;
    PetscBool scale_both_sides = PETSC_FALSE;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", name, sizeof name, nullptr));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rigid_body_modes", &modes, nullptr));
    PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-scale", &scale, nullptr));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-scale_both_sides", &scale_both_sides, nullptr));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-held_rows", &held_rows, nullptr));
    const auto generator = solver::matrices::find_generator(name);
    Matrix all = generator ? generator->make() : solver::read_csr<double>(name);
    for (double& value : all.values) value *= scale;
    if (scale_both_sides) all = solver::testing::scaled_from_both_sides(std::move(all));
    Numbers b = right_hand_side(all.rows);
    hold(held_rows, all, b);
    const Numbers near_null_space = modes > 0 ? solver::matrices::elasticity2d_rigid_body_modes(modes) : Numbers();
    int found = 0;
    PetscCall(check(all, b, near_null_space, &found));
    *differences += found;
    PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
    int differences = 0;
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
    PetscCall(run_cases([&] { return run_case(&differences); }));
    PetscCall(PetscFinalize());
    return differences == 0 ? 0 : 1;
}
