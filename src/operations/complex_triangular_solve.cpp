#include "cpu/triangular_solve.hpp"

#include "core/check.hpp"
#include "core/paired_rows.hpp"
#include "core/triangle_check.hpp"
#include "cuda/triangular_solve.hpp"
#include "solver/complex.hpp"

#include <complex>
#include <cstdint>
#include <memory>

namespace solver {
namespace {

struct TriangleShape {
    std::int64_t rows;
    std::int64_t columns;
};

}  // namespace

/// What solves with the real form; it is copied to a CUDA device, and kept on the processor.
template <class T>
struct TriangularSolvePlan<std::complex<T>>::Pairs {
    PairedRows<T> rows;
    PairedTriangle<T> triangle;
    cpu::LazySchedule<T> schedule;
    std::unique_ptr<cuda::TriangleOnDevice<T>> on_device;

    Pairs(const CsrView<Number>& a, Triangle which, const Device& device)
        : rows(a), triangle(rows.triangle(which)), schedule(device.threads()) {
        if (device.kind() != Device::Kind::cuda) return;
        require_few_paired_rows(a.rows);
        on_device = std::make_unique<cuda::TriangleOnDevice<T>>(device.index(), triangle);
    }
};

template <class T>
TriangularSolvePlan<std::complex<T>>::TriangularSolvePlan(const CsrView<Number>& a, Triangle triangle, Diagonal diagonal,
                                                          const Device& device)
    : rows_(a.rows), triangle_(triangle), diagonal_(diagonal) {
    require_square(a);
    require_array_lengths("triangular solve", a);
    check(a, device);
    const cpu::FloatingPointGuard guard;  // what is subnormal is not 0
    require_triangle(a, triangle, diagonal);
    pairs_ = std::make_shared<Pairs>(a, triangle, device);
}

template <class T>
void TriangularSolvePlan<std::complex<T>>::solve(std::span<const Number> b, std::span<Number> x, Accuracy accuracy) const {
    const TriangleShape shape{rows_, rows_};
    require_length("triangular solve", "b", b.size(), rows_, "the rows of A", shape);
    require_length("triangular solve", "x", x.size(), rows_, "the columns of A", shape);
    require_same_or_apart<Number>("triangular solve", "x", x, "b", b);
    if (pairs_->on_device) return pairs_->on_device->solve(real_view(b), real_view(x), accuracy);
    const cpu::FloatingPointGuard guard;
    const PairedTriangle<T>& a = pairs_->triangle;
    // quotients cost more than a short row's sum, and levels have many at a time
    const bool is_bound_by_memory = diagonal_ == Diagonal::unit && cpu::is_bound_by_memory<T>(accuracy);
    const cpu::LevelSchedule<T>* const schedule =
        is_bound_by_memory ? nullptr : pairs_->schedule.get(a.beside, triangle_, Diagonal::unit);
    if (schedule != nullptr)
        cpu::solve_levels(*schedule, real_view(b).data(), real_view(x).data(), accuracy, a.pivots.data());
    else
        cpu::solve_triangle(a, real_view(b).data(), real_view(x).data(), accuracy);
}

template class TriangularSolvePlan<std::complex<float>>;
template class TriangularSolvePlan<std::complex<double>>;

}  // namespace solver
