#include "auto_solve/find_certificate.hpp"

#include "auto_solve/matrix_facts.hpp"
#include "core/floating_point_guard.hpp"
#include "core/huge_pages.hpp"
#include "core/matrix_hash.hpp"
#include "cuda/spmv.hpp"
#include "guarantee/comparison_matrix.hpp"
#include "guarantee/factor_bound.hpp"
#include "guarantee/full_inverse.hpp"
#include "guarantee/inverse_columns.hpp"
#include "guarantee/inverse_in_pairs.hpp"
#include "guarantee/normal_equations.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/shifted_factors.hpp"
#include "guarantee/singularity.hpp"
#include "preconditioner/full_lu.hpp"
#include "preconditioner/klu.hpp"
#include "preconditioner/memory_limit.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// Operations of a factorisation, and of an inverse by columns, at most: some ten seconds, and a minute. An inverse of a second
/// goes before the normal equations.
constexpr double most_operations = 2e10;
constexpr double most_operations_of_inverse = 1e11;
constexpr double operations_of_quick_inverse = 1e9;

/// Of an inverse by dense products, on a processor and on a GPU; and how long a full <A> is tried by Jacobi's method before.
constexpr double most_operations_of_blocks = 1e12;
constexpr double most_operations_on_device = 1e13;
constexpr std::int64_t most_iterations_where_full = 8;

/// Of an inverse in pairs, for each row, column and pivot.
constexpr double operations_of_pairs = 40;

/// What is ordered and eliminated for a look at its rank: about a second, for want of anything better; before a solve as much
/// as some products with A where it does not look like an H-matrix.
constexpr std::int64_t most_rows_of_elimination = 100'000;
constexpr double most_operations_of_elimination = 1e9;
constexpr double operations_at_sight = 100;

/// Tolerances at which an approximate solution of <A> v = s is looked at, one after another.
constexpr std::array tolerances{1e-1, 1e-2, 1e-3, 1e-5, 1e-8};

Certificate unproven(std::string reason) {
    Certificate certificate;
    certificate.reason = std::move(reason);
    return certificate;
}

Certificate singular(std::string reason) {
    Certificate certificate = unproven(std::move(reason));
    certificate.status = ProofStatus::singular;
    return certificate;
}

/// Unproven without a reason where there is none.
Certificate singular_if(std::string why) { return why.empty() ? unproven("") : singular(std::move(why)); }

/// By the device that has A.
template <class T>
bool is_all_finite(const SpmvPlan<T>& a) {
    if (a.on_device() != nullptr && a.dense() == nullptr) return a.on_device()->facts().rows.is_finite;
    const CsrView<T>& matrix = a.matrix();
    return guarantee::largest(matrix.nonzeros(), [&](std::int64_t k) { return is_finite(matrix.values[k]) ? 0.0 : 1.0; }) == 0;
}

/// By the signs of <A> v, where `solve(v, tolerance)` improves a solution of <A> v = s and returns the iterations.
template <class Solve>
Certificate by_signs(const SpmvPlan<double>& comparison, const Solve& solve) {
    const int threads = comparison.device().threads();
    std::vector<double> v = zeros<double>(comparison.rows(), threads), w = zeros<double>(comparison.rows(), threads);
    Certificate certificate;
    std::int64_t iterations = 0;
    for (const double tolerance : tolerances) {
        const SolveResult result = solve(std::span(v), tolerance);
        iterations += result.iterations;
        comparison.multiply(1, v, 0, w, Accuracy::exact);
        certificate = guarantee::certificate_of(v, w);
        if (certificate.is_proof() || result.status != SolveStatus::converged) break;
    }
    certificate.iterations = iterations;
    if (!certificate.is_proof()) certificate.reason = "not an H-matrix, as far as was seen";
    return certificate;
}

/// What a solver for <A> alone is told: as A was solved, if it was, and the tolerance is the first.
SolveOptions options_of_comparison(const SolveOptions& options) {
    SolveOptions own = options;
    own.mixed = false;
    own.guarantee = Guarantee::none;
    own.iteration.tolerance = tolerances.front();
    own.iteration.absolute_tolerance = 0;
    own.iteration.callback = {};
    own.iteration.keep_history = false;
    own.iteration.complex_scalars = false;  // <A> has none of A's structure
    return own;
}

