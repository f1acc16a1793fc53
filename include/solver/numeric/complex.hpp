#pragma once

/// What complex and real number types have in common.

#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>

namespace solver {

template <class S>
struct RealType : std::type_identity<S> {};
template <class T>
struct RealType<std::complex<T>> : std::type_identity<T> {};

/// The type of the components: T for T and for std::complex<T>.
template <class S>
using RealOf = typename RealType<S>::type;

template <class S>
inline constexpr bool is_complex = !std::is_same_v<S, RealOf<S>>;

/// How many real numbers a number consists of.
template <class S>
inline constexpr int components = is_complex<S> ? 2 : 1;

/// The memory of complex numbers as that of real ones: Re z_0, Im z_0, Re z_1, Im z_1, ..., as std::complex guarantees it. Real
/// numbers as they are.
template <class S>
std::span<const RealOf<S>> real_view(std::span<const S> z) {
    return {reinterpret_cast<const RealOf<S>*>(z.data()), z.size() * components<S>};
}
template <class S>
std::span<RealOf<S>> real_view(std::span<S> z) {
    return {reinterpret_cast<RealOf<S>*>(z.data()), z.size() * components<S>};
}

}  // namespace solver
