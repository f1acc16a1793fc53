#include "auto_solve/cost_model.hpp"

#include "preconditioner/full_lu.hpp"

#include <algorithm>

namespace solver {

struct CostModel::Constants {
    double vector_element;   ///< an element of a vector in the updates and dots of a step
    double solved_entry;     ///< an entry in a triangular solve
    double host_entry;       ///< a matrix entry in a product on the host, where factors are made
    double hierarchy_entry;  ///< a matrix entry, or vector_element-th of a row, while the levels of multigrid are made
    double shortest_step;    ///< what a step takes for starting kernels and waiting for them
    double shortest_cycle;   ///< what a cycle of multigrid takes for starting kernels and waiting for them
};

namespace {

// On the host, in units of one matrix entry in a product there, measured on two x86-64 cores: an operation of a complete
// factorisation, an entry of its factors, an operation of ILUT.
constexpr double factor_flop = 0.5;
constexpr double factor_entry = 50;
constexpr double ilut_flop = 1;

/// Preparing a matrix costs as much as 28 to 96 steps with Jacobi, on real matrices.
constexpr double steps_of_preparation = 64;

// Applications of complete factors, and what goes with them, to ten digits.
constexpr double applications_of_complete = 4;

// Multigrid by smoothed aggregation on meshes: products with A, coarser levels included, in a cycle; steps to ten digits.
constexpr double cycle_products = 8;
constexpr double multigrid_steps = 20;

// Of right-hand sides after the first: between two cores, where one takes nearly as long as the first, and a device, where it
// takes next to nothing. Taken, not measured.
constexpr double further_cycle_products = 3;

// Of IDR(4) with the Schur complement: 53 to 100 on slow flows of 10^4 to 10^6 unknowns.
constexpr double schur_steps = 75;

}  // namespace

const CostModel::Constants& CostModel::constants_of(CostProfile profile) {
    static constexpr Constants processor{.vector_element = 12,
                                         .solved_entry = 3,
                                         .host_entry = 1,
                                         .hierarchy_entry = 100,
                                         .shortest_step = 0,
                                         .shortest_cycle = 0};
    // A GPU beside 16 cores of its host, which factor one by one. Hierarchies are made on the device: measured on an H100, 0.7
    // to 1.5 ns for each entry and each vector_element-th of a row, which take 3.6 to 5 ps in a step; a step of a tiny system
    // takes 20 us.
    static constexpr Constants gpu{.vector_element = 12,
                                   .solved_entry = 20,
                                   .host_entry = 45,
                                   .hierarchy_entry = 300,
                                   .shortest_step = 2.5e6,
                                   .shortest_cycle = 1.5e7};
    return profile == CostProfile::gpu ? gpu : processor;
}

CostModel::CostModel(CostProfile profile, const MatrixFacts& facts, double fill_factor, std::int64_t columns)
    : constants_(constants_of(profile)),
      rows_(static_cast<double>(facts.rows)),
      nonzeros_(static_cast<double>(facts.nonzeros)),
      fill_factor_(fill_factor),
      columns_(static_cast<double>(columns)),
      is_full_(is_nearly_full(facts.rows, facts.rows, facts.nonzeros)) {}

double CostModel::step(PreconditionerKind kind) const {
    const double product = columns_ * (nonzeros_ + constants_.vector_element * rows_);
    const double plain = std::max(product, constants_.shortest_step);
    switch (kind) {
        case PreconditionerKind::ilu0:
            return plain + columns_ * constants_.solved_entry * nonzeros_;
        case PreconditionerKind::ilut:
            return plain + columns_ * constants_.solved_entry * fill_factor_ * nonzeros_;
        case PreconditionerKind::amg:
        case PreconditionerKind::schur:
            return plain + std::max(cycle_products * product, constants_.shortest_cycle);
        default:
            return plain;
    }
}

double CostModel::preparation() const {
    return constants_.host_entry * steps_of_preparation * (nonzeros_ + constants_.vector_element * rows_);
}

double CostModel::complete_factors(const FillPrediction& fill) const {
    const double solves = (columns_ - 1) * applications_of_complete * constants_.solved_entry * fill.factor_entries;
    const double flops = (is_full_ ? full_factor_flop : factor_flop) * fill.flops;
    const double entries = (is_full_ ? full_factor_entry : factor_entry) * fill.factor_entries;
    return constants_.host_entry * (flops + entries) + solves;
}

double CostModel::incomplete_factors() const {
    if (rows_ == 0) return 0;
    const double row = std::min(fill_factor_ * nonzeros_ / rows_, rows_);
    return constants_.host_entry * ilut_flop * rows_ * row * row;
}

double CostModel::multigrid() const {
    const double product = nonzeros_ + constants_.vector_element * rows_;
    const double products_of_cycles = cycle_products + (columns_ - 1) * further_cycle_products;
    return hierarchy() + multigrid_steps * (step(PreconditionerKind::jacobi) +
                                            std::max(products_of_cycles * product, constants_.shortest_cycle));
}

double CostModel::schur() const { return hierarchy() + schur_steps * step(PreconditionerKind::schur); }

double CostModel::hierarchy() const { return constants_.hierarchy_entry * (nonzeros_ + constants_.vector_element * rows_); }

}  // namespace solver
