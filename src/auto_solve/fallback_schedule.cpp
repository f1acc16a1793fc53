#include "auto_solve/fallback_schedule.hpp"

#include "auto_solve/obstacle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace solver {
namespace {

using Kind = PreconditionerKind;

/// Below this many entries everything takes a millisecond, and complete factors the least of it in nearly every case.
constexpr std::int64_t least_nonzeros_for_trial = 5000;

/// Up to so many operations an entry of A, complete factors are rarely dearer than ILUT's, and than what these are tried for in
/// vain where A turns constants round.
constexpr double cheap_flops_per_entry = 1000;
constexpr double cheap_flops_per_entry_of_waves = 10000;

/// What fewer plain iterations of several right-hand sides cost is mostly lost.
constexpr std::int64_t least_trial = 16;

constexpr double least_share = 50;
constexpr double largest_share = 10000;
constexpr std::int64_t share_of_complete = 100;

/// Ten digits take 14 iterations in the best of cases and 60 where jumps or rotations are not seen (docs/scaling.md), and the
/// hierarchy is made by then.
constexpr std::int64_t share_of_multigrid = 200;

/// On slow flows ten digits take 50 to 100 iterations of IDR(4).
constexpr std::int64_t share_of_schur = 400;

/// How many iterations an attempt would have taken in all if it had gone on as it went. What it had reached on the way counts:
/// residuals of Krylov methods rise between their falls, and may stand high where it was given up.
double iterations_at_this_rate(const Attempt& attempt, double tolerance) {
    const SolveResult& result = attempt.results.front();
    const double needed = std::log2(attempt.initial_residual / tolerance);
    const double gained = std::log2(attempt.initial_residual / attempt.least_residual);
    return gained > 0 ? static_cast<double>(result.iterations) * needed / gained : std::numeric_limits<double>::infinity();
}

}  // namespace

FallbackSchedule::FallbackSchedule(Kind only) : costs_(CostProfile::processor, {}, 0) {
    if (only == Kind::klu) add(only, share_of_complete);  // and a look at what else they say
    add(only, Candidate::no_limit);
}

FallbackSchedule::FallbackSchedule(ScheduleFacts facts)
    : facts_(std::move(facts)),
      costs_(facts_.profile, facts_.matrix, facts_.fill_factor, facts_.columns),
      stage_(Stage::trial),
      automatic_(true) {
    if (facts_.matrix.zeros_on_diagonal || facts_.matrix.nonzeros < least_nonzeros_for_trial) return;
    const double iterations = alternative_to_trial() / cost_of_iteration(plain());
    const auto share = static_cast<std::int64_t>(std::min(iterations, largest_share));
    has_no_trial_ = is_in_vain(share);
    is_trial_too_short_ = facts_.columns > 1 && share < least_trial;
    if (has_no_trial_ || is_trial_too_short_) return;
    add(plain(), share, GiveUp::when_too_slow);
    if (facts_.matrix.suits_multigrid() && facts_.profile == CostProfile::processor)
        candidates_.back().is_out_of_reach = [far = facts_.has_rows_beyond, steps = steps_of(share)] { return far(steps); };
}

std::optional<Candidate> FallbackSchedule::next(std::span<const Attempt> attempts) {
    while (attempts.size() >= candidates_.size() && stage_ != Stage::complete) extend(attempts);
    if (attempts.size() < candidates_.size()) return candidates_[attempts.size()];
    if (automatic_ && attempts.size() == candidates_.size()) return best_so_far(attempts);
    return std::nullopt;
}

void FallbackSchedule::extend(std::span<const Attempt> attempts) {
    if (!facts_.matrix.is_finite) {
        stage_ = Stage::complete;
        return add(plain(), Candidate::no_limit);
    }
    if (stage_ == Stage::trial) {
        stage_ = Stage::estimate;
        return choose_by_estimate(attempts);
    }
    stage_ = Stage::complete;
    choose_by_analysis(attempts);
}

/// Multigrid, or the Schur complement of what may be a saddle point, where it is the cheaper thing to try, and plain iterations
/// that are on their way, before the matrix is ordered.
void FallbackSchedule::choose_by_estimate(std::span<const Attempt> attempts) {
    const bool is_suited = !facts_.matrix.zeros_on_diagonal || facts_.matrix.may_be_saddle_point();
    if (facts_.matrix.nonzeros < least_nonzeros_for_trial || !is_suited) return;
    const bool suits_multigrid = facts_.matrix.suits_multigrid();
    const double complete = estimated_complete();
    add_schur_if_it_pays(complete);
    if (facts_.matrix.zeros_on_diagonal) return;
    const double incomplete = costs_.preparation() + costs_.incomplete_factors();
    if (suits_multigrid && multigrid_is_cheaper(complete))
        add(Kind::amg, std::max(least_share_of_multigrid(complete), share_of(Kind::amg, std::min(complete, incomplete))),
            GiveUp::when_too_slow);
    add_plain_if_promising(attempts, std::min(complete, incomplete));
}

