#include "core/multigrid/tentative.hpp"

#include "multigrid/place.hpp"
#include "multigrid/row_products.cuh"
#include "multigrid/steps.cuh"

#include <limits>

namespace solver::cuda {
namespace {

/// Entry by entry, the row in which it stands.
template <class T>
DeviceArray<std::int32_t> row_of_entries(const DeviceCsrView<T>& a, Stream stream) {
    DeviceArray<std::int32_t> rows(a.device, a.nonzeros, "rows of entries");
    constexpr int lanes = 8;
    for_all("rows of entries", a.rows * lanes, stream, [a, to = rows.data()] __device__(std::int64_t t) {
        const std::int64_t i = t / lanes;
        for (std::int64_t k = a.row_offsets[i] + t % lanes; k < a.row_offsets[i + 1]; k += lanes)
            to[k] = static_cast<std::int32_t>(i);
    });
    return rows;
}

/// numbers[order[k]] rises with k, equal ones in their order: what sorting by a small number gives.
struct SortedNumbers {
    DeviceArray<std::int32_t> numbers;
    DeviceArray<std::int32_t> order;
};

SortedNumbers sorted_by(const std::int32_t* numbers, std::int64_t count, std::int64_t most, int device, Stream stream) {
    const DeviceArray<std::int32_t> places(device, count, "places");
    for_all("places", count, stream, [to = places.data()] __device__(std::int64_t k) { to[k] = static_cast<std::int32_t>(k); });
    SortedNumbers sorted{{device, count, "sorted numbers"}, {device, count, "an order"}};
    if (count > 0)
        with_cub(device, "an order", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, numbers, sorted.numbers.data(), places.data(),
                                                   sorted.order.data(), count, 0, bits_below(most + 1), stream);
        });
    synchronize(device, stream);
    return sorted;
}

/// offsets[i]: the first of the sorted numbers that is i or more, for i from 0 to rows.
void find_offsets(const DeviceArray<std::int32_t>& sorted, std::int64_t rows, std::int64_t* offsets, Stream stream) {
    for_all("offsets of sorted numbers", rows + 1, stream,
            [=, number = sorted.data(), count = sorted.size()] __device__(std::int64_t i) {
                offsets[i] = partition_point(count, [=](std::int64_t k) { return number[k] < i; });
            });
}

/// F and W of SmoothedRow as a matrix whose rows are the terms of P's.
template <class T>
DeviceMatrix<double> terms_of(const amg::SmoothedRow<DeviceCsrView<T>>& rows, Stream stream) {
    const int device = rows.a.device;
    DeviceMatrix<double> terms{rows.a.rows, rows.a.rows, {device, rows.a.rows + 1, "terms of a prolongator"}, {}, {}};
    std::int64_t* const offsets = terms.row_offsets.data();
    const std::int64_t row_bytes = 2 * bytes_of_a_row(rows.a);  // its entries and its terms
    for_all_long("numbers of terms", rows.a.rows, row_bytes, device, stream,
                 [=] __device__(std::int64_t i) { offsets[i + 1] = rows.count_terms(i); });
    const std::int64_t nonzeros = sum_up(terms.row_offsets, stream);
    terms.column_indices = {device, nonzeros, "terms of a prolongator"};
    terms.values = {device, nonzeros, "terms of a prolongator"};
    std::int32_t* const columns = terms.column_indices.data();
    double* const values = terms.values.data();
    for_all_long("terms", rows.a.rows, row_bytes, device, stream, [=] __device__(std::int64_t i) {
        std::int64_t k = offsets[i];
        rows.for_each_term(i, [&](std::int32_t j, double factor) {
            columns[k] = j;
            values[k++] = factor;
        });
    });
    return terms;
}

struct IsLong {
    const std::int64_t* begin;
    const std::int64_t* end;
    std::int64_t most;
    __device__ bool operator()(std::int32_t i) const { return end[i] - begin[i] > most; }
};

