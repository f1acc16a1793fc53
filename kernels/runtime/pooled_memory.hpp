#pragma once

/// Memory for work that needs many arrays for a moment.

#include <memory>

namespace solver::cuda {

/// While it lives, arrays that this thread makes on the device take memory from a pool, and what they give back is kept there
/// for the next: the driver's allocation takes milliseconds for large arrays, and freeing waits for the device. For work on the
/// default stream alone. Arrays may outlive the pool; what no array has then goes back to the device. Where a device has no
/// pools, arrays are made as always.
class PooledMemory {
public:
    explicit PooledMemory(int device);
    PooledMemory(const PooledMemory&) = delete;
    PooledMemory& operator=(const PooledMemory&) = delete;
    ~PooledMemory();

private:
    struct Pool;
    friend class PooledAllocation;
    std::unique_ptr<Pool> pool_;
};

}  // namespace solver::cuda
