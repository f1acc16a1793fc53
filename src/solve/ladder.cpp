#include "solve/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace solver {
namespace {

using Kind = PreconditionerKind;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// Costs in units of one matrix entry in a product, measured on two x86-64 cores: an element of a vector in all the updates and
// dots of an iteration, an entry in a triangular solve, an operation of a complete factorisation, an entry of its factors.
constexpr double vector_element = 12;
constexpr double solved_entry = 3;
constexpr double factor_flop = 1;
constexpr double factor_entry = 20;

/// Complete factors come first where they cost no more than so many iterations with Jacobi.
constexpr double cheap_in_iterations = 60;

constexpr double least_share = 50;
constexpr double largest_share = 2000;

}  // namespace

Ladder::Ladder(PreconditionerKind only) : rungs_{{only, no_limit}}, chosen_(true), automatic_(false) {}

std::optional<Rung> Ladder::next(std::span<const Attempt> attempts) {
    if (!chosen_) choose();
    if (attempts.size() < rungs_.size()) return rungs_[attempts.size()];
    if (automatic_ && attempts.size() == rungs_.size()) return best_so_far(attempts);
    return std::nullopt;
}

void Ladder::choose() {
    chosen_ = true;
    const Kind plain = facts_.zeros_on_diagonal ? Kind::none : Kind::jacobi;
    rungs_ = {{plain, no_limit}};
    if (!facts_.is_finite) return;
    const Preparation& preparation = facts_.preparation();
    if (preparation.structural_rank < facts_.rows) return;
    rungs_.clear();
    const double complete = factor_flop * preparation.fill->flops + factor_entry * preparation.fill->factor_entries;
    if (complete <= cheap_in_iterations * cost_of_iteration(plain)) rungs_.push_back({Kind::klu, no_limit});
    const auto share = [&](Kind kind) {
        return static_cast<std::int64_t>(std::clamp(complete / cost_of_iteration(kind), least_share, largest_share));
    };
    rungs_.push_back({plain, share(plain)});
    if (!facts_.zeros_on_diagonal) rungs_.push_back({Kind::ilu0, share(Kind::ilu0)});
    rungs_.push_back({Kind::ilut, share(Kind::ilut)});
    if (rungs_.front().preconditioner != Kind::klu) rungs_.push_back({Kind::klu, no_limit});
}

double Ladder::cost_of_iteration(Kind kind) const {
    const auto nonzeros = static_cast<double>(facts_.nonzeros);
    const double product = nonzeros + vector_element * static_cast<double>(facts_.rows);
    switch (kind) {
        case Kind::ilu0:
            return 2 * (product + solved_entry * nonzeros);
        case Kind::ilut:
            return 2 * (product + solved_entry * facts_.fill_factor * nonzeros);
        default:
            return 2 * product;
    }
}

/// The attempt that gained most digits per operation, again, with what is left of the iterations.
std::optional<Rung> Ladder::best_so_far(std::span<const Attempt> attempts) const {
    std::optional<Rung> best;
    double most = 0;
    double before = 1;
    for (const Attempt& attempt : attempts) {
        if (attempt.results.empty()) continue;
        const SolveResult& result = attempt.results.front();
        const double gain = std::log2(before / result.relative_residual) /
                            (static_cast<double>(result.iterations) * cost_of_iteration(attempt.preconditioner));
        before = result.relative_residual;
        if (gain <= most) continue;
        most = gain;
        best = Rung{attempt.preconditioner, no_limit};
    }
    return best;
}

}  // namespace solver
