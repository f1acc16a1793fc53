#pragma once

/// BiCGStab with Jacobi by the library, on any device, and beside it whoever else solves the same system.

#include "products.hpp"
#include "report.hpp"
#include "solve_time.hpp"
#include "solver/bicgstab.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace solver::bench {

/// A x = b, b = A ones formed exactly and rounded, solved from x = 0 by everybody.
template <class T>
class Solves {
public:
    Solves(const Options& options, std::string name, const CsrView<T>& a, const Device& device)
        : options_(options),
          name_(std::move(name)),
          a_(a),
          device_(device),
          host_plan_(a, Device::cpu(options.threads)),
          plan_(a, device, {.expected_products = products_of_a_solve}),
          b_(static_cast<std::size_t>(a.rows)),
          x_(b_.size()) {
        const std::vector<T> ones(b_.size(), T(1));
        host_plan_.multiply(T(1), ones, T(0), b_, Accuracy::exact);
    }

    std::span<const T> b() const { return b_; }
    std::span<T> x() { return x_; }

    /// A solver that makes at most so many iterations and leaves its solution in x, judged by the exact residual. The time of
    /// an iteration is that of three quarters of them: what a whole solve takes beyond a quarter of it.
    Competitor competitor(std::string name, std::function<Solve(std::int64_t max_iterations)> solve) {
        const auto last = std::make_shared<Solve>();
        return {.name = std::move(name),
                .threads = device_.kind() == Device::Kind::cpu ? options_.threads : 0,
                .bytes = 2 * traffic(a_, sizeof(std::int32_t)),
                .error = [this] { return take_residual(); },
                .remark = [last] { return in_words(*last); },
                .turn =
                    [this, last, solve = std::move(solve)] {
                        const std::int64_t quarter = last->iterations / 4;
                        const double part = quarter > 0 ? timed(solve, quarter).seconds.value() : 0;
                        *last = timed(solve, options_.max_iterations);
                        return seconds_an_iteration(last->seconds.value(), last->iterations, part, quarter);
                    }};
    }

    /// The exact residual of what is in x, at this iteration.
    page::ResidualPoint residual_at(std::int64_t iteration) { return {static_cast<double>(iteration), take_residual()}; }

    void run(std::vector<Competitor> peers, Report& report) {
        Contest contest{.parameters = {{"matrix", name_},
                                       {"preconditioner", "jacobi"},
                                       {"precision", precision_name<T>},
                                       {"rows", std::to_string(a_.rows)},
                                       {"nonzeros", std::to_string(a_.nonzeros())},
                                       {"tolerance", fmt::format("{}", options_.tolerance)},
                                       {"max_iterations", std::to_string(options_.max_iterations)}},
                        .heading = fmt::format("{}: {} rows, {} nonzeros, BiCGStab with Jacobi, {}, tolerance {}, at most {} "
                                               "iterations, time of one",
                                               name_, a_.rows, a_.nonzeros(), precision_name<T>, options_.tolerance,
                                               options_.max_iterations),
                        .error = {"true residual", "relative_residual"}};
        for (const Accuracy accuracy : all_accuracies) contest.competitors.push_back(ours(accuracy));
        for (Competitor& peer : peers) {
            contest.peers.push_back(contest.competitors.size());
            contest.competitors.push_back(std::move(peer));
        }
        report.run(contest);
    }

private:
    static Solve timed(const std::function<Solve(std::int64_t)>& solve, std::int64_t max_iterations) {
        const auto start = std::chrono::steady_clock::now();
        Solve result = solve(max_iterations);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        if (!result.seconds) result.seconds = elapsed.count();
        return result;
    }

    /// "200 iterations, iteration limit, 61.2 us each all in"
    static std::string in_words(const Solve& solve) {
        return fmt::format("{} iterations{}{}, {:.1f} us each all in", solve.iterations, solve.status.empty() ? "" : ", ",
                           solve.status,
                           1e6 * solve.seconds.value() / static_cast<double>(std::max<std::int64_t>(solve.iterations, 1)));
    }

    Competitor ours(Accuracy accuracy) {
        const std::shared_ptr<Preconditioner<T>> jacobi =
            make_preconditioner(PreconditionerKind::jacobi, a_, accuracy, device_);
        const auto solve = [this, accuracy, jacobi](std::int64_t max_iterations, bool keep_history) {
            std::fill(x_.begin(), x_.end(), T(0));
            BicgstabOptions method{.accuracy = accuracy, .tolerance = options_.tolerance, .max_iterations = max_iterations};
            method.keep_history = keep_history;
            return bicgstab<T>(plan_, *jacobi, b_, x_, {}, method);
        };
        Competitor mine = competitor(std::string(to_string(accuracy)), [solve](std::int64_t max_iterations) {
            const SolveResult result = solve(max_iterations, false);
            return Solve{.iterations = result.iterations, .status = std::string(to_string(result.status))};
        });
        if (device_.kind() == Device::Kind::cpu) mine.bytes = 2 * traffic(a_, sizeof(std::int64_t));
        if (options_.keep_residuals)
            mine.residuals = [this, solve] { return residuals_of(solve(options_.max_iterations, true)); };
        return mine;
    }

    Residuals residuals_of(const SolveResult& result) {
        Residuals residuals;
        for (const Iteration& step : result.history) {
            const auto number = static_cast<double>(step.number);
            residuals.believed.push_back({number, step.recursive_residual});
            if (step.true_residual >= 0) residuals.truth.push_back({number, step.true_residual});
        }
        residuals.truth.push_back(residual_at(result.iterations));
        return residuals;
    }

    /// ||b - A x|| / ||b||, or ||b - A x|| where b = 0, correctly rounded at every step. Clears x as well: what is not computed
    /// cannot pass.
    double take_residual() {
        std::vector<T> r(b_.size());
        host_plan_.residual(b_, x_, {}, r, Accuracy::exact);
        std::fill(x_.begin(), x_.end(), std::numeric_limits<T>::quiet_NaN());
        const T r_norm = norm2(std::span<const T>(r), Accuracy::exact, host_plan_.device());
        const T b_norm = norm2(std::span<const T>(b_), Accuracy::exact, host_plan_.device());
        const T residual = b_norm == 0 ? r_norm : r_norm / b_norm;
        return std::isfinite(residual) ? residual : std::numeric_limits<double>::infinity();
    }

    const Options& options_;
    std::string name_;
    CsrView<T> a_;
    Device device_;
    SpmvPlan<T> host_plan_, plan_;
    std::vector<T> b_, x_;
};

/// Who else solves on the machine that the options name. They solve the system of `solves`, which must outlive them, as A must.
template <class T>
std::vector<Competitor> make_solve_peers(const Options& options, Solves<T>& solves, const CsrView<T>& a);

}  // namespace solver::bench
