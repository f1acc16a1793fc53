/* The whole of solver.h from a program in C99, bad input too. Prints the first check that failed and ends with status 1: what
 * follows would work on what is not there. */
#include "solver/solver.h"
#include "solver/solver_cuda.h"

#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char not_null; /* what a pointer holds before a call that has to clear it */

static void check(int holds, const char* what, int line) {
    if (holds) return;
    printf("line %d: %s does not hold; the last error was: %s\n", line, what, solver_last_error());
    exit(1);
}
#define CHECK(condition) check((condition) ? 1 : 0, #condition, __LINE__)
#define CHECK_OK(call) CHECK((call) == SOLVER_OK)

/* The call fails with that status and words that have this in them. */
static void check_refusal(solver_status seen, solver_status expected, const char* words, int line) {
    const char* const said = solver_last_error();
    if (seen == expected && strstr(said, words) != NULL) return;
    printf("line %d: %s with '%s' was expected, and there was %s: %s\n", line, solver_status_name(expected), words,
           solver_status_name(seen), said);
    exit(1);
}
#define CHECK_REFUSED(call, status, words) check_refusal(call, status, words, __LINE__)

/* [4 1 0; 1 4 1; 0 1 4] */
static const int64_t offsets[] = {0, 2, 5, 7};
static const int32_t columns[] = {0, 1, 0, 1, 2, 1, 2};
static const double values[] = {4, 1, 1, 4, 1, 1, 4};

static solver_csr small_csr(void) {
    solver_csr csr;
    memset(&csr, 0, sizeof csr);
    csr.size = sizeof csr;
    csr.type = SOLVER_DOUBLE;
    csr.offset_bytes = 8;
    csr.index_bytes = 4;
    csr.rows = 3;
    csr.columns = 3;
    csr.nonzeros = 7;
    csr.row_offsets = offsets;
    csr.column_indices = columns;
    csr.values = values;
    return csr;
}

static solver_matrix* small_matrix(void) {
    const solver_csr csr = small_csr();
    solver_matrix* matrix = NULL;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    return matrix;
}

static solver_dense dense(int64_t rows, int64_t cols, double* data) {
    solver_dense described;
    memset(&described, 0, sizeof described);
    described.size = sizeof described;
    described.type = SOLVER_DOUBLE;
    described.rows = rows;
    described.columns = cols;
    described.row_stride = 1;
    described.column_stride = rows;
    described.data = data;
    return described;
}

static void every_name_is_one_of_its_own(const char* (*name)(int32_t), int32_t first, int32_t last, const char* unknown) {
    int32_t i, j;
    for (i = first; i <= last; ++i) {
        CHECK(strcmp(name(i), unknown) != 0);
        for (j = first; j < i; ++j) CHECK(strcmp(name(i), name(j)) != 0);
    }
}

/* Promise: solver.h, "10000 major + 100 minor" */
/* Promise: solver.h, "Of the library that runs" */
/* Promise: solver.h, "One line: the version" */
/* Promise: solver.h, "Never NULL." */
/* Promise: solver.h, ""ok", "invalid argument"" */
/* Promise: solver.h, "0 in a library built without CUDA." */
/* Promise: solver.h, ""converged", "iteration limit", "breakdown"" */
static void tell_of_the_library(void) {
    int32_t count = -1;
    const char* const info = solver_build_info();
    CHECK(solver_last_error() != NULL); /* of nothing that went wrong */
    CHECK(solver_version() == SOLVER_VERSION && SOLVER_VERSION == 100);
    CHECK(strncmp(info, "solver 0.1.0; CUDA: ", 20) == 0 && strchr(info, '\n') == NULL);
    CHECK_OK(solver_device_count(&count));
    CHECK(count >= 0 && (count == 0 || strstr(info, "CUDA: not built in") == NULL));
    CHECK_REFUSED(solver_device_count(NULL), SOLVER_INVALID_ARGUMENT, "count is NULL");
    CHECK(strcmp(solver_status_name(SOLVER_OK), "ok") == 0);
    CHECK(strcmp(solver_status_name(SOLVER_INVALID_ARGUMENT), "invalid argument") == 0);
    CHECK(strcmp(solver_status_name(SOLVER_FILE_ERROR), "file error") == 0);
    CHECK(strcmp(solver_status_name(4711), "unknown status") == 0);
    every_name_is_one_of_its_own(solver_status_name, SOLVER_OK, SOLVER_INTERNAL_ERROR, "unknown status");
    every_name_is_one_of_its_own(solver_outcome_name, SOLVER_CONVERGED, SOLVER_INDEFINITE, "unknown outcome");
    CHECK(strcmp(solver_outcome_name(SOLVER_CONVERGED), "converged") == 0);
    CHECK(strcmp(solver_outcome_name(SOLVER_ITERATION_LIMIT), "iteration limit") == 0);
    CHECK(strcmp(solver_outcome_name(SOLVER_BREAKDOWN), "breakdown") == 0);
    CHECK(strcmp(solver_outcome_name(SOLVER_STAGNATED), "stagnated") == 0);
    CHECK(strcmp(solver_outcome_name(SOLVER_NON_FINITE), "non-finite") == 0);
    CHECK(strcmp(solver_outcome_name(SOLVER_INDEFINITE), "indefinite") == 0);
    CHECK(strcmp(solver_outcome_name(SOLVER_STOPPED), "stopped") == 0);
    CHECK(strcmp(solver_outcome_name(-5), "unknown outcome") == 0);
}

/* Promise: solver.h, "0, as at the beginning" */
/* Promise: solver.h, "1 or more." */
/* Promise: solver.h, "How many that are:" */
static void set_threads(void) {
    const int32_t all = solver_threads();
    CHECK(all >= 1);
    CHECK_OK(solver_set_threads(3));
    CHECK(solver_threads() == 3);
    CHECK_REFUSED(solver_set_threads(-1), SOLVER_INVALID_ARGUMENT, "-1 threads");
    CHECK(solver_threads() == 3);
    CHECK_OK(solver_set_threads(0));
    CHECK(solver_threads() == all);
}

/* Promise: solver.h, "Arrays of no elements may be NULL." */
/* Promise: solver.h, "sqrt(sum |x_i|^2), without overflow" */
/* Promise: solver.h, "The sum, or dot product, itself, without any rounding" */
/* Promise: solver.h, "`components` has room for SOLVER" */
/* Promise: solver.h, "`type` says what `void *` points to" */
/* Promise: solver.h, "n elements in the host's memory; *result" */
static void reduce_vectors(void) {
    const double x[] = {1e308, 1e308, -1e308, 1, -1e308};
    const double huge[] = {3e200, 4e200}, tiny[] = {3e-200, 4e-200}, lost[] = {1e-300}, infinite[] = {INFINITY};
    const float f[] = {3, 4};
    int32_t accuracy;
    double result = 0, components[SOLVER_EXPANSION_DOUBLES];
    float single = 0, single_components[SOLVER_EXPANSION_FLOATS];
    int32_t count = 0, is_exact = 0;
    CHECK_OK(solver_sum(SOLVER_DOUBLE, 5, x, SOLVER_EXACT, &result));
    CHECK(result == 1);
    CHECK_OK(solver_dot(SOLVER_DOUBLE, 5, x, x, SOLVER_EXACT, &result));
    CHECK(isinf(result));
    CHECK_OK(solver_norm2(SOLVER_FLOAT, 2, f, SOLVER_COMPENSATED, &single));
    CHECK(single == 5);
    for (accuracy = SOLVER_FAST; accuracy <= SOLVER_EXACT; ++accuracy) {
        CHECK_OK(solver_norm2(SOLVER_DOUBLE, 2, huge, accuracy, &result));
        CHECK(fabs(result / 5e200 - 1) < 1e-15);
        CHECK_OK(solver_norm2(SOLVER_DOUBLE, 2, tiny, accuracy, &result));
        CHECK(fabs(result / 5e-200 - 1) < 1e-15);
    }
    CHECK_OK(solver_sum(SOLVER_DOUBLE, 0, NULL, SOLVER_FAST, &result));
    CHECK(result == 0);
    CHECK_OK(solver_sum_expansion(SOLVER_DOUBLE, 3, x, components, &count, &is_exact));
    CHECK(count == 1 && is_exact == 1 && components[0] == 1e308);
    CHECK_OK(solver_sum_expansion(SOLVER_DOUBLE, 4, x, components, &count, &is_exact));
    CHECK(count == 2 && components[0] == 1e308 && components[1] == 1);
    CHECK_OK(solver_dot_expansion(SOLVER_FLOAT, 2, f, f, single_components, &count, &is_exact));
    CHECK(count == 1 && single_components[0] == 25);
    CHECK_OK(solver_dot_expansion(SOLVER_DOUBLE, 1, lost, lost, components, &count, &is_exact));
    CHECK(is_exact == 0);
    CHECK_OK(solver_sum_expansion(SOLVER_DOUBLE, 1, infinite, components, &count, &is_exact));
    CHECK(is_exact == 0);
}

/* The imaginary part's components begin one capacity after the real part's. */
/* Promise: solver.h, "Complex numbers: two expansions" */
/* Promise: solver.h, "`components` has room for twice as many" */
static void expand_complex_sums(void) {
    const double large[] = {1e16, 0, 1, 2}, one[] = {1, 0, 1, 0}; /* (1e16, 1 + 2i), (1, 1) */
    const float i_and_1[] = {0, 1, 1, 0};
    double components[2 * SOLVER_EXPANSION_DOUBLES];
    float single_components[2 * SOLVER_EXPANSION_FLOATS];
    int32_t count[2], is_exact[2];
    CHECK_OK(solver_sum_expansion(SOLVER_COMPLEX_DOUBLE, 2, large, components, count, is_exact));
    CHECK(count[0] == 2 && is_exact[0] == 1 && components[0] == 1e16 && components[1] == 1);
    CHECK(count[1] == 1 && is_exact[1] == 1 && components[SOLVER_EXPANSION_DOUBLES] == 2);
    CHECK_OK(solver_dot_expansion(SOLVER_COMPLEX_DOUBLE, 2, large, one, components, count, is_exact));
    CHECK(count[0] == 2 && components[1] == 1 && count[1] == 1 && components[SOLVER_EXPANSION_DOUBLES] == -2);
    CHECK_OK(solver_dotu_expansion(SOLVER_COMPLEX_DOUBLE, 2, large, one, components, count, is_exact));
    CHECK(count[0] == 2 && components[1] == 1 && count[1] == 1 && components[SOLVER_EXPANSION_DOUBLES] == 2);
    CHECK_OK(solver_dotu_expansion(SOLVER_COMPLEX_FLOAT, 2, i_and_1, i_and_1, single_components, count, is_exact));
    CHECK(count[0] == 1 && single_components[0] == 0 && count[1] == 1 && single_components[SOLVER_EXPANSION_FLOATS] == 0);
    CHECK_OK(solver_dotu_expansion(SOLVER_FLOAT, 2, i_and_1, i_and_1, single_components, count, is_exact));
    CHECK(count[0] == 1 && single_components[0] == 1);
    CHECK_REFUSED(solver_sum_expansion(4, 2, large, components, count, is_exact), SOLVER_INVALID_ARGUMENT, "COMPLEX_FLOAT (3)");
}

