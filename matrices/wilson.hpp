#pragma once

#include "matrices/generators.hpp"

#include <optional>
#include <string_view>

namespace solver::matrices {

/// The lattice Dirac operator of Wilson (Phys. Rev. D 10, 1974): M = 1 - kappa D on L^3 x T sites with 12 complex unknowns each
/// (4 spins, 3 colours), antiperiodic in time, 40 nonzeros a row for L, T > 2. wilson_L_T, wilson_L_T_KAPPA and
/// wilson_L_T_KAPPA_SEED; kappa is 0.17 and the seed 1 where they are not given. gamma_5 M is Hermitian, so that eigenvalues
/// come in conjugate pairs; the larger kappa, the harder, up to 1 over the largest real part of D's eigenvalues (0.173 on 4^4,
/// 0.168 on 8^4).
///
/// The gauge field: each link 1 plus odd multiples of 2^-31 in both parts of all nine elements, made SU(3) by Gram and Schmidt
/// and a cross product; then three sweeps in which each link becomes link + staples / 8, projected again. The mean plaquette is
/// 0.58, as in simulations. Only + - * / and sqrt, so that every machine makes the same bits.
///
/// Nothing where the name begins otherwise. Throws InvalidArgument for other numbers, and for more than memory holds.
std::optional<Generator> find_wilson(std::string_view name);

}  // namespace solver::matrices
