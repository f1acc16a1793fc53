#include "table.hpp"

#include "errors.hpp"
#include "linear_system.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

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
std::string spaced(std::int64_t count) {
    std::string digits = fmt::format("{}", count);
    for (std::ptrdiff_t i = std::ssize(digits) - 3; i > 0; i -= 3) digits.insert(i, 1, ' ');
    return digits;
}

std::string counted(std::int64_t count, std::string_view one) {
    return fmt::format("{} {}{}", spaced(count), one, count == 1 ? "" : "s");
}

std::string time(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
    if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);  // from there on it would be 1e+03
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

/// 1.1e-16; of NaN no sign.
std::string scientific(double number) { return fmt::format("{:.1e}", canonical(number)); }

std::string coloured_status(const Rows& rows, const Run& run) {
    const std::string text = status_text(run);
    const SolveStatus status = run.worst().status;
    if (status == SolveStatus::converged) return rows.green(text);
    return status == SolveStatus::iteration_limit ? rows.yellow(text) : rows.red(text);
}

std::string iterations(const SolveResult& result) {
    std::string text = "after " + counted(result.iterations, "iteration");
    if (result.replacements > 0) text += ", " + counted(result.replacements, "residual replacement");
    if (result.restarts > 0) text += ", " + counted(result.restarts, "restart");
    return text;
}

std::string advice(const Options& options, const Run& run) {
    if (run.interrupted) return "by Ctrl-C; x is the iterate reached";
    const bool is_proven = run.worst().status == SolveStatus::converged && !run.report.proofs.empty();
    if (!is_proven && !run.report.obstacle.empty()) return run.report.obstacle;
    std::string better;
    if (run.accuracy == Accuracy::fast) better += "--exact, ";
    if (options.precision == Precision::single_precision) better += "--precision double, ";
    if (options.preconditioner) better += "--preconditioner auto, ";
    switch (run.worst().status) {
        case SolveStatus::iteration_limit:
            return fmt::format("what may help: {}a larger --max-iterations", better);
        case SolveStatus::stagnated:
            if (!(run.worst().relative_residual < 1))
                return fmt::format(
                    "no better than x = 0: A may be singular, or the solution beyond the range of numbers; what may help: "
                    "{}A or b in other units",
                    better);
            return fmt::format("the residual stopped falling; what may help: {}a larger --tolerance", better);
        case SolveStatus::breakdown:
            return fmt::format("restarts included; what may help: {}another --initial", better);
        case SolveStatus::indefinite:
            return run.report.attempts.back().method == KrylovMethod::minres
                       ? "MINRES needs M positive definite; what may help: --preconditioner none, gmres"
                       : "conjugate gradients need A and M positive definite; what may help: minres, bicgstab";
        case SolveStatus::non_finite:
            return "Inf or NaN on the way: numbers beyond the range of this precision, or a singular preconditioner";
        case SolveStatus::converged:
            break;
    }
    return "";
}

std::string floor_text(const ForwardError& known, bool is_rounded) {
    if (known.rhs_rounding == 0) return "floor 0: b is A * ones without any rounding";
    if (is_rounded) return "that of the solution of the system itself, whose b is A * ones rounded";
    return fmt::format("floor about {:.0e}: b is A * ones rounded by {:.0e}, amplified as seen here", known.floor,
                       known.rhs_rounding);
}

/// What is wrong with the matrix before its values matter; empty where nothing is.
std::string defects(const Diagnosis& structure, bool is_complex) {
    std::vector<std::string> found;
    const auto add = [&](const Occurrences& occurrences, std::string_view one) {
        if (occurrences.count > 0)
            found.push_back(fmt::format("{} (the first: {})", counted(occurrences.count, one), occurrences.first + 1));
    };
    if (structure.structural_rank < structure.rows)
        found.push_back(fmt::format("singular whatever its values: structural rank {}", spaced(structure.structural_rank)));
    add(structure.empty_rows, "empty row");
    add(structure.empty_columns, "empty column");
    add(structure.zero_diagonals, "row");
    if (structure.zero_diagonals.count > 0)
        found.back() += is_complex ? " with a diagonal without a real part" : " with zero on the diagonal";
    return fmt::format("{}", fmt::join(found, ", "));
}

