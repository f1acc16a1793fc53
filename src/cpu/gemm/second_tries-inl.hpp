// Second tries, for blocks of dense products that the first kernels leave open all over: the filters of numeric/filtered.hpp,
// whose bounds follow what is really lost. Re-included for every Highway target.

#if defined(SOLVER_CPU_GEMM_SECOND_TRIES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_GEMM_SECOND_TRIES_INL_HPP
#undef SOLVER_CPU_GEMM_SECOND_TRIES_INL_HPP
#else
#define SOLVER_CPU_GEMM_SECOND_TRIES_INL_HPP
#endif

#include "cpu/gemm/tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

/// The kernel with a filter in every element.
template <Filter F>
struct KernelOf;

/// 9 operations a product.
template <>
struct KernelOf<FilteredFloat> {
    using T = float;
    using Lane = double;
    using Shape = std::conditional_t<has_32_registers, TileShape<double, 2, 3>, TileShape<double, 1, 3>>;
    using V = typename Shape::V;
    using D = typename Shape::D;
    using Pair = FilteredFloatLanes<max_lanes<D>>;
    static constexpr bool measures = true;
    static constexpr bool decides_all = false;

    static std::int64_t parts(std::int64_t, std::int64_t) { return 3; }

    static HWY_NOINLINE void advance(const TileStrip<double>& strip, double* HWY_RESTRICT tile) {
        TileRegisters<Shape> s, c, m;
        s.start(tile, strip.first);
        c.start(tile + Shape::size, strip.first);
        m.start(tile + 2 * Shape::size, strip.first);
        Shape::for_each_product(strip, [&](V x, V y, std::size_t j, std::size_t v) HWY_ATTR {
            Pair sum(s.at[j][v], c.at[j][v], m.at[j][v], {});
            sum.add_product(x, y);
            s.at[j][v] = sum.s();
            c.at[j][v] = sum.c();
            m.at[j][v] = sum.m();
        });
        s.store(tile);
        c.store(tile + Shape::size);
        m.store(tile + 2 * Shape::size);
    }

    static HWY_INLINE Results<D> round(const double* at, const Ending<float>& ending, const Measures<V>&, V c_in) {
        const D d;
        const double factor = ErrorPath{static_cast<std::int32_t>(ending.inner), 0}.factor<double>();
        if (factor < 0) return {hn::Zero(d), hn::FirstN(d, 0)};
        const V lost = hn::Mul(hn::Set(d, factor), hn::Load(d, at + 2 * Shape::size));
        return rounded_float<V>({hn::Load(d, at), hn::Load(d, at + Shape::size)}, lost, ending, c_in);
    }
};

/// 25 operations a product. Products are exact where the product of their units is a number.
template <>
struct KernelOf<FilteredTriple<double>> {
    using T = double;
    using Lane = double;
    using Shape = std::conditional_t<has_32_registers, TileShape<double, 1, 4>, TileShape<double, 1, 2>>;
    using V = typename Shape::V;
    using D = typename Shape::D;
    using Triple = FilteredTripleLanes<max_lanes<D>>;
    static constexpr bool measures = true;
    static constexpr bool decides_all = false;

    static std::int64_t parts(std::int64_t, std::int64_t) { return 4; }

    static HWY_NOINLINE void advance(const TileStrip<double>& strip, double* HWY_RESTRICT tile) {
        TileRegisters<Shape> s, c, d, m;
        s.start(tile, strip.first);
        c.start(tile + Shape::size, strip.first);
        d.start(tile + 2 * Shape::size, strip.first);
        m.start(tile + 3 * Shape::size, strip.first);
        Shape::for_each_product(strip, [&](V x, V y, std::size_t j, std::size_t v) HWY_ATTR {
            Triple sum(s.at[j][v], c.at[j][v], d.at[j][v], m.at[j][v], {});
            sum.add_product(x, y);
            s.at[j][v] = sum.s();
            c.at[j][v] = sum.c();
            d.at[j][v] = sum.d();
            m.at[j][v] = sum.m();
        });
        s.store(tile);
        c.store(tile + Shape::size);
        d.store(tile + 2 * Shape::size);
        m.store(tile + 3 * Shape::size);
    }

    static HWY_INLINE Results<D> round(const double* at, const Ending<double>& ending, const Measures<V>& measures, V c_in) {
        const D d;
        const Triple sum(hn::Load(d, at), hn::Load(d, at + Shape::size), hn::Load(d, at + 2 * Shape::size),
                         hn::Load(d, at + 3 * Shape::size), {static_cast<std::int32_t>(ending.inner), 0});
        const auto is_exact = hn::Gt(measures.units, hn::Zero(d));
        const V underflow = hn::IfThenElse(is_exact, hn::Zero(d), hn::Set(d, affine_underflow(1.0, ending.inner)));
        return rounded_triple(sum, underflow, ending, c_in);
    }
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
