// Solves a complex system with the options given and prints hashes of the bits, for run.sh to compare on several numbers of
// ranks: -matrix NAME of the made matrices (matrices/), b = A times ones, by KSP and PC as the options say. One line:
// iterations, reason, hash of the residual history, hash of x in the global order. With -methods cg,bcgs,... a line for each.
// -compare none|bound|rounded: x is to have the bits of the library's own solve of the whole matrix with that guarantee; exit
// status 1 where it has not.
#include "cases.hpp"
#include "matrices/generators.hpp"
#include "solver/complex.hpp"
#include "solver/proof.hpp"

#include <petscksp.h>

#include <bit>
#include <complex>
#include <cstdint>
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

/// What the options in force describe.
PetscErrorCode run_case() {
    char name[64] = "wilson_4_4";
    char* methods[64];
    PetscInt count = 64;
    PetscBool listed;
    Mat a;
    Vec b, ones;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", name, sizeof name, nullptr));
    PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-methods", methods, &count, &listed));
    const Matrix all = solver::matrices::find_generator(name).value().make_complex();
    PetscCall(spread(all, &a));
    PetscCall(MatCreateVecs(a, &ones, &b));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMult(a, ones, b));
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
