#pragma once

/// Complete factors: through KLU, and where a matrix is nearly full by blocks.

#include "preconditioner/lu_factors.hpp"
#include "preconditioner/prepared.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace solver {

/// How the refusal of a singular matrix begins and ends, for whoever named KLU.
inline constexpr std::string_view klu_refuses = "preconditioner klu: ", instead_where_singular = "; use ilut or none";

/// Measured on 60 matrices against KLU's own 0.001: residuals up to 100 times smaller, the fill the same but for a few (at most
/// 1.6 times); 0.5 costs up to twice the fill.
inline constexpr double klu_pivot_tolerance = 0.1;

/// What a complete factorisation would take.
struct FactorPrediction {
    double entries = 0;  ///< of L and U
    double flops = 0;
    double bytes = 0;  ///< at the peak, while the factors are made
};

/// From a preparation with Ordering::amd (InvalidArgument without). Pivoting off the diagonal can make it more: on most
/// matrices it stays below, as the pattern of A + A^T was counted; measured, up to four times more on matrices of zeros and
/// ones.
FactorPrediction predict_klu(const Preparation& preparation);

/// Of a matrix that is prepared for it, with Ordering::amd, and forgotten again.
template <class T>
FactorPrediction predict_klu(const CsrView<T>& a);

/// By which arithmetic the real form of a complex matrix is factored. What the error analysis of real elimination says does
/// not hold of complex factors (guarantee/factor_bound.hpp).
enum class Elimination { real, complex };

template <class T>
struct KluFactors {
    IluFactors<T> factors;
    Preparation preparation;  ///< with KLU's pivots: L U is the matrix prepared by this one, up to rounding
    Elimination elimination = Elimination::real;
};

/// LU with partial pivoting, the diagonal preferred (KLU: Davis, Palamadai Natarajan, ACM TOMS 37(3), 2010), of the prepared
/// matrix, in double, whatever A is; factors in float are rounded afterwards. No block triangular form: one L and one U. What
/// is nearly full is factored by blocks (full_lu.hpp), on the device, which changes no bit. Of the real form of a complex
/// matrix (complex.hpp) the complex factors are found, in a fifth of the time, and made real (complex_factors.hpp), unless
/// `elimination` is real. preparation: prepare(a, Ordering::amd). The diagonal stays pivot where it is at least `tolerance`
/// times the largest of its column: always with 0, as symmetric positive definite matrices allow, which then fill in as
/// predicted.
///
/// Throws ResourceLimit before it starts where the prediction exceeds the memory limit (PreconditionerOptions), and later where
/// pivoting fills in more than that; InvalidArgument where A is singular, structurally or by an exactly zero pivot, or where
/// factors overflow.
template <class T, class From>
KluFactors<T> factor_klu(const CsrView<From>& a, const Preparation& preparation, std::int64_t memory_limit,
                         Elimination elimination = Elimination::complex, const Device& device = Device::cpu(),
                         double tolerance = klu_pivot_tolerance);

/// L U of a matrix that is prepared already, its rows sorted, with the diagonal as pivots, whatever their size; nothing where
/// one of them is 0. Throws ResourceLimit as factor_klu does.
std::optional<IluFactors<double>> factor_on_diagonal(const CsrMatrix<double>& b, const FillPrediction& fill,
                                                     std::int64_t memory_limit);

/// Complete factors as a preconditioner of A, which can still be looked at.
template <class T>
class KluPreconditioner final : public Prepared<T> {
public:
    KluPreconditioner(KluFactors<T> made, const Device& device)
        : Prepared<T>("klu", made.preparation, std::make_unique<LuPreconditioner<T>>("klu", std::move(made.factors), device),
                      device),
          preparation_(std::move(made.preparation)),
          elimination_(made.elimination) {}

    const IluFactors<T>& factors() const { return static_cast<const LuPreconditioner<T>&>(this->inner()).factors(); }

    /// With KLU's pivots.
    const Preparation& preparation() const { return preparation_; }

    Elimination elimination() const { return elimination_; }

private:
    Preparation preparation_;
    Elimination elimination_;
};

/// factor_klu as a preconditioner of A.
template <class T, class From>
std::unique_ptr<KluPreconditioner<T>> make_klu(const CsrView<From>& a, const Preparation& preparation,
                                               const PreconditionerOptions& options, const Device& device,
                                               Elimination elimination = Elimination::complex,
                                               double tolerance = klu_pivot_tolerance) {
    return std::make_unique<KluPreconditioner<T>>(
        factor_klu<T>(a, preparation, options.memory_limit, elimination, device, tolerance), device);
}

/// Of each block of options.block_of_row alone.
template <class T>
std::unique_ptr<Preconditioner<T>> make_klu_within_blocks(const CsrView<T>& a, const PreconditionerOptions& options,
                                                          const Device& device);

}  // namespace solver
