#include "solver/cuda.hpp"

#include "c/arguments.hpp"
#include "c/matrix.hpp"
#include "c/status.hpp"
#include "solver/solver_cuda.h"

#include <complex>
#include <memory>
#include <utility>
#include <variant>

using namespace solver;
using namespace solver::c;

template <class T>
struct solver_cuda_matrix_of {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    cuda::SpmvPlan<T> plan;
};

/// `Of` of any type of numbers.
template <template <class> class Of>
using of_any_number = std::variant<Of<double>, Of<float>, Of<std::complex<double>>, Of<std::complex<float>>>;

struct solver_cuda_matrix {
    of_any_number<solver_cuda_matrix_of> of;
};

struct solver_cuda_workspace {
    cuda::Reducer reducer;
    cuda::Multiplier multiplier;
};

template <class T>
struct solver_cuda_triangle_of {
    std::int64_t rows = 0;
    cuda::TriangularSolvePlan<T> plan;
};

struct solver_cuda_triangle {
    of_any_number<solver_cuda_triangle_of> of;
};

namespace {

cuda::Stream stream_of(void* stream) { return static_cast<cuda::Stream>(stream); }

/// Throws where there is no such device, and says why.
int cuda_device(std::int32_t device) { return Device::cuda(device).index(); }

template <class T>
T* on_device(void* data, std::int64_t n, const char* function, const char* name) {
    return elements<T>(data, n, function, name).data();
}
template <class T>
const T* on_device(const void* data, std::int64_t n, const char* function, const char* name) {
    return elements<const T>(data, n, function, name).data();
}

RowOffsetPointer offsets_of(const solver_csr& csr, const char* name) {
    if (csr.offset_bytes == 4) return on_device<std::int32_t>(csr.row_offsets, csr.rows + 1, name, "row_offsets");
    return on_device<std::int64_t>(csr.row_offsets, csr.rows + 1, name, "row_offsets");
}

template <class T>
cuda::DeviceCsrView<T> view_of(const solver_csr& csr, int device, const char* name) {
    if ((csr.offset_bytes != 4 && csr.offset_bytes != 8) || csr.index_bytes != 4)
        throw NotSupported(fmt::format("{}: offsets of {} and indices of {} bytes; expected 4 or 8, and 4", name,
                                       csr.offset_bytes, csr.index_bytes));
    if (csr.rows < 0 || csr.columns < 0)
        throw InvalidArgument(fmt::format("{}: the matrix is {} x {}", name, csr.rows, csr.columns));
    return {device,
            csr.rows,
            csr.columns,
            csr.nonzeros,
            offsets_of(csr, name),
            on_device<std::int32_t>(csr.column_indices, csr.nonzeros, name, "column_indices"),
            on_device<T>(csr.values, csr.nonzeros, name, "values")};
}

template <class T>
solver_cuda_matrix_of<T> matrix_of(const solver_csr& csr, int device, cuda::Stream stream, const char* name) {
    const auto view = view_of<T>(csr, device, name);
    cuda::check(view, stream);
    return {csr.rows, csr.columns, cuda::SpmvPlan<T>(view, SpmvKernel::automatic, stream)};
}

template <class T>
solver_cuda_triangle* new_triangle(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, int device) {
    static_cast<void>(TriangularSolvePlan<T>(a, triangle, diagonal, Device::cpu(1)));  // which checks it
    return new solver_cuda_triangle{
        solver_cuda_triangle_of<T>{a.rows, cuda::TriangularSolvePlan<T>(device, a, triangle, diagonal)}};
}

/// A matrix that lies on a device: where it is, or as its real form.
template <class S>
solver_matrix* new_matrix_there(const cuda::DeviceCsrView<S>& a, const SpmvOptions& options) {
    using T = RealOf<S>;
    if constexpr (is_complex<S>)
        return new solver_matrix{std::make_unique<Matrix<T>>(SpmvPlan<S>(a, options)), true, a.nonzeros};
    else
        return new solver_matrix{std::make_unique<Matrix<T>>(a, options)};
}

cuda::Reduction of_real_numbers(cuda::ComplexReduction reduction) {
    return reduction == cuda::ComplexReduction::sum ? cuda::Reduction::sum : cuda::Reduction::dot;
}

solver_status reduce(const char* name, solver_cuda_workspace* workspace, cuda::ComplexReduction reduction, std::int32_t type,
                     std::int64_t n, const void* x, const void* y, std::int32_t accuracy, void* result, void* stream) {
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            cuda::Reducer& reducer = required(workspace, name, "workspace").reducer;
            const auto reduced = [&](auto kind) {
                const bool reads_y = reduction != cuda::ComplexReduction::sum;
                reducer.reduce(kind, n, on_device<S>(x, n, name, "x"), on_device<S>(y, reads_y ? n : 0, name, "y"),
                               accuracy_of(accuracy, name), on_device<S>(result, 1, name, "result"), stream_of(stream));
            };
            if constexpr (is_complex<S>)
                reduced(reduction);
            else
                reduced(of_real_numbers(reduction));
        });
    });
}

}  // namespace

