#include "reference.hpp"

#include "errors.hpp"
#include "linear_system.hpp"
#include "solver/error.hpp"
#include "solver/numeric/error_free.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"
#include "stopwatch.hpp"

#include <fmt/format.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace solver::command {
namespace {

/// One of the library's preconditioners where Eigen expects its own. It also sees the residuals of Eigen's iteration: of the
/// two vectors an iteration passes to it, the second is s.
class EigenPreconditioner {
public:
    using StorageIndex = int;
    enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic };

    void use(const Preconditioner<double>& m, double b_norm, std::vector<double>& half_steps) {
        m_ = &m;
        b_norm_ = b_norm;
        half_steps_ = &half_steps;
    }

    template <class Matrix>
    EigenPreconditioner& analyzePattern(const Matrix&) {
        return *this;
    }
    template <class Matrix>
    EigenPreconditioner& factorize(const Matrix&) {
        return *this;
    }
    template <class Matrix>
    EigenPreconditioner& compute(const Matrix&) {
        return *this;
    }
    Eigen::ComputationInfo info() const { return Eigen::Success; }

    Eigen::VectorXd solve(const Eigen::VectorXd& r) const {
        if (is_second_) half_steps_->push_back(r.norm() / b_norm_);
        is_second_ = !is_second_;
        Eigen::VectorXd z(r.size());
        m_->apply({r.data(), static_cast<std::size_t>(r.size())}, {z.data(), static_cast<std::size_t>(z.size())},
                  Accuracy::fast);
        return z;
    }

private:
    const Preconditioner<double>* m_ = nullptr;
    double b_norm_ = 1;
    std::vector<double>* half_steps_ = nullptr;
    mutable bool is_second_ = false;
};

using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

EigenMatrix eigen_matrix(const CsrView<double>& a) {
    if (a.nonzeros() > std::numeric_limits<int>::max())
        throw NotSupported(fmt::format("the matrix has {} entries; Eigen's indices end at 2^31 - 1", a.nonzeros()));
    const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    return Eigen::Map<const EigenMatrix>(static_cast<int>(a.rows), static_cast<int>(a.columns), static_cast<int>(a.nonzeros()),
                                         offsets.data(), a.column_indices.data(), a.values.data());
}

/// A x = b, and how good an x is.
class Judge {
public:
    /// `known` is the solution, or empty.
    Judge(const SpmvPlan<double>& a, std::span<const double> b, std::vector<double> known)
        : a_(a), b_(b), known_(std::move(known)), b_norm_(norm2(b, Accuracy::exact)) {}

    double b_norm() const { return b_norm_; }

    /// r = b - A (x + x_low). Returns its norm relative to b's.
    double residual(std::span<const double> x, std::span<const double> x_low, std::span<double> r) const {
        a_.residual(b_, x, x_low, r, Accuracy::exact);
        const double norm = norm2(std::span<const double>(r), Accuracy::exact);
        return norm == 0 ? 0 : norm / b_norm_;
    }

    void judge(ReferenceRun& run) const {
        std::vector<double> r(b_.size());
        run.true_residual = residual(run.solution, {}, r);
        if (!known_.empty()) run.forward_error = largest_distance(run.solution, known_);
    }

private:
    const SpmvPlan<double>& a_;
    std::span<const double> b_;
    std::vector<double> known_;
    double b_norm_;
};

/// What our preconditioners are told.
PreconditionerOptions factors_of(const Options& options, bool is_complex) {
    PreconditionerOptions factors = options.factors;
    factors.complex_numbers = is_complex;
    return factors;
}

/// The preconditioner of the last attempt that had one.
PreconditionerKind last_kind(const Run& run) {
    PreconditionerKind kind = PreconditionerKind::none;
    for (const Attempt& attempt : run.report.attempts)
        if (attempt.refusal.empty()) kind = attempt.preconditioner;
    return kind;
}

