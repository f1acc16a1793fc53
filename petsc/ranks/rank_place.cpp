#include "ranks/rank_place.hpp"

#include "core/hash.hpp"
#include "core/krylov/updates.hpp"
#include "core/multigrid/node_pattern.hpp"
#include "core/multigrid/scale.hpp"
#include "core/multigrid/scaled_row.hpp"
#include "core/multigrid/sorted_row.hpp"
#include "core/multigrid/strength.hpp"
#include "cpu/symmetry.hpp"
#include "place.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/prolongator.hpp"
#include "preconditioner/amg/tentative.hpp"
#include "preconditioner/memory_limit.hpp"
#include "reductions.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace petscsolver {
namespace {

namespace amg = solver::amg;
using solver::CsrMatrix;
using solver::CsrView;

int count_machines(const Ranks& ranks) {
    MPI_Comm machine;
    int number = 0;
    check_mpi(MPI_Comm_split_type(ranks.comm(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    check_mpi(MPI_Comm_rank(machine, &number));
    check_mpi(MPI_Comm_free(&machine));
    return static_cast<int>(ranks.sum(std::int64_t{number == 0}));
}

double exact_norm(const Ranks& ranks, std::span<const double> x) {
    return reduced_dot(ranks.comm(), x, x, Rounding::square_root, solver::Accuracy::exact);
}

/// f(i, local number of row i) for this rank's rows.
template <class F>
void for_own_rows(const Halo& halo, const F& f) {
    for (std::int64_t i = 0; i < halo.own(); ++i) f(i, halo.first_own() + i);
}

/// This rank's rows of a square matrix and, of the rows of ranks before it that it looks at, the entries in columns that it
/// looks at; all numbered by the halo.
CsrMatrix<double> with_rows_before(const Ranks& ranks, const RankMatrix<double>& a) {
    const Halo& halo = *a.halo;
    const auto before = std::span(halo.others()).first(static_cast<std::size_t>(halo.first_own()));
    const CsrMatrix<double> of_others = rows_of(ranks, a, before);
    CsrMatrix<double> square{halo.size(), halo.size(), {0}, {}, {}};
    for (std::int64_t i = 0; i < of_others.rows; ++i) {
        for (std::int64_t k = of_others.row_offsets[i]; k < of_others.row_offsets[i + 1]; ++k) {
            const std::int32_t column = of_others.column_indices[k], local = halo.local(column);
            if (local >= halo.size() || halo.global(local) != column) continue;
            square.column_indices.push_back(local);
            square.values.push_back(of_others.values[k]);
        }
        square.row_offsets.push_back(square.nonzeros());
    }
    const std::int64_t before_own = square.nonzeros();
    square.column_indices.insert(square.column_indices.end(), a.own.column_indices.begin(), a.own.column_indices.end());
    square.values.insert(square.values.end(), a.own.values.begin(), a.own.values.end());
    for (std::int64_t i = 0; i < a.own.rows; ++i) square.row_offsets.push_back(before_own + a.own.row_offsets[i + 1]);
    square.row_offsets.resize(static_cast<std::size_t>(halo.size()) + 1, square.nonzeros());
    return square;
}

/// A matrix numbered by a halo that has nodes of so many columns as wholes; its numbers stay as they are.
RankMatrix<double> in_whole_nodes(const Ranks& ranks, const RankMatrix<double>& a, int unknowns) {
    std::vector<std::int32_t> others;
    for (const std::int32_t column : a.halo->others()) {
        const std::int32_t node = column / unknowns;
        if (!others.empty() && others.back() / unknowns == node) continue;
        for (int u = 0; u < unknowns; ++u) others.push_back(node * unknowns + u);
    }
    return renumbered(a, std::make_shared<const Halo>(ranks, a.halo->layout(), std::move(others)));
}

/// Columns with all ranks' numbers, which rise within a row.
struct GlobalRows {
    std::span<const std::int64_t> row_offsets;
    std::span<const std::int32_t> column_indices;
};

}  // namespace

std::int64_t RankPlace::default_memory_limit() const {
    const auto of_machine = static_cast<std::int64_t>(solver::memory_limit_in_bytes(0));
    return ranks_.least(of_machine) * count_machines(ranks_);
}

bool RankPlace::suits_cycle_in_floats(const View<double>& a) const {
    return ranks_.all(std::all_of(a->own.values.begin(), a->own.values.end(), amg::suits_single_precision));
}

/// Every entry below the diagonal is one above it, and there are as many of these.
bool RankPlace::is_symmetric(const View<double>& a, solver::OwnTranspose kind) const {
    const CsrMatrix<double> square = with_rows_before(ranks_, *a.matrix);
    const CsrView<double> view = square.view();
    bool symmetric = true;
    std::int64_t lower_less_upper = 0;
    for_own_rows(*a->halo, [&](std::int64_t, std::int64_t i) {
        for (std::int64_t first = view.row_offsets[i], k = first; k < view.row_offsets[i + 1]; ++k) {
            const std::int32_t j = view.column_indices[k];
            lower_less_upper += j < i ? 1 : j > i ? -1 : 0;
            if (j >= i || !symmetric) continue;
            const std::int64_t mirrored = solver::cpu::place_in_row(view, j, i, k - first);
            const auto size = [&] { return solver::cpu::diagonal_size(view, i, j); };
            symmetric = mirrored >= 0 && solver::is_mirrored(kind, a->halo->global(static_cast<std::int32_t>(i)),
                                                             a->halo->global(j), view.values[k], view.values[mirrored], size);
        }
    });
    return ranks_.sum(lower_less_upper) == 0 && ranks_.all(symmetric);
}

/// A group of rows belongs to the rank of its first one, which looks at the next rank's for the others.
int RankPlace::unknowns_per_node(const View<double>& a) const {
    constexpr std::int64_t most_unknowns = 6;
    const std::int64_t first = a->layout.begin();
    std::vector<std::int32_t> rows(static_cast<std::size_t>(std::min(a.rows, a->layout.end() + most_unknowns) - first));
    std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(first));
    const CsrMatrix<double> here = rows_of(ranks_, *a.matrix, rows);
    return amg::most_unknowns_per_node(a.rows, [&](std::int64_t nodes, int unknowns) {
        const std::int64_t begin = (first + unknowns - 1) / unknowns;
        const std::int64_t end = std::min(nodes, (a->layout.end() + unknowns - 1) / unknowns);
        std::int64_t others = 0;
        for (std::int64_t node = begin; node < end; ++node) {
            const GlobalRows of_node{std::span(here.row_offsets).subspan(node * unknowns - first), here.column_indices};
            others += amg::is_node(of_node, 0, unknowns) ? 0 : 1;
        }
        return ranks_.sum(others);
    });
}

template <class V>
std::vector<double> RankPlace::inverse_diagonal(const View<double>& a, std::int64_t& first_failure) const {
    const SquareRows<double> square(*a.matrix);
    const CsrView<double> view = square.view();
    std::vector<double> inverse(static_cast<std::size_t>(a->own.rows));
    std::int64_t first = a.rows;
    for_own_rows(*a->halo, [&](std::int64_t own, std::int64_t i) {
        const amg::DiagonalOfRow diagonal = amg::diagonal_of_row<V>(view, i);
        if (!amg::is_divisor<V>(diagonal)) first = std::min(first, a->layout.begin() + own);
        inverse[own] = solver::div_rn(1.0, diagonal.value);
    });
    first_failure = ranks_.least(first);
    return inverse;
}

template <class V>
RankMatrix<V> RankPlace::rounded(const View<double>& a) const {
    return {a.rows, a->entries, a->layout, a->halo, solver::convert<V>(a->own.view())};
}

double RankPlace::gershgorin_bound(const View<double>& a, const std::vector<double>& inverse_diagonal) const {
    const CsrView<double> own = a->own.view();
    double bound = 0;
    for (std::int64_t i = 0; i < own.rows; ++i) bound = std::max(bound, amg::gershgorin_radius(own, i, inverse_diagonal[i]));
    return ranks_.largest(bound);
}

double RankPlace::power_method(const View<double>& a, const std::vector<double>& inverse_diagonal, int iterations,
                               std::uint64_t seed) const {
    const CsrView<double> own = a->own.view();
    std::vector<double> x(static_cast<std::size_t>(a->halo->size())), y(inverse_diagonal.size());
    const std::span<double> own_x = a->halo->own_part(x);
    for (std::int64_t i = 0; i < own.rows; ++i) own_x[i] = solver::random_element<double>(seed, a->layout.begin() + i);
    double norm = exact_norm(ranks_, own_x), growth = 0;
    for (int step = 0; step < iterations && norm > 0; ++step) {
        a->halo->fill(x);
        for (std::int64_t i = 0; i < own.rows; ++i) {
            double sum = 0;
            for (std::int64_t k = own.row_offsets[i]; k < own.row_offsets[i + 1]; ++k)
                sum = solver::add_rn(sum, amg::term_of_product(own, k, x.data()));
            y[i] = amg::scaled(sum, inverse_diagonal[i], norm);
        }
        norm = growth = exact_norm(ranks_, y);
        std::copy(y.begin(), y.end(), own_x.begin());
    }
    return growth;
}

RankMatrix<double> RankPlace::symmetric_magnitudes(const View<double>& a, const View<double>& transposed) const {
    const auto halo = united(ranks_, *a->halo, *transposed->halo);
    const RankMatrix<double> one = renumbered(*a.matrix, halo), other = renumbered(*transposed.matrix, halo);
    RankMatrix<double> sum{a.rows, 0, a->layout, halo,
                           amg::symmetric_magnitudes(one.own.view(), other.own.view(), one_thread())};
    sum.entries = ranks_.sum(sum.own.nonzeros());
    return sum;
}

RankMatrix<double> RankPlace::magnitudes_of_nodes(const View<double>& a, int unknowns) const {
    const RankMatrix<double> whole = in_whole_nodes(ranks_, *a.matrix, unknowns);
    const Layout nodes = a->layout.divided(unknowns);
    std::vector<std::int32_t> others;
    for (std::size_t k = 0; k < whole.halo->others().size(); k += static_cast<std::size_t>(unknowns))
        others.push_back(whole.halo->others()[k] / unknowns);
    RankMatrix<double> of_nodes{nodes.all(), 0, nodes, std::make_shared<const Halo>(ranks_, nodes, std::move(others)),
                                amg::magnitudes_of_nodes(whole.own.view(), unknowns, one_thread())};
    of_nodes.entries = ranks_.sum(of_nodes.own.nonzeros());
    return of_nodes;
}

RankGraph RankPlace::strong_connections(const View<double>& magnitudes, double theta) const {
    const Halo& halo = *magnitudes->halo;
    const SquareRows<double> square(*magnitudes.matrix);
    const CsrView<double> view = square.view();
    std::vector<double> weight(static_cast<std::size_t>(halo.size())), largest = weight;
    const amg::Strength<CsrView<double>> strength{view, weight.data(), largest.data()};
    for_own_rows(halo, [&](std::int64_t, std::int64_t i) { weight[i] = strength.weight_of_row(view, i); });
    halo.fill(weight);
    for_own_rows(halo, [&](std::int64_t, std::int64_t i) { largest[i] = strength.largest_of_row(i); });
    halo.fill(largest);
    RankGraph strong{magnitudes->halo, {}};
    amg::Graph& graph = strong.graph;
    graph.offsets.assign(static_cast<std::size_t>(halo.first_own()) + 1, 0);
    for_own_rows(halo, [&](std::int64_t, std::int64_t i) {
        for (std::int64_t k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k)
            if (strength.is_strong(i, k, theta)) graph.neighbours.push_back(view.column_indices[k]);
        graph.offsets.push_back(std::ssize(graph.neighbours));
    });
    graph.offsets.resize(static_cast<std::size_t>(halo.size()) + 1, std::ssize(graph.neighbours));
    return strong;
}

template <class V>
RankMatrix<V> RankPlace::prolongator(const RankTentative& tentative, CsrMatrix<V> own) const {
    const std::int64_t entries = ranks_.sum(own.nonzeros());
    const Layout& rows = tentative.rows()->layout();
    return {rows.all(), entries, rows, tentative.columns(), std::move(own)};
}

template <class V>
RankMatrix<V> RankPlace::matrix_of(const RankTentative& tentative) const {
    const Halo& rows = *tentative.rows();
    return prolongator(tentative, amg::tentative_rows<V>(tentative.view(), tentative.columns()->size(), rows.first_own(),
                                                         rows.first_own() + rows.own()));
}

template <class V>
RankMatrix<V> RankPlace::smoothed_prolongator(const View<double>& a, const RankGraph& strong,
                                              const RankTentative& tentative) const {
    const Halo& rows = *tentative.rows();
    RankMatrix<double> other;
    const bool is_numbered = a->halo->others() == rows.others();
    if (!is_numbered) other = renumbered(*a.matrix, tentative.rows());
    const SquareRows<double> square(is_numbered ? *a.matrix : other);
    return prolongator(tentative, amg::smoothed_rows<V, double>({square.view(), strong.graph.view(), tentative.view()},
                                                                tentative.columns()->size(), rows.first_own(),
                                                                rows.first_own() + rows.own(), one_thread()));
}

/// From the rows of A that this rank's rows of R touch, and the rows of P that these touch. Rows of R are numbered as the
/// columns of P are, since an empty row gets its own diagonal entry; so do those of other ranks, which are left out again.
template <class V>
std::optional<RankMatrix<double>> RankPlace::galerkin_product(const View<V>& r, const View<double>& a, const View<V>& p,
                                                              std::int64_t most_entries) const {
    CsrMatrix<double> rows_of_a = rows_of(ranks_, *a.matrix, r->halo->globals());
    const auto columns_of_a = number_columns(ranks_, a->layout, rows_of_a);
    CsrMatrix<V> rows_of_p = rows_of(ranks_, *p.matrix, columns_of_a->globals());
    const auto columns_of_p = number_columns(ranks_, r->layout, rows_of_p);
    const std::int64_t before = columns_of_p->first_own(), others = std::ssize(columns_of_p->others());
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(before), 0);
    offsets.insert(offsets.end(), r->own.row_offsets.begin(), r->own.row_offsets.end());
    offsets.resize(static_cast<std::size_t>(columns_of_p->size()) + 1, r->own.nonzeros());
    const CsrView<V> rows_of_r{columns_of_p->size(), r->own.columns, offsets, r->own.column_indices, r->own.values};
    const std::int64_t most = std::min(most_entries, std::numeric_limits<std::int64_t>::max() - others) + others;
    auto product = amg::galerkin_product<V>(rows_of_r, rows_of_a.view(), rows_of_p.view(), one_thread(), most);
    if (!ranks_.all(product.has_value()) || ranks_.sum(product->nonzeros() - others) > most_entries) return std::nullopt;
    CsrMatrix<double> own{r->own.rows, r->layout.all(), {0}, {}, {}};
    const auto first = product->row_offsets[before], end = product->row_offsets[before + own.rows];
    for (std::int64_t i = 0; i < own.rows; ++i) own.row_offsets.push_back(product->row_offsets[before + i + 1] - first);
    for (std::int64_t k = first; k < end; ++k) own.column_indices.push_back(columns_of_p->global(product->column_indices[k]));
    own.values.assign(product->values.begin() + first, product->values.begin() + end);
    return rank_matrix(ranks_, r->layout, r->layout, std::move(own));
}

void RankPlace::mirror_upper_triangle(RankMatrix<double>& a) const {
    CsrMatrix<double> square = with_rows_before(ranks_, a);
    const CsrView<double> view = square.view();
    for_own_rows(*a.halo, [&](std::int64_t, std::int64_t i) { amg::mirror_row(view, square.values.data(), i); });
    std::copy_n(square.values.begin() + square.row_offsets[a.halo->first_own()], a.own.nonzeros(), a.own.values.begin());
}

/// A block belongs to the rank of its first row.
template <class V>
std::vector<std::uint64_t> RankPlace::hashes_of_blocks(const View<V>& a, std::int64_t rows_a_block) const {
    if (a.rows == 0) return {};
    const auto up = [&](std::int64_t row) { return std::min(a.rows, (row + rows_a_block - 1) / rows_a_block * rows_a_block); };
    const std::int64_t begin = up(a->layout.begin()), end = up(a->layout.end());
    std::vector<std::int32_t> rows(static_cast<std::size_t>(end - begin));
    std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(begin));
    const CsrMatrix<V> here = rows_of(ranks_, *a.matrix, rows);
    const std::int64_t mine = here.nonzeros();
    const std::vector<std::int64_t> all = ranks_.gathered(std::span<const std::int64_t>(&mine, 1));
    const std::int64_t before = std::accumulate(all.begin(), all.begin() + ranks_.rank(), std::int64_t{0});
    std::vector<std::uint64_t> hashes;
    for (std::int64_t block = 0; block < here.rows; block += rows_a_block) {
        solver::Hash hash;
        hash.add(here.view(), block, std::min(here.rows, block + rows_a_block), before);
        hashes.push_back(hash.value());
    }
    return ranks_.gathered(std::span<const std::uint64_t>(hashes));
}

