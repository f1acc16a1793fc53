#pragma once

/// What benchmarks of sum, dot and norm2 share.

#include "common.hpp"
#include "inputs.hpp"
#include "operation.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace solver::bench {

/// Factors, or terms x alone.
template <class T>
Factors<T> make_data(const Options& options, Input input, std::int64_t n) {
    if (options.subject == Subject::dot) return vectors_to_multiply<T>(input, n);
    return {vector_to_sum<T>(input, n), {}};
}

/// RN of the sum, dot product or norm, term by term in superaccumulators.
template <class T>
T exact_result(Subject subject, const Factors<T>& data, int threads) {
    Superaccumulator total;
    std::mutex mutex;
    const auto add_part = [&](std::size_t begin, std::size_t end) {
        Superaccumulator sum;
        for (std::size_t i = begin; i < end; ++i) {
            if (subject == Subject::sum)
                sum.add(data.x[i]);
            else
                sum.add_product(data.x[i], subject == Subject::dot ? data.y[i] : data.x[i]);
        }
        const std::lock_guard lock(mutex);
        total.merge(sum);
    };
    const auto parts = static_cast<std::size_t>(threads);
    {
        std::vector<std::jthread> others;
        for (std::size_t part = 1; part < parts; ++part)
            others.emplace_back(add_part, data.x.size() * part / parts, data.x.size() * (part + 1) / parts);
        add_part(0, data.x.size() / parts);
    }
    return subject == Subject::norm2 ? total.sqrt_result<T>() : total.result<T>();
}

/// Bytes that a reduction has to read.
template <class T>
double traffic(const Factors<T>& data) {
    return static_cast<double>(data.x.size() + data.y.size()) * sizeof(T);
}

template <class T>
std::vector<std::pair<std::string, std::string>> parameters_of(Input input, std::int64_t n) {
    return {{"size", std::to_string(n)}, {"input", std::string(to_string(input))}, {"precision", precision_name<T>}};
}

template <class T>
std::string heading_of(const Options& options, Input input, const Factors<T>& data) {
    return fmt::format("{} of {} elements ({}), {}, {}", to_string(options.subject), data.x.size(),
                       place_of(traffic(data), cache_of(options)), to_string(input), precision_name<T>);
}

/// A sum, a dot product or a norm, as the options' subject says, by everybody on the machine that they name; `exact` is the
/// result correctly rounded. The data must outlive it.
template <class T>
std::unique_ptr<Operation> make_reduction(const Options& options, const Factors<T>& data, T exact);

}  // namespace solver::bench
