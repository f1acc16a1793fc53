#include "tools/cli/program.hpp"

#include "tools/cli/signals.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace solver::cli {
namespace {

/// Not by fmt::print, which throws where nothing can be written.
int refuse(std::string_view name, std::string_view message) {
    std::fputs(fmt::format("{}: {}\n", name, message).c_str(), stderr);
    return 1;
}

/// What the program printed has to arrive, too. Where it did not, some time ago, nobody knows the reason any more.
int after_printing(std::string_view name, int status) {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    return refuse(name, fmt::format("standard output: writing failed{}{}", errno != 0 ? ": " : "",
                                    errno != 0 ? std::strerror(errno) : ""));
}

}  // namespace

int run_program(std::string_view name, int argc, char** argv, int (*run)(int argc, char** argv)) {
    std::signal(SIGXFSZ, SIG_IGN);
    clean_up_on_signals(name);
    try {
        return after_printing(name, run(argc, argv));
    } catch (const std::bad_alloc&) {
        return refuse(name, "not enough memory");
    } catch (const std::exception& error) {
        return refuse(name, error.what());
    }
}

}  // namespace solver::cli
