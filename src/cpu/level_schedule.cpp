#include "cpu/level_schedule.hpp"

#include "core/huge_pages.hpp"
#include "core/machine.hpp"
#include "core/thread_pool.hpp"

#include <algorithm>
#include <array>

namespace solver::cpu {
namespace {

/// Rows a level must have in the mean to be worth a schedule.
constexpr std::int64_t least_mean_width = 16;

/// Entries, and rows as so many each, that are worth handing to another thread: some microseconds.
constexpr std::int64_t least_chunk_work = 4096;
constexpr std::int64_t work_of_a_row = 4;

/// Entries, and rows as so many each, that all levels of several chunks must have for threads to be woken at all.
constexpr std::int64_t least_shared_work = 1 << 18;

/// Chunks of a level for each thread: more than one, so that threads that come late, or are slow, leave work to the others.
constexpr std::int64_t most_chunks_per_thread = 2;

/// Chunks begin at multiples of so many rows of a level, so that groups of rows that are summed side by side do not depend on
/// them.
constexpr std::int64_t chunk_granularity = 8;

/// Rows are sorted by length within blocks of so many: near enough to one another for their elements of x to share the caches.
constexpr std::int64_t sorted_block = 256;

/// The level of each row, from 0.
struct Levels {
    std::vector<std::int32_t> of_row;
    std::int64_t count = 0;
};

template <class T>
Levels find_levels(const CsrView<T>& a, Triangle triangle) {
    Levels levels;
    levels.of_row.resize(static_cast<std::size_t>(a.rows));
    for (std::int64_t step = 0; step < a.rows; ++step) {
        const std::int64_t row = triangle == Triangle::lower ? step : a.rows - 1 - step;
        std::int32_t level = 0;
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            if (a.column_indices[k] != row) level = std::max(level, levels.of_row[a.column_indices[k]] + 1);
        levels.of_row[row] = level;
        levels.count = std::max<std::int64_t>(levels.count, level + 1);
    }
    return levels;
}

template <class T>
class Scheduler {
public:
    Scheduler(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const Levels& levels)
        : a_(a), is_lower_(triangle == Triangle::lower), has_pivots_(diagonal == Diagonal::stored), levels_(levels) {}

    LevelSchedule<T> run(int threads) {
        schedule_.threads = threads;
        sort_rows();
        copy_rows();
        make_chunks();
        if (shared_work_ < least_shared_work && threads > 1) {
            schedule_.threads = 1;
            make_chunks();
        }
        return std::move(schedule_);
    }

private:
    std::int64_t length(std::int32_t row) const { return a_.row_length(row) - (has_pivots_ ? 1 : 0); }

    void sort_rows() {
        std::vector<std::int64_t>& offsets = schedule_.level_offsets;
        offsets.assign(static_cast<std::size_t>(levels_.count) + 1, 0);
        for (const std::int32_t level : levels_.of_row) ++offsets[level + 1];
        for (std::int64_t level = 0; level < levels_.count; ++level) offsets[level + 1] += offsets[level];
        std::vector<std::int64_t> next(offsets.begin(), offsets.end());
        schedule_.order.resize(static_cast<std::size_t>(a_.rows));
        for (std::int32_t row = 0; row < a_.rows; ++row) schedule_.order[next[levels_.of_row[row]]++] = row;
        for (std::int64_t level = 0; level < levels_.count; ++level) sort_blocks(offsets[level], offsets[level + 1]);
    }

    void sort_blocks(std::int64_t begin, std::int64_t end) {
        std::array<std::uint64_t, sorted_block> keys;
        for (; begin < end; begin += sorted_block) {
            const std::int64_t size = std::min(sorted_block, end - begin);
            std::int32_t* const rows = schedule_.order.data() + begin;
            const std::int64_t first_length = length(rows[0]);
            bool same = true;
            for (std::int64_t i = 0; i < size; ++i) {
                const std::int64_t row_length = length(rows[i]);
                same = same && row_length == first_length;
                keys[i] = static_cast<std::uint64_t>(row_length) << 32 | static_cast<std::uint64_t>(rows[i]);
            }
            if (same) continue;
            std::sort(keys.begin(), keys.begin() + size);
            for (std::int64_t i = 0; i < size; ++i) rows[i] = static_cast<std::int32_t>(keys[i]);
        }
    }

