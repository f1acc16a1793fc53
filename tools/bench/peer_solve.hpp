#pragma once

#include "solver/views.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace solver::bench {

/// A x = b, to be solved from x = 0 to ||r||_2 <= tolerance ||b||_2 of the peer's own residual; direct methods do as well as
/// they can.
struct PeerTask {
    CsrView<double> a;
    std::span<const double> b;
    std::span<double> x;
    double tolerance = 0;
    std::int64_t max_iterations = 0;
    int threads = 1;
    std::string_view name{};  ///< of the problem
};

/// What a peer says of its solve. The copy of A that it needs is made before its clock starts.
struct PeerSolve {
    bool converged = false;
    std::int64_t iterations = 0;
    double setup_seconds = 0;
    double solve_seconds = 0;
};

double seconds_of(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace solver::bench
