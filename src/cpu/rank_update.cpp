#include "cpu/rank_update.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rank_update.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/simd/lanes-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

/// A tile of C in registers while the products of its elements are subtracted.
template <std::size_t rows, std::size_t vectors, class D>
HWY_INLINE void subtract_from_tile(D d, std::int64_t depth, const double* l, const double* HWY_RESTRICT u,
                                   std::int64_t u_stride, double* c, std::int64_t stride) {
    hn::Vec<D> tile[rows][vectors];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) tile[i][v] = hn::LoadU(d, c + i * stride + v * hn::Lanes(d));
    for (std::int64_t k = 0; k < depth; ++k, ++l, u += u_stride) {
        hn::Vec<D> right[vectors];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) right[v] = hn::LoadU(d, u + v * hn::Lanes(d));
#pragma GCC unroll 4
        for (std::size_t i = 0; i < rows; ++i) {
            const auto left = hn::Set(d, l[i * stride]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) tile[i][v] = hn::Sub(tile[i][v], hn::Mul(left, right[v]));
        }
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(tile[i][v], d, c + i * stride + v * hn::Lanes(d));
}

/// So many rows of C.
template <std::size_t rows>
HWY_INLINE void subtract_from_rows(std::int64_t columns, std::int64_t depth, const double* l, const double* u,
                                   std::int64_t u_stride, double* c, std::int64_t stride) {
    const hn::ScalableTag<double> d;
    const hn::CappedTag<double, 1> one;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t j = 0;
    for (; j + 2 * lanes <= columns; j += 2 * lanes) subtract_from_tile<rows, 2>(d, depth, l, u + j, u_stride, c + j, stride);
    for (; j + lanes <= columns; j += lanes) subtract_from_tile<rows, 1>(d, depth, l, u + j, u_stride, c + j, stride);
    for (; j < columns; ++j) subtract_from_tile<rows, 1>(one, depth, l, u + j, u_stride, c + j, stride);
}

void subtract_products(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* l, const double* u,
                       std::int64_t u_stride, double* c, std::int64_t stride) {
    constexpr std::int64_t rows_at_once = 4;
    std::int64_t i = 0;
    for (; i + rows_at_once <= rows; i += rows_at_once)
        subtract_from_rows<rows_at_once>(columns, depth, l + i * stride, u, u_stride, c + i * stride, stride);
    for (; i < rows; ++i) subtract_from_rows<1>(columns, depth, l + i * stride, u, u_stride, c + i * stride, stride);
}

template <std::size_t vectors, class D>
HWY_INLINE void add_products_to_tile(D d, std::int64_t depth, const double* l, const double* HWY_RESTRICT u,
                                     std::int64_t u_stride, double* high, double* low) {
    hn::Vec<D> sums[vectors], errors[vectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
        sums[v] = hn::LoadU(d, high + v * hn::Lanes(d));
        errors[v] = hn::LoadU(d, low + v * hn::Lanes(d));
    }
    for (std::int64_t k = 0; k < depth; ++k, u += u_stride) {
        const auto left = hn::Set(d, l[k]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) {
            const auto product = two_prod_lanes(left, hn::LoadU(d, u + v * hn::Lanes(d)));
            const auto sum = two_sum_lanes(sums[v], product.value);
            sums[v] = sum.value;
            errors[v] = hn::Add(errors[v], hn::Add(sum.error, product.error));
        }
    }
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
        hn::StoreU(sums[v], d, high + v * hn::Lanes(d));
        hn::StoreU(errors[v], d, low + v * hn::Lanes(d));
    }
}

void add_products_in_pairs(std::int64_t columns, std::int64_t depth, const double* l, const double* u, std::int64_t u_stride,
                           double* high, double* low) {
    const hn::ScalableTag<double> d;
    const hn::CappedTag<double, 1> one;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t j = 0;
    for (; j + 4 * lanes <= columns; j += 4 * lanes) add_products_to_tile<4>(d, depth, l, u + j, u_stride, high + j, low + j);
    for (; j + lanes <= columns; j += lanes) add_products_to_tile<1>(d, depth, l, u + j, u_stride, high + j, low + j);
    for (; j < columns; ++j) add_products_to_tile<1>(one, depth, l, u + j, u_stride, high + j, low + j);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(subtract_products);
HWY_EXPORT(add_products_in_pairs);

namespace cpu {

void subtract_products(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* l, const double* u,
                       std::int64_t u_stride, double* c, std::int64_t stride) {
    HWY_DYNAMIC_DISPATCH(subtract_products)(rows, columns, depth, l, u, u_stride, c, stride);
}

void add_products_in_pairs(std::int64_t columns, std::int64_t depth, const double* l, const double* u, std::int64_t u_stride,
                           double* high, double* low) {
    HWY_DYNAMIC_DISPATCH(add_products_in_pairs)(columns, depth, l, u, u_stride, high, low);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
