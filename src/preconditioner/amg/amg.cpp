#include "preconditioner/amg/amg.hpp"

#include "core/huge_pages.hpp"
#include "core/multigrid/scale.hpp"
#include "cpu/elementwise.hpp"
#include "cuda/spmv.hpp"
#include "multigrid.hpp"
#include "preconditioner/amg/cycle.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "preconditioner/check.hpp"
#include "solver/cuda/preconditioner.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace amg {
namespace {

std::uint64_t largest_magnitude_bits(std::span<const double> x, const Device& device) {
    std::atomic<std::uint64_t> largest{0};
    cpu::for_each_range(std::ssize(x), device, [&](std::int64_t begin, std::int64_t end) {
        std::uint64_t mine = 0;
        for (std::int64_t i = begin; i < end; ++i) mine = std::max(mine, magnitude_bits(x[i]));
        std::uint64_t seen = largest.load();
        while (mine > seen && !largest.compare_exchange_weak(seen, mine)) {
        }
    });
    return largest;
}

bool suits_cycle_in_floats(const CsrView<double>& a, const Device& device) {
    std::atomic<bool> suits{true};
    cpu::for_each_range(a.nonzeros(), device, [&](std::int64_t begin, std::int64_t end) {
        bool mine = true;
        for (std::int64_t k = begin; k < end; ++k) mine = mine && suits_single_precision(a.values[k]);
        if (!mine) suits = false;
    });
    return suits;
}

/// Levels where they were made, and copies of them where they are asked for.
template <class V>
class SharedLevels {
public:
    SharedLevels(Hierarchy<V> levels, const Device& host)
        : summary_(levels.summary),
          entries_(levels.entries()),
          is_symmetric_(levels.is_symmetric),
          host_(host),
          on_host_(std::move(levels)) {}
    SharedLevels(DeviceHierarchy<V> levels, int device, const Device& host)
        : summary_(levels.summary),
          entries_(levels.entries()),
          is_symmetric_(levels.is_symmetric),
          host_(host),
          device_(device),
          on_device_(std::make_shared<const DeviceHierarchy<V>>(std::move(levels))) {}

    const std::vector<LevelSummary>& summary() const { return summary_; }
    std::int64_t entries() const { return entries_; }
    bool is_symmetric() const { return is_symmetric_; }

    /// On a device beside whatever else runs there, once the levels are made.
    std::uint64_t hash() const {
        if (!on_device_) return on_host_->hash(HostPlace(host_));
        cuda::synchronize(device_, nullptr);
        const cuda::OwnedStream beside(device_);
        return on_device_->hash(cuda::CudaPlace(device_, beside.get()));
    }

    /// The levels must outlive what refers to them.
    const Levels<V>& on_host() const {
        if (!on_host_) on_host_ = copy_to_host(*on_device_, cuda::CudaPlace(device_));
        return *on_host_;
    }

    std::shared_ptr<const cuda::DeviceLevels<V>> on_device(int device) const {
        if (on_device_ && device == device_) return on_device_;
        return cuda::copy_to_device(device, on_host());
    }

private:
    std::vector<LevelSummary> summary_;
    std::int64_t entries_;
    bool is_symmetric_;
    Device host_;
    int device_ = 0;
    std::shared_ptr<const DeviceHierarchy<V>> on_device_;
    mutable std::optional<Hierarchy<V>> on_host_;
};

/// The preconditioner of T with a cycle in V: in float for doubles, z = 2^-k M^-1 (2^k r) with k such that 2^k r has its
/// largest element in [1, 2).
template <class T, class V>
class Amg final : public Preconditioner<T> {
public:
    Amg(SharedLevels<V> levels, std::int64_t rows, const Device& device)
        : host_(host_of(device)), levels_(std::move(levels)), rows_(static_cast<std::size_t>(rows)) {
        if (device.kind() == Device::Kind::cpu) make_cycle();
    }

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_vectors<T>("amg", rows_, r, z);
        if (rows_ == 0) return;
        const std::lock_guard lock(mutex_);
        if (!cycle_) make_cycle();
        if constexpr (is_mixed)
            apply_scaled(r, z, accuracy);
        else
            cycle_->apply(r, z, accuracy);
    }

