#include "guarantee/singularity.hpp"

#include "core/exact_sum.hpp"
#include "core/huge_pages.hpp"
#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "cuda/spmv.hpp"
#include "guarantee/dependent_columns.hpp"
#include "guarantee/norms.hpp"
#include "preparation/full_diagonal.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver::guarantee {
namespace {

/// A number other than 0 as mantissa 2^exponent, its mantissa a whole number of at most 53 bits.
struct Whole {
    std::int64_t mantissa;
    int exponent;
};

Whole whole(double x) {
    constexpr int digits = 53;
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return {static_cast<std::int64_t>(std::ldexp(fraction, digits)), exponent};
}

/// A real product of two numbers other than 0, such that products are equal if and only if mantissas and exponents are.
struct Product {
    __int128 mantissa;
    int exponent;
    bool operator==(const Product&) const = default;
};

Product product(double x, double y) {
    const Whole a = whole(x), b = whole(y);
    constexpr __int128 least = __int128{1} << 105;  // mantissas have exactly 53 bits, so that theirs has 105 or 106
    const __int128 mantissa = static_cast<__int128>(a.mantissa) * b.mantissa;
    const bool is_small = mantissa < least && mantissa > -least;
    return {is_small ? 2 * mantissa : mantissa, a.exponent + b.exponent - (is_small ? 1 : 0)};
}

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
    return std::rotl((hash ^ word) * factor, 29);
}

/// The entries of a row that are not 0, in the order in which they are stored.
template <class T>
struct Row {
    std::vector<std::int32_t> columns;
    std::vector<double> values;

    Row(const CsrView<T>& a, std::int64_t i) {
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            if (a.values[k] == 0) continue;
            columns.push_back(a.column_indices[k]);
            values.push_back(static_cast<double>(a.values[k]));
        }
    }

    /// Equal for rows of which one is a multiple of the other: rounded quotients depend on the quotients alone.
    std::uint64_t hash() const {
        std::uint64_t hash = 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Whole first = whole(values.front()), own = whole(values[k]);
            int shift = 0;
            const double quotient = std::frexp(static_cast<double>(own.mantissa) / static_cast<double>(first.mantissa), &shift);
            const auto exponent = static_cast<std::uint64_t>(own.exponent - first.exponent + shift);
            for (const std::uint64_t word :
                 {static_cast<std::uint64_t>(columns[k]), std::bit_cast<std::uint64_t>(quotient), exponent})
                hash = mixed(hash, word);
        }
        return hash;
    }
};

/// Whether one row is a multiple of the other, entry by entry in the order in which those that are not 0 are stored.
template <class T>
bool are_multiples(const CsrView<T>& a, std::int64_t one, std::int64_t other) {
    const auto next = [&](std::int64_t k, std::int64_t end) {
        while (k < end && a.values[k] == 0) ++k;
        return k;
    };
    const std::int64_t end_of_one = a.row_offsets[one + 1], end_of_other = a.row_offsets[other + 1];
    std::int64_t k = next(a.row_offsets[one], end_of_one), l = next(a.row_offsets[other], end_of_other);
    const std::int64_t first_k = k, first_l = l;
    for (; k < end_of_one && l < end_of_other; k = next(k + 1, end_of_one), l = next(l + 1, end_of_other)) {
        if (a.column_indices[k] != a.column_indices[l]) return false;
        if (k == first_k) continue;
        if (product(a.values[k], a.values[first_l]) != product(a.values[l], a.values[first_k])) return false;
    }
    return k == end_of_one && l == end_of_other;
}

/// Rows whose nonzeros stand in the same columns as those of another row, and a few more.
template <class T>
std::vector<std::int64_t> rows_of_shared_patterns(const CsrView<T>& a) {
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(a.rows));
    cpu::for_each_range(a.rows, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                if (a.values[k] != 0) hashes[i] = mixed(hashes[i], static_cast<std::uint64_t>(a.column_indices[k]));
    });
    std::vector<std::uint8_t> counts(std::bit_ceil(4 * hashes.size()));
    const auto count_of = [&](std::uint64_t hash) -> std::uint8_t& { return counts[hash & (counts.size() - 1)]; };
    for (const std::uint64_t hash : hashes) count_of(hash) = count_of(hash) == 0 ? 1 : 2;
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < hashes.size(); ++i)
        if (count_of(hashes[i]) == 2) rows.push_back(static_cast<std::int64_t>(i));
    return rows;
}

/// Two rows of which one is a multiple of the other.
using Twins = std::optional<std::pair<std::int64_t, std::int64_t>>;

template <class T>
Twins twins(const CsrView<T>& a) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> hashes;
    for (const std::int64_t i : rows_of_shared_patterns(a)) hashes.emplace_back(Row<T>(a, i).hash(), i);
    std::sort(hashes.begin(), hashes.end());
    for (std::size_t k = 1; k < hashes.size(); ++k) {
        const auto [one, other] = std::pair(hashes[k - 1].second, hashes[k].second);
        if (hashes[k - 1].first == hashes[k].first && are_multiples(a, one, other)) return std::pair(one, other);
    }
    return std::nullopt;
}

/// The first row that is a multiple of an earlier one, where the diagonal has no zeros: the earlier one has an entry in the
/// column of the later one's number, as that has on the diagonal.
template <class T>
Twins twins_by_diagonal(const CsrView<T>& a) {
    Twins first;
    std::mutex mutex;
    cpu::for_each_range(a.rows, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const std::int64_t j = a.column_indices[k];
                if (j <= i || !are_multiples(a, i, j)) continue;
                const std::lock_guard lock(mutex);
                if (!first || std::pair(i, j) < *first) first = std::pair(i, j);
                return;
            }
    });
    return first;
}

