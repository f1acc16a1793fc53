#pragma once

/// Pictures by gnuplot.

#include <string>
#include <string_view>

namespace solver::page {

/// The picture that this script draws to its output. Throws NotSupported where there is no gnuplot, which says what to use
/// `instead`, and Error with what gnuplot said where it fails.
std::string drawn_by_gnuplot(const std::string& script, std::string_view instead);

/// As the text of a label: gnuplot's enhanced mode gives some characters a meaning.
std::string escaped_for_gnuplot(std::string_view text);

}  // namespace solver::page
