#pragma once

/// Vectors that several threads may borrow.

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace solver {

/// Lends vectors of one length, whose contents are whatever they were, and keeps those given back.
template <class T>
class ScratchPool {
public:
    explicit ScratchPool(std::int64_t size) : size_(static_cast<std::size_t>(size)) {}

    /// A vector that goes back by itself.
    class Loan {
    public:
        explicit Loan(ScratchPool& pool) : pool_(pool), vector_(pool.take()) {}
        ~Loan() { pool_.give_back(std::move(vector_)); }
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        std::vector<T>& operator*() { return vector_; }

    private:
        ScratchPool& pool_;
        std::vector<T> vector_;
    };

private:
    std::vector<T> take() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) {
            free_.reserve(++made_);  // giving back never allocates
            return std::vector<T>(size_);
        }
        std::vector<T> taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }

    void give_back(std::vector<T>&& vector) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(vector));
    }

    std::size_t size_;
    std::size_t made_ = 0;
    std::mutex mutex_;
    std::vector<std::vector<T>> free_;
};

}  // namespace solver
