#include "solver/reduce.hpp"

#include "check.hpp"
#include "cpu/reduce.hpp"

namespace solver {
namespace {

template <class T>
T checked_reduce(const char* name, cpu::Reduction reduction, std::span<const T> x, std::span<const T> y, Accuracy accuracy,
                 const Device& device) {
    require_cpu(device, name);
    const cpu::FloatingPointGuard guard;
    return cpu::reduce(reduction, static_cast<std::int64_t>(x.size()), x.data(), y.data(), accuracy, device.threads());
}

template <class T>
T checked_dot(std::span<const T> x, std::span<const T> y, Accuracy accuracy, const Device& device) {
    if (x.size() != y.size()) throw DimensionMismatch(fmt::format("dot: x has {} elements, y has {}", x.size(), y.size()));
    return checked_reduce("dot", cpu::Reduction::dot, x, y, accuracy, device);
}

}  // namespace

double sum(std::span<const double> x, Accuracy accuracy, const Device& device) {
    return checked_reduce("sum", cpu::Reduction::sum, x, {}, accuracy, device);
}
float sum(std::span<const float> x, Accuracy accuracy, const Device& device) {
    return checked_reduce("sum", cpu::Reduction::sum, x, {}, accuracy, device);
}

double dot(std::span<const double> x, std::span<const double> y, Accuracy accuracy, const Device& device) {
    return checked_dot(x, y, accuracy, device);
}
float dot(std::span<const float> x, std::span<const float> y, Accuracy accuracy, const Device& device) {
    return checked_dot(x, y, accuracy, device);
}

double norm2(std::span<const double> x, Accuracy accuracy, const Device& device) {
    return checked_reduce("norm2", cpu::Reduction::norm2, x, {}, accuracy, device);
}
float norm2(std::span<const float> x, Accuracy accuracy, const Device& device) {
    return checked_reduce("norm2", cpu::Reduction::norm2, x, {}, accuracy, device);
}

}  // namespace solver
