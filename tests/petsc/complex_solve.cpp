// Solves a complex system with the options given and prints hashes of the bits, for run.sh to compare on several numbers of
// ranks: -matrix NAME of the made matrices (matrices/), -phases makes a real one Hermitian, -near_null_space N tells it N
// vectors (-misplaced: all on the first rank), -null_space makes a real one singular, -unassembled sets an entry at last,
// -columns solves two at once before, b = A times ones, by KSP and PC as the options say. One line: iterations, reason, hash of
// the residual history, hash of x in the global order. With -methods cg,bcgs,... a line for each. -compare none|bound|rounded:
// x is to have the bits of the library's own solve of the whole matrix with that guarantee; exit status 1 where it has not.
#include "cases.hpp"
#include "matrices/generators.hpp"
#include "solver/complex.hpp"
#include "solver/proof.hpp"

#include <petscksp.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace {

using Complex = std::complex<double>;
using Matrix = solver::CsrMatrix<Complex>;

std::uint64_t hash_of(std::span<const double> values) {  // FNV-1a
    std::uint64_t hash = 14695981039346656037u;
    for (const double value : values) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211u;
    return hash;
}

PetscErrorCode spread(const Matrix& all, Mat* a) {
    PetscInt begin, end;
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, a));
    PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, static_cast<PetscInt>(all.rows), static_cast<PetscInt>(all.rows)));
    PetscCall(MatSetFromOptions(*a));
    PetscCall(MatSeqAIJSetPreallocation(*a, 50, nullptr));
    PetscCall(MatMPIAIJSetPreallocation(*a, 50, nullptr, 50, nullptr));
    PetscCall(MatGetOwnershipRange(*a, &begin, &end));
    for (PetscInt row = begin; row < end; ++row)
        for (std::int64_t k = all.row_offsets[row]; k < all.row_offsets[row + 1]; ++k)
            PetscCall(MatSetValue(*a, row, all.column_indices[k], all.values[k], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

std::vector<Complex> gathered(Vec x) {
    Vec all;
    VecScatter scatter;
    const PetscScalar* values;
    PetscInt size;
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterCreateToAll(x, &scatter, &all));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetSize(all, &size));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetArrayRead(all, &values));
    std::vector<Complex> result(values, values + size);
    PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArrayRead(all, &values));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterDestroy(&scatter));
    PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&all));
    return result;
}

std::uint64_t hash_of(const std::vector<Complex>& x) { return hash_of(solver::real_view(std::span<const Complex>(x))); }

PetscErrorCode print_bits(KSP ksp, Vec x) {
    const PetscReal* history;
    PetscInt entries, iterations;
    KSPConvergedReason reason;
    PetscFunctionBeginUser;
    PetscCall(KSPGetResidualHistory(ksp, &history, &entries));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %" PetscInt_FMT " %s history %016llx x %016llx\n", iterations,
                          KSPConvergedReasons[reason],
                          static_cast<unsigned long long>(hash_of({history, static_cast<std::size_t>(entries)})),
                          static_cast<unsigned long long>(hash_of(gathered(x)))));
    PetscFunctionReturn(0);
}

/// Ends the program where x is not the library's.
PetscErrorCode compare(const Matrix& all, Vec b, Vec x) {
    char guarantee[16] = "none";
    PetscBool given;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-compare", guarantee, sizeof guarantee, &given));
    if (!given) PetscFunctionReturn(0);
    const std::vector<Complex> right = gathered(b);
    std::vector<Complex> expected(right.size());
    const solver::SpmvPlan<Complex> plan(all.view(), solver::Device::cpu(1));
    solver::SolveOptions options;
    options.guarantee = solver::guarantee_from_text(guarantee);
    solver::solve<Complex>(plan, right, expected, {}, options);
    PetscCheck(hash_of(gathered(x)) == hash_of(expected), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "x has other bits than the library's");
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "x has the library's bits\n"));
    PetscFunctionReturn(0);
}

PetscErrorCode solve(const Matrix& all, Mat a, Vec b, const char* method) {
    KSP ksp;
    Vec x;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(b, &x));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
    if (method != nullptr) {
        PetscCall(KSPSetType(ksp, method));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s ", method));
    }
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(print_bits(ksp, x));
    PetscCall(compare(all, b, x));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

/// Of a symmetric matrix a Hermitian one with entries as large: those above the diagonal times 0.8 + 0.6 i, as a field turns
/// the phases of a grid's links, those below times 0.8 - 0.6 i.
Matrix with_phases(const solver::CsrMatrix<double>& a) {
    Matrix result{a.rows, a.columns, a.row_offsets, a.column_indices, {}};
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const std::int64_t side = a.column_indices[k] - row;
            result.values.push_back(a.values[k] * (side == 0 ? Complex(1) : Complex(0.8, side > 0 ? 0.6 : -0.6)));
        }
    return result;
}

/// Of D, which turns number k by k quarters.
Complex quarters(std::int64_t k) {
    constexpr Complex turns[] = {1, {0, 1}, -1, {0, -1}};
    return turns[k % 4];
}

/// D^H L D, L the matrix with the diagonal that makes its rows add up to zero.
Matrix with_null_space(const solver::CsrMatrix<double>& a) {
    Matrix result{a.rows, a.columns, a.row_offsets, a.column_indices, {}};
    for (std::int64_t row = 0; row < a.rows; ++row) {
        double others = 0;
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            if (a.column_indices[k] != row) others += a.values[k];
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const std::int32_t column = a.column_indices[k];
            result.values.push_back(std::conj(quarters(row)) * quarters(column) * (column == row ? -others : a.values[k]));
        }
    }
    return result;
}

