#include "preparation/cardinality.hpp"

#include <algorithm>

namespace solver::preparation {
namespace {

/// Each pass augments along a largest set of disjoint shortest paths.
class HopcroftKarp {
public:
    HopcroftKarp(const WeightedGraph& graph, Pairs& pairs)
        : graph_(graph), pairs_(pairs), level_(static_cast<std::size_t>(graph.rows())) {}

    void run() {
        while (find_levels()) {
            next_.assign(graph_.row_offsets.begin(), graph_.row_offsets.end() - 1);
            for (std::int32_t row = 0; row < graph_.rows(); ++row)
                if (pairs_.column_of[row] == Pairs::unmatched) augment(row);
        }
    }

private:
    static constexpr std::int32_t out_of_reach = -1;

    /// The least number of matched columns between a free row and each row, up to where the first free column is seen; whether
    /// one is.
    bool find_levels() {
        std::fill(level_.begin(), level_.end(), out_of_reach);
        queue_.clear();
        for (std::int32_t row = 0; row < graph_.rows(); ++row)
            if (pairs_.column_of[row] == Pairs::unmatched) enter(row, 0);
        std::int32_t last_level = graph_.rows();
        for (std::size_t head = 0; head < queue_.size() && level_[queue_[head]] <= last_level; ++head) {
            const std::int32_t row = queue_[head];
            for (std::int64_t k = graph_.row_offsets[row]; k < graph_.row_offsets[row + 1]; ++k) {
                const std::int32_t matched = pairs_.row_of[graph_.columns[k]];
                if (matched == Pairs::unmatched)
                    last_level = level_[row];
                else if (level_[matched] == out_of_reach)
                    enter(matched, level_[row] + 1);
            }
        }
        return last_level < graph_.rows();
    }

    void enter(std::int32_t row, std::int32_t level) {
        level_[row] = level;
        queue_.push_back(row);
    }

    /// Walks up the levels from a free row to a free column. A row that was left, or is part of a new path, is used up.
    void augment(std::int32_t root) {
        path_ = {root};
        while (!path_.empty()) {
            const std::int32_t row = path_.back();
            if (next_[row] == graph_.row_offsets[row + 1]) {
                level_[row] = out_of_reach;
                path_.pop_back();
                if (!path_.empty()) ++next_[path_.back()];
                continue;
            }
            const std::int32_t matched = pairs_.row_of[graph_.columns[next_[row]]];
            if (matched == Pairs::unmatched) return flip_path();
            if (level_[matched] == level_[row] + 1)
                path_.push_back(matched);
            else
                ++next_[row];
        }
    }

    void flip_path() {
        for (const std::int32_t row : path_) {
            pairs_.match(row, graph_.columns[next_[row]]);
            level_[row] = out_of_reach;
        }
    }

    const WeightedGraph& graph_;
    Pairs& pairs_;
    std::vector<std::int32_t> level_;
    std::vector<std::int32_t> queue_;
    std::vector<std::int64_t> next_;  // the entry of each row to try next
    std::vector<std::int32_t> path_;
};

}  // namespace

void match_most_rows(const WeightedGraph& graph, Pairs& pairs) { HopcroftKarp(graph, pairs).run(); }

}  // namespace solver::preparation
