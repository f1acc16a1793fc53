#pragma once

/// The checks that public functions share.

#include "core/floating_point_guard.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace solver {

/// "spmv: x has 7 elements, A is 12 x 8; x needs 8, the columns of A"
template <class Matrix>
void require_length(const char* operation, const char* name, std::size_t length, std::int64_t expected, const char* why,
                    const Matrix& a) {
    if (static_cast<std::int64_t>(length) == expected) return;
    throw DimensionMismatch(fmt::format("{}: {} has {} elements, A is {} x {}; {} needs {}, {}", operation, name, length,
                                        a.rows, a.columns, name, expected, why));
}

/// What costs nothing to see of a matrix that was put together wrongly; check() looks at all of it.
template <class T>
void require_array_lengths(const char* operation, const CsrView<T>& a) {
    const auto offsets = static_cast<std::uint64_t>(a.row_offsets.size());
    if (a.rows < 0 || offsets != static_cast<std::uint64_t>(a.rows) + 1)
        throw DimensionMismatch(
            fmt::format("{}: row_offsets has {} elements; {} rows need {}, of which the first is 0 (CsrMatrix begins with it)",
                        operation, offsets, a.rows, a.rows < 0 ? 0 : static_cast<std::uint64_t>(a.rows) + 1));
    const std::int64_t entries = a.row_offsets[a.rows];
    if (std::ssize(a.values) != entries || std::ssize(a.column_indices) != entries)
        throw DimensionMismatch(fmt::format("{}: row_offsets ends with {}, but there are {} values and {} column indices",
                                            operation, entries, a.values.size(), a.column_indices.size()));
}

template <class T>
bool overlap(std::span<const T> x, std::span<const T> y) {
    const std::less<const T*> before;
    return !x.empty() && !y.empty() && before(x.data(), y.data() + y.size()) && before(y.data(), x.data() + x.size());
}

/// "residual: r overlaps x in memory, which is still read while r is written; give each memory of its own"
template <class T>
void require_apart(std::string_view operation, const char* written, std::span<const T> to, const char* read,
                   std::span<const T> from) {
    if (overlap(to, from))
        throw InvalidArgument(
            fmt::format("{}: {} overlaps {} in memory, which is still read while {} is written; give each memory of its own",
                        operation, written, read, written));
}

/// Of vectors of one length of which one may be written in place of the other.
template <class T>
void require_same_or_apart(std::string_view operation, const char* written, std::span<const T> to, const char* read,
                           std::span<const T> from) {
    if (to.data() != from.data()) require_apart(operation, written, to, read, from);
}

/// Of options in which 0 stands for a default.
inline void require_memory_limit(const std::string& operation, std::int64_t limit) {
    if (limit < 0)
        throw InvalidArgument(fmt::format("{}: the memory limit is {} bytes; expected a positive number, or 0 for the default",
                                          operation, limit));
}

/// For what has no kernel on CUDA devices.
inline void require_cpu(const Device& device, const char* operation) {
    if (device.kind() != Device::Kind::cpu)
        throw NotSupported(fmt::format("{}: there is no kernel for CUDA devices, and {} was asked for; use Device::cpu()",
                                       operation, to_string(device)));
}

}  // namespace solver
