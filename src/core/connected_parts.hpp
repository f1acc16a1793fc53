#pragma once

/// The parts into which a matrix falls: rows and columns that hang together by entries.

#include "solver/views.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// Part p has the unknowns members[begins[p]] to members[begins[p + 1] - 1].
struct ConnectedParts {
    std::vector<std::int64_t> begins{0};
    std::vector<std::int64_t> members;

    std::int64_t count() const { return static_cast<std::int64_t>(begins.size()) - 1; }
    std::span<const std::int64_t> operator[](std::int64_t p) const {
        return std::span(members).subspan(begins[p], begins[p + 1] - begins[p]);
    }
};

/// Of a square matrix, in the graph of A + A^T, stored zeros included.
template <class T>
ConnectedParts connected_parts(const CsrView<T>& a);

}  // namespace solver
