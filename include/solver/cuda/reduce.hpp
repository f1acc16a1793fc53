#pragma once

/// Sums, dot products and norms of vectors on a CUDA device.

#include "solver/accuracy.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/numeric/complex_expansion.hpp"
#include "solver/numeric/expansion.hpp"

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

namespace solver::cuda {

enum class Reduction { sum, dot, norm2 };

/// Of complex numbers: sum_i x_i, x^H y = sum_i conj(x_i) y_i and x^T y = sum_i x_i y_i.
enum class ComplexReduction { sum, dot, dotu };

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

    /// The results of dots, and after them ||x||, with the bits that reduce gives it. Throws InvalidArgument for most_dots
    /// products or more.
    void dots_and_norm2(std::int64_t n, std::span<const Factors<double>> of, const double* x, Accuracy accuracy,
                        double* results, Stream stream = nullptr);
    void dots_and_norm2(std::int64_t n, std::span<const Factors<float>> of, const float* x, Accuracy accuracy, float* results,
                        Stream stream = nullptr);

    /// *result = the sum or the dot product itself, as solver::sum_expansion and dot_expansion give it, with their bits. Takes
    /// the time of superaccumulators, three to six times that of a reduction. Throws InvalidArgument for norm2.
    void expand(Reduction reduction, std::int64_t n, const double* x, const double* y, Expansion<double>* result,
                Stream stream = nullptr);
    void expand(Reduction reduction, std::int64_t n, const float* x, const float* y, Expansion<float>* result,
                Stream stream = nullptr);

    /// *result is a sum or a dot product of n complex numbers, aligned as their parts. Both parts are made in one pass over the
    /// vectors where they lie, and each keeps the promise of its mode by itself (solver/complex.hpp), in exact with the bits
    /// that it has on a processor.
    void reduce(ComplexReduction reduction, std::int64_t n, const std::complex<double>* x, const std::complex<double>* y,
                Accuracy accuracy, std::complex<double>* result, Stream stream = nullptr);
    void reduce(ComplexReduction reduction, std::int64_t n, const std::complex<float>* x, const std::complex<float>* y,
                Accuracy accuracy, std::complex<float>* result, Stream stream = nullptr);

    /// *result = sqrt(sum_i |x_i|^2), the norm of the 2n parts.
    void norm2(std::int64_t n, const std::complex<double>* x, Accuracy accuracy, double* result, Stream stream = nullptr) {
        reduce(Reduction::norm2, 2 * n, reinterpret_cast<const double*>(x), nullptr, accuracy, result, stream);
    }
    void norm2(std::int64_t n, const std::complex<float>* x, Accuracy accuracy, float* result, Stream stream = nullptr) {
        reduce(Reduction::norm2, 2 * n, reinterpret_cast<const float*>(x), nullptr, accuracy, result, stream);
    }

    /// *result = both parts of the sum or the dot product without any rounding, with the bits of sum_expansion, dot_expansion
    /// and dotu_expansion of solver/complex.hpp.
    void expand(ComplexReduction reduction, std::int64_t n, const std::complex<double>* x, const std::complex<double>* y,
                ComplexExpansion<double>* result, Stream stream = nullptr);
    void expand(ComplexReduction reduction, std::int64_t n, const std::complex<float>* x, const std::complex<float>* y,
                ComplexExpansion<float>* result, Stream stream = nullptr);

private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace solver::cuda
