/* The library in C: sums, products, triangular solves and the solution of linear systems, in the accuracy asked for.
 *
 * C99, and what other languages can call: integers of fixed width instead of enumerations, structs that begin with their size,
 * opaque handles. Every function that can fail returns a solver_status, SOLVER_OK or what went wrong, and writes its results
 * through pointers; after a failure solver_last_error() says what was being done, what was seen and what was expected, and the
 * results are not to be used. No C++ exception leaves the library.
 *
 * `type` says what `void *` points to: arrays of that type, in the host's memory. Complex numbers are pairs of real and
 * imaginary part, as double _Complex of C and COMPLEX*16 of Fortran. Arrays of no elements may be NULL. Promises, error bounds,
 * Inf and NaN are those of the C++ functions (accuracy.hpp, reduce.hpp, spmv.hpp, gemm.hpp, triangular_solve.hpp, solve.hpp),
 * and the bits are theirs, too.
 *
 * Different threads may use one `const` handle at the same time; nobody may use a handle while it is updated or destroyed.
 * Handles are destroyed by their ..._destroy function, which takes NULL as well. The rounding direction and the flushing of
 * subnormals that the calling thread has set count for nothing during a call, and are as before when it returns. Threads of
 * the library's pool leave the signals of the process to those of the program.
 *
 * A struct's first member is its size, which whoever declares it sets to sizeof: libraries to come may know longer ones. */
#ifndef SOLVER_SOLVER_H
#define SOLVER_SOLVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 10000 major + 100 minor + patch, of this header. */
#define SOLVER_VERSION 100

typedef int32_t solver_status;

enum {
    SOLVER_OK = 0,
    SOLVER_INVALID_ARGUMENT = 1,   /* a value outside its range, a NULL, a matrix without a property that is needed */
    SOLVER_DIMENSION_MISMATCH = 2, /* shapes that do not fit together */
    SOLVER_RESOURCE_LIMIT = 3,     /* more memory than was allowed or is there */
    SOLVER_NOT_SUPPORTED = 4,      /* what this build, device or version cannot do */
    SOLVER_FILE_ERROR = 5,         /* a file that cannot be read, written or understood */
    SOLVER_CALLBACK_FAILED = 6,    /* a function of the caller's returned something other than 0 */
    SOLVER_INTERNAL_ERROR = 7      /* anything else; a mistake in the library, or in CUDA */
};

/* Of the library that runs, where SOLVER_VERSION is of the header. */
uint32_t solver_version(void);

/* One line: the version, and what there is of CUDA in this library and on this machine. */
const char* solver_build_info(void);

/* What went wrong in this thread's last call that failed, in words; valid until the next one that does. Never NULL. */
const char* solver_last_error(void);

/* "ok", "invalid argument" and so on. */
const char* solver_status_name(solver_status status);

/* Where work runs: the processor, the first CUDA device where there is one that can be used and else the processor, or a CUDA
 * device, counted from 0. */
enum { SOLVER_PROCESSOR = -1, SOLVER_BEST_DEVICE = -2 };

/* The CUDA devices that can be used; 0 in a library built without CUDA. */
solver_status solver_device_count(int32_t* count);

/* How many threads of the processor the calls and matrices of this thread use from now on; 0, as at the beginning: one for each
 * processor that the process may use, by its affinity and by the quota of its control group. No result of SOLVER_EXACT depends
 * on it.
 */
solver_status solver_set_threads(int32_t threads);

/* How many that are: 1 or more. */
int32_t solver_threads(void);

enum { SOLVER_DOUBLE = 0, SOLVER_FLOAT = 1, SOLVER_COMPLEX_DOUBLE = 2, SOLVER_COMPLEX_FLOAT = 3 };

/* What is promised of a sum s = sum a_i b_i (accuracy.hpp):
 *   fast         |error| <= gamma_n sum |a_i b_i|
 *   compensated  as if computed in twice the precision and then rounded
 *   exact        the real number, rounded once: the same bits on every machine, device and number of threads */