template <class T>
bool adds_up_to_zero(const CsrView<T>& a, std::int64_t i) {
    const std::int64_t begin = a.row_offsets[i];
    return exact_sum(a.values.subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(a.row_offsets[i + 1] - begin))) == T(0);
}

/// Whether A v is exactly 0, where v holds whole numbers. A sum is then a multiple of the smallest subnormal, so that one which
/// is not 0 is not rounded to 0.
template <class T>
bool maps_to_zero(const SpmvPlan<T>& a, std::span<const T> v) {
    std::vector<T> image = zeros<T>(a.rows(), Device::cpu().threads());
    a.multiply(1, v, 0, image, Accuracy::exact);
    return largest(a.rows(), [&](std::int64_t i) { return image[i] == 0 ? 0.0 : 1.0; }) == 0;
}

/// Whether all rows add up to exactly 0; one of the first that does not is nearly always found where not all do.
template <class T>
bool maps_ones_to_zero(const SpmvPlan<T>& a) {
    constexpr std::int64_t first_rows = 1000;
    const CsrView<T>& matrix = a.matrix();
    for (std::int64_t i = 0; i < std::min(first_rows, a.rows()); ++i)
        if (!adds_up_to_zero(matrix, i)) return false;
    return maps_to_zero<T>(a, std::vector<T>(static_cast<std::size_t>(a.rows()), T(1)));
}

/// To the bit, with sorted rows, by the device that has A.
template <class T>
bool is_symmetric(const SpmvPlan<T>& a) {
    if (a.on_device() != nullptr && a.dense() == nullptr) return a.on_device()->facts().is_symmetric;
    return has_sorted_rows(a.matrix(), Device::cpu()) && cpu::is_symmetric(a.matrix(), Device::cpu());
}

/// `what` are the rows of a: rows of A, or columns.
template <class T>
std::string why_rows_are_dependent(const CsrView<T>& a, const char* what, bool has_full_diagonal) {
    const Twins found = has_full_diagonal ? twins_by_diagonal(a) : twins(a);
    if (!found) return "";
    return fmt::format("A is singular: {}s {} and {} (counted from 1) are multiples of one another", what, found->first + 1,
                       found->second + 1);
}

/// Makes whole numbers, not all of them zero, of v by the smallest of its multiples that is near to such. False where there is
/// none.
bool make_whole(std::vector<double>& v) {
    constexpr int most_multiple = 60;
    constexpr double near = 1e-6, largest = 0x1p20;
    double size = 0;
    for (const double value : v) size = std::max(size, magnitude(value));
    if (!(size > 0) || !is_finite(size)) return false;
    for (double& value : v) value /= size;  // what is small beside it counts as zero
    constexpr double most = 1;
    double least = most;
    for (const double value : v)
        if (magnitude(value) > near) least = std::min(least, magnitude(value));
    for (int multiple = 1; multiple <= most_multiple; ++multiple) {
        const double factor = multiple / least;
        if (!(most * factor <= largest)) return false;
        if (!std::all_of(v.begin(), v.end(), [&](double x) { return magnitude(x * factor - std::rint(x * factor)) <= near; }))
            continue;
        for (double& value : v) value = std::rint(value * factor);
        return true;
    }
    return false;
}

}  // namespace

template <class T>
std::string why_singular(const SpmvPlan<T>& a) {
    if (a.rows() == 0) return "";
    const CsrView<T>& matrix = a.matrix();
    const bool has_full_diagonal = preparation::has_full_diagonal(a);
    if (!has_full_diagonal)
        if (const Diagnosis structure = diagnose(matrix, Device::cpu()); structure.structural_rank < a.rows())
            return fmt::format("A is singular whatever its values are: its structural rank is {} of {}",
                               structure.structural_rank, a.rows());
    if (maps_ones_to_zero(a)) return "A is singular: A times ones is exactly zero";
    if (std::string why = why_rows_are_dependent(matrix, "row", has_full_diagonal); !why.empty()) return why;
    if (is_symmetric(a)) return "";
    const CsrMatrix<T> by_columns = transpose(matrix, Device::cpu());
    if (maps_ones_to_zero(SpmvPlan<T>(by_columns, Device::cpu()))) return "A is singular: its rows add up to exactly zero";
    return why_rows_are_dependent<T>(by_columns, "column", has_full_diagonal);
}

std::string why_singular_by_elimination(const SpmvPlan<double>& a, const Preparation& preparation, double most_operations) {
    const CsrMatrix<double> by_columns = transpose(prepared_matrix(a.matrix(), preparation).view(), Device::cpu());
    const std::vector<double> prepared = first_dependence(by_columns, most_operations);
    if (prepared.empty()) return "";
    std::vector<double> v(prepared.size());
    for (std::size_t l = 0; l < v.size(); ++l) {
        const std::int32_t column = preparation.column_order[l];
        v[column] = std::ldexp(prepared[l], preparation.column_exponents[column]);
    }
    if (!make_whole(v) || !maps_to_zero<double>(a, v)) return "";
    const auto count = std::count_if(v.begin(), v.end(), [](double x) { return x != 0; });
    return fmt::format("A is singular: {} of its columns, times whole numbers, add up to exactly zero", count);
}

template std::string why_singular(const SpmvPlan<float>&);
template std::string why_singular(const SpmvPlan<double>&);

}  // namespace solver::guarantee
