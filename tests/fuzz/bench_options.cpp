#include "tools/bench/options.hpp"

#include "fuzz/command_lines.hpp"
#include "solver/error.hpp"

namespace solver::fuzz {

bool understood_by_bench(int argc, const char* const* argv) try {
    bench::parse_options(argc, argv);
    return true;
} catch (const Error& error) {
    require(std::string_view(error.what()).size() > 10, "solver-bench refuses without a sentence");
    return false;
}

}  // namespace solver::fuzz
