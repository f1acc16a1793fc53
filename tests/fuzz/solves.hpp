#pragma once

/// Solves made of a fuzzer's bytes, and what is false of what they claim.

#include "fuzz/bytes.hpp"
#include "fuzz/systems.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/solve.hpp"
#include "support/claims.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace solver::fuzz {

inline KrylovOptions some_iteration(Bytes& bytes) {
    KrylovOptions options{.accuracy = bytes.accuracy()};
    options.tolerance = std::pow(10.0, -(bytes.byte() % 31) / 2.0);
    if (bytes.byte() % 8 == 7) options.absolute_tolerance = std::ldexp(1.0, bytes.bits<std::int8_t>());
    options.max_iterations = bytes.byte() % 64;
    options.restart = 1 + bytes.byte() % 10;
    return options;
}

inline PreconditionerKind some_kind(Bytes& bytes) {
    using enum PreconditionerKind;
    constexpr PreconditionerKind kinds[] = {none, jacobi, ilu0, isai, ilut, klu, amg, schur};
    return kinds[bytes.byte() % 8];
}

inline KrylovMethod some_method(Bytes& bytes) { return all_krylov_methods[bytes.byte() % all_krylov_methods.size()]; }

/// By the automatic choice mostly.
template <class S>
SolveOptions some_options(Bytes& bytes) {
    SolveOptions options{.iteration = some_iteration(bytes)};
    const int named = bytes.byte() % 8;
    if (named == 5 || named == 7) options.preconditioner = some_kind(bytes);
    if (named == 6 || named == 7) options.method = some_method(bytes);
    if (bytes.byte() % 8 == 7) options.profile = CostProfile::gpu;
    if (bytes.byte() % 8 == 7) options.mixed = std::is_same_v<RealOf<S>, double>;
    return options;
}

/// A X = B and where its solve begins.
template <class S>
struct Problem {
    CsrMatrix<S> a;
    DenseMatrix<S> b;
    DenseMatrix<S> guess;
    bool wants_pair;

    explicit Problem(Bytes& bytes) {
        Elements<S> elements(bytes);
        a = some_square_matrix(bytes, elements);
        b = some_vectors(bytes, elements, a.rows, bytes.byte() % 4 == 3 ? 2 + bytes.byte() % 2 : 1);
        guess = {b.rows, b.columns, std::vector<S>(b.values.size())};
        if (bytes.byte() % 4 == 3) guess = some_vectors(bytes, elements, b.rows, b.columns);
        wants_pair = bytes.byte() % 4 == 3;
    }
};

template <class S>
struct Solved {
    SolveReport report;
    DenseMatrix<S> x;
    DenseMatrix<S> x_low;

    std::span<const RealOf<S>> column_of_x(std::size_t c) const { return column(x, c); }
    std::span<const RealOf<S>> column_of_low(std::size_t c) const { return column(x_low, c); }

    /// The parts of one right-hand side's unknowns; none of an empty matrix.
    static std::span<const RealOf<S>> column(const DenseMatrix<S>& v, std::size_t c) {
        const auto n = static_cast<std::size_t>(v.rows);
        return v.values.empty() ? std::span<const RealOf<S>>() : real_view(std::span(v.values).subspan(c * n, n));
    }
};

template <class S>
Solved<S> beginning_of(const Problem<S>& problem) {
    Solved<S> solved{{}, problem.guess, {problem.b.rows, problem.b.columns, {}}};
    if (problem.wants_pair) solved.x_low.values.resize(solved.x.values.size());
    return solved;
}

inline void require_true(const std::string& false_claim, const char* of) {
    require(false_claim.empty(), std::string(of) + ": " + false_claim);
}

}  // namespace solver::fuzz
