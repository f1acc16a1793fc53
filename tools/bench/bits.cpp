/// Whether exact gives the same bits on every device.

#include "benchmarks.hpp"
#include "common.hpp"
#include "io/atomic_file.hpp"
#include "products.hpp"
#include "record.hpp"
#include "solver/bicgstab.hpp"
#include "solver/error.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <optional>

namespace solver::bench {
namespace {

constexpr PreconditionerKind all_preconditioners[] = {PreconditionerKind::none, PreconditionerKind::jacobi,
                                                      PreconditionerKind::ilu0, PreconditionerKind::isai,
                                                      PreconditionerKind::ilut, PreconditionerKind::klu};

/// What `compute` records, and how long it takes.
template <class Compute>
Record timed(const Compute& compute) {
    const auto start = std::chrono::steady_clock::now();
    Record record = compute();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return record;
}

template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed, T scale) {
    matrices::Random random(seed);
    std::vector<T> x(static_cast<std::size_t>(n));
    for (T& element : x) element = scale * static_cast<T>(2 * random.uniform() - 1);
    return x;
}

/// One matrix on one device.
template <class T>
class Trial {
public:
    Trial(const CsrView<T>& a, const Device& device) : a_(a), device_(device), plan_(a, device) {}

    Record products() const {
        const std::vector<T> x = random_vector<T>(a_.columns, 1, 1);
        const std::vector<T> x_low = random_vector<T>(a_.columns, 2, std::numeric_limits<T>::epsilon() / 4);
        std::vector<T> y = ones_times_a();
        Record record;
        record.add("product", std::span<const T>(y));
        plan_.residual(y, x, x_low, y, Accuracy::exact);
        record.add("residual", std::span<const T>(y));
        plan_.multiply(T(0.7), x, T(-1.3), y, Accuracy::exact);
        record.add("alpha beta", std::span<const T>(y));
        return record;
    }

    /// Of vectors that hold the matrix's own entries, and nearly cancel.
    Record reductions() const {
        const std::vector<T> x = ones_times_a();
        const std::vector<T> y = random_vector<T>(a_.rows, 3, 1);
        Record record;
        for (const std::span<const T> values : {std::span<const T>(x), std::span<const T>(y), a_.values}) {
            record.add("sum", sum(values, Accuracy::exact, device_));
            record.add("norm2", norm2(values, Accuracy::exact, device_));
        }
        record.add("dot", dot(std::span<const T>(x), std::span<const T>(y), Accuracy::exact, device_));
        record.add("dot", dot(a_.values, a_.values, Accuracy::exact, device_));
        return record;
    }

    Record solve(PreconditionerKind kind, std::int64_t max_iterations) const try {
        const auto m = make_preconditioner<T>(kind, a_, Accuracy::exact, device_);
        const std::vector<T> b = ones_times_a();
        std::vector<T> x(b.size());
        const SolveResult result = bicgstab<T>(
            plan_, *m, b, x, {},
            {.accuracy = Accuracy::exact, .tolerance = 1e-10, .max_iterations = max_iterations, .keep_history = true});
        Record record;
        record.remark = std::to_string(result.iterations);
        record.add("factors", m->factor_hash());
        record.add("solution", std::span<const T>(x));
        record.add("status", result.status);
        record.add("residual", result.relative_residual);
        record.add("iterations", result.iterations);
        for (const Iteration& step : result.history) {
            record.add("history", step.recursive_residual);
            record.add("true residuals", step.true_residual);
            record.add("replacements", step.replaced);
        }
        return record;
    } catch (const Error& refusal) {
        Record record;
        record.remark = "refused";
        record.add("refusal", std::span<const char>(std::string_view(refusal.what())));
        return record;
    }

private:
    std::vector<T> ones_times_a() const {
        const std::vector<T> ones(static_cast<std::size_t>(a_.columns), T(1));
        std::vector<T> y(static_cast<std::size_t>(a_.rows));
        plan_.multiply(T(1), ones, T(0), y, Accuracy::exact);
        return y;
    }

