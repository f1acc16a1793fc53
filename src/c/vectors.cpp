#include "c/arguments.hpp"
#include "c/status.hpp"
#include "solver/complex.hpp"
#include "solver/reduce.hpp"

#include <algorithm>

using namespace solver;
using namespace solver::c;

namespace {

static_assert(Expansion<double>::capacity == SOLVER_EXPANSION_DOUBLES && Expansion<float>::capacity == SOLVER_EXPANSION_FLOATS);

/// Where C wants expansions: of complex numbers the imaginary part's stands one full capacity after the real part's, its count
/// and is_exact behind the real part's.
template <class T>
struct ExpansionPlace {
    T* components;
    int32_t* count;
    int32_t* is_exact;

    ExpansionPlace(void* at, int32_t* its_count, int32_t* its_is_exact, const char* name)
        : components(&required(static_cast<T*>(at), name, "components")),
          count(&required(its_count, name, "count")),
          is_exact(&required(its_is_exact, name, "is_exact")) {}

    void store(const Expansion<T>& expansion, int part = 0) const {
        std::copy_n(expansion.component, expansion.size, components + part * Expansion<T>::capacity);
        count[part] = expansion.size;
        is_exact[part] = expansion.is_exact ? 1 : 0;
    }
    void store(const ComplexExpansion<T>& expansion) const {
        store(expansion.re, 0);
        store(expansion.im, 1);
    }
};

/// The expansion that expand(x, y) makes of n numbers.
template <class Expand>
solver_status expand_products(const char* name, int32_t type, int64_t n, const void* x, const void* y, void* components,
                              int32_t* count, int32_t* is_exact, const Expand& expand) {
    return guarded([&] {
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            const ExpansionPlace<RealOf<S>> to(components, count, is_exact, name);
            to.store(expand(elements<const S>(x, n, name, "x"), elements<const S>(y, n, name, "y")));
        });
    });
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
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            const ExpansionPlace<RealOf<S>> to(components, count, is_exact, name);
            to.store(sum_expansion(elements<const S>(x, n, name, "x"), processor()));
        });
    });
}

solver_status solver_dot_expansion(int32_t type, int64_t n, const void* x, const void* y, void* components, int32_t* count,
                                   int32_t* is_exact) {
    return expand_products("solver_dot_expansion", type, n, x, y, components, count, is_exact,
                           [](auto xs, auto ys) { return dot_expansion(xs, ys, processor()); });
}

solver_status solver_dotu_expansion(int32_t type, int64_t n, const void* x, const void* y, void* components, int32_t* count,
                                    int32_t* is_exact) {
    return expand_products("solver_dotu_expansion", type, n, x, y, components, count, is_exact, [](auto xs, auto ys) {
        if constexpr (is_complex<typename decltype(xs)::value_type>)
            return dotu_expansion(xs, ys, processor());
        else
            return dot_expansion(xs, ys, processor());
    });
}