/* Real and imaginary parts in turn. */
/* Promise: solver.h, "Complex numbers are pairs" */
/* Promise: solver.h, "sum x_i y_i, where solver_dot of complex numbers" */
/* Promise: solver.h, "Of a complex matrix those of the real form." */
/* Promise: solver.h, "Not of a complex matrix." */
/* Promise: solver.h, "what this build, device or version cannot do" */
static void compute_with_complex_numbers(const char* folder) {
    const double x[] = {1, 2, 0, 1}, y[] = {3, -1, 2, 0}; /* (1 + 2i, i), (3 - i, 2) */
    double z[2] = {0, 0}, norm = 0;
    CHECK_OK(solver_dot(SOLVER_COMPLEX_DOUBLE, 2, x, y, SOLVER_EXACT, z));
    CHECK(z[0] == 1 && z[1] == -9); /* (1 - 2i)(3 - i) - 2i */
    CHECK_OK(solver_dotu(SOLVER_COMPLEX_DOUBLE, 2, x, y, SOLVER_EXACT, z));
    CHECK(z[0] == 5 && z[1] == 7);
    CHECK_OK(solver_dotu(SOLVER_DOUBLE, 4, x, y, SOLVER_EXACT, z));
    CHECK(z[0] == 1);
    CHECK_OK(solver_sum(SOLVER_COMPLEX_DOUBLE, 2, x, SOLVER_EXACT, z));
    CHECK(z[0] == 1 && z[1] == 3);
    CHECK_OK(solver_norm2(SOLVER_COMPLEX_DOUBLE, 1, y, SOLVER_EXACT, &norm));
    CHECK(norm == sqrt(10));
    CHECK_REFUSED(solver_dot(4, 2, x, y, SOLVER_EXACT, z), SOLVER_INVALID_ARGUMENT, "SOLVER_COMPLEX_FLOAT (3)");

    /* A = (2i 1; 0 4), A x = (-4 + 3i, 4i) */
    const int64_t offsets[] = {0, 2, 3};
    const int32_t columns[] = {0, 1, 1};
    const double values[] = {0, 2, 1, 0, 4, 0};
    solver_csr csr = {sizeof csr, SOLVER_COMPLEX_DOUBLE, 8, 4, 1, 2, 2, 3, offsets, columns, values, NULL, 0};
    solver_matrix* a = NULL;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &a));
    char path[4096];
    snprintf(path, sizeof path, "%s/complex.mtx", folder);
    CHECK_OK(solver_matrix_write(path, a));
    CHECK_REFUSED(solver_matrix_update(a, values), SOLVER_NOT_SUPPORTED, "complex");
    solver_matrix_destroy(a);
    CHECK_REFUSED(solver_matrix_read(path, SOLVER_DOUBLE, SOLVER_PROCESSOR, &a), SOLVER_FILE_ERROR, "complex");
    CHECK_OK(solver_matrix_read(path, SOLVER_COMPLEX_DOUBLE, SOLVER_PROCESSOR, &a));
    remove(path);
    solver_shape shape = {.size = sizeof shape};
    CHECK_OK(solver_matrix_shape(a, &shape));
    CHECK(shape.type == SOLVER_COMPLEX_DOUBLE && shape.rows == 2 && shape.columns == 2 && shape.nonzeros == 3);
    double b[4] = {0, 0, 0, 0}, found[4] = {0, 0, 0, 0};
    CHECK_OK(solver_spmv(a, 1, x, 0, b, SOLVER_EXACT));
    CHECK(b[0] == -4 && b[1] == 3 && b[2] == 0 && b[3] == 4);
    CHECK_OK(solver_solve(a, NULL, 1, b, found, NULL, NULL, NULL));
    for (int i = 0; i < 4; ++i) CHECK(fabs(found[i] - x[i]) < 1e-9);
    solver_preconditioner* jacobi = NULL;
    CHECK_OK(solver_preconditioner_create(a, "jacobi", SOLVER_EXACT, NULL, &jacobi));
    CHECK_OK(solver_preconditioner_apply(jacobi, x, found, SOLVER_EXACT));
    CHECK(found[0] == 1 && found[1] == -0.5 && found[2] == 0 && found[3] == 0.25); /* (1 + 2i) / 2i, i / 4 */
    solver_preconditioner_destroy(jacobi);
    CHECK_OK(solver_triangular_solve(a, SOLVER_UPPER, SOLVER_STORED_DIAGONAL, x, found, SOLVER_EXACT));
    CHECK(found[0] == 0.875 && found[1] == -0.5 && found[2] == 0 && found[3] == 0.25); /* (1 + 1.75i) / 2i, i / 4 */
    CHECK_REFUSED(solver_triangular_solve(a, SOLVER_LOWER, SOLVER_STORED_DIAGONAL, x, found, SOLVER_EXACT),
                  SOLVER_INVALID_ARGUMENT, "beyond the diagonal");
    solver_cuda_triangle* triangle = NULL;
    CHECK_REFUSED(solver_cuda_triangle_create(a, SOLVER_UPPER, SOLVER_STORED_DIAGONAL, 4096, &triangle), SOLVER_NOT_SUPPORTED,
                  "cuda:4096");
    csr.size = sizeof csr;
    CHECK_OK(solver_matrix_csr(a, &csr));
    CHECK(csr.type == SOLVER_DOUBLE && csr.rows == 4 && csr.columns == 4 && ((const double*)csr.values)[0] == -2);
    solver_matrix_destroy(a);
}

struct real_form {
    int calls;
    double x[4];
};

static int32_t copy_four(void* context, const void* r, void* z, int32_t accuracy) {
    (void)accuracy;
    memcpy(z, r, 4 * sizeof(double));
    ++((struct real_form*)context)->calls;
    return 0;
}

static int32_t look_at_four(void* context, const solver_iteration* iteration) {
    return solver_iteration_x(iteration, 4, ((struct real_form*)context)->x) == SOLVER_OK ? 0 : 1;
}

/* Two complex numbers are four real ones. */
/* Promise: solver.h, "A sparse matrix may be complex: it is kept" */
/* Promise: solver.h, "|x_i - x*_i| <= error_bound |x_i|, of complex" */
static void see_complex_numbers_by_their_parts(void) {
    const int64_t two_rows[] = {0, 1, 2};
    const int32_t diagonal[] = {0, 1};
    const double elements[] = {0, 2, 4, 0}, b[] = {-4, 2, 0, 4}; /* (2i, 4) x = (-4 + 2i, 4i), x = (1 + 2i, i) */
    const double three_i[] = {0, 3}, i[] = {0, 1};
    double x[4] = {0, 0, 0, 0};
    struct real_form seen = {0, {0, 0, 0, 0}};
    solver_csr csr = {sizeof csr, SOLVER_COMPLEX_DOUBLE, 8, 4, 1, 2, 2, 2, two_rows, diagonal, elements, NULL, 0};
    solver_matrix* a = NULL;
    solver_preconditioner* own = NULL;
    solver_result* result = NULL;
    solver_proof proof = {.size = sizeof proof};
    solver_options options;
    CHECK_OK(solver_options_init(&options, sizeof options));
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &a));
    CHECK_OK(solver_preconditioner_from(SOLVER_DOUBLE, 4, copy_four, &seen, &own));
    options.callback = look_at_four;
    options.context = &seen;
    CHECK_OK(solver_solve(a, own, 1, b, x, NULL, &options, NULL));
    CHECK(seen.calls > 0 && memcmp(seen.x, x, sizeof x) == 0 && fabs(x[1] - 2) < 1e-9);
    options.callback = NULL;
    options.guarantee = "rounded";
    CHECK_OK(solver_solve(a, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_proof(result, 0, &proof));
    CHECK(proof.rounded == 4 && x[0] == 1 && x[1] == 2 && x[2] == 0 && x[3] == 1);
    solver_result_destroy(result);
    solver_preconditioner_destroy(own);
    solver_matrix_destroy(a);
    csr = (solver_csr){sizeof csr, SOLVER_COMPLEX_DOUBLE, 8, 4, 1, 1, 1, 1, two_rows, diagonal, three_i, NULL, 0};
    options.guarantee = "bound";
    memset(x, 0, sizeof x);
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &a));
    CHECK_OK(solver_solve(a, NULL, 1, i, x, NULL, &options, &result)); /* x = 1 / 3: no relative bound of the part that is 0 */
    CHECK_OK(solver_result_proof(result, 0, &proof));
    CHECK(proof.status == SOLVER_PROVEN && isinf(proof.error_bound) && fabs(x[0] - 1.0 / 3) < 1e-9 && x[1] == 0);
    solver_result_destroy(result);
    solver_matrix_destroy(a);
}

/* Promise: solver.h, "Every function that can fail returns a solver_status" */
/* Promise: solver.h, "a value outside its range" */
/* Promise: solver.h, "What went wrong in this thread's last call" */
static void refuse_bad_vectors(void) {
    const double x[] = {1, NAN};
    double result = 0;
    CHECK_REFUSED(solver_sum(SOLVER_DOUBLE, 2, NULL, SOLVER_EXACT, &result), SOLVER_INVALID_ARGUMENT, "solver_sum: x is NULL");
    CHECK_REFUSED(solver_sum(SOLVER_DOUBLE, 2, x, SOLVER_EXACT, NULL), SOLVER_INVALID_ARGUMENT, "result is NULL");
    CHECK_REFUSED(solver_sum(SOLVER_DOUBLE, -2, x, SOLVER_EXACT, &result), SOLVER_INVALID_ARGUMENT, "-2 elements");
    CHECK_REFUSED(solver_sum(4, 2, x, SOLVER_EXACT, &result), SOLVER_INVALID_ARGUMENT, "the type is 4");
    CHECK_REFUSED(solver_sum(SOLVER_DOUBLE, 2, x, 3, &result), SOLVER_INVALID_ARGUMENT, "the accuracy is 3");
    CHECK_REFUSED(solver_dot(SOLVER_DOUBLE, 2, x, NULL, SOLVER_FAST, &result), SOLVER_INVALID_ARGUMENT, "y is NULL");
    CHECK_REFUSED(solver_sum_expansion(SOLVER_DOUBLE, 2, x, NULL, NULL, NULL), SOLVER_INVALID_ARGUMENT, "components is NULL");
    CHECK_OK(solver_sum(SOLVER_DOUBLE, 2, x, SOLVER_EXACT, &result));
    CHECK(isnan(result));
    CHECK(strstr(solver_last_error(), "components is NULL") != NULL); /* no call has failed since */
}

