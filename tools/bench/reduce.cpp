/// Dot products and sums of vectors.

#include "solver/reduce.hpp"
#include "benchmarks.hpp"
#include "common.hpp"
#include "eigen_peer.hpp"
#include "inputs.hpp"
#include "solver/error.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "ulp_error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <functional>
#include <span>
#include <utility>

namespace solver::bench {
namespace {

/// Factors, or terms x alone.
template <class T>
Factors<T> make_data(const Options& options, Input input, std::int64_t n) {
    if (options.subject == Subject::dot) return vectors_to_multiply<T>(input, n);
    return {vector_to_sum<T>(input, n), {}};
}

/// RN of the sum, term by term in a superaccumulator.
template <class T>
T exact_result(const Factors<T>& data) {
    Superaccumulator sum;
    for (std::size_t i = 0; i < data.x.size(); ++i) {
        if (data.y.empty())
            sum.add(data.x[i]);
        else
            sum.add_product(data.x[i], data.y[i]);
    }
    return sum.result<T>();
}

template <class T>
T ours(const Factors<T>& data, Accuracy accuracy, const Device& device) {
    const std::span<const T> x(data.x);
    return data.y.empty() ? sum(x, accuracy, device) : dot(x, std::span<const T>(data.y), accuracy, device);
}

template <class T>
T peer(const Factors<T>& data, int parts) {
    const std::span<const T> x(data.x);
    return data.y.empty() ? eigen::sum(x, parts) : eigen::dot(x, std::span<const T>(data.y), parts);
}

template <class T>
std::vector<std::pair<std::string, std::string>> parameters(Input input, std::int64_t n) {
    return {{"size", std::to_string(n)}, {"input", std::string(to_string(input))}, {"precision", precision_name<T>}};
}

template <class T>
void bench(const Options& options, Input input, std::int64_t n, Report& report) {
    const Factors<T> data = make_data<T>(options, input, n);
    const T exact = exact_result(data);
    const double bytes = static_cast<double>(data.x.size() + data.y.size()) * sizeof(T);
    T result = 0;
    const auto competitor = [&](std::string name, int threads, std::function<T()> compute) {
        return Competitor{
            .name = std::move(name),
            .threads = threads,
            .bytes = bytes,
            .run = [&result, compute = std::move(compute)] { result = compute(); },
            .error = [&] { return ulp_error(std::exchange(result, std::numeric_limits<T>::quiet_NaN()), exact); }};
    };

    Contest contest{.parameters = parameters<T>(input, n),
                    .heading = fmt::format("{} of {} elements ({}), {}, {}", to_string(options.subject), n, place_of(bytes),
                                           to_string(input), precision_name<T>)};
    const Device device = Device::cpu(options.threads);
    for (const Accuracy accuracy : all_accuracies)
        contest.competitors.push_back(competitor(std::string(to_string(accuracy)), options.threads,
                                                 [&data, accuracy, &device] { return ours(data, accuracy, device); }));
    contest.must_be_exact = contest.competitors.size() - 1;
    contest.competitors.push_back(competitor("eigen", 1, [&data] { return peer(data, 1); }));
    if (const int parts = eigen::usable_threads(options.threads); parts > 1) {
        contest.competitors.push_back(competitor("eigen split", parts, [&data, parts] { return peer(data, parts); }));
        contest.competitors.back().leave = eigen::end_threads;
    }
    contest.peer = contest.competitors.size() - 1;
    report.run(contest);
}

void require_memory(std::int64_t n) {
    constexpr double gigabyte = 1e9;
    const double needed = 2.0 * sizeof(double) * static_cast<double>(n);
    const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (needed > memory)
        throw InvalidArgument(fmt::format("--size {}: vectors of {:.1f} GB, but this machine has {:.1f} GB of memory", n,
                                          needed / gigabyte, memory / gigabyte));
}

}  // namespace

void bench_reduce(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory(n);
    for (const std::int64_t n : options.sizes)
        for (const Input input : options.inputs) {
            if (options.in_double) bench<double>(options, input, n, report);
            if (options.in_single) bench<float>(options, input, n, report);
        }
}

}  // namespace solver::bench
