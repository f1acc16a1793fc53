#include "ranks/levels_of_devices.hpp"

#include "preconditioner/amg/host_place.hpp"
#include "preconditioner/amg/setup.hpp"
#include "solver/cuda.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace petscsolver {
namespace {

namespace amg = solver::amg;
using solver::CsrMatrix;
using solver::cuda::CudaPlace;

/// Alike on all ranks. On two H200 levels of 190 million entries took 9 s this way and 35 s by two processors, which share the
/// work: by that 8 ranks' processors are no slower. More than two ranks were not measured.
bool is_worth_it(const Ranks& ranks, const RankMatrix<double>& a, const Place& place) {
    constexpr int fewer_ranks_than = 8;
    constexpr double copies = 3, entry_bytes = 12;  // while A is gathered, and its levels copied
    const double bytes = copies * entry_bytes * static_cast<double>(a.entries) * ranks.size();
    return ranks.all(place.on_device()) && ranks.size() < fewer_ranks_than &&
           a.entries <= std::numeric_limits<std::int32_t>::max() &&
           bytes <= static_cast<double>(RankPlace(ranks).default_memory_limit());
}

/// One after another. Ranks may have no rows.
std::vector<double> gathered_vectors(const Ranks& ranks, const RankMultigridOptions& options, std::int64_t rows) {
    std::vector<double> all;
    for (int c = 0; c < options.vectors; ++c) {
        const std::vector<double> one =
            ranks.gathered(options.near_null_space.subspan(static_cast<std::size_t>(c * rows), static_cast<std::size_t>(rows)));
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

struct RowRange {
    std::int64_t begin = 0, end = 0;
};

/// Of the rows of a level what the rank has of A's.
RowRange in_proportion(const Layout& to, std::int64_t rows) {
    const auto share_before = [&](std::int64_t row) {
        return static_cast<std::int64_t>(static_cast<double>(rows) *
                                         (static_cast<double>(row) / static_cast<double>(to.all())));
    };
    return {share_before(to.begin()), share_before(to.end())};
}

/// A rank's rows of a level, columns with all ranks' numbers.
template <class V>
struct ShareOfLevel {
    std::int64_t rows, next_rows;  ///< of all ranks, on this level and the next one
    CsrMatrix<V> a, prolongation, restriction;
    std::vector<V> inverse_diagonal;
    std::vector<amg::SmootherStep<V>> steps;
};

template <class V>
struct LevelsMade {
    std::vector<ShareOfLevel<V>> shared;  ///< of the finest level without A
    std::vector<solver::LevelSummary> summary;
    amg::Hierarchy<V> whole;
};

template <class V>
CsrMatrix<V> rows_of_device(const CudaPlace& place, const solver::cuda::DeviceCsrView<V>& a, const RowRange& rows) {
    const CsrMatrix<V> all = place.to_host(a);
    const std::int64_t first = all.row_offsets[rows.begin], end = all.row_offsets[rows.end];
    CsrMatrix<V> own{rows.end - rows.begin, a.columns, {}, {}, {}};
    for (std::int64_t i = rows.begin; i <= rows.end; ++i) own.row_offsets.push_back(all.row_offsets[i] - first);
    own.column_indices.assign(all.column_indices.begin() + first, all.column_indices.begin() + end);
    own.values.assign(all.values.begin() + first, all.values.begin() + end);
    return own;
}

template <class V>
std::vector<V> elements_of_device(const solver::cuda::DeviceArray<V>& all, const RowRange& rows) {
    std::vector<V> elements(static_cast<std::size_t>(all.size()));
    all.copy_to(elements);
    return {elements.begin() + rows.begin, elements.begin() + rows.end};
}

template <class V>
ShareOfLevel<V> share_of(const CudaPlace& place, const amg::Level<V, solver::cuda::OnDevice>& level, const Layout& finest,
                         bool is_finest) {
    const RowRange rows = in_proportion(finest, level.a.rows), next = in_proportion(finest, level.prolongation.columns);
    ShareOfLevel<V> share{
        level.a.rows, level.prolongation.columns, {}, {}, {}, elements_of_device(level.inverse_diagonal, rows), level.steps};
    if (!is_finest) share.a = rows_of_device<V>(place, level.a.view(), rows);
    if (share.next_rows == 0) return share;
    share.prolongation = rows_of_device<V>(place, level.prolongation.view(), rows);
    share.restriction = rows_of_device<V>(place, level.restriction.view(), next);
    return share;
}

/// By this rank alone. Nothing where that fails: what A is to be blamed for all ranks find together afterwards.
template <class V>
std::optional<LevelsMade<V>> make_levels_here(const CsrMatrix<double>& a, const Layout& finest,
                                              const RankMultigridOptions& options, std::span<const double> vectors) {
    const CudaPlace place(options.place.device);
    solver::PreconditionerOptions of_levels;
    of_levels.amg.unknowns_per_node = options.unknowns_per_node;
    of_levels.amg.near_null_space = vectors;
    try {
        auto levels = [&] {
            const solver::cuda::DeviceCsrMatrix<double> there(options.place.device, a.view());
            return amg::make_hierarchy<V>(there.view(), of_levels);
        }();
        const std::int64_t whole_rows = std::max(options.gathered_rows, amg::rows_to_invert);
        LevelsMade<V> made;
        auto level = levels.levels.begin();
        for (; level != levels.levels.end() && level->a.rows > whole_rows; ++level)
            made.shared.push_back(share_of<V>(place, *level, finest, made.shared.empty()));
        const auto shared = static_cast<std::ptrdiff_t>(made.shared.size());
        made.summary.assign(levels.summary.begin(), levels.summary.begin() + shared);
        levels.levels.erase(levels.levels.begin(), level);
        levels.summary.erase(levels.summary.begin(), levels.summary.begin() + shared);
        made.whole = amg::copy_to_host(levels, place);
        return made;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

Layout layout_of(const Ranks& ranks, const Layout& finest, std::int64_t rows) {
    const RowRange own = in_proportion(finest, rows);
    return {ranks, own.end - own.begin};
}

}  // namespace

template <class V>
std::optional<RankHierarchy<V>> make_levels_on_devices(const Ranks& ranks, const RankMatrix<double>& a,
                                                       const RankMultigridOptions& options) {
    if (!is_worth_it(ranks, a, options.place)) return std::nullopt;
    const std::vector<double> vectors = gathered_vectors(ranks, options, a.layout.own());
    std::optional<LevelsMade<V>> made = make_levels_here<V>(gathered(ranks, a), a.layout, options, vectors);
    if (!ranks.all(made.has_value())) return std::nullopt;
    RankHierarchy<V> levels;
    for (ShareOfLevel<V>& share : made->shared) {
        const bool is_finest = levels.shared.levels.empty();
        const Layout rows = layout_of(ranks, a.layout, share.rows), next = layout_of(ranks, a.layout, share.next_rows);
        levels.shared.levels.push_back(
            {is_finest ? RankPlace(ranks).rounded<V>(a.view()) : rank_matrix(ranks, rows, rows, std::move(share.a)),
             std::move(share.inverse_diagonal),
             std::move(share.steps),
             {},
             {}});
        if (share.next_rows == 0) continue;
        levels.shared.levels.back().prolongation = rank_matrix(ranks, rows, next, std::move(share.prolongation));
        levels.shared.levels.back().restriction = rank_matrix(ranks, next, rows, std::move(share.restriction));
    }
    levels.shared.summary = std::move(made->summary);
    levels.shared.is_symmetric = made->whole.is_symmetric;
    levels.whole = std::move(made->whole);
    return levels;
}

template std::optional<RankHierarchy<float>> make_levels_on_devices(const Ranks&, const RankMatrix<double>&,
                                                                    const RankMultigridOptions&);
template std::optional<RankHierarchy<double>> make_levels_on_devices(const Ranks&, const RankMatrix<double>&,
                                                                     const RankMultigridOptions&);

}  // namespace petscsolver
