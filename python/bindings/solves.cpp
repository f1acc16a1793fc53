#include "solves.hpp"
#include "lock.hpp"
#include "matrix.hpp"
#include "preconditioner.hpp"
#include "solver/complex.hpp"
#include "solver/cuda/solve.hpp"
#include "solver/guarantee.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/solve.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samebits {
namespace {

using namespace solver;

nb::dict in_python(const Attempt& attempt) {
    nb::dict made;
    made["preconditioner"] = std::string(to_string(attempt.preconditioner));
    made["method"] = std::string(method_name(attempt));
    made["repeated"] = attempt.repeated;
    made["mixed"] = attempt.mixed;
    made["refusal"] = attempt.refusal;
    made["factor_entries"] = attempt.factor_entries;
    made["factor_hash"] = attempt.factor_hash;
    made["setup_seconds"] = attempt.setup_seconds;
    made["solve_seconds"] = attempt.solve_seconds;
    nb::list results;
    for (const SolveResult& result : attempt.results) results.append(column_in_python(result));
    made["results"] = results;
    return made;
}

/// Copied.
nb::bytes bytes_of(const std::vector<double>& values) {
    return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

nb::dict in_python(const SolutionProof& proof) {
    nb::dict made;
    made["status"] = std::string(to_string(proof.status));
    made["reason"] = proof.reason;
    made["backward_error"] = proof.backward_error;
    made["error_bound"] = proof.error_bound;
    made["estimated_error"] = proof.estimated_error;
    made["certified_digits"] = proof.certified_digits;
    made["rounded"] = proof.rounded;
    made["ties"] = proof.ties;
    made["zeros"] = proof.zeros;
    made["dropped"] = proof.dropped;
    made["undecided"] = proof.undecided;
    nb::list open;
    for (const std::int64_t component : proof.first_undecided) open.append(component);
    made["first_undecided"] = open;
    made["bounds"] = bytes_of(proof.bounds);
    made["refinements"] = proof.refinements;
    made["iterations"] = proof.iterations;
    return made;
}

SolveOptions options_of(const nb::dict& given) {
    SolveOptions options;
    options.preconditioner = preconditioner_or_auto_from_text(nb::cast<std::string>(given["preconditioner"]));
    options.method = krylov_method_or_auto_from_text(nb::cast<std::string>(given["method"]));
    options.profile = cost_profile_from_text(nb::cast<std::string>(given["profile"]));
    options.factors.memory_limit = nb::cast<std::int64_t>(given["memory_limit"]);
    options.guarantee = guarantee_from_text(nb::cast<std::string>(given["guarantee"]));
    options.mixed = nb::cast<bool>(given["mixed"]);
    options.iteration = iteration_of(given);
    return options;
}

/// With a preconditioner of the caller's.
KrylovMethod method_of(const SolveOptions& options) { return options.method.value_or(KrylovMethod::bicgstab); }

/// Vectors as long as A has rows, and a preconditioner or none (null).
template <class T>
SolveReport run(const SpmvPlan<T>& a, const solver::Preconditioner<T>* m, std::span<const T> b, std::span<T> x,
                std::span<T> x_low, const SolveOptions& options) {
    if (m == nullptr) return solve(a, b, x, x_low, options);
    SolveReport report;
    report.results = {krylov_solve(method_of(options), a, *m, b, x, x_low, options.iteration)};
    return report;
}

/// Solves for several columns, which lie one after the other in b, x and x_low, together.
template <class T>
SolveReport run_columns(const SpmvPlan<T>& a, const solver::Preconditioner<T>* m, std::span<const T> b, std::span<T> x,
                        std::span<T> x_low, const SolveOptions& options) {
    const std::int64_t n = a.rows(), columns = n > 0 ? static_cast<std::int64_t>(b.size()) / n : 0;
    const DenseMatrix<T> of_b{n, columns, {b.begin(), b.end()}};
    DenseMatrix<T> of_x{n, columns, {x.begin(), x.end()}}, low{n, columns, {x_low.begin(), x_low.end()}};
    DenseMatrix<T>* const of_low = x_low.empty() ? nullptr : &low;
    SolveReport report;
    if (m == nullptr)
        report = solve(a, of_b, of_x, of_low, options);
    else
        report.results = krylov_solve(method_of(options), a, *m, of_b, of_x, of_low, options.iteration);
    std::copy(of_x.values.begin(), of_x.values.end(), x.begin());
    std::copy(low.values.begin(), low.values.end(), x_low.begin());
    return report;
}

/// Either, of vectors that lie on the device of A's plan.
template <class T>
SolveReport run_on_device(const SpmvPlan<T>& a, const solver::Preconditioner<T>* m, std::span<const T> b, std::span<T> x,
                          std::span<T> x_low, const SolveOptions& options) {
    const std::int64_t columns = a.rows() > 0 ? std::ssize(b) / a.rows() : 0;
    const cuda::SolveTask<T> task{b.data(), x.data(), x_low.data(), columns};
    if (m == nullptr) return cuda::solve(a, task, options);
    SolveReport report;
    report.results = cuda::krylov_solve(method_of(options), a, *m, task, options.iteration);
    return report;
}

template <class T>
void require_rows(const SpmvPlan<T>& a, const Preconditioner<T>* m) {
    if (m != nullptr && m->rows != a.rows())
        throw DimensionMismatch("solve: the preconditioner has " + std::to_string(m->rows) + " rows, the matrix " +
                                std::to_string(a.rows()));
}

/// (results, attempts, proofs, profile, obstacle, whether the callback stopped it, what was raised); x holds the guess and then
/// the best iterate.
template <class T>
nb::tuple solve_in_python(const Matrix<T>& a, const Preconditioner<T>* m, bool is_vector, const Vector<T>& b,
                          const MutableVector<T>& x, const std::optional<MutableVector<T>>& x_low, const nb::dict& given,
                          nb::object function) {
    require_rows(a.plan(), m);
    SolveOptions options = options_of(given);
    const bool lies_on_device = b.device_type() != nb::device::cpu::value;
    Watch watch(std::move(function));
    options.iteration.callback = [&](const Iteration& iteration) { return watch.goes_on(iteration); };
    SolveReport report;
    {
        const Released released;
        const std::span<T> low = x_low ? view<T>(*x_low) : std::span<T>();
        const auto* const preconditioner = m == nullptr ? nullptr : m->m.get();
        report = (lies_on_device ? run_on_device<T>
                  : is_vector    ? run<T>
                                 : run_columns<T>)(a.plan(), preconditioner, view<T>(b), view<T>(x), low, options);
    }
    nb::list results, attempts, proofs;
    for (const SolveResult& result : report.results) results.append(column_in_python(result));
    for (const Attempt& attempt : report.attempts) attempts.append(in_python(attempt));
    for (const SolutionProof& proof : report.proofs) proofs.append(in_python(proof));
    return nb::make_tuple(results, attempts, proofs, std::string(to_string(report.profile)), report.obstacle, watch.stopped(),
                          watch.raised());
}

template <class T>
Certificate certify_in_python(const Matrix<T>& a, const nb::dict& given) {
    const SolveOptions options = options_of(given);
    const Released released;
    return certify(a.plan(), options);
}

template <class T>
void bound_in_python(const Matrix<T>& a, const Certificate& certificate, const Vector<T>& b, const Vector<T>& x,
                     const std::optional<Vector<T>>& x_low, const MutableVector<double>& bounds) {
    const std::span<const T> low = x_low ? view<T>(*x_low) : std::span<const T>();
    const Released released;
    error_bound<T>(a.plan(), certificate, view<T>(b), view<T>(x), low, view<double>(bounds));
}

/// Writes the bounds of the moduli of complex numbers.
void bound_moduli(const Vector<double>& of_parts, const MutableVector<double>& bounds) {
    const std::vector<double> found = bounds_of_moduli(view<double>(of_parts));
    std::copy(found.begin(), found.end(), bounds.data());
}

template <class T>
void bind_solve(nb::module_& module) {
    module.def("certify", &certify_in_python<T>, nb::arg("a"), nb::arg("options"));
    module.def("error_bound", &bound_in_python<T>, nb::arg("a"), nb::arg("certificate"), nb::arg("b").noconvert(),
               nb::arg("x").noconvert(), nb::arg("x_low").noconvert().none(), nb::arg("bounds").noconvert());
    module.def("solve", &solve_in_python<T>, nb::arg("a"), nb::arg("m").none(), nb::arg("is_vector"), nb::arg("b").noconvert(),
               nb::arg("x").noconvert(), nb::arg("x_low").noconvert().none(), nb::arg("options"), nb::arg("callback").none());
}

}  // namespace

void bind_solves(nb::module_& module) {
    nb::class_<Certificate>(module, "Certificate")
        .def_prop_ro("status", [](const Certificate& made) { return std::string(to_string(made.status)); })
        .def_ro("reason", &Certificate::reason)
        .def_ro("adds_up", &Certificate::adds_up)
        .def_ro("iterations", &Certificate::iterations)
        .def_prop_ro("reach", [](const Certificate& made) { return bytes_of(made.reach); })
        .def_prop_ro("weights", [](const Certificate& made) { return bytes_of(made.weights); });
    nb::class_<Seen>(module, "Iterate").def("copy_to", &Seen::copy_to, nb::arg("x").noconvert());
    module.def("bound_moduli", &bound_moduli, nb::arg("of_parts"), nb::arg("bounds").noconvert());
    module.def(
        "complex_error_bound",
        [](const Vector<double>& of_parts, const Vector<double>& parts) {
            return complex_error_bound(view<double>(of_parts), view<double>(parts));
        },
        nb::arg("of_parts"), nb::arg("parts"));
    bind_solve<double>(module);
    bind_solve<float>(module);
}

}  // namespace samebits
