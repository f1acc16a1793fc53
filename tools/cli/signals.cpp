#include "tools/cli/signals.hpp"

#include "io/unfinished_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace solver::cli {
namespace {

struct Ending {
    int number;
    const char* name;
};
constexpr std::array endings{Ending{SIGHUP, "SIGHUP"}, Ending{SIGINT, "SIGINT"}, Ending{SIGTERM, "SIGTERM"},
                             Ending{SIGXCPU, "SIGXCPU"}};

std::array<char, 64> program_name{};
const char* received = "";

void tell(const char* path, bool directly) {
    for (const char* part :
         {static_cast<const char*>(program_name.data()), ": ", path, ": ", received,
          directly ? " ended the writing; a part may be there\n" : " ended the writing; nothing was changed\n"})
        if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
}

/// Only what a handler of signals may call.
void end(int number) {
    const int before = errno;
    if (::gettid() != ::getpid()) {  // the first thread is the one that writes
        ::tgkill(::getpid(), ::getpid(), number);
        errno = before;
        return;
    }
    received =
        std::find_if(endings.begin(), endings.end(), [&](const Ending& ending) { return ending.number == number; })->name;
    abandon_unfinished_files(tell);
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(number, &usual, nullptr);
    ::raise(number);
}

}  // namespace

void clean_up_on_signals(std::string_view program) {
    program.copy(program_name.data(), program_name.size() - 1);
    struct sigaction action {};
    action.sa_handler = end;
    action.sa_flags = SA_RESTART;
    ::sigfillset(&action.sa_mask);
    for (const Ending& ending : endings) {
        struct sigaction before {};
        ::sigaction(ending.number, nullptr, &before);
        if (before.sa_handler != SIG_IGN) ::sigaction(ending.number, &action, nullptr);
    }
}

}  // namespace solver::cli