/// By the solver of A where <A> is A itself, else by one of its own with the same preconditioner, for at most twice as many
/// iterations as A took.
template <class T>
Certificate by_comparison(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options) {
    const std::vector<double> s = guarantee::roots_of_diagonal(a.matrix());
    if (guarantee::largest(a.rows(), [&](std::int64_t i) { return s[i] == 0 ? 1.0 : 0.0; }) > 0)
        return unproven("not an H-matrix: the diagonal has zeros");
    SolveOptions own_options = options_of_comparison(options);
    if (is_nearly_full(a.matrix())) {  // factors of <A> would take as long as an inverse of A
        own_options.preconditioner = PreconditionerKind::jacobi;
        own_options.iteration.max_iterations = std::min(options.iteration.max_iterations, most_iterations_where_full);
    } else if (solver.can_solve_again()) {
        own_options.preconditioner = solver.preconditioner();
        own_options.iteration.max_iterations = std::min(options.iteration.max_iterations, 2 * solver.iterations() + 50);
    }
    const std::int64_t limit = own_options.iteration.max_iterations;
    const auto by_own_solver = [&](const SpmvPlan<double>& plan) {
        SystemSolver<double> own(plan, own_options);
        return by_signs(plan, [&](std::span<double> v, double tolerance) {
            return own.can_solve_again() ? own.solve_again({s, v}, tolerance, limit) : own.solve({{s, v}}).result();
        });
    };
    if constexpr (std::is_same_v<T, double>)
        if (guarantee::is_its_comparison_matrix(a.matrix())) {
            if (!solver.can_solve_again()) return by_own_solver(a);
            return by_signs(a, [&](std::span<double> v, double tolerance) {
                return solver.solve_again({s, v}, tolerance, limit);
            });
        }
    const CsrMatrix<double> comparison = guarantee::comparison_matrix(a.matrix());
    try {
        return by_own_solver(SpmvPlan<double>(comparison, a.device(), SpmvOptions{.expected_products = products_of_a_solve}));
    } catch (const Error& error) {  // of a preconditioner
        return unproven(fmt::format("no solution with the comparison matrix: {}", error.what()));
    }
}

Certificate too_many(std::string_view what, double operations, double limit) {
    return unproven(fmt::format("{} would take {:.0e} operations, more than {:.0e}", what, operations, limit));
}

/// What complete factors of A, or what is known of them, prove: one thing after another, until one does.
class ByFactors {
public:
    /// `known` are factors of A that somebody has made; null for none. Complex ones are made anew: their errors have no bound.
    ByFactors(const SpmvPlan<double>& a, const KluPreconditioner<double>* known, const SolveOptions& options)
        : a_(a), factors_(known != nullptr && known->elimination() == Elimination::real ? known : nullptr), options_(options) {}

    FoundCertificate run() {
        const bool is_full = is_nearly_full(a_.matrix());
        std::shared_ptr<const guarantee::FullInverse> blocks;
        const auto with_blocks = [&] { return attempt([&] { return by_blocks(blocks); }); };
        const auto correct_by_blocks = [&] { return [blocks](auto r, auto d, auto) { blocks->apply(r, d); }; };
        if (is_full && with_blocks()) return {std::move(found_), correct_by_blocks()};
        if (attempt([&] { return with_factors(); }))
            return {std::move(found_), [made = std::move(made_), factors = factors_](auto r, auto d, auto) {
                        factors->apply(r, d, Accuracy::compensated);
                    }};
        if (attempt([&] { return by_elimination(); })) return {std::move(found_), {}};
        if (!is_full && !has_inverse_by_columns_ && with_blocks()) return {std::move(found_), correct_by_blocks()};
        std::shared_ptr<const guarantee::InverseInPairs> inverse;
        if (attempt([&] { return by_pairs(inverse); }))
            return {std::move(found_), [inverse](auto r, auto d, auto d_low) { inverse->apply(r, d, d_low); }};
        return {unproven(reasons_), {}};
    }

private:
    /// Whether `search` settles the question. If not, its reason is remembered.
    template <class Search>
    bool attempt(const Search& search) {
        std::string reason;
        try {
            found_ = search();
            if (found_.status != ProofStatus::unproven) return true;
            reason = std::move(found_.reason);
        } catch (const Error& error) {
            reason = error.what();
        }
        if (!reason.empty()) reasons_ += (reasons_.empty() ? "" : "; ") + reason;
        return false;
    }