/// Rows of more entries become those of T, which are shorter: 1 times their values.
void replace_long_rows(const ScatteredRows& rows, const DeviceMatrix<double>& t, std::int64_t most_entries, Stream stream) {
    const int device = rows.begin.device();
    const DeviceArray<std::int32_t> found =
        numbers_with(device, rows.begin.size(), stream, IsLong{rows.begin.data(), rows.end.data(), most_entries});
    for_all("long rows of a prolongator", found.size(), stream,
            [t = t.view(), list = found.data(), begin = rows.begin.data(), end = rows.end.data(), columns = rows.columns.data(),
             values = rows.values.data()] __device__(std::int64_t l) {
                const std::int64_t i = list[l], first = t.row_offsets[i], length = t.row_offsets[i + 1] - first;
                for (std::int64_t k = 0; k < length; ++k) {
                    columns[begin[i] + k] = t.column_indices[first + k];
                    values[begin[i] + k] = t.values[first + k];
                }
                end[i] = begin[i] + length;
            });
    synchronize(device, stream);
}

}  // namespace

template <class T>
DeviceMatrix<T> CudaPlace::transpose(const View<T>& a) const {
    const CurrentDevice current(device_);
    const DeviceArray<std::int32_t> rows = row_of_entries(a, stream_);
    const SortedNumbers sorted = sorted_by(a.column_indices, a.nonzeros, a.columns, device_, stream_);
    DeviceMatrix<T> result{a.columns,
                           a.rows,
                           {device_, a.columns + 1, "row offsets of a transpose"},
                           {device_, a.nonzeros, "column indices of a transpose"},
                           {device_, a.nonzeros, "values of a transpose"}};
    find_offsets(sorted.numbers, a.columns, result.row_offsets.data(), stream_);
    for_all("entries of a transpose", a.nonzeros, stream_,
            [a, from = sorted.order.data(), row = rows.data(), columns = result.column_indices.data(),
             values = result.values.data()] __device__(std::int64_t k) {
                columns[k] = row[from[k]];
                values[k] = a.values[from[k]];
            });
    synchronize(device_, stream_);
    return result;
}

DeviceNearNullSpace CudaPlace::space(int unknowns_per_node, int dimension, std::span<const double> vectors) const {
    return {unknowns_per_node, dimension, {device_, vectors, "the near-null space", stream_}};
}

/// The nodes of each aggregate are those sorted by aggregate; none comes first as a number beyond all.
DeviceTentative CudaPlace::tentative(Aggregates aggregates, const Space& space) const {
    const CurrentDevice current(device_);
    const int unknowns = space.unknowns_per_node, k = space.dimension > 0 ? space.dimension : unknowns;
    DeviceTentative result{std::move(aggregates), unknowns, k, {}, {k, space.dimension, {}}};
    if (space.dimension == 0) return result;
    const std::int64_t rows = result.rows(), columns = result.columns(), nodes = result.aggregates.nodes();
    const std::int32_t count = result.aggregates.count;
    result.q = {device_, rows * k, "Q of a prolongator"};
    result.space.vectors = {device_, columns * k, "the near-null space of a level"};
    result.space.vectors.fill_with_zeros(stream_);
    const DeviceArray<std::int32_t> numbers(device_, nodes, "aggregates of nodes");
    for_all("aggregates of nodes", nodes, stream_,
            [count, of = result.aggregates.of.data(), to = numbers.data()] __device__(std::int64_t i) {
                to[i] = of[i] == amg::no_aggregate ? count : of[i];
            });
    const SortedNumbers sorted = sorted_by(numbers.data(), nodes, count, device_, stream_);
    const DeviceArray<std::int64_t> offsets(device_, count + std::int64_t{1}, "nodes of aggregates");
    find_offsets(sorted.numbers, count, offsets.data(), stream_);
    for_all("vectors row by row", rows, stream_,
            [k, rows, from = space.vectors.data(), q = result.q.data()] __device__(std::int64_t i) {
                for (int c = 0; c < k; ++c) q[i * k + c] = from[c * rows + i];
            });
    for_all(
        "bases of aggregates", count, stream_,
        [k, unknowns, columns, first = offsets.data(), node = sorted.order.data(), q = result.q.data(),
         r = result.space.vectors.data()] __device__(std::int64_t aggregate) {
            amg::LocalBasis{
                node + first[aggregate], first[aggregate + 1] - first[aggregate], unknowns, k, q, r + aggregate * k, columns}
                .orthonormalize();
        });
    synchronize(device_, stream_);
    return result;
}