void add_system(Rows& rows, const Options& options, const Outcome& outcome) {
    rows.add("matrix",
             rows.bold(std::filesystem::path(outcome.matrix).filename().string()) + (outcome.generated ? "  (generated)" : ""));
    rows.add("size", fmt::format("{} x {}, {} {}nonzeros", spaced(outcome.rows), spaced(outcome.columns),
                                 spaced(outcome.nonzeros), outcome.is_complex ? "complex " : ""));
    if (outcome.is_complex)
        rows.add("", "as a real system of twice the order: the real and the imaginary part of each unknown in turn");
    if (const std::string text = defects(outcome.structure, outcome.is_complex); !text.empty())
        rows.add("structure", rows.yellow(text));
    rows.add("right-hand side", outcome.right_hand_sides == 1
                                    ? describe(options.rhs)
                                    : fmt::format("{}, {} columns", describe(options.rhs), spaced(outcome.right_hand_sides)));
    if (!options.initial.empty()) rows.add("initial guess", options.initial.string());
}

void add_method(Rows& rows, const Options& options, const Outcome& outcome) {
    const std::string choice =
        options.preconditioner ? "" : fmt::format(" (profile {})", to_string(outcome.run().report.profile));
    if (outcome.run().normal_residual)
        rows.add("method",
                 fmt::format("{} (least squares), {} precision", method_name(outcome.run()), to_string(options.precision)));
    else
        rows.add("method", fmt::format("{}, {} precision, preconditioner {}{}", method_name(outcome.run()),
                                       to_string(options.precision), to_string(options.preconditioner), choice));
    rows.add("accuracy", promise(options.accuracy));
    const std::string what = options.device.kind() == Device::Kind::cpu ? counted(options.device.threads(), "thread")
                                                                        : describe(options.device).name;
    rows.add("device", fmt::format("{}, {}, SpMV {}", to_string(options.device), what, to_string(outcome.spmv)));
    rows.add("storage",
             fmt::format("{}, {:.1f} bytes a nonzero", to_string(outcome.storage.storage), outcome.storage.bytes_a_nonzero));
}

/// How the right-hand side that went worst in this attempt ended; an attempt that others followed had its share.
std::string ending(const Attempt& attempt, bool is_last) {
    if (!attempt.refusal.empty()) return attempt.refusal;
    const SolveResult* worst = &attempt.results.front();
    for (const SolveResult& result : attempt.results)
        if (is_worse(result.relative_residual, worst->relative_residual)) worst = &result;
    const bool handed_on = worst->status == SolveStatus::iteration_limit && !is_last;
    std::string text = fmt::format("{} {}, residual {}", handed_on ? "given up" : to_string(worst->status), iterations(*worst),
                                   scientific(worst->relative_residual));
    if (!attempt.levels.empty())
        text += fmt::format("; {}, {:.2f} times the entries of A", counted(std::ssize(attempt.levels), "level"),
                            operator_complexity(attempt.levels));
    else if (attempt.factor_entries > 0)
        text += fmt::format("; {} entries in the factors", spaced(attempt.factor_entries));
    return text;
}

void add_attempts(Rows& rows, const std::vector<Attempt>& attempts) {
    std::string_view name = "attempts";
    for (const Attempt& attempt : attempts) {
        rows.add(name, fmt::format("{:<8} {:<6}  {}", method_name(attempt), to_string(attempt.preconditioner),
                                   ending(attempt, &attempt == &attempts.back())));
        name = "";
    }
}

/// Which of several right-hand sides is meant, counted from 1.
template <class T>
std::string column_of(const std::vector<T>& all, const T& one) {
    return fmt::format("column {}", spaced(&one - all.data() + 1));
}

/// How many of several right-hand sides converged, and of which the rest of the table is.
std::string summary(const Run& run) {
    const auto& results = run.report.results;
    const auto converged = std::count_if(results.begin(), results.end(),
                                         [](const SolveResult& result) { return result.status == SolveStatus::converged; });
    return fmt::format("{} of {} right-hand sides converged; of the worst, {}:", spaced(converged), spaced(std::ssize(results)),
                       column_of(results, run.worst()));
}

