#include "blas2/options.hpp"

#include "fuzz/command_lines.hpp"
#include "solver/error.hpp"

namespace solver::fuzz {

bool understood_by_blas2(int argc, const char* const* argv) try {
    blas2::parse_options(argc, argv);
    return true;
} catch (const Error& error) {
    require(std::string_view(error.what()).size() > 10, "test-blas2 refuses without a sentence");
    return false;
}

}  // namespace solver::fuzz
