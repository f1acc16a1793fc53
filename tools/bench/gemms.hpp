#pragma once

/// What benchmarks of C = A B share.

#include "common.hpp"
#include "inputs.hpp"
#include "matrices/random.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "solver/views.hpp"
#include "tools/page/ulp_error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace solver::bench {

/// Square A and B, column by column.
template <class T>
struct DenseFactors {
    std::int64_t n;
    std::vector<T> a, b;

    DenseView<T> a_view() const { return {n, n, 1, n, a.data()}; }
    DenseView<T> b_view() const { return {n, n, 1, n, b.data()}; }
};

template <class T>
DenseFactors<T> make_factors(const Options& options, Elements elements, std::int64_t n) {
    return {n, random_elements<T>(elements, options.phi, n * n, 1), random_elements<T>(elements, options.phi, n * n, 2)};
}

/// How wrong a product is.
struct ProductError {
    double largest = 0;   ///< in ulp of the correctly rounded element
    double mean = 0;      ///< likewise
    double relative = 0;  ///< the largest |error| / (|A||B|)
};

/// Elements of A B, some of them chosen at random, as they should be.
template <class T>
class ProductSamples {
public:
    static constexpr std::int64_t most = 2000;

    ProductSamples(const DenseFactors<T>& factors, int threads) : n_(factors.n) {
        const bool take_all = n_ * n_ <= most;
        samples_.resize(static_cast<std::size_t>(take_all ? n_ * n_ : most));
        matrices::Random random(3);
        for (std::size_t s = 0; s < samples_.size(); ++s)
            samples_[s].place = take_all ? static_cast<std::int64_t>(s) : random.below(n_) + random.below(n_) * n_;
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
        double magnitudes;  ///< (|A||B|)_ij
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
            const double difference = std::abs(static_cast<double>(found) - sample.exact);
            error.largest = larger_error(error.largest, ulps);
            error.mean += ulps / static_cast<double>(samples_.size());
            if (difference != 0) error.relative = larger_error(error.relative, difference / sample.magnitudes);
        }
        return error;
    }

private:
    static void compute(const DenseFactors<T>& factors, Sample& sample) {
        const T* a = factors.a.data() + sample.place % factors.n;
        const T* b = factors.b.data() + sample.place / factors.n * factors.n;
        Superaccumulator sum;
        sample.magnitudes = 0;
        for (std::int64_t k = 0; k < factors.n; ++k) {
            sum.add_product(a[k * factors.n], b[k]);
            sample.magnitudes += std::abs(static_cast<double>(a[k * factors.n]) * static_cast<double>(b[k]));
        }
        sample.rounded = sum.result<T>();
        sample.exact = sum.result<double>();
    }

    std::int64_t n_;
    std::vector<Sample> samples_;
};

/// An empty contest between ways to compute A B.
template <class T>
Contest product_contest(const Options& options, Elements elements, std::int64_t n) {
    const std::string spread = elements == Elements::lognormal ? fmt::format(", phi {}", options.phi) : "";
    return {.parameters = {{"size", std::to_string(n)},
                           {"input", std::string(to_string(elements))},
                           {"phi", elements == Elements::lognormal ? fmt::format("{}", options.phi) : ""},
                           {"block", std::to_string(options.block)},
                           {"precision", precision_name<T>}},
            .heading = fmt::format("C = A B, {0} x {0} times {0} x {0}, {1}{2}, {3}, blocks of {4}", n, to_string(elements),
                                   spread, precision_name<T>, options.block),
            .details = {{"mean (ulp)", "mean_error_ulp"}, {"/ |A||B|", "relative_error"}},
            .rate = {"GFLOPS", "gigaflops"}};
}

/// Multiplications and additions of a product.
inline double operations_of_product(std::int64_t n) {
    const auto size = static_cast<double>(n);
    return 2 * size * size * size;
}

/// Throws InvalidArgument where three matrices of n x n doubles do not fit into this machine's memory.
void require_memory_for_product(std::int64_t n);

}  // namespace solver::bench
