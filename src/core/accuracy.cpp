#include "solver/accuracy.hpp"

#include "core/names.hpp"

namespace solver {
namespace {

constexpr Name<Accuracy> accuracy_names[] = {
    {Accuracy::fast, "fast"}, {Accuracy::compensated, "compensated"}, {Accuracy::exact, "exact"}};

}  // namespace

std::string_view to_string(Accuracy accuracy) { return name_of(accuracy, accuracy_names, "accuracy: there is no mode"); }

Accuracy accuracy_from_text(std::string_view text) { return value_of(text, accuracy_names, "accuracy"); }

}  // namespace solver
