/* Solves a system with the options given and prints hashes of the bits. A program as PETSc's users write it, which knows nothing
   of the plugin.

   mpirun -n 3 ./same_bits -case grid|advection|cube|cube27|file -n 20 -f matrix.petsc -ksp_type ... -pc_type ... [-seconds 3]
       [-null_space]

   One line: iterations, reason, hash of the residual history, hash of x in the global order. With -methods cg,bcgs,... and
   -preconditioners none,jacobi,... one line for every pair. -seconds solves so many times more and prints what the setup and each
   of them took. -null_space changes the diagonal so that rows add up to zero, and tells the matrix that constants are its null
   space. */
#include <petscksp.h>

#include <stdint.h>
#include <time.h>

static uint64_t hash_of(const PetscScalar *values, PetscInt count) { /* FNV-1a */
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t i = 0; i < (size_t)count * sizeof(PetscScalar); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* A grid of n x n points; `advection` makes it unsymmetric, with coefficients that are no short binary fractions. */
static PetscErrorCode grid(PetscInt n, PetscReal advection, Mat *a) {
    PetscInt begin, end;
    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, a));
    PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
    PetscCall(MatSetFromOptions(*a));
    PetscCall(MatSeqAIJSetPreallocation(*a, 5, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*a, 5, NULL, 5, NULL));
    PetscCall(MatGetOwnershipRange(*a, &begin, &end));
    for (PetscInt row = begin; row < end; ++row) {
        const PetscInt    i = row / n, j = row % n;
        const PetscScalar k = 1 + 1.0 / (1 + i + 3 * j); /* every row its own numbers */
        PetscCall(MatSetValue(*a, row, row, 4 * k + 0.1, INSERT_VALUES));
        if (i > 0) PetscCall(MatSetValue(*a, row, row - n, -k - advection, INSERT_VALUES));
        if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n, -k + advection, INSERT_VALUES));
        if (j > 0) PetscCall(MatSetValue(*a, row, row - 1, -k - advection / 3, INSERT_VALUES));
        if (j < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -k + advection / 3, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
    if (advection == 0) { /* the rows' own numbers make it unsymmetric, too: A + A^T is not */
        Mat t;
        PetscCall(MatTranspose(*a, MAT_INITIAL_MATRIX, &t));
        PetscCall(MatAXPY(*a, 1, t, SAME_NONZERO_PATTERN));
        PetscCall(MatDestroy(&t));
    }
    PetscFunctionReturn(0);
}

/* The rows of this rank of the Laplacian of n x n x n points, with 7 or 27 of them in a row; counts only where `indices` is null. */
static PetscInt cube_rows(PetscInt n, PetscBool corners, PetscInt begin, PetscInt end, PetscInt *offsets, PetscInt *indices, PetscScalar *values) {
    PetscInt count = 0;
    for (PetscInt row = begin; row < end; ++row) {
        const PetscInt i = row / (n * n), j = row / n % n, k = row % n;
        for (PetscInt di = -1; di <= 1; ++di)
            for (PetscInt dj = -1; dj <= 1; ++dj)
                for (PetscInt dk = -1; dk <= 1; ++dk) {
                    if (!corners && di * di + dj * dj + dk * dk > 1) continue;
                    if (i + di < 0 || i + di >= n || j + dj < 0 || j + dj >= n || k + dk < 0 || k + dk >= n) continue;
                    if (indices) {
                        indices[count] = row + (di * n + dj) * n + dk;
                        values[count]  = di || dj || dk ? -1 : corners ? 26 : 6;
                    }
                    ++count;
                }
        if (indices) offsets[row - begin + 1] = count;
    }
    return count;
}

