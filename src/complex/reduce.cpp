#include "core/floating_point_guard.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

namespace solver {
namespace {

template <class T>
using ComplexVector = std::span<const std::complex<T>>;

/// The products of x with these components are those of a part of the result: (re, -im), (im, re), (re, im), (im, -re) for
/// x^T y and x^H y.
template <class T>
std::vector<T> partners(ComplexVector<T> y, bool imaginary, bool conjugates_x) {
    std::vector<T> partners(2 * y.size());
    const T sign = imaginary == conjugates_x ? T(-1) : T(1);
    for (std::size_t i = 0; i < y.size(); ++i) {
        partners[2 * i] = imaginary ? y[i].imag() : y[i].real();
        partners[2 * i + 1] = sign * (imaginary ? y[i].real() : y[i].imag());
    }
    return partners;
}

template <class T>
std::complex<T> any_dot(ComplexVector<T> x, ComplexVector<T> y, bool conjugates_x, Accuracy accuracy, const Device& device) {
    if (x.size() != y.size()) throw DimensionMismatch(fmt::format("dot: x has {} elements, y has {}", x.size(), y.size()));
    const auto part = [&](bool imaginary) {
        const std::vector<T> other = partners<T>(y, imaginary, conjugates_x);
        return dot(real_view(x), std::span<const T>(other), accuracy, device);
    };
    return {part(false), part(true)};
}

template <class T>
std::complex<T> any_sum(ComplexVector<T> x, Accuracy accuracy, const Device& device) {
    const auto part = [&](bool imaginary) {
        std::vector<T> parts;
        parts.reserve(x.size());
        for (const std::complex<T>& z : x) parts.push_back(imaginary ? z.imag() : z.real());
        return sum(std::span<const T>(parts), accuracy, device);
    };
    return {part(false), part(true)};
}

}  // namespace

std::complex<double> sum(ComplexVector<double> x, Accuracy accuracy, const Device& device) {
    return any_sum(x, accuracy, device);
}
std::complex<float> sum(ComplexVector<float> x, Accuracy accuracy, const Device& device) {
    return any_sum(x, accuracy, device);
}

std::complex<double> dot(ComplexVector<double> x, ComplexVector<double> y, Accuracy accuracy, const Device& device) {
    return any_dot(x, y, true, accuracy, device);
}
std::complex<float> dot(ComplexVector<float> x, ComplexVector<float> y, Accuracy accuracy, const Device& device) {
    return any_dot(x, y, true, accuracy, device);
}

std::complex<double> dotu(ComplexVector<double> x, ComplexVector<double> y, Accuracy accuracy, const Device& device) {
    return any_dot(x, y, false, accuracy, device);
}
std::complex<float> dotu(ComplexVector<float> x, ComplexVector<float> y, Accuracy accuracy, const Device& device) {
    return any_dot(x, y, false, accuracy, device);
}

double norm2(ComplexVector<double> x, Accuracy accuracy, const Device& device) { return norm2(real_view(x), accuracy, device); }
float norm2(ComplexVector<float> x, Accuracy accuracy, const Device& device) { return norm2(real_view(x), accuracy, device); }

}  // namespace solver
