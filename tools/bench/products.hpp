#pragma once

/// What benchmarks of y = A x share.

#include "common.hpp"
#include "matrices/random.hpp"
#include "preparation/blocks.hpp"
#include "solver/complex.hpp"
#include "solver/spmv.hpp"
#include "tools/page/exact_product.hpp"

#include <fmt/format.h>

#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace solver::bench {

template <class T>
CsrMatrix<T> load(const matrices::FoundMatrix& found, int threads) {
    if (const auto* generator = std::get_if<matrices::Generator>(&found.source)) {
        CsrMatrix<double> matrix = generator->make();
        if constexpr (std::is_same_v<T, double>)
            return matrix;
        else
            return convert<T>(matrix.view());
    }
    return read_real_form<T>(std::get<std::filesystem::path>(found.source), {.threads = threads});
}

/// Calls run(name, A) with every matrix, in every precision that is asked for.
template <class Run>
void for_each_matrix(const Options& options, const Report& report, const Run& run) {
    for (const auto& found : find_matrices(options, report)) {
        if (!found.announcement.empty()) report.note(found.announcement);
        if (options.in_double) run(name_of(found), load<double>(found, options.threads));
        if (options.in_single) run(name_of(found), load<float>(found, options.threads));
    }
}

template <class T>
std::vector<T> make_x(Vector which, std::int64_t n) {
    if (which == Vector::random) return matrices::random_vector<T>(n, 1);
    return std::vector<T>(static_cast<std::size_t>(n), T(1));
}

/// Calls with A as peers take it: with complex numbers where A is the real form of a complex matrix. The view ends with the
/// call.
template <class T, class Call>
void with_matrix_of_peers(const CsrView<T>& a, const Call& call) {
    if (!preparation::is_real_form(a)) return call(a);
    const CsrMatrix<std::complex<T>> complex = complex_form(a);
    call(complex.view());
}

/// Bytes that a product has to move.
template <class T>
double traffic(const CsrView<T>& a, std::size_t bytes_of_offset) {
    return static_cast<double>(a.nonzeros()) * (sizeof(T) + sizeof(std::int32_t)) +
           static_cast<double>(a.rows + 1) * static_cast<double>(bytes_of_offset) +
           static_cast<double>(a.columns + a.rows) * sizeof(T);
}

template <class T>
std::vector<std::pair<std::string, std::string>> parameters_of(const CsrView<T>& a, const std::string& name, Vector x,
                                                               SpmvKernel kernel) {
    return {{"matrix", name},
            {"x", std::string(to_string(x))},
            {"precision", precision_name<T>},
            {"kernel", std::string(to_string(kernel))},
            {"rows", std::to_string(a.rows)},
            {"columns", std::to_string(a.columns)},
            {"nonzeros", std::to_string(a.nonzeros())}};
}

template <class T>
std::string heading_of(const Options& options, const CsrView<T>& a, const std::string& name, Vector x, SpmvKernel kernel) {
    return fmt::format("{}: {} x {}, {} nonzeros ({}), x {}, {}, kernel {}", name, a.rows, a.columns, a.nonzeros(),
                       place_of(traffic(a, sizeof(std::int64_t)), cache_of(options)), to_string(x), precision_name<T>,
                       to_string(kernel));
}

}  // namespace solver::bench
