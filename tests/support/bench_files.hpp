#pragma once

/// Files and matrices for tests of what solver-bench reads.

#include "common.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace solver::testing {

class BenchFiles : public ::testing::Test {
protected:
    std::filesystem::path written(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
        return folder_.path() / name;
    }

    TemporaryFolder folder_;
};

/// By its generator.
inline matrices::FoundMatrix made(const std::string& name) { return {matrices::find_generator(name).value(), ""}; }

}  // namespace solver::testing