void FallbackSchedule::choose_by_analysis(std::span<const Attempt> attempts) {
    const Preparation& preparation = facts_.preparation();
    const double complete = costs_.complete_factors(*preparation.fill);
    const double budget = std::max(complete, costs_.preparation());
    const auto rows = static_cast<double>(facts_.matrix.rows), nonzeros = static_cast<double>(facts_.matrix.nonzeros);
    const double cheap = facts_.matrix.turns_constants_round() ? cheap_flops_per_entry_of_waves : cheap_flops_per_entry;
    const bool is_cheap = preparation.fill->flops <= cheap * nonzeros;
    const bool ilut_keeps_all = facts_.fill_factor * nonzeros >= rows * rows;
    if (preparation.structural_rank < facts_.matrix.rows) {
        is_structurally_singular_ = true;
        add(Kind::ilut, share_of(Kind::ilut, budget));
    } else {
        if (!is_cheap) add_schur_if_it_pays(complete);
        if (!is_cheap) add_plain_if_promising(attempts, std::min(complete, costs_.incomplete_factors()));
        const bool is_klu_first =
            is_cheap || ilut_keeps_all || is_ilut_dearer_for_several(complete) || cost_of(attempts) >= complete;
        if (is_klu_first) add(Kind::klu, share_of_complete);
        add(Kind::ilut, share_of(Kind::ilut, budget));
        if (!is_klu_first) add(Kind::klu, share_of_complete);
    }
    add(Kind::ilu0, share_of(Kind::ilu0, budget));
    add(plain(), share_of(plain(), budget));
}

void FallbackSchedule::add(Kind kind, std::int64_t share, GiveUp give_up) { candidates_.push_back({kind, share, give_up}); }

/// Whether incomplete factors and the iterations that they may take for several right-hand sides cost more.
bool FallbackSchedule::is_ilut_dearer_for_several(double complete) const {
    constexpr double likely_iterations = 10;
    return facts_.columns > 1 && complete < costs_.incomplete_factors() + likely_iterations * cost_of_iteration(Kind::ilut);
}

/// Of what has been tried in vain. Once that is as much as complete factors cost these come before ILUT's, which may be in
/// vain, too.
double FallbackSchedule::cost_of(std::span<const Attempt> attempts) const {
    double cost = 0;
    for (const Attempt& attempt : attempts) {
        if (attempt.preconditioner == Kind::amg || attempt.preconditioner == Kind::schur) cost += costs_.hierarchy();
        if (attempt.results.empty()) continue;
        cost += static_cast<double>(attempt.results.front().iterations) * cost_of_iteration(attempt.preconditioner);
    }
    return cost;
}

/// Of what may be a saddle point, once, where it costs less than complete factors and ilut's, which may take as much before.
void FallbackSchedule::add_schur_if_it_pays(double complete) {
    const bool is_new = std::ranges::find(candidates_, Kind::schur, &Candidate::preconditioner) == candidates_.end();
    if (is_new && facts_.matrix.may_be_saddle_point() && costs_.schur() < 2 * complete)
        add(Kind::schur, std::max(share_of_schur, share_of(Kind::schur, complete)), GiveUp::when_too_slow);
}

/// Where nothing is known yet of plain iterations, or they went at a rate that the budget can pay. Where a trial would have
/// been too short, it is to pay for a share.
void FallbackSchedule::add_plain_if_promising(std::span<const Attempt> attempts, double budget) {
    const std::int64_t share = share_of(plain(), budget);
    const auto is_plain = [&](const Attempt& attempt) { return attempt.preconditioner == plain() && !attempt.results.empty(); };
    const auto last = std::find_if(attempts.rbegin(), attempts.rend(), is_plain);
    const bool may_begin = !has_no_trial_ && (!is_trial_too_short_ || budget >= least_share * cost_of_iteration(plain()));
    if (last == attempts.rend() ? may_begin : iterations_at_this_rate(*last, facts_.tolerance) <= static_cast<double>(share))
        add(plain(), share, GiveUp::when_too_slow);
}

/// What is tried next and costs least. Complete factors are known too late to be it, but for several right-hand sides, which
/// they serve all alike and whose iterations cost more than an estimate of the factors.
double FallbackSchedule::alternative_to_trial() {
    if (!facts_.matrix.suits_multigrid()) return costs_.preparation();
    return facts_.columns == 1 ? costs_.multigrid() : std::min(costs_.multigrid(), estimated_complete());
}