    const Preparation& preparation() {
        if (!preparation_) preparation_ = prepare(a_.matrix(), Ordering::amd, a_.device());
        return *preparation_;
    }

    Certificate by_blocks(std::shared_ptr<const guarantee::FullInverse>& inverse) {
        const auto n = static_cast<double>(a_.rows());
        const double operations = 4 * n * n * n,
                     limit = a_.device().kind() == Device::Kind::cuda ? most_operations_on_device : most_operations_of_blocks;
        if (operations > limit) return too_many("an inverse by blocks", operations, limit);
        if (guarantee::bytes_of_full_inverse(a_.rows()) > memory_limit_in_bytes(options_.factors.memory_limit))
            return unproven("an inverse by blocks would need more than the memory limit");
        inverse = std::make_shared<guarantee::FullInverse>(a_.matrix(), prepare(a_.matrix(), Ordering::natural, a_.device()),
                                                           a_.device());
        return inverse->certificate();
    }

    /// The order takes longer than a cheap estimate, which knows nothing of rows that have to be exchanged.
    Certificate with_factors() {
        if (factors_ == nullptr) {
            if (diagnose(a_.matrix(), Device::cpu()).zero_diagonals.count == 0)
                if (const double flops = preparation::estimate_fill(a_.matrix()).flops; flops > 4 * most_operations)
                    return too_many("complete factors", flops, most_operations);
            if (const double flops = predict_klu(preparation()).flops; flops > most_operations)
                return too_many("complete factors", flops, most_operations);
            made_ = make_klu<double>(a_.matrix(), preparation(), options_.factors, Device::cpu(), Elimination::real);
            factors_ = made_.get();
        }
        const auto by_their_errors = [&] {
            return guarantee::certificate_by_factors(factors_->factors().lower, factors_->factors().upper,
                                                     factors_->preparation());
        };
        if (attempt(by_their_errors) || attempt([&] { return by_shift(); }) || attempt([&] { return by_quick_columns(); }) ||
            attempt([&] { return by_normal_equations(); }) || attempt([&] { return by_columns(); }))
            return std::move(found_);
        return unproven("");
    }

    Certificate by_shift() {
        if (!facts_of(a_).may_be_positive_definite()) return unproven("");
        return guarantee::certificate_by_shift(a_.matrix(), preparation(), *factors_, options_.factors.memory_limit);
    }

    double operations_of_inverse() const {
        return 4 * static_cast<double>(a_.rows()) * static_cast<double>(a_.matrix().nonzeros() + factors_->factor_entries());
    }

    /// Whose bounds are the sharpest, where it takes no longer than factors.
    Certificate by_quick_columns() {
        return operations_of_inverse() > operations_of_quick_inverse ? unproven("") : by_inverse();
    }

    Certificate by_normal_equations() {
        return guarantee::certificate_by_normal_equations(a_.matrix(), factors_->preparation(), most_operations,
                                                          options_.factors);
    }

    Certificate by_columns() {
        const double operations = operations_of_inverse();
        if (operations <= operations_of_quick_inverse) return unproven("");  // tried
        if (operations > most_operations_of_inverse)
            return too_many("an inverse by columns", operations, most_operations_of_inverse);
        return by_inverse();
    }

    Certificate by_inverse() {
        has_inverse_by_columns_ = true;  // blocks have no better one
        return guarantee::certificate_by_inverse(a_, factors_->preparation(), *factors_);
    }

