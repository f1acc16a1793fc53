#pragma once

/// Results for a person (tables, as they come) and for programs (JSON, of which tools/bench-pages makes pages).

#include "contest.hpp"
#include "io/atomic_file.hpp"
#include "options.hpp"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver::bench {

/// How a column is called in tables, and in JSON.
struct Measure {
    std::string title;
    std::string name;
};

/// One contest: what was computed, by whom, and whom they are compared with.
struct Contest {
    std::vector<std::pair<std::string, std::string>> parameters;  ///< matrix, x, precision, ...: what makes the case
    std::string heading;
    std::vector<Competitor> competitors{};
    std::vector<std::size_t> peers{};  ///< the fastest of them is the peer that all are compared with
    std::size_t baseline = 0;          ///< fast, or the reader itself
    Measure error = {"error (ulp)", "error_ulp"};
    std::vector<Measure> details{};  ///< what every competitor's details are
    Measure rate = {"GB/s", "gigabytes_per_second"};
};

/// Holds contests and prints them.
class Report {
public:
    explicit Report(const Options& options) : options_(options) {}

    /// The machine, the versions.
    void print_head() const;

    /// A remark for whoever looks on.
    void note(const std::string& text) const;

    /// Runs a contest, prints its table, keeps its results and writes JSON anew where it is asked for: an
    /// interrupted run keeps what it has. Existing files are replaced whole.
    void run(const Contest& contest);

    /// Writes what pipes and devices get once.
    void finish() const;

    /// Whether all that must be exact was.
    bool verified() const { return verified_; }

    /// Everything that was measured so far.
    nlohmann::ordered_json json() const;

private:
    struct Case {
        std::string heading;
        std::vector<std::pair<std::string, std::string>> parameters;
        std::string competitor;
        int threads;
        std::size_t repetitions;
        double seconds;
        std::optional<double> uncertainty;
        double rate;
        std::string peer;
        std::optional<double> ratio_to_peer;
        std::string baseline;
        double ratio_to_baseline;
        double error;
        std::string remark;
        std::vector<double> details;
        std::optional<page::UlpHistogram> histogram;
        std::optional<Residuals> residuals;
    };

    void keep(const Contest& contest, std::span<const Timing> timings);
    void write(FileWriter to_file) const;
    void judge(const Contest& contest, std::span<const Timing> timings);
    void print_table(const Contest& contest, std::span<const Case> cases) const;

    const Options& options_;
    std::vector<Case> cases_;
    Measure rate_;  ///< the contests of a report measure the same
    Measure error_;
    std::vector<Measure> details_;
    bool verified_ = true;
};

/// What every JSON begins with: version, benchmark, command, time, machine and peer.
nlohmann::ordered_json head_of_record(const Options& options, const std::string& benchmark);

/// As the content of a file; what is not UTF-8 is replaced.
std::string text_of(const nlohmann::ordered_json& json);

/// Throws FileError where an output cannot be written, InvalidArgument where two name the same file.
void check_outputs(const Options& options);

}  // namespace solver::bench
