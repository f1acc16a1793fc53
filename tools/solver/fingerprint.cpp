#include "fingerprint.hpp"

#include <fmt/format.h>
#include <nettle/sha2.h>

#include <array>
#include <bit>
#include <cstdint>

namespace solver::command {
namespace {

std::array<std::uint8_t, 8> little_endian(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::array<std::uint8_t, 8> bytes{};
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    return bytes;
}

}  // namespace

std::string sha256(std::span<const double> values) {
    sha256_ctx context;
    sha256_init(&context);
    for (const double value : values) {
        const auto bytes = little_endian(value);
        sha256_update(&context, bytes.size(), bytes.data());
    }
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context, digest.size(), digest.data());
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace solver::command
