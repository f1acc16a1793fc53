#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace solver::testing {

/// While one lives, this process may use so many bytes, as if by `ulimit -d`, or by -v with RLIMIT_AS.
class LessMemory {
public:
    explicit LessMemory(std::int64_t bytes, decltype(RLIMIT_AS) resource = RLIMIT_DATA) : resource_(resource) {
        ::getrlimit(resource_, &before_);
        const rlimit less{static_cast<rlim_t>(bytes), before_.rlim_max};
        is_set_ = ::setrlimit(resource_, &less) == 0;
    }
    ~LessMemory() { ::setrlimit(resource_, &before_); }
    LessMemory(const LessMemory&) = delete;
    LessMemory& operator=(const LessMemory&) = delete;

    bool is_set() const { return is_set_; }

private:
    decltype(RLIMIT_AS) resource_;
    rlimit before_{};
    bool is_set_ = false;
};

}  // namespace solver::testing
