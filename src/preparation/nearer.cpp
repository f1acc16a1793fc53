#include "preparation/nearer.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preparation/nearer.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

std::int64_t first_nearer(std::int64_t row, const std::int64_t* v, const std::int32_t* w, const std::int64_t* distance,
                          std::int64_t nearest, std::int64_t begin, std::int64_t end) {
    std::int64_t k = begin;
#if HWY_TARGET != HWY_SCALAR
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<std::int64_t> d;
    const hn::Rebind<std::int32_t, decltype(d)> narrow;
    const auto of_row = hn::Set(d, row), limit = hn::Set(d, nearest);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; k + lanes <= end; k += lanes) {
        const auto found = hn::Sub(hn::Add(of_row, hn::LoadU(d, v + k)), hn::PromoteTo(d, hn::LoadU(narrow, w + k)));
        const auto is_nearer = hn::And(hn::Lt(found, limit), hn::Lt(found, hn::LoadU(d, distance + k)));
        if (HWY_UNLIKELY(!hn::AllFalse(d, is_nearer))) break;
    }
#endif
    for (; k < end; ++k)
        if (const std::int64_t found = row + v[k] - w[k]; found < nearest && found < distance[k]) break;
    return k;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(first_nearer);

std::int64_t preparation::first_nearer(std::int64_t row, const std::int64_t* v, const std::int32_t* w,
                                       const std::int64_t* distance, std::int64_t nearest, std::int64_t begin,
                                       std::int64_t end) {
    return HWY_DYNAMIC_DISPATCH(first_nearer)(row, v, w, distance, nearest, begin, end);
}

}  // namespace solver
#endif  // HWY_ONCE
