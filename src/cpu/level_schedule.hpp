#pragma once

/// Rows of a triangular matrix sorted into levels: a row depends on rows of earlier levels alone.

#include "solver/triangular_solve.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace solver::cpu {

/// A piece of work for one thread: a part of one level, or the whole of several narrow ones.
struct LevelChunk {
    std::int64_t first_level = 0;
    std::int64_t last_level = 0;  ///< the one after the last
    std::int64_t first_place = 0;
    std::int64_t last_place = 0;
    std::int64_t chunks_before = 0;  ///< so many chunks, those of earlier levels, have to be done first
};

/// A copy of the matrix with its rows in the order of their levels; columns keep their numbers.
template <class T>
struct LevelSchedule {
    std::vector<std::int32_t> order;        ///< which row comes k-th
    std::vector<std::int64_t> row_offsets;  ///< of the k-th row's entries beside the diagonal
    std::vector<std::int32_t> column_indices;
    std::vector<T> values;
    std::vector<T> pivots;                    ///< of the k-th row; none where the diagonal is 1
    std::vector<std::int64_t> level_offsets;  ///< places where levels begin, and the end
    std::vector<LevelChunk> chunks;           ///< in the order of their places
    int threads = 1;
};

/// The schedule (Anderson, Saad 1989; Saad, Iterative Methods, 2nd ed., sec. 11.6) of a matrix as TriangularSolvePlan takes it,
/// or nothing where the rows one after the other are faster: levels that are too narrow. Within a level, rows come in blocks in
/// rising order, and sorted by length within a block, so that rows beside one another are of similar length.
template <class T>
std::unique_ptr<const LevelSchedule<T>> schedule_levels(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, int threads);

/// A schedule that is made when it is first asked for, since it takes the time of many solves in natural order.
template <class T>
class LazySchedule {
public:
    explicit LazySchedule(int threads) : threads_(threads) {}

    /// schedule_levels of this matrix, always the same one.
    const LevelSchedule<T>* get(const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
        std::call_once(once_, [&] { schedule_ = schedule_levels(a, triangle, diagonal, threads_); });
        return schedule_.get();
    }

private:
    int threads_;
    std::once_flag once_;
    std::unique_ptr<const LevelSchedule<T>> schedule_;
};

}  // namespace solver::cpu
