#include "packed/pairs.hpp"

#include "core/thread_pool.hpp"
#include "packed/matrix.hpp"

#include <algorithm>
#include <numeric>

namespace solver {
namespace {

/// of(thread, first, last) for each thread's share of the pairs of rows.
template <class Of>
void for_pairs(std::int64_t pairs, int threads, const Of& of) {
    cpu::parallel_for(threads,
                      [&](int t) { of(t, cpu::share_begin(pairs, t, threads), cpu::share_begin(pairs, t + 1, threads)); });
}

/// How many complex entries all rows have, or -1: found at the first pair of rows that is none.
template <class T>
std::int64_t complex_entries(const PairedRows<T>& rows, std::int64_t pairs, int threads) {
    std::vector<std::int64_t> found(static_cast<std::size_t>(threads));
    for_pairs(pairs, threads, [&](int t, std::int64_t first, std::int64_t last) {
        std::int64_t all = 0;
        for (std::int64_t i = first; all >= 0 && i < last; ++i) {
            const std::int64_t count = rows.entries(i);
            all = count < 0 ? -1 : all + count;
        }
        found[t] = all;
    });
    return std::ranges::min(found) < 0 ? -1 : std::accumulate(found.begin(), found.end(), std::int64_t{0});
}

}  // namespace

template <class T>
std::optional<CsrMatrix<std::complex<T>>> complex_pairs(const CsrView<T>& a, int threads) {
    if (a.rows % 2 != 0 || a.columns % 2 != 0) return std::nullopt;
    const PairedRows<T> rows{a.row_offsets, a.column_indices.data(), a.values.data()};
    CsrMatrix<std::complex<T>> pairs{a.rows / 2, a.columns / 2, {0}, {}, {}};
    const std::int64_t entries = complex_entries(rows, pairs.rows, threads);
    if (entries <= 0 || !pairs_pay(a.nonzeros(), entries)) return std::nullopt;
    pairs.row_offsets.reserve(static_cast<std::size_t>(pairs.rows) + 1);
    for (std::int64_t i = 0; i < pairs.rows; ++i) pairs.row_offsets.push_back(pairs.row_offsets[i] + rows.entries(i));
    pairs.column_indices.resize(static_cast<std::size_t>(entries));
    pairs.values.resize(static_cast<std::size_t>(entries));
    T* const numbers = real_view(std::span(pairs.values)).data();
    for_pairs(pairs.rows, threads, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            rows.write(i, pairs.column_indices.data() + pairs.row_offsets[i], numbers + 2 * pairs.row_offsets[i]);
    });
    return pairs;
}

template <class T>
PackedMatrix<T> pack(const CsrView<T>& a, const PackedShape& shape, int threads) {
    if (const auto pairs = complex_pairs(a, threads)) {
        const std::shared_ptr<PackedPattern> pattern = pack_pattern(pairs->view(), paired(shape), threads);
        pattern->nonzeros = a.nonzeros();
        if (pattern->long_rows == 0) return {pattern, pack_values(*pattern, pairs->view(), threads)};
    }
    const std::shared_ptr<PackedPattern> pattern = pack_pattern(a, shape, threads);
    return {pattern, pack_values(*pattern, a, threads)};
}

template <class T>
PackedMatrix<T> repack(const PackedMatrix<T>& packed, const CsrView<T>& a, const PackedShape& shape, int threads) {
    const PackedPattern& pattern = *packed.pattern;
    if (pattern.components == 1) return {packed.pattern, pack_values(pattern, a, threads)};
    if (const auto pairs = complex_pairs(a, threads)) return {packed.pattern, pack_values(pattern, pairs->view(), threads)};
    return pack(a, shape, threads);
}

template std::optional<CsrMatrix<std::complex<float>>> complex_pairs(const CsrView<float>&, int);
template std::optional<CsrMatrix<std::complex<double>>> complex_pairs(const CsrView<double>&, int);
template PackedMatrix<float> pack(const CsrView<float>&, const PackedShape&, int);
template PackedMatrix<double> pack(const CsrView<double>&, const PackedShape&, int);
template PackedMatrix<float> repack(const PackedMatrix<float>&, const CsrView<float>&, const PackedShape&, int);
template PackedMatrix<double> repack(const PackedMatrix<double>&, const CsrView<double>&, const PackedShape&, int);

}  // namespace solver
