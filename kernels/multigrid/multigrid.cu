#include "multigrid.hpp"

#include "core/multigrid/scale.hpp"
#include "multigrid/place.hpp"
#include "packed.hpp"
#include "preconditioner.hpp"
#include "products.hpp"
#include "runtime/for_each.cuh"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver::cuda {
namespace {

template <class V>
class LevelProduct {
public:
    explicit LevelProduct(const DeviceMatrix<V>& matrix)
        : products_(make_products(matrix.view(), SpmvKernel::automatic, nullptr)) {}
    const CsrProducts<V>& operator*() const { return *products_; }

    /// From now on products read a packed copy of the matrix, where they are faster by it. To make it takes as long as the
    /// products of a solve's cycles save for fewer entries.
    void pack(const DeviceCsrView<V>& matrix) {
        constexpr std::int64_t least_entries = 1 << 24;
        if (matrix.nonzeros < least_entries || why_not_packed<V>(matrix.device, matrix.rows, matrix.nonzeros) != nullptr)
            return;
        auto packed = std::make_shared<const PackedOnDevice<V>>(cuda::pack(matrix, nullptr));
        const double rows_an_entry = static_cast<double>(matrix.rows) / static_cast<double>(matrix.nonzeros);
        const double bytes = sizeof(V) + sizeof(std::int32_t) + rows_an_entry * sizeof(std::int32_t);
        if (why_csr_is_faster(packed->describe(nullptr), bytes).empty()) products_->use(std::move(packed), nullptr);
    }

private:
    std::unique_ptr<CsrProducts<V>> products_;
};

/// A level that is smoothed.
template <class V>
class SmoothedLevel {
public:
    SmoothedLevel(int device, const amg::Level<V, OnDevice>& level)
        : rows_(level.a.rows),
          steps_(level.steps),
          a_(level.a),
          inverse_diagonal_(level.inverse_diagonal.data()),
          residual_(device, rows_, "a level's residual"),
          direction_(device, rows_, "a level's direction"),
          coarse_b_(device, level.prolongation.columns, "a level's right-hand side"),
          coarse_x_(device, level.prolongation.columns, "a level's correction") {
        a_.pack(level.a.view());
        if (level.prolongation.columns == 0) return;
        prolongation_.emplace(level.prolongation);
        restriction_.emplace(level.restriction);
    }

    /// x = the smoother applied once to b, from zero.
    void smooth_from_zero(const V* b, V* x, Accuracy accuracy, Stream stream, Gate gate) {
        launch_for_each("a smoother's first step", rows_, stream, gate,
                        amg::BeginAtZero<V>{steps_.front().alpha, inverse_diagonal_, b, direction_.data(), x});
        for (std::size_t k = 1; k < steps_.size(); ++k) step(steps_[k], b, x, accuracy, stream, gate);
    }

    void smooth(const V* b, V* x, Accuracy accuracy, Stream stream, Gate gate) {
        for (const amg::SmootherStep<V>& next : steps_) step(next, b, x, accuracy, stream, gate);
    }

    void restrict_residual(const V* b, const V* x, Accuracy accuracy, Stream stream, Gate gate) {
        residual(b, x, accuracy, stream, gate);
        (**restriction_).multiply({.x = residual_.data(), .y = coarse_b_.data()}, accuracy, stream, gate);
    }

    void correct(V* x, Accuracy accuracy, Stream stream, Gate gate) {
        (**prolongation_).multiply({.x = coarse_x_.data(), .beta = 1, .y_in = x, .y = x}, accuracy, stream, gate);
    }

    const V* coarse_b() const { return coarse_b_.data(); }
    V* coarse_x() const { return coarse_x_.data(); }

private:
    void step(const amg::SmootherStep<V>& now, const V* b, V* x, Accuracy accuracy, Stream stream, Gate gate) {
        residual(b, x, accuracy, stream, gate);
        launch_for_each("a smoother's step", rows_, stream, gate,
                        amg::Smooth<V>{now, inverse_diagonal_, residual_.data(), direction_.data(), x});
    }

