#pragma once

/// What a person sees, and the files.

#include "io/atomic_file.hpp"
#include "matrix_source.hpp"
#include "options.hpp"
#include "verdict.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace solver::blas2 {

class Report {
public:
    /// In detail: a line for each verdict, with its histogram. Else: a line for each matrix and precision.
    Report(const Options& options, bool in_detail);

    void print_head() const;
    void add(const Verdict& verdict);
    /// Once for each reason.
    void leave_out(const LeftOut& matrix);
    bool is_empty() const { return verdicts_.empty(); }
    /// Whether something was judged, no test failed and every matrix could be read.
    bool is_success() const { return !is_empty() && failures_.empty() && is_all_read(); }
    void end_matrix();
    /// The name of a test.
    void add_failure(const std::string& test) { failures_.push_back(test); }
    /// Prints the sums of so many tests, those of matrices that could not be read aside.
    void finish(std::int64_t tests);

private:
    bool is_all_read() const;
    void print_pending();
    void print_summaries() const;
    void write_files(FileWriter to_file) const;

    const Options& options_;
    bool in_detail_;
    std::vector<Verdict> verdicts_;
    std::vector<std::string> json_;  ///< of each verdict
    std::size_t printed_ = 0;        ///< verdicts that a table has shown
    std::size_t matrix_begin_ = 0;   ///< the first verdict of the matrix at work
    std::vector<LeftOut> left_out_;
    std::vector<std::string> failures_;
};

}  // namespace solver::blas2
