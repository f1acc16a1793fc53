#include "guarantee/singularity.hpp"

#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "guarantee/dependent_columns.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// The entries of a row that are not 0.
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
        constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
        std::uint64_t hash = 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Whole first = whole(values.front()), own = whole(values[k]);
            int shift = 0;
            const double quotient = std::frexp(static_cast<double>(own.mantissa) / static_cast<double>(first.mantissa), &shift);
            const auto exponent = static_cast<std::uint64_t>(own.exponent - first.exponent + shift);
            for (const std::uint64_t word :
                 {static_cast<std::uint64_t>(columns[k]), std::bit_cast<std::uint64_t>(quotient), exponent})
                hash = std::rotl((hash ^ word) * factor, 29);
        }
        return hash;
    }

    bool is_multiple_of(const Row& other) const {
        if (columns != other.columns) return false;
        for (std::size_t k = 0; k < values.size(); ++k)
            if (product(values[k], other.values.front()) != product(other.values[k], values.front())) return false;
        return true;
    }
};

/// Two rows of which one is a multiple of the other. The rows are sorted.
template <class T>
std::optional<std::pair<std::int64_t, std::int64_t>> twins(const CsrView<T>& a) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> hashes(static_cast<std::size_t>(a.rows));
    cpu::for_each_range(a.rows, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) hashes[i] = {Row<T>(a, i).hash(), i};
    });
    std::sort(hashes.begin(), hashes.end());
    for (std::size_t k = 1; k < hashes.size(); ++k) {
        const auto [one, other] = std::pair(hashes[k - 1].second, hashes[k].second);
        if (hashes[k - 1].first == hashes[k].first && Row<T>(a, one).is_multiple_of(Row<T>(a, other)))
            return std::pair(one, other);
    }
    return std::nullopt;
}

/// Whether A v is exactly 0, where v holds whole numbers. A sum is then a multiple of the smallest subnormal, so that one which
/// is not 0 is not rounded to 0.
template <class T>
bool maps_to_zero(const SpmvPlan<T>& a, std::span<const T> v) {
    std::vector<T> image(static_cast<std::size_t>(a.rows()));
    a.multiply(1, v, 0, image, Accuracy::exact);
    return std::all_of(image.begin(), image.end(), [](T value) { return value == 0; });
}

/// `what` are the rows of a: rows of A, or columns.
template <class T>
std::string why_rows_are_dependent(const CsrView<T>& a, const char* what) {
    if (!has_sorted_rows(a)) return "";
    const auto found = twins(a);
    if (!found) return "";
    return fmt::format("A is singular: {}s {} and {} (counted from 1) are multiples of one another", what, found->first + 1,
                       found->second + 1);
}

/// Makes whole numbers of v by the smallest of its multiples that is near to such. False where there is none.
bool make_whole(std::vector<double>& v) {
    constexpr int most_multiple = 60;
    constexpr double near = 1e-6, largest = 0x1p20;
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (const double value : v) {
        most = std::max(most, magnitude(value));
        if (magnitude(value) > near) least = std::min(least, magnitude(value));
    }
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
    if (const Diagnosis structure = diagnose(matrix, Device::cpu()); structure.structural_rank < a.rows())
        return fmt::format("A is singular whatever its values are: its structural rank is {} of {}", structure.structural_rank,
                           a.rows());
    const std::vector<T> ones(static_cast<std::size_t>(a.rows()), T(1));
    if (maps_to_zero<T>(a, ones)) return "A is singular: A times ones is exactly zero";
    if (std::string why = why_rows_are_dependent(matrix, "row"); !why.empty()) return why;
    if (has_sorted_rows(matrix, Device::cpu()) && cpu::is_symmetric(matrix, Device::cpu())) return "";
    const CsrMatrix<T> by_columns = transpose(matrix, Device::cpu());
    if (maps_to_zero<T>(SpmvPlan<T>(by_columns, Device::cpu()), ones)) return "A is singular: its rows add up to exactly zero";
    return why_rows_are_dependent<T>(by_columns, "column");
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
