#pragma once

/// What a solver_matrix is.

#include "c/arguments.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/gemm.hpp"
#include "solver/solver.h"
#include "solver/spmv.hpp"
#include "solver/triangular_solve.hpp"

#include <array>
#include <complex>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

namespace solver::c {

/// Plans of triangular solves, each made when it is first asked for.
template <class S>
class TrianglePlans {
public:
    /// That of the view make() gives.
    template <class Make>
    const TriangularSolvePlan<S>& get(Triangle triangle, Diagonal diagonal, const Device& device, const Make& make) {
        const std::size_t kind = (triangle == Triangle::upper ? 2 : 0) + (diagonal == Diagonal::unit ? 1 : 0);
        const std::lock_guard lock(mutex_);
        std::unique_ptr<const TriangularSolvePlan<S>>& plan = plans_[kind];
        if (!plan) plan = std::make_unique<const TriangularSolvePlan<S>>(make(), triangle, diagonal, device);
        return *plan;
    }
    void clear() { plans_ = {}; }

private:
    std::mutex mutex_;
    std::array<std::unique_ptr<const TriangularSolvePlan<S>>, 4> plans_;
};

/// A matrix of one type: views of arrays that are its own or the caller's, and the plans made of them.
template <class T>
class Matrix {
public:
    /// A sparse one; `own` holds those of the view's arrays that were copied, and is not moved from then on.
    Matrix(CsrMatrix<T> own, const Device& device, const SpmvOptions& options = {});
    Matrix(const solver_csr& csr, const Device& device);
    Matrix(const cuda::DeviceCsrView<T>& a, const SpmvOptions& options);
    /// The real form of a matrix that lies on a device.
    explicit Matrix(SpmvPlan<std::complex<T>> plan);
    Matrix(DenseMatrix<T> own, const Device& device);
    Matrix(const solver_dense& dense, const Device& device);
    Matrix(const Matrix&) = delete;

    const SpmvPlan<T>& plan() const { return *plan_; }
    bool is_dense() const { return is_dense_; }
    const CsrView<T>& sparse() const { return plan_->matrix(); }
    const DenseView<T>& dense() const { return dense_; }
    std::int64_t entries() const { return is_dense_ ? dense_.rows * dense_.columns : entries_; }

    /// What products read, in a word.
    const char* storage() const { return is_dense_ ? "dense" : to_string(plan_->describe().storage).data(); }

    void update(const T* values);
    void solve_triangle(Triangle triangle, Diagonal diagonal, std::span<const T> b, std::span<T> x, Accuracy accuracy) const;
    /// Of the complex matrix whose real form this one is.
    void solve_triangle(Triangle triangle, Diagonal diagonal, std::span<const std::complex<T>> b, std::span<std::complex<T>> x,
                        Accuracy accuracy) const;

private:
    void make_plan();

    Device device_;
    SpmvOptions options_;  // of a sparse one
    bool is_dense_;
    bool lies_on_device_ = false;  // and is read there
    bool borrows_values_ = false;
    CsrMatrix<T> own_;
    std::vector<T> elements_;  // of a dense matrix
    CsrView<T> sparse_;
    std::int64_t entries_ = 0;
    DenseView<T> dense_;
    std::optional<SpmvPlan<std::complex<T>>> complex_plan_;  // that keeps the real form
    std::optional<SpmvPlan<T>> plan_;
    mutable TrianglePlans<T> triangles_;
    mutable TrianglePlans<std::complex<T>> complex_triangles_;
};

}  // namespace solver::c

/// A complex matrix is kept as its real form.
struct solver_matrix {
    std::variant<std::unique_ptr<solver::c::Matrix<double>>, std::unique_ptr<solver::c::Matrix<float>>> of;
    bool is_complex = false;
    std::int64_t complex_entries = 0;
};

namespace solver::c {

/// work(matrix) with the Matrix<T> that the handle stands for.
template <class Handle, class Work>
void with_matrix(Handle* handle, const char* function, Work&& work) {
    if (handle == nullptr) throw InvalidArgument(fmt::format("{}: matrix is NULL", function));
    std::visit([&](const auto& of) { work(*of); }, handle->of);
}

template <class M>
struct ElementOf;
template <class T>
struct ElementOf<Matrix<T>> {
    using type = T;
};
/// T of a Matrix<T>, const or not.
template <class M>
using element_t = typename ElementOf<std::remove_cvref_t<M>>::type;

/// A description of a dense matrix as a view; throws where its type is another.
template <class S>
MutableDenseView<S> dense_view(const solver_dense& dense, const char* function, const char* name);

/// The product that solver_gemm and solver_cuda_gemm are asked for, as multiply(task, conjugation): of numbers of any type.
template <class Multiply>
void with_product(double alpha, const solver_dense* a, const solver_dense* b, double beta, const solver_dense* c,
                  const char* function, const Multiply& multiply) {
    const solver_dense given_a = filled_up(a, {}, function, "a"), given_b = filled_up(b, {}, function, "b"),
                       given_c = filled_up(c, {}, function, "c");
    require(given_c.conjugated == 0, function, "c is conjugated; expected 0");
    const Conjugation conjugation{given_a.conjugated != 0, given_b.conjugated != 0};
    with_number(given_c.type, function, [&](auto number) {
        using S = decltype(number);
        multiply(GemmTask<S>{factor<S>(alpha, function, "alpha"), dense_view<S>(given_a, function, "a"),
                             dense_view<S>(given_b, function, "b"), factor<S>(beta, function, "beta"),
                             dense_view<S>(given_c, function, "c")},
                 conjugation);
    });
}

/// What a description asks of the plan of a sparse matrix.
SpmvOptions options_of(const solver_csr& csr);

}  // namespace solver::c
