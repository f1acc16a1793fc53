#pragma once

/// Products of dense matrices, C = alpha A B + beta C, in the accuracy asked for.
///
/// Each C_ij is a sum of k products and keeps the promise of Accuracy as a dot product does, elementwise, whatever the scales
/// of rows and columns are; alpha and beta as for SpMV: exact is RN(alpha sum_k a_ik b_kj + beta c_ij), one rounding, the same
/// bits on every device. alpha == 0 reads neither A nor B; beta == 0 does not read C. Inf and NaN as in reduce.hpp.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace solver {

/// C = alpha A B + beta C: A is m x k, B is k x n, C is m x n. Views choose the order and transpose: row-major, column-major
/// and any leading dimension are strides, of which one of each matrix is 1.
template <class T>
struct GemmTask {
    T alpha = 1;
    DenseView<T> a;
    DenseView<T> b;
    T beta = 0;
    MutableDenseView<T> c;

    constexpr std::int64_t inner() const { return a.columns; }
};

/// Which operands of a complex product (complex.hpp) are conjugated; a conjugate transpose is a transposed view and this.
struct Conjugation {
    bool a = false;
    bool b = false;
};

/// How `fast` adds up the products of one element. The others than automatic and plain are "selective compensation" (Badin,
/// Bic, Dillencourt, Nicolau, Scientific Programming 19(1), 2011): `block` products are summed plainly, and these partial sums
/// are added up by the method named. With block = b and n products the error is at most
///   plain                (n) u |a||b|, to first order
///   kahan                (b + 2) u
///   doubly_compensated   (b + 2) u; Priest's method, which sorts each two
///   pairwise             (b + log2(n / b)) u
///   dot2                 (b + 1) u; sums and their errors kept apart, added at the end. With block 1 products are split, too:
///                        as if in twice the precision (Ogita, Rump, Oishi 2005)
enum class GemmSummation { automatic, plain, kahan, doubly_compensated, pairwise, dot2 };

inline constexpr std::array all_gemm_summations{GemmSummation::automatic, GemmSummation::plain,
                                                GemmSummation::kahan,     GemmSummation::doubly_compensated,
                                                GemmSummation::pairwise,  GemmSummation::dot2};

/// "automatic", "plain", "kahan", "doubly-compensated", "pairwise", "dot2".
std::string_view to_string(GemmSummation summation);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
GemmSummation gemm_summation_from_text(std::string_view text);

/// What only `fast` looks at: the other modes promise more than any of these.
struct GemmOptions {
    GemmSummation summation = GemmSummation::automatic;  ///< automatic: whatever is fastest here
    std::int64_t block = 64;                             ///< products summed plainly, 1 or more
};

/// Throws DimensionMismatch where sizes do not agree, InvalidArgument where C overlaps A or B, a matrix has no stride of 1 or
/// strides that are too small, or block is below 1.
void gemm(const GemmTask<double>& task, Accuracy accuracy, const Device& device = Device::cpu(),
          const GemmOptions& options = {});
void gemm(const GemmTask<float>& task, Accuracy accuracy, const Device& device = Device::cpu(),
          const GemmOptions& options = {});

inline void gemm(double alpha, const DenseView<double>& a, const DenseView<double>& b, double beta,
                 const MutableDenseView<double>& c, Accuracy accuracy, const Device& device = Device::cpu(),
                 const GemmOptions& options = {}) {
    gemm(GemmTask<double>{alpha, a, b, beta, c}, accuracy, device, options);
}
inline void gemm(float alpha, const DenseView<float>& a, const DenseView<float>& b, float beta,
                 const MutableDenseView<float>& c, Accuracy accuracy, const Device& device = Device::cpu(),
                 const GemmOptions& options = {}) {
    gemm(GemmTask<float>{alpha, a, b, beta, c}, accuracy, device, options);
}

}  // namespace solver
