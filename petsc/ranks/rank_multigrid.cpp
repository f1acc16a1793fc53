#include "ranks/rank_multigrid.hpp"

#include "apply.hpp"
#include "core/floating_point_guard.hpp"
#include "core/hash.hpp"
#include "core/multigrid/scale.hpp"
#include "core/row_facts.hpp"
#include "multigrid.hpp"
#include "numbers.hpp"
#include "place.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "preconditioner/amg/setup.hpp"
#include "rank_product.hpp"
#include "ranks/levels_of_devices.hpp"
#include "ranks/rank_cycle.hpp"
#include "ranks/rank_hierarchy.hpp"
#include "ranks/rank_place.hpp"
#include "real_rows.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/error.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

namespace petscsolver {
namespace {

namespace amg = solver::amg;
using solver::CsrMatrix;

/// What is wanted of a matrix before levels are made of it.
struct Finest {
    RankMatrix<double> a;
    bool is_symmetric = false;
    amg::NearNullSpace space;
};

/// A row of a parallel matrix, with all ranks' columns.
struct RowOfRank {
    std::vector<std::pair<std::int32_t, Number>> entries;

    void read(const RankBlocks& blocks, PetscInt row, PetscInt first_column) {
        entries.clear();
        const auto add = [&](const RankBlocks::Block& block, const auto& column_of) {
            for (PetscInt k = block.offsets[row]; k < block.offsets[row + 1]; ++k)
                entries.emplace_back(short_index(column_of(block.indices[k])), block.values[k]);
        };
        add(blocks.own, [&](PetscInt column) { return first_column + column; });
        if (blocks.has_ghosts(row)) add(blocks.others, [&](PetscInt column) { return blocks.ghosts[column]; });
        constexpr auto column = &std::pair<std::int32_t, Number>::first;
        if (!std::ranges::is_sorted(entries, {}, column)) std::ranges::sort(entries, {}, column);
    }
};

CsrMatrix<Number> read_rows(const RankBlocks& blocks, PetscInt first_column, PetscInt columns) {
    CsrMatrix<Number> rows{blocks.own.rows, columns, {0}, {}, {}};
    std::size_t entries = 0;
    for (const auto* block : {&blocks.own, &blocks.others})
        if (block->rows > 0) entries += static_cast<std::size_t>(block->offsets[block->rows]);
    rows.row_offsets.reserve(static_cast<std::size_t>(rows.rows) + 1);
    rows.column_indices.reserve(entries);
    rows.values.reserve(entries);
    RowOfRank row;
    for (PetscInt i = 0; i < blocks.own.rows; ++i) {
        row.read(blocks, i, first_column);
        for (const auto& [column, value] : row.entries) {
            rows.column_indices.push_back(column);
            rows.values.push_back(value);
        }
        rows.row_offsets.push_back(rows.nonzeros());
    }
    return rows;
}

/// Elements of vectors from one layout to another that differs from it by a few.
class Move {
public:
    Move(const Ranks& ranks, const Layout& from, const Layout& to, const Place& place = {})
        : rows_(to.own()), halo_(ranks, from, others(from, to)) {
        std::vector<std::int32_t> places;
        for (std::int64_t i = to.begin(); i < to.end(); ++i) places.push_back(halo_.local(static_cast<std::int32_t>(i)));
        places_ = {place, places, "numbers of rows"};
        all_ = {place, halo_.size(), "a vector and its neighbours"};
    }

    void operator()(const Place& place, const double* from, double* to) {
        apply(place, halo_.own(), Copy<double>{from, all_.data() + halo_.first_own()});
        halo_.fill(place, all_);
        apply(place, rows_, Gather<double>{places_.data(), all_.data(), to});
    }

private:
    static std::vector<std::int32_t> others(const Layout& from, const Layout& to) {
        std::vector<std::int32_t> numbers;
        for (std::int64_t i = to.begin(); i < to.end(); ++i)
            if (!from.owns(i)) numbers.push_back(static_cast<std::int32_t>(i));
        return numbers;
    }