/// 1.1e-16, rounded up, or "0" for 0 alone; what is nearly the smallest number needs no digits.
std::string bound_text(double bound) {
    if (bound == 0) return "0";
    const double least = std::max(bound, 1e-300);
    const std::string nearest = scientific(least);
    constexpr double half_a_digit = 0.05;
    return std::stod(nearest) < least ? scientific(least + half_a_digit * std::pow(10, std::floor(std::log10(least))))
                                      : nearest;
}

std::string proven_text(const Run& run, const SolutionProof& proof) {
    return fmt::format("proven: {} ({})", proof.reason, counted(run.report.certificate_iterations, "iteration"));
}

/// Where there is nothing better.
std::string estimate_text(const SolutionProof& proof) {
    if (proof.estimated_error < 0) return "";
    return fmt::format(" (estimated, not proven: {:.0e} of the largest component)", proof.estimated_error);
}

std::string rounded_text(const SolutionProof& proof) {
    return fmt::format("{} of {} components, {}, {}; ties {}, zeros {}{}", spaced(proof.rounded),
                       spaced(proof.rounded + proof.undecided), counted(proof.refinements, "refinement"),
                       counted(proof.iterations, "iteration"), spaced(proof.ties), spaced(proof.zeros),
                       proof.dropped > 0 ? fmt::format(", of these {} by their size alone", spaced(proof.dropped)) : "");
}

/// Counted from 1, as files do.
std::string reason_text(const SolutionProof& proof) {
    if (proof.first_undecided.empty()) return proof.reason;
    std::vector<std::int64_t> named = proof.first_undecided;
    for (std::int64_t& component : named) ++component;
    const bool is_all = static_cast<std::int64_t>(named.size()) == proof.undecided;
    return fmt::format("{} ({}{})", proof.reason, is_all ? "" : "the first: ", fmt::join(named, ", "));
}

void add_proof(Rows& rows, const Options& options, const Run& run) {
    const bool is_alone = run.report.results.size() == 1;
    rows.add("backward error", fmt::format("{}  proven, by components{}", rows.bold(bound_text(run.backward_error)),
                                           is_alone ? "" : ", of all columns"));
    const SolutionProof* const proof = run.worst_proof();
    if (proof == nullptr) return;
    if (!is_alone) rows.add("", fmt::format("least is proven of {}:", column_of(run.report.proofs, *proof)));
    const bool wants_rounding = options.guarantee == Guarantee::rounded;
    const std::string_view name = wants_rounding ? "rounded" : "error bound";
    if (proof->refinements > 0) {
        rows.add(name, rounded_text(*proof));
        rows.add("",
                 proof->status == ProofStatus::proven ? rows.green(proven_text(run, *proof)) : rows.red(reason_text(*proof)));
    } else if (proof->status == ProofStatus::proven) {
        constexpr double tenths = 10;
        rows.add(name,
                 fmt::format("{} relative at most, {:.1f} digits in the mean; {}", rows.bold(bound_text(proof->error_bound)),
                             std::floor(proof->certified_digits * tenths) / tenths, rows.green(proven_text(run, *proof))));
    } else {
        rows.add(name, fmt::format("{}: {}{}", rows.red(to_string(proof->status)), proof->reason, estimate_text(*proof)));
    }
}

void add_time(Rows& rows, const Outcome& outcome, std::string_view proof_time) {
    const Run& run = outcome.run();
    rows.add("time",
             fmt::format("{} {}, setup {}, solve {}{}", outcome.generated ? "generate" : "read", time(outcome.read_seconds),
                         time(outcome.setup_seconds + run.setup_seconds), rows.bold(time(run.solve_seconds)), proof_time));
}

std::string tolerance_text(const Options& options) {
    const double absolute = options.absolute_tolerance;
    return fmt::format("{:.1e}{}", options.tolerance, absolute > 0 ? fmt::format(" or {:.1e} without ||b||", absolute) : "");
}