/// Of such a matrix: D^H e.
PetscErrorCode set_null_space(Mat a) {
    Vec v;
    MatNullSpace space;
    PetscInt begin, end, rows;
    PetscFunctionBeginUser;
    PetscCall(MatGetSize(a, &rows, nullptr));
    PetscCall(MatCreateVecs(a, &v, nullptr));
    PetscCall(VecGetOwnershipRange(v, &begin, &end));
    for (PetscInt i = begin; i < end; ++i)
        PetscCall(VecSetValue(v, i, std::conj(quarters(i)) / std::sqrt(static_cast<double>(rows)), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(v));
    PetscCall(VecAssemblyEnd(v));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &v, &space));
    PetscCall(MatSetNullSpace(a, space));
    PetscCall(MatNullSpaceDestroy(&space));
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(0);
}

/// The made matrix of that name, changed as the options say.
Matrix made(const char* name) {
    PetscBool phases = PETSC_FALSE, null_space = PETSC_FALSE;
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetBool(nullptr, nullptr, "-phases", &phases, nullptr));
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetBool(nullptr, nullptr, "-null_space", &null_space, nullptr));
    const auto generator = solver::matrices::find_generator(name).value();
    if (null_space) return with_null_space(generator.make());
    return phases ? with_phases(generator.make()) : generator.make_complex();
}

/// Constants, then vectors with parts of both kinds.
PetscErrorCode set_near_null_space(Mat a, PetscInt count) {
    std::vector<Vec> vectors;
    MatNullSpace space;
    PetscInt begin, end, rows;
    PetscBool misplaced = PETSC_FALSE;
    PetscMPIInt rank;
    PetscFunctionBeginUser;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    PetscCall(MatGetSize(a, &rows, nullptr));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-misplaced", &misplaced, nullptr));
    for (PetscInt k = 1; k < count; ++k) {
        Vec& v = vectors.emplace_back();
        if (misplaced)
            PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rank == 0 ? rows : 0, rows, &v));
        else
            PetscCall(MatCreateVecs(a, &v, nullptr));
        PetscCall(VecGetOwnershipRange(v, &begin, &end));
        for (PetscInt i = begin; i < end; ++i)
            PetscCall(VecSetValue(v, i, Complex(static_cast<double>(i % (k + 2)), static_cast<double>(i % 5)), INSERT_VALUES));
        PetscCall(VecAssemblyBegin(v));
        PetscCall(VecAssemblyEnd(v));
    }
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, count - 1, vectors.data(), &space));
    PetscCall(MatSetNearNullSpace(a, space));
    PetscCall(MatNullSpaceDestroy(&space));
    for (Vec& v : vectors) PetscCall(VecDestroy(&v));
    PetscFunctionReturn(0);
}

/// Two columns at once, the first with a NaN; prints how it ended.
PetscErrorCode solve_columns(Mat a) {
    KSP ksp;
    Mat b, x;
    PetscInt own, rows;
    KSPConvergedReason reason;
    PetscFunctionBeginUser;
    PetscCall(MatGetLocalSize(a, &own, nullptr));
    PetscCall(MatGetSize(a, &rows, nullptr));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, own, PETSC_DECIDE, rows, 2, nullptr, &b));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, own, PETSC_DECIDE, rows, 2, nullptr, &x));
    PetscCall(MatSetValue(b, 0, 0, std::numeric_limits<double>::quiet_NaN(), INSERT_VALUES));
    PetscCall(MatSetValue(b, 0, 1, 1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPMatSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations of columns %s\n", KSPConvergedReasons[reason]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&b));
    PetscCall(MatDestroy(&x));
    PetscFunctionReturn(0);
}

/// What the options in force describe.
PetscErrorCode run_case() {
    char name[64] = "wilson_4_4";
    PetscBool null_space = PETSC_FALSE, unassembled = PETSC_FALSE, columns = PETSC_FALSE;
    PetscInt vectors = 0;
    char* methods[64];
    PetscInt count = 64;
    PetscBool listed;
    Mat a;
    Vec b, ones;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", name, sizeof name, nullptr));
    PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-methods", methods, &count, &listed));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-near_null_space", &vectors, nullptr));
    const Matrix all = made(name);
    PetscCall(spread(all, &a));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-null_space", &null_space, nullptr));
    if (null_space) PetscCall(set_null_space(a));
    if (vectors > 0) PetscCall(set_near_null_space(a, vectors));
    PetscCall(MatCreateVecs(a, &ones, &b));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMult(a, ones, b));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-unassembled", &unassembled, nullptr));
    if (unassembled) PetscCall(MatSetValue(a, 0, 0, all.values[0], INSERT_VALUES));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-columns", &columns, nullptr));
    if (columns) PetscCall(solve_columns(a));
    if (!listed) PetscCall(solve(all, a, b, nullptr));
    for (PetscInt i = 0; listed && i < count; ++i) {
        PetscCall(solve(all, a, b, methods[i]));
        PetscCall(PetscFree(methods[i]));
    }
    PetscCall(VecDestroy(&ones));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&a));
    PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
    PetscCall(run_cases(run_case));
    PetscCall(PetscFinalize());
    return 0;
}