solver_status solver_cuda_matrix_create(const solver_csr* csr, int32_t device, void* stream, solver_cuda_matrix** matrix) {
    constexpr const char* name = "solver_cuda_matrix_create";
    return guarded([&] {
        required(matrix, name, "matrix") = nullptr;
        const solver_csr given = filled_up(csr, {}, name, "csr");
        const int where = cuda_device(device);
        with_number(given.type, name, [&](auto number) {
            *matrix = new solver_cuda_matrix{matrix_of<decltype(number)>(given, where, stream_of(stream), name)};
        });
    });
}

solver_status solver_cuda_csr_create(const solver_csr* csr, int32_t device, void* stream, solver_matrix** matrix) {
    constexpr const char* name = "solver_cuda_csr_create";
    return guarded([&] {
        required(matrix, name, "matrix") = nullptr;
        const solver_csr given = filled_up(csr, {}, name, "csr");
        const int where = cuda_device(device);
        cuda::synchronize(where, stream_of(stream));
        with_number(given.type, name, [&](auto number) {
            *matrix = new_matrix_there(view_of<decltype(number)>(given, where, name), options_of(given));
        });
    });
}

void solver_cuda_matrix_destroy(solver_cuda_matrix* matrix) { delete matrix; }

solver_status solver_cuda_spmv(const solver_cuda_matrix* matrix, double alpha, const void* x, double beta, void* y,
                               int32_t accuracy, void* stream) {
    constexpr const char* name = "solver_cuda_spmv";
    return guarded([&] {
        std::visit(
            [&]<class T>(const solver_cuda_matrix_of<T>& of) {
                T* const out = on_device<T>(y, of.rows, name, "y");
                of.plan.multiply({.alpha = factor<T>(alpha, name, "alpha"),
                                  .x = on_device<T>(x, of.columns, name, "x"),
                                  .beta = factor<T>(beta, name, "beta"),
                                  .y_in = out,
                                  .y = out},
                                 accuracy_of(accuracy, name), stream_of(stream));
            },
            required(matrix, name, "matrix").of);
    });
}

solver_status solver_cuda_complex_spmv(const solver_cuda_matrix* matrix, const double alpha[2], const void* x,
                                       const double beta[2], void* y, int32_t accuracy, void* stream) {
    constexpr const char* name = "solver_cuda_complex_spmv";
    return guarded([&] {
        std::visit(
            [&]<class T>(const solver_cuda_matrix_of<T>& of) {
                T* const out = on_device<T>(y, of.rows, name, "y");
                of.plan.multiply({.alpha = complex_factor<T>(alpha, name, "alpha"),
                                  .x = on_device<T>(x, of.columns, name, "x"),
                                  .beta = complex_factor<T>(beta, name, "beta"),
                                  .y_in = out,
                                  .y = out},
                                 accuracy_of(accuracy, name), stream_of(stream));
            },
            required(matrix, name, "matrix").of);
    });
}

solver_status solver_cuda_residual(const solver_cuda_matrix* matrix, const void* b, const void* x, const void* x_low, void* r,
                                   int32_t accuracy, void* stream) {
    constexpr const char* name = "solver_cuda_residual";
    return guarded([&] {
        std::visit(
            [&]<class T>(const solver_cuda_matrix_of<T>& of) {
                of.plan.multiply({.alpha = -1,
                                  .x = on_device<T>(x, of.columns, name, "x"),
                                  .x_low = static_cast<const T*>(x_low),
                                  .beta = 1,
                                  .y_in = on_device<T>(b, of.rows, name, "b"),
                                  .y = on_device<T>(r, of.rows, name, "r")},
                                 accuracy_of(accuracy, name), stream_of(stream));
            },
            required(matrix, name, "matrix").of);
    });
}

