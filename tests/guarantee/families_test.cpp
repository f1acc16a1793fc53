/// Guarantees for families of hard systems, judged by integers. SOLVER_TEST_SYSTEMS, 40 by default, is how many of each.

#include "solver/guarantee.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "solver/solver.hpp"
#include "support/exact_systems.hpp"

namespace solver {
namespace {

using testing::ExactNumber;

/// A and B, dense and by rows.
struct System {
    std::size_t n = 0;
    std::size_t columns = 0;
    std::vector<double> a;
    std::vector<double> b;

    System(std::size_t rows, std::size_t right_hand_sides) : n(rows), columns(right_hand_sides), a(n * n), b(n * columns) {}
    double& operator()(std::size_t i, std::size_t j) { return a[i * n + j]; }
};

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) { return engine_() % n; }
    int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1))); }
    double whole(int most) { return between(-most, most); }
    double uniform() { return std::ldexp(static_cast<double>(engine_() >> 11), -52) - 1; }
    double wide(int most) { return std::ldexp(uniform(), between(-most, most)); }

private:
    std::mt19937_64 engine_;
};

/// Some hundred rows now and then, a dozen mostly.
std::size_t rows(Random& random, bool may_be_large) {
    return may_be_large && random.below(50) == 0 ? 60 + random.below(60) : 2 + random.below(random.below(4) == 0 ? 40 : 12);
}

void fill_right_hand_sides(System& s, Random& random) {
    for (double& x : s.b) x = random.below(8) == 0 ? 0 : random.uniform();
}

System sparse(Random& random) {
    System s(rows(random, true), 3);
    for (std::size_t i = 0; i < s.n; ++i)
        for (std::size_t j = 0; j < s.n; ++j)
            if (i == j || random.below(s.n) < 4) s(i, j) = random.whole(9);
    fill_right_hand_sides(s, random);
    return s;
}

/// Exponents that differ wildly from place to place.
System wide(Random& random) {
    System s(2 + random.below(12), 3);
    for (double& x : s.a) x = random.below(3) == 0 ? 0 : random.wide(60);
    for (double& x : s.b) x = random.wide(60);
    return s;
}

/// Rows and columns scaled by powers of two up to 2^+-50: conditions to 1e30, and more.
System graded(Random& random) {
    System s(rows(random, false), 3);
    std::vector<int> exponents(2 * s.n);
    for (int& e : exponents) e = random.between(-50, 50);
    for (std::size_t i = 0; i < s.n; ++i)
        for (std::size_t j = 0; j < s.n; ++j) s(i, j) = std::ldexp(random.uniform(), exponents[i] + exponents[s.n + j]);
    fill_right_hand_sides(s, random);
    return s;
}

/// One row is a combination of two others, but for one entry that is off by 2^-10 to 2^-100.
System nearly_singular(Random& random) {
    System s(3 + random.below(20), 3);
    for (double& x : s.a) x = random.whole(30);
    const double one = random.whole(5), two = random.whole(5);
    for (std::size_t j = 0; j < s.n; ++j) s(0, j) = one * s(1, j) + two * s(2, j);
    const int exponent = -random.between(10, 100);
    const std::size_t j = random.below(s.n);
    for (std::size_t i = 0; i < 3; ++i) s(i, j) = 0;
    s(0, j) = std::ldexp(1 + random.uniform() / 2, exponent);
    fill_right_hand_sides(s, random);
    return s;
}

System singular(Random& random) {
    System s(3 + random.below(12), 2);
    for (double& x : s.a) x = random.below(2) == 0 ? 0 : random.whole(20);
    const double one = random.whole(5), two = random.whole(5);
    for (std::size_t j = 0; j < s.n; ++j) {
        if (random.below(2) == 0) s(2, j) = 0;
        s(0, j) = one * s(1, j) + two * s(2, j);
    }
    fill_right_hand_sides(s, random);
    return s;
}

