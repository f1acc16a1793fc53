#pragma once

/// Dense products in all layouts on every device, and what they should be.

#include "solver/gemm.hpp"
#include "support/devices.hpp"
#include "support/products.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace solver::testing {

/// The suite of all of tests/operations/gemm/: one class, since gpu_tests links those programs into one.
template <class T>
class Gemm : public ::testing::Test {};

/// Where the elements of a matrix lie in memory. What lies between them is NaN.
enum class Layout { columns, rows, columns_with_gaps, rows_with_gaps };
inline constexpr Layout layouts[] = {Layout::columns, Layout::rows, Layout::columns_with_gaps, Layout::rows_with_gaps};

/// The layouts of A, B and C.
using Layouts = std::array<Layout, 3>;

inline const std::vector<Layouts>& all_layouts() {
    static const std::vector<Layouts> all = [] {
        std::vector<Layouts> made;
        for (const Layout a : layouts)
            for (const Layout b : layouts)
                for (const Layout c : layouts) made.push_back({a, b, c});
        return made;
    }();
    return all;
}

/// A few that every layout of every matrix occurs in.
inline const std::vector<Layouts> some_layouts = {
    {Layout::columns, Layout::columns, Layout::columns},
    {Layout::rows, Layout::columns_with_gaps, Layout::rows},
    {Layout::columns_with_gaps, Layout::rows_with_gaps, Layout::columns_with_gaps},
    {Layout::rows_with_gaps, Layout::rows, Layout::rows_with_gaps}};

/// Numbers by rows.
template <class T>
struct Matrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<T> values;

    Matrix() = default;
    Matrix(std::int64_t rows, std::int64_t columns, T value = 0)
        : rows(rows), columns(columns), values(static_cast<std::size_t>(rows * columns), value) {}

    T& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
    T at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
};

/// A matrix in memory, one element after where that was allocated.
template <class T>
class Stored {
public:
    Stored(const Matrix<T>& matrix, Layout layout) : view_{matrix.rows, matrix.columns, 1, 1, nullptr} {
        const bool by_rows = layout == Layout::rows || layout == Layout::rows_with_gaps;
        const bool gaps = layout == Layout::columns_with_gaps || layout == Layout::rows_with_gaps;
        std::int64_t& step = by_rows ? view_.row_stride : view_.column_stride;
        step = std::max<std::int64_t>(by_rows ? matrix.columns : matrix.rows, 1) + (gaps ? 3 : 0);
        memory_.assign(static_cast<std::size_t>(step * (by_rows ? matrix.rows : matrix.columns) + 2), nan_value<T>);
        view_.data = memory_.data() + 1;
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (std::int64_t j = 0; j < matrix.columns; ++j) at(i, j) = matrix.at(i, j);
    }
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;

    T& at(std::int64_t i, std::int64_t j) { return view_.data[i * view_.row_stride + j * view_.column_stride]; }
    const MutableDenseView<T>& view() const { return view_; }

    /// The elements by rows, all else still NaN.
    std::vector<T> elements() {
        std::vector<T> found;
        for (std::int64_t i = 0; i < view_.rows; ++i)
            for (std::int64_t j = 0; j < view_.columns; ++j) found.push_back(std::exchange(at(i, j), nan_value<T>));
        for (const T other : memory_) EXPECT_TRUE(same_bits(other, nan_value<T>)) << "written between the elements";
        return found;
    }

private:
    std::vector<T> memory_;
    MutableDenseView<T> view_;
};

/// alpha A B + beta C, in one way of doing it.
template <class T>
struct GemmProblem {
    Matrix<T> a;
    Matrix<T> b;
    T alpha = 1;
    T beta = 0;
    Matrix<T> c;

    GemmProblem(Matrix<T> a, Matrix<T> b) : a(std::move(a)), b(std::move(b)), c(this->a.rows, this->b.columns, nan_value<T>) {}

    std::vector<T> product(const Device& device, Accuracy accuracy, const Layouts& layout = some_layouts[0],
                           const GemmOptions& options = {}) const {
        const Stored<T> stored_a(a, layout[0]);
        const Stored<T> stored_b(b, layout[1]);
        Stored<T> stored_c(c, layout[2]);
        gemm(alpha, stored_a.view(), stored_b.view(), beta, stored_c.view(), accuracy, device, options);
        return stored_c.elements();
    }
};

