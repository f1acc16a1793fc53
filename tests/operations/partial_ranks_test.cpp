// Sums over many simulated processes, merged in all kinds of trees. SOLVER_SIMULATED_RANKS says how many at most (docs/petsc.md
// has what 10^5 give).
#include "solver/partial.hpp"
#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "support/adversarial.hpp"

namespace solver {
namespace {

using testing::Random;
using testing::same_bits;
using Numbers = std::vector<double>;
using Partial = PartialSum<double>;
using Partials = std::vector<Partial>;
using Span = std::span<const double>;

struct Vectors {
    Numbers x, y;
};

Vectors random_vectors(Random& random, std::size_t n, int exponents) {
    Vectors made;
    for (auto* v : {&made.x, &made.y})
        for (std::size_t i = 0; i < n; ++i)
            v->push_back(random.number<double>(static_cast<int>(random.between(-exponents, exponents))));
    return made;
}

/// Products that cancel in pairs, far from one another, but for one in a hundred whose partner is an ulp off.
Vectors cancelling_vectors(Random& random, std::size_t n) {
    Vectors made = random_vectors(random, n, 3);
    for (std::size_t i = 0; i < n / 2; ++i) {
        made.x[n - 1 - i] = -made.x[i];
        made.y[n - 1 - i] = i % 100 == 7 ? std::nextafter(made.y[i], 0) : made.y[i];
    }
    return made;
}

/// Begins of the processes' parts and the end; a tenth of them is empty.
std::vector<std::size_t> cuts(Random& random, std::size_t n, std::size_t ranks) {
    std::vector<std::size_t> made{0, n};
    while (made.size() <= ranks)
        made.push_back(random.between(0, 9) == 0 ? made.back()
                                                 : static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(n))));
    std::sort(made.begin(), made.end());
    return made;
}

Partial merged(Partial a, const Partial& b) {
    a.merge(b);
    return a;
}

/// Any two of those that are left, again and again.
Partial by_random_tree(Random& random, Partials parts) {
    while (parts.size() > 1) {
        for (int k = 1; k <= 2; ++k)
            std::swap(parts[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(parts.size()) - k))],
                      parts[parts.size() - static_cast<std::size_t>(k)]);
        const Partial last = parts.back();
        parts.pop_back();
        parts.back().merge(last);
    }
    return parts.front();
}

/// As recursive doubling does it: neighbours, then neighbours of these.
Partial by_halves(const Partials& parts, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return parts[begin];
    const std::size_t middle = begin + (end - begin) / 2;
    return merged(by_halves(parts, begin, middle), by_halves(parts, middle, end));
}

Partial by_chain(const Partials& parts) {
    Partial sum;
    for (const Partial& part : parts) sum.merge(part);
    return sum;
}

struct Count {
    int sums = 0;
    int escalated = 0;
};

void check(const Partial& sum, double expected, Count& count) {
    double found = 0;
    ++count.sums;
    if (sum.try_result(found))
        EXPECT_PRED2(same_bits<double>, found, expected);
    else
        ++count.escalated;
}

void check_trees(Random& random, const Vectors& v, std::size_t ranks, Count& count) {
    const double expected = dot(Span(v.x), Span(v.y), Accuracy::exact);
    const auto begins = cuts(random, v.x.size(), ranks);
    const Device one_thread = Device::cpu(1);
    Partials parts;
    SumDigits digits;
    for (std::size_t r = 0; r < ranks; ++r) {
        const Span x = Span(v.x).subspan(begins[r], begins[r + 1] - begins[r]);
        const Span y = Span(v.y).subspan(begins[r], begins[r + 1] - begins[r]);
        parts.push_back(partial_dot(x, y, one_thread));
        digits.merge(dot_digits(x, y, one_thread));
    }
    EXPECT_PRED2(same_bits<double>, digits.result<double>(), expected);
    check(by_chain(parts), expected, count);
    check(by_halves(parts, 0, parts.size()), expected, count);
    for (int tree = 0; tree < 5; ++tree) check(by_random_tree(random, parts), expected, count);
}

TEST(PartialRanks, GiveTheSameBitsInAnyTree) {
    const char* const wanted = std::getenv("SOLVER_SIMULATED_RANKS");
    const std::size_t most = wanted != nullptr ? std::stoul(wanted) : 1000;
    Random random(1);
    const std::pair<const char*, std::function<Vectors(std::size_t)>> kinds[] = {
        {"like sizes", [&](std::size_t n) { return random_vectors(random, n, 3); }},
        {"2^-60 to 2^60", [&](std::size_t n) { return random_vectors(random, n, 30); }},
        {"cancelling", [&](std::size_t n) { return cancelling_vectors(random, n); }},
    };
    for (const auto& [name, make] : kinds)
        for (std::size_t ranks = 10; ranks <= most; ranks *= 10) {
            Count count;
            const std::size_t trials = std::clamp<std::size_t>(10 * most / ranks, 2, 200);
            for (std::size_t trial = 0; trial < trials; ++trial) check_trees(random, make(10 * ranks), ranks, count);
            std::printf("%s, %zu ranks: %d of %d sums escalate\n", name, ranks, count.escalated, count.sums);
            EXPECT_LE(count.escalated * 20, count.sums);
        }
}

}  // namespace
}  // namespace solver
