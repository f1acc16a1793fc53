/// Sums, dot products and norms of vectors.

#include "benchmarks.hpp"
#include "common.hpp"
#include "core/machine.hpp"
#include "reductions.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

namespace solver::bench {
namespace {

template <class T>
void bench_reduce(const Options& options, Input input, std::int64_t n, Report& report) {
    const Factors<T> data = make_data<T>(options, input, n);
    const std::unique_ptr<Operation> reduction =
        make_reduction(options, data, exact_result(options.subject, data, options.threads));
    Contest contest{.parameters = parameters_of<T>(input, n), .heading = heading_of(options, input, data)};
    enter(contest, *reduction);
    report.run(contest);
}

/// Throws InvalidArgument where vectors of n doubles do not fit into this machine's memory.
void require_memory(std::int64_t n) {
    constexpr double gigabyte = 1e9;
    const double needed = 2.0 * sizeof(double) * static_cast<double>(n);
    const double memory = static_cast<double>(available_memory());
    if (needed > memory)
        throw InvalidArgument(fmt::format("--size {}: vectors of {:.1f} GB, but {:.1f} GB of memory may be used", n,
                                          needed / gigabyte, memory / gigabyte));
}

}  // namespace

void bench_reduce(const Options& options, Report& report) {
    for (const std::int64_t n : options.sizes) require_memory(n);
    for (const std::int64_t n : options.sizes)
        for (const Input input : options.inputs) {
            if (options.in_double) bench_reduce<double>(options, input, n, report);
            if (options.in_single) bench_reduce<float>(options, input, n, report);
        }
}

}  // namespace solver::bench