static PetscErrorCode cube(PetscInt n, PetscBool corners, Mat *a) {
    PetscInt     begin, end, rows = PETSC_DECIDE, all = n * n * n, entries, *offsets, *indices;
    PetscScalar *values;
    PetscFunctionBegin;
    PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &rows, &all));
    PetscCallMPI(MPI_Scan(&rows, &end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    begin = end - rows;
    PetscCall(PetscCalloc1(rows + 1, &offsets));
    entries = cube_rows(n, corners, begin, end, NULL, NULL, NULL);
    PetscCall(PetscMalloc2(entries, &indices, entries, &values));
    cube_rows(n, corners, begin, end, offsets, indices, values);
    PetscCall(MatCreate(PETSC_COMM_WORLD, a));
    PetscCall(MatSetSizes(*a, rows, rows, all, all));
    PetscCall(MatSetFromOptions(*a));
    PetscCall(MatSeqAIJSetPreallocationCSR(*a, offsets, indices, values));
    PetscCall(MatMPIAIJSetPreallocationCSR(*a, offsets, indices, values));
    PetscCall(PetscFree2(indices, values));
    PetscCall(PetscFree(offsets));
    PetscFunctionReturn(0);
}

static PetscErrorCode load(const char *path, Mat *a) {
    PetscViewer viewer;
    PetscFunctionBegin;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_WORLD, a));
    PetscCall(MatSetFromOptions(*a));
    PetscCall(MatLoad(*a, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_constants_its_null_space(Mat a) {
    Vec          diagonal, sums;
    MatNullSpace constants;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(a, &diagonal, &sums));
    PetscCall(MatGetDiagonal(a, diagonal));
    PetscCall(MatGetRowSum(a, sums));
    PetscCall(VecAXPY(diagonal, -1, sums));
    PetscCall(MatDiagonalSet(a, diagonal, INSERT_VALUES));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(a, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
    PetscCall(VecDestroy(&diagonal));
    PetscCall(VecDestroy(&sums));
    PetscFunctionReturn(0);
}

static PetscErrorCode print_bits(KSP ksp, Vec x) {
    Vec                all;
    VecScatter         to_zero;
    const PetscScalar *values;
    const PetscReal   *history;
    PetscInt           entries, iterations, size;
    KSPConvergedReason reason;
    PetscMPIInt        rank;
    PetscFunctionBegin;
    PetscCall(VecScatterCreateToZero(x, &to_zero, &all));
    PetscCall(VecScatterBegin(to_zero, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(to_zero, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(KSPGetResidualHistory(ksp, &history, &entries));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    if (rank == 0) {
        PetscCall(VecGetSize(all, &size));
        PetscCall(VecGetArrayRead(all, &values));
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "iterations %" PetscInt_FMT " %s history %016llx x %016llx\n", iterations,
                              KSPConvergedReasons[reason], (unsigned long long)hash_of(history, entries),
                              (unsigned long long)hash_of(values, size)));
        PetscCall(VecRestoreArrayRead(all, &values));
    }
    PetscCall(VecDestroy(&all));
    PetscCall(VecScatterDestroy(&to_zero));
    PetscFunctionReturn(0);
}

/* From zero again, with everything warm. */
static PetscErrorCode time_solve(KSP ksp, Vec b, Vec x) {
    PetscLogDouble start, stop;
    clock_t        processor;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    processor = clock();
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PetscTime(&stop));
    processor = clock() - processor;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "seconds %.4f processor %.4f\n", stop - start, (double)processor / CLOCKS_PER_SEC));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat a, Vec b, const char *method, const char *preconditioner) {
    KSP            ksp;
    PC             pc;
    Vec            x;
    PetscInt       repeats = 0;
    PetscLogDouble start, stop;
    PetscFunctionBegin;
    PetscCall(VecDuplicate(b, &x));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
    PetscCall(KSPGetPC(ksp, &pc));
    if (method) PetscCall(KSPSetType(ksp, method));
    if (preconditioner) PetscCall(PCSetType(pc, preconditioner));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PetscTime(&stop));
    PetscCall(KSPSolve(ksp, b, x));
    if (method) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s ", method, preconditioner));
    PetscCall(print_bits(ksp, x));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-seconds", &repeats, NULL));
    if (repeats > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "setup seconds %.4f\n", stop - start));
    for (PetscInt repeat = 0; repeat < repeats; ++repeat) PetscCall(time_solve(ksp, b, x));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_system(Mat *a, Vec *b) {
    char      kind[64] = "grid", path[PETSC_MAX_PATH_LEN] = "";
    PetscInt  n = 20, row, begin, end;
    PetscBool is_file, is_advection, is_cube, is_cube27, has_null_space = PETSC_FALSE;
    Vec       x;
    PetscFunctionBegin;
    PetscCall(PetscOptionsGetString(NULL, NULL, "-case", kind, sizeof kind, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-f", path, sizeof path, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
    PetscCall(PetscStrcmp(kind, "file", &is_file));
    PetscCall(PetscStrcmp(kind, "advection", &is_advection));
    PetscCall(PetscStrcmp(kind, "cube", &is_cube));
    PetscCall(PetscStrcmp(kind, "cube27", &is_cube27));
    if (is_file) PetscCall(load(path, a));
    else if (is_cube || is_cube27) PetscCall(cube(n, is_cube27, a));
    else PetscCall(grid(n, is_advection ? 0.7 : 0, a));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-null_space", &has_null_space, NULL));
    if (has_null_space) PetscCall(make_constants_its_null_space(*a));
    PetscCall(MatCreateVecs(*a, &x, b));
    PetscCall(VecGetOwnershipRange(x, &begin, &end));
    for (row = begin; row < end; ++row) PetscCall(VecSetValue(x, row, 1 + 1.0 / (row + 1), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(MatMult(*a, x, *b));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
    char     *methods[64], *preconditioners[8];
    PetscInt  method_count = 64, preconditioner_count = 8;
    PetscBool listed;
    Mat       a;
    Vec       b;
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-methods", methods, &method_count, &listed));
    PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-preconditioners", preconditioners, &preconditioner_count, NULL));
    PetscCall(make_system(&a, &b));
    if (!listed) PetscCall(solve(a, b, NULL, NULL));
    for (PetscInt i = 0; listed && i < method_count; ++i) {
        for (PetscInt j = 0; j < preconditioner_count; ++j) PetscCall(solve(a, b, methods[i], preconditioners[j]));
        PetscCall(PetscFree(methods[i]));
    }
    for (PetscInt j = 0; listed && j < preconditioner_count; ++j) PetscCall(PetscFree(preconditioners[j]));
    PetscCall(MatDestroy(&a));
    PetscCall(VecDestroy(&b));
    PetscCall(PetscFinalize());
    return 0;
}
