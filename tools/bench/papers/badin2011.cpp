/// The tables of badin2011_tables.hpp, measured again.

#include "benchmarks.hpp"
#include "papers/badin2011_tables.hpp"
#include "papers/millionths.hpp"
#include "product_machine.hpp"
#include "result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace solver::bench {
namespace {

namespace published = badin2011;

/// A line of the paper's tables; of Nvidia's SGEMM where `summation` is plain.
const published::Line* find_line(GemmSummation summation, Elements elements, std::int64_t n, std::int64_t tile) {
    for (const published::Line& line : published::lines)
        if (line.summation == summation && line.elements == elements && line.n == n && line.tile == tile) return &line;
    return nullptr;
}

class Badin2011 {
public:
    explicit Badin2011(const Options& options)
        : options_(options), machine_(make_product_machine<float>(options)), oracle_(make_product_machine<double>(options)) {}

    void run() {
        fmt::print(
            "\nBadin, Bic, Dillencourt, Nicolau 2011, tables 4 to 9, as published (GTX 285, CUDA 2.3) and as measured here.\n"
            "Products of floats; errors in millionths over all of C, here against the peer's product in double.\n\n");
        for (const std::int64_t n : options_.sizes)
            for (const Elements elements : {Elements::uniform, Elements::both_signs}) measure(elements, n);
        table_.print();
        if (!shapes_.empty()) print_shapes();
        table_.write(options_, "gemm --paper badin2011", write_file);
    }

private:
    void measure(Elements elements, std::int64_t n) {
        const auto factors = make_factors<float>(options_, elements, n);
        oracle_->load({n, {factors.a.begin(), factors.a.end()}, {factors.b.begin(), factors.b.end()}});
        oracle_->peers().front().multiply();
        exact_ = oracle_->result();
        machine_->load(factors);
        const ProductWay peer = machine_->peers().front();
        peer_gigaflops_ = 0;
        peer_gigaflops_ = add(peer.name, peer.multiply, elements, n, find_line(GemmSummation::plain, elements, n, 0), 0);
        add_ours(GemmSummation::plain, elements, n, 0);
        for (const auto summation : {GemmSummation::doubly_compensated, GemmSummation::kahan})
            for (const std::int64_t tile : {1, 16, 32, 64}) add_ours(summation, elements, n, tile);
        if (elements == Elements::uniform && n == published::size_of_shapes) measure_shapes(n);
    }

    void measure_shapes(std::int64_t n) {
        for (const ShapedWay& way : machine_->shapes(64)) {
            const std::string tile = fmt::format("{} x {}", way.rows, way.columns);
            const std::string name = fmt::format("doubly-compensated {} by {} threads", tile, way.threads);
            shapes_[way.threads][tile] = add(name, way.multiply, Elements::uniform, n, nullptr, 64);
        }
    }

    void add_ours(GemmSummation summation, Elements elements, std::int64_t n, std::int64_t tile) {
        const auto multiply = [&] { machine_->multiply(Accuracy::fast, {summation, std::max<std::int64_t>(tile, 1)}); };
        const published::Line* line = tile == 0 ? nullptr : find_line(summation, elements, n, tile);
        const std::string name(to_string(summation));
        add(name, multiply, elements, n, line, tile);
    }

    /// GFLOPS.
    double add(const std::string& name, const std::function<void()>& multiply, Elements elements, std::int64_t n,
               const published::Line* line, std::int64_t tile) {
        const double seconds = seconds_of_product(*machine_, options_.effort, multiply);
        const double gigaflops = 1e-9 * operations_of_product(n) / seconds;
        const Errors errors = errors_of(machine_->result(), exact_);
        const published::Line* peer = find_line(GemmSummation::plain, elements, n, 0);
        table_.add({name, std::string(to_string(elements)), std::to_string(n), tile == 0 ? "" : std::to_string(tile),
                    line == nullptr ? "" : fmt::format("{:.0f}", line->average), text_of(errors.average),
                    line == nullptr ? "" : fmt::format("{:.0f}..{:.0f}", line->lowest, line->highest),
                    text_of(errors.lowest) + ".." + text_of(errors.highest), fmt::format("{:.4f}", errors.relative),
                    line == nullptr ? "" : fmt::format("{:.1f}", line->gigaflops), fmt::format("{:.1f}", gigaflops),
                    line == nullptr ? "" : fmt::format("{:.2f}", line->gigaflops / peer->gigaflops),
                    peer_gigaflops_ == 0 ? "1.00" : fmt::format("{:.2f}", gigaflops / peer_gigaflops_)});
        return gigaflops;
    }

    void print_shapes() const {
        fmt::print("\nTable 1, as published: GFLOPS at n = 5120, doubly compensated, by threads and tiles of A.\n  threads");
        for (const int rows : published::tile_rows) fmt::print("  {:>3} x 16", rows);
        fmt::print("\n");
        for (const published::Shape& shape : published::shapes) {
            fmt::print("  {:>7}", shape.threads);
            for (const double gigaflops : shape.gigaflops) fmt::print("  {:>8.1f}", gigaflops);
            fmt::print("\n");
        }
        fmt::print("Here, by threads and tiles of C, {} deep:\n  threads", 16);
        std::set<std::string> tiles;
        for (const auto& [threads, gigaflops_of] : shapes_)
            for (const auto& [tile, gigaflops] : gigaflops_of) tiles.insert(tile);
        for (const std::string& tile : tiles) fmt::print("  {:>9}", tile);
        fmt::print("\n");
        for (const auto& [threads, gigaflops_of] : shapes_) {
            fmt::print("  {:>7}", threads);
            for (const std::string& tile : tiles) {
                const auto found = gigaflops_of.find(tile);
                fmt::print("  {:>9}", found == gigaflops_of.end() ? "" : fmt::format("{:.0f}", found->second));
            }
            fmt::print("\n");
        }
    }

    const Options& options_;
    std::unique_ptr<ProductMachine<float>> machine_;
    std::unique_ptr<ProductMachine<double>> oracle_;
    std::vector<double> exact_;
    double peer_gigaflops_ = 0;
    std::map<int, std::map<std::string, double>> shapes_;  ///< GFLOPS by threads and tile
    ResultTable table_{{{"method", "method"},
                        {"input", "input"},
                        {"n", "size"},
                        {"tile", "tile"},
                        {"average published", "published_average_error_millionths"},
                        {"here", "average_error_millionths"},
                        {"range published", "published_error_range_millionths"},
                        {"here", "error_range_millionths"},
                        {"relative", "average_relative_error_millionths"},
                        {"GFLOPS published", "published_gigaflops"},
                        {"here", "gigaflops"},
                        {"of SGEMM published", "published_ratio_to_peer"},
                        {"here", "ratio_to_peer"}}};
};

}  // namespace

void bench_badin2011(const Options& options) {
    for (const std::int64_t n : options.sizes) require_memory_for_product(n);
    Badin2011(options).run();
}

}  // namespace solver::bench
