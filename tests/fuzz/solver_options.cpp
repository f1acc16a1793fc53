#include "tools/solver/options.hpp"

#include "fuzz/command_lines.hpp"
#include "solver/error.hpp"

namespace solver::fuzz {

bool understood_by_solver(int argc, const char* const* argv) try {
    command::parse_options(argc, argv);
    return true;
} catch (const Error& error) {
    require(std::string_view(error.what()).size() > 10, "solver refuses without a sentence");
    return false;
}

}  // namespace solver::fuzz