/* Promise: solver.h, "A sparse matrix by rows: row i has" */
/* Promise: solver.h, "Where work runs: the processor" */
/* Promise: solver.h, "y = alpha A x + beta y. x has as many" */
/* Promise: solver.h, "r = b - A (x + x_low); x_low may be NULL." */
/* Promise: views.hpp, "Row i has the entries row_offsets[i]" */
static void multiply(void) {
    const double x[] = {1, 2, 3}, b[] = {6, 12, 14};
    const double zeros[] = {0, 0, 0};
    double y[] = {100, 100, 100}, r[] = {6, 12, 14};
    const solver_csr csr = small_csr();
    solver_matrix *const matrix = small_matrix(), *best = NULL;
    CHECK_OK(solver_spmv(matrix, 2, x, 1, y, SOLVER_EXACT));
    CHECK(y[0] == 112 && y[1] == 124 && y[2] == 128);
    CHECK_OK(solver_csr_create(&csr, SOLVER_BEST_DEVICE, &best));
    CHECK_OK(solver_spmv(best, 1, x, -1, y, SOLVER_EXACT));
    CHECK(y[0] == -106 && y[1] == -112 && y[2] == -114);
    solver_matrix_destroy(best);
    CHECK_OK(solver_residual(matrix, r, x, NULL, r, SOLVER_EXACT));
    CHECK(r[0] == 0 && r[1] == 0 && r[2] == 0);
    CHECK_OK(solver_residual(matrix, b, x, NULL, r, SOLVER_COMPENSATED));
    CHECK(r[0] == 0 && r[1] == 0 && r[2] == 0);
    CHECK_OK(solver_residual(matrix, b, zeros, x, r, SOLVER_FAST));
    CHECK(r[0] == 0 && r[1] == 0 && r[2] == 0);
    CHECK_REFUSED(solver_spmv(NULL, 1, x, 0, y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "matrix is NULL");
    CHECK_REFUSED(solver_spmv(matrix, 1, NULL, 0, y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "x is NULL");
    CHECK_REFUSED(solver_spmv(matrix, 1, x, 0, y, -1), SOLVER_INVALID_ARGUMENT, "the accuracy is -1");
    CHECK_REFUSED(solver_residual(matrix, NULL, x, NULL, r, SOLVER_FAST), SOLVER_INVALID_ARGUMENT, "b is NULL");
    CHECK_REFUSED(solver_spmv(matrix, 1, y, 0, y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "y overlaps x");
    CHECK_REFUSED(solver_residual(matrix, b, r, NULL, r, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "r overlaps x");
    solver_matrix_destroy(matrix);
}

/* (1 + i, 2; 0, -i) (1, i) = (1 + 3 i, 1), and factors i and 2 - i. */
/* Promise: solver.h, "y = alpha A x + beta y of a complex matrix by complex" */
/* Promise: solver.h, "Where a factor has an imaginary part, real and" */
/* Promise: solver.h, "SOLVER_INVALID_ARGUMENT for a real matrix." */
/* Promise: solver.h, "For a matrix of floats the parts must be floats." */
static void multiply_by_complex_factors(void) {
    const int64_t offsets[] = {0, 2, 3};
    const int32_t columns[] = {0, 1, 1};
    const double values[] = {1, 1, 2, 0, 0, -1}, x[] = {1, 0, 0, 1}, alpha[] = {0, 1}, beta[] = {2, -1}, third[] = {1.0 / 3, 0};
    const float values_of_floats[] = {1, 1, 2, 0, 0, -1}, x_of_floats[] = {1, 0, 0, 1};
    double y[] = {1, 0, 0, 1};
    float y_of_floats[] = {1, 0, 0, 1};
    solver_csr csr = {sizeof csr, SOLVER_COMPLEX_DOUBLE, 8, 4, 0, 2, 2, 3, offsets, columns, values, NULL, 0};
    solver_matrix *matrix = NULL, *of_floats = NULL, *const real = small_matrix();
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    csr.type = SOLVER_COMPLEX_FLOAT;
    csr.values = values_of_floats;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &of_floats));
    for (int32_t accuracy = SOLVER_FAST; accuracy <= SOLVER_EXACT; ++accuracy) {
        y[0] = y[3] = y_of_floats[0] = y_of_floats[3] = 1;
        y[1] = y[2] = y_of_floats[1] = y_of_floats[2] = 0;
        CHECK_OK(solver_complex_spmv(matrix, alpha, x, beta, y, accuracy));
        CHECK(y[0] == -1 && y[1] == 0 && y[2] == 1 && y[3] == 3);
        CHECK_OK(solver_complex_spmv(of_floats, alpha, x_of_floats, beta, y_of_floats, accuracy));
        CHECK(y_of_floats[0] == -1 && y_of_floats[1] == 0 && y_of_floats[2] == 1 && y_of_floats[3] == 3);
    }
    CHECK_REFUSED(solver_complex_spmv(real, alpha, x, beta, y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "the matrix is real");
    CHECK_REFUSED(solver_complex_spmv(matrix, NULL, x, beta, y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "alpha is NULL");
    CHECK_REFUSED(solver_complex_spmv(of_floats, third, x_of_floats, beta, y_of_floats, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT,
                  "not a float");
    solver_matrix_destroy(matrix);
    solver_matrix_destroy(of_floats);
    solver_matrix_destroy(real);
}

/* Three entries in one place, and columns from right to left. */
/* Promise: solver.h, "Columns need not be sorted; a repeated column" */
/* Promise: views.hpp, "Columns need not be sorted; a repeated column" */
static void sum_repeated_columns(void) {
    const int64_t two_rows[] = {0, 4, 5};
    const int32_t unsorted[] = {1, 0, 1, 1, 0};
    const double parts[] = {1e100, 3, 1, -1e100, 2}, x[] = {10, 7};
    double y[2];
    solver_csr csr = {sizeof csr, SOLVER_DOUBLE, 8, 4, 1, 2, 2, 5, two_rows, unsorted, parts, NULL, 0};
    solver_matrix* matrix = NULL;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_spmv(matrix, 1, x, 0, y, SOLVER_EXACT));
    CHECK(y[0] == 37 && y[1] == 20);
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "No C++ exception leaves the library." */
/* Promise: solver.h, "rows + 1 of them, from 0 to nonzeros" */
/* Promise: solver.h, "Everything is checked: sizes" */
/* Promise: solver.h, "shapes that do not fit together" */
/* Promise: solver.h, "what this build, device or version cannot do" */
static void refuse_bad_matrices(void) {
    const int64_t falling[] = {0, 5, 2, 7};
    const int32_t outside[] = {0, 1, 0, 1, 3, 1, 2};
    solver_matrix* matrix = (solver_matrix*)&not_null;
    solver_csr csr = small_csr();
    CHECK_REFUSED(solver_csr_create(NULL, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "csr is NULL");
    CHECK(matrix == NULL);
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, NULL), SOLVER_INVALID_ARGUMENT, "matrix is NULL");
    CHECK_REFUSED(solver_csr_create(&csr, -3, &matrix), SOLVER_INVALID_ARGUMENT, "the device is below -2");
    csr.nonzeros = 1000000000000; /* which are not there to be copied */
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_DIMENSION_MISMATCH,
                  "row_offsets ends with 7; it must end with the number of entries, 1000000000000");
    csr = small_csr();
    csr.storage = "tape";
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "tape");
    csr.storage = NULL;
    csr.size = 0;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "the size of csr is 0");
    csr.size = sizeof csr + 8;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "the size of csr is");
    csr = small_csr();
    csr.offset_bytes = 5;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "offset_bytes is 5");
    csr = small_csr();
    csr.rows = -1;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "-1 x 3");
    csr.rows = (int64_t)INT32_MAX + 1;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "expected 0 to 2147483647 rows");
    csr = small_csr();
    csr.columns = (int64_t)INT32_MAX + 1;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "3 x 2147483648 with 7");
    csr = small_csr();
    csr.nonzeros = -1;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "3 x 3 with -1 entries");
    csr = small_csr();
    csr.expected_products = -1;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "expected products is negative");
    csr = small_csr();
    csr.nonzeros = 6;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_DIMENSION_MISMATCH, "ends with 7");
    csr = small_csr();
    csr.row_offsets = falling;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "falls from 5 to 2");
    csr = small_csr();
    csr.column_indices = outside;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "column 3");
    csr = small_csr();
    csr.values = NULL;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "values is NULL");
    CHECK_REFUSED(solver_csr_create(&csr, 4096, &matrix), SOLVER_NOT_SUPPORTED, "cuda:4096");
    CHECK(matrix == NULL);
}

/* Promise: solver.h, "8 or 4: of each row offset" */
/* Promise: solver.h, "4 or 8: of each column index" */
/* Promise: solver.h, "1: the matrix looks at these arrays" */
/* Promise: solver.h, "The arrays of a sparse matrix (offsets" */
static void take_other_integers(void) {
    const int32_t narrow[] = {0, 2, 5, 7};
    const int64_t wide[] = {0, 1, 0, 1, 2, 1, 2}, outside[] = {0, 1, 0, 1, (int64_t)1 << 32, 1, 2};
    const double x[] = {1, 2, 3};
    const int32_t falling[] = {0, 5, 2, 7};
    double y[3];
    solver_matrix* matrix = NULL;
    solver_csr csr = small_csr(), seen;
    csr.offset_bytes = 4;
    csr.row_offsets = narrow;
    csr.index_bytes = 8;
    csr.column_indices = wide;
    csr.borrow = 1;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_spmv(matrix, 1, x, 0, y, SOLVER_EXACT));
    CHECK(y[0] == 6 && y[1] == 12 && y[2] == 14);
    seen.size = sizeof seen;
    CHECK_OK(solver_matrix_csr(matrix, &seen));
    CHECK(seen.row_offsets == narrow && seen.offset_bytes == 4 && seen.index_bytes == 4 && seen.values == values);
    solver_matrix_destroy(matrix);
    csr.borrow = 0;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_matrix_csr(matrix, &seen));
    CHECK(seen.row_offsets != narrow && ((const int64_t*)seen.row_offsets)[3] == 7 && seen.offset_bytes == 8);
    solver_matrix_destroy(matrix);
    csr.row_offsets = falling;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "falls from 5 to 2");
    csr.row_offsets = narrow;
    csr.column_indices = outside;
    CHECK_REFUSED(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "column 4294967296");
}

/* Promise: solver.h, "0: everything is copied" */
/* Promise: solver.h, "SOLVER_INVALID_ARGUMENT for a matrix of the other kind." */
/* Promise: solver.h, "New values in the same places" */
/* Promise: solver.h, "They are copied, in a matrix that borrows" */
/* Promise: solver.h, "1, or 0 for a sparse matrix" */
/* Promise: solver.h, "the stored entries of a sparse matrix" */
static void borrow_and_update(void) {
    const double twice[] = {8, 2, 2, 8, 2, 2, 8}, x[] = {1, 2, 3};
    double y[3];
    solver_matrix *borrowing = NULL, *copying = small_matrix();
    solver_csr csr = small_csr(), seen;
    solver_shape shape;
    solver_dense elements;
    csr.borrow = 1;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &borrowing));
    seen.size = sizeof seen;
    CHECK_OK(solver_matrix_csr(borrowing, &seen));
    CHECK(seen.values == values && seen.column_indices == columns && seen.row_offsets == offsets && seen.nonzeros == 7);
    CHECK_OK(solver_matrix_update(borrowing, twice));
    CHECK_OK(solver_matrix_csr(borrowing, &seen));
    CHECK(seen.values == twice);
    CHECK_OK(solver_matrix_csr(copying, &seen));
    CHECK(seen.values != values && seen.column_indices != columns && seen.row_offsets != offsets);
    CHECK_OK(solver_matrix_update(copying, twice));
    CHECK_OK(solver_matrix_csr(copying, &seen));
    CHECK(seen.values != twice);
    CHECK_OK(solver_spmv(copying, 1, x, 0, y, SOLVER_EXACT));
    CHECK(y[0] == 12 && y[1] == 24 && y[2] == 28);
    shape.size = sizeof shape;
    CHECK_OK(solver_matrix_shape(copying, &shape));
    CHECK(shape.type == SOLVER_DOUBLE && !shape.is_dense && shape.rows == 3 && shape.columns == 3 && shape.nonzeros == 7);
    CHECK_REFUSED(solver_matrix_update(copying, NULL), SOLVER_INVALID_ARGUMENT, "values is NULL");
    CHECK_REFUSED(solver_matrix_update(NULL, twice), SOLVER_INVALID_ARGUMENT, "matrix is NULL");
    elements.size = sizeof elements;
    CHECK_REFUSED(solver_matrix_dense(copying, &elements), SOLVER_INVALID_ARGUMENT, "sparse");
    shape.size = 0;
    CHECK_REFUSED(solver_matrix_shape(copying, &shape), SOLVER_INVALID_ARGUMENT, "size");
    solver_matrix_destroy(borrowing);
    solver_matrix_destroy(copying);
    solver_matrix_destroy(NULL);
}

/* [1 4; 2 5; 3 6], by columns and by rows. */
/* Promise: solver.h, "A dense matrix: element (i, j) is" */
/* Promise: solver.h, "By rows as in C: column_stride 1" */
/* Promise: solver.h, "as in solver_csr" */
/* Promise: solver.h, "written to only where a function says so" */
/* Promise: solver.h, "The arrays of a sparse matrix (offsets" */
/* Promise: solver.h, "New values in the same places" */
/* Promise: solver.h, ""csr", "packed" or "dense"" */
static void borrow_and_update_dense(void) {
    static const double tens[] = {10, 20, 30, 40, 50, 60};
    double by_columns[] = {1, 2, 3, 4, 5, 6}, by_rows[] = {1, 4, 2, 5, 3, 6}, y[3];
    const double x[] = {1, 10};
    solver_shape shape = {.size = sizeof shape};
    int borrows, is_by_rows;
    for (borrows = 0; borrows < 2; ++borrows)
        for (is_by_rows = 0; is_by_rows < 2; ++is_by_rows) {
            solver_matrix* matrix = NULL;
            solver_dense described = dense(3, 2, is_by_rows ? by_rows : by_columns), seen;
            const int keeps_the_layout = borrows && is_by_rows;
            described.row_stride = is_by_rows ? 2 : 1;
            described.column_stride = is_by_rows ? 1 : 3;
            described.borrow = borrows;
            CHECK_OK(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix));
            CHECK_OK(solver_spmv(matrix, 1, x, 0, y, SOLVER_EXACT));
            CHECK(y[0] == 41 && y[1] == 52 && y[2] == 63);
            seen.size = sizeof seen;
            CHECK_OK(solver_matrix_dense(matrix, &seen));
            CHECK(borrows == (seen.data == described.data));
            CHECK_OK(solver_matrix_shape(matrix, &shape));
            CHECK(shape.is_dense == 1 && shape.nonzeros == 6 && strcmp(shape.storage, "dense") == 0);
            CHECK(seen.row_stride == (keeps_the_layout ? 2 : 1) && seen.column_stride == (keeps_the_layout ? 1 : 3));
            CHECK_OK(solver_matrix_update(matrix, tens)); /* in the layout that the matrix has */
            CHECK_OK(solver_spmv(matrix, 1, x, 0, y, SOLVER_EXACT));
            if (keeps_the_layout)
                CHECK(y[0] == 210 && y[1] == 430 && y[2] == 650);
            else
                CHECK(y[0] == 410 && y[1] == 520 && y[2] == 630);
            CHECK_OK(solver_matrix_dense(matrix, &seen));
            CHECK(borrows == (seen.data == (const void*)tens));
            solver_matrix_destroy(matrix);
        }
    CHECK(by_columns[0] == 1 && by_rows[1] == 4);
}

