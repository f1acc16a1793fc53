#pragma once

/// The command `solver` as its users meet it: a process with arguments, files, output and an exit status.

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace solver::testing {

namespace fs = std::filesystem;
using nlohmann::json;

class SolverCommand : public ::testing::Test {
protected:
    void SetUp() override {
        write("A.mtx", tridiagonal(40));
        write("identity.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n");
    }

    /// Unsymmetric, diagonally dominant, with values whose row sums are not exact.
    static std::string tridiagonal(int n) {
        std::ostringstream text;
        text << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << 3 * n - 2 << '\n';
        for (int i = 1; i <= n; ++i) {
            text << i << ' ' << i << " 3.3\n";
            if (i > 1) text << i << ' ' << i - 1 << " 1.1\n";
            if (i < n) text << i << ' ' << i + 1 << " 0.7\n";
        }
        return text.str();
    }

    fs::path path(const std::string& name) const { return folder_.path() / name; }

    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        EXPECT_TRUE(file) << name;
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Runs `solver ARGUMENTS` in the folder, by the shell, with variables set as in "A=1 B=2".
    Finished run(const std::string& arguments, const std::string& environment = "") const {
        const std::string command = "cd '" + folder_.path().string() + "' && " + environment + " '" + command_ + "' " +
                                    arguments + " >.out 2>.err </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
    }

    json report(const std::string& arguments) const {
        const Finished finished = run(arguments + " --quiet --report report.json");
        EXPECT_EQ(finished.err, "");
        return json::parse(read("report.json"));
    }

    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    const std::string command_ = program("SOLVER_COMMAND", SOLVER_COMMAND);

private:
    TemporaryFolder folder_;
};

}  // namespace solver::testing