    std::int64_t factor_entries() const override { return levels_.entries(); }
    std::uint64_t factor_hash() const override { return levels_.hash(); }
    std::vector<LevelSummary> levels() const override { return levels_.summary(); }
    bool is_symmetric() const override { return levels_.is_symmetric(); }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        if (rows_ == 0) return cuda::make_identity<T>(device, 0);
        const std::lock_guard lock(mutex_);
        return cuda::make_multigrid<T, V>(device, levels_.on_device(device));
    }

private:
    static constexpr bool is_mixed = !std::is_same_v<T, V>;

    /// The cycle on the host: where a device iterates, made only if the host is asked to apply it.
    void make_cycle() const {
        cycle_.emplace(levels_.on_host(), host_);
        if constexpr (is_mixed) {
            r_ = zeros<V>(static_cast<std::int64_t>(rows_), host_.threads());
            z_ = zeros<V>(static_cast<std::int64_t>(rows_), host_.threads());
        }
    }

    void apply_scaled(std::span<const T> r, std::span<T> z, Accuracy accuracy) const {
        const double scale = scale_of(largest_magnitude_bits(r, host_));
        cpu::update(std::span(r_), host_, [=](V, std::int64_t i) { return static_cast<V>(mul_rn(r[i], scale)); });
        cycle_->apply(r_, z_, accuracy);
        const V* from = z_.data();
        const double back = div_rn(1.0, scale);
        cpu::update(z, host_, [=](T, std::int64_t i) { return mul_rn(static_cast<T>(from[i]), back); });
    }

    Device host_;
    SharedLevels<V> levels_;
    mutable std::mutex mutex_;
    mutable std::optional<Cycle<V>> cycle_;
    std::size_t rows_;
    mutable std::vector<V> r_;
    mutable std::vector<V> z_;
};

/// make(V()) with the precision of the cycle.
template <class T, class Make>
auto in_precision_of_cycle(bool suits_single_precision, const Make& make) {
    if constexpr (std::is_same_v<T, double>)
        if (!suits_single_precision) return make(double());
    return make(float());
}

bool suits_cycle_in_floats(const CsrView<float>&, const Device&) { return true; }

}  // namespace
}  // namespace amg

template <class T>
std::unique_ptr<Preconditioner<T>> make_amg(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device) {
    const Device host = host_of(device);
    const auto make = [&]<class V>(V) -> std::unique_ptr<Preconditioner<T>> {
        amg::SharedLevels<V> levels(amg::make_hierarchy<V>(a, options, host), host);
        return std::make_unique<amg::Amg<T, V>>(std::move(levels), a.rows, device);
    };
    return amg::in_precision_of_cycle<T>(amg::suits_cycle_in_floats(a, host), make);
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_amg(const SpmvPlan<T>& a, const PreconditionerOptions& options) {
    const auto there = a.on_device();
    if (there == nullptr || a.dense() != nullptr) return make_amg<T>(a.matrix(), options, a.device());
    const cuda::DeviceCsrView<T>& matrix = there->matrix();
    const cuda::CudaPlace place(matrix.device);
    constexpr std::int64_t most_entries = std::numeric_limits<std::int32_t>::max();  // that a device sorts
    if (matrix.nonzeros > most_entries || !place.has_sorted_rows(matrix)) return make_amg<T>(a.matrix(), options, a.device());
    const auto make = [&]<class V>(V) -> std::unique_ptr<Preconditioner<T>> {
        amg::SharedLevels<V> levels(amg::make_hierarchy<V>(matrix, options), matrix.device, host_of(a.device()));
        return std::make_unique<amg::Amg<T, V>>(std::move(levels), matrix.rows, a.device());
    };
    return amg::in_precision_of_cycle<T>(place.suits_cycle_in_floats(matrix), make);
}

template std::unique_ptr<Preconditioner<float>> make_amg(const CsrView<float>&, const PreconditionerOptions&, const Device&);
template std::unique_ptr<Preconditioner<double>> make_amg(const CsrView<double>&, const PreconditionerOptions&, const Device&);
template std::unique_ptr<Preconditioner<float>> make_amg(const SpmvPlan<float>&, const PreconditionerOptions&);
template std::unique_ptr<Preconditioner<double>> make_amg(const SpmvPlan<double>&, const PreconditionerOptions&);

}  // namespace solver