    Certificate by_elimination() {
        if (a_.rows() > most_rows_of_elimination) return unproven("");
        return singular_if(guarantee::why_singular_by_elimination(a_, preparation(), most_operations_of_elimination));
    }

    Certificate by_pairs(std::shared_ptr<const guarantee::InverseInPairs>& inverse) {
        const auto n = static_cast<double>(a_.rows());
        if (n * n * n * operations_of_pairs > most_operations) return unproven("");
        inverse = std::make_shared<guarantee::InverseInPairs>(a_.matrix(), preparation());
        Certificate certificate = guarantee::certificate_by_inverse(
            a_, preparation(), [&](std::int64_t j, std::span<double> y, std::span<double> low) { inverse->column(j, y, low); });
        certificate.reason += certificate.is_proof() ? " in pairs" : " in pairs, too";
        return certificate;
    }

    const SpmvPlan<double>& a_;
    const KluPreconditioner<double>* factors_;
    const SolveOptions& options_;
    std::optional<Preparation> preparation_;
    std::shared_ptr<const KluPreconditioner<double>> made_;
    bool has_inverse_by_columns_ = false;
    Certificate found_;
    std::string reasons_;
};

template <class T>
FoundCertificate by_factors(const SpmvPlan<T>& a, const SystemSolver<T>& solver, const SolveOptions& options) {
    if constexpr (std::is_same_v<T, double>) {
        return ByFactors(a, solver.complete_factors(), options).run();
    } else {
        const CsrMatrix<double> wide = convert<double>(a.matrix());
        return ByFactors(SpmvPlan<double>(wide, a.device()), nullptr, options).run();
    }
}

}  // namespace

template <class T>
Certificate certificate_at_sight(const SpmvPlan<T>& a) {
    if (!is_all_finite(a)) return unproven("A has Inf or NaN");
    Certificate certificate = singular_if(guarantee::why_singular(a));
    if constexpr (std::is_same_v<T, double>) {
        const bool is_looked_at = certificate.status == ProofStatus::unproven && a.rows() <= most_rows_of_elimination;
        if (is_looked_at && !facts_of(a).suits_multigrid())
            certificate = singular_if(guarantee::why_singular_by_elimination(
                a, prepare(a.matrix(), Ordering::amd), operations_at_sight * static_cast<double>(a.matrix().nonzeros())));
    }
    return certificate;
}

template <class T>
FoundCertificate find_certificate(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options) {
    Certificate by_sign = by_comparison(a, solver, options);
    if (by_sign.is_proof()) return {std::move(by_sign), {}};
    FoundCertificate found = by_factors(a, solver, options);
    found.certificate.iterations += by_sign.iterations;
    if (found.certificate.status == ProofStatus::unproven)
        found.certificate.reason = by_sign.reason + "; " + found.certificate.reason;
    return found;
}

template <class T>
Certificate certify(const SpmvPlan<T>& a, const SolveOptions& options) {
    if (a.rows() != a.columns())
        throw DimensionMismatch(fmt::format("certify: A is {} x {}; expected a square matrix", a.rows(), a.columns()));
    const cpu::FloatingPointGuard guard;
    Certificate certificate = certificate_at_sight(a);
    if (certificate.status == ProofStatus::unproven && certificate.reason.empty()) {
        SystemSolver<T> solver(a, options);
        certificate = find_certificate(a, solver, options).certificate;
    }
    certificate.matrix_hash = hash_of(a.matrix());
    return certificate;
}

template Certificate certificate_at_sight(const SpmvPlan<float>&);
template Certificate certificate_at_sight(const SpmvPlan<double>&);
template FoundCertificate find_certificate(const SpmvPlan<float>&, SystemSolver<float>&, const SolveOptions&);
template FoundCertificate find_certificate(const SpmvPlan<double>&, SystemSolver<double>&, const SolveOptions&);
template Certificate certify(const SpmvPlan<float>&, const SolveOptions&);
template Certificate certify(const SpmvPlan<double>&, const SolveOptions&);

}  // namespace solver
