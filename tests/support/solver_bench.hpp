#pragma once

/// The command `solver-bench` as its users meet it.

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace solver::testing {

using nlohmann::json;

class SolverBench : public ::testing::Test {
protected:
    void SetUp() override {
        write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 0.1\n2 1 1e-30\n2 2 3.3\n3 3 -7\n");
    }

    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }

    std::string read(const std::string& name) const {
        std::ifstream file(folder_.path() / name);
        EXPECT_TRUE(file) << name;
        return {std::istreambuf_iterator<char>(file), {}};
    }

    bool exists(const std::string& name) const { return std::filesystem::exists(folder_.path() / name); }

    /// Runs `solver-bench ARGUMENTS` in the folder, by the shell. Idle threads of OpenMP are not to spin: tests share
    /// processors.
    Finished run(const std::string& arguments) const {
        const std::string command = "cd '" + folder_.path().string() + "' && OMP_WAIT_POLICY=passive '" +
                                    program("SOLVER_BENCH", SOLVER_BENCH) + "' " + arguments + " >.out 2>.err </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
    }

    /// The report of one repetition on two threads.
    json report(const std::string& arguments) const {
        const bool on_processor_only = arguments.starts_with("read") || arguments.starts_with("gemm");
        const Finished finished =
            run(arguments + (on_processor_only ? "" : " --device cpu") + " --threads 2 --repetitions 1 --json report.json");
        EXPECT_EQ(finished.status, 0) << finished.err;
        return json::parse(read("report.json"));
    }

    void expect_refusal(const std::string& arguments, const std::string& text) const {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 1) << arguments;
        EXPECT_THAT(finished.err, ::testing::HasSubstr(text)) << arguments;
    }

    TemporaryFolder folder_;
};

/// Of every case, in order.
inline std::vector<std::string> competitors(const json& report) {
    std::vector<std::string> names;
    for (const json& entry : report["cases"]) names.push_back(entry["competitor"]);
    return names;
}

}  // namespace solver::testing
