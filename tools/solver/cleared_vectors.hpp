#pragma once

/// Vectors of zeros, made ahead.

#include "core/huge_pages.hpp"

#include <cstdint>
#include <future>
#include <utility>
#include <vector>

namespace solver::command {

/// Two vectors of zeros that another thread makes while the matrix goes to a GPU: the system clears new memory at some 5 GB/s,
/// which for many unknowns takes as long as a good part of the solve.
template <class T>
class ClearedVectors {
public:
    /// Nothing is made ahead unless `ahead`.
    ClearedVectors(std::int64_t size, bool ahead) {
        if (ahead) made_ = std::async(std::launch::async, [size] { return std::pair(zeros<T>(size), zeros<T>(size)); });
    }

    /// One of them where it has this size and is left, or another by so many threads.
    std::vector<T> take(std::int64_t size, int threads) {
        if (made_.valid()) left_ = made_.get();
        for (std::vector<T>* const one : {&left_.first, &left_.second})
            if (!one->empty() && std::ssize(*one) == size) return std::exchange(*one, {});
        return zeros<T>(size, threads);
    }

private:
    std::future<std::pair<std::vector<T>, std::vector<T>>> made_;
    std::pair<std::vector<T>, std::vector<T>> left_;
};

}  // namespace solver::command
