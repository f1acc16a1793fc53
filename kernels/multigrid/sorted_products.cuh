#pragma once

/// Rows of any length as sums of terms that are written down and sorted: stable, so that the terms of an element keep their
/// order (Dalton, Olson, Bell, ACM TOMS 41(4), 2015).

#include "multigrid/row_products.cuh"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace solver::cuda {

/// Some rows of a product.
template <class L, class B>
class SortedProduct {
public:
    SortedProduct(const RowsView<L>& a, const DeviceCsrView<B>& b, ColumnOrder order, const RowSink& sink, Stream stream)
        : device_(b.device), a_(a), b_(b), order_(order), sink_(sink), stream_(stream) {}

    /// The rows of a list, in batches of so many products at most, or a single row.
    void multiply(const DeviceArray<std::int32_t>& list) const {
        constexpr std::int64_t most_products = std::int64_t{1} << 27;
        const std::vector<std::int64_t> products = products_of(list);
        for (std::int64_t first = 0, next = 0; first < list.size(); first = next) {
            std::int64_t sum = 0;
            while (next < list.size() && (next == first || sum + products[next] <= most_products)) sum += products[next++];
            multiply(list.data() + first, next - first);
        }
    }

    void multiply(const std::int32_t* list, std::int64_t rows) const;

    // Its steps, which the compiler wants to be public for the kernels in them.

    struct Elements {
        std::int64_t count;
        DeviceArray<std::uint64_t> keys;  // row in the list, column
        DeviceArray<double> values;
        DeviceArray<std::int32_t> first;  // of its terms
    };

    std::vector<std::int64_t> products_of(const DeviceArray<std::int32_t>& list) const;
    Elements sum_terms(const DeviceArray<std::uint64_t>& keys, const DeviceArray<double>& values, std::int64_t rows) const;
    void sort_by_first_term(Elements& elements) const;
    void store(const Elements& elements, const std::int32_t* list, std::int64_t rows) const;

private:
    int device_;
    RowsView<L> a_;
    DeviceCsrView<B> b_;
    ColumnOrder order_;
    RowSink sink_;
    Stream stream_;
};

template <class L, class B>
std::vector<std::int64_t> SortedProduct<L, B>::products_of(const DeviceArray<std::int32_t>& list) const {
    const DeviceArray<std::int64_t> products(device_, list.size(), "numbers of products");
    for_all("numbers of products", list.size(), stream_,
            [a = a_, b = b_, rows = list.data(), count = products.data()] __device__(std::int64_t l) {
                std::int64_t sum = 0;
                for (std::int64_t k = a.begin[rows[l]]; k < a.end[rows[l]]; ++k)
                    sum += b.row_offsets[a.columns[k] + 1] - b.row_offsets[a.columns[k]];
                count[l] = sum;
            });
    std::vector<std::int64_t> host(static_cast<std::size_t>(list.size()));
    products.copy_to(host, stream_);
    return host;
}

template <class L, class B>
void SortedProduct<L, B>::multiply(const std::int32_t* list, std::int64_t rows) const {
    const auto a = a_;
    const auto b = b_;
    const DeviceArray<std::int64_t> first_terms(device_, rows + 1, "terms of a product");
    std::int64_t* const first_term = first_terms.data();
    for_all("terms of rows", rows, stream_,
            [=] __device__(std::int64_t l) { first_term[l + 1] = a.end[list[l]] - a.begin[list[l]]; });
    const std::int64_t terms = sum_up(first_terms, stream_);
    const DeviceArray<std::int64_t> first_products(device_, terms + 1, "products of terms");
    std::int64_t* const first_product = first_products.data();
    const auto entry_of = [=] __device__(std::int64_t term, std::int64_t l) { return a.begin[list[l]] + term - first_term[l]; };
    for_all("products of terms", terms, stream_, [=] __device__(std::int64_t term) {
        const std::int32_t j = a.columns[entry_of(term, last_at_most(first_term, rows - 1, term))];
        first_product[term + 1] = b.row_offsets[j + 1] - b.row_offsets[j];
    });
    const std::int64_t products = sum_up(first_products, stream_);
    if (products > std::numeric_limits<std::int32_t>::max())
        throw ResourceLimit("preconditioner amg: a row of the next level's matrix is a sum of " + std::to_string(products) +
                            " products, more than a device sorts; what may help: the processor, jacobi");
    const DeviceArray<std::uint64_t> keys(device_, products, "places of products");
    const DeviceArray<double> values(device_, products, "products");
    std::uint64_t* const key = keys.data();
    double* const value = values.data();
    for_all("products", products, stream_, [=] __device__(std::int64_t p) {
        const std::int64_t term = last_at_most(first_product, terms - 1, p);
        const std::int64_t l = last_at_most(first_term, rows - 1, term), k = entry_of(term, l);
        const std::int64_t other = b.row_offsets[a.columns[k]] + p - first_product[term];
        key[p] = static_cast<std::uint64_t>(l) << 32 | static_cast<std::uint32_t>(b.column_indices[other]);
        value[p] = mul_rn(static_cast<double>(a.values[k]), static_cast<double>(b.values[other]));
    });
    Elements elements = sum_terms(keys, values, rows);
    if (order_ == ColumnOrder::first_met) sort_by_first_term(elements);
    store(elements, list, rows);
}

