#include "auto_solve/guaranteed.hpp"

#include "auto_solve/vector_copy.hpp"
#include "guarantee/comparison_matrix.hpp"
#include "guarantee/factor_bound.hpp"
#include "guarantee/inverse_columns.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/refinement.hpp"
#include "preconditioner/klu.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/error.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace solver {
namespace {

/// Operations of a factorisation, and of an inverse by columns, at most: some ten seconds, and a minute.
constexpr double most_operations = 2e10;
constexpr double most_operations_of_inverse = 1e11;

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

/// Whether A times ones is exactly zero. A sum of entries is a multiple of the smallest subnormal, so that one which is not
/// zero is not rounded to zero.
template <class T>
bool maps_ones_to_zero(const SpmvPlan<T>& a) {
    const std::vector<T> ones(static_cast<std::size_t>(a.columns()), T(1));
    std::vector<T> image(static_cast<std::size_t>(a.rows()));
    a.multiply(1, ones, 0, image, Accuracy::exact);
    return std::all_of(image.begin(), image.end(), [](T value) { return value == 0; });
}

template <class T>
bool is_all_finite(const CsrView<T>& a) {
    return guarantee::largest(a.nonzeros(), [&](std::int64_t k) { return is_finite(a.values[k]) ? 0.0 : 1.0; }) == 0;
}

/// By the signs of <A> v, where `solve(v, tolerance)` improves a solution of <A> v = s and returns the iterations.
template <class Solve>
Certificate by_signs(const SpmvPlan<double>& comparison, const Solve& solve) {
    std::vector<double> v(static_cast<std::size_t>(comparison.rows())), w(v.size());
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
    return own;
}

/// By the solver of A where <A> is A itself, else by one of its own with the same preconditioner, for at most twice as many
/// iterations as A took.
template <class T>
Certificate by_comparison(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options) {
    const std::vector<double> s = guarantee::roots_of_diagonal(a.matrix());
    if (std::find(s.begin(), s.end(), 0.0) != s.end()) return unproven("not an H-matrix: the diagonal has zeros");
    SolveOptions own_options = options_of_comparison(options);
    if (solver.can_solve_again()) {
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

/// From complete factors of A: by a bound of their rounding errors, or else by the inverse that they give, column by column.
Certificate by_factors(const SpmvPlan<double>& a, const SolveOptions& options) {
    if (const double flops = preparation::estimate_fill(a.matrix()).flops; flops > 4 * most_operations)
        return too_many("complete factors", flops, most_operations);  // an estimate, cheap
    const Preparation preparation = prepare(a.matrix(), Ordering::amd);
    if (const double flops = predict_klu(preparation).flops; flops > most_operations)
        return too_many("complete factors", flops, most_operations);
    try {
        KluFactors<double> made = factor_klu<double>(a.matrix(), preparation, options.factors.memory_limit);
        Certificate certificate = guarantee::certificate_by_factors(made.factors.lower, made.factors.upper, made.preparation);
        if (certificate.is_proof()) return certificate;
        const double entries =
            static_cast<double>(a.matrix().nonzeros() + made.factors.lower.nonzeros() + made.factors.upper.nonzeros());
        const double operations = 4 * static_cast<double>(a.rows()) * entries;
        Certificate by_columns;
        if (operations > most_operations_of_inverse) {
            by_columns = too_many("an inverse by columns", operations, most_operations_of_inverse);
        } else {
            const Device one_thread = Device::cpu(1);
            auto inner = std::make_unique<LuPreconditioner<double>>("klu", std::move(made.factors), one_thread);
            const Prepared<double> inverse("klu", made.preparation, std::move(inner), one_thread);
            by_columns = guarantee::certificate_by_inverse(a, made.preparation, inverse);
        }
        if (!by_columns.is_proof()) by_columns.reason = certificate.reason + "; " + by_columns.reason;
        return by_columns;
    } catch (const Error& error) {
        return unproven(error.what());
    }
}

template <class T>
Certificate by_factors_in_double(const SpmvPlan<T>& a, const SolveOptions& options) {
    if constexpr (std::is_same_v<T, double>) {
        return by_factors(a, options);
    } else {
        const CsrMatrix<double> wide = convert<double>(a.matrix());
        return by_factors(SpmvPlan<double>(wide, a.device()), options);
    }
}

/// max_i bound_i / |x_i|, infinite where x_i is 0 and its bound is not, and the digits in the mean.
template <class T>
void summarise_bounds(std::span<const T> x, std::span<const T> x_low, SolutionProof& proof) {
    const auto whole = [&](std::int64_t i) {
        return magnitude(static_cast<double>(x[i]) + (x_low.empty() ? 0.0 : static_cast<double>(x_low[i])));
    };
    const auto relative = [&](std::int64_t i) {
        if (proof.bounds[i] <= smallest_subnormal<double>) return 0.0;
        return proof.bounds[i] / whole(i) * guarantee::inflation;
    };
    const auto n = static_cast<std::int64_t>(x.size());
    proof.error_bound = guarantee::largest(n, relative);
    double digits = 0;
    std::int64_t counted = 0;
    for (std::int64_t i = 0; i < n; ++i)
        if (whole(i) > 0) {
            constexpr double most_digits = 20;
            digits += std::clamp(-std::log10(std::max(relative(i), smallest_subnormal<double>)), 0.0, most_digits);
            ++counted;
        }
    proof.certified_digits = counted > 0 ? digits / static_cast<double>(counted) : 0;
}

/// One solution, in the host's memory.
template <class T>
class GuaranteedColumn {
public:
    GuaranteedColumn(const SpmvPlan<T>& a, SystemSolver<T>& solver, const Certificate& certificate, const SolveOptions& options)
        : a_(a), solver_(solver), certificate_(certificate), options_(options) {}

    SolutionProof operator()(const Unknown<T>& unknown, SolveResult& result) const {
        SolutionProof proof;
        const bool is_finite = result.status != SolveStatus::non_finite;
        const bool wants_rounding = options_.guarantee == Guarantee::rounded;
        if (!certificate_.is_proof() || !is_finite) {
            proof.status = certificate_.is_proof() ? ProofStatus::unproven : certificate_.status;
            proof.reason = is_finite ? certificate_.reason : "A, b or x has Inf or NaN";
        } else {
            proof = wants_rounding ? round(unknown, result) : bound(unknown);
        }
        proof.backward_error = backward_error<T>(a_, unknown.b, unknown.x, unknown.x_low);
        return proof;
    }

private:
    SolutionProof bound(const Unknown<T>& unknown) const {
        SolutionProof proof;
        proof.bounds.resize(unknown.b.size());
        error_bound<T>(a_, certificate_, unknown.b, unknown.x, unknown.x_low, proof.bounds);
        summarise_bounds<T>(unknown.x, unknown.x_low, proof);
        const double most =
            guarantee::largest(static_cast<std::int64_t>(proof.bounds.size()), [&](std::int64_t i) { return proof.bounds[i]; });
        proof.status = is_finite(most) ? ProofStatus::proven : ProofStatus::unproven;
        proof.reason = is_finite(most) ? certificate_.reason : "the bound leaves the range of numbers";
        return proof;
    }

    /// Where all is proven nothing better than x can be had, whatever the residual of its rounded numbers is.
    void tell_of_rounded(const Unknown<T>& unknown, SolveResult& result) const {
        result.status = SolveStatus::converged;
        std::vector<T> r(unknown.b.size());
        a_.residual(unknown.b, unknown.x, {}, r, Accuracy::exact);
        const auto size = static_cast<double>(norm2(unknown.b, Accuracy::exact));
        const auto rest = static_cast<double>(norm2(std::span<const T>(r), Accuracy::exact));
        result.relative_residual = size > 0 ? rest / size : rest;
    }

    SolutionProof round(const Unknown<T>& unknown, SolveResult& result) const {
        constexpr double coarsest = 1e-8;
        const double tolerance = std::min(options_.iteration.tolerance, coarsest);
        // A correction may take twice what the solve took: what needs more gains nothing.
        const std::int64_t limit = 2 * result.iterations + 20;
        const guarantee::Corrector<T> corrector = [&](std::span<const T> r, std::span<T> d) {
            return solver_.solve_again({r, d}, tolerance, limit).iterations;
        };
        SolutionProof proof = guarantee::round_solution<T>(a_, certificate_, corrector, unknown.b, unknown.x);
        std::fill(unknown.x_low.begin(), unknown.x_low.end(), T(0));
        if (proof.status == ProofStatus::proven) tell_of_rounded(unknown, result);
        proof.reason =
            proof.status == ProofStatus::proven
                ? certificate_.reason
                : fmt::format("{} components could not be decided after {} refinements", proof.undecided, proof.refinements);
        return proof;
    }

    const SpmvPlan<T>& a_;
    SystemSolver<T>& solver_;
    const Certificate& certificate_;
    const SolveOptions& options_;
};

}  // namespace

template <class T>
Certificate find_certificate(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options) {
    if (!is_all_finite(a.matrix())) return unproven("A has Inf or NaN");
    if (const Diagnosis structure = diagnose(a.matrix(), Device::cpu()); structure.structural_rank < a.rows())
        return singular(fmt::format("A is singular whatever its values are: its structural rank is {} of {}",
                                    structure.structural_rank, a.rows()));
    if (a.rows() > 0 && maps_ones_to_zero(a)) return singular("A is singular: A times ones is exactly zero");
    Certificate by_sign = by_comparison(a, solver, options);
    if (by_sign.is_proof()) return by_sign;
    Certificate by_factors = by_factors_in_double(a, options);
    by_factors.iterations += by_sign.iterations;
    if (!by_factors.is_proof()) by_factors.reason = by_sign.reason + "; " + by_factors.reason;
    return by_factors;
}

template <class T>
void add_guarantees(const SpmvPlan<T>& a, SystemSolver<T>& solver, std::span<const Unknown<T>> unknowns,
                    const SolveOptions& options, SolveReport& report) {
    const auto start = std::chrono::steady_clock::now();
    const Certificate certificate = find_certificate(a, solver, options);
    report.certificate_iterations = certificate.iterations;
    const GuaranteedColumn<T> guaranteed(a, solver, certificate, options);
    for (std::size_t j = 0; j < unknowns.size(); ++j) {
        const Unknown<T>& unknown = unknowns[j];
        if (!unknown.on_device) {
            report.proofs.push_back(guaranteed(unknown, report.results[j]));
            continue;
        }
        const std::vector<T> b = fetched<T>(unknown.b, a.device(), true);
        std::vector<T> x = fetched<T>(unknown.x, a.device(), true), low = fetched<T>(unknown.x_low, a.device(), true);
        report.proofs.push_back(guaranteed({b, x, low}, report.results[j]));
        cuda::detail::copy_to_device(a.device().index(), unknown.x.data(), x.data(),
                                     static_cast<std::int64_t>(unknown.x.size_bytes()), nullptr);
        cuda::detail::copy_to_device(a.device().index(), unknown.x_low.data(), low.data(),
                                     static_cast<std::int64_t>(unknown.x_low.size_bytes()), nullptr);
    }
    report.guarantee_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
Certificate certify(const SpmvPlan<T>& a, const SolveOptions& options) {
    if (a.rows() != a.columns())
        throw DimensionMismatch(fmt::format("certify: A is {} x {}; expected a square matrix", a.rows(), a.columns()));
    SystemSolver<T> solver(a, options);
    return find_certificate(a, solver, options);
}

template Certificate find_certificate(const SpmvPlan<float>&, SystemSolver<float>&, const SolveOptions&);
template Certificate find_certificate(const SpmvPlan<double>&, SystemSolver<double>&, const SolveOptions&);
template void add_guarantees(const SpmvPlan<float>&, SystemSolver<float>&, std::span<const Unknown<float>>, const SolveOptions&,
                             SolveReport&);
template void add_guarantees(const SpmvPlan<double>&, SystemSolver<double>&, std::span<const Unknown<double>>,
                             const SolveOptions&, SolveReport&);
template Certificate certify(const SpmvPlan<float>&, const SolveOptions&);
template Certificate certify(const SpmvPlan<double>&, const SolveOptions&);

}  // namespace solver
