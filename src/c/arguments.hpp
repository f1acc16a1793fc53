#pragma once

/// What arrives from C, checked: pointers, types, accuracies, devices, structs that begin with their size.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "solver/numeric/complex.hpp"
#include "solver/solver.h"
#include "solver/triangular_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace solver::c {

inline void require(bool condition, const char* function, const char* what) {
    if (!condition) throw InvalidArgument(fmt::format("{}: {}", function, what));
}

template <class T>
T& required(T* pointer, const char* function, const char* name) {
    if (pointer == nullptr) throw InvalidArgument(fmt::format("{}: {} is NULL", function, name));
    return *pointer;
}

/// n elements at `data`, which may be NULL only if there are none.
template <class T, class Void>
std::span<T> elements(Void* data, std::int64_t n, const char* function, const char* name) {
    if (n < 0) throw InvalidArgument(fmt::format("{}: {} has {} elements; expected 0 or more", function, name, n));
    if (n == 0) return {};
    return {static_cast<T*>(&required(static_cast<T*>(data), function, name)), static_cast<std::size_t>(n)};
}

/// work(T()) with the type named.
template <class Work>
void with_type(std::int32_t type, const char* function, Work&& work) {
    switch (type) {
        case SOLVER_DOUBLE:
            return work(double());
        case SOLVER_FLOAT:
            return work(float());
        default:
            throw InvalidArgument(
                fmt::format("{}: the type is {}; expected SOLVER_DOUBLE (0) or SOLVER_FLOAT (1)", function, type));
    }
}

/// work(S()) with the type named, which may be complex.
template <class Work>
void with_number(std::int32_t type, const char* function, Work&& work) {
    switch (type) {
        case SOLVER_DOUBLE:
            return work(double());
        case SOLVER_FLOAT:
            return work(float());
        case SOLVER_COMPLEX_DOUBLE:
            return work(std::complex<double>());
        case SOLVER_COMPLEX_FLOAT:
            return work(std::complex<float>());
        default:
            throw InvalidArgument(
                fmt::format("{}: the type is {}; expected SOLVER_DOUBLE (0), SOLVER_FLOAT (1), "
                            "SOLVER_COMPLEX_DOUBLE (2) or SOLVER_COMPLEX_FLOAT (3)",
                            function, type));
    }
}

template <class S>
inline constexpr std::int32_t type_of = std::is_same_v<RealOf<S>, double>
                                            ? (is_complex<S> ? SOLVER_COMPLEX_DOUBLE : SOLVER_DOUBLE)
                                            : (is_complex<S> ? SOLVER_COMPLEX_FLOAT : SOLVER_FLOAT);

inline Accuracy accuracy_of(std::int32_t accuracy, const char* function) {
    switch (accuracy) {
        case SOLVER_FAST:
            return Accuracy::fast;
        case SOLVER_COMPENSATED:
            return Accuracy::compensated;
        case SOLVER_EXACT:
            return Accuracy::exact;
        default:
            throw InvalidArgument(
                fmt::format("{}: the accuracy is {}; expected SOLVER_FAST (0), SOLVER_COMPENSATED (1) or SOLVER_EXACT (2)",
                            function, accuracy));
    }
}

inline Triangle triangle_of(std::int32_t triangle, const char* function) {
    require(triangle == SOLVER_LOWER || triangle == SOLVER_UPPER, function,
            "the triangle is neither; expected SOLVER_LOWER (0) or SOLVER_UPPER (1)");
    return triangle == SOLVER_LOWER ? Triangle::lower : Triangle::upper;
}

inline Diagonal diagonal_of(std::int32_t diagonal, const char* function) {
    require(diagonal == SOLVER_STORED_DIAGONAL || diagonal == SOLVER_UNIT_DIAGONAL, function,
            "the diagonal is neither; expected SOLVER_STORED_DIAGONAL (0) or SOLVER_UNIT_DIAGONAL (1)");
    return diagonal == SOLVER_UNIT_DIAGONAL ? Diagonal::unit : Diagonal::stored;
}

inline std::int32_t to_c(Accuracy accuracy) {
    return accuracy == Accuracy::fast ? SOLVER_FAST : accuracy == Accuracy::compensated ? SOLVER_COMPENSATED : SOLVER_EXACT;
}

/// The processor with the threads that this thread asked for.
Device processor();

/// SOLVER_PROCESSOR, SOLVER_BEST_DEVICE or a CUDA device.
Device device_of(std::int32_t device, const char* function);

/// A factor that is a real number of type S, or of the parts of S: nothing is rounded silently.
template <class S>
S factor(double value, const char* function, const char* name) {
    const auto rounded = static_cast<RealOf<S>>(value);
    if (static_cast<double>(rounded) != value && value == value)
        throw InvalidArgument(
            fmt::format("{}: {} is {}, which is not a float; the matrix is one of floats", function, name, value));
    return rounded;
}

/// A factor of a complex product, by its parts. Throws where the numbers of the matrix, S, are real.
template <class S>
S complex_factor(const double* parts, const char* function, const char* name) {
    required(parts, function, name);
    if constexpr (is_complex<S>)
        return {factor<S>(parts[0], function, name).real(), factor<S>(parts[1], function, name).real()};
    else
        throw InvalidArgument(fmt::format("{}: the matrix is real; expected a complex one", function));
}

/// The caller's struct, which may be shorter than ours, upon the defaults. One that is longer belongs to a newer header.
template <class Struct>
Struct filled_up(const Struct* given, Struct defaults, const char* function, const char* name) {
    const std::uint64_t size = required(given, function, name).size;
    if (size < sizeof(std::uint64_t) || size > sizeof(Struct))
        throw InvalidArgument(fmt::format("{}: the size of {} is {}; expected sizeof, which this library knows as {}", function,
                                          name, size, sizeof(Struct)));
    std::memcpy(&defaults, given, size);
    return defaults;
}

/// Writes as much of the struct as the caller knows, whose size stays.
template <class Struct>
void hand_over(Struct value, Struct* to, const char* function, const char* name) {
    const std::uint64_t size = required(to, function, name).size;
    require(size >= sizeof(std::uint64_t), function, "the size of the struct to be filled is not set; expected its sizeof");
    value.size = size;
    std::memcpy(to, &value, std::min<std::uint64_t>(size, sizeof value));
}

}  // namespace solver::c
