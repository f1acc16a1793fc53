#pragma once

/// What the command line asks for.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "wishes.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace solver::blas2 {

enum class Judged { eigen, cusparse };

struct Options {
    std::vector<std::string> paths;  ///< files, folders and names; empty: what is built in
    Device device = Device::cpu();
    int threads = 1;  ///< of the processor, for the oracle too
    std::optional<double> alpha, beta;
    std::vector<Accuracy> accuracies;
    bool in_single = true;
    bool in_double = true;
    bool keep_zeroes = true;
    std::vector<VectorWish> vectors;
    std::vector<Judged> judged;
    bool in_detail = false;      ///< also of many matrices
    std::filesystem::path json;  ///< empty: not written
    std::string command;         ///< as it was given
};

/// The options of a run, or the text that --help or --version asked for; GoogleTest has taken its own flags before. Throws
/// InvalidArgument, and NotSupported where there is no such device.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace solver::blas2