    std::int64_t rows_;
    Halo halo_;
    PlacedArray<std::int32_t> places_;
    HaloArray<double> all_;
};

std::vector<double> moved_space(const Ranks& ranks, std::span<const double> vectors, int count, const Layout& from,
                                const Layout& to) {
    Move move(ranks, from, to);
    std::vector<double> result(static_cast<std::size_t>(count * to.own()));
    for (int c = 0; c < count; ++c) move({}, vectors.data() + c * from.own(), result.data() + c * to.own());
    return result;
}

void check(const Ranks& ranks, std::int64_t rows, const RankMultigridOptions& options) {
    amg::check_options({.unknowns_per_node = options.unknowns_per_node}, rows);
    amg::check_near_null_space(options.vectors * rows, rows);
    const auto& vectors = options.near_null_space;
    if (!ranks.all(std::all_of(vectors.begin(), vectors.end(), solver::is_finite<double>)))
        throw solver::InvalidArgument("preconditioner amg: the near-null space has a number that is not finite");
}

/// Nodes lie on one rank each, that of their first row.
Finest finest_of(const Ranks& ranks, RankMatrix<double> a, const RankMultigridOptions& options) {
    const RankPlace place(ranks);
    const int unknowns = options.unknowns_per_node > 0 ? options.unknowns_per_node : place.unknowns_per_node(a.view());
    const Layout layout = a.layout, aligned = layout.aligned(unknowns);
    Finest finest{std::move(a), false, {}};
    finest.is_symmetric = place.is_symmetric(finest.a.view(), solver::OwnTranspose::of_reals);
    if (!ranks.all(layout == aligned)) {
        std::vector<std::int32_t> rows(static_cast<std::size_t>(aligned.own()));
        std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(aligned.begin()));
        finest.a = rank_matrix(ranks, aligned, aligned, rows_of(ranks, finest.a, rows));
    }
    finest.space = {unknowns, options.vectors, moved_space(ranks, options.near_null_space, options.vectors, layout, aligned)};
    return finest;
}

amg::NearNullSpace gathered_space(const Ranks& ranks, const amg::NearNullSpace& space) {
    amg::NearNullSpace all{space.unknowns_per_node, space.dimension, {}};
    const std::size_t rows = space.dimension > 0 ? space.vectors.size() / static_cast<std::size_t>(space.dimension) : 0;
    for (int c = 0; c < space.dimension; ++c) {
        const std::vector<double> vector =
            ranks.gathered(std::span(space.vectors).subspan(static_cast<std::size_t>(c) * rows, rows));
        all.vectors.insert(all.vectors.end(), vector.begin(), vector.end());
    }
    return all;
}

template <class V>
RankHierarchy<V> make_levels(const Ranks& ranks, Finest finest, std::int64_t gathered_rows) {
    const solver::PreconditionerOptions options;
    const RankPlace over_ranks(ranks);
    amg::Setup<V, RankPlace> shared(options, over_ranks);
    shared.begin(finest.is_symmetric, std::move(finest.space));
    std::optional<RankMatrix<double>> a = std::move(finest.a);
    while (a && a->rows > std::max(gathered_rows, amg::rows_to_invert)) a = shared.template add_level<double>(a->view());
    RankHierarchy<V> levels;
    if (a) {
        const amg::HostPlace here(one_thread());
        amg::Setup<V, amg::HostPlace> whole(options, here);
        std::optional<CsrMatrix<double>> all = gathered(ranks, *a);
        a.reset();
        whole.begin(finest.is_symmetric, gathered_space(ranks, shared.space()),
                    {shared.above().levels, shared.above().bytes / ranks.size()});
        while (all) all = whole.template add_level<double>(all->view());
        levels.whole = whole.take();
    }
    levels.shared = shared.take();
    return levels;
}

/// Levels, and how their finest rows are shared out beside those of A.
template <class V>
struct RankLevels {
    Ranks ranks;
    Layout outside, inside;
    bool is_moved;  ///< where a node's rows lie on two ranks
    RankHierarchy<V> levels;
};

/// The largest amg::magnitude_bits of this rank's elements.
class LargestMagnitude {
public:
    explicit LargestMagnitude(const Place& place) : found_(place, 1, "a vector's largest element") {}