struct BeginsElement {
    const std::uint64_t* key;
    __device__ bool operator()(std::int32_t p) const { return p == 0 || key[p] != key[p - 1]; }
};

template <class L, class B>
auto SortedProduct<L, B>::sum_terms(const DeviceArray<std::uint64_t>& keys, const DeviceArray<double>& values,
                                    std::int64_t rows) const -> Elements {
    const std::int64_t products = keys.size();
    const DeviceArray<std::uint64_t> sorted_keys(device_, products, "sorted places");
    const DeviceArray<std::int32_t> numbers(device_, products, "numbers of products"), order(device_, products, "an order");
    for_all("numbers of products", products, stream_,
            [to = numbers.data()] __device__(std::int64_t p) { to[p] = static_cast<std::int32_t>(p); });
    if (products > 0)
        with_cub(device_, "terms of a product", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), sorted_keys.data(), numbers.data(),
                                                   order.data(), products, 0, 32 + bits_below(rows), stream_);
        });
    const DeviceArray<std::int32_t> heads = numbers_with(device_, products, stream_, BeginsElement{sorted_keys.data()});
    Elements elements{heads.size(),
                      {device_, heads.size(), "places of elements"},
                      {device_, heads.size(), "elements of a product"},
                      {device_, heads.size(), "first terms"}};
    for_all("sums of terms", heads.size(), stream_,
            [products, count = heads.size(), head = heads.data(), from = sorted_keys.data(), term = order.data(),
             product = values.data(), key = elements.keys.data(), value = elements.values.data(),
             first = elements.first.data()] __device__(std::int64_t e) {
                const std::int64_t begin = head[e], end = e + 1 < count ? head[e + 1] : products;
                double sum = 0;
                for (std::int64_t p = begin; p < end; ++p) sum = add_rn(sum, product[term[p]]);
                key[e] = from[begin];
                value[e] = sum;
                first[e] = term[begin];
            });
    synchronize(device_, stream_);
    return elements;
}

/// Terms of one row come before those of the next, so that rows stay together.
template <class L, class B>
void SortedProduct<L, B>::sort_by_first_term(Elements& elements) const {
    const std::int64_t count = elements.count;
    if (count == 0) return;
    Elements sorted{count,
                    {device_, count, "places of elements"},
                    {device_, count, "elements of a product"},
                    {device_, count, "first terms"}};
    const DeviceArray<std::int32_t> numbers(device_, count, "numbers of elements"), order(device_, count, "an order");
    for_all("numbers of elements", count, stream_,
            [to = numbers.data()] __device__(std::int64_t e) { to[e] = static_cast<std::int32_t>(e); });
    with_cub(device_, "elements of a product", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, elements.first.data(), sorted.first.data(), numbers.data(),
                                               order.data(), count, 0, 32, stream_);
    });
    for_all("elements in order", count, stream_,
            [from = order.data(), old_key = elements.keys.data(), old_value = elements.values.data(), key = sorted.keys.data(),
             value = sorted.values.data()] __device__(std::int64_t e) {
                key[e] = old_key[from[e]];
                value[e] = old_value[from[e]];
            });
    synchronize(device_, stream_);
    elements = std::move(sorted);
}

template <class L, class B>
void SortedProduct<L, B>::store(const Elements& elements, const std::int32_t* list, std::int64_t rows) const {
    const auto sink = sink_;
    const std::int64_t count = elements.count;
    const std::uint64_t* const key = elements.keys.data();
    const double* const value = elements.values.data();
    const DeviceArray<std::int64_t> begins(device_, rows + 1, "elements of rows");
    std::int64_t* const begin = begins.data();
    for_all("elements of rows", rows + 1, stream_, [=] __device__(std::int64_t l) {
        std::int64_t low = 0, high = count;  // the first element of row l or a later one
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (static_cast<std::int64_t>(key[middle] >> 32) < l)
                low = middle + 1;
            else
                high = middle;
        }
        begin[l] = low;
    });
    for_all("places of rows", rows, stream_, [=] __device__(std::int64_t l) { sink.place(list[l], begin[l + 1] - begin[l]); });
    for_all("rows of a product", count, stream_, [=] __device__(std::int64_t e) {
        const auto l = static_cast<std::int64_t>(key[e] >> 32);
        const std::int64_t first = sink.begin[list[l]];
        if (!sink.is_room_for(first, begin[l + 1] - begin[l])) return;
        sink.columns[first + e - begin[l]] = static_cast<std::int32_t>(key[e] & 0xFFFFFFFF);
        sink.values[first + e - begin[l]] = value[e];
    });
    synchronize(device_, stream_);
}

}  // namespace solver::cuda
