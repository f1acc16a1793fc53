#include "solver/partial.hpp"

#include "core/check.hpp"
#include "cpu/reduce.hpp"

namespace solver {
namespace {

__extension__ typedef __int128 Int128;

constexpr int digit_bits = 53;
constexpr int lower_bits = 27;
constexpr std::int64_t lower_mask = (std::int64_t{1} << lower_bits) - 1;
constexpr std::int64_t digit_mask = (std::int64_t{1} << digit_bits) - 1;

// Where the numbers of Inf, -Inf and NaN stand.
constexpr int infinities = 2 * superaccumulator_digits;
constexpr int negative_infinities = infinities + 1;
constexpr int nans = infinities + 2;

double special_value(const SumDigits& sum) {
    const bool above = sum.word[infinities] != 0;
    const bool below = sum.word[negative_infinities] != 0;
    if (sum.word[nans] != 0 || (above && below)) return canonical_nan<double>;
    if (!above && !below) return 0;
    return above ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

template <class T>
std::int64_t require_equal_lengths(const char* operation, std::span<const T> x, std::span<const T> y) {
    if (x.size() != y.size())
        throw DimensionMismatch(fmt::format("{}: x has {} elements, y has {}", operation, x.size(), y.size()));
    return static_cast<std::int64_t>(x.size());
}

template <class T>
PartialSum<T> any_partial_sum(std::span<const T> x, const Device& device) {
    require_cpu(device, "partial_sum");
    const cpu::FloatingPointGuard guard;
    return cpu::partial_sum(static_cast<std::int64_t>(x.size()), x.data(), device.threads());
}

template <class T>
std::vector<PartialSum<T>> any_partial_dots(const char* operation, std::span<const T> x, std::span<const std::span<const T>> ys,
                                            const Device& device) {
    require_cpu(device, operation);
    std::vector<const T*> pointers;
    for (const auto& y : ys) {
        require_equal_lengths(operation, x, y);
        pointers.push_back(y.data());
    }
    const cpu::FloatingPointGuard guard;
    return cpu::partial_dots(static_cast<std::int64_t>(x.size()), x.data(), pointers, device.threads());
}

template <class T>
PartialSum<T> any_partial_dot(std::span<const T> x, std::span<const T> y, const Device& device) {
    return any_partial_dots<T>("partial_dot", x, std::span(&y, 1), device).front();
}

template <class T>
SumDigits any_sum_digits(std::span<const T> x, const Device& device) {
    require_cpu(device, "sum_digits");
    const cpu::FloatingPointGuard guard;
    return SumDigits(cpu::superaccumulator(false, static_cast<std::int64_t>(x.size()), x.data(), x.data(), device.threads()));
}

template <class T>
SumDigits any_dot_digits(std::span<const T> x, std::span<const T> y, const Device& device) {
    require_cpu(device, "dot_digits");
    const std::int64_t n = require_equal_lengths("dot_digits", x, y);
    const cpu::FloatingPointGuard guard;
    return SumDigits(cpu::superaccumulator(true, n, x.data(), y.data(), device.threads()));
}

}  // namespace

SumDigits::SumDigits(const Superaccumulator& sum) noexcept {
    std::int64_t digit[superaccumulator_digits];
    BasicSuperaccumulator<StridedDigits<1>> resolved(StridedDigits<1>{digit});
    resolved = sum;
    resolved.resolve_carries();
    for (int k = 0; k < superaccumulator_digits; ++k) {
        word[2 * k] = digit[k] & lower_mask;
        word[2 * k + 1] = digit[k] >> lower_bits;
    }
    const double special = sum.special();
    word[infinities] = special > 0;
    word[negative_infinities] = special < 0;
    word[nans] = special != special;
}

Superaccumulator SumDigits::total() const noexcept {
    OwnDigits digits;
    Int128 carry = 0;
    for (int k = 0; k < superaccumulator_digits; ++k) {
        const Int128 value = carry + word[2 * k] + Int128{word[2 * k + 1]} * (Int128{1} << lower_bits);
        const bool last = k + 1 == superaccumulator_digits;
        digits[k] = static_cast<std::int64_t>(last ? value : value & digit_mask);
        carry = value >> digit_bits;
    }
    return Superaccumulator(digits, special_value(*this));
}

PartialSum<double> partial_sum(std::span<const double> x, const Device& device) { return any_partial_sum(x, device); }
PartialSum<float> partial_sum(std::span<const float> x, const Device& device) { return any_partial_sum(x, device); }

SumDigits sum_digits(std::span<const double> x, const Device& device) { return any_sum_digits(x, device); }
SumDigits sum_digits(std::span<const float> x, const Device& device) { return any_sum_digits(x, device); }

PartialSum<double> partial_dot(std::span<const double> x, std::span<const double> y, const Device& device) {
    return any_partial_dot(x, y, device);
}
PartialSum<float> partial_dot(std::span<const float> x, std::span<const float> y, const Device& device) {
    return any_partial_dot(x, y, device);
}

SumDigits dot_digits(std::span<const double> x, std::span<const double> y, const Device& device) {
    return any_dot_digits(x, y, device);
}
SumDigits dot_digits(std::span<const float> x, std::span<const float> y, const Device& device) {
    return any_dot_digits(x, y, device);
}

std::vector<PartialSum<double>> partial_dots(std::span<const double> x, std::span<const std::span<const double>> ys,
                                             const Device& device) {
    return any_partial_dots("partial_dots", x, ys, device);
}
std::vector<PartialSum<float>> partial_dots(std::span<const float> x, std::span<const std::span<const float>> ys,
                                            const Device& device) {
    return any_partial_dots("partial_dots", x, ys, device);
}

}  // namespace solver
