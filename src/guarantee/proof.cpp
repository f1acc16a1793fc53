#include "solver/proof.hpp"

#include "core/names.hpp"

namespace solver {
namespace {

constexpr Name<Guarantee> guarantee_names[] = {
    {Guarantee::none, "none"}, {Guarantee::bound, "bound"}, {Guarantee::rounded, "rounded"}};

constexpr Name<ProofStatus> proof_status_names[] = {{ProofStatus::not_asked, "not asked"},
                                                    {ProofStatus::proven, "proven"},
                                                    {ProofStatus::singular, "singular"},
                                                    {ProofStatus::unproven, "could not prove"}};

}  // namespace

std::string_view to_string(Guarantee guarantee) { return name_of(guarantee, guarantee_names, "solve: there is no guarantee"); }

Guarantee guarantee_from_text(std::string_view text) { return value_of(text, guarantee_names, "guarantee"); }

std::string_view to_string(ProofStatus status) {
    return name_of(status, proof_status_names, "solve: there is no proof status");
}

}  // namespace solver
