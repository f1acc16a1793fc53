#include "timing.hpp"

#include <algorithm>
#include <chrono>

namespace solver::blas2 {
namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

double seconds_of(const std::function<void()>& call) {
    constexpr double enough = 2e-4;
    const auto start = std::chrono::steady_clock::now();
    double seconds = 0;
    int calls = 0;
    do {
        call();
        ++calls;
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } while (seconds < enough);
    return seconds / calls;
}

double seconds_of_calls(int calls, const std::function<void()>& call, const std::function<void()>& wait) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

std::vector<Timing> compare(std::span<const std::function<double()>> turns) {
    constexpr int rounds = 5;
    std::vector<std::vector<double>> seconds(turns.size()), ratios(turns.size());
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < turns.size(); ++i) {
            seconds[i].push_back(turns[i]());
            ratios[i].push_back(seconds[i].back() / seconds[0].back());
        }
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < turns.size(); ++i) timings.push_back({median(seconds[i]), median(ratios[i])});
    return timings;
}

}  // namespace solver::blas2
