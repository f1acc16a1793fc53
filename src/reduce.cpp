#include "solver/reduce.hpp"
#include "solver/error.hpp"
#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/filtered.hpp"
#include <fmt/format.h>
#include <vector>
namespace solver {
namespace {
template <class A, class T> T run(std::span<const T> x, std::span<const T> y) { A a; for (std::size_t i = 0; i < x.size(); ++i) a.add_product(x[i], y[i]); return a.result(); }
template <class T> T any_dot(std::span<const T> x, std::span<const T> y, Accuracy accuracy) {
    if (x.size() != y.size()) throw DimensionMismatch(fmt::format("dot: x has {} elements, y has {}", x.size(), y.size()));
    if (accuracy == Accuracy::fast) return run<Plain<T>>(x, y);
    return run<Dot2<T>>(x, y);
}
}
double sum(std::span<const double> x, Accuracy a, const Device&) { std::vector<double> o(x.size(), 1.0); return any_dot<double>(x, o, a); }
float sum(std::span<const float> x, Accuracy a, const Device&) { std::vector<float> o(x.size(), 1.0f); return any_dot<float>(x, o, a); }
double dot(std::span<const double> x, std::span<const double> y, Accuracy a, const Device&) { return any_dot<double>(x, y, a); }
float dot(std::span<const float> x, std::span<const float> y, Accuracy a, const Device&) { return any_dot<float>(x, y, a); }
double norm2(std::span<const double> x, Accuracy a, const Device&) { return std::sqrt(any_dot<double>(x, x, a)); }
float norm2(std::span<const float> x, Accuracy a, const Device&) { return std::sqrt(any_dot<float>(x, x, a)); }
}
