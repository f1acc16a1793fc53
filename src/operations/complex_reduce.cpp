#include "core/floating_point_guard.hpp"
#include "cuda/reduce.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

namespace solver {
namespace {

using cuda::ComplexReduction;

template <class T>
using ComplexVector = std::span<const std::complex<T>>;

bool is_on_cuda(const Device& device) { return device.kind() == Device::Kind::cuda; }

template <class T>
std::vector<T> parts(ComplexVector<T> x, bool imaginary) {
    std::vector<T> parts;
    parts.reserve(x.size());
    for (const std::complex<T>& z : x) parts.push_back(imaginary ? z.imag() : z.real());
    return parts;
}

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
void require_equal_lengths(ComplexVector<T> x, ComplexVector<T> y) {
    if (x.size() != y.size()) throw DimensionMismatch(fmt::format("dot: x has {} elements, y has {}", x.size(), y.size()));
}

template <class T>
std::complex<T> any_sum(ComplexVector<T> x, Accuracy accuracy, const Device& device) {
    if (is_on_cuda(device)) return cuda::reduce(ComplexReduction::sum, x, {}, accuracy, device.index());
    const auto part = [&](bool imaginary) { return sum(std::span<const T>(parts<T>(x, imaginary)), accuracy, device); };
    return {part(false), part(true)};
}

template <class T>
std::complex<T> any_dot(ComplexReduction kind, ComplexVector<T> x, ComplexVector<T> y, Accuracy accuracy,
                        const Device& device) {
    require_equal_lengths<T>(x, y);
    if (is_on_cuda(device)) return cuda::reduce(kind, x, y, accuracy, device.index());
    const auto part = [&](bool imaginary) {
        const std::vector<T> others = partners<T>(y, imaginary, kind == ComplexReduction::dot);
        return dot(real_view(x), std::span<const T>(others), accuracy, device);
    };
    return {part(false), part(true)};
}

template <class T>
ComplexExpansion<T> any_sum_expansion(ComplexVector<T> x, const Device& device) {
    if (is_on_cuda(device)) return cuda::expansion<ComplexExpansion<T>>(ComplexReduction::sum, x, {}, device.index());
    const auto part = [&](bool imaginary) { return sum_expansion(std::span<const T>(parts<T>(x, imaginary)), device); };
    return {part(false), part(true)};
}

template <class T>
ComplexExpansion<T> any_dot_expansion(ComplexReduction kind, ComplexVector<T> x, ComplexVector<T> y, const Device& device) {
    require_equal_lengths<T>(x, y);
    if (is_on_cuda(device)) return cuda::expansion<ComplexExpansion<T>>(kind, x, y, device.index());
    const auto part = [&](bool imaginary) {
        const std::vector<T> others = partners<T>(y, imaginary, kind == ComplexReduction::dot);
        return dot_expansion(real_view(x), std::span<const T>(others), device);
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
    return any_dot(ComplexReduction::dot, x, y, accuracy, device);
}
std::complex<float> dot(ComplexVector<float> x, ComplexVector<float> y, Accuracy accuracy, const Device& device) {
    return any_dot(ComplexReduction::dot, x, y, accuracy, device);
}

std::complex<double> dotu(ComplexVector<double> x, ComplexVector<double> y, Accuracy accuracy, const Device& device) {
    return any_dot(ComplexReduction::dotu, x, y, accuracy, device);
}
std::complex<float> dotu(ComplexVector<float> x, ComplexVector<float> y, Accuracy accuracy, const Device& device) {
    return any_dot(ComplexReduction::dotu, x, y, accuracy, device);
}

double norm2(ComplexVector<double> x, Accuracy accuracy, const Device& device) { return norm2(real_view(x), accuracy, device); }
float norm2(ComplexVector<float> x, Accuracy accuracy, const Device& device) { return norm2(real_view(x), accuracy, device); }

ComplexExpansion<double> sum_expansion(ComplexVector<double> x, const Device& device) { return any_sum_expansion(x, device); }
ComplexExpansion<float> sum_expansion(ComplexVector<float> x, const Device& device) { return any_sum_expansion(x, device); }

ComplexExpansion<double> dot_expansion(ComplexVector<double> x, ComplexVector<double> y, const Device& device) {
    return any_dot_expansion(ComplexReduction::dot, x, y, device);
}
ComplexExpansion<float> dot_expansion(ComplexVector<float> x, ComplexVector<float> y, const Device& device) {
    return any_dot_expansion(ComplexReduction::dot, x, y, device);
}

ComplexExpansion<double> dotu_expansion(ComplexVector<double> x, ComplexVector<double> y, const Device& device) {
    return any_dot_expansion(ComplexReduction::dotu, x, y, device);
}
ComplexExpansion<float> dotu_expansion(ComplexVector<float> x, ComplexVector<float> y, const Device& device) {
    return any_dot_expansion(ComplexReduction::dotu, x, y, device);
}

}  // namespace solver
