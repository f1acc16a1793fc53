#include "preparation/matching.hpp"

#include "preparation/cardinality.hpp"
#include "preparation/nearer.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace solver::preparation {
namespace {

/// Primal and dual side by side: u_i + v_j >= w_ij always, with equality (a tight entry) where i is matched with j. Rows are
/// matched one after the other along paths of least total slack u_i + v_j - w_ij, found by Dijkstra's algorithm.
class Matching {
public:
    Matching(const WeightedGraph& graph, std::int64_t steps)
        : graph_(graph),
          steps_left_(steps),
          n_(graph.rows()),
          u_(static_cast<std::size_t>(n_)),
          v_(static_cast<std::size_t>(n_)),
          pairs_(n_),
          distance_(static_cast<std::size_t>(n_), far),
          reached_from_(static_cast<std::size_t>(n_), none) {}

    Transversal run() {
        set_first_duals();
        match_tight_entries();
        for (std::int32_t row = 0; row < n_ && steps_left_ >= 0; ++row)
            if (pairs_.column_of[row] == none) augment(row);
        const bool gave_up = steps_left_ < 0;
        if (gave_up) match_most_rows(graph_, pairs_);
        Transversal result;
        result.structural_rank = n_ - std::count(pairs_.row_of.begin(), pairs_.row_of.end(), none);
        result.optimal = result.structural_rank == n_ && !gave_up;
        if (result.structural_rank < n_) pair_the_rest();
        if (!result.optimal) set_row_duals();
        result.row_of_column = std::move(pairs_.row_of);
        result.row_duals = std::move(u_);
        result.column_duals = std::move(v_);
        return result;
    }

private:
    static constexpr std::int32_t none = Pairs::unmatched;
    static constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t closed = -1;  // the distance of columns from which no free column can be reached

    std::int64_t begin(std::int32_t row) const { return graph_.row_offsets[row]; }
    std::int64_t end(std::int32_t row) const { return graph_.row_offsets[row + 1]; }
    std::int64_t slack(std::int32_t row, std::int64_t k) const { return u_[row] + v_[graph_.columns[k]] - graph_.weights[k]; }

    /// The least u for v = 0, then the least v: every row and column with an entry has a tight one.
    void set_first_duals() {
        std::fill(v_.begin(), v_.end(), -far);
        for (std::int32_t row = 0; row < n_; ++row) {
            if (begin(row) == end(row)) continue;
            u_[row] = *std::max_element(graph_.weights.begin() + begin(row), graph_.weights.begin() + end(row));
            for (std::int64_t k = begin(row); k < end(row); ++k) {
                std::int64_t& v = v_[graph_.columns[k]];
                v = std::max(v, graph_.weights[k] - u_[row]);
            }
        }
        std::replace(v_.begin(), v_.end(), -far, std::int64_t{0});
    }

    /// Diagonal entries first, then any, then pairs of rows that free a column for each other.
    void match_tight_entries() {
        for (std::int32_t row = 0; row < n_; ++row) {
            const auto first = graph_.columns.begin() + begin(row), last = graph_.columns.begin() + end(row);
            const auto found = std::lower_bound(first, last, row);
            if (found != last && *found == row && slack(row, found - graph_.columns.begin()) == 0) pairs_.match(row, row);
        }
        next_.assign(graph_.row_offsets.begin(), graph_.row_offsets.end() - 1);
        for (std::int32_t row = 0; row < n_; ++row)
            if (pairs_.column_of[row] == none) match_with_free_column(row);
        for (std::int32_t row = 0; row < n_; ++row)
            if (pairs_.column_of[row] == none) match_through_neighbour(row);
    }

    /// Columns once matched stay so: the search of each row goes on where its last one ended.
    bool match_with_free_column(std::int32_t row) {
        for (std::int64_t& k = next_[row]; k < end(row); ++k)
            if (pairs_.row_of[graph_.columns[k]] == none && slack(row, k) == 0) {
                pairs_.match(row, graph_.columns[k]);
                return true;
            }
        return false;
    }

    void match_through_neighbour(std::int32_t row) {
        for (std::int64_t k = begin(row); k < end(row); ++k) {
            if (slack(row, k) != 0) continue;
            const std::int32_t column = graph_.columns[k];
            if (pairs_.row_of[column] != none && !match_with_free_column(pairs_.row_of[column])) continue;
            pairs_.match(row, column);
            return;
        }
    }

    /// Matches one more row, or finds that it cannot be matched: then neither can any row that comes to the columns it reached,
    /// now or later.
    void augment(std::int32_t root) {
        const std::int32_t free_column = find_shortest_path(root);
        if (free_column == none) {
            for (const std::int32_t column : reached_) distance_[column] = closed;
        } else {
            update_duals(root, distance_[free_column]);
            flip_path(root, free_column);
            for (const std::int32_t column : reached_) distance_[column] = far;
        }
    }

