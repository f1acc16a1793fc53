// What the library fmt 9 has in its own format.cc: all that its headers declare and leave to be compiled once.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE

template FMT_API detail::dragonbox::decimal_fp<float> detail::dragonbox::to_decimal(float x) noexcept;
template FMT_API detail::dragonbox::decimal_fp<double> detail::dragonbox::to_decimal(double x) noexcept;

template FMT_API detail::locale_ref::locale_ref(const std::locale& loc);
template FMT_API std::locale detail::locale_ref::get<std::locale>() const;

template FMT_API detail::thousands_sep_result<char> detail::thousands_sep_impl(locale_ref);
template FMT_API char detail::decimal_point_impl(locale_ref);
template FMT_API void detail::buffer<char>::append(const char*, const char*);

template FMT_API detail::thousands_sep_result<wchar_t> detail::thousands_sep_impl(locale_ref);
template FMT_API wchar_t detail::decimal_point_impl(locale_ref);
template FMT_API void detail::buffer<wchar_t>::append(const wchar_t*, const wchar_t*);

FMT_END_NAMESPACE