    std::uint64_t operator()(const Place& place, std::int64_t n, const double* x) {
        std::uint64_t largest = 0;
        if (place.on_device()) {
            solver::cuda::find_largest_magnitude(place.device, n, x, found_.data(), place.stream);
            copy_to_host(place, found_.data(), std::span(&largest, 1));
        } else {
            for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, amg::magnitude_bits(x[i]));
        }
        return largest;
    }

private:
    PlacedArray<std::uint64_t> found_;
};

/// z = M^-1 r with a cycle in V at a place: in float, z = 2^-k M^-1 (2^k r) with k such that 2^k r has its largest element in
/// [1, 2).
template <class V>
class PlacedMultigrid {
public:
    PlacedMultigrid(const RankLevels<V>& made, const Place& place)
        : made_(made),
          place_(place),
          largest_(place),
          cycle_(made.ranks, made.inside, made.levels.shared, made.levels.whole, place) {
        const auto rows = static_cast<std::size_t>(made.inside.own());
        if (is_mixed) scaled_ = {place, rows, "a residual in single precision"};
        if (!made.is_moved) return;
        in_.emplace(made.ranks, made.outside, made.inside, place);
        out_.emplace(made.ranks, made.inside, made.outside, place);
        r_ = {place, rows, "a residual"};
        z_ = {place, rows, "a correction"};
    }

    void apply(const double* r, double* z, solver::Accuracy accuracy, solver::cuda::Stream stream) {
        place_.stream = stream;
        if (!in_) return apply_inside(r, z, accuracy);
        (*in_)(place_, r, r_.data());
        apply_inside(r_.data(), z_.data(), accuracy);
        (*out_)(place_, z_.data(), z);
    }

private:
    static constexpr bool is_mixed = !std::is_same_v<V, double>;

    void apply_inside(const double* r, double* z, solver::Accuracy accuracy) {
        const std::int64_t rows = made_.inside.own();
        if constexpr (is_mixed) {
            const double scale = amg::scale_of(made_.ranks.largest(largest_(place_, rows, r)));
            petscsolver::apply(place_, rows, ScaleInto<double, V>{scale, r, scaled_.data()});
            const V* const found = cycle_.apply(scaled_.data(), accuracy, place_.stream);
            petscsolver::apply(place_, rows, ScaleInto<V, double>{solver::div_rn(1.0, scale), found, z});
        } else {
            petscsolver::apply(place_, rows, Copy<double>{cycle_.apply(r, accuracy, place_.stream), z});
        }
    }

    const RankLevels<V>& made_;
    Place place_;
    LargestMagnitude largest_;
    RankCycle<V> cycle_;
    PlacedArray<V> scaled_;
    std::optional<Move> in_, out_;
    PlacedArray<double> r_, z_;
};

/// Unlike preconditioners of one machine it waits, for what other ranks send, and no CUDA graph can have it: PETSc's methods
/// make none. An application is collective.
template <class V>
class RankMultigridOnDevice final : public solver::cuda::DevicePreconditioner<double> {
public:
    RankMultigridOnDevice(std::shared_ptr<const RankLevels<V>> made, int device)
        : made_(std::move(made)), multigrid_(*made_, {.device = device}) {}

    void apply(const double* r, double* z, solver::Accuracy accuracy, solver::cuda::Stream stream) override {
        const solver::cpu::FloatingPointGuard guard;
        multigrid_.apply(r, z, accuracy, stream);
    }

private:
    std::shared_ptr<const RankLevels<V>> made_;
    PlacedMultigrid<V> multigrid_;
};

template <class V>
class RankMultigrid final : public solver::Preconditioner<double> {
public:
    RankMultigrid(const Ranks& ranks, const Layout& outside, const Layout& inside, RankHierarchy<V> levels)
        : made_(std::make_shared<const RankLevels<V>>(
              RankLevels<V>{ranks, outside, inside, !ranks.all(outside == inside), std::move(levels)})) {}

