#include "inputs.hpp"

#include "matrices/random.hpp"

#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

namespace solver::bench {
namespace {

using matrices::Random;

/// By enumerator.
using Names = std::array<std::string_view, 3>;
constexpr Names names_of_inputs{"random", "worst", "scattered"}, names_of_elements{"uniform", "signed", "lognormal"};

template <class Choice>
Choice choice_from_text(std::string_view text, const Names& names) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end())
        throw InvalidArgument(fmt::format("input '{}' is not known; choose {}, {} or {}", text, names[0], names[1], names[2]));
    return static_cast<Choice>(found - names.begin());
}

struct Exponents {
    int low, high;
};

/// Of one element: of a sum, or of one factor of a product. Wide enough for errors of errors in `worst` (three terms of double
/// hold 159 bits, the floats' pair 106).
template <class T>
Exponents exponents(Input input, bool is_factor) {
    constexpr bool single = std::is_same_v<T, float>;
    if (input == Input::worst) return is_factor ? Exponents{-30, 30} : Exponents{-60, 60};
    if (single) return is_factor ? Exponents{-70, 55} : Exponents{-140, 100};
    return is_factor ? Exponents{-560, 480} : Exponents{-1060, 980};
}

template <class T>
T random_number(Random& random, const Exponents& range) {
    const auto exponent = range.low + static_cast<int>(random.below(range.high - range.low));
    const auto significand = static_cast<T>(1 + random.uniform());
    return std::ldexp(random.coin() ? significand : -significand, exponent);
}

/// Elements i and i + n / 2 get their values from set(i, i + n / 2); the last two, or three, remain.
template <class Set>
void for_each_pair(std::int64_t n, Set set) {
    for (std::int64_t i = 0; i + 1 < n / 2; ++i) set(static_cast<std::size_t>(i), static_cast<std::size_t>(i + n / 2 - 1));
}

/// The last two elements: a tie between 1 and its upper neighbour.
template <class T>
void end_in_a_tie(std::vector<T>& x) {
    x[x.size() - 2] = 1;
    x[x.size() - 1] = std::numeric_limits<T>::epsilon() / 2;
}

double random_element(Elements elements, double phi, Random& random) {
    if (elements == Elements::both_signs) return random.signed_uniform();
    const double u = random.uniform();
    if (elements == Elements::uniform) return u;
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));  // Box and Muller
    return (u - 0.5) * std::exp(phi * radius * std::cos(2 * std::numbers::pi * random.uniform()));
}

}  // namespace

std::string_view to_string(Input input) { return names_of_inputs.at(static_cast<std::size_t>(input)); }

std::string_view to_string(Elements elements) { return names_of_elements.at(static_cast<std::size_t>(elements)); }

Input input_from_text(std::string_view text) { return choice_from_text<Input>(text, names_of_inputs); }

Elements elements_from_text(std::string_view text) { return choice_from_text<Elements>(text, names_of_elements); }

/// In parts with seeds of their own, so that threads can share the work and the numbers do not depend on how many there are.
template <class T>
std::vector<T> random_elements(Elements elements, double phi, std::int64_t count, std::uint64_t seed) {
    constexpr std::int64_t part = 1 << 18;
    std::vector<T> made(static_cast<std::size_t>(count));
    std::atomic<std::int64_t> next = 0;
    const auto work = [&] {
        for (std::int64_t first = part * next++; first < count; first = part * next++) {
            Random random(seed + 1'000'003 * static_cast<std::uint64_t>(first / part));
            for (std::int64_t i = first; i < std::min(first + part, count); ++i)
                made[static_cast<std::size_t>(i)] = static_cast<T>(random_element(elements, phi, random));
        }
    };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < Device::cpu().threads(); ++thread) others.emplace_back(work);
    work();
    others.clear();
    return made;
}

template std::vector<float> random_elements(Elements, double, std::int64_t, std::uint64_t);
template std::vector<double> random_elements(Elements, double, std::int64_t, std::uint64_t);

template <class T>
std::vector<T> vector_to_sum(Input input, std::int64_t n) {
    Random random(1);
    if (input == Input::random || n < 2) return random_vector<T>(random, n);
    std::vector<T> x(static_cast<std::size_t>(n));
    for_each_pair(n, [&](std::size_t i, std::size_t j) {
        x[i] = random_number<T>(random, exponents<T>(input, false));
        x[j] = -x[i];
    });
    end_in_a_tie(x);
    return x;
}

template <class T>
Factors<T> vectors_to_multiply(Input input, std::int64_t n) {
    Random random(1);
    Factors<T> factors{random_vector<T>(random, n), random_vector<T>(random, n)};
    if (input == Input::random || n < 2) return factors;
    factors.x.assign(factors.x.size(), 0);
    for_each_pair(n, [&](std::size_t i, std::size_t j) {
        factors.x[i] = random_number<T>(random, exponents<T>(input, true));
        factors.y[i] = random_number<T>(random, exponents<T>(input, true));
        factors.x[j] = -factors.x[i];
        factors.y[j] = factors.y[i];
    });
    end_in_a_tie(factors.x);
    factors.y[factors.y.size() - 2] = factors.y[factors.y.size() - 1] = 1;
    return factors;
}

template std::vector<float> vector_to_sum(Input, std::int64_t);
template std::vector<double> vector_to_sum(Input, std::int64_t);
template Factors<float> vectors_to_multiply(Input, std::int64_t);
template Factors<double> vectors_to_multiply(Input, std::int64_t);

}  // namespace solver::bench
