#pragma once

/// Lists that several threads thin out.

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace solver::cpu {

/// Leaves the items for which keep(item), in their order. Each thread thins out its range, and what is left is moved together.
template <class T, class Keep>
void keep_if(std::vector<T>& items, const Device& device, const Keep& keep) {
    std::vector<std::pair<std::int64_t, std::int64_t>> kept;  // ranges
    std::mutex mutex;
    for_each_range(std::ssize(items), device, [&](std::int64_t begin, std::int64_t end) {
        const auto last =
            std::remove_if(items.begin() + begin, items.begin() + end, [&](const T& item) { return !keep(item); });
        const std::lock_guard lock(mutex);
        kept.emplace_back(begin, last - items.begin());
    });
    std::sort(kept.begin(), kept.end());
    auto to = items.begin();
    for (const auto& [begin, end] : kept) to = std::move(items.begin() + begin, items.begin() + end, to);
    items.erase(to, items.end());
}

/// The numbers below n for which keep(i), rising.
template <class Keep>
std::vector<std::int32_t> numbers_with(std::int64_t n, const Device& device, const Keep& keep) {
    std::vector<std::int32_t> numbers = zeros<std::int32_t>(n, device.threads());
    update(std::span(numbers), device, [](std::int32_t, std::int64_t i) { return static_cast<std::int32_t>(i); });
    keep_if(numbers, device, keep);
    return numbers;
}

}  // namespace solver::cpu
