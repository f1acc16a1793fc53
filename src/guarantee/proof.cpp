#include "solver/proof.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>

#include <array>

namespace solver {

std::string_view to_string(Guarantee guarantee) {
    switch (guarantee) {
        case Guarantee::none:
            return "none";
        case Guarantee::bound:
            return "bound";
        case Guarantee::rounded:
            return "rounded";
    }
    throw InvalidArgument(fmt::format("solve: there is no guarantee number {}", static_cast<int>(guarantee)));
}

Guarantee guarantee_from_text(std::string_view text) {
    for (const Guarantee guarantee : std::array{Guarantee::none, Guarantee::bound, Guarantee::rounded})
        if (text == to_string(guarantee)) return guarantee;
    throw InvalidArgument(fmt::format("guarantee '{}' is not known; choose none, bound or rounded", text));
}

std::string_view to_string(ProofStatus status) {
    switch (status) {
        case ProofStatus::not_asked:
            return "not asked";
        case ProofStatus::proven:
            return "proven";
        case ProofStatus::singular:
            return "singular";
        case ProofStatus::unproven:
            return "could not prove";
    }
    throw InvalidArgument(fmt::format("solve: there is no proof status number {}", static_cast<int>(status)));
}

}  // namespace solver
