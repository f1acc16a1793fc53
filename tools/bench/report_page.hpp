#pragma once

/// Results of several subjects as a page.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace solver::bench {

/// HTML that stands alone. `report` has the results of subjects (what their --json writes) in "parts", and the files of
/// test-blas2 in "verdicts". Throws what nlohmann::json throws where something is not as it is written there.
std::string report_page(const nlohmann::ordered_json& report);

}  // namespace solver::bench
