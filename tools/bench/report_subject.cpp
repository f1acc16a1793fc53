/// The page on several subjects.

#include "benchmarks.hpp"
#include "io/atomic_file.hpp"
#include "report_page.hpp"
#include "solver/error.hpp"
#include "tools/page/provenance.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace solver::bench {
namespace {

using Json = nlohmann::ordered_json;

/// What one subject is to measure for the page.
Options part_of(const Options& options, Subject subject) {
    Options part = options;
    part.subject = subject;
    part.json.clear();
    const bool on_gpu = options.cuda_device.has_value();
    if (subject == Subject::dot) {
        part.sizes = {std::int64_t{1} << (on_gpu ? 27 : 25)};
        part.inputs = {Input::random, Input::worst};
    }
    if (subject == Subject::gemm) {
        part.sizes = {on_gpu ? 8192 : 1024};
        part.elements = {Elements::uniform, Elements::both_signs};
    }
    return part;
}

Json measured(const Options& options) {
    Json report{{"solver", SOLVER_VERSION}, {"benchmark", "report"}, {"parts", Json::array()}};
    Report(options).print_head();
    for (const Subject subject : {Subject::spmv, Subject::solve, Subject::dot, Subject::gemm}) {
        const Options part = part_of(options, subject);
        Report results(part);
        run_benchmark(part, results);
        report["parts"].push_back(results.json());
        if (!options.json.empty()) write_draft(options.json, text_of(report));
    }
    if (!options.json.empty()) write_file(options.json, text_of(report));
    return report;
}

bool verified(const Json& report) {
    for (const Json& part : report.at("parts"))
        if (!part.at("verified").get<bool>()) return false;
    return true;
}

Json read_json(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw FileError(path.string(), 0, "cannot be opened");
    try {
        return Json::parse(file);
    } catch (const Json::exception& error) {
        throw FileError(path.string(), 0, fmt::format("is not JSON: {}", error.what()));
    }
}

/// Throws FileError where this, read from the file, cannot be drawn.
void check_drawable(const std::filesystem::path& path, const Json& parts, const Json& verdicts) {
    try {
        report_page({{"parts", parts}, {"verdicts", verdicts}});
        verified({{"parts", parts}});
    } catch (const std::exception& error) {
        throw FileError(path.string(), 0,
                        fmt::format("cannot be drawn, something is missing or other than expected: {}", error.what()));
    }
}

/// The parts of what --json wrote.
void add_recorded(const std::filesystem::path& path, Json& report) {
    Json file = read_json(path);
    if (!file.is_object() || !file.contains("benchmark"))
        throw FileError(path.string(), 0, "has no results of solver-bench; expected what --json wrote");
    if (!file.contains("parts")) file = Json{{"parts", Json::array({std::move(file)})}};
    for (const Json& part : file["parts"]) {
        if (!part.is_object() || !part.contains("cases") || !part.contains("command"))
            throw FileError(path.string(), 0,
                            "has no cases to draw; expected what --json of spmv, dot, sum, norm2, gemm, triangular, solve or "
                            "report wrote in this version");
        check_drawable(path, Json::array({part}), Json::array());
        report["parts"].push_back(part);
    }
}

Json recorded(const Options& options) {
    Json report{{"parts", Json::array()}};
    for (const std::filesystem::path& path : options.recorded) add_recorded(path, report);
    return report;
}

Json read_verdicts(const std::filesystem::path& path) {
    Json file = read_json(path);
    if (!file.is_object() || !file.contains("verdicts"))
        throw FileError(path.string(), 0, "has no verdicts; expected what test-blas2 --json wrote");
    check_drawable(path, Json::array(), Json::array({file}));
    return file;
}

/// Inputs are not to be replaced by the page, and are looked at before anything is measured.
void check_inputs(const Options& options) {
    std::error_code ignored;
    for (const auto* files : {&options.recorded, &options.verdicts})
        for (const std::filesystem::path& input : *files)
            for (const std::filesystem::path& output : outputs(options))
                if (std::filesystem::equivalent(input, output, ignored))
                    throw InvalidArgument(
                        fmt::format("{}: this would replace the results that are to be drawn", output.string()));
}

}  // namespace

bool bench_report(const Options& options) {
    check_inputs(options);
    Json verdicts = Json::array();
    for (const std::filesystem::path& path : options.verdicts) verdicts.push_back(read_verdicts(path));
    Json report = options.recorded.empty() ? measured(options) : recorded(options);
    report["verdicts"] = std::move(verdicts);
    write_file(options.html, report_page(report));
    return verified(report);
}

}  // namespace solver::bench