template <class V>
std::vector<std::uint64_t> RankPlace::hashes_of_blocks(std::span<const View<V>> matrices, std::int64_t rows_a_block) const {
    std::vector<std::uint64_t> hashes;
    for (const View<V>& a : matrices) {
        const std::vector<std::uint64_t> of_matrix = hashes_of_blocks(a, rows_a_block);
        hashes.insert(hashes.end(), of_matrix.begin(), of_matrix.end());
    }
    return hashes;
}

#define PETSCSOLVER_RANK_PLACE_IN(V)                                                                                           \
    template std::vector<double> RankPlace::inverse_diagonal<V>(const View<double>&, std::int64_t&) const;                     \
    template RankMatrix<V> RankPlace::rounded(const View<double>&) const;                                                      \
    template RankMatrix<V> RankPlace::matrix_of(const RankTentative&) const;                                                   \
    template RankMatrix<V> RankPlace::smoothed_prolongator(const View<double>&, const RankGraph&, const RankTentative&) const; \
    template std::optional<RankMatrix<double>> RankPlace::galerkin_product(const View<V>&, const View<double>&,                \
                                                                           const View<V>&, std::int64_t) const;                \
    template std::vector<std::uint64_t> RankPlace::hashes_of_blocks(std::span<const View<V>>, std::int64_t) const;
PETSCSOLVER_RANK_PLACE_IN(float)
PETSCSOLVER_RANK_PLACE_IN(double)

}  // namespace petscsolver