/// 1 / (x_i + y_j), rounded.
System cauchy(Random& random) {
    System s(2 + random.below(22), 3);
    const double step = 1 + random.uniform() / 2;
    for (std::size_t i = 0; i < s.n; ++i)
        for (std::size_t j = 0; j < s.n; ++j) s(i, j) = 1 / (static_cast<double>(i + j) + step);
    fill_right_hand_sides(s, random);
    return s;
}

/// x_i = b_j - b_k, and the like, with b of 53 digits: many results have one digit more and lie in the middle of two numbers.
System ties(Random& random) {
    System s(rows(random, true), 4);
    std::vector<std::size_t> order(s.n);
    for (std::size_t i = 0; i < s.n; ++i) std::swap(order[i] = i, order[random.below(i + 1)]);
    for (std::size_t i = 0; i < s.n; ++i) {
        s(order[i], i) = random.below(2) == 0 ? 1 : -2;
        if (i > 0 && random.below(2) == 0) s(order[i], random.below(i)) = random.below(2) == 0 ? 1 : -1;
    }
    for (double& x : s.b) x = std::ldexp(std::rint(std::ldexp(random.uniform(), 53)), -random.between(50, 56));
    return s;
}

/// Everything times a power of two, so that what is small underflows or what is large overflows.
System scaled(Random& random, int of_a, int of_b) {
    System s(2 + random.below(10), 3);
    for (double& x : s.a) x = random.below(3) == 0 ? 0 : std::ldexp(random.wide(8), of_a);
    for (std::size_t i = 0; i < s.n; ++i) s(i, i) += std::ldexp(4.0, of_a);
    for (double& x : s.b) x = std::ldexp(random.wide(20), of_b);
    return s;
}
/// By exponents of the least and the largest normal number.
template <class T>
System tiny(Random& random) {
    constexpr int least = std::numeric_limits<T>::min_exponent;
    return scaled(random, random.between(least - 20, least + 40), random.between(least - 20, least + 100));
}
template <class T>
System huge(Random& random) {
    constexpr int largest = std::numeric_limits<T>::max_exponent;
    return scaled(random, random.between(largest - 60, largest - 20), random.between(largest - 60, largest - 22));
}
template <class T>
System tiny_solutions(Random& random) {
    constexpr int least = std::numeric_limits<T>::min_exponent;
    return scaled(random, random.between(-5, 20), random.between(least - 24, least + 30));
}

/// G' G, exactly, for G with `more` rows than columns (fewer: singular), scaled symmetrically by powers of two.
System gram(Random& random, int more) {
    System s(std::max<std::size_t>(rows(random, true), 3), 2);
    const std::size_t m = s.n + static_cast<std::size_t>(more + 1) - 1;
    std::vector<double> g(m * s.n);
    for (double& x : g) x = random.below(s.n) < 5 ? random.whole(4) : 0;
    if (random.below(2) == 0)  // two columns that nearly agree
        for (std::size_t k = 0; k < m; ++k) g[k * s.n] = g[k * s.n + 1] * 1024 + (k == 0 ? 1 : 0);
    const int spread = random.below(2) == 0 ? 0 : 12;
    std::vector<int> exponents(s.n);
    for (int& e : exponents) e = random.between(-spread, spread);
    for (std::size_t i = 0; i < s.n; ++i)
        for (std::size_t j = 0; j < s.n; ++j) {
            for (std::size_t k = 0; k < m; ++k) s(i, j) += g[k * s.n + i] * g[k * s.n + j];
            s(i, j) = std::ldexp(s(i, j), exponents[i] + exponents[j]);
        }
    fill_right_hand_sides(s, random);
    return s;
}
System definite(Random& random) { return gram(random, 1); }
System semidefinite(Random& random) { return gram(random, -1); }

/// A graph's Laplacian, hardly more than singular: an M-matrix.
System laplacian(Random& random) {
    System s(rows(random, true), 3);
    for (std::size_t i = 0; i < s.n; ++i)
        for (int edge = 0; edge < 3; ++edge) {
            const std::size_t j = random.below(s.n);
            if (i == j) continue;
            const double weight = std::ldexp(1 + static_cast<double>(random.below(7)), random.between(-10, 10));
            for (const auto& [p, q] : {std::pair(i, j), std::pair(j, i)}) s(p, p) += weight, s(p, q) -= weight;
        }
    for (std::size_t i = 0; i < s.n; ++i)
        if (random.below(4) == 0 || s(i, i) == 0) s(i, i) += std::ldexp(1.0, -random.between(0, 30));
    fill_right_hand_sides(s, random);
    return s;
}

