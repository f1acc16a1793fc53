#include "core/thread_pool.hpp"
#include "packed/matrix.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>

namespace solver {
namespace {

/// How many entries of an upper row, from entry k on, are parts of one complex number.
template <class T>
std::int64_t parts_at(const CsrView<T>& a, std::int64_t k, std::int64_t end) {
    const std::int32_t column = a.column_indices[k];
    return column % 2 == 0 && k + 1 < end && a.column_indices[k + 1] == column + 1 ? 2 : 1;
}

/// Whether one entry of a lower row is what an entry of the upper one becomes in it: re beside im, and im for -im. A stored
/// zero would be taken for a part that is no entry.
template <class T>
bool is_turned(const CsrView<T>& a, std::int64_t upper, std::int64_t lower) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const std::int32_t column = a.column_indices[upper];
    const T value = column % 2 == 0 ? a.values[upper] : -a.values[upper];
    return value != T(0) && a.column_indices[lower] == (column ^ 1) &&
           std::bit_cast<Bits>(a.values[lower]) == std::bit_cast<Bits>(value);
}

/// How many complex numbers this row and the next one are made of, or -1.
template <class T>
std::int64_t complex_entries(const CsrView<T>& a, std::int64_t row) {
    const std::int64_t length = a.row_length(row);
    if (a.row_length(row + 1) != length) return -1;
    const std::int64_t end = a.row_offsets[row + 1];
    std::int64_t count = 0;
    for (std::int64_t k = a.row_offsets[row]; k < end; ++count) {
        const std::int64_t parts = parts_at(a, k, end);
        for (std::int64_t part = 0; part < parts; ++part)
            if (!is_turned(a, k + part, k + length + parts - 1 - part)) return -1;
        k += parts;
    }
    return count;
}

/// of(first, last) for each thread's share of the pairs of rows.
template <class T, class Of>
void for_pairs(const CsrView<T>& a, int threads, const Of& of) {
    cpu::parallel_for(
        threads, [&](int t) { of(t, cpu::share_begin(a.rows / 2, t, threads), cpu::share_begin(a.rows / 2, t + 1, threads)); });
}

/// How many complex numbers all rows are made of, or -1: found at the first pair of rows that is none.
template <class T>
std::int64_t complex_entries(const CsrView<T>& a, int threads) {
    if (a.rows % 2 != 0 || a.columns % 2 != 0) return -1;
    std::vector<std::int64_t> found(static_cast<std::size_t>(threads));
    for_pairs(a, threads, [&](int t, std::int64_t first, std::int64_t last) {
        std::int64_t all = 0;
        for (std::int64_t i = first; all >= 0 && i < last; ++i) {
            const std::int64_t count = complex_entries(a, 2 * i);
            all = count < 0 ? -1 : all + count;
        }
        found[t] = all;
    });
    return std::ranges::min(found) < 0 ? -1 : std::accumulate(found.begin(), found.end(), std::int64_t{0});
}

}  // namespace

template <class T>
std::optional<CsrMatrix<std::complex<T>>> complex_pairs(const CsrView<T>& a, int threads) {
    const std::int64_t entries = complex_entries(a, threads);
    if (entries <= 0 || !pairs_pay(a.nonzeros(), entries)) return std::nullopt;
    CsrMatrix<std::complex<T>> pairs{a.rows / 2, a.columns / 2, {0}, {}, {}};
    pairs.row_offsets.reserve(static_cast<std::size_t>(pairs.rows) + 1);
    for (std::int64_t i = 0; i < pairs.rows; ++i) pairs.row_offsets.push_back(pairs.row_offsets[i] + complex_entries(a, 2 * i));
    pairs.column_indices.resize(static_cast<std::size_t>(entries));
    pairs.values.resize(static_cast<std::size_t>(entries));
    for_pairs(a, threads, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t end = a.row_offsets[2 * i + 1];
            std::int64_t k = a.row_offsets[2 * i];
            for (std::int64_t entry = pairs.row_offsets[i]; entry < pairs.row_offsets[i + 1]; ++entry) {
                const std::int64_t parts = parts_at(a, k, end);
                pairs.column_indices[entry] = a.column_indices[k] / 2;
                if (a.column_indices[k] % 2 == 0) pairs.values[entry].real(a.values[k]);
                if (a.column_indices[k + parts - 1] % 2 == 1) pairs.values[entry].imag(-a.values[k + parts - 1]);
                k += parts;
            }
        }
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