    CsrView<T> a_;
    Device device_;
    SpmvPlan<T> plan_;
};

/// A table, line by line, and what it comes to.
class Comparison {
public:
    explicit Comparison(const Options& options)
        : options_(options),
          first_(Device::cpu(options.cuda_device ? options.threads : 1)),
          second_(options.cuda_device ? Device::cuda(*options.cuda_device) : Device::cpu(options.threads)),
          kinds_(options.preconditioners) {
        if (kinds_.empty()) kinds_.assign(std::begin(all_preconditioners), std::end(all_preconditioners));
        fmt::print("\n  {} beside {}; iterations, and = where all bits agree\n\n  {:<26} {:>9} {:>11} {:<6} {:>8} {:>8}",
                   in_words(first_), in_words(second_), "matrix", "rows", "nonzeros", "", "products", "dots");
        csv_ = "matrix,rows,nonzeros,precision,products,reductions";
        for (const PreconditionerKind kind : kinds_) {
            fmt::print(" {:>9}", to_string(kind));
            csv_ += fmt::format(",{}", to_string(kind));
        }
        fmt::print("\n");
    }

    template <class T>
    void add(const std::string& name, const CsrView<T>& a) {
        const Trial<T> first(a, first_), second(a, second_);
        fmt::print("  {:<26} {:>9} {:>11} {:<6}", name, a.rows, a.nonzeros(), precision_name<T>);
        csv_ += fmt::format("\n{},{},{},{}", name, a.rows, a.nonzeros(), precision_name<T>);
        seconds_ = {};
        differences_.clear();
        show(
            "products", 8, [&](const Trial<T>& trial) { return trial.products(); }, first, second);
        show(
            "dots", 8, [&](const Trial<T>& trial) { return trial.reductions(); }, first, second);
        for (const PreconditionerKind kind : kinds_)
            show(
                std::string(to_string(kind)), 9,
                [&](const Trial<T>& trial) { return trial.solve(kind, options_.max_iterations); }, first, second);
        fmt::print("  {:.2f} s, {:.2f} s", seconds_[0], seconds_[1]);
        for (const std::string& difference : differences_) fmt::print("\n      {}", difference);
        fmt::print("\n");
        std::fflush(stdout);
        if (!options_.csv.empty()) write_file(options_.csv, csv_ + '\n');
    }

    /// Prints the end; whether all agreed.
    bool finish() {
        fmt::print("\n  {} comparisons: {} agree, {} DIFFER\n", equal_ + different_, equal_, different_);
        return different_ == 0;
    }

private:
    static std::string in_words(const Device& device) {
        if (device.kind() == Device::Kind::cuda) return fmt::format("{} ({})", to_string(device), describe(device).name);
        return fmt::format("the processor, {} thread{}", device.threads(), device.threads() == 1 ? "" : "s");
    }

    template <class T, class Compute>
    void show(const std::string& what, int width, const Compute& compute, const Trial<T>& first, const Trial<T>& second) {
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
        csv_ += ',' + csv_field(text);
    }

    const Options& options_;
    Device first_, second_;
    std::vector<PreconditionerKind> kinds_;
    std::string csv_;
    std::array<double, 2> seconds_{};       ///< of the matrix, on both devices
    std::vector<std::string> differences_;  ///< of the matrix
    int equal_ = 0, different_ = 0;
};

/// Nothing where the matrix is not square, or of a kind that is not read.
std::optional<CsrMatrix<double>> square_matrix(const matrices::FoundMatrix& found, int threads) try {
    CsrMatrix<double> matrix = load<double>(found, threads);
    if (matrix.rows != matrix.columns) return std::nullopt;
    return matrix;
} catch (const FileError&) {
    return std::nullopt;
}

}  // namespace

bool bench_bits(const Options& options) {
    Comparison comparison(options);
    std::vector<std::string> left_out;
    for (const matrices::FoundMatrix& found : matrices_of(options)) {
        const auto matrix = square_matrix(found, options.threads);
        if (!matrix) {
            left_out.push_back(short_name(found));
            continue;
        }
        if (options.in_double) comparison.add<double>(short_name(found), matrix->view());
        if (options.in_single) comparison.add<float>(short_name(found), convert<float>(matrix->view()));
    }
    if (!left_out.empty()) fmt::print("\n  Left out, for they are not square and real: {}\n", fmt::join(left_out, ", "));
    return comparison.finish();
}

}  // namespace solver::bench
