#include "solver/triangular_solve.hpp"

#include "core/check.hpp"
#include "core/dense_check.hpp"
#include "cpu/triangular_solve.hpp"
#include "cuda/triangular_solve.hpp"
#include "solver/numeric/rounding.hpp"

#include <memory>
#include <type_traits>

namespace solver {
namespace {

template <class Matrix>
void require_square(const Matrix& a) {
    if (a.rows != a.columns)
        throw InvalidArgument(fmt::format("triangular solve: A is {} x {}; it must be square", a.rows, a.columns));
}

/// Rows and columns are counted from 1 in messages, as in Matrix Market files.
template <class T>
void require_triangle(const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    const auto is_beyond = [&](std::int64_t row, std::int64_t column) {
        return triangle == Triangle::lower ? column > row : column < row;
    };
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t first = a.row_offsets[row];
        const std::int64_t last = a.row_offsets[row + 1];
        for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t column = a.column_indices[k];
            if (is_beyond(row, column))
                throw InvalidArgument(fmt::format("triangular solve: entry ({}, {}) lies beyond the diagonal of a {} triangle",
                                                  row + 1, column + 1, triangle == Triangle::lower ? "lower" : "upper"));
            if (k > first && a.column_indices[k - 1] >= column)
                throw InvalidArgument(fmt::format("triangular solve: the columns of row {} are not sorted", row + 1));
            if (diagonal == Diagonal::unit && column == row)
                throw InvalidArgument(
                    fmt::format("triangular solve: row {} stores a diagonal entry, which a unit diagonal has not", row + 1));
        }
        if (diagonal == Diagonal::unit) continue;
        const std::int64_t k = triangle == Triangle::lower ? last - 1 : first;
        if (first == last || a.column_indices[k] != row)
            throw InvalidArgument(fmt::format("triangular solve: row {} has no diagonal entry", row + 1));
        if (a.values[k] == T(0))
            throw InvalidArgument(fmt::format("triangular solve: the diagonal entry of row {} is 0", row + 1));
    }
}

template <class T>
void require_pivots(const DenseView<T>& a) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        if (a.data[i * (a.row_stride + a.column_stride)] == T(0))
            throw InvalidArgument(fmt::format("triangular solve: the diagonal entry of row {} is 0", i + 1));
}

/// Where a row costs little arithmetic, reading rows in natural order is worth more than solving several at once (measured on
/// two cores, ILU(0) of G3_circuit, stencil27_64, poisson2d_1000 and memplus: L costs up to twice as much level by level).
template <class T>
bool is_bound_by_memory(Accuracy accuracy) {
    return accuracy == Accuracy::fast || (accuracy == Accuracy::compensated && std::is_same_v<T, float>);
}

template <class T>
void solve_dense(const DenseView<T>& a, Triangle triangle, Diagonal diagonal, std::span<const T> b, std::span<T> x,
                 Accuracy accuracy, const Device& device) {
    require_cpu(device, "triangular solve");
    require_valid("triangular solve", "A", a);
    require_square(a);
    const cpu::FloatingPointGuard guard;  // a subnormal pivot is not 0
    if (diagonal == Diagonal::stored) require_pivots(a);
    require_length("triangular solve", "b", b.size(), a.rows, "the rows of A", a);
    require_length("triangular solve", "x", x.size(), a.columns, "the columns of A", a);
    cpu::solve_triangle(a, triangle, diagonal, b.data(), x.data(), accuracy);
}

}  // namespace

template <class T>
TriangularSolvePlan<T>::TriangularSolvePlan(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const Device& device)
    : a_(a), triangle_(triangle), diagonal_(diagonal) {
    require_square(a);
    const cpu::FloatingPointGuard guard;  // a subnormal pivot is not 0
    require_triangle(a, triangle, diagonal);
    if (device.kind() == Device::Kind::cuda)
        on_device_ = std::make_shared<cuda::TriangleOnDevice<T>>(device.index(), a, triangle, diagonal);
    else
        schedule_ = std::make_shared<cpu::LazySchedule<T>>(device.threads());
}

template <class T>
void TriangularSolvePlan<T>::solve(std::span<const T> b, std::span<T> x, Accuracy accuracy) const {
    require_length("triangular solve", "b", b.size(), a_.rows, "the rows of A", a_);
    require_length("triangular solve", "x", x.size(), a_.columns, "the columns of A", a_);
    if (on_device_) return on_device_->solve(b, x, accuracy);
    const cpu::FloatingPointGuard guard;
    const cpu::LevelSchedule<T>* const schedule =
        is_bound_by_memory<T>(accuracy) ? nullptr : schedule_->get(a_, triangle_, diagonal_);
    if (schedule != nullptr)
        cpu::solve_levels(*schedule, b.data(), x.data(), accuracy);
    else
        cpu::solve_triangle(a_, triangle_, diagonal_, b.data(), x.data(), accuracy);
}

template class TriangularSolvePlan<float>;
template class TriangularSolvePlan<double>;

void triangular_solve(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, std::span<const double> b,
                      std::span<double> x, Accuracy accuracy, const Device& device) {
    solve_dense(a, triangle, diagonal, b, x, accuracy, device);
}

void triangular_solve(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, std::span<const float> b,
                      std::span<float> x, Accuracy accuracy, const Device& device) {
    solve_dense(a, triangle, diagonal, b, x, accuracy, device);
}

}  // namespace solver
