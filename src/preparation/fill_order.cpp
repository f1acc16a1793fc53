#include "preparation/fill_order.hpp"

#include "solver/error.hpp"

#include <amd.h>
#include <colamd.h>
#include <fmt/format.h>

#include <array>
#include <new>
#include <numeric>

namespace solver::preparation {

FillOrder natural_order(std::int64_t rows) {
    const auto n = static_cast<double>(rows);
    FillOrder result;
    result.order.resize(static_cast<std::size_t>(rows));
    std::iota(result.order.begin(), result.order.end(), 0);
    result.fill.factor_entries = n * n;
    result.fill.flops = n * (n - 1) / 2 + n * (n - 1) * (2 * n - 1) / 3;
    return result;
}

FillOrder approximate_minimum_degree(const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& columns) {
    const auto n = static_cast<std::int32_t>(offsets.size()) - 1;
    FillOrder result;
    result.order.resize(static_cast<std::size_t>(n));
    if (n == 0) return result;
    std::array<double, AMD_INFO> info;
    const std::int32_t none = 0;  // AMD wants an address even where there are no entries
    const int status =
        amd_order(n, offsets.data(), columns.empty() ? &none : columns.data(), result.order.data(), nullptr, info.data());
    if (status == AMD_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != AMD_OK)
        throw Error(fmt::format("prepare: AMD refused the pattern of a {} x {} matrix (status {})", n, n, status));
    result.fill.factor_entries = 2 * info[AMD_LNZ] + n;
    result.fill.flops = info[AMD_NDIV] + 2 * info[AMD_NMULTSUBS_LU];
    return result;
}

std::vector<std::int32_t> order_of_columns(const std::vector<std::int32_t>& offsets, std::vector<std::int32_t> rows) {
    const auto n = static_cast<std::int32_t>(offsets.size()) - 1;
    std::vector<std::int32_t> order = offsets;
    rows.resize(colamd_recommended(static_cast<std::int32_t>(rows.size()), n, n));  // with room to work in
    std::array<std::int32_t, COLAMD_STATS> stats;
    if (colamd(n, n, static_cast<std::int32_t>(rows.size()), rows.data(), order.data(), nullptr, stats.data()) == 0)
        throw Error(fmt::format("order of columns: COLAMD refused the pattern of a {} x {} matrix (status {})", n, n,
                                stats[COLAMD_STATUS]));
    order.pop_back();
    return order;
}

}  // namespace solver::preparation
