#include "fuzz/command_lines.hpp"
#include "matrices/generators.hpp"
#include "solver/error.hpp"

#include <vector>

namespace solver::fuzz {
namespace {

/// One argument a line.
std::vector<std::string> lines_of(Input input) {
    std::vector<std::string> lines(1);
    for (const std::uint8_t byte : input)
        if (byte == '\n')
            lines.emplace_back();
        else if (byte != '\0')
            lines.back() += static_cast<char>(byte);
    return lines;
}

void find_generators(const std::vector<std::string>& names) {
    for (const std::string& name : names) try {
            matrices::find_generator(name);
        } catch (const Error& error) {
            require(std::string_view(error.what()).size() > 10, "a name is refused without a sentence");
        }
}

}  // namespace

void options(Input input) {
    const std::vector<std::string> lines = lines_of(input);
    std::vector<const char*> arguments{"program"};
    for (const std::string& line : lines) arguments.push_back(line.c_str());
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    understood_by_solver(count, arguments.data());
    understood_by_bench(count, arguments.data());
    understood_by_blas2(count, arguments.data());
    find_generators(lines);
}

}  // namespace solver::fuzz
