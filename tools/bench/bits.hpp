#pragma once

/// What one device makes of a matrix: products, reductions, whole solves.

#include "common.hpp"
#include "options.hpp"
#include "products.hpp"
#include "record.hpp"
#include "solver/bicgstab.hpp"
#include "solver/error.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"

#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <vector>

namespace solver::bench {

inline constexpr PreconditionerKind all_preconditioners[] = {
    PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0, PreconditionerKind::isai,
    PreconditionerKind::ilut, PreconditionerKind::klu,    PreconditionerKind::amg};

/// One matrix on one device, in one accuracy.
template <class T>
class MatrixOnDevice {
public:
    MatrixOnDevice(const CsrView<T>& a, const Device& device, Accuracy accuracy)
        : a_(a), device_(device), accuracy_(accuracy), plan_(a, device) {}

    Record products() const {
        const std::vector<T> x = matrices::random_vector<T>(a_.columns, 1);
        std::vector<T> x_low = matrices::random_vector<T>(a_.columns, 2);
        for (T& element : x_low) element *= std::numeric_limits<T>::epsilon() / 4;
        std::vector<T> y = ones_times_a();
        Record record;
        record.add("product", std::span<const T>(y));
        plan_.residual(y, x, x_low, y, accuracy_);
        record.add("residual", std::span<const T>(y));
        plan_.multiply(T(0.7), x, T(-1.3), y, accuracy_);
        record.add("alpha beta", std::span<const T>(y));
        return record;
    }

    /// Of vectors that hold the matrix's own entries, and nearly cancel.
    Record reductions() const {
        const std::vector<T> x = ones_times_a();
        const std::vector<T> y = matrices::random_vector<T>(a_.rows, 3);
        Record record;
        for (const std::span<const T> values : {std::span<const T>(x), std::span<const T>(y), a_.values}) {
            record.add("sum", sum(values, accuracy_, device_));
            record.add("norm2", norm2(values, accuracy_, device_));
        }
        record.add("dot", dot(std::span<const T>(x), std::span<const T>(y), accuracy_, device_));
        record.add("dot", dot(a_.values, a_.values, accuracy_, device_));
        return record;
    }

    /// BiCGStab with a preconditioner by name.
    Record solve(PreconditionerKind kind, std::int64_t max_iterations) const try {
        const auto m = make_preconditioner<T>(kind, a_, accuracy_, device_);
        const std::vector<T> b = ones_times_a();
        std::vector<T> x(b.size());
        const SolveResult result =
            bicgstab<T>(plan_, *m, b, x, {},
                        {.accuracy = accuracy_, .tolerance = 1e-10, .max_iterations = max_iterations, .keep_history = true});
        Record record = record_of(result, x);
        record.add("factors", m->factor_hash());
        return record;
    } catch (const Error& refusal) {
        return refused(refusal);
    }

    /// The library's own choice, told nothing but the accuracy; single precision to half of its digits.
    Record solve_by_default() const try {
        const std::vector<T> b = ones_times_a();
        std::vector<T> x(b.size());
        const double tolerance = sizeof(T) == sizeof(float) ? 1e-5 : 1e-10;
        const SolveReport report = solver::solve<T>(
            plan_, b, x, {}, {.iteration = {.accuracy = accuracy_, .tolerance = tolerance, .keep_history = true}});
        Record record = record_of(report.result(), x);
        for (const Attempt& attempt : report.attempts) {
            record.add("attempts", attempt.preconditioner);
            record.add("attempts", attempt.method);
            record.add("factors", attempt.factor_hash);
        }
        return record;
    } catch (const Error& refusal) {
        return refused(refusal);
    }

private:
    static Record record_of(const SolveResult& result, const std::vector<T>& x) {
        Record record;
        record.remark = std::to_string(result.iterations);
        record.add("solution", std::span<const T>(x));
        record.add("status", result.status);
        record.add("residual", result.relative_residual);
        record.add("iterations", result.iterations);
        for (const Iteration& step : result.history) {
            record.add("history", step.recursive_residual);
            record.add("true residuals", step.true_residual);
            record.add("replacements", step.replaced);
        }
        return record;
    }

    static Record refused(const Error& refusal) {
        Record record;
        record.remark = "refused";
        record.add("refusal", std::span<const char>(std::string_view(refusal.what())));
        return record;
    }

    /// Right-hand sides are the same in every accuracy.
    std::vector<T> ones_times_a() const {
        const std::vector<T> ones(static_cast<std::size_t>(a_.columns), T(1));
        std::vector<T> y(static_cast<std::size_t>(a_.rows));
        plan_.multiply(T(1), ones, T(0), y, Accuracy::exact);
        return y;
    }

    CsrView<T> a_;
    Device device_;
    Accuracy accuracy_;
    SpmvPlan<T> plan_;
};

/// The preconditioners asked for, or all.
inline std::vector<PreconditionerKind> preconditioners_of(const Options& options) {
    if (!options.preconditioners.empty()) return options.preconditioners;
    return {std::begin(all_preconditioners), std::end(all_preconditioners)};
}

/// Calls visit(name, matrix) for every square real matrix asked for, in every precision asked for, and prints why others are
/// left out. Throws InvalidArgument where there is none.
template <class Visit>
void for_each_square_matrix(const Options& options, const Visit& visit) {
    std::vector<std::string> left_out;
    const std::vector<matrices::FoundMatrix> all = matrices_of(options);
    for (const matrices::FoundMatrix& found : all) {
        const auto matrix = square_matrix(found, options.threads);
        if (const auto* reason = std::get_if<std::string>(&matrix)) {
            left_out.push_back(fmt::format("{} ({})", short_name(found), *reason));
            continue;
        }
        const CsrView<double> a = std::get<CsrMatrix<double>>(matrix).view();
        if (options.in_double) visit(short_name(found), a);
        if (options.in_single) visit(short_name(found), convert<float>(a).view());
    }
    if (!left_out.empty()) fmt::print("\n  Left out, for they are not square and real: {}\n", fmt::join(left_out, ", "));
    if (left_out.size() == all.size()) throw InvalidArgument("no matrix here is square and real: there are no bits to look at");
}

/// Writes the hashes of what the device of the options gives, in every accuracy, to options.record.
void record_bits(const Options& options);

}  // namespace solver::bench
