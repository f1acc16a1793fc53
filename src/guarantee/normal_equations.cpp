#include "guarantee/normal_equations.hpp"

#include "cpu/symmetry.hpp"
#include "guarantee/decision.hpp"
#include "guarantee/factor_bound.hpp"
#include "guarantee/shifted_factors.hpp"
#include "preconditioner/klu.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver::guarantee {
namespace {

using Exponents = std::vector<std::int32_t>;

Certificate unproven(std::string reason) {
    Certificate certificate;
    certificate.reason = std::move(reason);
    return certificate;
}

/// Such that with the preparation's exponents of rows columns have norms in [2^-1/2, 2^1/2).
Exponents exponents_of_columns(const CsrView<double>& a, const Preparation& p) {
    std::vector<double> squares(static_cast<std::size_t>(a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a.column_indices[k];
            const double b = std::ldexp(a.values[k], p.row_exponents[i] + p.column_exponents[j]);
            squares[j] += b * b;
        }
    Exponents exponents = p.column_exponents;
    for (std::size_t j = 0; j < exponents.size(); ++j) {
        int exponent = 0;
        std::frexp(squares[j], &exponent);
        exponents[j] -= exponent >> 1;
    }
    return exponents;
}

/// Nothing where an entry is not scaled exactly.
std::optional<CsrMatrix<double>> scaled(const CsrView<double>& a, const Exponents& rows, const Exponents& columns) {
    CsrMatrix<double> b = convert<double>(a);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const double value = std::ldexp(a.values[k], rows[i] + columns[b.column_indices[k]]);
            const bool is_exact = magnitude(value) >= std::numeric_limits<double>::min() && is_finite(value);
            if (a.values[k] != 0 && !is_exact) return std::nullopt;
            b.values[k] = value;
        }
    return b;
}

double products_of_normal_equations(const CsrView<double>& a) {
    double products = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) products += std::pow(static_cast<double>(a.row_length(i)), 2);
    return products;
}

/// Row sums of |A| diag(x), rounded up.
std::vector<double> magnitudes_above(const CsrMatrix<double>& a, std::span<const double> x) {
    std::vector<double> sums;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        double sum = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            sum += magnitude(a.values[k]) * x[a.column_indices[k]] + smallest_subnormal<double>;
        sums.push_back(above_sum(sum, a.row_offsets[i + 1] - a.row_offsets[i]));
    }
    return sums;
}

}  // namespace

NormalEquations normal_equations(const CsrMatrix<double>& b) {
    const CsrMatrix<double> transposed = transpose(b.view());
    const auto n = static_cast<std::size_t>(b.columns);
    NormalEquations made{{b.columns, b.columns, {0}, {}, {}}};
    std::vector<double> sums(n);
    std::vector<std::int64_t> terms(n);
    std::vector<std::int32_t> touched;
    for (std::int64_t i = 0; i < b.columns; ++i) {
        for (std::int64_t e = transposed.row_offsets[i]; e < transposed.row_offsets[i + 1]; ++e) {
            const std::int32_t r = transposed.column_indices[e];
            for (std::int64_t k = b.row_offsets[r]; k < b.row_offsets[r + 1]; ++k) {
                const std::int32_t j = b.column_indices[k];
                if (terms[j]++ == 0) touched.push_back(j);
                sums[j] += transposed.values[e] * b.values[k];
            }
        }
        std::sort(touched.begin(), touched.end());
        for (const std::int32_t j : touched) {
            made.m.column_indices.push_back(j);
            made.m.values.push_back(sums[j]);
            made.most_terms = std::max(made.most_terms, terms[j]);
            sums[j] = 0;
            terms[j] = 0;
        }
        touched.clear();
        made.m.row_offsets.push_back(made.m.nonzeros());
    }
    return made;
}

double error_of_normal_equations_above(const CsrMatrix<double>& b, std::int64_t terms, std::span<const double> d) {
    const std::vector<double> rows = magnitudes_above(transpose(b.view()), magnitudes_above(b, d));
    const auto k = static_cast<double>(terms), n = static_cast<double>(b.columns);
    double most = 0, largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        most = std::max(most, d[i] * rows[i]);
        largest = std::max(largest, d[i]);
    }
    return ((k + 1) * unit_roundoff<double> * most + largest * largest * k * n * smallest_subnormal<double>)*inflation;
}

Certificate certificate_by_normal_equations(const CsrView<double>& a, const Preparation& preparation, double most_operations,
                                            const PreconditionerOptions& options) {
    constexpr double factor_operations = 1000;  // for a product in M, more or less; so k is far below 2^26
    if (products_of_normal_equations(a) > most_operations / factor_operations)
        return unproven("rows are too long for normal equations");
    const Exponents columns = exponents_of_columns(a, preparation);
    const std::optional<CsrMatrix<double>> b = scaled(a, preparation.row_exponents, columns);
    if (!b) return unproven("numbers of A are too far apart for its normal equations");
    const NormalEquations made = normal_equations(*b);
    if (!cpu::is_symmetric(made.m.view(), Device::cpu())) return unproven("places of A are stored several times");
    const Preparation of_m = prepare(made.m.view(), Ordering::amd);
    if (const double operations = predict_klu(of_m).flops; operations > most_operations)
        return unproven(fmt::format("factors of the normal equations would take {:.0e} operations, more than {:.0e}",
                                    operations, most_operations));
    const auto inverse = make_klu<double>(made.m.view(), of_m, options, Device::cpu());
    const auto found = find_least_eigenvalue(made.m.view(), of_m, *inverse, options.memory_limit);
    if (!found) return unproven("the normal equations are nearly singular");
    std::vector<double> d;
    Exponents all = columns;
    for (std::size_t j = 0; j < all.size(); ++j) {
        d.push_back(std::ldexp(1.0, found->exponents[j]));
        all[j] += found->exponents[j];
    }
    const double square = below(found->at_least - error_of_normal_equations_above(*b, made.most_terms, d));
    if (!(square > 0)) return unproven("the normal equations are nearly singular");
    return certificate_by_norm("complete factors of the normal equations", preparation.row_exponents, all,
                               below(std::sqrt(square)));
}

}  // namespace solver::guarantee
