/// The program `test-blas2`: how far results are from the truth, and whether promises are kept. See --help.

#include "io/atomic_file.hpp"
#include "matrix_source.hpp"
#include "options.hpp"
#include "report.hpp"
#include "solver/error.hpp"
#include "tools/cli/program.hpp"
#include "trial.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <string_view>

namespace solver::blas2 {
namespace {

/// Tables instead of GoogleTest's two lines a test; what fails is told in full.
class Printer : public ::testing::EmptyTestEventListener {
public:
    explicit Printer(Report& report) : report_(report) {}

    /// Throws what the last call of finish() threw, which GoogleTest would take for a failure of a test.
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

    void OnTestProgramStart(const ::testing::UnitTest&) override { report_.print_head(); }
    /// Failures that a test adds by itself stand in the tables; exceptions, which come without a file, do not.
    void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (result.failed() && result.file_name() == nullptr) fmt::print("\n{}\n", result.summary());
    }
    void OnTestEnd(const ::testing::TestInfo& test) override {
        if (test.result()->Failed()) report_.add_failure(fmt::format("{}.{}", test.test_suite_name(), test.name()));
    }
    void OnTestSuiteEnd(const ::testing::TestSuite&) override {
        keep([&] { report_.end_matrix(); });
    }
    void OnTestProgramEnd(const ::testing::UnitTest& program) override {
        keep([&] { report_.finish(program.successful_test_count() + program.failed_test_count()); });
    }

private:
    template <class Work>
    void keep(const Work& work) {
        try {
            failure_ = nullptr;
            work();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    Report& report_;
    std::exception_ptr failure_;
};

int run(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const auto wish = parse_options(argc, argv);
    if (const auto* text = std::get_if<std::string>(&wish)) {
        fmt::print("{}", *text);
        return 0;
    }
    const auto& options = std::get<Options>(wish);
    if (!options.json.empty()) require_writable(options.json);  // before the work, not after it
    const MatrixSources sources = find_sources(options);
    constexpr std::size_t few = 3;
    Report report(options, options.in_detail || sources.matrices.size() <= few);
    for (const LeftOut& matrix : sources.left_out) report.leave_out(matrix);
    register_trials(sources, options, report);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    auto* const printer = new Printer(report);
    listeners.Append(printer);
    const int status = RUN_ALL_TESTS();
    printer->rethrow();
    if (::testing::GTEST_FLAG(list_tests)) return status;
    if (report.is_empty())
        throw InvalidArgument("nothing was judged: no test is among those asked for and about a matrix that can be read");
    return report.is_success() ? status : 1;
}

}  // namespace
}  // namespace solver::blas2

int main(int argc, char** argv) { return solver::cli::run_program("test-blas2", argc, argv, solver::blas2::run); }
