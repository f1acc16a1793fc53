#include "tools/cli/options.hpp"

#include "matrices/closest_names.hpp"

#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>

namespace solver::cli {
namespace {

[[noreturn]] void refuse_unknown(const std::string& token, const po::options_description& table, const Usage& usage) {
    const std::string name = token.substr(0, token.find('='));
    std::string hint = usage.help + " lists all";
    std::size_t least = name.size() / 3 + 1;
    for (const auto& option : table.options()) {
        const std::string candidate = "--" + option->long_name();
        const std::size_t distance = matrices::edit_distance(name, candidate);
        if (distance >= least) continue;
        least = distance;
        hint = fmt::format("did you mean {}?", candidate);
    }
    throw UsageError(fmt::format("there is no option {}; {}", token, hint));
}

Device cuda_device(int index) {
    try {
        return Device::cuda(index);
    } catch (const NotSupported& error) {
        throw UsageError(fmt::format("{}; --device auto takes the best there is", error.what()));
    }
}

}  // namespace

po::variables_map read(const std::vector<std::string>& arguments, const po::options_description& table, const Usage& usage) {
    using namespace po::command_line_style;
    po::variables_map values;
    try {
        po::positional_options_description without_option;
        if (!usage.positional.empty()) without_option.add(usage.positional.c_str(), -1);
        po::store(po::command_line_parser(arguments)
                      .options(table)
                      .positional(without_option)
                      .style(unix_style & ~allow_guessing)
                      .run(),
                  values);
        return values;
    } catch (const po::unknown_option& error) {
        refuse_unknown(error.get_option_name(), table, usage);
    } catch (const po::too_many_positional_options_error&) {
        throw UsageError(fmt::format("every argument belongs to an option, as in {}; {} lists all", usage.example, usage.help));
    } catch (const po::error& error) {
        throw UsageError(fmt::format("{}; {} lists the options", error.what(), usage.help));
    }
}

std::optional<std::string> given(const po::variables_map& values, const char* name) {
    if (!is_given(values, name)) return std::nullopt;
    auto value = values[name].as<std::string>();
    if (value.empty()) throw UsageError(fmt::format("--{} needs a value", name));
    return value;
}

std::vector<std::string> all_given(const po::variables_map& values, const char* name) {
    return is_given(values, name) ? values[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

int threads_of(const po::variables_map& values) {
    const auto text = given(values, "threads");
    return text ? number_between<int>("threads", *text, 1, 4096) : 0;
}

std::optional<int> cuda_index(std::string_view text) {
    constexpr std::string_view prefix = "cuda:";
    if (text == "cuda") return 0;
    if (!text.starts_with(prefix)) return std::nullopt;
    const auto index = number_from<int>(text.substr(prefix.size()));
    return index && *index >= 0 ? index : std::nullopt;
}

Device device_of(const po::variables_map& values, int threads) {
    const std::string name = given(values, "device").value_or("auto");
    if (name == "cpu") return Device::cpu(threads);
    if (const auto index = cuda_index(name)) return cuda_device(*index);
    if (name != "auto") throw UsageError(fmt::format("--device {}: expected auto, cpu, cuda or cuda:N", name));
    const Device best = Device::best();
    return best.kind() == Device::Kind::cpu ? Device::cpu(threads) : best;
}

}  // namespace solver::cli
