#include "trial.hpp"

#include "child_process.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <new>
#include <nlohmann/json.hpp>
#include <utility>

namespace solver::bench {
namespace {

using nlohmann::json;

Trial tried_or_failed(const std::function<Trial()>& work) try { return work(); } catch (const std::bad_alloc&) {
    return failed("failed", "not enough memory");
} catch (const NotSupported& error) {
    return failed("not built", error.what());
} catch (const std::exception& error) {
    return failed("failed", error.what());
}

std::string as_text(const Trial& trial) {
    return json{{"status", trial.status},         {"remark", trial.remark},       {"claimed", trial.claimed},
                {"iterations", trial.iterations}, {"residual", trial.residual},  // null where it is not finite
                {"setup", trial.setup_seconds},   {"solve", trial.solve_seconds}, {"memory", trial.memory_bytes}}
        .dump(-1, ' ', false, json::error_handler_t::replace);
}

Trial from_text(const std::string& text) {
    const json fields = json::parse(text);
    Trial trial = failed(fields["status"], fields["remark"]);
    trial.claimed = fields["claimed"];
    trial.iterations = fields["iterations"];
    if (!fields["residual"].is_null()) trial.residual = fields["residual"];
    trial.setup_seconds = fields["setup"];
    trial.solve_seconds = fields["solve"];
    trial.memory_bytes = fields["memory"];
    return trial;
}

}  // namespace

Trial failed(std::string status, std::string remark) {
    Trial trial;
    trial.status = std::move(status);
    trial.remark = std::move(remark);
    return trial;
}

Trial tried_apart(const std::function<Trial()>& work, double time_limit) {
    const Ending ending = run_apart([&] { return as_text(tried_or_failed(work)); }, time_limit);
    switch (ending.how) {
        case Ending::How::done:
            return from_text(ending.result);
        case Ending::How::timed_out: {
            Trial trial = failed("timed out", "");
            trial.solve_seconds = time_limit;
            return trial;
        }
        case Ending::How::died:
            break;
    }
    return failed("crashed", fmt::format("signal {}", ending.signal));
}

}  // namespace solver::bench
