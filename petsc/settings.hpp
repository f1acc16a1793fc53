#pragma once

/// What the options said when the plugin was loaded.

#include "solver/accuracy.hpp"
#include "solver/spmv.hpp"

namespace petscsolver {

struct Settings {
    solver::Accuracy accuracy = solver::Accuracy::exact;           ///< of products and reductions: -solver_accuracy
    solver::SpmvStorage storage = solver::SpmvStorage::automatic;  ///< of rows on a processor: -solver_storage
    bool everywhere = false;                                       ///< -solver_everywhere
};

inline Settings& settings() {
    static Settings the_settings;
    return the_settings;
}

}  // namespace petscsolver
