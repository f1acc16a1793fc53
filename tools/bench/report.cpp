#include "report.hpp"

#include "benchmarks.hpp"
#include "child_process.hpp"
#include "cuda/benchmarks.hpp"
#include "eigen_peer.hpp"
#include "io/atomic_file.hpp"
#include "machine.hpp"
#include "mkl_peer.hpp"
#include "openblas_peer.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "tools/page/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

namespace solver::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double mebibyte = 1 << 20;

std::string time_of_a_call(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.2f} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s ", seconds);
}

std::string rate_text(double rate) { return fmt::format("{:.{}f}", rate, rate < 10 ? 3 : 1); }

std::string error_text(double error) {
    if (error == 0) return "0";
    return error < 1e4 && error > 1e-2 ? fmt::format("{:.2f}", error) : fmt::format("{:.1e}", error);
}

std::string openmp_text(const Options& options) {
    return eigen::usable_threads(options.threads) == options.threads ? "by OpenMP where Eigen can"
                                                                     : "without OpenMP, on one thread";
}

/// Of scaling in a child: after the first use of CUDA here, no child could use it. Throws NotSupported where none answers.
std::string device_description(const Options& options) {
    if (options.subject != Subject::scaling) return on_cuda::device_description(*options.cuda_device);
    static const Ending told = run_apart([&] { return on_cuda::device_description(*options.cuda_device); }, 60);
    if (told.how != Ending::How::done)
        throw NotSupported(fmt::format("device cuda:{}: none answers; is there a GPU, and was solver-bench built with CUDA?",
                                       *options.cuda_device));
    return told.result;
}

std::string peers_on_device(const Options& options) {
    return options.subject == Subject::scaling ? "none" : on_cuda::description();
}

std::string peers_on_processor(const Options& options) {
    if (options.subject == Subject::scaling) return peers_of_scaling();
    const bool with_openblas = options.subject == Subject::gemm && openblas::is_there();
    std::string peers = eigen::description();
    if (with_openblas) peers += ", " + openblas::description();
    if (options.subject == Subject::spmv && mkl::is_there()) peers += ", " + mkl::description();
    return peers;
}

Json json_of(const Measure& measure) { return {{"title", measure.title}, {"name", measure.name}}; }

/// Named as by test-blas2.
void add(Json& entry, const page::UlpHistogram& histogram) {
    entry["elements"] = histogram.elements;
    Json& counts = entry["histogram"] = Json::object();
    for (const auto& [limit, count] : histogram.within) counts[fmt::format("{}", limit)] = count;
    counts["wrong_digits"] = histogram.wrong_digits;
    counts["non_finite"] = histogram.non_finite;
    entry["largest_ulps"] = histogram.largest;
    if (const auto& worst = histogram.worst)
        entry["worst"] = {
            {"row", worst->row}, {"length", worst->length}, {"computed", worst->computed}, {"true", worst->truth}};
}

Json json_of(const std::vector<page::ResidualPoint>& points) {
    Json json = Json::array();
    for (const page::ResidualPoint& point : points) json.push_back({point.iteration, point.residual});
    return json;
}

void add(Json& entry, const Residuals& residuals) {
    entry["residuals"] = {{"believed", json_of(residuals.believed)}, {"true", json_of(residuals.truth)}};
}

Json machine_facts(const Options& options) {
    Json facts = {{"processor", describe(Device::cpu()).name},
                  {"processors", processors()},
                  {"threads", options.threads},
                  {"simd", simd_target()},
                  {"last_level_cache_bytes", last_level_cache()},
                  {"compiler", page::compiler()},
                  {"optimised", is_optimised()}};
    if (options.cuda_device) facts["device"] = device_description(options);
    facts["peer"] = options.cuda_device ? peers_on_device(options) : peers_on_processor(options);
    return facts;
}

}  // namespace

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

Json head_of_record(const Options& options, const std::string& benchmark) {
    return {{"solver", SOLVER_VERSION},
            {"benchmark", benchmark},
            {"command", options.command},
            {"made", page::now()},
            {"machine", machine_facts(options)}};
}

void Report::print_head() const {
    fmt::print("solver-bench {} {}\n\n", SOLVER_VERSION, to_string(options_.subject));
    fmt::print("  machine  {}, {} threads on {} processors, last-level cache {:.0f} MiB\n", describe(Device::cpu()).name,
               options_.threads, processors(), static_cast<double>(last_level_cache()) / mebibyte);
    fmt::print("  ours     solver {}, {}, {}\n", SOLVER_VERSION, simd_target(), page::compiler());
    if (options_.cuda_device) {
        fmt::print("  device   {}\n", device_description(options_));
        fmt::print("  peers    {}\n", peers_on_device(options_));
    } else {
        fmt::print("  peer     {}, {}\n", peers_on_processor(options_), openmp_text(options_));
    }
    if (!is_optimised())
        fmt::print("\n  Built without optimisation: no time below means anything (CMAKE_BUILD_TYPE=Release).\n");
    std::fflush(stdout);
}

void Report::note(const std::string& text) const { fmt::print(stderr, "solver-bench: {}\n", text); }

