#pragma once

/// What benchmarks of triangular solves share.

#include "operation.hpp"
#include "preconditioner/ilu0.hpp"
#include "preconditioner/ilut.hpp"
#include "preconditioner/klu.hpp"
#include "products.hpp"
#include "solver/error.hpp"
#include "solver/preparation.hpp"
#include "solver/triangular_solve.hpp"

#include <memory>

namespace solver::bench {

/// The factors that --preconditioner asks for; those of ILUT and KLU are of the prepared matrix.
template <class T>
IluFactors<T> factors_of(PreconditionerKind kind, const CsrMatrix<double>& a) {
    if (kind == PreconditionerKind::ilu0) return factor_ilu0<T>(convert<T>(a.view()).view(), Accuracy::fast);
    const Preparation preparation = prepare<double>(a, Ordering::amd);
    if (kind == PreconditionerKind::klu) return factor_klu<T, double>(a, preparation, 0).factors;
    if (kind == PreconditionerKind::ilut)
        return factor_ilut<T>(convert<T>(prepared_matrix<double>(a, preparation).view()).view(), {});
    throw InvalidArgument(fmt::format("--preconditioner {}: expected one with factors: ilu0, ilut or klu", to_string(kind)));
}

/// A x = b for one of two factors.
template <class T>
struct TriangularSystem {
    TriangularSystem(std::string of, PreconditionerKind of_kind, const CsrView<T>& factor, Triangle which)
        : name(std::move(of)),
          kind(of_kind),
          a(factor),
          triangle(which),
          diagonal(which == Triangle::lower ? Diagonal::unit : Diagonal::stored),
          b(make_x<T>(Vector::random, factor.rows)) {}

    std::vector<std::pair<std::string, std::string>> parameters() const {
        return {{"matrix", name},
                {"factor", factor()},
                {"precision", precision_name<T>},
                {"rows", std::to_string(a.rows)},
                {"nonzeros", std::to_string(a.nonzeros())}};
    }
    std::string heading() const {
        return fmt::format("{}: solve with {}, {} rows, {} nonzeros, {}", name, factor(), a.rows, a.nonzeros(),
                           precision_name<T>);
    }
    std::vector<T> exact_solution(int threads) const {
        std::vector<T> x(b.size());
        TriangularSolvePlan<T>(a, triangle, diagonal, Device::cpu(threads)).solve(b, x, Accuracy::exact);
        return x;
    }
    std::string factor() const { return fmt::format("{} of {}", triangle == Triangle::lower ? 'L' : 'U', to_string(kind)); }

    std::string name;
    PreconditionerKind kind;
    CsrView<T> a;
    Triangle triangle;
    Diagonal diagonal;
    std::vector<T> b;
};

/// Calls run(system) for L and U of all matrices, kinds and precisions that are asked for.
template <class Run>
void for_each_triangle(const Options& options, const Report& report, const Run& run) {
    const auto run_factors = [&]<class T>(const std::string& name, PreconditionerKind kind, const IluFactors<T>& factors) {
        run(TriangularSystem<T>(name, kind, factors.lower, Triangle::lower));
        run(TriangularSystem<T>(name, kind, factors.upper, Triangle::upper));
    };
    std::vector<PreconditionerKind> kinds = options.preconditioners;
    if (kinds.empty()) kinds = {PreconditionerKind::ilu0};
    for (const auto& found : find_matrices(options, report)) {
        if (!found.announcement.empty()) report.note(found.announcement);
        const CsrMatrix<double> a = load<double>(found, options.threads);
        for (const PreconditionerKind kind : kinds) {
            if (options.in_double) run_factors(name_of(found), kind, factors_of<double>(kind, a));
            if (options.in_single) run_factors(name_of(found), kind, factors_of<float>(kind, a));
        }
    }
}

/// The solve by everybody on the machine that the options name. The system must outlive it.
template <class T>
std::unique_ptr<Operation> make_triangular_solve(const Options& options, const TriangularSystem<T>& system);

}  // namespace solver::bench
