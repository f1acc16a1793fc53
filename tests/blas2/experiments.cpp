#include "experiments.hpp"

#include "dense_block.hpp"
#include "products.hpp"
#include "reductions.hpp"
#include "triangles.hpp"
#include "vectors.hpp"

#include <utility>
#include <vector>

namespace solver::blas2 {
namespace {

constexpr double usual_alpha = 0.7, usual_beta = -1.3;

/// The factors of alpha A x + beta y: those asked for, else a plain product and one with both.
template <class T>
std::vector<std::pair<T, T>> factors_of(const Options& options) {
    if (options.alpha || options.beta)
        return {{static_cast<T>(options.alpha.value_or(1)), static_cast<T>(options.beta.value_or(0))}};
    return {{T(1), T(0)}, {static_cast<T>(usual_alpha), static_cast<T>(usual_beta)}};
}

template <class T>
using SharedInputs = std::vector<std::shared_ptr<const ProductInputs<T>>>;

template <class T>
SharedInputs<T> inputs_of(const Sample<T>& sample, const Options& options) {
    const auto [alpha, beta] = factors_of<T>(options).back();
    SharedInputs<T> inputs;
    const auto add = [&, alpha = alpha, beta = beta](std::string name, std::vector<T> x) {
        inputs.push_back(std::make_shared<const ProductInputs<T>>(
            product_inputs(sample.a.view(), std::move(name), std::move(x), alpha, beta)));
    };
    if (!sample.x.empty()) add("its own", sample.x);
    if (sample.x.empty())
        for (const VectorWish& wish : options.vectors) add(wish.name(), make_x(wish, sample.a.view()));
    return inputs;
}

template <class T>
Experiments<T> products(const Sample<T>& sample, const Options& options) {
    Experiments<T> experiments;
    for (const auto& inputs : inputs_of(sample, options))
        for (const auto& [alpha, beta] : factors_of<T>(options))
            experiments.push_back(std::make_unique<SpmvExperiment<T>>(sample.a, inputs, alpha, beta));
    return experiments;
}

template <class T>
Experiments<T> residuals(const Sample<T>& sample, const Options& options) {
    Experiments<T> experiments;
    for (const auto& inputs : inputs_of(sample, options))
        for (const bool with_low_part : {false, true})
            experiments.push_back(std::make_unique<ResidualExperiment<T>>(sample.a, inputs, with_low_part));
    return experiments;
}

/// Of the entries of A, of x and of A x; dot products of each with random numbers.
template <class T>
ReductionInputs<T> reduction_inputs(Operation operation, const Sample<T>& sample, const ProductInputs<T>& from) {
    ReductionInputs<T> inputs;
    inputs.vectors = {sample.a.values, from.x, from.b};
    const char* const names[] = {"A's entries", "x", "A x"};
    if (operation == Operation::dot)
        for (std::size_t i = 0; i < 3; ++i)
            inputs.vectors.push_back(random_vector<T>(static_cast<std::int64_t>(inputs.vectors[i].size()), 5 + i));
    for (std::size_t i = 0; i < 3; ++i) {
        if (operation == Operation::dot)
            inputs.tasks.push_back({std::string(names[i]) + " with random", inputs.vectors[i], inputs.vectors[i + 3]});
        else
            inputs.tasks.push_back({names[i], inputs.vectors[i]});
    }
    return inputs;
}

template <class T>
Experiments<T> reductions(Operation operation, const Sample<T>& sample, const Options& options) {
    Experiments<T> experiments;
    for (const auto& inputs : inputs_of(sample, options))
        experiments.push_back(
            std::make_unique<ReductionExperiment<T>>(operation, inputs->name, reduction_inputs(operation, sample, *inputs)));
    return experiments;
}

/// b is what comes with the sample, or T x for a random x, rounded: solutions stay near x and rows cancel.
template <class T>
Experiments<T> triangular_solves(const Sample<T>& sample) {
    Experiments<T> experiments;
    if (sample.a.rows != sample.a.columns) return experiments;
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        CsrMatrix<T> t = triangle_of(sample.a.view(), triangle);
        std::vector<T> b = sample.x;
        if (b.empty()) {
            b.resize(static_cast<std::size_t>(t.rows));
            const std::vector<T> x = random_vector<T>(t.rows, 1);
            spmv(T(1), t.view(), x, T(0), b, Accuracy::exact);
        }
        experiments.push_back(std::make_unique<TriangularExperiment<T>>(
            std::move(t), triangle, sample.x.empty() ? "random:1" : "its own", std::move(b)));
    }
    return experiments;
}

/// B: the transposes of `own` rows of the block, which have squares on C's diagonal, and as many random columns.
template <class T>
DenseMatrix<T> right_factor(const DenseMatrix<T>& block) {
    const std::int64_t k = block.columns, own = std::min<std::int64_t>(24, block.rows), random = 24;
    DenseMatrix<T> b{k, own + random, {}};
    for (std::int64_t j = 0; j < own; ++j)
        for (std::int64_t i = 0; i < k; ++i) b.values.push_back(block.values[i * block.rows + j * block.rows / own]);
    const std::vector<T> others = random_vector<T>(k * random, 6);
    b.values.insert(b.values.end(), others.begin(), others.end());
    return b;
}

template <class T>
Experiments<T> dense_products(const Sample<T>& sample, const Options& options) {
    const DenseBlock<T> block = dense_block(sample.a.view(), 200, 100, 2000);
    Experiments<T> experiments;
    for (const auto& [alpha, beta] : factors_of<T>(options))
        experiments.push_back(std::make_unique<GemmExperiment<T>>(block, right_factor(block.values), alpha, beta));
    return experiments;
}

}  // namespace

template <class T>
Experiments<T> make_experiments(Operation operation, const Sample<T>& sample, const Options& options) {
    switch (operation) {
        case Operation::spmv:
            return products(sample, options);
        case Operation::residual:
            return residuals(sample, options);
        case Operation::sum:
        case Operation::dot:
        case Operation::norm2:
            return reductions(operation, sample, options);
        case Operation::triangular_solve:
            return triangular_solves(sample);
        case Operation::gemm:
            break;
    }
    return dense_products(sample, options);
}

template Experiments<float> make_experiments(Operation, const Sample<float>&, const Options&);
template Experiments<double> make_experiments(Operation, const Sample<double>&, const Options&);

}  // namespace solver::blas2
