#pragma once

/// Vectors in the memory of a device: what the Krylov methods do with them. All only launch work on the stream, but for norm2
/// and dots, which wait. Updates round as core/krylov/updates.hpp says.

#include "solver/cuda/memory.hpp"
#include "solver/cuda/reduce.hpp"
#include "solver/cuda/spmv.hpp"

#include <complex>
#include <cstdint>
#include <span>

namespace solver::cuda {

template <class T>
void copy(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream);

/// out_i = random_element(seed, i)
template <class T>
void fill_random(std::uint64_t seed, const DeviceArray<T>& out, Stream stream);

/// out_i = x_i y_i
template <class T>
void multiply_elements(const DeviceArray<T>& x, const DeviceArray<T>& y, const DeviceArray<T>& out, Stream stream);

/// out_i = scale x_i, rounded to To; out may be x
template <class From, class To>
void scale(double factor, const DeviceArray<From>& x, const DeviceArray<To>& out, Stream stream);

/// out_i = factor x_i, a power of two; and whether one of them has lost bits (is_exact_multiple): 1, else 0
template <class T>
void scale_without_rounding(T factor, const DeviceArray<T>& x, const DeviceArray<T>& out,
                            const DeviceArray<std::int32_t>& has_lost, Stream stream);

/// x = x + scale z
template <class Value, class Wide>
void add_scaled(double factor, const DeviceArray<Value>& z, const DeviceArray<Wide>& x, Stream stream);

/// x + low = x + low + scale z, as a pair again
template <class T>
void add_scaled_to_pair(double factor, const DeviceArray<T>& z, const DeviceArray<T>& x, const DeviceArray<T>& low,
                        Stream stream);

/// out = x + a out
template <class T>
void scale_and_add(T a, const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream);

/// out = x + a (out - b y)
template <class T>
void make_direction(const DeviceArray<T>& x, T a, T b, const DeviceArray<T>& y, const DeviceArray<T>& out, Stream stream);

/// out = ((out + a_0 x_0) + a_1 x_1) + ..., one after another
template <class T>
void add_combination(std::span<const T> a, std::span<const T* const> x, const DeviceArray<T>& out, Stream stream);

/// out = (((out + Re a_0 x_0) + Im a_0 (i x_0)) + Re a_1 x_1) + ... of complex numbers, whose parts take turns; nothing is
/// added where Im a_k is 0.
template <class T>
void add_combination(std::span<const std::complex<T>> a, std::span<const T* const> x, const DeviceArray<T>& out, Stream stream);

/// y = beta y_in + alpha y of so many rows: what is left of the task where y is A x already. y is not y_in.
template <class T>
void finish_product(const RowTask<T>& task, std::int64_t rows, int device, Stream stream);

/// out = i x of complex numbers, whose parts take turns
template <class T>
void turn(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream);

/// The conjugates of complex numbers, whose parts take turns
template <class T>
void conjugate(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream);

/// ||x||, on the host, by way of `place`
template <class T>
T norm2(Reducer& reducer, const DeviceArray<T>& x, Accuracy accuracy, const DeviceArray<double>& place, Stream stream);

/// to_k = (x_k, y), on the host, by way of `places`, at least as many numbers
template <class T>
void dots(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& y, Accuracy accuracy,
          const DeviceArray<double>& places, std::span<double> to, Stream stream);

/// h_k = (x_k, y), then y = ((y - h_0 x_0) - h_1 x_1) - .... `numbers`, on the device and two more than there are x_k, get
/// ||y|| after that, all h_k, and ||y|| before it.
template <class T>
void subtract_projections(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& y, Accuracy accuracy, T* numbers,
                          Stream stream);

/// out = (1 / numbers_0) x, where the numbers are on the device; and copies so many numbers to `copies`, pinned memory of the
/// host, which is quicker than a copy on the stream.
template <class T>
void normalise(const DeviceArray<T>& x, std::span<const T> numbers, T* copies, const DeviceArray<T>& out, Stream stream);

}  // namespace solver::cuda
