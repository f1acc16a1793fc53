#include "core/hash.hpp"
#include "core/krylov/updates.hpp"
#include "core/multigrid/scaled_row.hpp"
#include "core/multigrid/sorted_row.hpp"
#include "multigrid/place.hpp"
#include "multigrid/steps.cuh"
#include "solver/cuda/reduce.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace solver::cuda {
namespace {

/// Adds word(k) for k from begin to end in their order, by a warp: the lanes read and spread words side by side, the next ones
/// ahead of their use, and each adds all.
template <class Word>
__device__ void add_words(Hash& hash, std::int64_t begin, std::int64_t end, int lane, const Word& word) {
    const auto spread_at = [&](std::int64_t k) { return k < end ? Hash::spread(word(k)) : 0; };
    std::uint64_t next = spread_at(begin + lane);
    for (std::int64_t k = begin; k < end; k += warp_size) {
        const std::uint64_t mine = next;
        next = spread_at(k + warp_size + lane);
        if (end - k >= warp_size) {
#pragma unroll
            for (int other = 0; other < warp_size; ++other) hash.add_spread(__shfl_sync(~0u, mine, other));
        } else {
            for (int other = 0; other < end - k; ++other) hash.add_spread(__shfl_sync(~0u, mine, other));
        }
    }
}

/// What Hash makes of these rows.
template <class V>
__device__ std::uint64_t hash_of_rows(const DeviceCsrView<V>& a, std::int64_t first, std::int64_t last, int lane) {
    using Bits = std::conditional_t<sizeof(V) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    const auto* const bits = reinterpret_cast<const Bits*>(a.values);
    const std::int64_t begin = a.row_offsets[first], end = a.row_offsets[last];
    Hash hash;
    add_words(hash, first, last, lane, [&](std::int64_t row) { return static_cast<std::uint64_t>(a.row_offsets[row + 1]); });
    add_words(hash, begin, end, lane, [&](std::int64_t k) { return static_cast<std::uint64_t>(a.column_indices[k]); });
    add_words(hash, begin, end, lane, [&](std::int64_t k) { return std::uint64_t{bits[k]}; });
    return hash.value();
}

}  // namespace

std::int64_t CudaPlace::default_memory_limit() const { return free_bytes(device_) / 2; }

template <class V, class T>
DeviceArray<double> CudaPlace::inverse_diagonal(const View<T>& a, std::int64_t& first_failure) const {
    const CurrentDevice current(device_);
    DeviceArray<double> result(device_, a.rows, "an inverse diagonal");
    const Counter failure(device_, static_cast<Count>(a.rows), stream_);
    Count* const first = failure.get();
    double* const inverse = result.data();
    for_all_long("inverse_diagonal", a.rows, bytes_of_a_row(a), device_, stream_, [=] __device__(std::int64_t i) {
        const amg::DiagonalOfRow diagonal = amg::diagonal_of_row<V>(a, i);
        if (!amg::is_divisor<V>(diagonal)) atomicMin(first, static_cast<Count>(i));
        inverse[i] = div_rn(1.0, diagonal.value);
    });
    first_failure = static_cast<std::int64_t>(failure.read());
    return result;
}

