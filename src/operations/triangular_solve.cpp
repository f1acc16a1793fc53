#include "solver/triangular_solve.hpp"

#include "core/check.hpp"
#include "core/triangle_check.hpp"
#include "cpu/triangular_solve.hpp"
#include "cuda/triangular_solve.hpp"
#include "solver/numeric/rounding.hpp"

#include <memory>

namespace solver {
namespace {

template <class T>
void solve_dense(const DenseView<T>& a, Triangle triangle, Diagonal diagonal, std::span<const T> b, std::span<T> x,
                 Accuracy accuracy, const Device& device) {
    require_dense_triangle<T>(a, diagonal, b, x, device);
    const cpu::FloatingPointGuard guard;
    cpu::solve_triangle(a, triangle, diagonal, b.data(), x.data(), accuracy);
}

}  // namespace

template <class T>
TriangularSolvePlan<T>::TriangularSolvePlan(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const Device& device)
    : a_(a), triangle_(triangle), diagonal_(diagonal) {
    require_square(a);
    require_array_lengths("triangular solve", a);
    check(a, device);
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
    require_same_or_apart<T>("triangular solve", "x", x, "b", b);
    if (on_device_) return on_device_->solve(b, x, accuracy);
    const cpu::FloatingPointGuard guard;
    const cpu::LevelSchedule<T>* const schedule =
        cpu::is_bound_by_memory<T>(accuracy) ? nullptr : schedule_->get(a_, triangle_, diagonal_);
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
