#pragma once

/// Triangular systems that test substitution, and what their solutions should be.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/complex.hpp"
#include "solver/triangular_solve.hpp"
#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/products.hpp"
#include "support/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver::testing {

/// A triangular matrix as a list of rows: entries beside the diagonal with sorted columns, and the diagonal.
template <class T>
struct TriangularRows {
    Triangle triangle = Triangle::lower;
    std::vector<std::vector<std::pair<std::int32_t, T>>> beside;
    std::vector<T> pivot;

    std::int64_t size() const { return static_cast<std::int64_t>(pivot.size()); }

    CsrMatrix<T> csr(Diagonal diagonal) const {
        CsrMatrix<T> a;
        a.rows = a.columns = size();
        for (std::int64_t i = 0; i < size(); ++i) {
            std::vector<std::pair<std::int32_t, T>> row = beside[i];
            const std::pair own(static_cast<std::int32_t>(i), pivot[i]);
            if (diagonal == Diagonal::stored) row.insert(triangle == Triangle::lower ? row.end() : row.begin(), own);
            for (const auto& [column, value] : row) {
                a.column_indices.push_back(column);
                a.values.push_back(value);
            }
            a.row_offsets.push_back(a.nonzeros());
        }
        return a;
    }

    /// Everything that must not be read is NaN.
    std::vector<T> dense(Diagonal diagonal, std::int64_t row_stride, std::int64_t column_stride) const {
        const std::int64_t n = size();
        std::vector<T> values(static_cast<std::size_t>(n * std::max(row_stride, column_stride)), T(nan_value<RealOf<T>>));
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t first = triangle == Triangle::lower ? 0 : i + 1;
            const std::int64_t last = triangle == Triangle::lower ? i : n;
            for (std::int64_t j = first; j < last; ++j) values[i * row_stride + j * column_stride] = 0;
            for (const auto& [j, value] : beside[i]) values[i * row_stride + j * column_stride] = value;
            if (diagonal == Diagonal::stored) values[i * (row_stride + column_stride)] = pivot[i];
        }
        return values;
    }

    /// With a stored zero where there is no entry.
    TriangularRows filled() const {
        TriangularRows full = *this;
        for (std::int64_t i = 0; i < size(); ++i) {
            auto& row = full.beside[i];
            row.clear();
            const std::int64_t first = triangle == Triangle::lower ? 0 : i + 1;
            const std::int64_t last = triangle == Triangle::lower ? i : size();
            for (std::int64_t j = first; j < last; ++j) row.emplace_back(static_cast<std::int32_t>(j), T(0));
            for (const auto& [j, value] : beside[i]) row[j - first].second = value;
        }
        return full;
    }

    /// The system with rows and columns in opposite order.
    TriangularRows reversed() const {
        TriangularRows other;
        other.triangle = triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
        other.pivot.assign(pivot.rbegin(), pivot.rend());
        for (auto row = beside.rbegin(); row != beside.rend(); ++row) {
            auto& to = other.beside.emplace_back();
            for (auto entry = row->rbegin(); entry != row->rend(); ++entry)
                to.emplace_back(static_cast<std::int32_t>(size() - 1 - entry->first), entry->second);
        }
        return other;
    }
};

/// Whether element i keeps the promise of the mode, given the elements it depends on as they were found.
template <class T>
bool keeps_promise(const TriangularRows<T>& a, Diagonal diagonal, std::int64_t i, Span<T> b, Span<T> x, Accuracy accuracy) {
    ExpectedSum<T> sum;
    for (const auto& [j, value] : a.beside[i]) sum.add_product(-value, x[j]);
    sum.add_product(T(1), b[i]);
    if (diagonal == Diagonal::unit) return sum.allows(x[i], accuracy);
    const T pivot = a.pivot[i];
    if (accuracy != Accuracy::exact && sum.may_overflow()) return true;
    const T quotient = sum.rounded() / pivot;
    if (accuracy == Accuracy::exact || sum.is_special() || !std::isfinite(pivot))
        return same_bits(x[i], std::isnan(quotient) ? nan_value<T> : quotient + T(0));
    if (!std::isfinite(quotient) || !std::isfinite(x[i])) return sum.magnitudes() * 2 > std::abs(double{pivot});
    return sum.allows_quotient(x[i], pivot, accuracy);
}

