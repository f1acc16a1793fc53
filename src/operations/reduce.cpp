#include "solver/reduce.hpp"

#include "core/check.hpp"
#include "cpu/reduce.hpp"
#include "cuda/reduce.hpp"

namespace solver {
namespace {

template <class T>
T reduce(cpu::Reduction on_cpu, cuda::Reduction on_cuda, std::span<const T> x, std::span<const T> y, Accuracy accuracy,
         const Device& device) {
    if (device.kind() == Device::Kind::cuda) return cuda::reduce(on_cuda, x, y, accuracy, device.index());
    const cpu::FloatingPointGuard guard;
    return cpu::reduce(on_cpu, static_cast<std::int64_t>(x.size()), x.data(), y.data(), accuracy, device.threads());
}

template <class T>
T any_sum(std::span<const T> x, Accuracy accuracy, const Device& device) {
    return reduce<T>(cpu::Reduction::sum, cuda::Reduction::sum, x, {}, accuracy, device);
}

template <class T>
T any_norm2(std::span<const T> x, Accuracy accuracy, const Device& device) {
    return reduce<T>(cpu::Reduction::norm2, cuda::Reduction::norm2, x, {}, accuracy, device);
}

template <class T>
void require_equal_lengths(std::span<const T> x, std::span<const T> y) {
    if (x.size() != y.size()) throw DimensionMismatch(fmt::format("dot: x has {} elements, y has {}", x.size(), y.size()));
}

template <class T>
T checked_dot(std::span<const T> x, std::span<const T> y, Accuracy accuracy, const Device& device) {
    require_equal_lengths(x, y);
    return reduce<T>(cpu::Reduction::dot, cuda::Reduction::dot, x, y, accuracy, device);
}

template <class T>
Expansion<T> expansion(bool products, std::span<const T> x, std::span<const T> y, const Device& device) {
    if (device.kind() == Device::Kind::cuda)
        return cuda::expansion<Expansion<T>>(products ? cuda::Reduction::dot : cuda::Reduction::sum, x, y, device.index());
    const cpu::FloatingPointGuard guard;
    return cpu::expansion(products, static_cast<std::int64_t>(x.size()), x.data(), y.data(), device.threads());
}

template <class T>
Expansion<T> checked_dot_expansion(std::span<const T> x, std::span<const T> y, const Device& device) {
    require_equal_lengths(x, y);
    return expansion<T>(true, x, y, device);
}

}  // namespace

double sum(std::span<const double> x, Accuracy accuracy, const Device& device) { return any_sum(x, accuracy, device); }
float sum(std::span<const float> x, Accuracy accuracy, const Device& device) { return any_sum(x, accuracy, device); }

double dot(std::span<const double> x, std::span<const double> y, Accuracy accuracy, const Device& device) {
    return checked_dot(x, y, accuracy, device);
}
float dot(std::span<const float> x, std::span<const float> y, Accuracy accuracy, const Device& device) {
    return checked_dot(x, y, accuracy, device);
}

double norm2(std::span<const double> x, Accuracy accuracy, const Device& device) { return any_norm2(x, accuracy, device); }
float norm2(std::span<const float> x, Accuracy accuracy, const Device& device) { return any_norm2(x, accuracy, device); }

Expansion<double> sum_expansion(std::span<const double> x, const Device& device) {
    return expansion<double>(false, x, {}, device);
}
Expansion<float> sum_expansion(std::span<const float> x, const Device& device) {
    return expansion<float>(false, x, {}, device);
}

Expansion<double> dot_expansion(std::span<const double> x, std::span<const double> y, const Device& device) {
    return checked_dot_expansion(x, y, device);
}
Expansion<float> dot_expansion(std::span<const float> x, std::span<const float> y, const Device& device) {
    return checked_dot_expansion(x, y, device);
}

}  // namespace solver
