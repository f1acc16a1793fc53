#include "c/arguments.hpp"
#include "c/status.hpp"
#include "solver/complex.hpp"
#include "solver/reduce.hpp"

#include <algorithm>

using namespace solver;
using namespace solver::c;

namespace {

static_assert(Expansion<double>::capacity == SOLVER_EXPANSION_DOUBLES && Expansion<float>::capacity == SOLVER_EXPANSION_FLOATS);

template <class T>
void hand_over_expansion(const Expansion<T>& expansion, void* components, int32_t* count, int32_t* is_exact, const char* name) {
    T* const to = &required(static_cast<T*>(components), name, "components");
    required(count, name, "count");
    required(is_exact, name, "is_exact") = expansion.is_exact ? 1 : 0;
    *count = expansion.size;
    std::copy_n(expansion.component, expansion.size, to);
}

}  // namespace

solver_status solver_sum(int32_t type, int64_t n, const void* x, int32_t accuracy, void* result) {
    constexpr const char* name = "solver_sum";
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            S& to = required(static_cast<S*>(result), name, "result");
            to = sum(elements<const S>(x, n, name, "x"), accuracy_of(accuracy, name), processor());
        });
    });
}

solver_status solver_dot(int32_t type, int64_t n, const void* x, const void* y, int32_t accuracy, void* result) {
    constexpr const char* name = "solver_dot";
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            S& to = required(static_cast<S*>(result), name, "result");
            to = dot(elements<const S>(x, n, name, "x"), elements<const S>(y, n, name, "y"), accuracy_of(accuracy, name),
                     processor());
        });
    });
}

solver_status solver_dotu(int32_t type, int64_t n, const void* x, const void* y, int32_t accuracy, void* result) {
    constexpr const char* name = "solver_dotu";
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            S& to = required(static_cast<S*>(result), name, "result");
            const auto xs = elements<const S>(x, n, name, "x"), ys = elements<const S>(y, n, name, "y");
            if constexpr (is_complex<S>)
                to = dotu(xs, ys, accuracy_of(accuracy, name), processor());
            else
                to = dot(xs, ys, accuracy_of(accuracy, name), processor());
        });
    });
}

solver_status solver_norm2(int32_t type, int64_t n, const void* x, int32_t accuracy, void* result) {
    constexpr const char* name = "solver_norm2";
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            RealOf<S>& to = required(static_cast<RealOf<S>*>(result), name, "result");
            to = norm2(elements<const S>(x, n, name, "x"), accuracy_of(accuracy, name), processor());
        });
    });
}

solver_status solver_sum_expansion(int32_t type, int64_t n, const void* x, void* components, int32_t* count,
                                   int32_t* is_exact) {
    constexpr const char* name = "solver_sum_expansion";
    return guarded([&] {
        with_type(type, name, [&](auto number) {
            using T = decltype(number);
            const Expansion<T> found = sum_expansion(elements<const T>(x, n, name, "x"), processor());
            hand_over_expansion(found, components, count, is_exact, name);
        });
    });
}

solver_status solver_dot_expansion(int32_t type, int64_t n, const void* x, const void* y, void* components, int32_t* count,
                                   int32_t* is_exact) {
    constexpr const char* name = "solver_dot_expansion";
    return guarded([&] {
        with_type(type, name, [&](auto number) {
            using T = decltype(number);
            const Expansion<T> found =
                dot_expansion(elements<const T>(x, n, name, "x"), elements<const T>(y, n, name, "y"), processor());
            hand_over_expansion(found, components, count, is_exact, name);
        });
    });
}