enum { SOLVER_FAST = 0, SOLVER_COMPENSATED = 1, SOLVER_EXACT = 2 };

/* ---- Vectors ---- */

/* n elements in the host's memory; *result is one number of the type. */
solver_status solver_sum(int32_t type, int64_t n, const void* x, int32_t accuracy, void* result);
solver_status solver_dot(int32_t type, int64_t n, const void* x, const void* y, int32_t accuracy, void* result);

/* sum x_i y_i, where solver_dot of complex numbers conjugates x. */
solver_status solver_dotu(int32_t type, int64_t n, const void* x, const void* y, int32_t accuracy, void* result);

/* sqrt(sum |x_i|^2), without overflow or underflow on the way; a real number also of complex vectors. */
solver_status solver_norm2(int32_t type, int64_t n, const void* x, int32_t accuracy, void* result);

/* The sum, or dot product, itself, without any rounding: numbers of falling magnitude that do not overlap, of which the first
 * is the result in SOLVER_EXACT. `components` has room for SOLVER_EXPANSION_DOUBLES or SOLVER_EXPANSION_FLOATS numbers, *count
 * are used. *is_exact is 1, or 0 where the sum is Inf or NaN, or has products below the smallest subnormal.
 *
 * Complex numbers: two expansions, each of real numbers. `components` has room for twice as many, the real part's from
 * components[0] on, the imaginary part's from components[SOLVER_EXPANSION_DOUBLES] (or _FLOATS) on; count[0] and is_exact[0]
 * are of the real part, count[1] and is_exact[1] of the imaginary part. */
enum { SOLVER_EXPANSION_DOUBLES = 40, SOLVER_EXPANSION_FLOATS = 12 };
solver_status solver_sum_expansion(int32_t type, int64_t n, const void* x, void* components, int32_t* count, int32_t* is_exact);
solver_status solver_dot_expansion(int32_t type, int64_t n, const void* x, const void* y, void* components, int32_t* count,
                                   int32_t* is_exact);
solver_status solver_dotu_expansion(int32_t type, int64_t n, const void* x, const void* y, void* components, int32_t* count,
                                    int32_t* is_exact);

/* ---- Matrices ---- */

/* A sparse matrix by rows: row i has the entries row_offsets[i] <= k < row_offsets[i + 1], entry k stands in column
 * column_indices[k], counted from 0, and has the value values[k]. Columns need not be sorted; a repeated column counts as a
 * sum. */
typedef struct solver_csr {
    uint64_t size;        /* sizeof(solver_csr) */
    int32_t type;         /* of the values */
    int32_t offset_bytes; /* 8 or 4: of each row offset, an int64_t or int32_t */
    int32_t index_bytes;  /* 4 or 8: of each column index */
    int32_t borrow; /* 1: the matrix looks at these arrays, which must outlive it unchanged; indices of 8 bytes are copied all
                       the same. 0: everything is copied */
    int64_t rows;
    int64_t columns;
    int64_t nonzeros;
    const void* row_offsets; /* rows + 1 of them, from 0 to nonzeros */
    const void* column_indices;
    const void* values;
    const char* storage;       /* what products read: "csr", "packed" (a copy beside it, compressed without loss), or "auto",
                                  as NULL: packed where so many products pay for it. No bit of SOLVER_EXACT depends on it */
    int64_t expected_products; /* with this matrix; 0 is 1 */
} solver_csr;

/* A dense matrix: element (i, j) is data[i * row_stride + j * column_stride]. By rows as in C: column_stride 1; by columns as
 * in Fortran and BLAS: row_stride 1. */
typedef struct solver_dense {
    uint64_t size;  /* sizeof(solver_dense) */
    int32_t type;   /* of the elements */
    int32_t borrow; /* as in solver_csr */
    int64_t rows;
    int64_t columns;
    int64_t row_stride;
    int64_t column_stride;
    void* data;         /* written to only where a function says so */
    int32_t conjugated; /* 1: its complex conjugate is meant; for A and B of solver_gemm and solver_cuda_gemm alone, else 0 */
} solver_dense;

