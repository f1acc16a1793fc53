#pragma once

/// Forward and backward substitution.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace solver {

template <class T>
struct CsrMatrix;

namespace cpu {
template <class T>
class LazySchedule;
}
namespace cuda {
template <class T>
class TriangleOnDevice;
}

enum class Triangle { lower, upper };
enum class Diagonal { stored, unit };  ///< unit: the diagonal is 1 and not stored

/// A sparse triangular matrix made ready for many solves. Keeps a view; the matrix must outlive the plan unchanged.
///
/// Row by row, given the elements already computed: x_i = RN(RN(b_i - sum_j a_ij x_j) / a_ii), a division, never a reciprocal;
/// the inner rounding is that of the accuracy asked for (exact: the real number rounded once; the others: their bound).
///
/// In exact, and compensated in double, the first solve sorts the rows into levels that do not depend on one another, where
/// these are wide enough, and keeps a copy of the matrix in that order; from then on the rows of a level are solved side by
/// side, by all threads of the device. The bits of a result do not depend on the number of threads in any mode. A plan is const
/// and may be used by several threads at once.
///
/// On a CUDA device the plan keeps a copy of the matrix and its analysis there, which copies of the plan share; vectors are
/// copied to the device and back in every call, and calls from several threads take turns. For vectors that live on the device
/// there is cuda::TriangularSolvePlan (cuda/triangular_solve.hpp).
///
/// Columns must rise within each row. Throws InvalidArgument where the matrix is not square, has an entry beyond the
/// diagonal, lacks a diagonal entry or has a zero there (stored), or has a diagonal entry (unit).
template <class T>
class TriangularSolvePlan {
public:
    TriangularSolvePlan(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const Device& device = Device::best());

    /// Copies share what was made of the matrix, and a move is a copy: no plan is ever empty.
    TriangularSolvePlan(const TriangularSolvePlan&) = default;
    TriangularSolvePlan& operator=(const TriangularSolvePlan&) = default;

    /// A matrix that would be gone before the plan is used.
    template <class... More>
    TriangularSolvePlan(CsrMatrix<T>&& a, Triangle triangle, Diagonal diagonal, const More&... more) = delete;

    /// Solves A x = b. x may be b. Throws DimensionMismatch, InvalidArgument where they overlap in part.
    void solve(std::span<const T> b, std::span<T> x, Accuracy accuracy) const;

    const CsrView<T>& matrix() const { return a_; }
    Triangle triangle() const { return triangle_; }
    Diagonal diagonal() const { return diagonal_; }

private:
    CsrView<T> a_;
    Triangle triangle_;
    Diagonal diagonal_;
    std::shared_ptr<cpu::LazySchedule<T>> schedule_;
    std::shared_ptr<cuda::TriangleOnDevice<T>> on_device_;  // null on the processor
};

/// Solves T x = b for the triangle T of a dense matrix by substitution, x_i = RN(numerator / t_ii) as a TriangularSolvePlan
/// does; only the triangle named is read. On the processor only: NotSupported on a CUDA device.
void triangular_solve(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, std::span<const double> b,
                      std::span<double> x, Accuracy accuracy, const Device& device = Device::cpu());
void triangular_solve(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, std::span<const float> b,
                      std::span<float> x, Accuracy accuracy, const Device& device = Device::cpu());

}  // namespace solver
