#include "tools/cli/program.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

namespace solver::cli {
namespace {

/// Not by fmt::print, which throws where nothing can be written.
int refuse(std::string_view name, std::string_view message) {
    std::fputs(fmt::format("{}: {}\n", name, message).c_str(), stderr);
    return 1;
}

}  // namespace

int run_program(std::string_view name, int argc, char** argv, int (*run)(int argc, char** argv)) {
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        return refuse(name, "not enough memory");
    } catch (const std::exception& error) {
        return refuse(name, error.what());
    }
}

}  // namespace solver::cli
