/// solver-generate: writes a made matrix as a Matrix Market file.

#include "matrices/generators.hpp"

#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <boost/program_options.hpp>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

namespace options = boost::program_options;
using solver::InvalidArgument;

constexpr int success = 0, bad_usage = 1;

std::string list_of_generators() {
    std::string text;
    for (const auto& kind : solver::matrices::generator_kinds())
        text += fmt::format("  {:<27} {}\n", kind.pattern, kind.purpose);
    return text;
}

std::string help(const options::options_description& visible) {
    return fmt::format(
        "usage: solver-generate NAME [--output FILE] [--force]\n"
        "Writes a made matrix as a Matrix Market file; the same file on every machine.\n\n"
        "NAME is one of\n{}\n{}",
        list_of_generators(), fmt::streamed(visible));
}

void generate(const options::variables_map& chosen) {
    if (chosen.count("name") == 0) throw InvalidArgument("no NAME given, as in dc2_like.mtx; --list shows the names");
    const auto name = chosen["name"].as<std::string>();
    const auto generator = solver::matrices::find_generator(name);
    if (!generator)
        throw InvalidArgument(fmt::format("there is no generator '{}'; expected one of\n{}", name, list_of_generators()));

    const std::filesystem::path output = chosen.count("output") != 0 ? chosen["output"].as<std::string>() : generator->name;
    if (std::filesystem::exists(output) && chosen.count("force") == 0)
        throw solver::FileError(output.string(), 0, "exists already; --force replaces it, --output chooses another file");
    const solver::CsrMatrix<double> matrix = generator->make();
    solver::write_matrix_market(output, matrix.view());
    fmt::print("{}: {} rows, {} columns, {} nonzeros\n", output.string(), matrix.rows, matrix.columns, matrix.nonzeros());
}

int run(int argc, char** argv) {
    options::options_description visible("options");
    visible.add_options()                                                                    //
        ("output,o", options::value<std::string>(), "the file to write, instead of ./NAME")  //
        ("force,f", "replace a file that exists")                                            //
        ("list,l", "list the generators")                                                    //
        ("help,h", "this text");
    options::options_description all;
    all.add(visible).add_options()("name", options::value<std::string>());
    options::positional_options_description positions;
    positions.add("name", 1);

    options::variables_map chosen;
    options::store(options::command_line_parser(argc, argv).options(all).positional(positions).run(), chosen);
    if (chosen.count("help") != 0)
        fmt::print("{}", help(visible));
    else if (chosen.count("list") != 0)
        fmt::print("{}", list_of_generators());
    else
        generate(chosen);
    return success;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to be told of, not the end
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "solver-generate: " << error.what() << '\n';
        return bad_usage;
    }
}