/// Than complete factors, which one thread makes on the host. Iterations are many threads' or a device's work: where both are
/// estimated alike, multigrid takes two thirds of the factors' time on two cores, half on sixteen, a quarter on an H200.
bool FallbackSchedule::multigrid_is_cheaper(double complete) const {
    const double weight = facts_.columns > 1 ? 2 : 1.5;
    return costs_.multigrid() < weight * complete;
}

/// Of several right-hand sides, whose iterations soon cost as much as factors that serve all, no more than four times what
/// these cost: it is judged after a quarter.
std::int64_t FallbackSchedule::least_share_of_multigrid(double complete) const {
    return facts_.columns == 1 ? share_of_multigrid : std::min(share_of_multigrid, share_of(Kind::amg, 4 * complete));
}

/// With the preparation. Asked for once: it takes some products.
double FallbackSchedule::estimated_complete() {
    if (complete_) return *complete_;
    const auto cost = [&](const FillPrediction& fill) { return costs_.preparation() + costs_.complete_factors(fill); };
    const bool suits_multigrid = facts_.matrix.suits_multigrid();
    complete_ = cost(facts_.fill_estimate(
        [&](const FillPrediction& least) { return suits_multigrid && multigrid_is_cheaper(cost(least)); }));
    return *complete_;
}

/// Jacobi's M is definite where the diagonal is positive.
Kind FallbackSchedule::plain() const {
    const bool suits = !facts_.matrix.zeros_on_diagonal && (facts_.matrix.positive_diagonal || !facts_.definite_only);
    return suits ? Kind::jacobi : Kind::none;
}

/// Whether so many plain iterations from x = 0 would be in vain, before any is made. Where rows add up to nothing and the graph
/// reaches farther than `steps` products, a function that falls linearly with the distance from a row has a Rayleigh quotient
/// of order steps^-2: the condition number is of order steps^2, and ten digits take conjugate gradients some ten times that
/// many steps. (Weak couplings change neither side, a boundary whose rows do not add up to nothing lowers the order by a
/// constant.)
bool FallbackSchedule::is_in_vain(std::int64_t plain_iterations) const {
    return facts_.profile == CostProfile::processor && facts_.matrix.suits_multigrid() &&
           facts_.matrix.maps_constants_to_zero() && facts_.begins_at_zero() &&
           facts_.has_rows_beyond(steps_of(plain_iterations));
}

/// Products of so many plain iterations.
std::int64_t FallbackSchedule::steps_of(std::int64_t plain_iterations) const {
    return static_cast<std::int64_t>(static_cast<double>(plain_iterations) * steps_an_iteration(plain()));
}

/// How many iterations with this preconditioner cost as much.
std::int64_t FallbackSchedule::share_of(Kind kind, double budget) const {
    return static_cast<std::int64_t>(std::clamp(budget / cost_of_iteration(kind), least_share, largest_share));
}

/// BiCGStab makes two, IDR(4) one.
double FallbackSchedule::steps_an_iteration(Kind kind) const {
    if (kind == Kind::schur) return 1;
    const bool symmetric = kind == Kind::none || kind == Kind::jacobi || kind == Kind::amg;
    return facts_.one_product_a_step && symmetric ? 1 : 2;
}

double FallbackSchedule::cost_of_iteration(Kind kind) const { return steps_an_iteration(kind) * costs_.step(kind); }

bool FallbackSchedule::may_afford_complete_factors() {
    return automatic_ && !is_structurally_singular_ && estimated_complete() <= largest_share * cost_of_iteration(plain());
}

bool FallbackSchedule::has_solution_for_some_b_only(std::span<const Attempt> attempts) const {
    return is_structurally_singular_ || std::ranges::any_of(attempts, [&](const Attempt& attempt) {
               return found_singular(attempt, facts_.least_pivot_ratio);
           });
}

/// The attempt that gained most digits per operation, again, with what is left of the iterations; plain ones where none gained
/// any, as residuals may rise for long before they fall.
std::optional<Candidate> FallbackSchedule::best_so_far(std::span<const Attempt> attempts) const {
    std::optional<Candidate> best;
    double most = 0;
    for (const Attempt& attempt : attempts) {
        if (attempt.results.empty()) continue;
        const SolveResult& result = attempt.results.front();
        const double gain = std::log2(attempt.initial_residual / result.relative_residual) /
                            (static_cast<double>(result.iterations) * cost_of_iteration(attempt.preconditioner));
        const bool may_be_best = attempt.preconditioner == plain() && !best;
        if (!(gain > most) && !may_be_best) continue;
        if (gain > most) most = gain;
        best = Candidate{attempt.preconditioner, Candidate::no_limit, GiveUp::never};
    }
    if (best && has_solution_for_some_b_only(attempts)) best->give_up = GiveUp::when_stuck;
    return best;
}

}  // namespace solver
