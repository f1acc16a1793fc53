#include "contest.hpp"

#include "tools/page/ulp_error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace solver::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int least_repetitions = 3;
constexpr int repetitions_of_a_stable_median = 15;
constexpr double stable = 0.01;
constexpr double hides_the_clock = 1e-5;  // seconds between looks at it
constexpr double least_turn = 1e-3;       // seconds, far above the clock's resolution
constexpr double feels_no_start = 0.1;    // seconds, far above what cold caches and sleeping threads cost

double elapsed_seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Seconds a call, from calls for at least this long; the clock is looked at after every `calls_at_once`.
double timed(const Competitor& competitor, double at_least, int calls_at_once) {
    const auto start = Clock::now();
    std::int64_t calls = 0;
    for (;;) {
        for (int call = 0; call < calls_at_once; ++call) competitor.run();
        calls += calls_at_once;
        if (const double seconds = elapsed_seconds(start); seconds >= at_least) return seconds / static_cast<double>(calls);
    }
}

double timed_once(const Competitor& competitor) { return timed(competitor, 0, 1); }

/// What was learnt about a competitor from its warm-up.
struct Turn {
    bool warm_up = true;
    int calls_at_once = 1;
};

Turn plan_turn(const Competitor& competitor) {
    if (competitor.turn) {
        competitor.turn();
        competitor.leave();
        return {};
    }
    double once = timed_once(competitor);
    if (once <= feels_no_start) once = timed_once(competitor);
    competitor.leave();
    return {.warm_up = once <= feels_no_start,
            .calls_at_once = static_cast<int>(std::ceil(hides_the_clock / std::max(once, 1e-9)))};
}

void take_turn(const Competitor& competitor, const Turn& turn, Timing& timing) {
    if (competitor.turn) {
        timing.seconds.push_back(competitor.turn());
    } else {
        if (turn.warm_up) competitor.run();
        timing.seconds.push_back(timed(competitor, least_turn, turn.calls_at_once));
    }
    competitor.leave();
    timing.error = larger_error(timing.error, competitor.error());
    if (!competitor.details) return;
    const std::vector<double> details = competitor.details();
    timing.details.resize(details.size());
    for (std::size_t i = 0; i < details.size(); ++i) timing.details[i] = larger_error(timing.details[i], details[i]);
}

bool all_stable(const std::vector<Timing>& timings) {
    return std::all_of(timings.begin(), timings.end(),
                       [](const Timing& timing) { return timing.uncertainty().value_or(1) <= stable; });
}

bool enough(const std::vector<Timing>& timings, int repetitions, const Effort& effort, Clock::time_point start) {
    if (effort.repetitions > 0) return repetitions >= effort.repetitions;
    if (repetitions < least_repetitions) return false;
    if (elapsed_seconds(start) >= effort.time_limit) return true;
    return repetitions >= repetitions_of_a_stable_median && all_stable(timings);
}

}  // namespace

double Timing::median() const { return median_of(seconds); }

std::optional<double> Timing::uncertainty() const {
    constexpr std::size_t least = 6;
    if (seconds.size() < least) return std::nullopt;
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<double>(sorted.size());
    const double reach = 1.96 * std::sqrt(n);
    const double low = std::max(std::floor((n - reach) / 2), 1.0);  // ranks, counted from 1
    const double high = std::min(std::ceil(1 + (n + reach) / 2), n);
    const double width = sorted[static_cast<std::size_t>(high) - 1] - sorted[static_cast<std::size_t>(low) - 1];
    return width / (2 * median());
}

double speed_ratio(const Timing& timing, const Timing& other) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < timing.seconds.size(); ++i) ratios.push_back(other.seconds[i] / timing.seconds[i]);
    return median_of(std::move(ratios));
}

std::vector<std::string> inexact(std::span<const Competitor> competitors, std::span<const Timing> timings) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < competitors.size(); ++i)
        if (competitors[i].must_be_exact && timings[i].error != 0) names.push_back(competitors[i].name);
    return names;
}

std::vector<Timing> compete(std::span<const Competitor> competitors, const Effort& effort) {
    std::vector<Turn> turns;
    for (const Competitor& competitor : competitors) turns.push_back(plan_turn(competitor));
    std::vector<Timing> timings(competitors.size());
    const auto start = Clock::now();
    for (int repetitions = 0; !enough(timings, repetitions, effort, start); ++repetitions)
        for (std::size_t i = 0; i < competitors.size(); ++i) take_turn(competitors[i], turns[i], timings[i]);
    return timings;
}

}  // namespace solver::bench
