#include "singularity.hpp"

#include <fmt/format.h>
#include <klu.h>

#include <memory>
#include <vector>

namespace solver::bench {

std::string singularity(const CsrView<double>& a) {
    constexpr double gigabyte = 1e9, bytes_an_entry = 12;
    const auto n = static_cast<int>(a.rows);
    std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    std::vector<int> indices(a.column_indices.begin(), a.column_indices.end());
    std::vector<double> values(a.values.begin(), a.values.end());
    klu_common common;
    klu_defaults(&common);

    // The rows are taken for columns: the rank of the transposed matrix is the same.
    const auto free_symbolic = [&](klu_symbolic* symbolic) { klu_free_symbolic(&symbolic, &common); };
    const std::unique_ptr<klu_symbolic, decltype(free_symbolic)> symbolic(
        klu_analyze(n, offsets.data(), indices.data(), &common), free_symbolic);
    if (common.structural_rank >= 0 && common.structural_rank < n)
        return fmt::format("structurally singular (rank {} of {})", common.structural_rank, n);
    if (symbolic == nullptr || bytes_an_entry * (symbolic->lnz + symbolic->unz) > gigabyte) return "unknown";

    const auto free_numeric = [&](klu_numeric* numeric) { klu_free_numeric(&numeric, &common); };
    const std::unique_ptr<klu_numeric, decltype(free_numeric)> numeric(
        klu_factor(offsets.data(), indices.data(), values.data(), symbolic.get(), &common), free_numeric);
    if (common.status == KLU_SINGULAR) return "numerically singular";
    return numeric != nullptr && common.status == KLU_OK ? "regular" : "unknown";
}

}  // namespace solver::bench
