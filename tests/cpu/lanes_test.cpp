// Lanes have the bits of the accumulators they stand for: on every target, for every operation.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/lanes_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <gtest/gtest.h>

#include "cpu/simd/anchored_lanes-inl.hpp"
#include "cpu/simd/lanes-inl.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "support/adversarial.hpp"
#include "support/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {
namespace {

using testing::Random;
using testing::same_bits;

/// Numbers of any size, zeros, subnormals, the largest, Inf and NaN.
template <class T>
T any_number(Random& random, bool finite) {
    using Limits = std::numeric_limits<T>;
    const T unusual[] = {
        T(0), -T(0), Limits::denorm_min(), -Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()};
    const auto pick = random.between(0, 30);
    if (pick < (finite ? 4 : 7)) return unusual[pick];
    const int range = pick < 10 ? Limits::max_exponent - 2 : 40;
    return random.number<T>(static_cast<int>(random.between(-range, range)));
}

/// As many numbers as there are lanes, in a vector and one by one.
template <class D, class T>
struct Numbers {
    Numbers(Random& random, bool finite = true) {
        for (T& x : value) x = any_number<T>(random, finite);
    }
    hn::Vec<D> lanes() const { return load_widened(D(), value); }

    T value[max_lanes<D>];
};

template <class T>
bool same(T a, T b) {
    return same_bits(a, b) || (a != a && b != b);
}

void check_error_free_transformations() {
    using D = hn::ScalableTag<double>;
    const D d;
    Random random(1);
    for (int trial = 0; trial < 3000; ++trial) {
        const Numbers<D, double> a(random, false), b(random, false);
        HWY_ALIGN double out[6][max_lanes<D>];
        const auto s = two_sum_lanes(a.lanes(), b.lanes());
        const auto p = two_prod_lanes(a.lanes(), b.lanes());
        hn::Store(s.value, d, out[0]);
        hn::Store(s.error, d, out[1]);
        hn::Store(p.value, d, out[2]);
        hn::Store(p.error, d, out[3]);
        hn::Store(canonical_lanes(a.lanes()), d, out[4]);
        hn::Store(hn::IfThenElseZero(is_finite_lanes(a.lanes()), hn::Set(d, 1)), d, out[5]);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
            const Split<double> sum = two_sum(a.value[i], b.value[i]), product = two_prod(a.value[i], b.value[i]);
            ASSERT_PRED2(same<double>, out[0][i], sum.value);
            ASSERT_PRED2(same<double>, out[1][i], sum.error);
            ASSERT_PRED2(same<double>, out[2][i], product.value);
            ASSERT_PRED2(same<double>, out[3][i], product.error) << a.value[i] << " * " << b.value[i];
            ASSERT_PRED2(same_bits<double>, out[4][i], canonical(a.value[i]));
            ASSERT_EQ(out[5][i], is_finite(a.value[i]) ? 1 : 0);
        }
    }
}

void check_rounding_to_floats() {
    using D = hn::ScalableTag<double>;
    Random random(2);
    for (int trial = 0; trial < 3000; ++trial) {
        const Numbers<D, double> a(random, false);
        float rounded[max_lanes<D>];
        store_rounded(a.lanes(), rounded);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i)
            ASSERT_PRED2(same_bits<float>, rounded[i], canonical(static_cast<float>(a.value[i])));
    }
}

/// All bits, but those of a NaN: which one an operation makes is the processor's choice.
template <class Scalar>
bool same_state(const Scalar& a, const Scalar& b) {
    using T = typename Scalar::value_type;
    static_assert(sizeof(Scalar) % sizeof(T) == 0);
    T words_of_a[sizeof(Scalar) / sizeof(T)], words_of_b[sizeof(Scalar) / sizeof(T)];
    std::memcpy(words_of_a, &a, sizeof a);
    std::memcpy(words_of_b, &b, sizeof b);
    return std::equal(std::begin(words_of_a), std::end(words_of_a), words_of_b, same<T>);
}

