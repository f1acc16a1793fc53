#pragma once

#include <functional>
#include <string>

namespace solver::bench {

/// How work in a process of its own ended.
struct Ending {
    enum class How { done, timed_out, died };
    How how = How::done;
    int signal = 0;      ///< died: of what, 0 where it exited
    std::string result;  ///< done: what work returned
};

/// Runs `work` in a child process for at most `time_limit` seconds, so that neither a hang nor a crash nor a lack of memory
/// reaches the caller. The caller must not have started threads that work relies on: a child inherits none.
Ending run_apart(const std::function<std::string()>& work, double time_limit);

}  // namespace solver::bench
