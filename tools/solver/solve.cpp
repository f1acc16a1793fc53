#include "solve.hpp"

#include "core/machine.hpp"
#include "least_squares.hpp"
#include "linear_system.hpp"
#include "preparation/full_diagonal.hpp"
#include "products.hpp"
#include "reference.hpp"
#include "rehearsal.hpp"
#include "run.hpp"
#include "solver/error.hpp"
#include "stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <variant>

namespace solver::command {
namespace {

/// The accuracy asked for, then the others where they are to be compared.
std::vector<Accuracy> accuracies(const Options& options) {
    std::vector<Accuracy> chosen{options.accuracy};
    if (options.compare)
        for (const Accuracy accuracy : all_accuracies)
            if (accuracy != options.accuracy) chosen.push_back(accuracy);
    return chosen;
}

template <class T>
SpmvPlan<T> plan_of(const LoadedMatrix<T>& loaded, const Options& options) {
    if (const auto* dense = std::get_if<DenseRows<T>>(&loaded.matrix)) return SpmvPlan<T>(dense->view(), options.device);
    return SpmvPlan<T>(
        std::get<CsrMatrix<T>>(loaded.matrix), options.device,
        SpmvOptions{.kernel = options.spmv, .storage = options.storage, .expected_products = products_of_a_solve});
}

/// Of a dense matrix, elements other than zero.
template <class T>
std::int64_t nonzeros_of(const SpmvPlan<T>& a) {
    if (a.dense() == nullptr) return a.matrix().nonzeros();
    const std::span elements(a.dense()->data, static_cast<std::size_t>(a.rows() * a.columns()));
    return std::count_if(elements.begin(), elements.end(), [](T element) { return element != T(0); });
}

template <class T>
Diagnosis structure_of(const SpmvPlan<T>& a, std::int64_t nonzeros, bool is_complex) {
    Diagnosis regular;
    regular.rows = regular.structural_rank = is_complex ? a.rows() / 2 : a.rows();
    if (nonzeros == a.rows() * a.columns() || preparation::has_full_diagonal(a)) return regular;
    try {
        const Diagnosis found = diagnose(a.matrix(), a.device());
        return is_complex ? in_complex_numbers(found) : found;
    } catch (const InvalidArgument&) {  // Inf or NaN: the solve will say so
        return regular;
    }
}

/// A short file can declare more rows than there is memory for vectors, and Linux kills who uses what it granted.
void refuse_beyond_memory(std::string_view matrix, std::int64_t rows, std::int64_t columns, std::size_t number) {
    constexpr double least_vectors = 8, gigabyte = 1e9;  // b, x, the best x, its residual, and four of the method
    const double needed = least_vectors * static_cast<double>(std::max(rows, columns)) * static_cast<double>(number);
    const auto available = static_cast<double>(available_memory());
    if (needed > available)
        throw ResourceLimit(
            fmt::format("{}: {} rows and {} columns; the vectors of a solve need {:.3g} GB at least, and "
                        "this process may use {:.3g} GB",
                        matrix, rows, columns, needed / gigabyte, available / gigabyte));
}

/// What the preconditioners are told of rows.
Options with_rows_told(Options options, std::span<const double> near_null_space, std::span<const std::int32_t> block_of_row) {
    options.factors.amg.near_null_space = near_null_space;
    options.factors.block_of_row = block_of_row;
    return options;
}

template <class T>
Outcome solve_in(const Options& wanted, const matrices::FoundMatrix& found, LiveLine& live) {
    Stopwatch watch;
    live.show(fmt::format("  reading {}", name_of(found)));
    const std::jthread rehearsal = rehearse<T>(wanted);
    const LoadedMatrix<T> loaded = load_matrix<T>(found, wanted.threads);
    Outcome outcome;
    outcome.read_seconds = watch.lap();
    outcome.matrix = name_of(found);
    outcome.generated = std::holds_alternative<matrices::Generator>(found.source);

    const auto [rows, columns] =
        std::visit([](const auto& matrix) { return std::pair(matrix.view().rows, matrix.view().columns); }, loaded.matrix);
    refuse_beyond_memory(outcome.matrix, rows, columns, sizeof(T));
    ClearedVectors<T> cleared(rows, wanted.device.kind() == Device::Kind::cuda);
    const SpmvPlan<T> a = plan_of(loaded, wanted);
    const std::vector<double> near_null_space = make_near_null_space(wanted, a.rows(), loaded.is_complex);
    const std::int64_t nonzeros = nonzeros_of(a), parts = loaded.is_complex ? 2 : 1;
    const std::vector<std::int32_t> block_of_row = make_blocks(wanted.block_size, a.rows() / parts);
    const Options options = with_rows_told(wanted, near_null_space, block_of_row);
    outcome.is_complex = loaded.is_complex;
    outcome.rows = a.rows() / parts;
    outcome.columns = a.columns() / parts;
    outcome.nonzeros = loaded.is_complex ? loaded.complex_nonzeros : nonzeros;
    const bool is_system = a.rows() == a.columns() && !options.least_squares;
    if (!is_system) check_least_squares(options, outcome.rows, outcome.columns);
    if (is_system) outcome.structure = structure_of(a, nonzeros, loaded.is_complex);
    const DenseMatrix<T> rhs = make_rhs(options, a, loaded.is_complex, cleared);
    const auto initial = read_initial<T>(options, a.columns(), rhs.columns, loaded.is_complex);
    outcome.setup_seconds = watch.lap();
    outcome.spmv = a.kernel();
    outcome.storage = a.describe();
    outcome.right_hand_sides = rhs.columns;
    for (const Accuracy accuracy : accuracies(options)) {
        DenseMatrix<T> x = first_x(a, initial, rhs.columns, cleared);
        outcome.runs.push_back(is_system ? run_solve(options, accuracy, a, rhs, std::move(x), loaded.is_complex, live)
                                         : run_least_squares(options, accuracy, a, rhs, std::move(x), live));
        if (outcome.runs.back().interrupted) break;
    }
    if constexpr (std::is_same_v<T, double>)
        if (options.reference && !outcome.runs.back().interrupted)
            outcome.references = reference_runs(options, a, rhs, outcome.run(), loaded.is_complex, live);
    if (options.wants_page() && !outcome.runs.back().interrupted) outcome.products = product_errors(options, a, live);
    return outcome;
}

}  // namespace

Outcome solve(const Options& options, const matrices::FoundMatrix& found, LiveLine& live) {
    return options.precision == Precision::single_precision ? solve_in<float>(options, found, live)
                                                            : solve_in<double>(options, found, live);
}

}  // namespace solver::command
