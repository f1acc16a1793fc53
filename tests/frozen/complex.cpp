#include "solver/complex.hpp"
#include "frozen/fingerprints.hpp"
#include "frozen/inputs.hpp"
#include "matrices/generators.hpp"
#include "solver/solve.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace solver::frozen {
namespace {

template <class T>
using Numbers = std::vector<std::complex<T>>;

template <class T>
Numbers<T> complex_numbers(std::uint64_t seed, std::int64_t n, int low, int high) {
    const std::vector<T> parts = numbers<T>(seed, 2 * n, low, high);
    Numbers<T> result;
    for (std::size_t i = 0; i < parts.size(); i += 2) result.emplace_back(parts[i], parts[i + 1]);
    return result;
}

template <class T>
void add(Digest& digest, std::complex<T> number) {
    digest.add(number.real());
    digest.add(number.imag());
}
template <class T>
void add(Digest& digest, const Numbers<T>& numbers) {
    digest.add(static_cast<std::int64_t>(numbers.size()));
    for (const std::complex<T> number : numbers) add(digest, number);
}

template <class T>
void record_reductions_of(Record& record, const Device& device) {
    const Numbers<T> x = complex_numbers<T>(41, 3000, -20, 20);
    Numbers<T> y = complex_numbers<T>(42, 3000, -20, 20);
    for (std::size_t i = 3; i < y.size(); i += 2) y[i] = -y[i - 1];  // which cancel
    const auto reduced = [&](const char* name, const auto& value) {
        Digest digest;
        if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
            digest.add(value);
        else
            add(digest, value);
        record.add(name_of<T>("complex", name), digest);
    };
    const std::span<const std::complex<T>> a(x), b(y);
    reduced("sum", sum(b, record.accuracy(), device));
    reduced("dot", dot(a, b, record.accuracy(), device));
    reduced("dotu", dotu(a, b, record.accuracy(), device));
    reduced("norm2", norm2(a, record.accuracy(), device));
}

template <class T>
CsrMatrix<std::complex<T>> matrix(const char* name) {
    return complex_form(convert<T>(matrices::find_generator(name).value().make().view()).view());
}

/// By both storages: real factors, and one with an imaginary part.
template <class T>
void record_complex_products_of(Record& record, const Device& device) {
    using Number = std::complex<T>;
    const CsrMatrix<Number> a = matrix<T>("wilson_2_2");
    const Numbers<T> x = complex_numbers<T>(43, a.columns, -9, 9), y_in = complex_numbers<T>(44, a.rows, -9, 9);
    Digest digest;
    for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
        const SpmvPlan<Number> plan(a.view(), device, SpmvOptions{.storage = storage});
        for (const Number alpha : {Number(1, 0), Number(T(0.75), T(-1.5))}) {
            Numbers<T> y = y_in;
            plan.multiply(alpha, x, Number(-2, 0), y, record.accuracy());
            add(digest, y);
        }
        Numbers<T> r(y_in.size());
        plan.residual(y_in, x, {}, r, record.accuracy());
        add(digest, r);
    }
    record.add(name_of<T>("complex", "products"), digest);
}

template <class T>
void record_solves_of(Record& record, const Device& device) {
    using Number = std::complex<T>;
    for (const KrylovMethod method :
         {KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::idr, KrylovMethod::bicgstab2, KrylovMethod::cocg}) {
        Digest digest;
        for (const char* name : {"wilson_2_2", "helmholtz_12"})
            for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
                if (method == KrylovMethod::cocg && name == std::string_view("wilson_2_2")) continue;  // not its own transpose
                const CsrMatrix<Number> a = matrix<T>(name);
                const Numbers<T> b = complex_numbers<T>(45, a.rows, -3, 3);
                Numbers<T> x(b.size());
                SolveOptions options{.preconditioner = kind, .method = method};
                options.iteration = {.accuracy = record.accuracy(), .tolerance = 1e-11, .max_iterations = 60};
                const SolveReport report =
                    solve<Number>(SpmvPlan<Number>(a.view(), device), b, x, std::span<Number>(), options);
                digest.add(report.result().iterations);
                digest.add(report.result().relative_residual);
                add(digest, x);
            }
        record.add(name_of<T>("complex_solve", to_string(method)), digest);
    }
}

/// Complete factors are complex, whatever solves with them.
template <class T>
void record_complete_factors_of(Record& record, const Device& device) {
    using Number = std::complex<T>;
    Digest digest;
    for (const char* name : {"wilson_2_2", "helmholtz_12"}) {
        const CsrMatrix<Number> a = matrix<T>(name);
        const Numbers<T> b = complex_numbers<T>(47, a.rows, -3, 3);
        Numbers<T> x(b.size());
        SolveOptions options{.preconditioner = PreconditionerKind::klu};
        options.iteration.accuracy = record.accuracy();
        const SolveReport report = solve<Number>(SpmvPlan<Number>(a.view(), device), b, x, std::span<Number>(), options);
        digest.add(static_cast<std::int64_t>(report.attempts.back().factor_hash));
        add(digest, x);
    }
    record.add(name_of<T>("complex_solve", "klu"), digest);
}

/// Correctly rounded, so that nothing but A and b decides.
template <class T>
void record_rounded(Record& record, const Device& device) {
    for (const char* name : {"convection_diffusion_18", "poisson3d_random_7"}) {
        const CsrMatrix<T> a = convert<T>(matrices::find_generator(name).value().make().view());
        const std::vector<T> b = numbers<T>(46, a.rows, -3, 3);
        std::vector<T> x(b.size());
        SolveOptions options{.guarantee = Guarantee::rounded};
        options.iteration.accuracy = record.accuracy();
        const SolveReport report = solve<T>(SpmvPlan<T>(a, device), b, x, {}, options);
        Digest digest;
        digest.add(report.proof().undecided);
        digest.add(x);
        record.add(name_of<T>("rounded", name), digest);
    }
}

template <class T>
void record_all(Record& record, const Device& device) {
    record_reductions_of<T>(record, device);
    record_complex_products_of<T>(record, device);
    record_solves_of<T>(record, device);
    record_complete_factors_of<T>(record, device);
}

}  // namespace

void record_complex(Record& record, const Device& device) {
    record_all<float>(record, device);
    record_all<double>(record, device);
}

void record_rounded_solutions(Record& record, const Device& device) {
    record_rounded<float>(record, device);
    record_rounded<double>(record, device);
}

}  // namespace solver::frozen
