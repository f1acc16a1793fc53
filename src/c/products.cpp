#include "c/arguments.hpp"
#include "c/matrix.hpp"
#include "c/status.hpp"
#include "operations/real_form_products.hpp"
#include "solver/complex.hpp"
#include "solver/gemm.hpp"

using namespace solver;
using namespace solver::c;

solver_status solver_spmv(const solver_matrix* matrix, double alpha, const void* x, double beta, void* y, int32_t accuracy) {
    constexpr const char* name = "solver_spmv";
    return guarded([&] {
        with_matrix(matrix, name, [&](const auto& of) {
            using T = element_t<decltype(of)>;
            const SpmvPlan<T>& plan = of.plan();
            plan.multiply(factor<T>(alpha, name, "alpha"), elements<const T>(x, plan.columns(), name, "x"),
                          factor<T>(beta, name, "beta"), elements<T>(y, plan.rows(), name, "y"), accuracy_of(accuracy, name));
        });
    });
}

solver_status solver_complex_spmv(const solver_matrix* matrix, const double alpha[2], const void* x, const double beta[2],
                                  void* y, int32_t accuracy) {
    constexpr const char* name = "solver_complex_spmv";
    return guarded([&] {
        with_matrix(matrix, name, [&](const auto& of) {
            using Number = std::complex<element_t<decltype(of)>>;
            require(matrix->is_complex, name, "the matrix is real; expected a complex one");
            const std::span<Number> out = elements<Number>(y, of.plan().rows() / 2, name, "y");
            const SpmvTask<Number> task{.alpha = complex_factor<Number>(alpha, name, "alpha"),
                                        .x = elements<const Number>(x, of.plan().columns() / 2, name, "x"),
                                        .beta = complex_factor<Number>(beta, name, "beta"),
                                        .y_in = out,
                                        .y = out};
            multiply_real_form<element_t<decltype(of)>>(of.plan(), std::span(&task, 1), accuracy_of(accuracy, name));
        });
    });
}

solver_status solver_residual(const solver_matrix* matrix, const void* b, const void* x, const void* x_low, void* r,
                              int32_t accuracy) {
    constexpr const char* name = "solver_residual";
    return guarded([&] {
        with_matrix(matrix, name, [&](const auto& of) {
            using T = element_t<decltype(of)>;
            const SpmvPlan<T>& plan = of.plan();
            plan.residual(elements<const T>(b, plan.rows(), name, "b"), elements<const T>(x, plan.columns(), name, "x"),
                          elements<const T>(x_low, x_low == nullptr ? 0 : plan.columns(), name, "x_low"),
                          elements<T>(r, plan.rows(), name, "r"), accuracy_of(accuracy, name));
        });
    });
}

solver_status solver_gemm(double alpha, const solver_dense* a, const solver_dense* b, double beta, const solver_dense* c,
                          int32_t accuracy, int32_t device) {
    constexpr const char* name = "solver_gemm";
    return guarded([&] {
        with_product(alpha, a, b, beta, c, name, [&]<class S>(const GemmTask<S>& task, Conjugation conjugation) {
            if constexpr (is_complex<S>)
                gemm(task, accuracy_of(accuracy, name), device_of(device, name), conjugation);
            else
                gemm(task, accuracy_of(accuracy, name), device_of(device, name));
        });
    });
}

solver_status solver_triangular_solve(const solver_matrix* matrix, int32_t triangle, int32_t diagonal, const void* b, void* x,
                                      int32_t accuracy) {
    constexpr const char* name = "solver_triangular_solve";
    return guarded([&] {
        const Triangle which = triangle_of(triangle, name);
        const Diagonal pivots = diagonal_of(diagonal, name);
        with_matrix(matrix, name, [&](const auto& of) {
            using T = element_t<decltype(of)>;
            const auto solve = [&]<class S>(S) {
                const std::int64_t n = of.plan().rows() / components<S>;
                of.solve_triangle(which, pivots, elements<const S>(b, n, name, "b"), elements<S>(x, n, name, "x"),
                                  accuracy_of(accuracy, name));
            };
            matrix->is_complex ? solve(std::complex<T>()) : solve(T());
        });
    });
}