/// A hundred rows, up to `most`, dense, with small whole numbers.
System large(Random& random, std::size_t most) {
    System s(100 + random.below(most - 99), 20);
    for (double& x : s.a) x = random.below(4) == 0 ? random.whole(9) : 0;
    for (std::size_t i = 0; i < s.n; ++i) s(i, i) += 3;
    for (double& x : s.b) x = random.whole(1000);
    return s;
}

struct Judged {
    std::int64_t components = 0, systems = 0, proven = 0, singular = 0, unproven = 0, ties = 0, zeros = 0;
};

/// Every claim about A X = B is held against integers.
template <class T>
class Judge {
public:
    explicit Judge(System system) : s_(std::move(system)) {
        for (std::vector<double>* const values : {&s_.a, &s_.b})
            for (double& x : *values) x = static_cast<T>(x);
        std::vector<Entry<T>> entries;
        for (std::size_t i = 0; i < s_.n; ++i)
            for (std::size_t j = 0; j < s_.n; ++j)
                if (s_(i, j) != 0)
                    entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), static_cast<T>(s_(i, j))});
        const auto n = static_cast<std::int64_t>(s_.n), columns = static_cast<std::int64_t>(s_.columns);
        a_ = csr_from_entries<T>(n, n, entries);
        b_ = {n, columns, std::vector<T>(s_.b.size())};
        for (std::size_t i = 0; i < s_.n; ++i)
            for (std::size_t c = 0; c < s_.columns; ++c) b_.values[c * s_.n + i] = static_cast<T>(s_.b[i * s_.columns + c]);
        if (is_finite()) exact_ = testing::solve_exactly(s_.a, s_.b, s_.n);
    }

    void run(Judged& judged) {
        if (!is_finite()) return;
        for (const Guarantee wanted : {Guarantee::bound, Guarantee::rounded}) {
            DenseMatrix<T> x{b_.rows, b_.columns, std::vector<T>(b_.values.size())};
            SolveOptions options{.guarantee = wanted};
            options.iteration.tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-10;
            options.iteration.max_iterations = 100;
            const SolveReport report = solve<T>(SpmvPlan<T>(a_, Device::cpu(1)), b_, x, nullptr, options);
            ++judged.systems;
            for (std::size_t c = 0; c < s_.columns; ++c) judge_column(report.proofs[c], x, c, wanted, judged);
        }
    }

private:
    bool is_finite() const {
        const auto finite = [](double x) { return std::isfinite(x); };
        return std::all_of(s_.a.begin(), s_.a.end(), finite) && std::all_of(s_.b.begin(), s_.b.end(), finite);
    }

    void judge_column(const SolutionProof& proof, const DenseMatrix<T>& x, std::size_t c, Guarantee wanted, Judged& judged) {
        judged.proven += proof.status == ProofStatus::proven ? 1 : 0;
        judged.unproven += proof.status == ProofStatus::unproven ? 1 : 0;
        judged.singular += proof.status == ProofStatus::singular ? 1 : 0;
        judged.ties += proof.ties;
        judged.zeros += proof.zeros;
        if (proof.status == ProofStatus::singular) {
            EXPECT_TRUE(exact_.empty()) << "regular, but: " << proof.reason;
        }
        const bool claims = proof.status == ProofStatus::proven || (proof.rounded > 0 && proof.undecided <= 10);
        if (!claims) return;
        ASSERT_FALSE(exact_.empty()) << "singular, but: " << proof.reason;
        double largest = 0;
        for (std::size_t i = 0; i < s_.n; ++i) largest = std::max(largest, std::abs(exact_[c * s_.n + i].rounded()));
        const double zero = largest == 0 || !std::isfinite(largest) ? 0 : std::ldexp(0x1p-512, std::ilogb(largest));
        for (std::size_t i = 0; i < s_.n; ++i) {
            const auto& open = proof.first_undecided;
            if (std::find(open.begin(), open.end(), static_cast<std::int64_t>(i)) != open.end()) continue;
            ++judged.components;
            const double found = x.values[c * s_.n + i];
            const ExactNumber& exact = exact_[c * s_.n + i];
            if (wanted == Guarantee::bound) {
                EXPECT_TRUE(exact.is_within(proof.bounds[i], found)) << "component " << i << ", " << proof.reason;
            } else {
                EXPECT_EQ(found, exact.is_within(zero, 0) ? 0 : rounded(i, c)) << "component " << i << ", " << proof.reason;
            }
        }
    }

    double rounded(std::size_t i, std::size_t c) const { return exact_[c * s_.n + i].rounded(std::numeric_limits<T>::digits); }

    System s_;
    CsrMatrix<T> a_;
    DenseMatrix<T> b_;
    std::vector<ExactNumber> exact_;
};

