#pragma once

/// Right-hand sides of symmetric systems that map constants to zero, such as Neumann problems and graphs.

#include "auto_solve/matrix_facts.hpp"
#include "krylov/run.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace solver {

/// Where A = A' and A e = 0, e the vector of ones, e'(b - A x) = e'b whatever x is. No x then makes ||b - A x|| smaller than
/// |e'b| / sqrt(n), and that one makes it so for which A x is the compatible part of b, b less its mean. Iterations with b
/// itself add constants to x until none of its digits is left; an e'b below the tolerance does that, too.
///
/// A counts as such, too, where s = A e, relative to the sums of magnitudes, is what rounding the entries of A leaves: a unit
/// roundoff in the mean of rows, and nowhere many, as a row has that is held by a small number. Not so where b is a multiple of
/// s, which constants solve.
///
/// Complex numbers, in real form (complex.hpp): real and imaginary parts have a mean each.
template <class T>
class CompatibleParts {
public:
    /// Puts the compatible part in the place of each b that has another one, unless the initial guess solves that. It lies
    /// where b does.
    CompatibleParts(const SpmvPlan<T>& a, const MatrixFacts& facts, std::vector<Unknown<T>>& unknowns,
                    const KrylovOptions& options);

    /// What a solve with these parts came to for b itself: its residual, `stagnated` where that does not meet the tolerance,
    /// and what stands in the way.
    void tell(SolveReport& report) const;

private:
    /// In the place of one right-hand side.
    struct Part {
        std::size_t column;
        Unknown<T> of_caller;
        double tolerance;
        double mean;  ///< relative to ||b||
        std::vector<T> here;
        cuda::DeviceArray<T> there;
    };

    /// Of s = A e: |s_j| / w_j, w_j = sum_i |a_ij|, in the quadratic mean and the largest, over all vectors e, and s / ||s|| of
    /// each that is not zero.
    struct ImageOfConstants {
        double mean = 0, largest = 0;
        std::vector<std::vector<double>> directions;
    };

    ImageOfConstants image_of_constants() const;
    void add_if_needed(std::size_t column, const Unknown<T>& unknown, const KrylovOptions& options);
    bool has_constants_in_null_space();
    bool is_image_of_constants(std::span<const T> b, double tolerance) const;
    double relative_residual(const Unknown<T>& unknown) const;

    const SpmvPlan<T>& a_;
    const char* symmetry_;
    int kinds_;  ///< vectors e: one of ones, or one for the real and one for the imaginary parts
    std::vector<Part> parts_;
    std::optional<ImageOfConstants> image_;  ///< computed when first asked for
};

}  // namespace solver