static void refuse_bad_sizes_of_dense(void) {
    double data[] = {1, 2, 3, 4};
    solver_matrix* matrix = NULL;
    solver_dense described = dense(-1, 2, data);
    CHECK_REFUSED(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT,
                  "data is -1 x 2; expected sizes of 0 or more");
    described = dense(2, -1, data);
    CHECK_REFUSED(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "data is 2 x -1");
    described = dense(INT64_MAX / 8 + 1, 1, data); /* as doubles, one more than 64 bits can count in bytes */
    CHECK_REFUSED(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT,
                  "data is 1152921504606846976 x 1");
    described = dense(2, 1, data);
    described.row_stride = INT64_MAX;
    CHECK_REFUSED(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT,
                  "with row_stride 9223372036854775807 and column_stride");
    CHECK(matrix == NULL);
}

/* Promise: solver.h, "a file that cannot be read, written" */
/* Promise: solver.h, "A Matrix Market file, plain or compressed" */
/* Promise: solver.h, "Decimals read back to the same bits." */
/* Promise: solver.h, "Writes such a file, whole or not at all" */
static void read_and_write(const char* folder) {
    char path[4096];
    double* elements;
    const double x[] = {1, 2, 3};
    double y[3], data[] = {1, 0.1, 1e-320, 4, -5e300, 6};
    unsigned char magic[2] = {0, 0};
    FILE* file;
    solver_matrix *matrix = small_matrix(), *again = NULL;
    solver_dense described = dense(3, 2, data), seen;
    snprintf(path, sizeof path, "%s/small.mtx", folder);
    CHECK_OK(solver_matrix_write(path, matrix));
    CHECK_OK(solver_matrix_read(path, SOLVER_DOUBLE, SOLVER_PROCESSOR, &again));
    CHECK_OK(solver_spmv(again, 1, x, 0, y, SOLVER_EXACT));
    CHECK(y[0] == 6 && y[1] == 12 && y[2] == 14);
    solver_matrix_destroy(matrix);
    solver_matrix_destroy(again);
    CHECK_OK(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix));
    snprintf(path, sizeof path, "%s/dense.mtx.gz", folder);
    CHECK_OK(solver_matrix_write(path, matrix));
    CHECK_OK(solver_matrix_read(path, SOLVER_DOUBLE, SOLVER_PROCESSOR, &again));
    seen.size = sizeof seen;
    CHECK_OK(solver_matrix_dense(again, &seen));
    elements = seen.data;
    CHECK(seen.rows == 3 && seen.columns == 2 && seen.row_stride == 1 && memcmp(elements, data, sizeof data) == 0);
    file = fopen(path, "rb");
    CHECK(file != NULL && fread(magic, 1, 2, file) == 2 && magic[0] == 0x1F && magic[1] == 0x8B); /* gzip's first bytes */
    fclose(file);
    solver_matrix_destroy(matrix);
    solver_matrix_destroy(again);
    CHECK_REFUSED(solver_matrix_read("/nowhere/at/all.mtx", SOLVER_DOUBLE, SOLVER_PROCESSOR, &again), SOLVER_FILE_ERROR,
                  "/nowhere/at/all.mtx");
    CHECK(again == NULL);
    CHECK_REFUSED(solver_matrix_read(NULL, SOLVER_DOUBLE, SOLVER_PROCESSOR, &again), SOLVER_INVALID_ARGUMENT, "path is NULL");
    matrix = small_matrix();
    CHECK_REFUSED(solver_matrix_write(NULL, matrix), SOLVER_INVALID_ARGUMENT, "path is NULL");
    CHECK_REFUSED(solver_matrix_write("/nowhere/at/all.mtx", matrix), SOLVER_FILE_ERROR, "/nowhere/at/all.mtx");
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "C = alpha A B + beta C of matrices" */
/* Promise: solver.h, "C's data is written, and overlaps" */
/* Promise: solver.h, "`borrow` is not looked at." */
/* Promise: solver.h, "SOLVER_INVALID_ARGUMENT for a matrix of the other kind." */
/* Promise: solver.h, "shapes that do not fit together" */
static void multiply_dense(void) {
    double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 1, 1, 1};
    const double x[] = {1, 1};
    double y[2];
    solver_dense of_a = dense(2, 2, a), of_b = dense(2, 2, b), of_c = dense(2, 2, c);
    solver_csr csr;
    solver_matrix* matrix = NULL;
    of_a.borrow = of_b.borrow = of_c.borrow = 7;
    CHECK_OK(solver_gemm(1, &of_a, &of_b, 1, &of_c, SOLVER_EXACT, SOLVER_PROCESSOR));
    of_a.borrow = of_c.borrow = 0;
    CHECK(c[0] == 24 && c[1] == 35 && c[2] == 32 && c[3] == 47);
    of_b.rows = 3;
    CHECK_REFUSED(solver_gemm(1, &of_a, &of_b, 0, &of_c, SOLVER_FAST, SOLVER_PROCESSOR), SOLVER_DIMENSION_MISMATCH, "");
    of_b = dense(2, 2, a);
    CHECK_REFUSED(solver_gemm(1, &of_a, &of_b, 0, &of_a, SOLVER_FAST, SOLVER_PROCESSOR), SOLVER_INVALID_ARGUMENT, "overlap");
    of_b.type = SOLVER_FLOAT;
    CHECK_REFUSED(solver_gemm(1, &of_a, &of_b, 0, &of_c, SOLVER_FAST, SOLVER_PROCESSOR), SOLVER_INVALID_ARGUMENT, "type");
    CHECK_REFUSED(solver_gemm(1, NULL, &of_b, 0, &of_c, SOLVER_FAST, SOLVER_PROCESSOR), SOLVER_INVALID_ARGUMENT, "a is NULL");
    CHECK_OK(solver_dense_create(&of_a, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_spmv(matrix, 1, x, 0, y, SOLVER_EXACT));
    CHECK(y[0] == 4 && y[1] == 6);
    csr.size = sizeof csr;
    CHECK_REFUSED(solver_matrix_csr(matrix, &csr), SOLVER_INVALID_ARGUMENT, "dense");
    solver_matrix_destroy(matrix);
    of_a.row_stride = of_a.column_stride = 0;
    CHECK_REFUSED(solver_dense_create(&of_a, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "stride");
}

/* (1 + 2i) (3 - i) = 5 + 5i, (1 - 2i) (3 - i) = 1 - 7i. */
/* Promise: solver.h, "1: its complex conjugate is meant" */
/* Promise: solver.h, "of the elements" */
static void multiply_dense_of_complex_numbers(void) {
    double a[] = {1, 2}, b[] = {3, -1}, c[] = {1, 1};
    solver_matrix* matrix = NULL;
    solver_dense of_a = dense(1, 1, a), of_b = dense(1, 1, b), of_c = dense(1, 1, c);
    of_a.type = of_b.type = of_c.type = SOLVER_COMPLEX_DOUBLE;
    CHECK_OK(solver_gemm(1, &of_a, &of_b, 2, &of_c, SOLVER_EXACT, SOLVER_PROCESSOR));
    CHECK(c[0] == 7 && c[1] == 7);
    of_a.conjugated = 1;
    CHECK_OK(solver_gemm(1, &of_a, &of_b, 0, &of_c, SOLVER_EXACT, SOLVER_PROCESSOR));
    CHECK(c[0] == 1 && c[1] == -7);
    of_b.conjugated = 1;
    CHECK_OK(solver_gemm(1, &of_a, &of_b, 0, &of_c, SOLVER_EXACT, SOLVER_PROCESSOR));
    CHECK(c[0] == 5 && c[1] == -5);
    of_c.conjugated = 1;
    CHECK_REFUSED(solver_gemm(1, &of_a, &of_b, 0, &of_c, SOLVER_EXACT, SOLVER_PROCESSOR), SOLVER_INVALID_ARGUMENT,
                  "conjugated");
    of_c.conjugated = 0;
    of_c.type = SOLVER_COMPLEX_FLOAT;
    CHECK_REFUSED(solver_gemm(1, &of_a, &of_b, 0, &of_c, SOLVER_EXACT, SOLVER_PROCESSOR), SOLVER_INVALID_ARGUMENT, "type");
    of_a.type = SOLVER_DOUBLE;
    CHECK_REFUSED(solver_dense_create(&of_a, SOLVER_PROCESSOR, &matrix), SOLVER_INVALID_ARGUMENT, "conjugated");
}

/* What is wrong is said before a CUDA device is asked for, so that it is said anywhere. */
static void refuse_bad_products_without_signs(void) {
    const double a[] = {1, 2, 3, 4};
    double c[] = {5, 5, 5, 5};
    solver_status status;
    CHECK_REFUSED(solver_dngemm('X', 'N', 2, 2, 2, 1, a, 2, a, 2, 0, c, 2), SOLVER_INVALID_ARGUMENT, "transa is 'X'");
    CHECK_REFUSED(solver_dngemm('T', 'y', 2, 2, 2, 1, a, 2, a, 2, 0, c, 2), SOLVER_INVALID_ARGUMENT, "transb is 'y'");
    CHECK_REFUSED(solver_dngemm('N', 'N', -1, 2, 2, 1, a, 2, a, 2, 0, c, 2), SOLVER_INVALID_ARGUMENT, "-1, 2 and 2");
    CHECK_REFUSED(solver_dngemm('N', 'N', 2, -1, 2, 1, a, 2, a, 2, 0, c, 2), SOLVER_INVALID_ARGUMENT, "2, -1 and 2");
    CHECK_REFUSED(solver_dngemm('N', 'N', 2, 2, -1, 1, a, 2, a, 2, 0, c, 2), SOLVER_INVALID_ARGUMENT, "2, 2 and -1");
    status = solver_dngemm('n', 'c', 0, 2, 2, 1, a, 2, a, 2, 0, c, 2); /* nothing to do is no mistake */
    CHECK(status == SOLVER_OK || status == SOLVER_NOT_SUPPORTED);
    CHECK(c[0] == 5 && c[3] == 5);
}

/* Promise: solver.h, "For a matrix of floats alpha and beta" */
/* Promise: solver.h, "of the values" */
static void refuse_what_is_no_float(void) {
    const int64_t one_offset[] = {0, 1};
    const int32_t one_column[] = {0};
    const float one = 1, x = 3;
    float y = 0;
    solver_matrix* matrix = NULL;
    solver_csr csr = small_csr();
    csr.type = SOLVER_FLOAT;
    csr.rows = csr.columns = csr.nonzeros = 1;
    csr.row_offsets = one_offset;
    csr.column_indices = one_column;
    csr.values = &one;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_spmv(matrix, 0.5, &x, 0, &y, SOLVER_EXACT));
    CHECK(y == 1.5F);
    CHECK_REFUSED(solver_spmv(matrix, 0.1, &x, 0, &y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "alpha is 0.1");
    CHECK_REFUSED(solver_spmv(matrix, 1, &x, 0.1, &y, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "beta is 0.1");
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "Solves A x = b for a triangular matrix; x may be b." */
/* Promise: solver.h, "Of a sparse matrix, columns sorted in each row" */
/* Promise: solver.h, "unit: it is 1 and not stored" */
/* Promise: triangular_solve.hpp, "Solves A x = b. x may be b." */
static void solve_triangles(void) {
    const int64_t lower_offsets[] = {0, 1, 3, 5};
    const int32_t lower_columns[] = {0, 0, 1, 1, 2};
    const double lower[] = {2, 1, 4, 1, 5};
    const double b[] = {2, 9, 12};
    double x[3], full[] = {2, 1, 0, 7, 4, 1, 7, 7, 5};
    solver_matrix* matrix = NULL;
    solver_dense described = dense(3, 3, full);
    solver_csr csr = small_csr();
    csr.nonzeros = 5;
    csr.row_offsets = lower_offsets;
    csr.column_indices = lower_columns;
    csr.values = lower;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_triangular_solve(matrix, SOLVER_LOWER, SOLVER_STORED_DIAGONAL, b, x, SOLVER_EXACT));
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 2);
    memcpy(x, b, sizeof x);
    CHECK_OK(solver_triangular_solve(matrix, SOLVER_LOWER, SOLVER_STORED_DIAGONAL, x, x, SOLVER_EXACT));
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 2);
    CHECK_REFUSED(solver_triangular_solve(matrix, SOLVER_UPPER, SOLVER_STORED_DIAGONAL, b, x, SOLVER_EXACT),
                  SOLVER_INVALID_ARGUMENT, "");
    CHECK_REFUSED(solver_triangular_solve(matrix, SOLVER_LOWER, SOLVER_UNIT_DIAGONAL, b, x, SOLVER_EXACT),
                  SOLVER_INVALID_ARGUMENT, "");
    CHECK_REFUSED(solver_triangular_solve(matrix, 2, SOLVER_UNIT_DIAGONAL, b, x, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT,
                  "triangle is neither");
    CHECK_REFUSED(solver_triangular_solve(matrix, 0, 7, b, x, SOLVER_EXACT), SOLVER_INVALID_ARGUMENT, "diagonal is neither");
    solver_matrix_destroy(matrix);
    CHECK_OK(solver_dense_create(&described, SOLVER_PROCESSOR, &matrix));
    x[0] = x[1] = x[2] = 0;
    CHECK_OK(solver_triangular_solve(matrix, SOLVER_LOWER, SOLVER_STORED_DIAGONAL, b, x, SOLVER_EXACT));
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 2);
    memcpy(x, b, sizeof x);
    CHECK_OK(solver_triangular_solve(matrix, SOLVER_LOWER, SOLVER_UNIT_DIAGONAL, x, x, SOLVER_EXACT));
    CHECK(x[0] == 2 && x[1] == 7 && x[2] == 5);
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "`options` may be NULL for the defaults" */
/* Promise: solver.h, "`size` of what is asked for is set by the caller." */
/* Promise: solver.h, "The iterations of a column, which belong" */
/* Promise: solver.h, "on ||b - A x|| / ||b||" */
static void solve_with_defaults(void) {
    const double b[] = {6, 12, 14}, tiny[] = {6e-200, 12e-200, 14e-200};
    double x[] = {0, 0, 0}, low[3];
    int64_t count = 0;
    const solver_iteration* history = NULL;
    solver_matrix* const matrix = small_matrix();
    solver_result* result = NULL;
    solver_outcome outcome;
    solver_attempt attempt;
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, low, NULL, &result));
    CHECK(strcmp(solver_result_profile(result), "processor") == 0);
    CHECK_OK(solver_result_history(result, 0, &history, &count));
    CHECK(count == 0);
    outcome.size = 0;
    CHECK_REFUSED(solver_result_outcome(result, 0, &outcome), SOLVER_INVALID_ARGUMENT, "size");
    outcome.size = sizeof outcome;
    CHECK_OK(solver_result_outcome(result, 0, &outcome));
    CHECK(outcome.status == SOLVER_CONVERGED && outcome.relative_residual <= 1e-10);
    CHECK(fabs(x[0] - 1) < 1e-9 && fabs(x[1] - 2) < 1e-9 && fabs(x[2] - 3) < 1e-9);
    CHECK_OK(solver_result_attempts(result, &count));
    CHECK(count >= 1);
    attempt.size = sizeof attempt;
    CHECK_OK(solver_result_attempt(result, count - 1, &attempt));
    CHECK(strlen(attempt.preconditioner) > 0 && attempt.refusal[0] == '\0' && attempt.status == SOLVER_CONVERGED);
    CHECK_REFUSED(solver_result_attempt(result, count, &attempt), SOLVER_INVALID_ARGUMENT, "there are");
    CHECK_REFUSED(solver_result_outcome(result, 1, &outcome), SOLVER_INVALID_ARGUMENT, "column 1");
    CHECK_REFUSED(solver_result_outcome(NULL, 0, &outcome), SOLVER_INVALID_ARGUMENT, "result is NULL");
    solver_result_destroy(result);
    solver_result_destroy(NULL);
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, NULL, NULL));
    memset(x, 0, sizeof x);
    CHECK_OK(solver_solve(matrix, NULL, 1, tiny, x, NULL, NULL, NULL)); /* the tolerance is relative */
    CHECK(fabs(x[0] - 1e-200) < 1e-209 && fabs(x[2] - 3e-200) < 1e-209);
    CHECK_OK(solver_solve(matrix, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    solver_matrix_destroy(matrix);
}

struct seen {
    int64_t calls, stop_after, last_column;
    double x[3];
};

static int32_t count_calls(void* context, const solver_iteration* iteration) {
    struct seen* const seen = context;
    if (solver_iteration_x(iteration, 3, seen->x) != SOLVER_OK) return 1;
    if (iteration->size != sizeof *iteration || iteration->recursive_residual < 0) return 1;
    ++seen->calls;
    seen->last_column = iteration->column;
    return iteration->number >= seen->stop_after;
}

static solver_options options_with(const char* preconditioner) {
    solver_options options;
    CHECK_OK(solver_options_init(&options, sizeof options));
    CHECK(options.tolerance == 1e-10 && options.absolute_tolerance == 0 && options.max_iterations == 10000);
    CHECK(options.accuracy == SOLVER_EXACT && strcmp(options.preconditioner, "auto") == 0);
    CHECK(strcmp(options.method, "auto") == 0 && strcmp(options.profile, "auto") == 0);
    options.preconditioner = preconditioner;
    return options;
}

/* Promise: solver.h, "what is to be proven of x:" */
/* Promise: solver.h, ""none", as NULL, "bound" or "rounded"" */
/* Promise: solver.h, "Of a column, with SOLVER_PROOF_NOT_ASKED where" */
/* Promise: solver.h, "0 where x is proven to be x* itself" */
/* Promise: solver.h, "The size is set by the caller." */
/* Promise: solver.h, "one of the above" */
static void prove(void) {
    const double b[] = {6, 12, 14};
    double x[3] = {0};
    solver_matrix* const matrix = small_matrix();
    solver_options options = options_with("none");
    solver_result* result = NULL;
    solver_proof proof = {.size = sizeof proof};
    options.preconditioner = "ilu";
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result), SOLVER_INVALID_ARGUMENT, "choose auto, none, ");
    options.preconditioner = "none";
    options.method = "qmr";
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result), SOLVER_INVALID_ARGUMENT,
                  "choose auto, bicgstab, ");
    options.method = NULL;
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_proof(result, 0, &proof));
    CHECK(proof.status == SOLVER_PROOF_NOT_ASKED && strlen(proof.reason) == 0 && proof.backward_error < 0 &&
          proof.rounded == 0);
    CHECK_REFUSED(solver_result_proof(result, 1, &proof), SOLVER_INVALID_ARGUMENT, "there are 1");
    solver_result_destroy(result);
    options.guarantee = "rounded";
    memset(x, 0, sizeof x);
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_proof(result, 0, &proof));
    CHECK(proof.status == SOLVER_PROVEN && proof.rounded == 3 && proof.undecided == 0 && strlen(proof.reason) > 0);
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3 && proof.backward_error < 1e-300 && proof.error_bound < 0);
    solver_result_destroy(result);
    options.guarantee = "bound";
    memset(x, 0, sizeof x);
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_proof(result, 0, &proof));
    CHECK(proof.status == SOLVER_PROVEN && proof.error_bound >= 0 && proof.rounded == 0);
    CHECK(fabs(x[0] - 1) <= proof.error_bound * fabs(x[0]) && fabs(x[2] - 3) <= proof.error_bound * fabs(x[2]));
    solver_result_destroy(result);
    options.guarantee = "surely";
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result), SOLVER_INVALID_ARGUMENT,
                  "none, bound or rounded");
    solver_matrix_destroy(matrix);
}