int systems_of_each() {
    const char* const effort = std::getenv("SOLVER_TEST_SYSTEMS");
    return effort == nullptr ? 40 : std::atoi(effort);
}

template <class T>
class Families : public ::testing::Test {
protected:
    static Judged judge(const std::function<System(Random&)>& make, int count) {
        Judged judged;
        for (int seed = 0; seed < count; ++seed) {
            SCOPED_TRACE(seed);
            Random random(static_cast<std::uint64_t>(seed));
            Judge<T>(make(random)).run(judged);
        }
        RecordProperty("components", std::to_string(judged.components));
        std::printf(
            "%lld components, %lld solves; columns: %lld proven, %lld singular, %lld not proven; ties %lld, zeros %lld\n",
            static_cast<long long>(judged.components), static_cast<long long>(judged.systems),
            static_cast<long long>(judged.proven), static_cast<long long>(judged.singular),
            static_cast<long long>(judged.unproven), static_cast<long long>(judged.ties), static_cast<long long>(judged.zeros));
        return judged;
    }
    static Judged judge(const std::function<System(Random&)>& make) { return judge(make, systems_of_each()); }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Families, Types);

TYPED_TEST(Families, Sparse) { EXPECT_GT(this->judge(sparse).proven, 100); }
TYPED_TEST(Families, Wide) { EXPECT_GT(this->judge(wide).proven, 0); }
TYPED_TEST(Families, Graded) { EXPECT_GT(this->judge(graded).proven, 100); }
TYPED_TEST(Families, NearlySingular) { EXPECT_GT(this->judge(nearly_singular).proven, 100); }
// Promise: proof.hpp, "A is proven to be singular"
TYPED_TEST(Families, Singular) { EXPECT_GT(this->judge(singular).singular, 30); }
TYPED_TEST(Families, Cauchy) { EXPECT_GT(this->judge(cauchy).proven, 20); }
// Promise: proof.hpp, "of these, nearer to a midpoint"
TYPED_TEST(Families, Ties) { EXPECT_GT(this->judge(ties).ties, 10); }
TYPED_TEST(Families, Tiny) { EXPECT_GT(this->judge(tiny<TypeParam>).proven, 20); }
TYPED_TEST(Families, Huge) { EXPECT_GT(this->judge(huge<TypeParam>).proven, 20); }
TYPED_TEST(Families, TinySolutions) { EXPECT_GT(this->judge(tiny_solutions<TypeParam>).proven, 20); }
TYPED_TEST(Families, Definite) { EXPECT_GT(this->judge(definite).proven, 50); }
TYPED_TEST(Families, Semidefinite) { EXPECT_GT(this->judge(semidefinite).singular, 30); }
TYPED_TEST(Families, Laplacian) { EXPECT_GT(this->judge(laplacian).proven, 100); }
TYPED_TEST(Families, Large) {
    const int count = std::max(1, systems_of_each() / 40);
    const std::size_t most = count == 1 ? 100 : 300;
    const auto make = [&](Random& random) { return large(random, most); };
    EXPECT_GT(this->judge(make, count).proven, 10);
}

}  // namespace
}  // namespace solver
