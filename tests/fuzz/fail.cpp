#include "fuzz/targets.hpp"

#include <cstdio>
#include <cstdlib>

namespace solver::fuzz {

void fail(const std::string& what) {
    std::fprintf(stderr, "fuzz: %s\n", what.c_str());
    std::abort();
}

}  // namespace solver::fuzz
