#pragma once

/// Products and residuals of adversarial matrices, and what they should be.

#include "solver/csr_matrix.hpp"
#include "support/adversarial.hpp"
#include "support/expected.hpp"

#include <vector>

namespace solver::testing {

/// Every factor that may take a path of its own, and some that overflow and underflow.
template <std::floating_point T>
std::vector<T> factors() {
    const T huge = std::is_same_v<T, float> ? T(-1e30) : T(-1e300);
    return {T(0), T(1), T(-1), T(2), T(0.1), huge, 3 * std::numeric_limits<T>::denorm_min()};
}

/// The row offsets of a matrix in 32 bits, and the matrix with them.
template <class T>
class WithNarrowOffsets {
public:
    explicit WithNarrowOffsets(const CsrMatrix<T>& a) : a_(a), offsets_(a.row_offsets.begin(), a.row_offsets.end()) {}

    const std::vector<std::int32_t>& offsets() const { return offsets_; }
    CsrView<T> view() const { return {a_.rows, a_.columns, offsets_, a_.column_indices, a_.values}; }

private:
    const CsrMatrix<T>& a_;
    std::vector<std::int32_t> offsets_;
};

/// A copy that starts one element after where memory was allocated, so that no vector is aligned.
template <class T>
class Misaligned {
public:
    explicit Misaligned(std::span<const T> values) : memory_(values.size() + 1) {
        std::copy(values.begin(), values.end(), memory_.begin() + 1);
    }
    Misaligned(std::size_t size, T value) : memory_(size + 1, value) {}

    std::span<T> view() { return std::span<T>(memory_).subspan(1); }

private:
    std::vector<T> memory_;
};

/// A row of every adversarial class, so long that several threads share it.
template <std::floating_point T>
std::vector<Terms<T>> huge_adversarial_rows(Random& random) {
    std::vector<Terms<T>> rows;
    for (const auto& made : adversarial_classes<T>()) {
        Terms<T> terms = made.make(random, 300);
        while (terms.size() < 9000) terms.add(T(0), T(1));
        adversarial::shuffle(terms, random);
        rows.push_back(terms);
    }
    return rows;
}

/// A system with a row for each of the given sums: x holds all right factors, in an order without pattern.
template <std::floating_point T>
struct MatrixAndVector {
    CsrMatrix<T> a;
    std::vector<T> x;
};

template <std::floating_point T>
MatrixAndVector<T> matrix_of(const std::vector<Terms<T>>& rows, Random& random) {
    MatrixAndVector<T> made;
    made.a.rows = static_cast<std::int64_t>(rows.size());
    std::int64_t count = 0;
    for (const Terms<T>& terms : rows) count += static_cast<std::int64_t>(terms.size());
    std::vector<std::int32_t> place(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t j = random.between(0, k);
        place[k] = place[j];
        place[j] = static_cast<std::int32_t>(k);
    }
    made.a.columns = count;
    made.x.resize(static_cast<std::size_t>(count));
    for (const Terms<T>& terms : rows) {
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const std::int32_t column = place[made.a.values.size()];
            made.a.values.push_back(terms.a[i]);
            made.a.column_indices.push_back(column);
            made.x[column] = terms.b[i];
        }
        made.a.row_offsets.push_back(made.a.nonzeros());
    }
    return made;
}

/// `trials` rows of every class: neighbours of one class and length, as vector lanes like them, then all lengths and classes
/// mixed, Inf and NaN among them. Every row but the last few is shorter than `longest`.
template <std::floating_point T>
std::vector<Terms<T>> adversarial_rows(Random& random, int trials, std::int64_t longest) {
    std::vector<Terms<T>> rows;
    for (const auto& made : adversarial_classes<T>()) {
        for (int trial = 0; trial < trials / 2;) {
            const auto n = static_cast<std::size_t>(random.between(8, longest));
            for (int i = 0; i < 19; ++i, ++trial) rows.push_back(made.make(random, n));
        }
    }
    const auto classes = adversarial_classes<T>();
    for (int trial = 0; trial < trials / 2 * static_cast<int>(classes.size()); ++trial) {
        if (random.between(0, 9) == 0) rows.emplace_back();
        const auto& made = classes[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(classes.size()) - 1))];
        rows.push_back(made.make(random, static_cast<std::size_t>(random.between(8, longest))));
    }
    return rows;
}

/// A (x + x_low), row by row.
template <std::floating_point T>
std::vector<ExpectedSum<T>> expected_rows(const CsrView<T>& a, std::span<const T> x, std::span<const T> x_low = {}) {
    std::vector<ExpectedSum<T>> rows(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            rows[i].add_product(a.values[k], x[a.column_indices[k]]);
            if (!x_low.empty()) rows[i].add_product(a.values[k], x_low[a.column_indices[k]]);
        }
    return rows;
}

template <std::floating_point T>
std::vector<ExpectedSum<T>> affine(const std::vector<ExpectedSum<T>>& rows, T alpha, T beta, std::span<const T> y) {
    std::vector<ExpectedSum<T>> result;
    result.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) result.push_back(rows[i].affine(alpha, beta, beta == 0 ? T(0) : y[i]));
    return result;
}

template <std::floating_point T>
std::vector<T> rounded(const std::vector<ExpectedSum<T>>& rows) {
    std::vector<T> result;
    for (const ExpectedSum<T>& row : rows) result.push_back(row.rounded());
    return result;
}

/// Numbers to be added to the rows: any, what cancels the row, zeros, the smallest.
template <std::floating_point T>
std::vector<T> adversarial_addends(Random& random, const std::vector<ExpectedSum<T>>& rows) {
    std::vector<T> y;
    for (const ExpectedSum<T>& row : rows) {
        const T cancels = -row.rounded();
        switch (random.between(0, 5)) {
            case 0:
                y.push_back(std::isfinite(cancels) ? cancels : T(1));
                break;
            case 1:
                y.push_back(std::isfinite(cancels) ? cancels * unit_roundoff<T> : T(1));
                break;
            case 2:
                y.push_back(random.coin() ? T(0) : -T(0));
                break;
            case 3:
                y.push_back(random.coin() ? std::numeric_limits<T>::denorm_min() : -std::numeric_limits<T>::denorm_min());
                break;
            default:
                y.push_back(random.number<T>(static_cast<int>(random.between(-20, 20))));
        }
    }
    return y;
}

/// "" where every element keeps the promise of the mode.
template <std::floating_point T>
std::string broken_promises(std::span<const T> found, const std::vector<ExpectedSum<T>>& rows, std::span<const T> rounded_rows,
                            Accuracy accuracy) {
    if (accuracy == Accuracy::exact) return differences<T>(found, rounded_rows);
    std::string text;
    for (std::size_t i = 0; i < rows.size() && text.empty(); ++i) {
        if (same_bits(found[i], rounded_rows[i]) || rows[i].allows(found[i], accuracy)) continue;
        char line[200];
        std::snprintf(line, sizeof line, "%s: element %zu is %a instead of %a", to_string(accuracy).data(), i, double{found[i]},
                      double{rounded_rows[i]});
        text = line;
    }
    return text;
}

}  // namespace solver::testing
