#pragma once

/// A program that stops whenever it enters or leaves the kernel, so that a test can choose the moment of a signal.

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <csignal>

namespace solver::testing {

/// To be called in a child, before its program begins.
inline void be_traced() {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
}

/// Its first thread alone stops; the others run on.
class TracedProgram {
public:
    /// A child that called be_traced().
    explicit TracedProgram(pid_t child) : child_(child) {
        is_traced_ = ::waitpid(child_, &status_, 0) == child_ && WIFSTOPPED(status_) &&
                     ::ptrace(PTRACE_SETOPTIONS, child_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0;
    }

    bool is_traced() const { return is_traced_; }

    /// Goes on to the next call of the kernel or back from it; false where the program has ended, and status() says how.
    bool step() {
        for (int signal = 0;;) {
            if (::ptrace(PTRACE_SYSCALL, child_, nullptr, signal) != 0 || ::waitpid(child_, &status_, 0) != child_)
                return false;
            if (!WIFSTOPPED(status_)) return false;
            if (WSTOPSIG(status_) == (SIGTRAP | 0x80)) return true;
            signal = WSTOPSIG(status_) == SIGTRAP ? 0 : WSTOPSIG(status_);  // SIGTRAP is of execv
        }
    }

    /// Runs on by itself, this signal being the first thing that it hears of.
    void release(int signal) {
        ::kill(child_, signal);
        ::ptrace(PTRACE_DETACH, child_, nullptr, nullptr);
    }

    /// As waitpid gives it.
    int status() const { return status_; }

private:
    pid_t child_;
    int status_ = 0;
    bool is_traced_ = false;
};

}  // namespace solver::testing