    void residual(const V* b, const V* x, Accuracy accuracy, Stream stream, Gate gate) {
        (*a_).multiply({.alpha = -1, .x = x, .beta = 1, .y_in = b, .y = residual_.data()}, accuracy, stream, gate);
    }

    std::int64_t rows_;
    std::vector<amg::SmootherStep<V>> steps_;
    LevelProduct<V> a_;
    const V* inverse_diagonal_;
    DeviceArray<V> residual_;
    DeviceArray<V> direction_;
    DeviceArray<V> coarse_b_;
    DeviceArray<V> coarse_x_;
    std::optional<LevelProduct<V>> prolongation_;
    std::optional<LevelProduct<V>> restriction_;
};

template <class V>
class DeviceCycle {
public:
    DeviceCycle(int device, std::shared_ptr<const DeviceLevels<V>> from) : from_(std::move(from)) {
        const bool has_inverse = from_->coarsest_inverse.rows > 0;
        const std::size_t smoothed = from_->levels.size() - (has_inverse ? 1 : 0);
        for (std::size_t l = 0; l < smoothed; ++l)
            levels_.push_back(std::make_unique<SmoothedLevel<V>>(device, from_->levels[l]));
        if (has_inverse) inverse_.emplace(from_->coarsest_inverse);
    }

    void apply(const V* b, V* x, Accuracy accuracy, Stream stream, Gate gate) { descend(0, b, x, accuracy, stream, gate); }

private:
    void descend(std::size_t l, const V* b, V* x, Accuracy accuracy, Stream stream, Gate gate) {
        if (l == levels_.size()) return (**inverse_).multiply({.x = b, .y = x}, accuracy, stream, gate);
        SmoothedLevel<V>& level = *levels_[l];
        level.smooth_from_zero(b, x, accuracy, stream, gate);
        if (l + 1 < levels_.size() || inverse_) {
            level.restrict_residual(b, x, accuracy, stream, gate);
            descend(l + 1, level.coarse_b(), level.coarse_x(), accuracy, stream, gate);
            level.correct(x, accuracy, stream, gate);
        }
        level.smooth(b, x, accuracy, stream, gate);
    }

    std::shared_ptr<const DeviceLevels<V>> from_;
    std::vector<std::unique_ptr<SmoothedLevel<V>>> levels_;
    std::optional<LevelProduct<V>> inverse_;
};

template <class T>
class DeviceMultigrid final : public GatedPreconditioner<T> {
public:
    DeviceMultigrid(int device, std::shared_ptr<const DeviceLevels<T>> levels)
        : device_(device), cycle_(device, std::move(levels)) {}

    void apply_if_open(const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) override {
        const CurrentDevice current(device_);
        cycle_.apply(r, z, accuracy, stream, gate);
    }

private:
    int device_;
    DeviceCycle<T> cycle_;
};

using Bits = unsigned long long;  // what atomicMax takes

/// Whatever the order: the maximum of integers.
__global__ void __launch_bounds__(threads_for_each) find_largest(std::int64_t n, Gate gate, const double* x, Bits* largest) {
    if (!is_open(gate)) return;
    constexpr int warp = 32;
    Bits mine = 0;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_for_each + threadIdx.x; i < n;
         i += static_cast<std::int64_t>(gridDim.x) * threads_for_each)
        mine = std::max(mine, static_cast<Bits>(amg::magnitude_bits(x[i])));
    for (int distance = warp / 2; distance > 0; distance /= 2) mine = std::max(mine, __shfl_xor_sync(~0u, mine, distance));
    if (threadIdx.x % warp == 0 && mine != 0) atomicMax(largest, mine);
}

struct Forget {
    std::uint64_t* largest;
    __device__ void operator()(std::int64_t) const { *largest = 0; }
};

struct ScaleDown {
    const double* r;
    const std::uint64_t* largest;
    float* scaled;
    __device__ void operator()(std::int64_t i) const { scaled[i] = static_cast<float>(mul_rn(r[i], amg::scale_of(*largest))); }
};

