#pragma once

#include <string_view>

namespace solver::cli {

/// Ctrl-C and the like end the program as they always do, after what was half-written is removed, with a line on stderr that
/// says so. Those that whoever started the program chose to ignore stay ignored. Called once, by the first thread.
void clean_up_on_signals(std::string_view program);

}  // namespace solver::cli