template <class V, class T>
DeviceMatrix<V> CudaPlace::rounded(const View<T>& a) const {
    const CurrentDevice current(device_);
    DeviceMatrix<V> result{a.rows,
                           a.columns,
                           {device_, a.rows + 1, "row offsets of a level"},
                           {device_, a.nonzeros, "column indices of a level"},
                           {device_, a.nonzeros, "values of a level"}};
    std::int64_t* const offsets = result.row_offsets.data();
    V* const values = result.values.data();
    for_all("row offsets of a level", a.rows + 1, stream_, [=] __device__(std::int64_t i) { offsets[i] = a.row_offsets[i]; });
    for_all("values of a level", a.nonzeros, stream_,
            [=] __device__(std::int64_t k) { values[k] = static_cast<V>(a.values[k]); });
    check(cudaMemcpyAsync(result.column_indices.data(), a.column_indices,
                          static_cast<std::size_t>(result.column_indices.bytes()), cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync");
    synchronize(device_, stream_);
    return result;
}

template <class V>
DeviceArray<V> CudaPlace::rounded(const DeviceArray<double>& x) const {
    const CurrentDevice current(device_);
    DeviceArray<V> result(device_, x.size(), "a level's diagonal");
    const double* const from = x.data();
    V* const to = result.data();
    for_all("a level's diagonal", x.size(), stream_, [=] __device__(std::int64_t i) { to[i] = static_cast<V>(from[i]); });
    synchronize(device_, stream_);
    return result;
}

/// The maximum of numbers that are not negative is that of their bits, in whatever order; NaNs do not count.
template <class T>
double CudaPlace::gershgorin_bound(const View<T>& a, const DeviceArray<double>& inverse_diagonal) const {
    const CurrentDevice current(device_);
    const Counter largest(device_, 0, stream_);
    Count* const bits = largest.get();
    const double* const inverse = inverse_diagonal.data();
    for_all("gershgorin_bound", a.rows, stream_, [=] __device__(std::int64_t i) {
        const double radius = amg::gershgorin_radius(a, i, inverse[i]);
        const auto mine = static_cast<Count>(__double_as_longlong(radius));
        if (radius > 0 && mine > *static_cast<const volatile Count*>(bits)) atomicMax(bits, mine);
    });
    return std::bit_cast<double>(largest.read());
}

template <class T>
double CudaPlace::power_method(const View<T>& a, const DeviceArray<double>& inverse_diagonal, int iterations,
                               std::uint64_t seed) const {
    const CurrentDevice current(device_);
    DeviceArray<double> one(device_, a.rows, "the power method"), other(device_, a.rows, "the power method");
    const DeviceArray<double> result(device_, 1, "a norm");
    Reducer reducer(device_);
    const auto norm_of = [&](const DeviceArray<double>& v) {
        reducer.reduce(Reduction::norm2, a.rows, v.data(), nullptr, Accuracy::exact, result.data(), stream_);
        return read(result.data(), device_, stream_);
    };
    double* const first = one.data();
    for_all("a random vector", a.rows, stream_, [=] __device__(std::int64_t i) { first[i] = random_element<double>(seed, i); });
    double norm = norm_of(one), growth = 0;
    for (int k = 0; k < iterations && norm > 0; ++k) {
        const double *const x = one.data(), *const inverse = inverse_diagonal.data();
        double* const y = other.data();
        for_all_rows("a step of the power method", a.rows, stream_, [=] __device__(std::int64_t i, bool is_row, int lane) {
            const std::int64_t begin = is_row ? a.row_offsets[i] : 0, end = is_row ? a.row_offsets[i + 1] : 0;
            const double sum = sum_in_order(begin, end, lane, [&](std::int64_t e) { return amg::term_of_product(a, e, x); });
            if (is_row && lane == 0) y[i] = amg::scaled(sum, inverse[i], norm);
        });
        norm = growth = norm_of(other);
        std::swap(one, other);
    }
    return growth;
}

void CudaPlace::mirror_upper_triangle(DeviceMatrix<double>& a) const {
    const CurrentDevice current(device_);
    const View<double> view = a.view();
    double* const values = a.values.data();
    for_all("mirror_upper_triangle", a.rows, stream_, [=] __device__(std::int64_t i) { amg::mirror_row(view, values, i); });
    synchronize(device_, stream_);
}

template <class T>
CsrMatrix<T> CudaPlace::to_host(const View<T>& a) const {
    CsrMatrix<T> host{a.rows, a.columns, std::vector<std::int64_t>(static_cast<std::size_t>(a.rows + 1)),
                      std::vector<std::int32_t>(static_cast<std::size_t>(a.nonzeros)),
                      std::vector<T>(static_cast<std::size_t>(a.nonzeros))};
    if (a.rows == 0) return host;
    const CurrentDevice current(device_);
    const DeviceArray<std::int64_t> wide(device_, a.rows + 1, "row offsets");
    std::int64_t* const offsets = wide.data();
    for_all("row offsets", a.rows + 1, stream_, [=] __device__(std::int64_t i) { offsets[i] = a.row_offsets[i]; });
    wide.copy_to(host.row_offsets, stream_);
    detail::copy_to_host(device_, host.column_indices.data(), a.column_indices,
                         a.nonzeros * static_cast<std::int64_t>(sizeof(std::int32_t)), stream_);
    detail::copy_to_host(device_, host.values.data(), a.values, a.nonzeros * static_cast<std::int64_t>(sizeof(T)), stream_);
    return host;
}

template <class T>
DeviceMatrix<T> CudaPlace::from_host(const CsrMatrix<T>& a) const {
    return {a.rows,
            a.columns,
            {device_, a.row_offsets, "row offsets of a level", stream_},
            {device_, a.column_indices, "column indices of a level", stream_},
            {device_, a.values, "values of a level", stream_}};
}

/// A warp a block, those of all matrices at once: a block is a chain of steps that wait for one another.
template <class V>
std::vector<std::uint64_t> CudaPlace::hashes_of_blocks(std::span<const View<V>> matrices, std::int64_t rows_a_block) const {
    const CurrentDevice current(device_);
    std::vector<std::int64_t> first_blocks;
    std::int64_t blocks = 0;
    for (const View<V>& a : matrices) {
        first_blocks.push_back(blocks);
        blocks += (a.rows + rows_a_block - 1) / rows_a_block;
    }
    if (blocks == 0) return {};
    const DeviceArray<View<V>> views(device_, matrices, "what is to be hashed", stream_);
    const DeviceArray<std::int64_t> firsts(device_, first_blocks, "where hashes begin", stream_);
    const DeviceArray<std::uint64_t> hashes(device_, blocks, "hashes of levels");
    const View<V>* const all = views.data();
    const std::int64_t* const firsts_of = firsts.data();
    const auto count = static_cast<int>(matrices.size());
    std::uint64_t* const of_block = hashes.data();
    for_all("hashes of levels", blocks * warp_size, stream_, [=] __device__(std::int64_t t) {
        const std::int64_t block = t / warp_size;
        int which = 0;
        while (which + 1 < count && firsts_of[which + 1] <= block) ++which;
        const View<V>& a = all[which];
        const std::int64_t first = (block - firsts_of[which]) * rows_a_block;
        const std::int64_t last = std::min(first + rows_a_block, a.rows);
        const std::uint64_t hash = hash_of_rows(a, first, last, static_cast<int>(t % warp_size));
        if (t % warp_size == 0) of_block[block] = hash;
    });
    synchronize(device_, stream_);  // a copy that waits would keep other threads from launching anything
    std::vector<std::uint64_t> host(static_cast<std::size_t>(blocks));
    hashes.copy_to(host, stream_);
    return host;
}

template DeviceArray<double> CudaPlace::inverse_diagonal<float>(const View<float>&, std::int64_t&) const;
template DeviceArray<double> CudaPlace::inverse_diagonal<float>(const View<double>&, std::int64_t&) const;
template DeviceArray<double> CudaPlace::inverse_diagonal<double>(const View<double>&, std::int64_t&) const;
template DeviceMatrix<float> CudaPlace::rounded<float>(const View<float>&) const;
template DeviceMatrix<float> CudaPlace::rounded<float>(const View<double>&) const;
template DeviceMatrix<double> CudaPlace::rounded<double>(const View<float>&) const;
template DeviceMatrix<double> CudaPlace::rounded<double>(const View<double>&) const;
template DeviceArray<float> CudaPlace::rounded<float>(const DeviceArray<double>&) const;
template DeviceArray<double> CudaPlace::rounded<double>(const DeviceArray<double>&) const;
template double CudaPlace::gershgorin_bound(const View<float>&, const DeviceArray<double>&) const;
template double CudaPlace::gershgorin_bound(const View<double>&, const DeviceArray<double>&) const;
template double CudaPlace::power_method(const View<float>&, const DeviceArray<double>&, int, std::uint64_t) const;
template double CudaPlace::power_method(const View<double>&, const DeviceArray<double>&, int, std::uint64_t) const;
template CsrMatrix<float> CudaPlace::to_host(const View<float>&) const;
template CsrMatrix<double> CudaPlace::to_host(const View<double>&) const;
template DeviceMatrix<float> CudaPlace::from_host(const CsrMatrix<float>&) const;
template DeviceMatrix<double> CudaPlace::from_host(const CsrMatrix<double>&) const;
template std::vector<std::uint64_t> CudaPlace::hashes_of_blocks(std::span<const View<float>>, std::int64_t) const;
template std::vector<std::uint64_t> CudaPlace::hashes_of_blocks(std::span<const View<double>>, std::int64_t) const;

}  // namespace solver::cuda
