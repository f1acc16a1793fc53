#include "built_in.hpp"

#include "support/adversarial.hpp"
#include "support/products.hpp"
#include "support/triangles.hpp"

#include <array>
#include <utility>

namespace solver::blas2 {
namespace {

using testing::Random;

template <class T>
Sample<T> sample_of(const std::vector<testing::Terms<T>>& rows, Random& random) {
    auto made = testing::matrix_of(rows, random);
    return {std::move(made.a), std::move(made.x)};
}

/// Rows of all kinds, Inf and NaN among them, up to 200 entries.
template <class T>
Sample<T> adversarial_rows() {
    Random random(1);
    return sample_of(testing::adversarial_rows<T>(random, 38, 200), random);
}

/// A long row of every kind between short ones: rows that several threads and blocks share.
template <class T>
Sample<T> adversarial_long_rows() {
    Random random(2);
    std::vector<testing::Terms<T>> rows;
    for (const auto& made : testing::finite_adversarial_classes<T>()) {
        rows.push_back(made.make(random, 5000));
        for (int i = 0; i < 3; ++i) rows.push_back(made.make(random, 8));
        rows.emplace_back();
    }
    return sample_of(rows, random);
}

/// A triangle whose last rows are adversarial sums of what its first rows give for a right-hand side of those factors.
template <class T>
Sample<T> adversarial_triangle() {
    Random random(3);
    std::vector<testing::Terms<T>> sums;
    for (const auto& made : testing::finite_adversarial_classes<T>())
        for (int i = 0; i < 4; ++i) sums.push_back(made.make(random, 60));
    auto made = testing::adversarial_system<T>(random, sums);
    return {made.a.csr(Diagonal::stored), std::move(made.b)};
}

constexpr std::array matrices{
    BuiltIn{"adversarial_rows", false, adversarial_rows<float>, adversarial_rows<double>},
    BuiltIn{"adversarial_long_rows", false, adversarial_long_rows<float>, adversarial_long_rows<double>},
    BuiltIn{"adversarial_triangle", true, adversarial_triangle<float>, adversarial_triangle<double>},
};

}  // namespace

std::span<const BuiltIn> built_in_matrices() { return matrices; }

}  // namespace solver::blas2
