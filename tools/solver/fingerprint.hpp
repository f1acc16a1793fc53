#pragma once

/// A name for the bits of a vector.

#include <span>
#include <string>

namespace solver::command {

/// The SHA-256 (FIPS 180-4) of the values as little-endian IEEE doubles one after the other, in 64 hexadecimal digits.
std::string sha256(std::span<const double> values);

}  // namespace solver::command
