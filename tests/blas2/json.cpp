#include "json.hpp"

#include "solver/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace solver::blas2 {
namespace {

using Json = nlohmann::ordered_json;

/// Infinity alone is null.
Json ulps_of(long double ulps) {
    constexpr long double most = std::numeric_limits<double>::max();
    return std::isinf(ulps) ? Json(nullptr) : Json(static_cast<double>(std::min(ulps, most)));
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// "-1.921 (-0x1.ebc6a8p+0)"
std::string decimal_and_hex(double value) { return fmt::format("{} ({:a})", value, value); }

Json worst_of(const Verdict& verdict) {
    if (!verdict.worst) return nullptr;
    const Worst& worst = *verdict.worst;
    Json json;
    json["row"] = worst.element + 1;
    json["name"] = worst.name;
    json["length"] = worst.terms;
    json["condition"] = finite(worst.condition);
    json["computed"] = decimal_and_hex(worst.computed);
    json["true"] = decimal_and_hex(worst.exact);
    return json;
}

Json histogram_of(const Histogram& histogram) {
    Json json = Json::object();
    for (const auto& [name, count] : histogram.by_name()) json[name] = count;
    return json;
}

}  // namespace

std::string to_json(const Verdict& verdict) {
    Json json;
    json["matrix"] = verdict.matrix;
    json["rows"] = verdict.rows;
    json["columns"] = verdict.columns;
    json["nonzeros"] = verdict.nonzeros;
    json["x"] = verdict.inputs.x;
    json["alpha"] = verdict.inputs.alpha;
    json["beta"] = verdict.inputs.beta;
    json["operation"] = to_string(verdict.operation);
    json["formula"] = verdict.formula;
    json["kernel"] = verdict.kernel;
    json["precision"] = verdict.precision;
    json["accuracy"] = verdict.accuracy ? std::string(to_string(*verdict.accuracy)) : "";
    json["judged"] = verdict.judged;
    json["device"] = verdict.device;
    json["elements"] = verdict.histogram.total();
    json["histogram"] = histogram_of(verdict.histogram);
    json["largest_ulps"] = ulps_of(verdict.largest_ulps);
    json["overflowed"] = verdict.overflowed;
    json["worst"] = worst_of(verdict);
    json["same_bits"] = verdict.same_bits;
    json["seconds"] = finite(verdict.seconds);
    json["cost"] = finite(verdict.cost);
    json["passed"] = verdict.passed;
    json["reason"] = verdict.reason;
    return json.dump();
}

std::string to_json(std::span<const std::string> verdicts, std::span<const LeftOut> left_out, const Options& options) {
    Json json;
    json["program"] = "test-blas2";
    json["version"] = SOLVER_VERSION;
    json["machine"]["cpu"] = describe(Device::cpu()).name;
    json["machine"]["threads"] = options.threads;
    json["machine"]["cuda"] = describe_cuda();
    json["command"] = options.command;
    json["left_out"] = Json::array();
    for (const LeftOut& matrix : left_out) json["left_out"].push_back(Json{{"matrix", matrix.name}, {"reason", matrix.reason}});
    std::string text = json.dump();
    text.back() = ',';
    return fmt::format("{}\n\"verdicts\": [\n{}\n]}}\n", text, fmt::join(verdicts, ",\n"));
}

}  // namespace solver::blas2
