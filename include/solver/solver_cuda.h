/* The library in C for data that lie on a CUDA device: solver.h says the rest.
 *
 * Pointers are to the device's memory, aligned as their type, unless a function says otherwise, and results stay there.
 * `stream` is a cudaStream_t of the device, NULL the default stream; work is put on it and is not waited for, unless a function
 * says so. What goes wrong in a kernel is reported, as always in CUDA, by a later call that waits. Products, reductions and
 * triangular solves allocate nothing, so that they can be captured into a CUDA graph; a dense product may.
 *
 * A handle has working memory of its own: one call at a time, even where it is const. SOLVER_NOT_SUPPORTED in a library built
 * without CUDA. */
#ifndef SOLVER_SOLVER_CUDA_H
#define SOLVER_SOLVER_CUDA_H

#include "solver/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sparse matrix in the device's memory, made ready for products. */
typedef struct solver_cuda_matrix solver_cuda_matrix;

/* Looks at the arrays of `csr`, which lie on the device and must outlive the matrix unchanged, whatever `borrow` says; offsets
 * have 4 or 8 bytes and indices 4. They are checked there. Of complex numbers the real form (complex.hpp) is made on the
 * device, and the arrays need not outlive the matrix. Waits for the stream. */
solver_status solver_cuda_matrix_create(const solver_csr* csr, int32_t device, void* stream, solver_cuda_matrix** matrix);
void solver_cuda_matrix_destroy(solver_cuda_matrix* matrix);

/* y = alpha A x + beta y; they must not overlap. alpha and beta are real and the host's; of complex numbers each part of y is
 * rounded as an element of real ones is. */
solver_status solver_cuda_spmv(const solver_cuda_matrix* matrix, double alpha, const void* x, double beta, void* y,
                               int32_t accuracy, void* stream);

/* solver_complex_spmv on the device; the factors are the host's. */
solver_status solver_cuda_complex_spmv(const solver_cuda_matrix* matrix, const double alpha[2], const void* x,
                                       const double beta[2], void* y, int32_t accuracy, void* stream);

/* r = b - A (x + x_low); x_low may be NULL. r may be b, not x. */
solver_status solver_cuda_residual(const solver_cuda_matrix* matrix, const void* b, const void* x, const void* x_low, void* r,
                                   int32_t accuracy, void* stream);

/* Working memory for sums, dot products, norms and dense products on a device. */
typedef struct solver_cuda_workspace solver_cuda_workspace;
solver_status solver_cuda_workspace_create(int32_t device, solver_cuda_workspace** workspace);
void solver_cuda_workspace_destroy(solver_cuda_workspace* workspace);

/* *result, on the device, is one number of the type, of solver_cuda_norm2 a real one. Of complex numbers solver_cuda_dot
 * conjugates x and solver_cuda_dotu does not. */
solver_status solver_cuda_sum(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, int32_t accuracy,
                              void* result, void* stream);
solver_status solver_cuda_dot(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, const void* y,
                              int32_t accuracy, void* result, void* stream);
solver_status solver_cuda_dotu(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, const void* y,
                               int32_t accuracy, void* result, void* stream);
solver_status solver_cuda_norm2(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, int32_t accuracy,
                                void* result, void* stream);

/* C = alpha A B + beta C, real or complex. May wait for the stream, but not for the product. */
solver_status solver_cuda_gemm(solver_cuda_workspace* workspace, double alpha, const solver_dense* a, const solver_dense* b,
                               double beta, const solver_dense* c, int32_t accuracy, void* stream);

/* A triangle, real or complex, made ready for many solves; `matrix` is a sparse one in the host's memory, and not referred to
 * afterwards. */
typedef struct solver_cuda_triangle solver_cuda_triangle;
solver_status solver_cuda_triangle_create(const solver_matrix* matrix, int32_t triangle, int32_t diagonal, int32_t device,
                                          solver_cuda_triangle** made);
void solver_cuda_triangle_destroy(solver_cuda_triangle* triangle);

/* Solves A x = b, vectors of the matrix's type; x may be b. */
solver_status solver_cuda_triangular_solve(const solver_cuda_triangle* triangle, const void* b, void* x, int32_t accuracy,
                                           void* stream);

/* solver_csr_create for arrays that lie on the device, which are looked at there and must outlive the matrix unchanged,
 * whatever `borrow` says; offsets have 4 or 8 bytes and indices 4. They are checked there. Of complex numbers the real form
 * (complex.hpp) is made there, and the arrays need not outlive the matrix. Waits for the stream. A copy in the host's memory is
 * made when something first asks for it: a preconditioner, a triangular solve, solver_matrix_csr, a `solve` that is not told
 * its preconditioner. SOLVER_INVALID_ARGUMENT from solver_matrix_update: change the values there and create
 * anew. */
solver_status solver_cuda_csr_create(const solver_csr* csr, int32_t device, void* stream, solver_matrix** matrix);

/* solver_solve for vectors, real or complex, in the memory of the device that `matrix` was made for, by solver_cuda_csr_create,
 * or by solver_csr_create or solver_matrix_read with that device. Waits until what is on the stream is done; x is there when it
 * returns. SOLVER_INVALID_ARGUMENT where the matrix was made for the processor. Callbacks, solver_iteration_x and
 * preconditioners of solver_preconditioner_from see the host's memory. */
solver_status solver_cuda_solve(const solver_matrix* matrix, const solver_preconditioner* preconditioner, int64_t columns,
                                const void* b, void* x, void* x_low, const solver_options* options, void* stream,
                                solver_result** result);

/* y = A x of as many elements as A has rows, by work on the stream, which need not be waited for; returns 0. Anything else ends
 * the solve, which returns SOLVER_CALLBACK_FAILED. It is called from the thread that solves, and may wait and allocate. */
typedef int32_t (*solver_cuda_multiply)(void* context, const void* x, void* y, void* stream);

/* solver_solve_operator on a device, for an A that works there (cuda/linear_operator.hpp): b and x both lie there, or both in
 * the host's memory. All work is put on the stream, that of A and of the preconditioner in between; x is there when it
 * returns. The bits in SOLVER_EXACT are those of solver_solve_operator where the products have the same bits. A preconditioner
 * of solver_preconditioner_from sees the host's memory, one of solver_cuda_preconditioner_from the device's. */
solver_status solver_cuda_solve_operator(int32_t type, int64_t rows, solver_cuda_multiply multiply, void* context,
                                         const solver_preconditioner* preconditioner, int32_t device, const void* b, void* x,
                                         const solver_options* options, void* stream, solver_result** result);

/* A preconditioner of the caller's that works on the device: `apply` computes z = M^-1 r, both of `rows` elements of `type`, by
 * work on the stream, and returns 0. In solver_cuda_solve_operator it may do what A may. In solver_cuda_solve it only launches
 * kernels, which may be captured into a graph and launched more often than there are steps. Elsewhere it is
 * SOLVER_NOT_SUPPORTED. */
typedef int32_t (*solver_cuda_apply)(void* context, const void* r, void* z, int32_t accuracy, void* stream);
solver_status solver_cuda_preconditioner_from(int32_t type, int64_t rows, solver_cuda_apply apply, void* context,
                                              solver_preconditioner** preconditioner);

#ifdef __cplusplus
}
#endif

#endif