template <class V>
DeviceMatrix<V> CudaPlace::matrix_of(const Tentative& tentative) const {
    const CurrentDevice current(device_);
    const std::int64_t rows = tentative.rows();
    const amg::TentativeView view = tentative.view();
    DeviceMatrix<V> t{rows, tentative.columns(), {device_, rows + 1, "row offsets of a prolongator"}, {}, {}};
    std::int64_t* const offsets = t.row_offsets.data();
    for_all("lengths of T", rows, stream_, [=] __device__(std::int64_t i) {
        std::int64_t count = 0;
        if (!view.is_empty(i)) view.for_each_entry(i, [&](std::int32_t, double) { ++count; });
        offsets[i + 1] = count;
    });
    const std::int64_t nonzeros = sum_up(t.row_offsets, stream_);
    t.column_indices = {device_, nonzeros, "column indices of a prolongator"};
    t.values = {device_, nonzeros, "values of a prolongator"};
    std::int32_t* const columns = t.column_indices.data();
    V* const values = t.values.data();
    for_all("rows of T", rows, stream_, [=] __device__(std::int64_t i) {
        std::int64_t k = offsets[i];
        if (!view.is_empty(i))
            view.for_each_entry(i, [&](std::int32_t column, double value) {
                columns[k] = column;
                values[k++] = static_cast<V>(value);
            });
    });
    synchronize(device_, stream_);
    return t;
}

template <class V, class T>
DeviceMatrix<V> CudaPlace::smoothed_prolongator(const View<T>& a, const Graph& strong, const Tentative& tentative) const {
    const CurrentDevice current(device_);
    const DeviceMatrix<double> t = matrix_of<double>(tentative);
    const DeviceMatrix<double> terms = terms_of(amg::SmoothedRow<View<T>>{a, strong.view(), tentative.view()}, stream_);
    const RowsWanted wanted{
        .order = ColumnOrder::rising, .most_entries = std::numeric_limits<std::int64_t>::max(), .room = terms.nonzeros()};
    const ScatteredRows rows = *multiply_rows(rows_of(terms), t.view(), wanted, stream_);
    replace_long_rows(rows, t, amg::most_aggregates_of_a_row * tentative.columns_per_aggregate, stream_);
    return gathered<V>(rows, t.columns, stream_);
}

/// (R A) P, and the sums of R A in the order in which the processor's row meets them. Measured on grids of two and three
/// dimensions, elasticity and jumping coefficients, R A has from 0.3 to 1.2 times the entries of A.
template <class V, class T>
std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<V>& r, const View<T>& a, const View<V>& p,
                                                                std::int64_t most_entries) const {
    const CurrentDevice current(device_);
    const std::int64_t* const offsets = r.row_offsets.template as<std::int64_t>();
    const RowsView<V> restriction{r.rows, offsets, offsets + 1, r.column_indices, r.values};
    const ScatteredRows restricted = *multiply_rows(restriction, a,
                                                    {.order = ColumnOrder::first_met,
                                                     .likely_length = 4 * a.nonzeros / (5 * r.rows),
                                                     .most_entries = std::numeric_limits<std::int64_t>::max(),
                                                     .room = a.nonzeros + a.nonzeros / 4 + r.rows},
                                                    stream_);
    const auto product =
        multiply_rows(restricted.view(), p, {.unit_if_empty = true, .most_entries = most_entries, .room = a.nonzeros}, stream_);
    if (!product) return std::nullopt;
    return gathered<double>(*product, p.columns, stream_);
}

template DeviceMatrix<float> CudaPlace::transpose(const View<float>&) const;
template DeviceMatrix<double> CudaPlace::transpose(const View<double>&) const;
template DeviceMatrix<float> CudaPlace::matrix_of<float>(const Tentative&) const;
template DeviceMatrix<double> CudaPlace::matrix_of<double>(const Tentative&) const;
template DeviceMatrix<float> CudaPlace::smoothed_prolongator<float>(const View<float>&, const Graph&, const Tentative&) const;
template DeviceMatrix<float> CudaPlace::smoothed_prolongator<float>(const View<double>&, const Graph&, const Tentative&) const;
template DeviceMatrix<double> CudaPlace::smoothed_prolongator<double>(const View<double>&, const Graph&,
                                                                      const Tentative&) const;
template std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<float>&, const View<float>&,
                                                                         const View<float>&, std::int64_t) const;
template std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<float>&, const View<double>&,
                                                                         const View<float>&, std::int64_t) const;
template std::optional<DeviceMatrix<double>> CudaPlace::galerkin_product(const View<double>&, const View<double>&,
                                                                         const View<double>&, std::int64_t) const;

}  // namespace solver::cuda