/// Every lane of `lanes` has the state of its accumulator.
template <class Lanes>
void expect_same_state(const Lanes& lanes, const std::vector<typename Lanes::Scalar>& scalars, const char* after) {
    std::vector<typename Lanes::Scalar> stored(scalars.size());
    lanes.store(stored.data());
    for (std::size_t i = 0; i < hn::Lanes(typename Lanes::D()); ++i)
        ASSERT_TRUE(same_state(stored[i], scalars[i])) << "lane " << i << " after " << after;
}

/// Expects that every lane gives the result of its scalar, bit for bit; signs of zeros and NaN within may differ.
template <class Lanes>
void expect_same_results(const Lanes& lanes, const std::vector<typename Lanes::Scalar>& scalars) {
    using Scalar = typename Lanes::Scalar;
    using T = typename Scalar::value_type;
    std::vector<Scalar> stored(scalars.size());
    lanes.store(stored.data());
    for (std::size_t i = 0; i < hn::Lanes(typename Lanes::D()); ++i) {
        if constexpr (Filter<Scalar>) {
            T found = 0, expected = 0;
            ASSERT_EQ(stored[i].try_result(found), scalars[i].try_result(expected));
            ASSERT_PRED2(same_bits<T>, found, expected);
        } else {
            ASSERT_PRED2(same_bits<T>, stored[i].result(), scalars[i].result());
        }
    }
}

/// Plain sums fuse products where the target can.
template <class Scalar, class T>
void add_as_lanes_do(Scalar& sum, T a, T b) {
    if (HWY_NATIVE_FMA != 0 || !std::is_same_v<Scalar, Plain<T>>)
        sum.add_product(a, b);
    else
        sum.add(mul_rn(a, b));
}

template <class Lanes, class T>
void check_life(Random& random) {
    using D = typename Lanes::D;
    using Scalar = typename Lanes::Scalar;
    constexpr std::size_t most = max_lanes<D>;
    Lanes lanes, others;
    std::vector<Scalar> scalars(most), other_scalars(most);
    for (std::int64_t k = random.between(0, 9); k > 0; --k) {
        const Numbers<D, T> x(random), y(random), z(random);
        lanes.add(x.lanes());
        others.add_product(y.lanes(), z.lanes());
        lanes.add_product(z.lanes(), x.lanes());
        for (std::size_t i = 0; i < most; ++i) {
            scalars[i].add(x.value[i]);
            add_as_lanes_do(other_scalars[i], y.value[i], z.value[i]);
            add_as_lanes_do(scalars[i], z.value[i], x.value[i]);
        }
    }
    expect_same_state(lanes, scalars, "terms");
    expect_same_state(others, other_scalars, "products");
    lanes.merge(others);
    for (std::size_t i = 0; i < most; ++i) scalars[i].merge(other_scalars[i]);
    expect_same_state(lanes, scalars, "a merge");
    Scalar all = scalars[0];
    if constexpr (most > 1) {
        std::vector<Scalar> tree(scalars.begin(), scalars.begin() + static_cast<std::ptrdiff_t>(hn::Lanes(D())));
        for (; tree.size() > 1; tree.resize(tree.size() / 2))
            for (std::size_t i = 0; i < tree.size() / 2; ++i) tree[i].merge(tree[i + tree.size() / 2]);
        all = tree[0];
    }
    const Scalar merged = merge_lanes(lanes);
    ASSERT_TRUE(same_state(merged, all));
    lanes.negate();
    for (std::size_t i = 0; i < most; ++i) scalars[i] = scalars[i].scaled(T(-1));
    expect_same_results(lanes, scalars);
}

template <class Scalar, class T>
void check_lives() {
    Random random(3);
    for (int trial = 0; trial < 2000; ++trial) {
        check_life<typename LanesOf<Scalar, 8>::type, T>(random);
        check_life<typename LanesOf<Scalar, 64>::type, T>(random);
    }
}

