#include "solver/accuracy.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>

namespace solver {

std::string_view to_string(Accuracy accuracy) {
    switch (accuracy) {
        case Accuracy::fast:
            return "fast";
        case Accuracy::compensated:
            return "compensated";
        case Accuracy::exact:
            return "exact";
    }
    throw InvalidArgument(fmt::format("accuracy: there is no mode number {}", static_cast<int>(accuracy)));
}

Accuracy accuracy_from_text(std::string_view text) {
    for (const Accuracy accuracy : all_accuracies)
        if (text == to_string(accuracy)) return accuracy;
    throw InvalidArgument(fmt::format("accuracy '{}' is not known; choose fast, compensated or exact", text));
}

}  // namespace solver
