#pragma once

/// How many elements are wrong by how much.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace solver::blas2 {

/// Elements by their error in ulp of the true result: class 0 has the correctly rounded bits, class k an error in
/// (previous class, k] for k = 1/2, 1, 2, 4, 8, ...; besides, those without one correct digit (off by half of the true result
/// or more), and those that are Inf or NaN where they should not be, or are not where they should.
class Histogram {
public:
    void add_correct(std::int64_t count = 1) { correct_ += count; }
    void add_wrong_digits(std::int64_t count = 1) { wrong_digits_ += count; }
    void add_non_finite(std::int64_t count = 1) { non_finite_ += count; }
    /// Of an element without the correct bits. 0 ulp, as -0 for +0 has, goes to class 1/2.
    void add_ulps(long double ulps);

    std::int64_t correct() const { return correct_; }
    std::int64_t wrong_digits() const { return wrong_digits_; }
    std::int64_t non_finite() const { return non_finite_; }
    /// Elements with the correct digits but errors above `low` and up to `high` ulp, both of them bounds of classes.
    std::int64_t between(double low, double high) const;
    std::int64_t total() const;

    /// All of another one too.
    void add(const Histogram& other);

    /// By the names of the classes: "0", "0.5", "1", "2", "4", ... as far as there are any, "wrong_digits", "non_finite".
    std::vector<std::pair<std::string, std::int64_t>> by_name() const;

private:
    std::int64_t correct_ = 0;
    std::int64_t wrong_digits_ = 0;
    std::int64_t non_finite_ = 0;
    std::map<int, std::int64_t> by_exponent_;  ///< class 2^key, from 2^-1 on
};

}  // namespace solver::blas2
