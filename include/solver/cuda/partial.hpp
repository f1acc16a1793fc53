#pragma once

/// This device's share of dot products over several processes or devices, of data that lie on it; solver/partial.hpp says how
/// shares become one number, rounded once.

#include "solver/cuda/reduce.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/partial.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace solver::cuda {

/// Has working memory of its own: one call at a time. Work is put on the caller's stream and is not waited for.
class PartialReducer {
public:
    explicit PartialReducer(int device);
    PartialReducer(PartialReducer&&) noexcept;
    PartialReducer& operator=(PartialReducer&&) noexcept;
    ~PartialReducer();

    /// results[k], in memory that the device can write, is the share of sum_i of[k].x_i of[k].y_i, all in one pass: what
    /// solver::partial_dots makes on the host. The terms of its filter differ, results that are rounded do not. Throws
    /// InvalidArgument for more than most_dots.
    static constexpr int most_dots = 4;
    void dots(std::int64_t n, std::span<const Factors<double>> of, PartialSum<double>* results, Stream stream = nullptr);

private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace solver::cuda