typedef struct solver_shape {
    uint64_t size;    /* sizeof(solver_shape) */
    int32_t type;     /* of the values */
    int32_t is_dense; /* 1, or 0 for a sparse matrix */
    int64_t rows;
    int64_t columns;
    int64_t nonzeros;       /* the stored entries of a sparse matrix, all elements of a dense one */
    const char* storage;    /* what products read: "csr", "packed" or "dense" */
    double bytes_a_nonzero; /* that one product reads of the matrix */
} solver_shape;

/* A matrix made ready for many products, on a device or with this thread's number of threads. */
typedef struct solver_matrix solver_matrix;

/* Everything is checked: sizes, offsets that rise, columns within the matrix. A sparse matrix may be complex: it is kept as the
 * real matrix of twice the order, which products, preconditioners and solves work with, so that a complex vector of n elements
 * is a real one of 2 n there: in a preconditioner of the caller's, in solver_iteration_x, in proofs. */
solver_status solver_csr_create(const solver_csr* csr, int32_t device, solver_matrix** matrix);
solver_status solver_dense_create(const solver_dense* dense, int32_t device, solver_matrix** matrix);

/* A Matrix Market file, plain or compressed by gzip: coordinate gives a sparse matrix, array a dense one. */
solver_status solver_matrix_read(const char* path, int32_t type, int32_t device, solver_matrix** matrix);

/* Writes such a file, whole or not at all; a name that ends in .gz is compressed. Decimals read back to the same bits. */
solver_status solver_matrix_write(const char* path, const solver_matrix* matrix);

solver_status solver_matrix_shape(const solver_matrix* matrix, solver_shape* shape);

/* Of a complex matrix those of the real form.
 * The arrays of a sparse matrix (offsets of offset_bytes, indices of 4) or the elements of a dense one, which belong to the
 * matrix and are not to be written to. SOLVER_INVALID_ARGUMENT for a matrix of the other kind. */
solver_status solver_matrix_csr(const solver_matrix* matrix, solver_csr* csr);
solver_status solver_matrix_dense(const solver_matrix* matrix, solver_dense* dense);

/* New values in the same places: as many as `nonzeros` of its shape, in the order of the entries, those of a dense matrix
 * column by column. They are copied, in a matrix that borrows its values looked at (of a dense one with the strides that it was
 * made with). Not of a complex matrix. */
solver_status solver_matrix_update(solver_matrix* matrix, const void* values);

void solver_matrix_destroy(solver_matrix* matrix);

/* y = alpha A x + beta y. x has as many elements as A has columns, y as rows; they must not overlap. For a matrix of floats
 * alpha and beta must be floats. */
solver_status solver_spmv(const solver_matrix* matrix, double alpha, const void* x, double beta, void* y, int32_t accuracy);

/* y = alpha A x + beta y of a complex matrix by complex factors, each given by its real and its imaginary part; x and y must
 * not overlap. Where a factor has an imaginary part, real and imaginary parts of y are rounded once in every mode.
 * SOLVER_INVALID_ARGUMENT for a real matrix. For a matrix of floats the parts must be floats. */
solver_status solver_complex_spmv(const solver_matrix* matrix, const double alpha[2], const void* x, const double beta[2],
                                  void* y, int32_t accuracy);

/* r = b - A (x + x_low); x_low may be NULL. r may be b, not x. */
solver_status solver_residual(const solver_matrix* matrix, const void* b, const void* x, const void* x_low, void* r,
                              int32_t accuracy);

/* C = alpha A B + beta C of matrices in the host's memory, real or complex; C's data is written, and overlaps neither A nor B.
 * `borrow` is not looked at. */
solver_status solver_gemm(double alpha, const solver_dense* a, const solver_dense* b, double beta, const solver_dense* c,
                          int32_t accuracy, int32_t device);