/// N as the lanes take it: one for all, or one for each.
template <class Lanes>
Results<typename Lanes::D> results_of(const Lanes& lanes, double underflow) {
    if constexpr (requires { lanes.results(underflow); })
        return lanes.results(underflow);
    else
        return lanes.results(hn::Set(typename Lanes::D(), underflow));
}

/// What lanes prove is the correctly rounded sum, and they prove most of it.
template <class Lanes, class T>
void check_results() {
    using D = typename Lanes::D;
    Random random(4);
    int proven = 0, tried = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        Lanes lanes;
        std::vector<Superaccumulator> sums(max_lanes<D>);
        for (std::int64_t k = random.between(1, 9); k > 0; --k) {
            const Numbers<D, T> x(random), y(random);
            lanes.add_product(x.lanes(), y.lanes());
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add_product(x.value[i], y.value[i]);
        }
        const auto found = results_of(lanes, 20 * double{smallest_subnormal<double>});
        T value[max_lanes<D>];
        store_rounded(found.value, value);
        HWY_ALIGN double is_proven[max_lanes<D>];
        hn::Store(hn::IfThenElseZero(found.proven, hn::Set(D(), 1)), D(), is_proven);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) {
            ++tried;
            if (is_proven[i] == 0) continue;
            ++proven;
            ASSERT_PRED2(same_bits<T>, value[i], sums[i].template result<T>());
        }
    }
    EXPECT_GT(proven, tried / 2);
}

/// Rows of few digits, multiples of `unit`, times x of many exponents, zeros and subnormal numbers among them; some cancel.
struct RowsOnAGrid {
    using D = hn::CappedTag<double, 8>;
    static constexpr std::size_t most = max_lanes<D>;

    explicit RowsOnAGrid(Random& random)
        : unit(std::ldexp(1.0,
                          static_cast<int>(random.between(0, 9) == 0 ? random.between(-1074, 900) : random.between(-40, 40)))),
          sums(most) {
        const auto digits = random.between(1, 30);
        const auto exponents = static_cast<int>(random.between(0, 60));
        for (std::int64_t k = random.between(1, 30); k > 0; --k) {
            double a[most] = {}, x[most] = {};
            for (std::size_t i = 0; i < most; ++i) {
                a[i] = unit * static_cast<double>(random.between(-(std::int64_t{1} << digits), std::int64_t{1} << digits));
                x[i] = random.number<double>(static_cast<int>(random.between(0, exponents)));
                if (random.between(0, 15) == 0) x[i] = 0;
                if (random.between(0, 99) == 0) x[i] = std::ldexp(x[i], -1060);
            }
            add(a, x);
            if (!random.coin()) continue;
            for (std::size_t i = 0; i < most; ++i) {
                a[i] = -a[i];
                x[i] *= random.coin() ? 1 : 1 + 0x1p-50;
            }
            add(a, x);
        }
    }
    void add(const double (&a)[most], const double (&x)[most]) {
        const auto values = load_widened(D(), a);
        const auto elements = load_widened(D(), x);
        pair.add_product(values, elements);
        grid.add_product(values, elements);
        for (std::size_t i = 0; i < most; ++i) {
            sums[i].add_product(a[i], x[i]);
            exact_products = exact_products && product_is_exact(a[i], x[i]);
        }
    }

    double unit;
    FilteredPairLanes<8> pair;
    ProductGridLanes<8> grid;
    std::vector<Superaccumulator> sums;
    bool exact_products = true;
};

/// How many lanes a grid decides that the pair leaves open, and how many of them wrongly.
struct DecidedOnGrid {
    int right = 0;
    int wrong = 0;
};

