#pragma once

/// Vectors in the memory of a device: what the outer loop of the Krylov methods does with them. All only launch work on the
/// stream, but for norm2, which waits.

#include "solver/cuda/memory.hpp"
#include "solver/cuda/reduce.hpp"

#include <cstdint>

namespace solver::cuda {

template <class T>
void copy(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream);

/// out_i = random_element(seed, i)
template <class T>
void fill_random(std::uint64_t seed, const DeviceArray<T>& out, Stream stream);

/// out_i = x_i y_i
template <class T>
void multiply_elements(const DeviceArray<T>& x, const DeviceArray<T>& y, const DeviceArray<T>& out, Stream stream);

/// out_i = scale x_i, rounded to To
template <class From, class To>
void scale(double factor, const DeviceArray<From>& x, const DeviceArray<To>& out, Stream stream);

/// x = x + scale z
template <class Value, class Wide>
void add_scaled(double factor, const DeviceArray<Value>& z, const DeviceArray<Wide>& x, Stream stream);

/// x + low = x + low + scale z, as a pair again
template <class T>
void add_scaled_to_pair(double factor, const DeviceArray<T>& z, const DeviceArray<T>& x, const DeviceArray<T>& low,
                        Stream stream);

/// Memory that is free on a device.
std::int64_t free_bytes(int device);

/// ||x||, on the host, by way of `place`
template <class T>
T norm2(Reducer& reducer, const DeviceArray<T>& x, Accuracy accuracy, const DeviceArray<double>& place, Stream stream);

}  // namespace solver::cuda
