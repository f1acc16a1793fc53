#include "auto_solve/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace solver {
namespace {

using Kind = PreconditionerKind;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// Costs in units of one matrix entry in a product, measured on two x86-64 cores: an element of a vector in all the updates and
// dots of an iteration, an entry in a triangular solve, an operation of a complete factorisation, an entry of its factors, an
// operation of ILUT.
constexpr double vector_element = 12;
constexpr double solved_entry = 3;
constexpr double factor_flop = 0.5;
constexpr double factor_entry = 50;
constexpr double ilut_flop = 1;

/// Preparing a matrix costs as much as 14 to 48 iterations with Jacobi, on real matrices: what may be spent on trying without.
constexpr std::int64_t trial_share = 32;

/// Below this many entries everything takes a millisecond, and complete factors the least of it in nearly every case.
constexpr std::int64_t least_nonzeros_for_trial = 5000;

/// Up to so many operations an entry of A, complete factors are rarely dearer than ILUT's.
constexpr double cheap_flops_per_entry = 1000;

constexpr double least_share = 50;
constexpr double largest_share = 2000;
constexpr std::int64_t share_of_complete = 100;

/// How many iterations the first attempt would have taken in all if it had gone on as it went.
double iterations_at_pace(const Attempt& first, double tolerance) {
    const SolveResult& result = first.results.front();
    return static_cast<double>(result.iterations) * std::log2(tolerance) / std::log2(result.relative_residual);
}

}  // namespace

Ladder::Ladder(PreconditionerKind only) : rungs_{{only, no_limit}} {}

Ladder::Ladder(LadderFacts facts) : facts_(std::move(facts)), analysed_(false), automatic_(true) {
    if (!facts_.zeros_on_diagonal && facts_.nonzeros >= least_nonzeros_for_trial)
        rungs_.push_back({Kind::jacobi, trial_share, true});
}

std::optional<Rung> Ladder::next(std::span<const Attempt> attempts) {
    if (attempts.size() >= rungs_.size() && !analysed_) analyse(attempts);
    if (attempts.size() < rungs_.size()) return rungs_[attempts.size()];
    if (automatic_ && attempts.size() == rungs_.size()) return best_so_far(attempts);
    return std::nullopt;
}

void Ladder::analyse(std::span<const Attempt> attempts) {
    analysed_ = true;
    const Kind plain = facts_.zeros_on_diagonal ? Kind::none : Kind::jacobi;
    if (!facts_.is_finite) return rungs_.push_back({plain, no_limit});
    const Preparation& preparation = facts_.preparation();
    const auto [entries, flops] = *preparation.fill;
    const auto nonzeros = static_cast<double>(facts_.nonzeros);
    const double complete = factor_flop * flops + factor_entry * entries;
    const auto share = [&](Kind kind, double cost) {
        return static_cast<std::int64_t>(std::clamp(cost / cost_of_iteration(kind), least_share, largest_share));
    };
    if (preparation.structural_rank < facts_.rows) {
        rungs_.push_back({Kind::ilut, share(Kind::ilut, complete)});
    } else if (flops <= cheap_flops_per_entry * nonzeros) {
        rungs_.push_back({Kind::klu, share_of_complete});
        rungs_.push_back({Kind::ilut, share(Kind::ilut, complete)});
    } else {
        const double row = facts_.fill_factor * nonzeros / static_cast<double>(facts_.rows);
        const double incomplete = ilut_flop * static_cast<double>(facts_.rows) * row * row;
        const std::int64_t plain_share = share(plain, std::min(complete, incomplete));
        if (attempts.empty() || iterations_at_pace(attempts.front(), facts_.tolerance) <= static_cast<double>(plain_share))
            rungs_.push_back({plain, plain_share, true});
        rungs_.push_back({Kind::ilut, share(Kind::ilut, complete)});
        rungs_.push_back({Kind::klu, share_of_complete});
    }
    rungs_.push_back({Kind::ilu0, share(Kind::ilu0, complete)});
    rungs_.push_back({plain, share(plain, complete)});
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