static int32_t must_not_be_called(void* context, const solver_iteration* iteration) {
    (void)context, (void)iteration;
    CHECK(!"called");
    return 1;
}

/* Promise: solver.h, "Looks for a proof that the square matrix" */
/* Promise: solver.h, "`options` are those of a solve, NULL for the" */
/* Promise: solver.h, "That nothing could be proven is an outcome" */
/* Promise: solver.h, "bounds[i] >= |x[i] + x_low[i] - x*[i]|" */
/* Promise: solver.h, "SOLVER_INVALID_ARGUMENT where the certificate" */
/* Promise: solver.h, "SOLVER_PROVEN, SOLVER_PROVEN_SINGULAR or" */
/* Promise: solver.h, "0 unless status is SOLVER_PROVEN" */
/* Promise: solver.h, "NULL where there are none" */
/* Promise: solver.h, "A has no inverse" */
/* Promise: solver.h, "how it was proven, or what stood in the way" */
/* Promise: solver.h, "The size is set by the caller." */
/* Promise: solver.h, "elements of the two below;" */
/* Promise: solver.h, "|A^-1 r|_i <= reach[i] N(r)" */
/* Promise: solver.h, "What a certificate says:" */
/* Promise: solver.h, "The pointers belong to the certificate." */
static void certify(void) {
    static const double singular[] = {1, -1, -1, 2, -1, -1, 1};
    static double hidden[] = {1e7 + 1, 0, 1e7 + 1, -1, 1, 0, 0, -3, -3}; /* its third row is the sum of the others */
    const solver_dense of_hidden = dense(3, 3, hidden);
    const double b[] = {6, 12, 14};
    double x[] = {1, 2, 3.5}, low[] = {0, 0, -0.5}, bounds[3];
    static const double inverse_times_56[3][3] = {{15, -4, 1}, {-4, 16, -4}, {1, -4, 15}};
    int32_t i, j;
    solver_matrix *const matrix = small_matrix(), *other = NULL;
    solver_csr csr = small_csr();
    solver_options options = options_with("none");
    solver_certificate* certificate = NULL;
    solver_certificate_view view = {.size = sizeof view};
    options.guarantee = "not looked at";
    options.callback = must_not_be_called;
    CHECK_OK(solver_certify(matrix, &options, &certificate));
    CHECK_OK(solver_certificate_look(certificate, &view));
    CHECK(view.status == SOLVER_PROVEN && strcmp(view.reason, "H-matrix") == 0 && view.adds_up == 0 && view.rows == 3);
    CHECK(view.reach[1] > 0 && view.weights[1] > 0 && view.iterations >= 1);
    for (i = 0; i < 3; ++i) { /* over all r with weights[j] |r[j]| <= 1 */
        double most = 0;
        for (j = 0; j < 3; ++j) most += fabs(inverse_times_56[i][j]) / 56 / view.weights[j];
        CHECK(view.reach[i] >= most * (1 - 1e-15));
    }
    CHECK_OK(solver_error_bound(matrix, certificate, b, x, NULL, bounds));
    CHECK(bounds[2] >= 0.5 && bounds[2] < 2); /* the solution is (1, 2, 3) */
    CHECK_OK(solver_error_bound(matrix, certificate, b, x, low, bounds));
    for (i = 0; i < 3; ++i) CHECK(bounds[i] >= 0 && bounds[i] < 1e-300);
    CHECK_REFUSED(solver_error_bound(matrix, NULL, b, x, NULL, bounds), SOLVER_INVALID_ARGUMENT, "certificate is NULL");
    CHECK_REFUSED(solver_error_bound(matrix, certificate, b, x, NULL, NULL), SOLVER_INVALID_ARGUMENT, "bounds is NULL");
    CHECK_REFUSED(solver_certify(matrix, NULL, NULL), SOLVER_INVALID_ARGUMENT, "certificate is NULL");
    view.size = 0;
    CHECK_REFUSED(solver_certificate_look(certificate, &view), SOLVER_INVALID_ARGUMENT, "size");
    view.size = sizeof view;
    csr.values = singular;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &other));
    {
        const double reach = view.reach[1], weight = view.weights[1];
        solver_certificate* of_other = NULL;
        CHECK_OK(solver_certify(other, NULL, &of_other));
        CHECK(view.reach[1] == reach && view.weights[1] == weight && strcmp(view.reason, "H-matrix") == 0);
        solver_certificate_destroy(certificate);
        certificate = of_other;
    }
    solver_certificate_destroy(NULL);
    CHECK_OK(solver_certificate_look(certificate, &view));
    CHECK(view.status == SOLVER_PROVEN_SINGULAR && strstr(view.reason, "A times ones") != NULL && view.rows == 0);
    CHECK(view.reach == NULL && view.weights == NULL);
    CHECK_REFUSED(solver_error_bound(other, certificate, b, x, NULL, bounds), SOLVER_INVALID_ARGUMENT, "singular");
    solver_certificate_destroy(certificate);
    solver_matrix_destroy(other);
    CHECK_OK(solver_dense_create(&of_hidden, SOLVER_PROCESSOR, &other));
    CHECK_OK(solver_certify(other, NULL, &certificate));
    CHECK_OK(solver_certificate_look(certificate, &view));
    CHECK(view.status == SOLVER_UNPROVEN && strlen(view.reason) > 0 && view.rows == 0 && view.reach == NULL);
    CHECK_REFUSED(solver_error_bound(other, certificate, b, x, NULL, bounds), SOLVER_INVALID_ARGUMENT, "");
    solver_certificate_destroy(certificate);
    solver_matrix_destroy(other);
    solver_matrix_destroy(matrix);
}

