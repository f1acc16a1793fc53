/// Whether exact gives the same bits on every device.

#include "bits.hpp"
#include "benchmarks.hpp"
#include "io/atomic_file.hpp"
#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

namespace solver::bench {
namespace {

/// What `compute` records, and how long it takes.
template <class Compute>
Record timed(const Compute& compute) {
    const auto start = std::chrono::steady_clock::now();
    Record record = compute();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return record;
}

/// A table, line by line, and what it comes to.
class Comparison {
public:
    explicit Comparison(const Options& options)
        : options_(options),
          first_(Device::cpu(options.cuda_device ? options.threads : 1)),
          second_(options.cuda_device ? Device::cuda(*options.cuda_device) : Device::cpu(options.threads)),
          kinds_(preconditioners_of(options)) {
        fmt::print("\n  {} beside {}; iterations, and = where all bits agree\n\n  {:<26} {:>9} {:>11} {:<6} {:>8} {:>8}",
                   in_words(first_), in_words(second_), "matrix", "rows", "nonzeros", "", "products", "dots");
        for (const PreconditionerKind kind : kinds_) fmt::print(" {:>9}", to_string(kind));
        fmt::print(" {:>9}\n", "auto");
    }

    template <class T>
    void add(const std::string& name, const CsrView<T>& a) {
        const MatrixOnDevice<T> first(a, first_, Accuracy::exact), second(a, second_, Accuracy::exact);
        fmt::print("  {:<26} {:>9} {:>11} {:<6}", name, a.rows, a.nonzeros(), precision_name<T>);
        cases_.push_back({{"matrix", name}, {"rows", a.rows}, {"nonzeros", a.nonzeros()}, {"precision", precision_name<T>}});
        seconds_ = {};
        differences_.clear();
        show(
            "products", 8, [&](const MatrixOnDevice<T>& trial) { return trial.products(); }, first, second);
        show(
            "dots", 8, [&](const MatrixOnDevice<T>& trial) { return trial.reductions(); }, first, second);
        for (const PreconditionerKind kind : kinds_)
            show(
                std::string(to_string(kind)), 9,
                [&](const MatrixOnDevice<T>& trial) { return trial.solve(kind, options_.max_iterations); }, first, second);
        show(
            "auto", 9, [&](const MatrixOnDevice<T>& trial) { return trial.solve_by_default(); }, first, second);
        fmt::print("  {:.2f} s, {:.2f} s", seconds_[0], seconds_[1]);
        for (const std::string& difference : differences_) fmt::print("\n      {}", difference);
        fmt::print("\n");
        std::fflush(stdout);
        write(write_draft);
    }

    /// Prints the end and writes all; whether all agreed.
    bool finish() {
        write(write_file);
        fmt::print("\n  {} comparisons: {} agree, {} DIFFER\n", equal_ + different_, equal_, different_);
        return different_ == 0;
    }

private:
    void write(FileWriter to_file) const {
        if (options_.json.empty()) return;
        nlohmann::ordered_json json = head_of_record(options_, "bits");
        json["cases"] = cases_;
        to_file(options_.json, text_of(json));
    }

    static std::string in_words(const Device& device) {
        if (device.kind() == Device::Kind::cuda) return fmt::format("{} ({})", to_string(device), describe(device).name);
        return fmt::format("the processor, {} thread{}", device.threads(), device.threads() == 1 ? "" : "s");
    }

    template <class T, class Compute>
    void show(const std::string& what, int width, const Compute& compute, const MatrixOnDevice<T>& first,
              const MatrixOnDevice<T>& second) {
        const Record here = timed([&] { return compute(first); });
        const Record there = timed([&] { return compute(second); });
        seconds_[0] += here.seconds;
        seconds_[1] += there.seconds;
        const std::vector<std::string> differences = here.differences(there);
        if (!differences.empty()) differences_.push_back(fmt::format("{}: {}", what, fmt::join(differences, ", ")));
        ++(differences.empty() ? equal_ : different_);
        std::string text = here.remark;
        if (there.remark != text) text += '/' + there.remark;
        if (!differences.empty())
            text += text.empty() ? "DIFFERS" : " DIFFERS";
        else if (text != "refused")
            text += text.empty() ? "=" : " =";
        fmt::print(" {:>{}}", text, width);
        cases_.back()[what] = text;
    }

    const Options& options_;
    Device first_, second_;
    std::vector<PreconditionerKind> kinds_;
    nlohmann::ordered_json cases_ = nlohmann::ordered_json::array();
    std::array<double, 2> seconds_{};       ///< of the matrix, on both devices
    std::vector<std::string> differences_;  ///< of the matrix
    int equal_ = 0, different_ = 0;
};

}  // namespace

bool bench_bits(const Options& options) {
    if (!options.record.empty()) {
        record_bits(options);
        return true;
    }
    Comparison comparison(options);
    for_each_square_matrix(options, [&](const std::string& name, const auto& a) { comparison.add(name, a); });
    return comparison.finish();
}

}  // namespace solver::bench
