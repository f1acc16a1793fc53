#include "c/options.hpp"

#include "c/arguments.hpp"
#include "c/preconditioner.hpp"
#include "c/result.hpp"
#include "c/status.hpp"
#include "solver/krylov.hpp"

#include <cstddef>
#include <string_view>

namespace solver::c {
namespace {

solver_options default_options() {
    const SolveOptions defaults;
    solver_options options{};
    options.size = sizeof options;
    options.tolerance = defaults.iteration.tolerance;
    options.max_iterations = defaults.iteration.max_iterations;
    options.accuracy = to_c(defaults.iteration.accuracy);
    options.preconditioner = "auto";
    options.method = "auto";
    options.profile = "auto";
    options.guarantee = "none";
    options.callback_interval = defaults.iteration.callback_interval;
    options.restart = defaults.iteration.restart;
    return options;
}

/// NULL stands for the automatic choice.
std::string_view or_automatic(const char* text) { return text == nullptr ? "auto" : text; }

}  // namespace

solver_options options_or_default(const solver_options* options, const char* function) {
    return options == nullptr ? default_options() : filled_up(options, default_options(), function, "options");
}

SolveOptions options_from_c(const solver_options& given, std::vector<bool>& stopped, const char* function) {
    SolveOptions options;
    options.preconditioner = preconditioner_or_auto_from_text(or_automatic(given.preconditioner));
    options.method = krylov_method_or_auto_from_text(or_automatic(given.method));
    options.profile = cost_profile_from_text(or_automatic(given.profile));
    options.guarantee = given.guarantee == nullptr ? Guarantee::none : guarantee_from_text(given.guarantee);
    options.factors = factors_from_c(given.factors, function);
    options.mixed = given.mixed != 0;
    options.iteration.accuracy = accuracy_of(given.accuracy, function);
    options.iteration.tolerance = given.tolerance;
    options.iteration.absolute_tolerance = given.absolute_tolerance;
    options.iteration.max_iterations = given.max_iterations;
    options.iteration.keep_history = given.keep_history != 0;
    options.iteration.callback_interval = given.callback_interval;
    if (given.restart != 0) options.iteration.restart = given.restart;
    require(given.reserved == 0, function, "`reserved` of the options is not 0");
    require(given.max_iterations >= 0, function, "the number of iterations is negative");
    require(given.callback_interval >= 1, function, "the callback's interval is below 1");
    if (given.callback != nullptr)
        options.iteration.callback = [given, &stopped](const Iteration& iteration) {
            const solver_iteration told = to_c(iteration);
            if (given.callback(given.context, &told) == 0) return true;
            stopped[static_cast<std::size_t>(iteration.column)] = true;
            return false;
        };
    return options;
}

}  // namespace solver::c

using namespace solver::c;

solver_status solver_options_init(solver_options* options, uint64_t size) {
    return guarded([&] {
        required(options, "solver_options_init", "options").size = size;
        hand_over(default_options(), options, "solver_options_init", "options");
    });
}
