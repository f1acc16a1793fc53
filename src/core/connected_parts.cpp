#include "core/connected_parts.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

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

    void join(std::int64_t i, std::int64_t j) {
        i = root(i);
        j = root(j);
        if (i > j) std::swap(i, j);
        parent_[j] = i;
    }

private:
    std::vector<std::int64_t> parent_;
};

}  // namespace

template <class T>
ConnectedParts connected_parts(const CsrView<T>& a) {
    Forest forest(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) forest.join(i, a.column_indices[k]);
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
