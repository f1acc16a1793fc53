#pragma once

/// Exact sums, dot products and norms of vectors whose elements are spread over several processes: every process makes a
/// partial result of its own elements, the partial results are merged in any order and tree, and the whole is rounded once. The
/// result has the bits of solver/reduce.hpp in exact, however the elements are shared out.
///
/// First a PartialSum, 48 bytes (float 40): its merge may be an operation of MPI (MPI_Op_create; it commutes, bit for bit).
/// Where try_result says no, about once in several thousand sums, more often where all cancels to zero, and always where a term
/// is Inf or NaN, the processes do it once more with SumDigits: integers that are added element by element, hence MPI_SUM of
/// MPI_INT64_T. An allreduce gives the same bits to all processes, so that all of them decide alike.
/// petsc/examples/distributed_dot.cpp is a whole program.
///
/// A norm is partial_dot(x, x) with try_sqrt and sqrt_result. The functions below take vectors in the memory of the host, and
/// throw NotSupported for a Device that is not a processor; cuda::PartialReducer (cuda/partial.hpp) makes the same of vectors
/// on a device. An empty part is that of a sum without terms. The functions do not mind what floating-point environment the
/// caller has set; members of PartialSum and SumDigits need rounding to nearest and subnormals that are kept.

#include "solver/device.hpp"
#include "solver/numeric/escalation.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace solver {

/// sum x_i or sum x_i y_i of some elements, to about three times the working precision (float: twice double's), with a proof of
/// what is lost. Trivially copyable: it may travel as bytes between machines of one byte order.
///
/// The proof is the filter's (filtered.hpp): it holds for every tree of merges. N, what products below the normal range lose,
/// is the sum of the parts' N: integer multiples of eta, each addition exact, or rounded by less than the factor of two that N
/// has to spare. A chain of 10^5 merges costs 17 of the filter's more than 100 spare bits; from some 10^7 merges in one chain
/// on it decides nothing. Trees have no limit.
template <std::floating_point T>
class PartialSum {
public:
    using Filter = typename AccumulatorOf<T, Accuracy::exact>::type;

    /// No terms.
    PartialSum() = default;

    /// `underflow` is N of the filter's products; 0 for sums and floats.
    SOLVER_HD PartialSum(const Filter& sum, T underflow) : sum_(sum), underflow_(underflow) {}

    SOLVER_HD void merge(const PartialSum& other) noexcept {
        sum_.merge(other.sum_);
        underflow_ = add_rn(underflow_, other.underflow_);
    }

    /// Gives RN of the exact sum and returns true, or returns false and leaves `result`: then only SumDigits know.
    SOLVER_HD bool try_result(T& result) const noexcept { return sum_.try_result(result, underflow_); }

    /// Gives RN(sqrt(exact sum)) and returns true, or returns false where it cannot be decided.
    SOLVER_HD bool try_sqrt(T& result) const noexcept { return sum_.try_sqrt(result, underflow_); }

    const Filter& filter() const noexcept { return sum_; }

private:
    Filter sum_;
    T underflow_{0};
};

/// A sum without any rounding, as integers of which up to 2^26 such sums may be added element by element, by anybody. 1960
/// bytes.
///
/// V = sum_k (word[2k] + word[2k+1] 2^27) 2^(53 k - 3262), k < 121: the Superaccumulator's digits, each cut in two, then how
/// often Inf, -Inf and NaN were met. Of a sum whose carries are resolved the lower halves lie in [0, 2^27), the upper ones
/// within 2^25 + 1, which leaves 2^26 additions in 63 bits. (The digits as they are would leave 1000.) No sum or dot product of
/// 2^63 doubles reaches the uppermost digit.
struct SumDigits {
    static constexpr int size = 2 * superaccumulator_digits + 3;

    SumDigits() = default;
    explicit SumDigits(const Superaccumulator& sum) noexcept;

    void merge(const SumDigits& other) noexcept {
        for (std::size_t k = 0; k < word.size(); ++k) word[k] += other.word[k];
    }

    /// RN(V), one rounding; RN(sqrt(V)); special values as in reduce.hpp.
    template <std::floating_point T>
    T result() const noexcept {
        return total().result<T>();
    }
    template <std::floating_point T>
    T sqrt_result() const noexcept {
        return total().sqrt_result<T>();
    }

    /// V again.
    Superaccumulator total() const noexcept;

    std::array<std::int64_t, size> word{};
};

/// sum_i x_i
PartialSum<double> partial_sum(std::span<const double> x, const Device& device = Device::cpu());
PartialSum<float> partial_sum(std::span<const float> x, const Device& device = Device::cpu());
SumDigits sum_digits(std::span<const double> x, const Device& device = Device::cpu());
SumDigits sum_digits(std::span<const float> x, const Device& device = Device::cpu());

/// sum_i x_i y_i. Throws DimensionMismatch if the lengths differ.
PartialSum<double> partial_dot(std::span<const double> x, std::span<const double> y, const Device& device = Device::cpu());
PartialSum<float> partial_dot(std::span<const float> x, std::span<const float> y, const Device& device = Device::cpu());
SumDigits dot_digits(std::span<const double> x, std::span<const double> y, const Device& device = Device::cpu());
SumDigits dot_digits(std::span<const float> x, std::span<const float> y, const Device& device = Device::cpu());

/// sum_i x_i y_ji for every y_j, each with the bits of partial_dot; x is read from memory once.
std::vector<PartialSum<double>> partial_dots(std::span<const double> x, std::span<const std::span<const double>> ys,
                                             const Device& device = Device::cpu());
std::vector<PartialSum<float>> partial_dots(std::span<const float> x, std::span<const std::span<const float>> ys,
                                            const Device& device = Device::cpu());

}  // namespace solver
