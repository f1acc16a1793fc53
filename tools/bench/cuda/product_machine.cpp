#include "tools/bench/product_machine.hpp"

#include "benchmarks.hpp"
#include "peers.hpp"
#include "replay.hpp"
#include "solver/cuda/gemm.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "tile_shapes.hpp"

#include <fmt/format.h>

#include <complex>
#include <type_traits>
#include <utility>

namespace solver::bench::on_cuda {
namespace {

template <class T>
class DeviceProducts final : public ProductMachine<T> {
public:
    explicit DeviceProducts(int device)
        : device_(device),
          stream_(device),
          stopwatch_(stream_),
          multiplier_(device),
          nonnegative_multiplier_(device),
          blas_(Scalars::on_host, stream_) {}

    void load(const DenseFactors<T>& factors) override {
        n_ = factors.n;
        is_complex_ = factors.is_complex;
        a_ = cuda::DeviceArray<T>(device_, factors.a, "A", stream_);
        b_ = cuda::DeviceArray<T>(device_, factors.b, "B", stream_);
        c_ = cuda::DeviceArray<T>(device_, a_.size(), "C");
    }

    void multiply(Accuracy accuracy, const GemmOptions& options) override {
        if (is_complex_)
            multiplier_.gemm(task<std::complex<T>>(), accuracy, {}, stream_);
        else
            multiplier_.gemm(task<T>(), accuracy, options, stream_);
    }

    std::vector<ProductWay> peers() override {
        blas_.emulate_eagerly(device_, n_, stream_);
        std::vector<ProductWay> ways;
        for (const auto& [name, how] :
             {std::pair("cublas", BlasGemm::plain), std::pair("cublas 3m", BlasGemm::three_products),
              std::pair("cublas tf32", BlasGemm::tf32), std::pair("cublas emulated", BlasGemm::emulated),
              std::pair("cublas emulated dynamic", BlasGemm::emulated_dynamic)}) {
            if (!multiply_by_cublas(how)) continue;
            ways.push_back(
                {.name = name, .multiply = [this, how = how] { multiply_by_cublas(how); }, .is_plain = how == BlasGemm::plain});
            if (std::is_same_v<T, double> && how != BlasGemm::plain && how != BlasGemm::three_products)
                ways.back().remark = [this] { return bits_kept(); };
        }
        return ways;
    }

    std::vector<ProductWay> nonnegative() override {
        using enum NonnegativeAlgorithm;
        const auto by = [this](NonnegativeAlgorithm algorithm, int depth) {
            return [this, algorithm, depth] {
                nonnegative_multiplier_.gemm(task<T>(), {.algorithm = algorithm, .depth = depth}, stream_);
            };
        };
        const std::string name = std::is_same_v<T, float> ? "sngemm" : "dngemm";
        return {{name, by(automatic, -1)},
                {name + " depth 1", by(winograd, 1)},
                {name + " depth 2", by(winograd, 2)},
                {"outer products", by(outer_product, 2)}};
    }

    std::vector<ShapedWay> shapes([[maybe_unused]] std::int64_t block) override {
        std::vector<ShapedWay> ways;
        if constexpr (std::is_same_v<T, float>)
            for (const TileShape& shape : tile_shapes())
                ways.push_back({shape.threads, shape.rows, shape.columns,
                                [this, shape, block] { shape.multiply(task<T>(), block, stream_); }});
        return ways;
    }

    std::vector<T> result(std::span<const std::int64_t> places) override {
        return gather(cuda::DeviceArray<std::int64_t>(device_, places, "places of samples", stream_), c_.data(), stream_);
    }
    std::vector<T> result() override {
        std::vector<T> c(static_cast<std::size_t>(c_.size()));
        c_.copy_to(c, stream_);
        return c;
    }

    void clear() override { fill_with_nan(c_.size(), c_.data(), stream_); }

    double seconds_of(const std::function<void()>& multiply) override { return stopwatch_.seconds_of(multiply); }

    Competitor competitor(const ProductWay& way) override {
        return {.name = way.name, .threads = 0, .turn = [this, multiply = way.multiply] {
                    multiply();
                    return stopwatch_.seconds_of(multiply);
                }};
    }

protected:
    std::string remark() override {
        const cuda::GemmReport report = multiplier_.report(stream_);
        if (report.route != cuda::GemmRoute::residues) return "";
        return fmt::format("{} moduli, {} elements again, {:.1f} GB", report.moduli, report.recomputed,
                           1e-9 * static_cast<double>(report.workspace_bytes));
    }

private:
    std::string bits_kept() const {
        const int bits = blas_.bits_kept(stream_);
        return bits < 0 ? "native after all" : fmt::format("{} bits", bits);
    }

    /// S: of numbers or of complex numbers.
    template <class S>
    GemmTask<S> task() const {
        return square_task<S, T>(n_, a_.data(), b_.data(), c_.data());
    }

    bool multiply_by_cublas(BlasGemm how) {
        const auto by = [&]<class S>(const GemmTask<S>& task) {
            return blas_.gemm(how, n_, task.a.data, task.b.data, task.c.data);
        };
        return is_complex_ ? by(task<std::complex<T>>()) : by(task<T>());
    }

    int device_;
    std::int64_t n_ = 0;
    bool is_complex_ = false;
    OwnStream stream_;
    Stopwatch stopwatch_;
    cuda::DeviceArray<T> a_, b_, c_;
    cuda::Multiplier multiplier_;
    cuda::NonnegativeMultiplier nonnegative_multiplier_;
    CuBlas blas_;
};

}  // namespace

template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(int device) {
    return std::make_unique<DeviceProducts<T>>(device);
}

template std::unique_ptr<ProductMachine<float>> make_product_machine(int);
template std::unique_ptr<ProductMachine<double>> make_product_machine(int);

}  // namespace solver::bench::on_cuda
