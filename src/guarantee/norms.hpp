#pragma once

/// Bounds of A^-1 r by a certificate, and sums and maxima by several threads that have the same bits for any number of them.

#include "cpu/elementwise.hpp"
#include "guarantee/decision.hpp"
#include "solver/guarantee.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace solver::guarantee {

/// The largest of f(0), ..., f(size - 1) and 0; infinite where one is NaN.
template <class F>
double largest(std::int64_t size, const F& f) {
    double found = 0;
    std::mutex mutex;
    cpu::for_each_range(size, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        double most = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const double value = f(i);
            most = value <= most ? most : value == value ? value : std::numeric_limits<double>::infinity();
        }
        const std::lock_guard lock(mutex);
        found = std::max(found, most);
    });
    return found;
}

/// An upper bound of f(0) + ... + f(size - 1), all of them 0 or more.
template <class F>
double sum_above(std::int64_t size, const F& f) {
    std::vector<double> terms(static_cast<std::size_t>(size));
    cpu::update(std::span(terms), Device::cpu(), [&](double, std::int64_t i) { return f(i); });
    const double result = sum(terms, Accuracy::exact);
    return result == result ? above(result) : std::numeric_limits<double>::infinity();
}

/// An upper bound of N(r) for |r_i| <= size(i), where r has these elements alone beside zeros: i = index(0), ..., index(count -
/// 1).
template <class Index, class Size>
double norm_above(const Certificate& certificate, std::int64_t count, const Index& index, const Size& size) {
    const auto weighted = [&](std::int64_t k) {
        const std::int64_t i = index(k);
        return certificate.weights[i] * size(i) + smallest_subnormal<double>;
    };
    return (certificate.adds_up ? sum_above(count, weighted) : largest(count, weighted)) * inflation;
}

/// Of all elements.
template <class Size>
double norm_above(const Certificate& certificate, const Size& size) {
    const auto n = static_cast<std::int64_t>(certificate.weights.size());
    return norm_above(
        certificate, n, [](std::int64_t i) { return i; }, size);
}

/// x + low, rounded to a double; beyond the range of doubles the largest one, which is smaller.
template <class T>
double sum_in_range(T x, T low) noexcept {
    constexpr double most = std::numeric_limits<double>::max();
    return std::clamp(static_cast<double>(x) + static_cast<double>(low), -most, most);
}

/// |t| <= size_before_rounding(RN(t)), but for the rounding of double: half an ulp more; `unit` is the smallest subnormal
/// there.
template <class T>
double size_before_rounding(T rounded, double unit = smallest_subnormal<T>) noexcept {
    const auto size = static_cast<double>(magnitude(rounded));
    return size + (size * static_cast<double>(unit_roundoff<T>) + unit);
}

}  // namespace solver::guarantee
