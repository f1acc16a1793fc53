#pragma once

#include <cstdlib>
#include <string>

namespace solver::testing {

/// What is left of a process that ended.
struct Finished {
    int status;
    std::string out;
    std::string err;
};

/// The program that a test starts: the one that was built, unless the environment names another.
inline std::string program(const char* variable, const char* built) {
    const char* const other = std::getenv(variable);
    return other != nullptr ? other : built;
}

}  // namespace solver::testing