void count_decided(const RowsOnAGrid& rows, double unit, DecidedOnGrid& decided) {
    using D = RowsOnAGrid::D;
    const auto by_pair = rows.pair.results(rows.exact_products ? 0 : 0x1p-900).proven;
    const auto found = rows.pair.results_on_grid(by_pair, rows.grid.grid(unit));
    double value[RowsOnAGrid::most];
    store_rounded(found.value, value);
    HWY_ALIGN double is_new[RowsOnAGrid::most];
    hn::Store(hn::IfThenElseZero(hn::AndNot(by_pair, found.proven), hn::Set(D(), 1)), D(), is_new);
    for (std::size_t i = 0; i < hn::Lanes(D()); ++i)
        if (is_new[i] != 0) ++(same_bits(value[i], rows.sums[i].result<double>()) ? decided.right : decided.wrong);
}

void check_sums_on_a_grid() {
    Random random(6);
    DecidedOnGrid decided;
    for (int trial = 0; trial < 6000; ++trial) {
        const RowsOnAGrid rows(random);
        count_decided(rows, rows.unit, decided);
    }
    EXPECT_EQ(decided.wrong, 0);
    EXPECT_GT(decided.right, 100);
}

bool is_decided_on_its_grid(std::initializer_list<double> sum) {
    using D = FilteredPairLanes<8>::D;
    FilteredPairLanes<8> pair;
    ProductGridLanes<8> grid;
    for (const double x : sum) {
        pair.add_product(hn::Set(D(), 1), hn::Set(D(), x));
        grid.add_product(hn::Set(D(), 1), hn::Set(D(), x));
    }
    const auto by_pair = hn::FirstN(D(), 0);
    return hn::AllTrue(D(), pair.results_on_grid(by_pair, grid.grid(1)).proven);
}

void check_the_edge_of_a_grid() {
    EXPECT_TRUE(is_decided_on_its_grid({0x1p106, 0x1p53 - 1})) << "an error of 2^53 - 1, on a grid of 1";
    EXPECT_FALSE(is_decided_on_its_grid({0x1p106, 0x1p52, 0x1p52 + 1})) << "errors of 2^53 + 1, which c rounds to a tie";
    EXPECT_TRUE(is_decided_on_its_grid({1, 0, -1})) << "zeros lie on every grid";
    EXPECT_FALSE(is_decided_on_its_grid({1, 0x1p-53, 0x1p-1074})) << "a number of fewer digits than the others";
}

/// 4 and four times -1 times floats of like size: nothing is lost, and every tie is seen to be one.
void check_float_sums_without_loss() {
    using Lanes = FilteredFloatLanes<8>;
    using D = Lanes::D;
    Random random(7);
    int ties = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        Lanes lanes;
        std::vector<Superaccumulator> sums(max_lanes<D>);
        for (const float a : {4.0F, -1.0F, -1.0F, -1.0F, -1.0F}) {
            float x[max_lanes<D>] = {};
            for (float& element : x) element = random.number<float>(static_cast<int>(random.between(0, 3)));
            lanes.add_product(hn::Set(D(), a), load_widened(D(), x));
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add_product(a, x[i]);
        }
        const auto found = lanes.results(0);
        ASSERT_TRUE(hn::AllTrue(D(), found.proven));
        float value[max_lanes<D>];
        store_rounded(found.value, value);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) {
            const auto expected = sums[i].result<float>();
            ASSERT_PRED2(same_bits<float>, value[i], expected);
            const auto wide = sums[i].result<double>();
            const double other = wide + (wide - static_cast<double>(expected));  // as far on the other side
            ties += other != wide && static_cast<double>(static_cast<float>(other)) == other ? 1 : 0;
        }
    }
    EXPECT_GT(ties, 100);
}

void check_inexact_products() {
    using D = hn::ScalableTag<double>;
    const D d;
    Random random(5);
    for (int trial = 0; trial < 3000; ++trial) {
        const Numbers<D, double> a(random), b(random);
        InexactProducts<D> inexact;
        inexact.add_product(a.lanes(), b.lanes());
        inexact.add_product(hn::Set(d, 1), hn::Set(d, 1));
        HWY_ALIGN double any[max_lanes<D>];
        hn::Store(hn::IfThenElseZero(inexact.any(), hn::Set(d, 1)), d, any);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i)
            ASSERT_EQ(any[i] != 0, !product_is_exact(a.value[i], b.value[i])) << a.value[i] << " * " << b.value[i];
    }
}

