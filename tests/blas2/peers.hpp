#pragma once

/// Other libraries' A x.

#include "experiment.hpp"
#include "options.hpp"
#include "solver/csr_matrix.hpp"

#include <span>
#include <string>
#include <vector>

namespace solver::blas2 {

/// One way in which another library computes A x.
template <class T>
struct Peer {
    std::string name;    ///< "eigen", "cusparse_alg1"
    Subject<T> subject;  ///< refers to the matrix and x
};

/// Their names, for --judge of these.
std::vector<std::string> peer_names(Judged judged);

/// Why this program cannot judge them on this device; nothing where it can.
std::string obstacle_to_judging(Judged judged, const Device& device);

template <class T>
Peer<T> make_peer(const std::string& name, const CsrView<T>& a, std::span<const T> x, const Device& device, int threads);

}  // namespace solver::blas2
