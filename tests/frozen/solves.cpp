#include "frozen/fingerprints.hpp"
#include "frozen/inputs.hpp"
#include "matrices/generators.hpp"
#include "solver/bicgstab.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/lsmr.hpp"
#include "solver/preconditioner.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace solver::frozen {
namespace {

constexpr const char* matrix_names[] = {"convection_diffusion_18", "poisson3d_random_7", "poisson2d_20"};

/// Those whose factors are the same on every machine.
constexpr PreconditionerKind kinds[] = {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0,
                                        PreconditionerKind::isai};

BicgstabOptions recorded(Accuracy accuracy) {
    return {.accuracy = accuracy, .tolerance = 1e-11, .max_iterations = 60, .keep_history = true};
}

void add_result(Digest& digest, const SolveResult& result) {
    digest.add(static_cast<std::int32_t>(result.status));
    for (const std::int64_t count : {result.iterations, result.replacements, result.restarts}) digest.add(count);
    digest.add(result.relative_residual);
    digest.add(result.recursive_residual);
    for (const Iteration& iteration : result.history) {
        digest.add(iteration.number);
        digest.add(iteration.recursive_residual);
        digest.add(iteration.true_residual);
        digest.add(static_cast<std::int32_t>(iteration.replaced));
    }
}

template <class T>
struct Solves {
    Digest application, single, pair, columns;
};

template <class T>
void add_solves(Solves<T>& solves, const CsrMatrix<T>& a, PreconditionerKind kind, Accuracy accuracy, const Device& device) {
    const auto m = make_preconditioner<T>(kind, a, accuracy, device);
    const SpmvPlan<T> plan(a, device);
    const std::vector<T> b = numbers<T>(31, a.rows, -3, 3);
    std::vector<T> x(b.size());
    m->apply(b, x, accuracy);
    solves.application.add(x);
    solves.application.add(m->factor_hash());

    x.assign(x.size(), T(0));
    add_result(solves.single, bicgstab<T>(plan, *m, b, x, {}, recorded(accuracy)));
    solves.single.add(x);

    x.assign(x.size(), T(1));
    std::vector<T> x_low(x.size());
    add_result(solves.pair, bicgstab<T>(plan, *m, b, x, x_low, recorded(accuracy)));
    solves.pair.add(x);
    solves.pair.add(x_low);

    const DenseMatrix<T> right{a.rows, 3, numbers<T>(32, 3 * a.rows, -9, 9)};
    DenseMatrix<T> solutions{a.rows, 3, std::vector<T>(right.values.size())};
    for (const SolveResult& result : bicgstab<T>(plan, *m, right, solutions, nullptr, recorded(accuracy)))
        add_result(solves.columns, result);
    solves.columns.add(solutions.values);
}

template <class T>
void record_solves_of(Record& record, PreconditionerKind kind, const Device& device) {
    Solves<T> solves;
    for (const char* name : matrix_names)
        add_solves(solves, convert<T>(matrices::find_generator(name).value().make().view()), kind, record.accuracy(), device);
    record.add(name_of<T>("preconditioner", to_string(kind)), solves.application);
    record.add(name_of<T>("bicgstab", to_string(kind)), solves.single);
    record.add(name_of<T>("bicgstab_pair", to_string(kind)), solves.pair);
    record.add(name_of<T>("bicgstab_columns", to_string(kind)), solves.columns);
}

/// A method by its name, on matrices that are symmetric where it needs that.
template <class T>
void record_method(Record& record, KrylovMethod method, PreconditionerKind kind, const Device& device) {
    Digest digest;
    const bool needs_symmetry = method == KrylovMethod::minres || method == KrylovMethod::cg;
    for (const char* name : {"poisson2d_20", "convection_diffusion_18"}) {
        if (needs_symmetry && name != std::string_view("poisson2d_20")) continue;
        const CsrMatrix<T> a = convert<T>(matrices::find_generator(name).value().make().view());
        const auto m = make_preconditioner<T>(kind, a, record.accuracy(), device);
        const SpmvPlan<T> plan(a, device);
        const std::vector<T> b = numbers<T>(34, a.rows, -3, 3);
        std::vector<T> x(b.size()), x_low(b.size());
        add_result(digest, krylov_solve<T>(method, plan, *m, b, x, x_low, recorded(record.accuracy())));
        digest.add(x);
        digest.add(x_low);
    }
    record.add(name_of<T>(std::string(to_string(method)), to_string(kind)), digest);
}

/// The rows of a grid but for every third, so that least squares are many, and its transpose.
template <class T>
void record_least_squares(Record& record, const Device& device) {
    const CsrMatrix<T> grid = convert<T>(matrices::find_generator("convection_diffusion_18").value().make().view());
    std::vector<Entry<T>> entries;
    for (std::int64_t i = 0; i < grid.rows; ++i)
        for (std::int64_t k = grid.row_offsets[i]; k < grid.row_offsets[i + 1] && i % 3 != 0; ++k)
            entries.push_back({static_cast<std::int32_t>(i), grid.column_indices[k], grid.values[k]});
    for (const bool transposed : {false, true}) {
        CsrMatrix<T> a = csr_from_entries<T>(grid.rows, grid.columns, entries);
        CsrMatrix<T> other = transpose(a.view());
        if (transposed) std::swap(a, other);
        const std::vector<T> b = numbers<T>(35, a.rows, -3, 3);
        std::vector<T> x(static_cast<std::size_t>(a.columns));
        const LeastSquaresResult result =
            lsmr<T>(SpmvPlan<T>(a, device), SpmvPlan<T>(other, device), b, x, recorded(record.accuracy()));
        Digest digest;
        for (const double number : {result.relative_residual, result.normal_residual, result.matrix_norm}) digest.add(number);
        digest.add(result.iterations);
        digest.add(x);
        record.add(name_of<T>("lsmr", transposed ? "transposed" : "grid"), digest);
    }
}

void record_mixed(Record& record, PreconditionerKind kind, const Device& device) {
    Digest digest;
    for (const char* name : matrix_names) {
        const CsrMatrix<double> a = matrices::find_generator(name).value().make();
        const CsrMatrix<float> single = convert<float>(a.view());
        const auto m = make_preconditioner<float>(kind, single, record.accuracy(), device);
        const std::vector<double> b = numbers<double>(33, a.rows, -3, 3);
        std::vector<double> x(b.size());
        add_result(digest, bicgstab(SpmvPlan<double>(a, device), SpmvPlan<float>(single, device), *m, b, x,
                                    recorded(record.accuracy())));
        digest.add(x);
    }
    record.add(name_of<double>("bicgstab_mixed", to_string(kind)), digest);
}

}  // namespace

void record_solves(Record& record, const Device& device) {
    for (const PreconditionerKind kind : kinds) {
        record_solves_of<float>(record, kind, device);
        record_solves_of<double>(record, kind, device);
        record_mixed(record, kind, device);
    }
    for (const KrylovMethod method : {KrylovMethod::gmres, KrylovMethod::minres, KrylovMethod::idr})
        for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
            record_method<float>(record, method, kind, device);
            record_method<double>(record, method, kind, device);
        }
    for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        record_method<float>(record, KrylovMethod::bicgstab2, kind, device);
        record_method<double>(record, KrylovMethod::bicgstab2, kind, device);
    }
    record_least_squares<float>(record, device);
    record_least_squares<double>(record, device);
    for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::ilu0}) {
        record_method<float>(record, KrylovMethod::cg, kind, device);
        record_method<double>(record, KrylovMethod::cg, kind, device);
    }
}

}  // namespace solver::frozen
