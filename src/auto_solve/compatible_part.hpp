#pragma once

/// Right-hand sides of systems whose columns add up to zero, such as Neumann problems, graphs and all that conserves a
/// quantity.

#include "auto_solve/matrix_facts.hpp"
#include "core/connected_parts.hpp"
#include "krylov/run.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/device.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace solver {

/// Where A'e = 0, e the vector of ones, e'(b - A x) = e'b whatever x is. No x then makes ||b - A x|| smaller than |e'b| /
/// sqrt(n), and that one makes it so for which A x is the compatible part of b, b less its mean. Iterations with b itself add
/// to x what A maps to zero until none of its digits is left; an e'b below the tolerance does that, too. Where A falls into
/// components that no entry connects, each has a vector of ones of its own.
///
/// A component counts as such, too, where s = A'e, relative to the sums of magnitudes, is what rounding the entries of A
/// leaves: a unit roundoff in the mean of its columns, and nowhere many, as a column has that is held by a small number. None
/// counts where A is symmetric and b a multiple of s in each, which constants solve.
///
/// Rows without entries of an A that is its own transpose are such components, whatever the others are.
///
/// Complex numbers, in real form (complex.hpp): real and imaginary parts have a mean each.
template <class T>
class CompatibleParts {
public:
    /// Puts the compatible part in the place of each b that has another one, unless the initial guess solves that. It lies
    /// where b does.
    CompatibleParts(const SpmvPlan<T>& a, const MatrixFacts& facts, std::vector<Unknown<T>>& unknowns,
                    const KrylovOptions& options);

    /// Where what is left of the compatible part and what A cannot reach both meet the tolerance, but not together, the part is
    /// solved on: `solve_on(column, tolerance)` says how that ends.
    void finish(SolveReport& report, const std::function<SolveResult(std::size_t, double)>& solve_on) const;

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

    using Component = std::span<const std::int64_t>;

    /// Of s = A'e, one vector e for each kind of numbers.
    struct ImageOfConstants {
        std::vector<std::vector<T>> images;
        std::vector<T> column_norms;
        bool is_zero = true;  ///< s is
    };

    bool may_have_null_space(const MatrixFacts& facts) const;
    std::vector<T> constants(std::int64_t kind) const;
    void narrow_null_space();
    bool is_in_null_space(Component component) const;
    void add_if_needed(std::size_t column, const Unknown<T>& unknown, const KrylovOptions& options);
    bool is_image_of_constants(std::span<const T> b, double tolerance) const;
    double size_of_means(std::span<const T> b) const;
    void take_out_means(std::span<T> b) const;
    double relative_residual(const Unknown<T>& unknown) const;

    const SpmvPlan<T>& a_;
    Device host_;
    const char* symmetry_;  ///< null where A is not its own transpose
    std::int64_t kinds_;    ///< of numbers: 1, or real and imaginary parts
    std::vector<Part> parts_;
    ImageOfConstants image_;  ///< made when first asked for
    ConnectedParts components_;
    std::vector<Component> null_space_;  ///< those with A'e = 0; all that may be, until the image is known
};

}  // namespace solver
