/// Reading Matrix Market files.

#include "benchmarks.hpp"
#include "common.hpp"
#include "eigen_peer.hpp"
#include "plain_reader.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "text_file.hpp"
#include "tools/page/ulp_error.hpp"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <utility>

namespace solver::bench {
namespace {

namespace fs = std::filesystem;

/// Of the values in ulp; infinite where rows, columns or the pattern differ.
template <class T>
double matrix_error(const CsrMatrix<T>& matrix, const CsrMatrix<T>& expected) {
    const bool same_pattern = matrix.rows == expected.rows && matrix.columns == expected.columns &&
                              matrix.row_offsets == expected.row_offsets && matrix.column_indices == expected.column_indices;
    if (!same_pattern) return std::numeric_limits<double>::infinity();
    return max_ulp_error(std::span<const T>(matrix.values), std::span<const T>(expected.values));
}

/// One file with everything that reads it.
template <class T>
class Reading {
public:
    Reading(const Options& options, std::string name, fs::path path)
        : options_(options),
          name_(std::move(name)),
          path_(std::move(path)),
          bytes_(static_cast<double>(fs::file_size(path_))),
          expected_(read_expected()) {}

    void run(Report& report) {
        Contest contest{.parameters = parameters(), .heading = heading()};
        contest.competitors.push_back(ours("solver", options_.threads));
        contest.competitors.back().must_be_exact = true;
        if (options_.threads > 1) contest.competitors.push_back(ours("solver serial", 1));
        contest.peers = {contest.competitors.size()};
        contest.competitors.push_back(peer());
        report.run(contest);
    }

private:
    PlainFile<T> read_expected() const {
        if (std::holds_alternative<DenseMatrix<T>>(read_matrix_market<T>(path_, {.threads = options_.threads})))
            throw InvalidArgument(fmt::format(
                "{} is in array format; solver-bench read takes coordinate files, as Eigen's loadMarket does", name_));
        return read_plainly<T>(path_);
    }

    Competitor ours(std::string name, int threads) {
        return {.name = std::move(name),
                .threads = threads,
                .bytes = bytes_,
                .run = [this, threads] { matrix_ = read_csr<T>(path_, {.threads = threads}); },
                .error = [this] { return matrix_error(std::exchange(matrix_, {}), expected_.expanded); }};
    }

    Competitor peer() {
        return {.name = "eigen",
                .threads = 1,
                .bytes = bytes_,
                .run = [this] { peer_.load(path_); },
                .error =
                    [this] {
                        const double error = matrix_error(peer_.csr(), expected_.stored);
                        peer_ = {};
                        return error;
                    }};
    }

    std::vector<std::pair<std::string, std::string>> parameters() const {
        return {{"matrix", name_},
                {"precision", precision_name<T>},
                {"rows", std::to_string(expected_.expanded.rows)},
                {"columns", std::to_string(expected_.expanded.columns)},
                {"nonzeros", std::to_string(expected_.expanded.nonzeros())},
                {"file_bytes", fmt::format("{:.0f}", bytes_)}};
    }

    std::string heading() const {
        return fmt::format("{}: {:.4g} MB of text, {} entries, {} when expanded, {}", name_, bytes_ / 1e6,
                           expected_.stored.nonzeros(), expected_.expanded.nonzeros(), precision_name<T>);
    }

    const Options& options_;
    std::string name_;
    fs::path path_;
    double bytes_;
    PlainFile<T> expected_;
    CsrMatrix<T> matrix_;
    eigen::SparseMatrix<T> peer_;
};

}  // namespace

void bench_read(const Options& options, Report& report) {
    for (const auto& found : find_matrices(options, report)) {
        if (!found.announcement.empty()) report.note(found.announcement);
        const TemporaryFolder folder;
        const fs::path path = uncompressed_file(found, folder);
        if (options.in_double) Reading<double>(options, name_of(found), path).run(report);
        if (options.in_single) Reading<float>(options, name_of(found), path).run(report);
    }
}

}  // namespace solver::bench
