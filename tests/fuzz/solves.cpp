#include "fuzz/solves.hpp"

#include "solver/lsmr.hpp"

#include <algorithm>
#include <memory>

namespace solver::fuzz {
namespace {

using testing::false_claim;
using testing::KnownSystem;

/// By a method and a preconditioner, complex numbers as pairs of real ones, with complex scalars or real.
template <class S>
void solve_by_name(const Problem<S>& problem, KrylovMethod method, PreconditionerKind kind, const KrylovOptions& options,
                   const Device& device, Solved<S>& solved) {
    using T = RealOf<S>;
    CsrMatrix<T> a;
    if constexpr (is_complex<S>)
        a = real_form(problem.a.view());
    else
        a = problem.a;
    const auto m = make_preconditioner<T>(kind, a, options.accuracy, device, {.complex_numbers = options.complex_scalars});
    const SpmvPlan<T> plan(a.view(), device);
    for (std::int64_t c = 0; c < problem.b.columns; ++c) {
        const auto n = static_cast<std::size_t>(problem.b.rows), first = static_cast<std::size_t>(c) * n;
        const auto of = [&](auto& v) { return real_view(v.empty() ? std::span(v) : std::span(v).subspan(first, n)); };
        solved.report.results.push_back(
            krylov_solve<T>(method, plan, *m, of(problem.b.values), of(solved.x.values), of(solved.x_low.values), options));
    }
}

template <class S>
Solved<S> solved_by_name(const Problem<S>& problem, SolveOptions& options, Bytes& bytes) {
    Solved<S> solved = beginning_of(problem);
    options.iteration.complex_scalars = is_complex<S> && bytes.coin();
    solve_by_name(problem, some_method(bytes), some_kind(bytes), options.iteration, some_threads(bytes), solved);
    return solved;
}

template <class S>
Solved<S> solved_by_choice(const Problem<S>& problem, const SolveOptions& options, const Device& device) {
    Solved<S> solved = beginning_of(problem);
    solved.report = solve<S>(SpmvPlan<S>(problem.a.view(), device), problem.b, solved.x,
                             problem.wants_pair ? &solved.x_low : nullptr, options);
    const auto has_converged = [](const SolveResult& result) { return result.status == SolveStatus::converged; };
    require(solved.report.obstacle.empty() || !std::ranges::all_of(solved.report.results, has_converged),
            "an obstacle, though all is solved");
    return solved;
}

template <class S>
std::optional<Solved<S>> some_solve(const Problem<S>& problem, SolveOptions& options, Bytes& bytes) {
    const bool is_named = bytes.coin();
    try {
        return is_named ? solved_by_name(problem, options, bytes) : solved_by_choice(problem, options, some_threads(bytes));
    } catch (const Error& error) {
        require(is_named || options.preconditioner, std::string("the automatic choice throws: ") + error.what());
        return std::nullopt;
    }
}

/// The best iterate is no worse than the guess; a pair of floats is rounded to a double after that.
template <class S>
std::string worse_than_guess(const KnownSystem<S>& system, std::size_t c, std::span<const RealOf<S>> guess,
                             std::span<const RealOf<S>> x, std::span<const RealOf<S>> low, bool is_exact) {
    if (!system.is_finite(c) || !testing::all_are_finite(guess)) return "";
    if (!testing::all_are_finite(x) || !testing::all_are_finite(low)) return "Inf or NaN, though the guess has none";
    const testing::KnownResidual before = testing::known_residual(system, c, testing::exact_sum(guess, {}), is_exact);
    const testing::KnownResidual after = testing::known_residual(system, c, testing::exact_sum(x, low), is_exact);
    const long double rounding = low.empty() ? 0 : 0x1p-53L * after.terms;
    return after.residual <= before.residual * (1 + 1e-5L) + before.error + after.error + rounding ? ""
                                                                                                   : "worse than the guess";
}

template <class S>
void solves_of(Bytes& bytes) {
    const Problem<S> problem(bytes);
    SolveOptions options = some_options<S>(bytes);
    const auto solved = some_solve(problem, options, bytes);
    if (!solved) return;
    const KnownSystem<S> system(problem.a, problem.b);
    for (std::size_t c = 0; c < solved->report.results.size(); ++c) {
        const auto x = solved->column_of_x(c), low = solved->column_of_low(c);
        require_true(false_claim(system, c, solved->report.results[c], options.iteration, x, low, false), "a solve");
        require_true(worse_than_guess(system, c, Solved<S>::column(problem.guess, c), x, low,
                                      options.iteration.accuracy == Accuracy::exact),
                     "a solve");
    }
}

/// With rows or columns of zeros, so that it is square.
template <class T>
CsrMatrix<T> made_square(CsrMatrix<T> a) {
    a.rows = a.columns = std::max(a.rows, a.columns);
    a.row_offsets.resize(static_cast<std::size_t>(a.rows + 1), a.row_offsets.back());
    return a;
}

/// The first rows or columns of a square matrix.
template <class T>
CsrMatrix<T> cut(const CsrMatrix<T>& square, std::int64_t rows, std::int64_t columns) {
    CsrMatrix<T> a{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = square.row_offsets[i]; k < square.row_offsets[i + 1]; ++k) {
            if (square.column_indices[k] >= columns) continue;
            a.column_indices.push_back(square.column_indices[k]);
            a.values.push_back(square.values[k]);
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

/// ||A'r|| / (||A|| ||r||) by Frobenius's norm, and how far a computed one may be off; where r is not 0.
template <class T>
struct NormalResidual {
    double value = 0;
    double error = 0;

    NormalResidual(const KnownSystem<T>& system, std::span<const testing::Rational> x, const testing::KnownResidual& known,
                   bool is_exact) {
        const std::vector<testing::Rational> r = system.residual(x, 0);
        std::vector<testing::Rational> elements, normal(r.size()), terms(r.size());
        for (std::size_t i = 0; i < r.size(); ++i)
            for (std::size_t j = 0; j < r.size(); ++j) {
                elements.push_back(system.a(i, j));
                normal[j] += system.a(i, j) * r[i];
                terms[j] += system.stored_magnitude(i, j) * abs(r[i]);
            }
        const long double norm = testing::length(elements) * known.residual;
        if (!(norm > 0)) return;
        value = static_cast<double>(testing::length(normal) / norm);
        error = static_cast<double>(known.error / known.residual) + 32 * unit_roundoff<T>;
        if (!is_exact) error += std::pow(gamma<T>(1024), 2) * static_cast<double>(testing::length(terms) / norm);
    }
};

template <class T>
std::string false_claim_of_least_squares(const KnownSystem<T>& system, const LeastSquaresResult& result, std::span<const T> x,
                                         const KrylovOptions& options) {
    if (result.iterations > options.max_iterations) return "more iterations than were allowed";
    const bool converged = result.status == SolveStatus::converged;
    if (!system.is_finite(0) || !testing::all_are_finite(x)) return converged ? "Inf or NaN has converged" : "";
    const auto whole = testing::exact_sum<T>(x, {});
    const bool is_exact = options.accuracy == Accuracy::exact;
    const testing::KnownResidual known = testing::known_residual(system, 0, whole, is_exact);
    if (!converged || known.residual <= known.error) return "";
    const long double goal = std::max<long double>(options.tolerance * known.right_hand_side, options.absolute_tolerance);
    if (known.residual <= goal * (1 + 1e-5L) + known.error) return "";
    const NormalResidual<T> normal(system, whole, known, is_exact);
    if (normal.value <= options.tolerance * (1 + 1e-5) + normal.error) return "";
    return "called converged with a residual of " + testing::text_of(known.relative()) + ", of the normal equations " +
           testing::text_of(normal.value);
}

template <class T>
void least_squares_of(Bytes& bytes) {
    Elements<T> elements(bytes);
    const CsrMatrix<T> square = some_square_matrix(bytes, elements);
    const std::int64_t less = square.rows - bytes.byte() % square.rows;
    const CsrMatrix<T> a = bytes.coin() ? cut(square, less, square.columns) : cut(square, square.rows, less);
    DenseMatrix<T> b = some_vectors(bytes, elements, a.rows, 1), x{a.columns, 1, std::vector<T>(a.columns)};
    if (bytes.byte() % 4 == 3) x = some_vectors(bytes, elements, a.columns, 1);
    const KrylovOptions options = some_iteration(bytes);
    const Device device = some_threads(bytes);
    const CsrMatrix<T> transposed = transpose<T>(a.view());
    const LeastSquaresResult result =
        lsmr<T>(SpmvPlan<T>(a.view(), device), SpmvPlan<T>(transposed.view(), device), b.values, x.values, options);
    const CsrMatrix<T> padded = made_square(a);
    b.values.resize(static_cast<std::size_t>(padded.rows));
    x.values.resize(static_cast<std::size_t>(padded.rows));
    const KnownSystem<T> system(padded, b);
    require_true(false_claim_of_least_squares<T>(system, result, x.values, options), "least squares");
}

}  // namespace

void solves(Input input) {
    Bytes bytes(input);
    for_any_scalar(bytes, [&]<class S>(S) { solves_of<S>(bytes); });
}

void least_squares(Input input) {
    Bytes bytes(input);
    bytes.coin() ? least_squares_of<float>(bytes) : least_squares_of<double>(bytes);
}

}  // namespace solver::fuzz