    void apply(std::span<const double> r, std::span<double> z, solver::Accuracy accuracy) const override {
        const solver::cpu::FloatingPointGuard guard;
        if (!here_) here_.emplace(*made_, Place());
        here_->apply(r.data(), z.data(), accuracy, nullptr);
    }

    std::unique_ptr<solver::cuda::DevicePreconditioner<double>> on_device(int device) const override {
        return std::make_unique<RankMultigridOnDevice<V>>(made_, device);
    }

    std::int64_t factor_entries() const override {
        const RankHierarchy<V>& levels = made_->levels;
        std::int64_t entries = levels.whole.coarsest_inverse.nonzeros() - levels.summary().front().nonzeros;
        for (const auto& level : levels.shared.levels) entries += level.a.nonzeros() + level.prolongation.nonzeros();
        for (const auto& level : levels.whole.levels) entries += level.a.nonzeros() + level.prolongation.nonzeros();
        return entries;
    }
    std::uint64_t factor_hash() const override {
        solver::Hash hash;
        amg::add_levels(hash, made_->levels.shared, RankPlace(made_->ranks));
        amg::add_levels(hash, made_->levels.whole, amg::HostPlace(one_thread()));
        hash.add(made_->levels.whole.coarsest_inverse.view());
        return hash.value();
    }
    std::vector<solver::LevelSummary> levels() const override { return made_->levels.summary(); }
    bool is_symmetric() const override { return made_->levels.shared.is_symmetric; }

private:
    std::shared_ptr<const RankLevels<V>> made_;
    mutable std::optional<PlacedMultigrid<V>> here_;  ///< once it is asked for
};

/// As one processor does (amg::Setup).
void mirror_what_rounding_set_apart(const RankPlace& place, RankMatrix<double>& a) {
    if (place.is_symmetric(a.view(), solver::OwnTranspose::of_reals)) return;
    if (place.is_symmetric(a.view(), solver::OwnTranspose::of_rounded_reals)) place.mirror_upper_triangle(a);
}

template <class V>
std::unique_ptr<solver::Preconditioner<double>> make_in(const Ranks& ranks, RankMatrix<double> a,
                                                        const RankMultigridOptions& options) {
    const Layout outside = a.layout;
    mirror_what_rounding_set_apart(RankPlace(ranks), a);
    if (auto levels = make_levels_on_devices<V>(ranks, a, options))
        return std::make_unique<RankMultigrid<V>>(ranks, outside, outside, std::move(*levels));
    Finest finest = finest_of(ranks, std::move(a), options);
    const Layout inside = finest.a.layout;
    return std::make_unique<RankMultigrid<V>>(ranks, outside, inside,
                                              make_levels<V>(ranks, std::move(finest), options.gathered_rows));
}

}  // namespace

RankMatrix<double> read_matrix(const Ranks& ranks, Mat a) {
    RankBlocks blocks;
    PetscInt columns, first_column;
    PetscCallAbort(ranks.comm(), MatGetSize(a, nullptr, &columns));
    PetscCallAbort(ranks.comm(), MatGetOwnershipRangeColumn(a, &first_column, nullptr));
    short_index(columns);
    PetscCallAbort(ranks.comm(), RankBlocks::of(a, &blocks));
    const Layout layout(ranks, std::int64_t{real_parts} * blocks.own.rows);
    return rank_matrix(ranks, layout, layout, real_matrix(read_rows(blocks, first_column, columns)));
}

std::unique_ptr<solver::Preconditioner<double>> make_rank_multigrid(const Ranks& ranks, RankMatrix<double> a,
                                                                    const RankMultigridOptions& options) {
    const solver::cpu::FloatingPointGuard guard;
    if (a.rows == 0)
        return solver::make_preconditioner<double>(solver::PreconditionerKind::amg, CsrMatrix<double>{0, 0, {0}, {}, {}}.view(),
                                                   solver::Accuracy::exact, one_thread());
    check(ranks, a.rows, options);
    return RankPlace(ranks).suits_cycle_in_floats(a.view()) ? make_in<float>(ranks, std::move(a), options)
                                                            : make_in<double>(ranks, std::move(a), options);
}

}  // namespace petscsolver
