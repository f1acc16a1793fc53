#include "fuzz/solves.hpp"
#include "solver/guarantee.hpp"

namespace solver::fuzz {
namespace {

using testing::false_claim;
using testing::KnownSystem;

/// Nothing where a preconditioner that was named cannot be made, or a method not be had with it.
template <class S>
std::optional<Solved<S>> solved_with_guarantee(const Problem<S>& problem, const SolveOptions& options, const Device& device) {
    Solved<S> solved = beginning_of(problem);
    const SpmvPlan<S> plan(problem.a.view(), device);
    try {
        solved.report = solve<S>(plan, problem.b, solved.x, problem.wants_pair ? &solved.x_low : nullptr, options);
    } catch (const Error& error) {
        require(options.preconditioner.has_value(), std::string("the automatic choice throws: ") + error.what());
        return std::nullopt;
    }
    return solved;
}

template <class S>
void guarantees_of(Bytes& bytes) {
    const Problem<S> problem(bytes);
    SolveOptions options = some_options<S>(bytes);
    options.guarantee = bytes.coin() ? Guarantee::rounded : Guarantee::bound;
    const auto solved = solved_with_guarantee(problem, options, some_threads(bytes));
    if (!solved) return;
    const KnownSystem<S> system(problem.a, problem.b);
    for (std::size_t c = 0; c < solved->report.results.size(); ++c) {
        const SolutionProof& proof = solved->report.proofs[c];
        const SolveResult& result = solved->report.results[c];
        const auto x = solved->column_of_x(c), low = solved->column_of_low(c);
        require_true(false_claim(system, c, options.guarantee, proof, x, low), "a proof");
        const bool is_final =
            options.guarantee == Guarantee::rounded && proof.status == ProofStatus::proven && proof.dropped == 0;
        require(!is_final || result.status == SolveStatus::converged, "a proven solution has not converged");
        require_true(false_claim(system, c, result, options.iteration, x, low, is_final), "a solve with a guarantee");
    }
}

/// A x, b and x of any bits, and the proof of A.
template <class T>
void certificates_of(const CsrMatrix<T>& a, Bytes& bytes) {
    const SpmvPlan<T> plan(a.view(), some_threads(bytes));
    Certificate certificate;
    const SolveOptions options = some_options<T>(bytes);
    try {
        certificate = certify<T>(plan, options);
    } catch (const Error& error) {
        return require(options.preconditioner.has_value(), std::string("certify throws: ") + error.what());
    }
    require_true(false_claim(KnownSystem<T>(a, testing::identity<T>(a.rows)), certificate), "a certificate");
    Elements<T> elements(bytes);
    const DenseMatrix<T> b = some_vectors(bytes, elements, a.rows, 1), x = some_vectors(bytes, elements, a.rows, 1),
                         low = some_vectors(bytes, elements, a.rows, bytes.coin() ? 1 : 0);
    const KnownSystem<T> system(a, b);
    if (!system.is_finite(0) || !testing::all_are_finite<T>(x.values) || !testing::all_are_finite<T>(low.values)) return;
    const auto whole = testing::exact_sum<T>(x.values, low.values);
    const double backward = backward_error<T>(plan, b.values, x.values, low.values);
    require_true(testing::false_backward_error(system, 0, whole, backward), "backward_error");
    if (!certificate.is_proof()) return;
    SolutionProof proof;
    proof.error_bound = std::numeric_limits<double>::infinity();
    proof.bounds.resize(b.values.size());
    error_bound<T>(plan, certificate, b.values, x.values, low.values, proof.bounds);
    require_true(testing::false_bounds(system.solution(0), proof, whole, 1), "error_bound");
}

template <class S>
void certificates_of(Bytes& bytes) {
    Elements<S> elements(bytes);
    const CsrMatrix<S> a = some_square_matrix(bytes, elements);
    if constexpr (is_complex<S>)
        certificates_of(real_form(a.view()), bytes);
    else
        certificates_of(a, bytes);
}

}  // namespace

void guarantees(Input input) {
    Bytes bytes(input);
    for_any_scalar(bytes, [&]<class S>(S) { guarantees_of<S>(bytes); });
}

void certificates(Input input) {
    Bytes bytes(input);
    for_any_scalar(bytes, [&]<class S>(S) { certificates_of<S>(bytes); });
}

}  // namespace solver::fuzz