static void refuse_certificates_of_other_entries(void) {
    const double b[] = {6, 12, 14}, x[] = {1, 2, 3}, other_values[] = {4, 1, 1, 4, 1, 1, 5};
    double bounds[3];
    solver_matrix* const matrix = small_matrix();
    solver_certificate* certificate = NULL;
    CHECK_OK(solver_certify(matrix, NULL, &certificate));
    CHECK_OK(solver_error_bound(matrix, certificate, b, x, NULL, bounds));
    CHECK_OK(solver_matrix_update(matrix, other_values));
    CHECK_REFUSED(solver_error_bound(matrix, certificate, b, x, NULL, bounds), SOLVER_INVALID_ARGUMENT, "other entries");
    solver_certificate_destroy(certificate);
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "sizeof(solver_iteration), set by the library" */
/* Promise: solver.h, "0 is the initial guess" */
/* Promise: solver.h, "of several right-hand sides, from 0" */
/* Promise: solver.h, "For callbacks: writes the n elements of x" */
/* Promise: solver.h, "It is computed when it is asked for" */
/* Promise: solver.h, "Told of every iteration; anything but 0 stops." */
/* Promise: solver.h, "by the callback" */
/* Promise: solver.h, "1: the result has every iteration" */
/* Promise: solver.h, "The iterations of a column, which belong" */
/* Promise: solver.h, "for solver_iteration_x, while the callback runs;" */
/* Promise: solver.h, "NULL in a history, and on a CUDA device" */
/* Promise: solver.h, "or NULL" */
/* Promise: solver.h, "for the callback" */
static void solve_and_tell(void) {
    const double b[] = {6, 12, 14, 4, 1, 0};
    double x[6] = {0}, untold[6] = {0};
    const solver_iteration* history = NULL;
    int64_t count = 0, count_of_first = 0;
    struct seen seen = {0, 1000, 0, {0}};
    solver_matrix* const matrix = small_matrix();
    solver_options options = options_with("none");
    solver_result* result = NULL;
    solver_outcome outcome;
    options.callback = count_calls;
    options.context = &seen;
    options.keep_history = 1;
    CHECK_OK(solver_solve(matrix, NULL, 2, b, x, NULL, &options, &result));
    CHECK(seen.calls >= 2 && fabs(x[3] - 1) < 1e-9 && fabs(x[4]) < 1e-9);
    CHECK_OK(solver_result_history(result, 0, &history, &count_of_first));
    CHECK_OK(solver_result_history(result, 1, &history, &count));
    CHECK(seen.calls == count_of_first + count);
    CHECK(count >= 1 && history[0].number == 0 && history[0].column == 1 && history[0].size == sizeof history[0]);
    CHECK(memcmp(seen.x, seen.last_column == 0 ? x : x + 3, sizeof seen.x) == 0);
    CHECK(history[0].iterate == NULL);
    CHECK_REFUSED(solver_iteration_x(history, 3, seen.x), SOLVER_INVALID_ARGUMENT, "no x");
    options.callback = NULL;
    CHECK_OK(solver_solve(matrix, NULL, 2, b, untold, NULL, &options, NULL));
    CHECK(memcmp(x, untold, sizeof x) == 0);
    options.callback = count_calls;
    CHECK(strcmp(solver_result_obstacle(result), "") == 0 && strlen(solver_result_profile(result)) > 0);
    CHECK(strcmp(solver_result_obstacle(NULL), "") == 0 && strcmp(solver_result_profile(NULL), "") == 0);
    solver_result_destroy(result);
    memset(x, 0, sizeof x);
    seen.stop_after = 0;
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    outcome.size = sizeof outcome;
    CHECK_OK(solver_result_outcome(result, 0, &outcome));
    CHECK(outcome.status == SOLVER_STOPPED && outcome.iterations <= 1);
    solver_result_destroy(result);
    solver_matrix_destroy(matrix);
}

static int32_t divide_by_four(void* context, const void* r, void* z, int32_t accuracy) {
    int i;
    for (i = 0; i < 3; ++i) ((double*)z)[i] = ((const double*)r)[i] / 4;
    ++*(int*)context;
    return accuracy == SOLVER_EXACT ? 0 : 1;
}

static int32_t always_fail(void* context, const void* r, void* z, int32_t accuracy) {
    (void)context, (void)r, (void)z, (void)accuracy;
    return 42;
}

/* Promise: solver.h, "a function of the caller's returned" */
/* Promise: solver.h, "`apply` computes z = M^-1 r" */
/* Promise: solver.h, "Anything else ends the solve" */
/* Promise: solver.h, "z = M^-1 r; they must not overlap." */
/* Promise: solver.h, "0 where there are none." */
/* Promise: solver.h, "With one that is given `mixed` is not possible." */
/* Promise: solver.h, "Columns and attempts count from 0" */
/* Promise: solver.h, ""none", as NULL, "bound" or "rounded"" */
/* Promise: solver.h, ""auto", or a kind as for" */
/* Promise: solver.h, "The profile that the choice of preconditioners" */
/* Promise: solver.h, ""bicgstab", "cg" for symmetric" */
/* Promise: solver.h, "A preconditioner of the caller's:" */
static void solve_with_preconditioners(void) {
    const double b[] = {6, 12, 14};
    double by_jacobi[3] = {0}, by_own[3] = {0}, z[3];
    int calls = 0;
    int64_t entries = -1;
    uint64_t hash = 0;
    solver_matrix* const matrix = small_matrix();
    solver_preconditioner *jacobi = NULL, *own = NULL, *failing = NULL, *small = NULL, *single = NULL;
    solver_options options = options_with("klu"); /* without effect */
    solver_result* result = NULL;
    int64_t attempts = -1;
    CHECK_OK(solver_preconditioner_create(matrix, "jacobi", SOLVER_EXACT, NULL, &jacobi));
    CHECK_OK(solver_preconditioner_from(SOLVER_DOUBLE, 3, divide_by_four, &calls, &own));
    CHECK_OK(solver_solve(matrix, jacobi, 1, b, by_jacobi, NULL, &options, NULL));
    CHECK_OK(solver_solve(matrix, own, 1, b, by_own, NULL, &options, &result));
    CHECK(calls > 0 && memcmp(by_jacobi, by_own, sizeof by_own) == 0);
    CHECK_OK(solver_result_attempts(result, &attempts));
    CHECK(attempts == 0 && strcmp(solver_result_profile(result), "") == 0);
    solver_result_destroy(result);
    options.method = "bicgstab";
    memset(by_jacobi, 0, sizeof by_jacobi);
    CHECK_OK(solver_solve(matrix, jacobi, 1, b, by_jacobi, NULL, &options, NULL));
    CHECK(memcmp(by_jacobi, by_own, sizeof by_own) == 0); /* by "auto" */
    options.mixed = 1;
    CHECK_REFUSED(solver_solve(matrix, own, 1, b, by_own, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "mixed precision");
    options.mixed = 0;
    options.guarantee = "bound";
    CHECK_REFUSED(solver_solve(matrix, own, 1, b, by_own, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "guarantee");
    options.guarantee = NULL;
    CHECK_OK(solver_preconditioner_apply(jacobi, b, z, SOLVER_EXACT));
    CHECK(z[0] == 1.5 && z[1] == 3 && z[2] == 3.5);
    CHECK_OK(solver_preconditioner_facts(own, &entries, &hash));
    CHECK(entries == 0 && hash == 0);
    CHECK_REFUSED(solver_preconditioner_facts(own, NULL, &hash), SOLVER_INVALID_ARGUMENT, "entries is NULL");
    CHECK_REFUSED(solver_preconditioner_facts(own, &entries, NULL), SOLVER_INVALID_ARGUMENT, "hash is NULL");
    memset(by_own, 0, sizeof by_own);
    CHECK_OK(solver_preconditioner_from(SOLVER_DOUBLE, 3, always_fail, NULL, &failing));
    CHECK_REFUSED(solver_solve(matrix, failing, 1, b, by_own, NULL, &options, NULL), SOLVER_CALLBACK_FAILED, "returned 42");
    CHECK_REFUSED(solver_preconditioner_apply(failing, b, z, SOLVER_EXACT), SOLVER_CALLBACK_FAILED, "returned 42");
    CHECK_OK(solver_preconditioner_from(SOLVER_DOUBLE, 2, divide_by_four, &calls, &small));
    CHECK_REFUSED(solver_solve(matrix, small, 1, b, by_own, NULL, &options, NULL), SOLVER_DIMENSION_MISMATCH, "2 rows");
    CHECK_OK(solver_preconditioner_from(SOLVER_FLOAT, 3, divide_by_four, &calls, &single));
    CHECK_REFUSED(solver_solve(matrix, single, 1, b, by_own, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "another type");
    solver_preconditioner_destroy(jacobi);
    solver_preconditioner_destroy(own);
    solver_preconditioner_destroy(failing);
    solver_preconditioner_destroy(small);
    solver_preconditioner_destroy(single);
    solver_preconditioner_destroy(NULL);
    solver_matrix_destroy(matrix);
}

/* That of small_matrix, with the sums in another order. */
static int32_t small_product(void* context, const void* x, void* y) {
    const double* const u = x;
    double* const v = y;
    v[0] = u[1] + 4 * u[0];
    v[1] = (u[0] + u[2]) + 4 * u[1];
    v[2] = u[1] + 4 * u[2];
    ++*(int*)context;
    return 0;
}

static int32_t failing_product(void* context, const void* x, void* y) {
    (void)context, (void)x, (void)y;
    return 7;
}

static int32_t twice_in_single(void* context, const void* x, void* y) {
    int i;
    (void)context;
    for (i = 0; i < 2; ++i) ((float*)y)[i] = 2 * ((const float*)x)[i];
    return 0;
}

/* Promise: solver.h, "a function of the caller's returned" */
/* Promise: solver.h, "Anything else ends the solve" */
/* Promise: solver.h, "y = A x, both of as many elements" */
/* Promise: solver.h, "Solves A x = b where nothing is known" */
/* Promise: solver.h, "`preconditioner` is one of the caller's" */
/* Promise: solver.h, "Nothing is mixed, and nothing guaranteed" */
static void solve_with_operators(void) {
    static const char* const methods[] = {"auto", "bicgstab", "cg", "gmres", "minres", "idr", "bicgstab2", "cocg"};
    const double b[] = {6, 12, 14};
    const float single_b[] = {3, 5};
    double x[3], by_auto[3];
    float single_x[] = {0, 0};
    int calls = 0;
    size_t k;
    solver_result* result = NULL;
    solver_preconditioner *own = NULL, *small = NULL;
    solver_outcome outcome = {0};
    solver_options options = options_with("klu"); /* without effect */
    outcome.size = sizeof outcome;
    CHECK_OK(solver_preconditioner_from(SOLVER_DOUBLE, 3, divide_by_four, &calls, &own));
    for (k = 0; k < 2 * sizeof methods / sizeof methods[0]; ++k) {
        const solver_preconditioner* const m = k % 2 == 0 ? NULL : own;
        if (m != NULL && (strcmp(methods[k / 2], "cg") == 0 || strcmp(methods[k / 2], "minres") == 0)) continue;
        options.method = methods[k / 2];
        memset(x, 0, sizeof x);
        calls = 0;
        CHECK_OK(solver_solve_operator(SOLVER_DOUBLE, 3, small_product, &calls, m, b, x, &options, &result));
        CHECK_OK(solver_result_outcome(result, 0, &outcome));
        CHECK(outcome.status == SOLVER_CONVERGED && calls > 0);
        if (k == 0) memcpy(by_auto, x, sizeof x);
        if (k == 2) CHECK(memcmp(by_auto, x, sizeof x) == 0); /* by BiCGStab */
        CHECK(fabs(x[0] - 1) < 1e-9 && fabs(x[1] - 2) < 1e-9 && fabs(x[2] - 3) < 1e-9);
        solver_result_destroy(result);
    }
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, 3, failing_product, NULL, NULL, b, x, &options, &result),
                  SOLVER_CALLBACK_FAILED, "product with A returned 7");
    CHECK(result == NULL);
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, 3, NULL, NULL, NULL, b, x, NULL, NULL), SOLVER_INVALID_ARGUMENT,
                  "multiply is NULL");
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, INT64_C(1) << 62, small_product, &calls, NULL, b, x, NULL, NULL),
                  SOLVER_RESOURCE_LIMIT, "not enough memory");
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, -1, small_product, &calls, NULL, b, x, NULL, NULL),
                  SOLVER_INVALID_ARGUMENT, "expected 0 or more");
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, 3, small_product, &calls, NULL, NULL, x, NULL, NULL),
                  SOLVER_INVALID_ARGUMENT, "b is NULL");
    CHECK_OK(solver_preconditioner_from(SOLVER_DOUBLE, 2, divide_by_four, &calls, &small));
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, 3, small_product, &calls, small, b, x, NULL, NULL),
                  SOLVER_DIMENSION_MISMATCH, "2 rows");
    CHECK_OK(solver_solve_operator(SOLVER_FLOAT, 2, twice_in_single, NULL, NULL, single_b, single_x, NULL, NULL));
    CHECK(single_x[0] == 1.5F && single_x[1] == 2.5F);
    options.mixed = 1;
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, 3, small_product, &calls, NULL, b, x, &options, NULL),
                  SOLVER_INVALID_ARGUMENT, "need the entries of A");
    options.mixed = 0;
    options.guarantee = "bound";
    CHECK_REFUSED(solver_solve_operator(SOLVER_DOUBLE, 3, small_product, &calls, NULL, b, x, &options, NULL),
                  SOLVER_INVALID_ARGUMENT, "need the entries of A");
    solver_preconditioner_destroy(own);
    solver_preconditioner_destroy(small);
}