/// Of one right-hand side: what else would have been a claim does not hold.
bool is_left_by_rounding(const Options& options, const Outcome& outcome) {
    const Run& run = outcome.run();
    return outcome.right_hand_sides == 1 && options.absolute_tolerance == 0 && run.worst().status == SolveStatus::converged &&
           run.worst().relative_residual > options.tolerance && *run.normal_residual > options.tolerance;
}

void add_least_squares(Rows& rows, const Options& options, const Outcome& outcome) {
    const Run& run = outcome.run();
    if (outcome.right_hand_sides > 1) rows.add("", summary(run));
    rows.add("status", fmt::format("{} {}", coloured_status(rows, run), iterations(run.worst())));
    if (const std::string text = advice(options, run); !text.empty()) rows.add("", text);
    const double residual = run.worst().relative_residual;
    const std::string seen = rows.bold(scientific(residual));
    if (residual <= options.tolerance) {
        rows.add("true residual", fmt::format("{}  A x = b is solved, tolerance {}", seen, tolerance_text(options)));
    } else {
        rows.add("true residual", fmt::format("{}  of A x = b, tolerance {}", seen, tolerance_text(options)));
        rows.add("normal residual",
                 fmt::format("{}  {}, {}", rows.bold(scientific(*run.normal_residual)),
                             options.preconditioner ? "||A'r|| by ||A|| ||r||" : "largest cosine of r and a column of A",
                             is_left_by_rounding(options, outcome) ? "which rounding x leaves"
                                                                   : fmt::format("tolerance {:.1e}", options.tolerance)));
    }
    if (run.factor_entries > 0)
        rows.add("preconditioner", fmt::format("{} of the normal equations, {} entries",
                                               run.of_normal_equations == PreconditionerKind::amg ? "multigrid" : "factors",
                                               spaced(run.factor_entries)));
    add_time(rows, outcome, "");
}

void add_result(Rows& rows, const Options& options, const Outcome& outcome) {
    const Run& run = outcome.run();
    const SolveResult& result = run.worst();
    const std::vector<Attempt>& attempts = run.report.attempts;
    if (run.normal_residual) return add_least_squares(rows, options, outcome);
    const bool is_rounded = options.guarantee == Guarantee::rounded && run.is_proven();
    const bool shows_attempts = attempts.size() > 1 || !options.preconditioner || !attempts.back().levels.empty();
    if (shows_attempts && !run.is_refuted()) add_attempts(rows, attempts);
    if (outcome.right_hand_sides > 1) rows.add("", summary(run));
    rows.add("status", coloured_status(rows, run) + (run.is_refuted() ? "" : ' ' + iterations(result)));
    if (const std::string text = advice(options, run); !text.empty()) rows.add("", text);
    if (is_rounded && result.relative_residual > options.tolerance)
        rows.add("true residual",
                 fmt::format("{}  of the solution, proven, after rounding", rows.bold(scientific(result.relative_residual))));
    else
        rows.add("true residual",
                 fmt::format("{}  tolerance {}, updated residual {}", rows.bold(scientific(result.relative_residual)),
                             tolerance_text(options), scientific(result.recursive_residual)));
    if (run.forward_error)
        rows.add("forward error", fmt::format("{}  {}", rows.bold(scientific(run.forward_error->error)),
                                              floor_text(*run.forward_error, is_rounded)));
    add_proof(rows, options, run);
    add_time(rows, outcome, run.worst_proof() == nullptr ? "" : ", proof " + time(run.report.guarantee_seconds));
}

}  // namespace

std::string table(const Options& options, const Outcome& outcome, bool coloured) {
    Rows rows(coloured);
    rows.gap();
    add_system(rows, options, outcome);
    rows.gap();
    add_method(rows, options, outcome);
    rows.gap();
    add_result(rows, options, outcome);
    const bool is_unique = options.guarantee == Guarantee::rounded && outcome.run().is_proven();
    rows.add("fingerprint", fmt::format("{}  of the bits of x{}", outcome.run().sha256.substr(0, 16),
                                        is_unique ? ", whatever computes it" : ""));
    rows.gap();
    return rows.text();
}

bool wants_colour() {
    const char* no_colour = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace solver::command
