#include "multigrid/row_products.cuh"

#include "multigrid/hashed_products.cuh"
#include "multigrid/sorted_products.cuh"

namespace solver::cuda {
namespace {

/// By the smallest tables first that are likely to suffice, the rest by larger ones, the longest by sorting.
template <class L, class B>
void multiply_all(const RowsView<L>& a, const DeviceCsrView<B>& b, const RowsWanted& wanted, const RowSink& sink,
                  Stream stream) {
    RowsLeft left{{}, a.rows};
    const auto multiply = [&]<class Shape>(Shape) {
        left = multiply_where_short<Shape>(left, a, b, wanted.order, sink, stream);
    };
    const auto is_likely_in = [&](int places) { return 5 * wanted.likely_length <= 3 * places; };
    if (is_likely_in(16) && b.nonzeros <= b.rows) multiply(HashedShape<1, 16>());
    if (is_likely_in(64)) multiply(HashedShape<8, 64>());
    if (is_likely_in(128)) multiply(HashedShape<8, 128>());
    if (is_likely_in(256)) multiply(HashedShape<16, 256>());
    multiply(HashedShape<32, 1024>());
    if (left.count > 0) SortedProduct<L, B>(a, b, wanted.order, sink, stream).multiply(left.list.part(0, left.count));
}

/// The number of entries that there is to be room for.
template <class L, class B>
std::int64_t fill(const RowsView<L>& a, const DeviceCsrView<B>& b, const RowsWanted& wanted, const ScatteredRows& to,
                  Stream stream) {
    const Counter used(b.device, 0, stream);
    const RowSink sink{to.begin.data(), to.end.data(), to.columns.data(), to.values.data(), to.columns.size(), used.get()};
    multiply_all(a, b, wanted, sink, stream);
    if (wanted.unit_if_empty)
        for_all("rows without entries", a.rows, stream, [=] __device__(std::int64_t i) {
            if (sink.begin[i] != sink.end[i]) return;
            const std::int64_t place = sink.place(i, 1);
            if (!sink.is_room_for(place, 1)) return;
            sink.columns[place] = static_cast<std::int32_t>(i);
            sink.values[place] = 1;
        });
    return static_cast<std::int64_t>(used.read());
}

}  // namespace

template <class L, class B>
std::optional<ScatteredRows> multiply_rows(const RowsView<L>& a, const DeviceCsrView<B>& b, const RowsWanted& wanted,
                                           Stream stream) {
    ScatteredRows rows{{b.device, a.rows, "the begins of rows"}, {b.device, a.rows, "the ends of rows"}, {}, {}};
    for (std::int64_t room = wanted.room, needed = 0;; room = needed) {
        rows.columns = {b.device, room, "column indices of a product"};
        rows.values = {b.device, room, "values of a product"};
        needed = fill(a, b, wanted, rows, stream);
        if (needed > wanted.most_entries) return std::nullopt;
        if (needed <= room) return rows;
    }
}

template std::optional<ScatteredRows> multiply_rows(const RowsView<float>&, const DeviceCsrView<float>&, const RowsWanted&,
                                                    Stream);
template std::optional<ScatteredRows> multiply_rows(const RowsView<float>&, const DeviceCsrView<double>&, const RowsWanted&,
                                                    Stream);
template std::optional<ScatteredRows> multiply_rows(const RowsView<double>&, const DeviceCsrView<float>&, const RowsWanted&,
                                                    Stream);
template std::optional<ScatteredRows> multiply_rows(const RowsView<double>&, const DeviceCsrView<double>&, const RowsWanted&,
                                                    Stream);

}  // namespace solver::cuda
