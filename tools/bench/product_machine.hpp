#pragma once

/// Where C = A B is computed: the processor, or a CUDA device that keeps the matrices in its memory.

#include "contest.hpp"
#include "gemms.hpp"
#include "options.hpp"
#include "solver/accuracy.hpp"
#include "solver/gemm.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver::bench {

/// One way to compute C = A B of the matrices that a machine has loaded.
struct ProductWay {
    std::string name;
    std::function<void()> multiply;            ///< on a device the product is not waited for
    bool is_plain = true;                      ///< in T, not in another format
    std::function<void()> leave = [] {};       ///< gives the processors back
    std::function<std::string()> remark = {};  ///< on the last product by anybody
};

/// By tiles of so many rows and columns and threads.
struct ShapedWay {
    int threads;
    int rows;
    int columns;
    std::function<void()> multiply;
};

template <class T>
class ProductMachine {
public:
    virtual ~ProductMachine() = default;

    /// What every product from now on multiplies.
    virtual void load(const DenseFactors<T>& factors) = 0;
    virtual void multiply(Accuracy accuracy, const GemmOptions& options) = 0;
    /// How others multiply what is loaded; first the plain product in T. Not to be used longer than the machine.
    virtual std::vector<ProductWay> peers() = 0;
    /// What multiplies matrices without negative entries only; nothing on a processor.
    virtual std::vector<ProductWay> nonnegative() { return {}; }
    /// Doubly compensated sums of `block` products, a multiple of 16, by kernels of several shapes; floats on a device only.
    virtual std::vector<ShapedWay> shapes(std::int64_t) { return {}; }
    /// Elements of C, or all of it, column by column; of a complex C its parts.
    virtual std::vector<T> result(std::span<const std::int64_t> places) = 0;
    virtual std::vector<T> result() = 0;
    /// C = NaN
    virtual void clear() = 0;
    /// Of one call, its end included.
    virtual double seconds_of(const std::function<void()>& multiply) = 0;
    /// With the machine's threads and its clock.
    virtual Competitor competitor(const ProductWay& way) = 0;

    /// fast, compensated, exact, then of real matrices the selective methods with blocks of `block`.
    std::vector<ProductWay> ours(std::int64_t block, bool is_complex = false) {
        std::vector<ProductWay> ways;
        for (const Accuracy accuracy : all_accuracies) ways.push_back(own(std::string(to_string(accuracy)), accuracy, {}));
        if (is_complex) return ways;
        for (const GemmSummation summation : all_gemm_summations)
            if (summation != GemmSummation::automatic)
                ways.push_back(own(std::string(to_string(summation)), Accuracy::fast, {summation, block}));
        return ways;
    }

protected:
    /// On the library's last product.
    virtual std::string remark() { return ""; }

private:
    ProductWay own(std::string name, Accuracy accuracy, const GemmOptions& options) {
        return {.name = std::move(name),
                .multiply = [this, accuracy, options] { multiply(accuracy, options); },
                .remark = [this] { return remark(); }};
    }
};

/// The machine that the options name.
template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(const Options& options);

/// The median time of as many products as the options' effort says, of at least three where it does not, after one that is not
/// timed. What takes longer than a second is done once.
template <class T>
double seconds_of_product(ProductMachine<T>& machine, const Effort& effort, const std::function<void()>& multiply);

}  // namespace solver::bench