/* Solves A x = b for a triangular matrix; x may be b. Of a sparse matrix, columns sorted in each row, what is not of the
 * triangle is refused, of a dense one it is not looked at. A complex matrix, whose entries that are zero are none, is solved
 * with by complex quotients (complex.hpp). */
enum { SOLVER_LOWER = 0, SOLVER_UPPER = 1 };
enum { SOLVER_STORED_DIAGONAL = 0, SOLVER_UNIT_DIAGONAL = 1 }; /* unit: it is 1 and not stored */
solver_status solver_triangular_solve(const solver_matrix* matrix, int32_t triangle, int32_t diagonal, const void* b, void* x,
                                      int32_t accuracy);

/* As BLAS's sgemm and dgemm, column-major, transa and transb 'N' or 'T', for matrices without negative entries, by Strassen's
 * algorithm on CUDA device 0 (nonnegative_gemm.hpp); the matrices in the host's memory or, all three, in the device's. */
solver_status solver_sngemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                            const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
solver_status solver_dngemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                            int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc);

/* ---- Preconditioners M ~ A, applied as z = M^-1 r ---- */

typedef struct solver_preconditioner solver_preconditioner;

typedef struct solver_factors {
    uint64_t size;         /* sizeof(solver_factors) */
    double drop_tolerance; /* ilut: entries below this times the mean magnitude of their row are dropped */
    double fill_factor;    /* ilut: at most this times the mean number of entries of a row in each row of L and U */
    int64_t memory_limit;  /* ilut, klu, amg, schur: bytes they may take; 0: half of what the process may use */
    const int32_t*
        block_of_row; /* ilu0, isai, ilut, klu: the block of each row, by any numbers; entries between rows of different blocks
                         are left out, and each block is factored as if it stood alone; with NULL all rows are one */
    int64_t block_of_row_size; /* how many elements it has, A's rows */
} solver_factors;

/* Fills in the defaults; `size` is sizeof(solver_factors). */
solver_status solver_factors_init(solver_factors* factors, uint64_t size);

/* `kind` is "none", "jacobi", "ilu0", "isai", "ilut", "klu", "amg" or "schur" (preconditioner.hpp), `factors` NULL for the
 * defaults. It does not refer to the matrix afterwards. Of a dense matrix it takes the nonzero elements. */
solver_status solver_preconditioner_create(const solver_matrix* matrix, const char* kind, int32_t accuracy,
                                           const solver_factors* factors, solver_preconditioner** preconditioner);

/* A preconditioner of the caller's: `apply` computes z = M^-1 r, both of `rows` elements of `type`, and returns 0. Anything
 * else ends the solve, which returns SOLVER_CALLBACK_FAILED. It is called from the thread that solves. */
typedef int32_t (*solver_apply)(void* context, const void* r, void* z, int32_t accuracy);
solver_status solver_preconditioner_from(int32_t type, int64_t rows, solver_apply apply, void* context,
                                         solver_preconditioner** preconditioner);

/* z = M^-1 r; they must not overlap. */
solver_status solver_preconditioner_apply(const solver_preconditioner* preconditioner, const void* r, void* z,
                                          int32_t accuracy);

/* How many numbers the factors hold, and a hash of all their bits; 0 where there are none. */
solver_status solver_preconditioner_facts(const solver_preconditioner* preconditioner, int64_t* entries, uint64_t* hash);

void solver_preconditioner_destroy(solver_preconditioner* preconditioner);

/* ---- Solves ---- */

/* One step of an iteration. */
typedef struct solver_iteration {
    uint64_t size;             /* sizeof(solver_iteration), set by the library; the distance of two in a history */
    int64_t number;            /* 0 is the initial guess */
    int64_t column;            /* of several right-hand sides, from 0 */
    double recursive_residual; /* ||r|| / ||b|| of the updated residual */
    double true_residual;      /* ||b - A x|| / ||b|| where it was computed in this step, else negative */
    int32_t replaced;          /* 1 where r was replaced by the true residual */
    int32_t reserved;
    const void* iterate; /* for solver_iteration_x, while the callback runs; NULL in a history, and on a CUDA device between
                            two callback intervals */
} solver_iteration;

