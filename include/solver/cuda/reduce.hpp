#pragma once

/// Sums, dot products and norms of vectors on a CUDA device.

#include "solver/accuracy.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/numeric/expansion.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace solver::cuda {

enum class Reduction { sum, dot, norm2 };

/// The vectors of a dot product.
template <class T>
struct Factors {
    const T* x = nullptr;
    const T* y = nullptr;
};

/// Sums, dot products and norms; the promises are those of solver/reduce.hpp, and in exact the bits too. Has working memory of
/// its own: one reduction at a time.
class Reducer {
public:
    explicit Reducer(int device);
    Reducer(Reducer&&) noexcept;
    Reducer& operator=(Reducer&&) noexcept;
    ~Reducer();

    /// *result = sum_i x_i, sum_i x_i y_i or sqrt(sum_i x_i^2), where only dot reads y. x, y and result are in the device's
    /// memory and aligned as their type.
    void reduce(Reduction reduction, std::int64_t n, const double* x, const double* y, Accuracy accuracy, double* result,
                Stream stream = nullptr);
    void reduce(Reduction reduction, std::int64_t n, const float* x, const float* y, Accuracy accuracy, float* result,
                Stream stream = nullptr);

    /// results[k] = sum_i of[k].x_i of[k].y_i, all by one launch, four products in a pass: a vector that several of the four
    /// have, as in (x, x), (x, y), (y, y), is read from memory once. The promises of reduce, in exact the same bits. Throws
    /// InvalidArgument for more than most_dots.
    static constexpr int most_dots = 32;
    void dots(std::int64_t n, std::span<const Factors<double>> of, Accuracy accuracy, double* results, Stream stream = nullptr);
    void dots(std::int64_t n, std::span<const Factors<float>> of, Accuracy accuracy, float* results, Stream stream = nullptr);

    /// *result = the sum or the dot product itself, as solver::sum_expansion and dot_expansion give it, with their bits. Takes
    /// the time of superaccumulators, three to six times that of a reduction. Throws InvalidArgument for norm2.
    void expand(Reduction reduction, std::int64_t n, const double* x, const double* y, Expansion<double>* result,
                Stream stream = nullptr);
    void expand(Reduction reduction, std::int64_t n, const float* x, const float* y, Expansion<float>* result,
                Stream stream = nullptr);

private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace solver::cuda
