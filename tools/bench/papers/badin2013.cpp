/// M. Badin, P. D'Alberto, L. Bic, M. Dillencourt, A. Nicolau, Improving numerical accuracy for non-negative matrix
/// multiplication on GPUs using recursive algorithms, ICS 2013: its figures, measured again.

#include "benchmarks.hpp"
#include "product_machine.hpp"
#include "result_table.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace solver::bench {
namespace {

/// The largest of some elements over all runs.
struct Errors {
    double absolute = 0;
    double relative = 0;
};

struct Measured {
    std::string name;
    std::vector<double> seconds{};  ///< for each run
    Errors errors{};
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <class T>
void take_errors(const ProductSamples<T>& samples, const std::vector<T>& found, Errors& errors) {
    const auto keep = [](double& largest, double error) { largest = std::isnan(error) || error > largest ? error : largest; };
    for (std::size_t s = 0; s < found.size(); ++s) {
        const double exact = samples.samples()[s].exact;
        const double error = std::abs(static_cast<double>(found[s]) - exact);
        keep(errors.absolute, error);
        keep(errors.relative, error == 0 ? 0 : error / exact);
    }
}

class Badin2013 {
public:
    explicit Badin2013(const Options& options) : options_(options) {}

    void run() {
        fmt::print(
            "\nBadin, D'Alberto, Bic, Dillencourt, Nicolau 2013: products of matrices with entries in [0, 1). Largest errors "
            "of\n"
            "up to {} elements of C over {} runs, against correctly rounded doubles. Published (Tesla C2070, CUDA 4.1): up to\n"
            "26 % (float) and 27 % (double) faster than cuBLAS, breaking even with leaves of 1024 and 2048, and errors up to\n"
            "10 times smaller, at n = 8192 in double.\n\n",
            ProductSamples<double>::most, runs());
        for (const std::int64_t n : options_.sizes) {
            if (options_.in_single) measure<float>(n);
            if (options_.in_double) measure<double>(n);
        }
        table_.print();
        table_.write(options_, "gemm --paper badin2013", write_file);
    }

private:
    int runs() const { return options_.effort.repetitions == 0 ? 3 : options_.effort.repetitions; }

    template <class T>
    void measure(std::int64_t n) {
        std::vector<Measured> measured;
        const auto machine = make_product_machine<T>(options_);
        for (int run = 0; run < runs(); ++run) {
            const auto seed = static_cast<std::uint64_t>(2 * run + 1);
            const DenseFactors<T> factors{n, random_elements<T>(Elements::uniform, 0, n * n, seed),
                                          random_elements<T>(Elements::uniform, 0, n * n, seed + 1)};
            const ProductSamples<T> samples(factors, options_.threads);
            machine->load(factors);
            std::vector<ProductWay> ways{machine->peers().front(),
                                         {"fast", [&] { machine->multiply(Accuracy::fast, {}); }},
                                         {"plain", [&] {
                                              machine->multiply(Accuracy::fast, {GemmSummation::plain, 1});
                                          }}};
            for (ProductWay& way : machine->nonnegative()) ways.push_back(std::move(way));
            measured.resize(ways.size());
            for (std::size_t i = 0; i < ways.size(); ++i) {
                measured[i].name = ways[i].name;
                measured[i].seconds.push_back(seconds_of_product(*machine, Effort{}, ways[i].multiply));
                take_errors(samples, machine->result(samples.places()), measured[i].errors);
            }
        }
        for (const Measured& way : measured) add(way, measured.front(), precision_name<T>, n);
    }

    void add(const Measured& way, const Measured& peer, const char* precision, std::int64_t n) {
        const double seconds = median(way.seconds);
        const auto ratio = [](double x, double y) { return y > 0 ? fmt::format("{:.2f}", x / y) : std::string(); };
        table_.add({way.name, precision, std::to_string(n), fmt::format("{:.2e}", way.errors.absolute),
                    fmt::format("{:.2e}", way.errors.relative), ratio(peer.errors.relative, way.errors.relative),
                    fmt::format("{:.1f}", 1e-9 * operations_of_product(n) / seconds), ratio(median(peer.seconds), seconds)});
    }

    const Options& options_;
    ResultTable table_{{{"method", "method"},
                        {"precision", "precision"},
                        {"n", "size"},
                        {"absolute error", "largest_absolute_error"},
                        {"relative error", "largest_relative_error"},
                        {"times smaller", "peer_relative_error_by_this"},
                        {"GFLOPS", "gigaflops"},
                        {"times faster", "peer_time_by_this"}}};
};

}  // namespace

void bench_badin2013(const Options& options) {
    if (!options.cuda_device)
        throw NotSupported("--paper badin2013: products of non-negative matrices need a CUDA device; --device cuda");
    for (const std::int64_t n : options.sizes) require_memory_for_product(n);
    Badin2013(options).run();
}

}  // namespace solver::bench
