#include "product_machine.hpp"

#include "cuda/benchmarks.hpp"
#include "eigen_peer.hpp"
#include "openblas_peer.hpp"
#include "solver/complex.hpp"

#include <algorithm>
#include <chrono>
#include <complex>
#include <limits>

namespace solver::bench {
namespace {

template <class T>
class Processor final : public ProductMachine<T> {
public:
    explicit Processor(int threads) : threads_(threads) {}

    void load(const DenseFactors<T>& factors) override {
        factors_ = factors;
        c_.assign(factors.a.size(), 0);
    }

    void multiply(Accuracy accuracy, const GemmOptions& options) override {
        const Device device = Device::cpu(threads_);
        if (factors_.is_complex)
            gemm(task<std::complex<T>>(), accuracy, device);
        else
            gemm(task<T>(), accuracy, device, options);
    }

    std::vector<ProductWay> peers() override {
        const ProductWay openblas{
            .name = "openblas",
            .multiply =
                [this] { as_elements([this](auto a, auto b, auto c) { openblas::multiply(threads_, factors_.n, a, b, c); }); },
            .leave = openblas::rest};
        const ProductWay eigen{.name = "eigen",
                               .multiply =
                                   [this] {
                                       as_elements([this](auto a, auto b, auto c) {
                                           eigen::multiply(eigen::usable_threads(threads_), factors_.n, a, b, c);
                                       });
                                   },
                               .leave = eigen::end_threads};
        if (openblas::is_there()) return {openblas, eigen};
        return {eigen};
    }

    std::vector<T> result(std::span<const std::int64_t> places) override {
        std::vector<T> found;
        for (const std::int64_t place : places) found.push_back(c_[static_cast<std::size_t>(place)]);
        return found;
    }
    std::vector<T> result() override { return c_; }
    void clear() override { std::fill(c_.begin(), c_.end(), std::numeric_limits<T>::quiet_NaN()); }

    double seconds_of(const std::function<void()>& multiply) override {
        const auto begin = std::chrono::steady_clock::now();
        multiply();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    Competitor competitor(const ProductWay& way) override {
        return {.name = way.name,
                .threads = way.name == "eigen" ? eigen::usable_threads(threads_) : threads_,
                .run = way.multiply,
                .leave = way.leave};
    }

private:
    template <class S>
    GemmTask<S> task() {
        return square_task<S>(factors_.n, factors_.a.data(), factors_.b.data(), c_.data());
    }

    /// call(a, b, c) with spans of numbers or of complex numbers.
    template <class Call>
    void as_elements(const Call& call) {
        const auto with = [&]<class S>(S) {
            const auto elements = static_cast<std::size_t>(factors_.n * factors_.n);
            const auto read = [&](const std::vector<T>& parts) {
                return std::span(reinterpret_cast<const S*>(parts.data()), elements);
            };
            call(read(factors_.a), read(factors_.b), std::span(reinterpret_cast<S*>(c_.data()), elements));
        };
        if (factors_.is_complex) return with(std::complex<T>());
        with(T());
    }

    int threads_;
    DenseFactors<T> factors_{};
    std::vector<T> c_;
};

}  // namespace

template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(const Options& options) {
    if (options.cuda_device) return on_cuda::make_product_machine<T>(*options.cuda_device);
    return std::make_unique<Processor<T>>(options.threads);
}

template <class T>
double seconds_of_product(ProductMachine<T>& machine, const Effort& effort, const std::function<void()>& multiply) {
    constexpr double slow = 1;
    const double first = machine.seconds_of(multiply);
    if (first > slow) return first;
    std::vector<double> seconds(static_cast<std::size_t>(effort.repetitions == 0 ? 3 : effort.repetitions));
    for (double& time : seconds) time = machine.seconds_of(multiply);
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
}

template std::unique_ptr<ProductMachine<float>> make_product_machine(const Options&);
template std::unique_ptr<ProductMachine<double>> make_product_machine(const Options&);
template double seconds_of_product(ProductMachine<float>&, const Effort&, const std::function<void()>&);
template double seconds_of_product(ProductMachine<double>&, const Effort&, const std::function<void()>&);

}  // namespace solver::bench
