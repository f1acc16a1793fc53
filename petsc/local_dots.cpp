#include "local_dots.hpp"

#include "solver/cuda.hpp"
#include "solver/cuda/partial.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <memory>

namespace petscsolver {
namespace {

using solver::Accuracy;
using solver::cuda::Factors;
using solver::cuda::PartialReducer;
using solver::cuda::Reducer;
using Expansion = solver::Expansion<double>;
using Partial = solver::PartialSum<double>;

struct DeviceMemory {
    explicit DeviceMemory(int on_device)
        : device(on_device),
          partial_reducer(device),
          reducer(device),
          partials(device, PartialReducer::most_dots, "partial sums"),
          sums(device, PartialReducer::most_dots, "sums"),
          expansion(device, 1, "an exact sum") {}

    int device;
    PartialReducer partial_reducer;
    Reducer reducer;
    solver::cuda::DeviceArray<Partial> partials;
    solver::cuda::DeviceArray<double> sums;
    solver::cuda::DeviceArray<Expansion> expansion;
};

std::unique_ptr<DeviceMemory>& memory() {
    static std::unique_ptr<DeviceMemory> the_memory;
    return the_memory;
}

DeviceMemory& memory_on(const Place& place) {
    if (!memory() || memory()->device != place.device) memory() = std::make_unique<DeviceMemory>(place.device);
    return *memory();
}

/// call(products, first) for as many products at a time as one pass over the vectors takes.
template <class Call>
void in_passes(Span x, std::span<const Span> ys, const Call& call) {
    for (std::size_t first = 0; first < ys.size(); first += PartialReducer::most_dots) {
        std::vector<Factors<double>> products;
        for (std::size_t j = first; j < std::min(ys.size(), first + PartialReducer::most_dots); ++j)
            products.push_back({x.data(), ys[j].data()});
        call(std::span<const Factors<double>>(products), first);
    }
}

std::vector<double> copied_to_host(const Place& place, Span x) {
    std::vector<double> copy(x.size());
    solver::cuda::detail::copy_to_host(place.device, copy.data(), x.data(), static_cast<std::int64_t>(x.size_bytes()),
                                       place.stream);
    return copy;
}

/// The dot product without any rounding, unless its is_exact says otherwise.
Expansion expanded_dot(const Place& place, Span x, Span y) {
    DeviceMemory& there = memory_on(place);
    there.reducer.expand(solver::cuda::Reduction::dot, static_cast<std::int64_t>(x.size()), x.data(), y.data(),
                         there.expansion.data(), place.stream);
    Expansion result;
    there.expansion.copy_to({&result, 1}, place.stream);
    return result;
}

solver::SumDigits digits_of(const Expansion& expansion) {
    solver::Superaccumulator sum;
    for (const double component : expansion.components()) sum.add(component);
    return solver::SumDigits(sum);
}

}  // namespace

std::vector<Partial> partial_dots(const Place& place, Span x, std::span<const Span> ys) {
    if (!place.on_device()) return solver::partial_dots(x, ys, one_thread());
    std::vector<Partial> partials(ys.size());
    if (x.empty()) return partials;
    DeviceMemory& there = memory_on(place);
    in_passes(x, ys, [&](std::span<const Factors<double>> products, std::size_t first) {
        there.partial_reducer.dots(static_cast<std::int64_t>(x.size()), products, there.partials.data(), place.stream);
        there.partials.copy_to(std::span(partials).subspan(first, products.size()), place.stream);
    });
    return partials;
}

solver::SumDigits dot_digits(const Place& place, Span x, Span y) {
    if (!place.on_device()) return solver::dot_digits(x, y, one_thread());
    if (x.empty()) return {};
    if (const Expansion sum = expanded_dot(place, x, y); sum.is_exact) return digits_of(sum);
    return solver::dot_digits(copied_to_host(place, x), copied_to_host(place, y), one_thread());
}

void plain_dots(const Place& place, Span x, std::span<const Span> ys, double* results) {
    if (!place.on_device()) {
        for (std::size_t j = 0; j < ys.size(); ++j) results[j] = solver::dot(x, ys[j], Accuracy::fast, one_thread());
        return;
    }
    DeviceMemory& there = memory_on(place);
    in_passes(x, ys, [&](std::span<const Factors<double>> products, std::size_t first) {
        there.reducer.dots(static_cast<std::int64_t>(x.size()), products, Accuracy::fast, there.sums.data(), place.stream);
        there.sums.copy_to({results + first, products.size()}, place.stream);
    });
}

void free_device_memory() { memory().reset(); }

}  // namespace petscsolver