struct ScaleBack {
    const float* scaled;
    const std::uint64_t* largest;
    double* z;
    __device__ void operator()(std::int64_t i) const {
        z[i] = mul_rn(static_cast<double>(scaled[i]), div_rn(1.0, amg::scale_of(*largest)));
    }
};

/// Of doubles, in floats.
class DeviceMixedMultigrid final : public GatedPreconditioner<double> {
public:
    DeviceMixedMultigrid(int device, std::shared_ptr<const DeviceLevels<float>> levels)
        : device_(device),
          rows_(levels->levels.front().a.rows),
          cycle_(device, std::move(levels)),
          r_(device, rows_, "a residual in single precision"),
          z_(device, rows_, "a correction in single precision"),
          largest_(device, 1, "a vector's largest element") {}

    void apply_if_open(const double* r, double* z, Accuracy accuracy, Stream stream, Gate gate) override {
        const CurrentDevice current(device_);
        find_largest_magnitude(device_, rows_, r, largest_.data(), stream, gate);
        launch_for_each("a residual in floats", rows_, stream, gate, ScaleDown{r, largest_.data(), r_.data()});
        cycle_.apply(r_.data(), z_.data(), accuracy, stream, gate);
        launch_for_each("a correction in doubles", rows_, stream, gate, ScaleBack{z_.data(), largest_.data(), z});
    }

private:
    int device_;
    std::int64_t rows_;
    DeviceCycle<float> cycle_;
    DeviceArray<float> r_;
    DeviceArray<float> z_;
    DeviceArray<std::uint64_t> largest_;
};

}  // namespace

void find_largest_magnitude(int device, std::int64_t n, const double* x, std::uint64_t* largest, Stream stream, Gate gate) {
    const CurrentDevice current(device);
    launch_for_each("the largest element's start", 1, stream, gate, Forget{largest});
    if (n == 0) return;
    constexpr std::int64_t most_blocks = 1024;
    const auto blocks = static_cast<unsigned>(std::min((n + threads_for_each - 1) / threads_for_each, most_blocks));
    find_largest<<<blocks, threads_for_each, 0, stream>>>(n, gate, x, reinterpret_cast<Bits*>(largest));
    check_launch("the largest element");
}

template <class V>
std::shared_ptr<const DeviceLevels<V>> copy_to_device(int device, const amg::Levels<V>& levels) {
    const CudaPlace place(device);
    auto copy = std::make_shared<DeviceLevels<V>>();
    for (const amg::Level<V>& level : levels.levels)
        copy->levels.push_back({place.from_host(level.a),
                                {device, level.inverse_diagonal, "a level's diagonal"},
                                level.steps,
                                place.from_host(level.prolongation),
                                place.from_host(level.restriction)});
    copy->coarsest_inverse = place.from_host(levels.coarsest_inverse);
    return copy;
}

template <class T, class V>
std::unique_ptr<DevicePreconditioner<T>> make_multigrid(int device, std::shared_ptr<const DeviceLevels<V>> levels) {
    if constexpr (std::is_same_v<T, V>)
        return std::make_unique<DeviceMultigrid<T>>(device, std::move(levels));
    else
        return std::make_unique<DeviceMixedMultigrid>(device, std::move(levels));
}

template <class V>
using SharedLevels = std::shared_ptr<const DeviceLevels<V>>;

template SharedLevels<float> copy_to_device(int, const amg::Levels<float>&);
template SharedLevels<double> copy_to_device(int, const amg::Levels<double>&);
template std::unique_ptr<DevicePreconditioner<float>> make_multigrid(int, SharedLevels<float>);
template std::unique_ptr<DevicePreconditioner<double>> make_multigrid(int, SharedLevels<float>);
template std::unique_ptr<DevicePreconditioner<double>> make_multigrid(int, SharedLevels<double>);

}  // namespace solver::cuda
