#include "core/connected_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace solver {
namespace {

/// A forest whose trees are the parts, each known by its root, which is its first unknown.
class Forest {
public:
    explicit Forest(std::int64_t size) : parent_(static_cast<std::size_t>(size)) {
        std::iota(parent_.begin(), parent_.end(), std::int64_t{0});
    }

    std::int64_t root(std::int64_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];  // paths become half as long
        return i;
    }

    /// Joins the tree of this root with that of j. Returns the root of both.
    std::int64_t join(std::int64_t root_of_one, std::int64_t j) {
        if (parent_[j] == root_of_one) return root_of_one;
        const std::int64_t other = root(j), first = std::min(root_of_one, other);
        parent_[std::max(root_of_one, other)] = first;
        return first;
    }

private:
    std::vector<std::int64_t> parent_;
};

}  // namespace

template <class T>
ConnectedParts connected_parts(const CsrView<T>& a) {
    Forest forest(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::int64_t root = forest.root(i);
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) root = forest.join(root, a.column_indices[k]);
    }
    std::vector<std::int64_t> part(static_cast<std::size_t>(a.rows));
    ConnectedParts parts;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const std::int64_t root = forest.root(i);
        part[i] = root == i ? parts.count() : part[root];
        if (root == i) parts.begins.push_back(0);
        ++parts.begins[part[i] + 1];
    }
    std::partial_sum(parts.begins.begin(), parts.begins.end(), parts.begins.begin());
    parts.members.resize(part.size());
    std::vector<std::int64_t> next(parts.begins.begin(), parts.begins.end() - 1);
    for (std::int64_t i = 0; i < a.rows; ++i) parts.members[next[part[i]]++] = i;
    return parts;
}

template ConnectedParts connected_parts(const CsrView<float>&);
template ConnectedParts connected_parts(const CsrView<double>&);

}  // namespace solver
