#include "report.hpp"

#include "io/atomic_file.hpp"
#include "json.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <mpfr.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>

namespace solver::blas2 {
namespace {

/// The length of the run of verdicts at the beginning that agree with the first one.
template <class Same>
std::size_t run_length(std::span<const Verdict> verdicts, const Same& same) {
    std::size_t length = 0;
    while (length < verdicts.size() && same(verdicts.front(), verdicts[length])) ++length;
    return length;
}

bool same_precision(const Verdict& a, const Verdict& b) { return a.precision == b.precision; }
bool same_table(const Verdict& a, const Verdict& b) { return same_precision(a, b) && a.operation == b.operation; }

std::string in_words(const Device& device) {
    if (device.kind() == Device::Kind::cuda) return fmt::format("{} ({})", to_string(device), describe(device).name);
    return fmt::format("{}, {} thread{}", describe(device).name, device.threads(), device.threads() == 1 ? "" : "s");
}

}  // namespace

Report::Report(const Options& options, bool in_detail) : options_(options), in_detail_(in_detail) {}

void Report::print_head() const {
    fmt::print("test-blas2 {}, {}; the truth by MPFR {}\n", SOLVER_VERSION, in_words(options_.device), mpfr_get_version());
    fmt::print("Elements of the results by their error: at most so many ulp of the true result (0: the very bits).\n");
    if (!in_detail_) fmt::print("{}", summary_heading());
    std::fflush(stdout);
}

void Report::add(const Verdict& verdict) {
    if (in_detail_ && printed_ < verdicts_.size() && !same_table(verdicts_.back(), verdict)) print_pending();
    verdicts_.push_back(verdict);
    if (!options_.json.empty()) json_.push_back(to_json(verdict));
}

void Report::leave_out(const LeftOut& matrix) {
    for (const LeftOut& other : left_out_)
        if (other.name == matrix.name && other.reason == matrix.reason) return;
    left_out_.push_back(matrix);
}

bool Report::is_all_read() const {
    return std::none_of(left_out_.begin(), left_out_.end(), [](const LeftOut& matrix) { return matrix.is_error; });
}

void Report::print_pending() {
    const auto pending = std::span<const Verdict>(verdicts_).subspan(printed_);
    if (pending.empty()) return;
    if (printed_ == matrix_begin_) fmt::print("\n{}", heading_of(pending.front()));
    fmt::print("{}", detailed_table(pending));
    std::fflush(stdout);
    printed_ = verdicts_.size();
}

void Report::print_summaries() const {
    for (auto rest = std::span<const Verdict>(verdicts_).subspan(matrix_begin_); !rest.empty();) {
        const std::size_t length = run_length(rest, same_precision);
        fmt::print("{}", summary_line(rest.first(length)));
        rest = rest.subspan(length);
    }
    std::fflush(stdout);
}

void Report::end_matrix() {
    if (in_detail_)
        print_pending();
    else
        print_summaries();
    matrix_begin_ = verdicts_.size();
    write_files(write_draft);
}

void Report::write_files(FileWriter to_file) const {
    if (!options_.json.empty()) to_file(options_.json, to_json(json_, left_out_, options_));
}

void Report::finish(std::int64_t tests) {
    std::int64_t kept = 0, broken = 0, overflowed = 0, peers = 0;
    std::set<std::string> matrices;
    for (const Verdict& verdict : verdicts_) {
        matrices.insert(verdict.matrix);
        ++(!verdict.accuracy ? peers : !verdict.passed ? broken : verdict.overflowed > 0 ? overflowed : kept);
    }
    for (const LeftOut& matrix : left_out_) fmt::print("\nleft out: {}: {}", matrix.name, matrix.reason);
    for (const std::string& test : failures_) fmt::print("\nFAILED {}", test);
    fmt::print("\n\n{} {} of {} tests, {} verdicts on {} {}: {} promises kept, {} broken", is_success() ? "PASSED" : "FAILED",
               is_success() ? tests : static_cast<std::int64_t>(failures_.size()), tests, verdicts_.size(), matrices.size(),
               matrices.size() == 1 ? "matrix" : "matrices", kept, broken);
    if (overflowed != 0) fmt::print(", {} without a promise for an intermediate sum that overflows", overflowed);
    if (peers != 0) fmt::print(", {} on others who promised nothing", peers);
    if (!is_all_read()) fmt::print(", and not every file could be read");
    fmt::print("\n");
    write_files(write_file);
}

}  // namespace solver::blas2