solver_status solver_cuda_workspace_create(int32_t device, solver_cuda_workspace** workspace) {
    constexpr const char* name = "solver_cuda_workspace_create";
    return guarded([&] {
        required(workspace, name, "workspace") = nullptr;
        const int where = cuda_device(device);
        *workspace = new solver_cuda_workspace{cuda::Reducer(where), cuda::Multiplier(where)};
    });
}

void solver_cuda_workspace_destroy(solver_cuda_workspace* workspace) { delete workspace; }

solver_status solver_cuda_sum(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, int32_t accuracy,
                              void* result, void* stream) {
    return reduce("solver_cuda_sum", workspace, cuda::ComplexReduction::sum, type, n, x, nullptr, accuracy, result, stream);
}

solver_status solver_cuda_dot(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, const void* y,
                              int32_t accuracy, void* result, void* stream) {
    return reduce("solver_cuda_dot", workspace, cuda::ComplexReduction::dot, type, n, x, y, accuracy, result, stream);
}

solver_status solver_cuda_dotu(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, const void* y,
                               int32_t accuracy, void* result, void* stream) {
    return reduce("solver_cuda_dotu", workspace, cuda::ComplexReduction::dotu, type, n, x, y, accuracy, result, stream);
}

solver_status solver_cuda_norm2(solver_cuda_workspace* workspace, int32_t type, int64_t n, const void* x, int32_t accuracy,
                                void* result, void* stream) {
    constexpr const char* name = "solver_cuda_norm2";
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            cuda::Reducer& reducer = required(workspace, name, "workspace").reducer;
            const S* const from = on_device<S>(x, n, name, "x");
            auto* const to = on_device<RealOf<S>>(result, 1, name, "result");
            if constexpr (is_complex<S>)
                reducer.norm2(n, from, accuracy_of(accuracy, name), to, stream_of(stream));
            else
                reducer.reduce(cuda::Reduction::norm2, n, from, nullptr, accuracy_of(accuracy, name), to, stream_of(stream));
        });
    });
}

solver_status solver_cuda_gemm(solver_cuda_workspace* workspace, double alpha, const solver_dense* a, const solver_dense* b,
                               double beta, const solver_dense* c, int32_t accuracy, void* stream) {
    constexpr const char* name = "solver_cuda_gemm";
    return guarded([&] {
        with_product(alpha, a, b, beta, c, name, [&]<class S>(const GemmTask<S>& task, Conjugation conjugation) {
            cuda::Multiplier& multiplier = required(workspace, name, "workspace").multiplier;
            if constexpr (is_complex<S>)
                multiplier.gemm(task, accuracy_of(accuracy, name), conjugation, stream_of(stream));
            else
                multiplier.gemm(task, accuracy_of(accuracy, name), {}, stream_of(stream));
        });
    });
}

solver_status solver_cuda_triangle_create(const solver_matrix* matrix, int32_t triangle, int32_t diagonal, int32_t device,
                                          solver_cuda_triangle** made) {
    constexpr const char* name = "solver_cuda_triangle_create";
    return guarded([&] {
        required(made, name, "made") = nullptr;
        const Triangle which = triangle_of(triangle, name);
        const Diagonal pivots = diagonal_of(diagonal, name);
        required(matrix, name, "matrix");
        const int where = cuda_device(device);
        with_matrix(matrix, name, [&](const auto& of) {
            require(!of.is_dense(), name, "the matrix is dense; expected a sparse one");
            *made = matrix->is_complex ? new_triangle(complex_form(of.sparse()).view(), which, pivots, where)
                                       : new_triangle(of.sparse(), which, pivots, where);
        });
    });
}

void solver_cuda_triangle_destroy(solver_cuda_triangle* triangle) { delete triangle; }

solver_status solver_cuda_triangular_solve(const solver_cuda_triangle* triangle, const void* b, void* x, int32_t accuracy,
                                           void* stream) {
    constexpr const char* name = "solver_cuda_triangular_solve";
    return guarded([&] {
        std::visit(
            [&]<class T>(const solver_cuda_triangle_of<T>& of) {
                of.plan.solve(on_device<T>(b, of.rows, name, "b"), on_device<T>(x, of.rows, name, "x"),
                              accuracy_of(accuracy, name), stream_of(stream));
            },
            required(triangle, name, "triangle").of);
    });
}