static void refuse_wrong_numbers_of_blocks(const solver_matrix* matrix, solver_factors factors) {
    static const int32_t blocks[] = {1, 2};
    solver_preconditioner* made = NULL;
    factors.block_of_row_size = 3;
    CHECK_REFUSED(solver_preconditioner_create(matrix, "ilu0", SOLVER_EXACT, &factors, &made), SOLVER_INVALID_ARGUMENT,
                  "block_of_row is NULL");
    factors.block_of_row = blocks;
    factors.block_of_row_size = 2;
    CHECK_REFUSED(solver_preconditioner_create(matrix, "ilu0", SOLVER_EXACT, &factors, &made), SOLVER_DIMENSION_MISMATCH,
                  "block_of_row has 2 elements and A 3 rows");
    CHECK_REFUSED(solver_preconditioner_create(matrix, "klu", SOLVER_EXACT, &factors, &made), SOLVER_DIMENSION_MISMATCH,
                  "block_of_row has 2 elements and A 3 rows");
    factors.block_of_row_size = 0;
    CHECK_REFUSED(solver_preconditioner_create(matrix, "klu", SOLVER_EXACT, &factors, &made), SOLVER_INVALID_ARGUMENT,
                  "block_of_row_size is 0");
}

/* Promise: solver.h, "`kind` is "none", "jacobi", "ilu0"" */
/* Promise: solver.h, "It does not refer to the matrix afterwards." */
/* Promise: solver.h, "Of a dense matrix it takes the nonzero elements." */
/* Promise: solver.h, "more memory than was allowed" */
/* Promise: solver.h, "ilut, klu, amg, schur: bytes they may take;" */
/* Promise: solver.h, "ilut: entries below this times" */
/* Promise: solver.h, "0 where there are none." */
/* Promise: solver.h, "`size` is sizeof(solver_factors)." */
/* Promise: solver.h, "how many elements it has" */
static void make_every_preconditioner(void) {
    static const char* const kinds[] = {"none", "jacobi", "ilu0", "isai", "ilut", "klu", "amg"};
    size_t k;
    int64_t entries = -1, entries_of_dense = -1;
    uint64_t hash = 0, hash_of_dense = 0;
    double elements[] = {4, 1, 0, 1, 4, 1, 0, 1, 4}, r[] = {6, 12, 14}, z[3], again[3];
    solver_dense described = dense(3, 3, elements);
    solver_factors factors;
    solver_preconditioner* made = NULL;
    solver_matrix *const matrix = small_matrix(), *of_dense = NULL;
    CHECK_OK(solver_factors_init(&factors, sizeof factors));
    CHECK(factors.size == sizeof factors && factors.fill_factor > 0);
    CHECK_REFUSED(solver_factors_init(&factors, 1), SOLVER_INVALID_ARGUMENT, "size");
    factors.size = sizeof factors;
    for (k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        CHECK_OK(solver_preconditioner_create(matrix, kinds[k], SOLVER_EXACT, &factors, &made));
        CHECK_OK(solver_preconditioner_facts(made, &entries, &hash));
        CHECK((k < 2) == (entries == 0) && (k < 2) == (hash == 0));
        solver_preconditioner_destroy(made);
    }
    CHECK_REFUSED(solver_preconditioner_create(matrix, "schur", SOLVER_EXACT, NULL, &made), SOLVER_INVALID_ARGUMENT,
                  "A is no saddle point");
    CHECK_REFUSED(solver_preconditioner_create(matrix, "magic", SOLVER_EXACT, NULL, &made), SOLVER_INVALID_ARGUMENT, "magic");
    CHECK_REFUSED(solver_preconditioner_create(matrix, NULL, SOLVER_EXACT, NULL, &made), SOLVER_INVALID_ARGUMENT,
                  "kind is NULL");
    described.borrow = 1;
    CHECK_OK(solver_preconditioner_create(matrix, "ilu0", SOLVER_EXACT, NULL, &made));
    CHECK_OK(solver_preconditioner_facts(made, &entries, &hash));
    CHECK_OK(solver_preconditioner_apply(made, r, z, SOLVER_EXACT));
    solver_preconditioner_destroy(made);
    CHECK_OK(solver_dense_create(&described, SOLVER_PROCESSOR, &of_dense));
    CHECK_OK(solver_preconditioner_create(of_dense, "ilu0", SOLVER_EXACT, NULL, &made));
    CHECK_OK(solver_preconditioner_facts(made, &entries_of_dense, &hash_of_dense));
    CHECK(entries_of_dense == entries && hash_of_dense == hash);
    solver_matrix_destroy(of_dense);
    memset(elements, 0, sizeof elements);
    CHECK_OK(solver_preconditioner_apply(made, r, again, SOLVER_EXACT)); /* without the matrix */
    CHECK(memcmp(z, again, sizeof z) == 0);
    solver_preconditioner_destroy(made);
    CHECK_OK(solver_preconditioner_create(matrix, "ilut", SOLVER_EXACT, NULL, &made));
    CHECK_OK(solver_preconditioner_facts(made, &entries, &hash));
    solver_preconditioner_destroy(made);
    factors.drop_tolerance = 0.9; /* of 2 and 2.5: the entries beside the diagonal are 1 */
    CHECK_OK(solver_preconditioner_create(matrix, "ilut", SOLVER_EXACT, &factors, &made));
    CHECK_OK(solver_preconditioner_facts(made, &entries_of_dense, &hash));
    CHECK(entries_of_dense < entries);
    solver_preconditioner_destroy(made);
    refuse_wrong_numbers_of_blocks(matrix, factors);
    factors.memory_limit = -1;
    CHECK_REFUSED(solver_preconditioner_create(matrix, "klu", SOLVER_EXACT, &factors, &made), SOLVER_INVALID_ARGUMENT,
                  "the memory limit of the factors is negative");
    factors.memory_limit = 1;
    CHECK_REFUSED(solver_preconditioner_create(matrix, "klu", SOLVER_EXACT, &factors, &made), SOLVER_RESOURCE_LIMIT, "limit");
    CHECK(made == NULL);
    CHECK_REFUSED(solver_preconditioner_from(SOLVER_DOUBLE, 3, NULL, NULL, &made), SOLVER_INVALID_ARGUMENT, "apply is NULL");
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "`preconditioner` may be NULL: then" */
/* Promise: solver.h, "as in solver_options, "auto" apart" */
/* Promise: solver.h, "The profile that the choice of preconditioners" */
/* Promise: solver.h, ""processor", "gpu", or "auto"" */
/* Promise: solver.h, "what the choice of preconditioners takes" */
static void choose_the_method(void) {
    static const char* const methods[] = {"auto", "bicgstab", "cg"};
    const double b[] = {6, 12, 14};
    size_t k;
    solver_matrix* const matrix = small_matrix();
    solver_preconditioner* jacobi = NULL;
    solver_options options = options_with("jacobi");
    solver_attempt attempt;
    attempt.size = sizeof attempt;
    CHECK_OK(solver_preconditioner_create(matrix, "jacobi", SOLVER_EXACT, NULL, &jacobi));
    options.profile = "gpu";
    for (k = 0; k < 3; ++k) {
        double x[3] = {0}, by_given[3] = {0};
        solver_result* result = NULL;
        options.method = methods[k];
        CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
        CHECK_OK(solver_result_attempt(result, 0, &attempt));
        CHECK(strcmp(attempt.method, k == 1 ? "bicgstab" : "cg") == 0 && attempt.repeated == 0); /* A is symmetric */
        CHECK(strcmp(solver_result_profile(result), "gpu") == 0);
        CHECK_OK(solver_solve(matrix, jacobi, 1, b, by_given, NULL, &options, NULL));
        CHECK(k == 0 || memcmp(x, by_given, sizeof x) == 0);
        solver_result_destroy(result);
    }
    solver_preconditioner_destroy(jacobi);
    solver_matrix_destroy(matrix);
}

/* Symmetric, its diagonal positive, and indefinite, which conjugate gradients see in their second step. */
/* Promise: solver.h, "1 where the next attempt is the same" */
/* Promise: solver.h, "A or M was not positive definite" */
/* Promise: solver.h, ""bicgstab", "cg" for symmetric" */
/* Promise: solver.h, "A or M in cg, or M in minres, is not positive definite" */
static void tell_what_is_repeated(void) {
    static const double indefinite[] = {1, 2, 2, 1, 3, 3, 1}, negative[] = {4, 1, 1, -4, 1, 1, 4},
                        unsymmetric[] = {4, 2, 1, 4, 1, 1, 4};
    const double b[] = {0.3, -0.7, 0.9};
    double x[3] = {0};
    int64_t k;
    solver_csr csr = small_csr();
    solver_matrix* matrix = NULL;
    solver_result* result = NULL;
    solver_options options = options_with("jacobi");
    solver_attempt attempt;
    attempt.size = sizeof attempt;
    csr.values = indefinite;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    for (k = 0; k < 2; ++k) {
        CHECK_OK(solver_result_attempt(result, k, &attempt));
        CHECK(strcmp(attempt.method, k == 0 ? "cg" : "minres") == 0 && attempt.repeated == (k == 0));
        CHECK((attempt.status == SOLVER_INDEFINITE) == (k == 0));
    }
    solver_result_destroy(result);
    solver_matrix_destroy(matrix);
    csr.values = negative;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_attempt(result, 0, &attempt));
    CHECK(strcmp(attempt.method, "minres") == 0);
    solver_result_destroy(result);
    solver_matrix_destroy(matrix);
    csr.values = unsymmetric;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix));
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_attempt(result, 0, &attempt));
    CHECK(strcmp(attempt.method, "bicgstab") == 0);
    solver_result_destroy(result);
    solver_matrix_destroy(matrix);
}