void Report::run(const Contest& contest) {
    rate_ = contest.rate;
    error_ = contest.error;
    details_ = contest.details;
    const std::vector<Timing> timings = compete(contest.competitors, options_.effort);
    const std::size_t first = cases_.size();
    keep(contest, timings);
    print_table(contest, std::span(cases_).subspan(first));
    judge(contest, timings);
    write(write_draft);
}

void Report::keep(const Contest& contest, std::span<const Timing> timings) {
    const auto peer = std::min_element(contest.peers.begin(), contest.peers.end(),
                                       [&](std::size_t i, std::size_t j) { return timings[i].median() < timings[j].median(); });
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const Timing& timing = timings[i];
        const Competitor& competitor = contest.competitors[i];
        Case result{.heading = contest.heading,
                    .parameters = contest.parameters,
                    .competitor = competitor.name,
                    .threads = competitor.threads,
                    .repetitions = timing.seconds.size(),
                    .seconds = timing.median(),
                    .uncertainty = timing.uncertainty(),
                    .rate = (competitor.operations > 0 ? competitor.operations : competitor.bytes) / timing.median() / 1e9,
                    .peer = "",
                    .ratio_to_peer = std::nullopt,
                    .baseline = contest.competitors[contest.baseline].name,
                    .ratio_to_baseline = speed_ratio(timing, timings[contest.baseline]),
                    .error = timing.error,
                    .remark = competitor.remark ? competitor.remark() : "",
                    .details = timing.details,
                    .histogram = competitor.histogram ? std::optional(competitor.histogram()) : std::nullopt,
                    .residuals = competitor.residuals ? std::optional(competitor.residuals()) : std::nullopt};
        if (peer != contest.peers.end()) {
            result.peer = contest.competitors[*peer].name;
            result.ratio_to_peer = speed_ratio(timing, timings[*peer]);
        }
        cases_.push_back(std::move(result));
    }
}

void Report::judge(const Contest& contest, std::span<const Timing> timings) {
    for (const std::string& name : inexact(contest.competitors, timings)) {
        verified_ = false;
        fmt::print("  NOT CORRECTLY ROUNDED: {} must have no error at all\n", name);
    }
}

void Report::print_table(const Contest& contest, std::span<const Case> cases) const {
    constexpr const char* line = "  {:<18} {:>7}  {:>10} {:>6}  {:>8}  {:>16}  {:>9}  {:>11}{}\n";
    const std::string peer = contest.peers.empty() ? "peer" : cases.front().peer;
    fmt::print("\n{}, {} repetitions\n", contest.heading, cases.front().repetitions);
    std::string further;
    for (const Measure& detail : contest.details) further += fmt::format("  {:>11}", detail.title);
    fmt::print(line, "", "threads", "time   ", "+-", contest.rate.title, "x " + peer, "x " + cases.front().baseline,
               contest.error.title, further);
    for (const Case& result : cases) {
        further.clear();
        for (const double detail : result.details) further += fmt::format("  {:>11}", error_text(detail));
        if (!result.remark.empty()) further += "  " + result.remark;
        fmt::print(line, result.competitor, result.threads == 0 ? "gpu" : std::to_string(result.threads),
                   time_of_a_call(result.seconds), result.uncertainty ? fmt::format("{:.1f}%", 100 * *result.uncertainty) : "-",
                   rate_text(result.rate), result.ratio_to_peer ? fmt::format("{:.2f}", *result.ratio_to_peer) : "-",
                   fmt::format("{:.2f}", result.ratio_to_baseline), error_text(result.error), further);
    }
    std::fflush(stdout);
}

Json Report::json() const {
    Json json = head_of_record(options_, std::string(to_string(options_.subject)));
    json["verified"] = verified_;
    json["rate"] = json_of(rate_);
    json["error"] = json_of(error_);
    json["cases"] = Json::array();
    for (const Case& result : cases_) {
        Json entry{{"heading", result.heading}};
        for (const auto& [name, value] : result.parameters) entry[name] = value;
        entry["competitor"] = result.competitor;
        entry["threads"] = result.threads;
        entry["repetitions"] = result.repetitions;
        entry["median_seconds"] = result.seconds;
        entry["relative_uncertainty"] = result.uncertainty ? Json(*result.uncertainty) : Json();
        entry[rate_.name] = result.rate;
        entry["peer"] = result.peer;
        entry["ratio_to_peer"] = result.ratio_to_peer ? Json(*result.ratio_to_peer) : Json();
        entry["baseline"] = result.baseline;
        entry["ratio_to_baseline"] = result.ratio_to_baseline;
        entry[error_.name] = result.error;  // null where infinite
        for (std::size_t i = 0; i < details_.size(); ++i) entry[details_[i].name] = result.details[i];
        entry["remark"] = result.remark;
        if (result.histogram) add(entry, *result.histogram);
        if (result.residuals) add(entry, *result.residuals);
        json["cases"].push_back(std::move(entry));
    }
    return json;
}

void Report::write(FileWriter to_file) const {
    if (!options_.json.empty()) to_file(options_.json, text_of(json()));
}

void Report::finish() const { write(write_file); }

void check_outputs(const Options& options) {
    const auto paths = outputs(options);
    for (auto path = paths.begin(); path != paths.end(); ++path) {
        if (std::find(paths.begin(), path, *path) != path)
            throw InvalidArgument(fmt::format("two outputs name the same file, {}", path->string()));
        require_writable(*path);
    }
}

}  // namespace solver::bench
