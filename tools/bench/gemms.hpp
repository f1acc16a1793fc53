#pragma once

/// What benchmarks of C = A B share.

#include "common.hpp"
#include "inputs.hpp"
#include "matrices/random.hpp"
#include "solver/gemm.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "solver/views.hpp"
#include "tools/page/ulp_error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver::bench {

/// Square A and B, column by column; complex ones as real and imaginary parts in turn.
template <class T>
struct DenseFactors {
    std::int64_t n;
    std::vector<T> a, b;
    bool is_complex = false;

    int parts() const { return is_complex ? 2 : 1; }
};

/// n x n elements of type S, real or complex, column by column, at their parts.
template <class S, class Parts>
auto square_view(std::int64_t n, Parts* parts) {
    using View = std::conditional_t<std::is_const_v<Parts>, DenseView<S>, MutableDenseView<S>>;
    using Element = std::conditional_t<std::is_const_v<Parts>, const S, S>;
    return View{n, n, 1, n, reinterpret_cast<Element*>(parts)};
}

/// A B of the parts of A, B and C.
template <class S, class T>
GemmTask<S> square_task(std::int64_t n, const T* a, const T* b, T* c) {
    return {S(1), square_view<S>(n, a), square_view<S>(n, b), S(0), square_view<S>(n, c)};
}

template <class T>
DenseFactors<T> make_factors(const Options& options, Elements elements, std::int64_t n) {
    const std::int64_t count = (options.complex_numbers ? 2 : 1) * n * n;
    return {n, random_elements<T>(elements, options.phi, count, 1), random_elements<T>(elements, options.phi, count, 2),
            options.complex_numbers};
}

/// How wrong a product is.
struct ProductError {
    double largest = 0;   ///< in ulp of the correctly rounded element
    double mean = 0;      ///< in ulp of the correctly rounded elements
    double relative = 0;  ///< the largest |error| / (|A||B|), the error of rounding included
};

/// Elements of A B, some of them chosen at random, as they should be; of complex ones a part of each.
template <class T>
class ProductSamples {
public:
    static constexpr std::int64_t most = 2000;

    ProductSamples(const DenseFactors<T>& factors, int threads) {
        const std::int64_t n = factors.n, column = factors.parts() * n;
        const bool take_all = column * n <= most;
        samples_.resize(static_cast<std::size_t>(take_all ? column * n : most));
        matrices::Random random(3);
        for (std::size_t s = 0; s < samples_.size(); ++s)
            samples_[s].place = take_all ? static_cast<std::int64_t>(s) : random.below(column) + random.below(n) * column;
        std::vector<std::jthread> others;
        const auto make = [&](std::size_t begin, std::size_t end) {
            for (std::size_t s = begin; s < end; ++s) compute(factors, samples_[s]);
        };
        const auto parts = static_cast<std::size_t>(threads);
        for (std::size_t part = 1; part < parts; ++part)
            others.emplace_back(make, samples_.size() * part / parts, samples_.size() * (part + 1) / parts);
        make(0, samples_.size() / parts);
    }

    struct Sample {
        std::int64_t place;
        T rounded;
        double exact;       ///< rounded to double
        double rest;        ///< what that took away
        double magnitudes;  ///< (|A||B|)_ij

        /// From the element without any rounding.
        double error(T found) const { return std::abs(static_cast<double>(found) - exact - rest); }
    };

    const std::vector<Sample>& samples() const { return samples_; }

    /// Where they stand in C, column by column.
    std::vector<std::int64_t> places() const {
        std::vector<std::int64_t> places;
        for (const Sample& sample : samples_) places.push_back(sample.place);
        return places;
    }

    /// Of what is found at these places.
    ProductError error(const std::vector<T>& found_there) const {
        ProductError error;
        for (std::size_t s = 0; s < samples_.size(); ++s) {
            const Sample& sample = samples_[s];
            const T found = found_there[s];
            const double ulps = ulp_error(found, sample.rounded);
            const double difference = sample.error(found);
            error.largest = larger_error(error.largest, ulps);
            error.mean += ulps / static_cast<double>(samples_.size());
            if (difference != 0) error.relative = larger_error(error.relative, difference / sample.magnitudes);
        }
        return error;
    }

private:
    static void compute(const DenseFactors<T>& factors, Sample& sample) {
        const std::int64_t parts = factors.parts(), column = parts * factors.n;
        const std::int64_t part = sample.place % parts;
        const T* a = factors.a.data() + sample.place % column - part;
        const T* b = factors.b.data() + sample.place / column * column;
        Superaccumulator sum;
        sample.magnitudes = 0;
        const auto add = [&](T x, T y) {
            sum.add_product(x, y);
            sample.magnitudes += std::abs(static_cast<double>(x) * static_cast<double>(y));
        };
        for (std::int64_t k = 0; k < factors.n; ++k, a += column, b += parts) {
            add(a[0], b[part]);
            if (factors.is_complex) add(part == 0 ? -a[1] : a[1], b[1 - part]);
        }
        sample.rounded = sum.result<T>();
        sample.exact = sum.result<double>();
        sum.add(-sample.exact);
        sample.rest = sum.result<double>();
    }

    std::vector<Sample> samples_;
};

/// An empty contest between ways to compute A B.
template <class T>
Contest product_contest(const Options& options, Elements elements, std::int64_t n) {
    const std::string precision = fmt::format("{}{}", options.complex_numbers ? "complex " : "", precision_name<T>);
    const std::string spread = elements == Elements::lognormal ? fmt::format(", phi {}", options.phi) : "";
    return {.parameters = {{"size", std::to_string(n)},
                           {"input", std::string(to_string(elements))},
                           {"phi", elements == Elements::lognormal ? fmt::format("{}", options.phi) : ""},
                           {"block", std::to_string(options.block)},
                           {"precision", precision}},
            .heading = fmt::format("C = A B, {0} x {0} times {0} x {0}, {1}{2}, {3}, blocks of {4}", n, to_string(elements),
                                   spread, precision, options.block),
            .details = {{"mean (ulp)", "mean_error_ulp"}, {"/ |A||B|", "relative_error"}},
            .rate = {"GFLOPS", "gigaflops"}};
}

/// Multiplications and additions of real numbers in a product.
inline double operations_of_product(std::int64_t n, bool is_complex = false) {
    const auto size = static_cast<double>(n);
    return (is_complex ? 8 : 2) * size * size * size;
}

/// Throws InvalidArgument where three matrices of n x n doubles do not fit into this machine's memory.
void require_memory_for_product(std::int64_t n, bool is_complex = false);

}  // namespace solver::bench
