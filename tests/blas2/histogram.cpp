#include "histogram.hpp"

#include <fmt/format.h>

#include <cmath>

namespace solver::blas2 {
namespace {

/// The least k >= -1 with ulps <= 2^k.
int class_of(long double ulps) {
    if (ulps <= 0.5) return -1;
    int exponent = 0;
    const long double significand = std::frexp(ulps, &exponent);  // in [1/2, 1)
    return significand == 0.5 ? exponent - 1 : exponent;
}

}  // namespace

void Histogram::add_ulps(long double ulps) { ++by_exponent_[class_of(ulps)]; }

std::int64_t Histogram::between(double low, double high) const {
    std::int64_t count = 0;
    for (const auto& [exponent, elements] : by_exponent_) {
        const double bound = std::ldexp(1.0, exponent);
        if (bound > low && bound <= high) count += elements;
    }
    return count;
}

std::int64_t Histogram::total() const {
    std::int64_t count = correct_ + wrong_digits_ + non_finite_;
    for (const auto& [exponent, elements] : by_exponent_) count += elements;
    return count;
}

void Histogram::add(const Histogram& other) {
    correct_ += other.correct_;
    wrong_digits_ += other.wrong_digits_;
    non_finite_ += other.non_finite_;
    for (const auto& [exponent, elements] : other.by_exponent_) by_exponent_[exponent] += elements;
}

std::vector<std::pair<std::string, std::int64_t>> Histogram::by_name() const {
    std::vector<std::pair<std::string, std::int64_t>> classes{{"0", correct_}};
    const int last = by_exponent_.empty() ? -1 : by_exponent_.rbegin()->first;
    for (int exponent = -1; exponent <= last; ++exponent) {
        const auto found = by_exponent_.find(exponent);
        classes.emplace_back(fmt::format("{}", std::ldexp(1.0, exponent)), found == by_exponent_.end() ? 0 : found->second);
    }
    classes.emplace_back("wrong_digits", wrong_digits_);
    classes.emplace_back("non_finite", non_finite_);
    return classes;
}

}  // namespace solver::blas2
