/// solver-generate: writes a made matrix as a Matrix Market file.

#include "matrices/generators.hpp"

#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <filesystem>
#include <string>

namespace {

namespace cli = solver::cli;
namespace po = cli::po;
using solver::InvalidArgument;

std::string list_of_generators() {
    std::string text;
    for (const auto& kind : solver::matrices::generator_kinds())
        text += fmt::format("  {:<27} {}\n", kind.pattern, kind.purpose);
    return text;
}

std::string help(const po::options_description& visible) {
    return fmt::format(
        "usage: solver-generate NAME [--output FILE] [--force]\n"
        "Writes a made matrix as a Matrix Market file; the same file on every machine.\n\n"
        "NAME is one of\n{}\n{}",
        list_of_generators(), fmt::streamed(visible));
}

void generate(const po::variables_map& chosen) {
    const auto names = cli::all_given(chosen, "name");
    if (names.size() != 1) throw InvalidArgument("one NAME is needed, as in dc2_like.mtx; --list shows the names");
    const std::string& name = names.front();
    const auto generator = solver::matrices::find_generator(name);
    if (!generator)
        throw InvalidArgument(fmt::format("there is no generator '{}'; expected one of\n{}", name, list_of_generators()));

    const std::filesystem::path output = cli::given(chosen, "output").value_or(generator->name);
    if (std::filesystem::exists(std::filesystem::symlink_status(output)) && !cli::is_given(chosen, "force"))
        throw solver::FileError(output.string(), 0, "exists already; --force replaces it, --output chooses another file");
    const auto write = [&](const auto& matrix) {
        solver::write_matrix_market(output, matrix.view());
        fmt::print("{}: {} rows, {} columns, {} nonzeros\n", output.string(), matrix.rows, matrix.columns, matrix.nonzeros());
    };
    if (generator->is_complex())
        write(generator->make_complex());
    else
        write(generator->make());
}

int run(int argc, char** argv) {
    po::options_description visible("options");
    visible.add_options()                                                         //
        ("output,o", cli::text("FILE"), "the file to write (default: NAME.mtx)")  //
        ("force,f", "replace a file that exists")                                 //
        ("list,l", "list the generators")                                         //
        ("version", "print the version")                                          //
        ("help,h", "this text");
    po::options_description all;
    all.add(visible).add_options()("name", cli::texts("NAME"));
    const po::variables_map chosen = cli::read(
        {argv + 1, argv + argc}, all, {.help = "solver-generate --help", .example = "--output FILE", .positional = "name"});
    if (cli::is_given(chosen, "help"))
        fmt::print("{}", help(visible));
    else if (cli::is_given(chosen, "version"))
        fmt::print("solver-generate {}\n", SOLVER_VERSION);
    else if (cli::is_given(chosen, "list"))
        fmt::print("{}", list_of_generators());
    else
        generate(chosen);
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run_program("solver-generate", argc, argv, run); }
