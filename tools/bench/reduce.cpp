/// Sums, dot products and norms of vectors.

#include "solver/reduce.hpp"
#include "benchmarks.hpp"
#include "common.hpp"
#include "eigen_peer.hpp"
#include "reductions.hpp"
#include "solver/error.hpp"
#include "tools/page/ulp_error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <functional>
#include <span>
#include <utility>

namespace solver::bench {
namespace {

template <class T>
T ours(Subject subject, const Factors<T>& data, Accuracy accuracy, const Device& device) {
    const std::span<const T> x(data.x);
    if (subject == Subject::norm2) return norm2(x, accuracy, device);
    return subject == Subject::sum ? sum(x, accuracy, device) : dot(x, std::span<const T>(data.y), accuracy, device);
}

template <class T>
T peer(Subject subject, const Factors<T>& data, int parts) {
    const std::span<const T> x(data.x);
    if (subject == Subject::norm2) return eigen::norm2(x, parts);
    return subject == Subject::sum ? eigen::sum(x, parts) : eigen::dot(x, std::span<const T>(data.y), parts);
}

template <class T>
void bench(const Options& options, Input input, std::int64_t n, Report& report) {
    const Factors<T> data = make_data<T>(options, input, n);
    const T exact = exact_result(options.subject, data, options.threads);
    T result = 0;
    const auto competitor = [&](std::string name, int threads, std::function<T()> compute) {
        return Competitor{
            .name = std::move(name),
            .threads = threads,
            .bytes = traffic(data),
            .run = [&result, compute = std::move(compute)] { result = compute(); },
            .error = [&] { return ulp_error(std::exchange(result, std::numeric_limits<T>::quiet_NaN()), exact); }};
    };

    Contest contest{.parameters = parameters_of<T>(input, n), .heading = heading_of(options, input, data)};
    const Device device = Device::cpu(options.threads);
    for (const Accuracy accuracy : all_accuracies)
        contest.competitors.push_back(competitor(std::string(to_string(accuracy)), options.threads,
                                                 [&, accuracy] { return ours(options.subject, data, accuracy, device); }));
    contest.must_be_exact = contest.competitors.size() - 1;
    contest.competitors.push_back(competitor("eigen", 1, [&] { return peer(options.subject, data, 1); }));
    if (const int parts = eigen::usable_threads(options.threads); parts > 1) {
        contest.competitors.push_back(
            competitor("eigen split", parts, [&, parts] { return peer(options.subject, data, parts); }));
        contest.competitors.back().leave = eigen::end_threads;
    }
    contest.peers = {contest.competitors.size() - 1};
    report.run(contest);
}

}  // namespace

void require_memory(std::int64_t n) {
    constexpr double gigabyte = 1e9;
    const double needed = 2.0 * sizeof(double) * static_cast<double>(n);
    const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (needed > memory)
        throw InvalidArgument(fmt::format("--size {}: vectors of {:.1f} GB, but this machine has {:.1f} GB of memory", n,
                                          needed / gigabyte, memory / gigabyte));
}

void bench_reduce(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory(n);
    for (const std::int64_t n : options.sizes)
        for (const Input input : options.inputs) {
            if (options.in_double) bench<double>(options, input, n, report);
            if (options.in_single) bench<float>(options, input, n, report);
        }
}

}  // namespace solver::bench