    void copy_rows() {
        const std::int64_t rows = a_.rows;
        resize_in_huge_pages(schedule_.row_offsets, rows + 1, schedule_.threads);
        for (std::int64_t place = 0; place < rows; ++place) {
            __builtin_prefetch(a_.row_offsets.address(row_ahead(place, 32)));
            schedule_.row_offsets[place + 1] = schedule_.row_offsets[place] + length(schedule_.order[place]);
        }
        resize_in_huge_pages(schedule_.column_indices, schedule_.row_offsets[rows], schedule_.threads);
        resize_in_huge_pages(schedule_.values, schedule_.row_offsets[rows], schedule_.threads);
        if (has_pivots_) resize_in_huge_pages(schedule_.pivots, rows, schedule_.threads);
        const int threads = schedule_.threads;
        parallel_for(threads,
                     [&](int part) { copy_rows(share_begin(rows, part, threads), share_begin(rows, part + 1, threads)); });
    }

    void copy_rows(std::int64_t begin, std::int64_t end) {
        for (std::int64_t place = begin; place < end; ++place) {
            __builtin_prefetch(a_.row_offsets.address(row_ahead(place, 32)));
            const std::int64_t later = a_.row_offsets[row_ahead(place, 16)];
            __builtin_prefetch(a_.column_indices.data() + later);
            __builtin_prefetch(a_.values.data() + later);
            const std::int32_t row = schedule_.order[place];
            std::int64_t from = a_.row_offsets[row];
            if (has_pivots_) schedule_.pivots[place] = a_.values[is_lower_ ? a_.row_offsets[row + 1] - 1 : from++];
            const std::int64_t to = schedule_.row_offsets[place];
            const std::int64_t count = schedule_.row_offsets[place + 1] - to;
            std::copy_n(a_.column_indices.data() + from, count, schedule_.column_indices.data() + to);
            std::copy_n(a_.values.data() + from, count, schedule_.values.data() + to);
        }
    }

    std::int32_t row_ahead(std::int64_t place, std::int64_t distance) const {
        return schedule_.order[std::min(place + distance, a_.rows - 1)];
    }

    std::int64_t work_before(std::int64_t place) const { return schedule_.row_offsets[place] + work_of_a_row * place; }

    void make_chunks() {
        std::vector<LevelChunk>& chunks = schedule_.chunks;
        chunks.clear();
        shared_work_ = 0;
        bool last_is_alone = false;  // the last chunk is all of its levels
        for (std::int64_t level = 0; level < levels_.count; ++level) {
            const std::int64_t begin = schedule_.level_offsets[level];
            const std::int64_t end = schedule_.level_offsets[level + 1];
            const std::int64_t work = work_before(end) - work_before(begin);
            const std::int64_t most = schedule_.threads > 1 ? most_chunks_per_thread * schedule_.threads : 1;
            const std::int64_t parts = std::clamp<std::int64_t>(work / least_chunk_work, 1, most);
            if (parts == 1 && last_is_alone) {
                chunks.back().last_level = level + 1;
                chunks.back().last_place = end;
                continue;
            }
            last_is_alone = parts == 1;
            if (parts > 1) shared_work_ += work;
            const std::int64_t before = std::ssize(chunks);
            for (std::int64_t place = begin, part = 1; place < end; ++part) {
                const std::int64_t next =
                    part == parts ? end : place_of_work(place, end, work_before(begin) + work * part / parts);
                chunks.push_back({level, level + 1, place, next, before});
                place = next;
            }
        }
    }

    /// The first place after `begin`, in steps of chunk_granularity, before which there is so much work.
    std::int64_t place_of_work(std::int64_t begin, std::int64_t end, std::int64_t work) const {
        std::int64_t place = begin + chunk_granularity;
        while (place < end && work_before(place) < work) place += chunk_granularity;
        return std::min(place, end);
    }

    CsrView<T> a_;
    bool is_lower_;
    bool has_pivots_;
    const Levels& levels_;
    LevelSchedule<T> schedule_;
    std::int64_t shared_work_ = 0;  // of levels that have several chunks
};

}  // namespace

template <class T>
std::unique_ptr<const LevelSchedule<T>> schedule_levels(const CsrView<T>& a, Triangle triangle, Diagonal diagonal,
                                                        int threads) {
    const Levels levels = find_levels(a, triangle);
    if (levels.count * least_mean_width > a.rows) return nullptr;
    const int useful_threads = std::min(threads, available_processors());
    return std::make_unique<LevelSchedule<T>>(Scheduler<T>(a, triangle, diagonal, levels).run(useful_threads));
}

template std::unique_ptr<const LevelSchedule<float>> schedule_levels(const CsrView<float>&, Triangle, Diagonal, int);
template std::unique_ptr<const LevelSchedule<double>> schedule_levels(const CsrView<double>&, Triangle, Diagonal, int);

}  // namespace solver::cpu
