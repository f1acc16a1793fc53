#include "table.hpp"

#include "linear_system.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>

namespace solver::command {
namespace {

class Rows {
public:
    explicit Rows(bool coloured) : coloured_(coloured) {}

    void add(std::string_view name, std::string_view value) {
        fmt::format_to(std::back_inserter(text_), "  {}  {}\n", dimmed(fmt::format("{:<16}", name)), value);
    }
    void gap() { text_ += '\n'; }

    std::string green(std::string_view text) const { return wrapped("32;1", text); }
    std::string yellow(std::string_view text) const { return wrapped("33;1", text); }
    std::string red(std::string_view text) const { return wrapped("31;1", text); }
    std::string bold(std::string_view text) const { return wrapped("1", text); }
    std::string dimmed(std::string_view text) const { return wrapped("2", text); }

    const std::string& text() const { return text_; }

private:
    std::string wrapped(std::string_view code, std::string_view text) const {
        return coloured_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
    }

    bool coloured_;
    std::string text_;
};

/// 116835 as "116 835".
std::string grouped(std::int64_t count) {
    std::string digits = fmt::format("{}", count);
    for (std::ptrdiff_t i = std::ssize(digits) - 3; i > 0; i -= 3) digits.insert(i, 1, ' ');
    return digits;
}

std::string counted(std::int64_t count, std::string_view one) {
    return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string time(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

std::string_view promise(Accuracy accuracy) {
    switch (accuracy) {
        case Accuracy::fast:
            return "fast (plain sums)";
        case Accuracy::compensated:
            return "compensated (sums as if in twice the precision)";
        case Accuracy::exact:
            return "exact (every sum rounded once)";
    }
    return "";
}

std::string status(const Rows& rows, const Outcome& outcome) {
    const std::string text = status_text(outcome);
    if (outcome.result.status == SolveStatus::converged) return rows.green(text);
    return outcome.result.status == SolveStatus::iteration_limit ? rows.yellow(text) : rows.red(text);
}

std::string iterations(const SolveResult& result) {
    std::string text = "after " + counted(result.iterations, "iteration");
    if (result.replacements > 0) text += ", " + counted(result.replacements, "residual replacement");
    if (result.restarts > 0) text += ", " + counted(result.restarts, "restart");
    return text;
}

std::string advice(const Options& options, const Outcome& outcome) {
    if (outcome.interrupted) return "by Ctrl-C; x is the iterate reached";
    std::string better;
    if (options.accuracy == Accuracy::fast) better += "--compensated, ";
    if (options.precision == Precision::single_precision) better += "--precision double, ";
    if (options.preconditioner != PreconditionerKind::ilu0) better += "--preconditioner ilu0, ";
    switch (outcome.result.status) {
        case SolveStatus::iteration_limit:
            return fmt::format("what may help: {}a larger --max-iterations", better);
        case SolveStatus::stagnated:
            return fmt::format("the residual stopped falling; what may help: {}a larger --tolerance", better);
        case SolveStatus::breakdown:
            return fmt::format("restarts included; what may help: {}another --initial", better);
        case SolveStatus::non_finite:
            return "Inf or NaN on the way: numbers beyond the range of this precision, or a singular preconditioner";
        case SolveStatus::converged:
            break;
    }
    return "";
}

std::string floor_text(const ForwardError& known) {
    if (known.rhs_rounding == 0) return "floor 0: b is A * ones without any rounding";
    return fmt::format("floor about {:.0e}: b is A * ones rounded by {:.0e}, amplified as seen here", known.floor,
                       known.rhs_rounding);
}

void add_system(Rows& rows, const Options& options, const Outcome& outcome) {
    rows.add("matrix",
             rows.bold(std::filesystem::path(outcome.matrix).filename().string()) + (outcome.generated ? "  (generated)" : ""));
    rows.add("size",
             fmt::format("{} x {}, {} nonzeros", grouped(outcome.rows), grouped(outcome.columns), grouped(outcome.nonzeros)));
    rows.add("right-hand side", describe(options.rhs));
    if (!options.initial.empty()) rows.add("initial guess", options.initial.string());
}

void add_method(Rows& rows, const Options& options, const Outcome& outcome) {
    rows.add("method", fmt::format("BiCGStab, {} precision, preconditioner {}", to_string(options.precision),
                                   to_string(options.preconditioner)));
    rows.add("accuracy", promise(options.accuracy));
    const std::string threads =
        options.device.kind() == Device::Kind::cpu ? ", " + counted(options.device.threads(), "thread") : "";
    rows.add("device", fmt::format("{}{}, SpMV {}", to_string(options.device), threads, to_string(outcome.spmv)));
}

void add_result(Rows& rows, const Options& options, const Outcome& outcome) {
    const SolveResult& result = outcome.result;
    rows.add("status", fmt::format("{} {}", status(rows, outcome), iterations(result)));
    if (const std::string text = advice(options, outcome); !text.empty()) rows.add("", text);
    rows.add("true residual", fmt::format("{}  tolerance {:.1e}, the recursion says {:.1e}",
                                          rows.bold(fmt::format("{:.1e}", result.relative_residual)), options.tolerance,
                                          result.recursive_residual));
    if (outcome.forward_error)
        rows.add("forward error", fmt::format("{}  {}", rows.bold(fmt::format("{:.1e}", outcome.forward_error->error)),
                                              floor_text(*outcome.forward_error)));
    const Seconds& seconds = outcome.seconds;
    rows.add("time", fmt::format("{} {}, setup {}, solve {}", outcome.generated ? "generate" : "read", time(seconds.read),
                                 time(seconds.setup), rows.bold(time(seconds.solve))));
}

}  // namespace

std::string table(const Options& options, const Outcome& outcome, std::string_view fingerprint, bool coloured) {
    Rows rows(coloured);
    rows.gap();
    add_system(rows, options, outcome);
    rows.gap();
    add_method(rows, options, outcome);
    rows.gap();
    add_result(rows, options, outcome);
    rows.add("fingerprint", fmt::format("{}  of the bits of x", fingerprint));
    rows.gap();
    return rows.text();
}

bool wants_colour() {
    const char* no_colour = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace solver::command