/* For callbacks: writes the n elements of x as this step left it, in single precision the sum of x and x_low. It is computed
 * when it is asked for, and changes nothing of the solve. */
solver_status solver_iteration_x(const solver_iteration* iteration, int64_t n, double* x);

/* Told of every iteration; anything but 0 stops. Called from the thread that solves. */
typedef int32_t (*solver_callback)(void* context, const solver_iteration* iteration);

typedef struct solver_options {
    uint64_t size;              /* sizeof(solver_options) */
    double tolerance;           /* on ||b - A x|| / ||b|| */
    double absolute_tolerance;  /* or on ||b - A x||, of each column, whichever is met first; one of both is above 0 */
    int64_t max_iterations;     /* over all attempts */
    int32_t accuracy;           /* of every product, dot, norm and preconditioner step */
    int32_t mixed;              /* 1: for doubles, the iteration in single precision, and in double where that fails */
    int32_t keep_history;       /* 1: the result has every iteration */
    int32_t reserved;           /* 0 */
    const char* preconditioner; /* "auto", or a kind as for solver_preconditioner_create; without effect where one is given */
    const solver_factors* factors; /* for preconditioners that are made; NULL for the defaults */
    solver_callback callback;      /* or NULL */
    void* context;                 /* for the callback */
    int64_t callback_interval;     /* the callback's answer counts after every so many iterations */
    const char* method;            /* "bicgstab", "cg" for symmetric positive definite A and M, "gmres", "minres" for symmetric
                                      A and symmetric positive definite M, "idr", "bicgstab2", "cocg" for complex A and M
                                      that are their own transposes, or "auto", as NULL: where A and the preconditioner are
                                      symmetric cg, or minres if A's diagonal is not positive or cg finds A indefinite,
                                      where they are complex and their own transposes cocg, with "schur" idr, else
                                      bicgstab, as with a preconditioner that is given */
    const char* profile;   /* what the choice of preconditioners takes operations to cost: "processor", "gpu", or "auto", as
                              NULL: in SOLVER_EXACT "processor" on every device, so that x has the same bits everywhere; in the
                              other accuracies that of the device. For "gpu" iterations are cheap and the host's work is
                              dear; it has other bits */
    const char* guarantee; /* what is to be proven of x: "none", as NULL, "bound" or "rounded" (solver_result_proof); not with a
                              preconditioner that is given */
    int64_t restart;       /* of gmres: steps of a cycle; 0 stands for 30 */
} solver_options;

/* Fills in the defaults: 1e-10, 0, 10000 iterations, SOLVER_EXACT, "auto" thrice. `size` is sizeof(solver_options). */
solver_status solver_options_init(solver_options* options, uint64_t size);

typedef struct solver_result solver_result;

/* Solves A x = b by a preconditioned Krylov method, where A is, for `columns` right-hand sides, one after another in memory;
 * x holds the initial guesses and then the best iterates. x_low is NULL, or like x: then the solutions are the pairs
 * x + x_low.
 *
 * `preconditioner` may be NULL: then options->preconditioner says which to make, "auto" tries several of growing strength
 * (solve.hpp). With one that is given `mixed` is not possible. `options` may be NULL for the defaults, `result` where nobody
 * asks.
 *
 * Not to converge is an outcome, not an error: SOLVER_OK says only that there is an outcome, solver_result_outcome which. */
solver_status solver_solve(const solver_matrix* matrix, const solver_preconditioner* preconditioner, int64_t columns,
                           const void* b, void* x, void* x_low, const solver_options* options, solver_result** result);

/* y = A x, both of as many elements as A has rows; returns 0. Anything else ends the solve, which returns
 * SOLVER_CALLBACK_FAILED. It is called from the thread that solves. */