#if HWY_NATIVE_FMA

/// Numbers of like size; some far larger, subnormal, zero, Inf or NaN.
double number_to_anchor(Random& random) {
    if (random.between(0, 19) == 0) return any_number<double>(random, false);
    return random.number<double>(static_cast<int>(random.between(-2, 2)));
}

void check_anchored_row(Random& random, int& proven) {
    using D = hn::CappedTag<double, 8>;
    constexpr std::size_t most = max_lanes<D>;
    const auto n = static_cast<std::int32_t>(random.between(1, 30));
    const int room = AnchoredPair::room_for(n);
    double a[most] = {}, b[most] = {}, largest[most] = {}, value[most] = {};
    for (double& x : largest) x = std::abs(number_to_anchor(random));
    AnchoredPairLanes<8> lanes(load_widened(D(), largest), room);
    std::vector<AnchoredPair> scalars;
    for (const double x : largest) scalars.emplace_back(AnchoredPair::word_of(x), room);
    const bool negated = random.coin();
    for (std::int32_t k = 0; k < n; ++k) {
        for (double& x : a) x = number_to_anchor(random);
        for (double& x : b) x = number_to_anchor(random);
        lanes.add_product(load_widened(D(), a), load_widened(D(), b));
        for (std::size_t i = 0; i < most; ++i) scalars[i].add_product(a[i], b[i]);
        if (!negated || k != n / 2) continue;
        lanes.negate();
        for (AnchoredPair& scalar : scalars) scalar.negate();
    }
    const int q = static_cast<int>(random.between(-130, 20));
    const auto none = hn::FirstN(D(), 0);
    const auto on_grid = lanes.results_on_grid(none, hn::Set(D(), std::ldexp(1.0, q + 52)), n);
    const auto check = [&](const Results<D>& found, bool grid) {
        HWY_ALIGN double is_proven[most];
        store_rounded(found.value, value);
        hn::Store(hn::IfThenElseZero(found.proven, hn::Set(D(), 1)), D(), is_proven);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) {
            double expected = 0;
            const bool decided = grid ? scalars[i].try_on_grid(expected, n, q) : scalars[i].try_result(expected, n);
            ASSERT_EQ(is_proven[i] != 0, decided);
            if (!decided) continue;
            ++proven;
            ASSERT_PRED2(same_bits<double>, value[i], canonical(expected));
        }
    };
    check(lanes.results(n), false);
    check(on_grid, true);
}

void check_anchored_pairs() {
    Random random(8);
    int proven = 0;
    for (int trial = 0; trial < 5000; ++trial) check_anchored_row(random, proven);
    EXPECT_GT(proven, 1000);
}

#endif

void check_all() {
#if HWY_NATIVE_FMA
    check_anchored_pairs();
#endif
    check_error_free_transformations();
    check_rounding_to_floats();
    check_lives<Plain<float>, float>();
    check_lives<Plain<double>, double>();
    check_lives<FloatInDouble, float>();
    check_lives<Dot2<double>, double>();
    check_lives<FilteredTriple<double>, double>();
    check_lives<FilteredFloat, float>();
    check_results<FilteredPairLanes<8>, double>();
    check_results<FilteredTripleLanes<8>, double>();
    check_results<FilteredFloatLanes<8>, float>();
    check_results<BoundedFloatLanes<8>, float>();
    check_sums_on_a_grid();
    check_the_edge_of_a_grid();
    check_float_sums_without_loss();
    check_inexact_products();
}

}  // namespace

void check_lanes() { check_all(); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(check_lanes);

namespace {

TEST(Lanes, HaveTheBitsOfTheirAccumulatorsOnEveryTarget) {
    testing::for_each_target([] { HWY_DYNAMIC_DISPATCH(check_lanes)(); });
}

}  // namespace
}  // namespace solver
#endif  // HWY_ONCE