ReferenceRun eigen_run(const Options& options, const SpmvPlan<double>& a, std::span<const double> b, PreconditionerKind kind,
                       const PreconditionerOptions& factors, const Judge& judge) {
    ReferenceRun run;
    run.name = fmt::format("Eigen BiCGSTAB, {}", to_string(kind));
    const EigenMatrix matrix = eigen_matrix(a.matrix());
    Stopwatch watch;
    const auto m = make_preconditioner<double>(kind, a.matrix(), Accuracy::fast, Device::cpu(options.threads), factors);
    Eigen::BiCGSTAB<EigenMatrix, EigenPreconditioner> eigen;
    eigen.preconditioner().use(*m, judge.b_norm(), run.half_steps);
    eigen.setTolerance(options.tolerance);
    eigen.setMaxIterations(options.max_iterations);
    eigen.compute(matrix);
    const Eigen::VectorXd x = eigen.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size())));
    run.seconds = watch.lap();
    run.claim = eigen.info() == Eigen::Success ? "converged" : "not converged";
    const bool has_begun = judge.b_norm() > 0;  // else Eigen tells its limits for what it did
    run.iterations = has_begun ? eigen.iterations() : 0;
    run.claimed_residual = has_begun ? eigen.error() : 0;
    run.solution.assign(x.data(), x.data() + x.size());
    judge.judge(run);
    return run;
}

/// x + x_low += z
void add_to_pair(std::span<const double> z, std::vector<double>& x, std::vector<double>& x_low) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Split<double> sum = two_sum(x[i], z[i]);
        const Split<double> pair = fast_two_sum(sum.value, sum.error + x_low[i]);
        x[i] = pair.value;
        x_low[i] = pair.error;
    }
}

ReferenceRun direct_run(const Options& options, const SpmvPlan<double>& a, std::span<const double> b, const Judge& judge) {
    constexpr int most_refinements = 50;
    ReferenceRun run;
    run.name = "KLU, refined";
    Stopwatch watch;
    const auto m = make_preconditioner<double>(PreconditionerKind::klu, a.matrix(), Accuracy::fast,
                                               Device::cpu(options.threads), options.factors);
    std::vector<double> x(b.size()), x_low(b.size()), z(b.size()), r(b.begin(), b.end());
    double norm = 1;
    for (double before = std::numeric_limits<double>::infinity();
         norm > 0 && norm < before / 2 && run.iterations < most_refinements; ++run.iterations) {
        before = norm;
        m->apply(r, z, Accuracy::fast);
        add_to_pair(z, x, x_low);
        norm = judge.residual(x, x_low, r);
    }
    run.seconds = watch.lap();
    run.claim = "refined";
    run.claimed_residual = norm;
    run.solution = std::move(x);
    judge.judge(run);
    return run;
}

/// What the attempt throws becomes what it claims.
template <class Attempted>
ReferenceRun run_or_reason(const std::string& name, const Attempted& attempted) {
    try {
        return attempted();
    } catch (const Error& error) {
        ReferenceRun run;
        run.name = name;
        run.claim = error.what();
        run.claimed_residual = run.true_residual = std::numeric_limits<double>::quiet_NaN();
        return run;
    }
}

}  // namespace

std::vector<ReferenceRun> reference_runs(const Options& options, const SpmvPlan<double>& a, const DenseMatrix<double>& rhs,
                                         const Run& ours, bool is_complex, LiveLine& live) {
    const auto b = std::span(rhs.values).first(static_cast<std::size_t>(rhs.rows));
    const bool ones_solve = std::holds_alternative<RhsOfOnes>(options.rhs);
    const Judge judge(a, b, ones_solve ? ones<double>(a.rows(), is_complex, a.device()) : std::vector<double>());
    live.show("  solving by Eigen");
    std::vector<ReferenceRun> runs;
    const PreconditionerOptions factors = factors_of(options, is_complex);
    runs.push_back(run_or_reason("Eigen BiCGSTAB", [&] { return eigen_run(options, a, b, last_kind(ours), factors, judge); }));
    live.show("  solving directly, and refining");
    runs.push_back(run_or_reason("KLU, refined", [&] { return direct_run(options, a, b, judge); }));
    live.clear();
    return runs;
}

}  // namespace solver::command