typedef int32_t (*solver_multiply)(void* context, const void* x, void* y);

/* Solves A x = b where nothing is known of the square A but its products (linear_operator.hpp), for one right-hand side, on the
 * processor; x holds the initial guess and then the best iterate, b and x elements of `type`, SOLVER_DOUBLE or SOLVER_FLOAT.
 * options->method is taken, "auto" being "bicgstab"; options->preconditioner has no effect, as all that the library makes
 * need entries of A: `preconditioner` is one of the caller's (solver_preconditioner_from), or NULL for none. Nothing is mixed,
 * and nothing guaranteed: such options are refused. A true residual is as good as the products are. */
solver_status solver_solve_operator(int32_t type, int64_t rows, solver_multiply multiply, void* context,
                                    const solver_preconditioner* preconditioner, const void* b, void* x,
                                    const solver_options* options, solver_result** result);

/* How a solve ended. */
enum {
    SOLVER_CONVERGED = 0, /* the true residual meets the tolerance, or, by SOLVER_GUARANTEE_ROUNDED, x is proven to be the
                             solution rounded, whatever the residual of its rounded numbers is; nothing else is called so */
    SOLVER_ITERATION_LIMIT = 1,
    SOLVER_BREAKDOWN = 2,  /* scalars of the recursion vanished again and again */
    SOLVER_STAGNATED = 3,  /* the limit of this precision, accuracy or preconditioner */
    SOLVER_NON_FINITE = 4, /* Inf or NaN in A, b, x or on the way */
    SOLVER_INDEFINITE = 5, /* A or M in cg, or M in minres, is not positive definite */
    SOLVER_STOPPED = 100   /* by the callback */
};

typedef struct solver_outcome {
    uint64_t size;  /* sizeof(solver_outcome) */
    int32_t status; /* one of the above; libraries to come may have others */
    int32_t reserved;
    int64_t iterations;
    double relative_residual;  /* ||b - A x|| / ||b|| of the x returned, recomputed at the end */
    double recursive_residual; /* what the recursion believed */
    int64_t replacements;      /* how often r was replaced by a true residual */
    int64_t restarts;          /* after breakdowns */
} solver_outcome;

/* "converged", "iteration limit", "breakdown", "stagnated", "non-finite", "indefinite" or "stopped". */
const char* solver_outcome_name(int32_t status);

/* A preconditioner that a solve tried. */
typedef struct solver_attempt {
    uint64_t size;              /* sizeof(solver_attempt) */
    const char* preconditioner; /* its kind; the strings belong to the result */
    const char* refusal;        /* why it could not be made; empty where it was */
    int32_t mixed;              /* 1 where the iteration ran in single precision */
    int32_t status;             /* of the first right-hand side that was left to solve */
    int64_t iterations;         /* the most that any of them took */
    double relative_residual;   /* of the first */
    int64_t factor_entries;
    uint64_t factor_hash;
    double setup_seconds;
    double solve_seconds;
    const char* method; /* as in solver_options, "auto" apart, or "lsmr" of least squares */
    int32_t repeated;   /* 1 where the next attempt is the same with another method: A or M was not positive definite */
    int32_t reserved;
} solver_attempt;

/* `size` of what is asked for is set by the caller. Columns and attempts count from 0; there are no attempts where the
 * preconditioner was given. */
solver_status solver_result_outcome(const solver_result* result, int64_t column, solver_outcome* outcome);
solver_status solver_result_attempts(const solver_result* result, int64_t* count);
solver_status solver_result_attempt(const solver_result* result, int64_t index, solver_attempt* attempt);

/* What is known to stand in the way, in one sentence, where not all was solved, far smaller rows of A among it; else empty. It
 * belongs to the result. */
const char* solver_result_obstacle(const solver_result* result);

/* The profile that the choice of preconditioners followed, "processor" or "gpu"; empty where there was no choice. */
const char* solver_result_profile(const solver_result* result);

