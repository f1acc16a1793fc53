#pragma once

/// Products with one matrix or operator that several solves wait for.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <vector>

namespace solver {

template <class T>
class SharedProducts {
public:
    SharedProducts() = default;
    SharedProducts(const SharedProducts&) = delete;
    SharedProducts& operator=(const SharedProducts&) = delete;
    virtual ~SharedProducts() = default;

    /// To be made by the next run(). What it refers to stays where it is until then.
    virtual void add(const SpmvTask<T>& task, Accuracy accuracy) = 0;

    /// Makes all of them.
    virtual void run() = 0;

    /// Makes none of them.
    virtual void drop() = 0;

    virtual std::int64_t rows() const = 0;
    virtual const Device& device() const = 0;

    /// The 1-norms of the columns, found when first asked for; zeros where they are not known.
    virtual const std::vector<T>& column_norms() = 0;
};

}  // namespace solver
