#pragma once

/// What arrives from Python: arrays without copies, numbers for accuracies and devices.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace samebits {

namespace nb = nanobind;

/// Arrays that lie one element after the other, in the host's memory or, where the work is done there, on a CUDA device: the
/// Python side sees to that.
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig>;
template <class T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.size()};
}
template <class T>
std::span<T> view(const MutableVector<T>& array) {
    return {array.data(), array.size()};
}

/// A matrix as it lies there. Of one row or column Python's strides can be anything.
template <class View, class Array>
View dense_view(const Array& array) {
    View a{static_cast<std::int64_t>(array.shape(0)), static_cast<std::int64_t>(array.shape(1)), array.stride(0),
           array.stride(1), array.data()};
    if (a.columns <= 1) a.column_stride = a.row_stride == 1 ? std::max<std::int64_t>(a.rows, 1) : 1;
    if (a.rows <= 1) a.row_stride = a.column_stride == 1 ? std::max<std::int64_t>(a.columns, 1) : 1;
    return a;
}

/// 0, 1 or 2, which the Python side makes of the names.
inline solver::Accuracy accuracy_of(int accuracy) { return solver::all_accuracies.at(static_cast<std::size_t>(accuracy)); }

/// -1 is the processor, others are CUDA devices.
inline solver::Device device_of(int device, int threads) {
    return device < 0 ? solver::Device::cpu(threads) : solver::Device::cuda(device);
}

}  // namespace samebits
