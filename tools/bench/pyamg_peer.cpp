#include "pyamg_peer.hpp"

#include "solver/error.hpp"
#include "text_file.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

namespace solver::bench::pyamg {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs python3 with these arguments, which dies with this process. What it prints goes to files `out` and `err`.
bool python(std::vector<std::string> arguments, const fs::path& out, const fs::path& err) {
    arguments.insert(arguments.begin(), "python3");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        // Its own kernels have one thread; those of a BLAS only get in the way of its many small products.
        for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) ::setenv(name, "1", 1);
        if (std::freopen(out.c_str(), "w", stdout) != nullptr && std::freopen(err.c_str(), "w", stderr) != nullptr)
            ::execvp(pointers[0], pointers.data());
        ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

template <class T>
void write(const fs::path& path, std::span<const T> numbers) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
    file.close();
    if (!file) throw FileError(path.string(), 0, "cannot be written; is the disk full? TMPDIR may name another place");
}

std::string last_line_of(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);  // from the beginning where there is none
}

}  // namespace

std::string description() {
    const TemporaryFolder folder;
    const bool there = python({"-c", "import pyamg; print(pyamg.__version__)"}, folder.path() / "out", folder.path() / "err");
    return there ? "PyAMG " + last_line_of(content_of(folder.path() / "out")) : "";
}

Answer solve(Method method, const Problem& problem, const Options& options, const fs::path& scratch) {
    write(scratch / "offsets", std::span(problem.a.row_offsets));
    write(scratch / "columns", std::span(problem.a.view().column_indices));
    write(scratch / "values", std::span(problem.a.view().values));
    write(scratch / "b", std::span(std::as_const(problem.b)));
    const bool done = python({SOLVER_BENCH_PYAMG_SCRIPT, scratch.string(), problem.name,
                              method == Method::cg ? "cg" : "bicgstab", problem.symmetric ? "symmetric" : "nonsymmetric",
                              fmt::format("{}", options.tolerance), fmt::format("{}", options.max_iterations)},
                             scratch / "out", scratch / "err");
    if (!done) throw InvalidArgument("PyAMG: " + last_line_of(content_of(scratch / "err")));

    Answer answer{.trial = {}, .x = std::vector<double>(problem.b.size())};
    std::ifstream(scratch / "x", std::ios::binary)
        .read(reinterpret_cast<char*>(answer.x.data()), static_cast<std::streamsize>(8 * answer.x.size()));
    const auto result = nlohmann::json::parse(content_of(scratch / "result.json"));
    answer.trial.claimed = result["converged"];
    answer.trial.status = answer.trial.claimed ? "converged" : "not converged";
    answer.trial.iterations = result["iterations"];
    answer.trial.setup_seconds = result["setup"];
    answer.trial.solve_seconds = result["solve"];
    answer.trial.memory_bytes = result["memory"];
    return answer;
}

}  // namespace solver::bench::pyamg