    /// The nearest free column by total slack; none where there is none.
    std::int32_t find_shortest_path(std::int32_t root) {
        reached_.clear();
        heap_.clear();
        here_.clear();
        next_here_ = 0;
        nearest_ = none;
        nearest_distance_ = far;
        std::int64_t distance = 0;
        for (std::int32_t row = root; row != none; row = next_row(distance)) {
            const std::int64_t length = end(row) - begin(row);
            length == n_ ? reach_from_full_row(row, distance) : reach_from(row, distance);
            steps_left_ -= length;
            if (nearest_distance_ == distance) break;
        }
        return nearest_;
    }

    /// Most entries lead nowhere: what these need stays in registers.
    void reach_from(std::int32_t row, std::int64_t distance_of_row) {
        const std::int64_t of_row = distance_of_row + u_[row], last = end(row);
        const std::int32_t *const columns = graph_.columns.data(), *const weights = graph_.weights.data();
        const std::int64_t *const v = v_.data(), *const distances = distance_.data();
        std::int64_t nearest = nearest_distance_;
        for (std::int64_t k = begin(row); k < last; ++k) {
            const std::int32_t column = columns[k];
            const std::int64_t distance = of_row + v[column] - weights[k];
            if (distance >= nearest || distance >= distances[column]) continue;
            reach(row, column, distance, distance_of_row);
            nearest = nearest_distance_;
        }
    }

    /// Whose k-th entry is in column k.
    void reach_from_full_row(std::int32_t row, std::int64_t distance_of_row) {
        const std::int64_t of_row = distance_of_row + u_[row];
        const std::int32_t* const weights = graph_.weights.data() + begin(row);
        const auto next = [&](std::int64_t k) {
            return first_nearer(of_row, v_.data(), weights, distance_.data(), nearest_distance_, k, n_);
        };
        for (std::int64_t k = next(0); k < n_; k = next(k + 1))
            reach(row, static_cast<std::int32_t>(k), of_row + v_[k] - weights[k], distance_of_row);
    }

    void reach(std::int32_t row, std::int32_t column, std::int64_t distance, std::int64_t distance_of_row) {
        if (distance_[column] == far) reached_.push_back(column);
        distance_[column] = distance;
        reached_from_[column] = row;
        if (pairs_.row_of[column] == none) {
            nearest_ = column;
            nearest_distance_ = distance;
        } else if (distance == distance_of_row) {
            here_.push_back(column);
        } else {
            heap_.emplace_back(distance, column);
            std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
        }
    }

    /// The row matched with the nearest column not yet left, as long as that is nearer than the nearest free column. An entry
    /// of the heap whose column was reached on a shorter way later is stale.
    std::int32_t next_row(std::int64_t& distance) {
        if (next_here_ < here_.size()) return pairs_.row_of[here_[next_here_++]];
        here_.clear();
        next_here_ = 0;
        while (!heap_.empty() && heap_.front().first < nearest_distance_) {
            const auto [reached_at, column] = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
            heap_.pop_back();
            if (reached_at != distance_[column]) continue;
            distance = reached_at;
            return pairs_.row_of[column];
        }
        return none;
    }

    /// Makes the path tight and keeps every slack >= 0: what lies d nearer than the free column moves by d.
    void update_duals(std::int32_t root, std::int64_t length) {
        u_[root] -= length;
        for (const std::int32_t column : reached_) {
            const std::int64_t nearer = length - distance_[column];
            if (nearer <= 0) continue;
            v_[column] += nearer;
            u_[pairs_.row_of[column]] -= nearer;
        }
    }

    void flip_path(std::int32_t root, std::int32_t column) {
        for (std::int32_t row = none; row != root;) {
            row = reached_from_[column];
            const std::int32_t given_up = pairs_.column_of[row];
            pairs_.match(row, column);
            column = given_up;
        }
    }

    void pair_the_rest() {
        std::int32_t row = 0;
        for (std::int32_t& row_of_column : pairs_.row_of) {
            if (row_of_column != none) continue;
            while (pairs_.column_of[row] != none) ++row;
            row_of_column = row++;
        }
    }

    /// The least that the columns' duals allow.
    void set_row_duals() {
        for (std::int32_t row = 0; row < n_; ++row) {
            if (begin(row) == end(row)) continue;
            u_[row] = -far;
            for (std::int64_t k = begin(row); k < end(row); ++k)
                u_[row] = std::max(u_[row], graph_.weights[k] - v_[graph_.columns[k]]);
        }
    }

    const WeightedGraph& graph_;
    std::int64_t steps_left_;  // below 0: used up
    std::int32_t n_;
    std::vector<std::int64_t> u_;
    std::vector<std::int64_t> v_;
    Pairs pairs_;
    std::vector<std::int64_t> next_;  // where each row looks next for a free column

    // Of the search for one path:
    std::vector<std::int64_t> distance_;  // of each column from the root; far where not reached
    std::vector<std::int32_t> reached_from_;
    std::vector<std::int32_t> reached_;
    std::vector<std::pair<std::int64_t, std::int32_t>> heap_;
    std::vector<std::int32_t> here_;  // columns as near as the row just left; first in, first out, for paths of few steps
    std::size_t next_here_ = 0;
    std::int32_t nearest_ = none;
    std::int64_t nearest_distance_ = far;
};

}  // namespace

Transversal maximum_weight_matching(const WeightedGraph& graph, std::int64_t steps) { return Matching(graph, steps).run(); }

}  // namespace solver::preparation
