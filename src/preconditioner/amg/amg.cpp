#include "preconditioner/amg/amg.hpp"

#include "core/huge_pages.hpp"
#include "core/multigrid/scale.hpp"
#include "cpu/elementwise.hpp"
#include "multigrid.hpp"
#include "preconditioner/amg/cycle.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/check.hpp"
#include "solver/cuda/preconditioner.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
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

/// Whether all entries are far from the ends of the range of floats, so that the matrices of all levels will be, too.
bool suits_single_precision(const CsrView<double>& a, const Device& device) {
    constexpr double least = 0x1p-90, most = 0x1p90;
    std::atomic<bool> suits{true};
    cpu::for_each_range(a.nonzeros(), device, [&](std::int64_t begin, std::int64_t end) {
        bool mine = true;
        for (std::int64_t k = begin; k < end; ++k) {
            const double size = magnitude(a.values[k]);
            mine = mine && (size == 0 || (size >= least && size <= most));
        }
        if (!mine) suits = false;
    });
    return suits;
}

/// The preconditioner of T with a cycle in V: in float for doubles, z = 2^-k M^-1 (2^k r) with k such that 2^k r has its
/// largest element in [1, 2).
template <class T, class V>
class Amg final : public Preconditioner<T> {
public:
    Amg(Hierarchy<V> hierarchy, std::int64_t rows, const Device& device)
        : host_(host_of(device)), hierarchy_(std::move(hierarchy)), rows_(static_cast<std::size_t>(rows)) {
        if (device.kind() == Device::Kind::cpu) make_cycle();
    }

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_lengths("amg", rows_, r.size(), z.size());
        if (rows_ == 0) return;
        const std::lock_guard lock(mutex_);
        if (!cycle_) make_cycle();
        if constexpr (is_mixed)
            apply_scaled(r, z, accuracy);
        else
            cycle_->apply(r, z, accuracy);
    }

    std::int64_t factor_entries() const override { return hierarchy_.entries(); }
    std::uint64_t factor_hash() const override { return hierarchy_.hash(host_); }
    std::vector<LevelSummary> levels() const override { return hierarchy_.summary; }
    bool is_symmetric() const override { return hierarchy_.is_symmetric; }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        if (rows_ == 0) return cuda::make_identity<T>(device, 0);
        return cuda::make_multigrid<T, V>(device, hierarchy_);
    }

private:
    static constexpr bool is_mixed = !std::is_same_v<T, V>;

    /// The cycle on the host: where a device iterates, made only if the host is asked to apply it.
    void make_cycle() const {
        cycle_.emplace(hierarchy_, host_);
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
    Hierarchy<V> hierarchy_;
    mutable std::mutex mutex_;
    mutable std::optional<Cycle<V>> cycle_;
    std::size_t rows_;
    mutable std::vector<V> r_;
    mutable std::vector<V> z_;
};

}  // namespace
}  // namespace amg

template <class T>
std::unique_ptr<Preconditioner<T>> make_amg(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device) {
    const Device host = host_of(device);
    const auto make = [&]<class V>(V) {
        return std::make_unique<amg::Amg<T, V>>(amg::make_hierarchy<V>(a, options, host), a.rows, device);
    };
    if constexpr (std::is_same_v<T, double>)
        if (!amg::suits_single_precision(a, host)) return make(double());
    return make(float());
}

template std::unique_ptr<Preconditioner<float>> make_amg(const CsrView<float>&, const PreconditionerOptions&, const Device&);
template std::unique_ptr<Preconditioner<double>> make_amg(const CsrView<double>&, const PreconditionerOptions&, const Device&);

}  // namespace solver