/* The attempt says what was done: with which preconditioner, in which precision, and how far it came. */
/* Promise: solver.h, "its kind; the strings belong" */
/* Promise: solver.h, "1 where the iteration ran in single precision" */
/* Promise: solver.h, "1: for doubles, the iteration in single" */
static void tell_of_the_attempt(void) {
    const double b[] = {6, 12, 14};
    int32_t mixed;
    solver_matrix* const matrix = small_matrix();
    for (mixed = 0; mixed < 2; ++mixed) {
        double x[3] = {0};
        solver_options options = options_with("jacobi");
        solver_result* result = NULL;
        solver_outcome outcome;
        solver_attempt attempt;
        outcome.size = sizeof outcome;
        attempt.size = sizeof attempt;
        options.mixed = mixed;
        CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
        CHECK_OK(solver_result_outcome(result, 0, &outcome));
        CHECK_OK(solver_result_attempt(result, 0, &attempt));
        CHECK(strcmp(attempt.preconditioner, "jacobi") == 0 && attempt.mixed == mixed && attempt.refusal[0] == '\0');
        CHECK(attempt.status == SOLVER_CONVERGED && attempt.iterations >= 1 && attempt.solve_seconds > 0);
        CHECK(attempt.iterations == outcome.iterations && attempt.relative_residual == outcome.relative_residual);
        solver_result_destroy(result);
    }
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "Not to converge is an outcome" */
/* Promise: solver.h, "SOLVER_OK says only that" */
/* Promise: solver.h, "Inf or NaN in A, b, x or on the way" */
/* Promise: solver.h, "or on ||b - A x||, of each column" */
/* Promise: solver.h, "What is known to stand in the way" */
/* Promise: solver.h, "scalars of the recursion vanished" */
/* Promise: solver.h, "after breakdowns" */
/* Promise: solver.h, "It belongs to the result." */
/* Promise: solver.h, "How a solve ended." */
/* Promise: solver.h, "one of the above; libraries to come" */
static void end_badly_as_an_outcome(void) {
    static const double without_a_row[] = {4, 1, 0, 0, 0, 1, 4}, zeros[7] = {0};
    solver_preconditioner* none = NULL;
    const double b[] = {6, NAN, 14}, good[] = {6, 12, 14};
    double x[3] = {0};
    solver_csr csr = small_csr();
    solver_matrix *const matrix = small_matrix(), *singular = NULL;
    solver_options options = options_with("none");
    solver_result *result = NULL, *other = NULL;
    solver_outcome outcome;
    const char* obstacle;
    char words[1000];
    outcome.size = sizeof outcome;
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK_OK(solver_result_outcome(result, 0, &outcome));
    CHECK(outcome.status == SOLVER_NON_FINITE);
    solver_result_destroy(result);
    memset(x, 0, sizeof x);
    options.max_iterations = 0;
    CHECK_OK(solver_solve(matrix, NULL, 1, good, x, NULL, &options, &result));
    CHECK_OK(solver_result_outcome(result, 0, &outcome));
    CHECK(outcome.status == SOLVER_ITERATION_LIMIT && outcome.relative_residual == 1);
    solver_result_destroy(result);
    csr.values = zeros;
    options.method = "bicgstab";
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &singular));
    CHECK_OK(solver_preconditioner_create(singular, "none", SOLVER_EXACT, NULL, &none));
    options.max_iterations = 100;
    CHECK_OK(solver_solve(singular, none, 1, good, x, NULL, &options, &result));
    CHECK_OK(solver_result_outcome(result, 0, &outcome));
    CHECK(outcome.status == SOLVER_BREAKDOWN && outcome.restarts > 0);
    solver_result_destroy(result);
    solver_preconditioner_destroy(none);
    solver_matrix_destroy(singular);
    options = options_with("none");
    options.max_iterations = 0;
    csr.values = without_a_row;
    CHECK_OK(solver_csr_create(&csr, SOLVER_PROCESSOR, &singular));
    CHECK_OK(solver_solve(singular, NULL, 1, good, x, NULL, &options, &result));
    obstacle = solver_result_obstacle(result);
    CHECK(strlen(obstacle) > 0 && strlen(obstacle) < sizeof words);
    strcpy(words, obstacle);
    CHECK_OK(solver_solve(matrix, NULL, 1, good, x, NULL, NULL, &other));
    CHECK(strcmp(solver_result_obstacle(other), "") == 0);
    CHECK(solver_result_obstacle(result) == obstacle && strcmp(obstacle, words) == 0);
    solver_result_destroy(other);
    solver_result_destroy(result);
    solver_matrix_destroy(singular);
    memset(x, 0, sizeof x);
    options.absolute_tolerance = 100;
    CHECK_OK(solver_solve(matrix, NULL, 1, good, x, NULL, &options, &result));
    CHECK_OK(solver_result_outcome(result, 0, &outcome));
    CHECK(outcome.status == SOLVER_CONVERGED);
    solver_result_destroy(result);
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "a value outside its range" */
/* Promise: solver.h, "`size` is sizeof(solver_options)." */
/* Promise: solver.h, "Fills in the defaults:" */
/* Promise: solver.h, "1e-10, 0, 10000 iterations" */
static void refuse_bad_options(void) {
    const double b[] = {6, 12, 14};
    double x[3] = {0};
    solver_matrix* const matrix = small_matrix();
    solver_options options = options_with("auto");
    options.tolerance = NAN;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "tolerance");
    options = options_with("auto");
    options.absolute_tolerance = -1;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "absolute tolerance");
    options = options_with("auto");
    options.tolerance = 0;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "positive");
    options = options_with("auto");
    options.method = "qmr";
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "bicgstab, cg, gmres");
    options = options_with("none");
    options.method = "gmres";
    options.restart = -1;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "restart is -1");
    options.restart = 2;
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL));
    options = options_with("auto");
    options.profile = "abacus";
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "abacus");
    options = options_with("magic");
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "magic");
    options = options_with("auto");
    options.callback_interval = 0;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT, "interval");
    options = options_with("auto");
    options.reserved = 1;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT,
                  "`reserved` of the options");
    options = options_with("auto");
    options.max_iterations = -1;
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, b, x, NULL, &options, NULL), SOLVER_INVALID_ARGUMENT,
                  "solver_solve: the number of iterations is negative");
    CHECK_REFUSED(solver_solve(matrix, NULL, 1, NULL, x, NULL, NULL, NULL), SOLVER_INVALID_ARGUMENT, "b is NULL");
    CHECK_REFUSED(solver_solve(matrix, NULL, -1, b, x, NULL, NULL, NULL), SOLVER_INVALID_ARGUMENT, "-1 columns");
    CHECK_REFUSED(solver_solve(matrix, NULL, INT64_MAX, b, x, NULL, NULL, NULL), SOLVER_INVALID_ARGUMENT, "more right-hand");
    CHECK_REFUSED(solver_solve(NULL, NULL, 1, b, x, NULL, NULL, NULL), SOLVER_INVALID_ARGUMENT, "matrix is NULL");
    CHECK_REFUSED(solver_options_init(NULL, sizeof options), SOLVER_INVALID_ARGUMENT, "options is NULL");
    CHECK_REFUSED(solver_options_init(&options, 1), SOLVER_INVALID_ARGUMENT, "size");
    solver_matrix_destroy(matrix);
}

/* A program that was built with an older header knows the beginning of a struct only. */
/* Promise: solver.h, "A struct's first member is its size" */
/* Promise: solver.h, "C99, and what other languages can call" */
static void serve_older_programs(void) {
    const double b[] = {6, 12, 14};
    double x[3] = {0};
    solver_matrix* const matrix = small_matrix();
    union {
        solver_options options;
        unsigned char bytes[sizeof(solver_options)];
    } older;
    memset(&older, 0xFF, sizeof older);
    CHECK_OK(solver_options_init(&older.options, 24));
    CHECK(older.options.size == 24 && older.options.tolerance == 1e-10 && older.bytes[24] == 0xFF);
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &older.options, NULL));
    CHECK(fabs(x[0] - 1) < 1e-9);
    solver_matrix_destroy(matrix);
    CHECK(offsetof(solver_csr, size) == 0 && offsetof(solver_dense, size) == 0 && offsetof(solver_shape, size) == 0);
    CHECK(offsetof(solver_factors, size) == 0 && offsetof(solver_iteration, size) == 0);
    CHECK(offsetof(solver_options, size) == 0 && offsetof(solver_outcome, size) == 0 && offsetof(solver_attempt, size) == 0);
    CHECK(offsetof(solver_proof, size) == 0 && offsetof(solver_certificate_view, size) == 0);
}

static void create_and_destroy(void) {
    const double b[] = {6, 12, 14};
    double x[3] = {0};
    solver_matrix* const matrix = small_matrix();
    solver_preconditioner* preconditioner = NULL;
    solver_result* result = NULL;
    const solver_options options = options_with("ilu0");
    CHECK_OK(solver_preconditioner_create(matrix, "klu", SOLVER_EXACT, NULL, &preconditioner));
    CHECK_OK(solver_solve(matrix, NULL, 1, b, x, NULL, &options, &result));
    CHECK(solver_spmv(matrix, 1, NULL, 0, x, SOLVER_EXACT) == SOLVER_INVALID_ARGUMENT);
    solver_result_destroy(result);
    solver_preconditioner_destroy(preconditioner);
    solver_matrix_destroy(matrix);
}

/* Promise: solver.h, "Handles are destroyed by their" */
static void keep_nothing_in_ten_thousand_rounds(void) {
    size_t before, after;
    int round;
    for (round = 0; round < 100; ++round) create_and_destroy();
    before = mallinfo2().uordblks;
    for (round = 0; round < 10000; ++round) create_and_destroy();
    after = mallinfo2().uordblks;
    CHECK(after < before + 10000);
}

int main(int argc, char** argv) {
    tell_of_the_library();
    set_threads();
    reduce_vectors();
    expand_complex_sums();
    compute_with_complex_numbers(argc > 1 ? argv[1] : ".");
    see_complex_numbers_by_their_parts();
    refuse_bad_vectors();
    multiply();
    multiply_by_complex_factors();
    sum_repeated_columns();
    refuse_bad_matrices();
    take_other_integers();
    borrow_and_update();
    borrow_and_update_dense();
    refuse_bad_sizes_of_dense();
    read_and_write(argc > 1 ? argv[1] : ".");
    multiply_dense();
    multiply_dense_of_complex_numbers();
    refuse_bad_products_without_signs();
    refuse_what_is_no_float();
    solve_triangles();
    solve_with_defaults();
    prove();
    certify();
    refuse_certificates_of_other_entries();
    solve_and_tell();
    solve_with_preconditioners();
    solve_with_operators();
    make_every_preconditioner();
    choose_the_method();
    tell_what_is_repeated();
    tell_of_the_attempt();
    end_badly_as_an_outcome();
    refuse_bad_options();
    serve_older_programs();
    keep_nothing_in_ten_thousand_rounds();
    printf("all of solver.h works from C\n");
    return 0;
}