/* How far a guarantee was proven. */
enum {
    SOLVER_PROOF_NOT_ASKED = 0,
    SOLVER_PROVEN = 1,          /* A is regular, and what was asked for holds */
    SOLVER_PROVEN_SINGULAR = 2, /* A has no inverse */
    SOLVER_UNPROVEN = 3         /* neither could be proven */
};

/* What was proven of a solution; the bounds are for the numbers as they are stored (solver/proof.hpp). */
typedef struct solver_proof {
    uint64_t size;  /* sizeof(solver_proof) */
    int32_t status; /* one of the above */
    int32_t reserved;
    const char* reason;    /* how it was proven, or why not; belongs to the result */
    double backward_error; /* x solves exactly a system whose entries differ by at most this, relatively; negative: not asked */
    double error_bound;    /* |x_i - x*_i| <= error_bound |x_i|, of complex numbers by their parts; 0 where x is proven to be x*
                            * itself, negative where nothing is proven, and for "rounded" */
    double certified_digits; /* in the mean over the components */
    int64_t rounded;         /* components that are proven to be x* rounded once, by the rules of ties and zeros */
    int64_t ties;            /* of these, ties */
    int64_t zeros;           /* of these, zeros */
    int64_t undecided;       /* the others */
    int64_t refinements;     /* corrections that were solved for, and their iterations */
    int64_t iterations;
    double estimated_error; /* where nothing is proven, and as an estimate alone: max |x - x*| / max |x|; else negative */
    int64_t dropped;        /* of the zeros, those by the rule alone: x*_i is small, and not known to be 0 */
} solver_proof;

/* Of a column, with SOLVER_PROOF_NOT_ASKED where options->guarantee asked for nothing. The size is set by the caller. */
solver_status solver_result_proof(const solver_result* result, int64_t column, solver_proof* proof);

/* The iterations of a column, which belong to the result; none without keep_history. */
solver_status solver_result_history(const solver_result* result, int64_t column, const solver_iteration** history,
                                    int64_t* count);

void solver_result_destroy(solver_result* result);

/* ---- Proofs that belong to a matrix (solver/guarantee.hpp) ---- */

typedef struct solver_certificate solver_certificate;

/* What a certificate says: |A^-1 r|_i <= reach[i] N(r) for every r, where N(r) is the largest of weights[j] |r[j]|, or their
 * sum. The pointers belong to the certificate. */
typedef struct solver_certificate_view {
    uint64_t size;       /* sizeof(solver_certificate_view) */
    int32_t status;      /* SOLVER_PROVEN, SOLVER_PROVEN_SINGULAR or SOLVER_UNPROVEN */
    int32_t adds_up;     /* 1: N(r) is the sum */
    const char* reason;  /* how it was proven, or what stood in the way */
    int64_t rows;        /* elements of the two below; 0 unless status is SOLVER_PROVEN */
    const double* reach; /* NULL where there are none */
    const double* weights;
    int64_t iterations; /* of the Krylov method, a search in vain included */
} solver_certificate_view;

/* Looks for a proof that the square matrix has an inverse, or that it has none. `options` are those of a solve, NULL for the
 * defaults; their guarantee and callback are not looked at. That nothing could be proven is an outcome, not an error. */
solver_status solver_certify(const solver_matrix* matrix, const solver_options* options, solver_certificate** certificate);

/* The size is set by the caller. */
solver_status solver_certificate_look(const solver_certificate* certificate, solver_certificate_view* view);

/* bounds[i] >= |x[i] + x_low[i] - x*[i]| for x* = A^-1 b, proven. b, x and x_low are of the matrix's type; x_low may be NULL.
 * SOLVER_INVALID_ARGUMENT where the certificate proves nothing. */
solver_status solver_error_bound(const solver_matrix* matrix, const solver_certificate* certificate, const void* b,
                                 const void* x, const void* x_low, double* bounds);

void solver_certificate_destroy(solver_certificate* certificate);

#ifdef __cplusplus
}
#endif

#endif
