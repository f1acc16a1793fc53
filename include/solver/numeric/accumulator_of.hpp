#pragma once

/// Which accumulator keeps the promise of a mode: where the run-time choice meets the templates.

#include "solver/accuracy.hpp"
#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/filtered.hpp"

#include <type_traits>

namespace solver {

/// The accumulator for values of type T.
template <class T, Accuracy accuracy>
struct AccumulatorOf;
template <class T>
struct AccumulatorOf<T, Accuracy::fast> : std::type_identity<Plain<T>> {};
template <>
struct AccumulatorOf<double, Accuracy::compensated> : std::type_identity<Dot2<double>> {};
template <>
struct AccumulatorOf<float, Accuracy::compensated> : std::type_identity<FloatInDouble> {};
template <>
struct AccumulatorOf<double, Accuracy::exact> : std::type_identity<FilteredTriple<double>> {};
template <>
struct AccumulatorOf<float, Accuracy::exact> : std::type_identity<FilteredFloat> {};

/// The same for floats without a double, for devices where these are slow.
template <class T, Accuracy accuracy>
struct AccumulatorInFloats;
template <>
struct AccumulatorInFloats<float, Accuracy::fast> : std::type_identity<Plain<float>> {};
template <>
struct AccumulatorInFloats<float, Accuracy::compensated> : std::type_identity<Dot2<float>> {};
template <>
struct AccumulatorInFloats<float, Accuracy::exact> : std::type_identity<FilteredTriple<float>> {};

/// Calls work(mode), whose `mode.value` is the accuracy as a constant, and returns what that gives.
template <class Work>
decltype(auto) with_accuracy(Accuracy accuracy, const Work& work) {
    switch (accuracy) {
        case Accuracy::fast:
            return work(std::integral_constant<Accuracy, Accuracy::fast>());
        case Accuracy::compensated:
            return work(std::integral_constant<Accuracy, Accuracy::compensated>());
        case Accuracy::exact:
            break;
    }
    return work(std::integral_constant<Accuracy, Accuracy::exact>());
}

}  // namespace solver