template <class T>
std::string broken_promises(const TriangularRows<T>& a, Diagonal diagonal, Span<T> b, Span<T> x, Accuracy accuracy) {
    for (std::int64_t i = 0; i < a.size(); ++i)
        if (!keeps_promise(a, diagonal, i, b, x, accuracy))
            return std::string(to_string(accuracy)) + ": row " + std::to_string(i);
    return "";
}

/// Up to `longest` entries a row, small enough that solutions stay in range.
template <class T>
TriangularRows<T> random_rows(Random& random, std::int64_t n, std::int64_t longest) {
    TriangularRows<T> a;
    for (std::int64_t i = 0; i < n; ++i) {
        auto& row = a.beside.emplace_back();
        const std::int64_t length = std::min(i, random.between(0, longest));
        for (std::int64_t j = i - 1; j >= 0 && static_cast<std::int64_t>(row.size()) < length; j -= random.between(1, 3))
            row.emplace_back(static_cast<std::int32_t>(j), random.number<T>(-static_cast<int>(random.between(5, 12))));
        std::reverse(row.begin(), row.end());
        a.pivot.push_back(random.number<T>(static_cast<int>(random.between(-1, 2))));
    }
    return a;
}

/// Rows that depend on rows of much earlier blocks alone: levels of `width` rows.
template <class T>
TriangularRows<T> wide_rows(Random& random, std::int64_t n, std::int64_t width, std::int64_t longest) {
    TriangularRows<T> a;
    for (std::int64_t i = 0; i < n; ++i) {
        auto& row = a.beside.emplace_back();
        const std::int64_t before = i / width * width;
        const std::int64_t length = random.between(0, random.between(0, longest));
        for (std::int64_t j = random.between(0, width); j < before && static_cast<std::int64_t>(row.size()) < length;
             j += random.between(1, std::max<std::int64_t>(2, 2 * before / longest)))
            row.emplace_back(static_cast<std::int32_t>(j), random.number<T>(-static_cast<int>(random.between(5, 12))));
        a.pivot.push_back(random.number<T>(static_cast<int>(random.between(-1, 2))));
    }
    return a;
}

/// The first elements are the right factors of adversarial sums, which the later rows form: pivot 1, then any.
template <class T>
struct TriangularSystem {
    TriangularRows<T> a;
    std::vector<T> b;
};

template <class T>
TriangularSystem<T> adversarial_system(Random& random, const std::vector<Terms<T>>& sums) {
    TriangularSystem<T> made;
    for (const Terms<T>& terms : sums)
        for (const T factor : terms.b) {
            made.a.beside.emplace_back();
            made.a.pivot.push_back(1);
            made.b.push_back(factor);
        }
    std::int32_t column = 0;
    for (const Terms<T>& terms : sums) {
        auto& row = made.a.beside.emplace_back();
        std::vector<ExpectedSum<T>> rows(1);
        for (std::size_t k = 0; k < terms.size(); ++k) {
            row.emplace_back(column++, terms.a[k]);
            rows[0].add_product(-terms.a[k], terms.b[k]);
        }
        made.b.push_back(adversarial_addends(random, rows)[0]);
        switch (random.between(0, 5)) {
            case 0:
                made.a.pivot.push_back(7 * std::numeric_limits<T>::denorm_min());
                break;
            case 1:
                made.a.pivot.push_back(-std::numeric_limits<T>::max());
                break;
            case 2:
                made.a.pivot.push_back(T(3));
                break;
            case 3:
                made.a.pivot.push_back(random.coin() ? nan_value<T> : std::numeric_limits<T>::infinity());
                break;
            default:
                made.a.pivot.push_back(random.number<T>(static_cast<int>(random.between(-30, 30))));
        }
    }
    return made;
}

}  // namespace solver::testing