template <class T>
ExpectedSum<T> expected_element(const Matrix<T>& a, const Matrix<T>& b, std::int64_t i, std::int64_t j) {
    ExpectedSum<T> sum;
    for (std::int64_t k = 0; k < a.columns; ++k) sum.add_product(a.at(i, k), b.at(k, j));
    return sum;
}

/// A B by rows.
template <class T>
std::vector<ExpectedSum<T>> expected_product(const Matrix<T>& a, const Matrix<T>& b) {
    std::vector<ExpectedSum<T>> sums;
    sums.reserve(static_cast<std::size_t>(a.rows * b.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < b.columns; ++j) sums.push_back(expected_element(a, b, i, j));
    return sums;
}

/// work(device) by 1 to 3 threads on every target of the processor, and on every CUDA device.
template <class Work>
void for_each_device(const Work& work) {
    for_each_target([&] {
        for (const int threads : {1, 2, 3}) {
            SCOPED_TRACE(::testing::Message() << threads << " threads");
            work(Device::cpu(threads));
        }
    });
    for (const Device& device : cuda_devices()) {
        SCOPED_TRACE(to_string(device));
        work(device);
    }
}

/// The promises of every mode on every device, and the same bits again; on the processor for any number of threads.
template <class T>
void expect_kept(const GemmProblem<T>& problem, const std::vector<ExpectedSum<T>>& sums,
                 const std::vector<Layouts>& layouts = some_layouts) {
    const auto expected = affine<T>(sums, problem.alpha, problem.beta, problem.c.values);
    const std::vector<T> rounded = testing::rounded(expected);
    std::size_t next = 0;
    for (const Accuracy accuracy : all_accuracies) {
        for_each_target([&] {
            const std::vector<T> first = problem.product(Device::cpu(1), accuracy, layouts[next++ % layouts.size()]);
            EXPECT_EQ(broken_promises<T>(first, expected, rounded, accuracy), "");
            for (const int threads : {1, 2, 3}) {
                const std::vector<T> again = problem.product(Device::cpu(threads), accuracy, layouts[next++ % layouts.size()]);
                if (accuracy == Accuracy::exact)
                    EXPECT_EQ(differences<T>(again, rounded), "") << threads << " threads";
                else
                    EXPECT_EQ(broken_promises<T>(again, expected, rounded, accuracy), "") << threads << " threads";
            }
        });
        for (const Device& device : cuda_devices())
            for (const Layouts& layout : layouts) {
                const std::vector<T> found = problem.product(device, accuracy, layout);
                EXPECT_EQ(broken_promises<T>(found, expected, rounded, accuracy), "") << to_string(device);
                EXPECT_EQ(differences<T>(found, problem.product(device, accuracy, layout)), "") << "of two runs";
            }
    }
}

template <class T>
Matrix<T> random_matrix(Random& random, std::int64_t rows, std::int64_t columns, int exponents = 4) {
    Matrix<T> made(rows, columns);
    for (T& value : made.values) value = random.number<T>(static_cast<int>(random.between(-exponents, exponents)));
    return made;
}

template <class T>
Matrix<T> part_of(const Matrix<T>& whole, std::int64_t rows, std::int64_t columns) {
    Matrix<T> made(rows, columns);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) made.at(i, j) = whole.at(i, j);
    return made;
}

/// Row i of A times column i of B is an adversarial sum, and one of its neighbours' class.
template <class T>
GemmProblem<T> adversarial_diagonal(Random& random, std::int64_t size, std::size_t terms, std::size_t first_class,
                                    std::size_t classes) {
    std::vector<Terms<T>> made;
    std::size_t inner = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto& kind = adversarial_classes<T>()[first_class + static_cast<std::size_t>(i) % classes];
        made.push_back(kind.make(random, terms));
        inner = std::max(inner, made.back().size());
    }
    GemmProblem<T> problem(Matrix<T>(size, static_cast<std::int64_t>(inner)),
                           Matrix<T>(static_cast<std::int64_t>(inner), size));
    for (std::int64_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < made[i].size(); ++k) {
            problem.a.at(i, static_cast<std::int64_t>(k)) = made[i].a[k];
            problem.b.at(static_cast<std::int64_t>(k), i) = made[i].b[k];
        }
    return problem;
}

}  // namespace solver::testing
