#pragma once

/// Complex numbers. One rule settles everything: a complex result is two real results. Each component is a real sum of
/// products and keeps the promise of its mode (accuracy.hpp) by itself: in exact, Re and Im are the real numbers, rounded once,
/// with the same bits on every machine. A small component beside a large one is as right as any. Special values are those of
/// reduce.hpp for each component: in dots and dense products (Inf + 0i) (1 + 0i) is Inf + NaN i, as in NumPy. In a sparse
/// matrix parts that are zero are no entries, and meet no Inf.
///
/// A complex matrix is multiplied as a real one of twice its order (real_form), by the kernels and the storage of real
/// matrices, on every device. Factors alpha and beta whose imaginary part is zero are real factors: nothing is multiplied by
/// that zero.

#include "solver/csr_matrix.hpp"
#include "solver/gemm.hpp"
#include "solver/matrix_market.hpp"
#include "solver/numeric/complex.hpp"
#include "solver/numeric/complex_expansion.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "solver/triangular_solve.hpp"

#include <complex>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace solver {

/// The real matrix K of 2 rows and 2 columns for each of A, with a = re + im i as ( re -im ; im re ): if y = A x, then
/// real_view(y) = K real_view(x). Parts that are zero are no entries of K, so that a real A makes two copies of itself. K is
/// symmetric where A is Hermitian, and positive definite where A is. Throws InvalidArgument from 2^30 rows or columns on.
template <class T>
CsrMatrix<T> real_form(const CsrView<std::complex<T>>& a);

/// A file as a real matrix: of a complex one the real form, of any other the matrix itself. Throws as read_csr does.
template <class T>
CsrMatrix<T> read_real_form(const std::filesystem::path& path, const MatrixMarketOptions& options = {});

/// The inverse of real_form: reads the real rows alone. Throws InvalidArgument where rows or columns are odd in number.
template <class T>
CsrMatrix<std::complex<T>> complex_form(const CsrView<T>& real_form);

/// A^H, the transpose of conjugates; columns come out sorted within each row.
template <class T>
CsrMatrix<std::complex<T>> conjugate_transpose(const CsrView<std::complex<T>>& a, const Device& device = Device::cpu(1));

/// sum_i x_i
std::complex<double> sum(std::span<const std::complex<double>> x, Accuracy accuracy, const Device& device = Device::cpu());
std::complex<float> sum(std::span<const std::complex<float>> x, Accuracy accuracy, const Device& device = Device::cpu());

/// x^H y = sum_i conj(x_i) y_i, as BLAS's dotc and NumPy's vdot. Throws DimensionMismatch if the lengths differ.
std::complex<double> dot(std::span<const std::complex<double>> x, std::span<const std::complex<double>> y, Accuracy accuracy,
                         const Device& device = Device::cpu());
std::complex<float> dot(std::span<const std::complex<float>> x, std::span<const std::complex<float>> y, Accuracy accuracy,
                        const Device& device = Device::cpu());

/// x^T y = sum_i x_i y_i, as BLAS's dotu and NumPy's dot. Throws DimensionMismatch if the lengths differ.
std::complex<double> dotu(std::span<const std::complex<double>> x, std::span<const std::complex<double>> y, Accuracy accuracy,
                          const Device& device = Device::cpu());
std::complex<float> dotu(std::span<const std::complex<float>> x, std::span<const std::complex<float>> y, Accuracy accuracy,
                         const Device& device = Device::cpu());

/// sqrt(sum_i |x_i|^2): that of the 2n components, see norm2 of real vectors.
double norm2(std::span<const std::complex<double>> x, Accuracy accuracy, const Device& device = Device::cpu());
float norm2(std::span<const std::complex<float>> x, Accuracy accuracy, const Device& device = Device::cpu());

/// The sum, x^H y and x^T y themselves, without any rounding: real and imaginary part as expansions, each as sum_expansion and
/// dot_expansion of real numbers give it (reduce.hpp); the first components are what sum, dot and dotu give in exact. Throw
/// DimensionMismatch if the lengths differ.
ComplexExpansion<double> sum_expansion(std::span<const std::complex<double>> x, const Device& device = Device::cpu());
ComplexExpansion<float> sum_expansion(std::span<const std::complex<float>> x, const Device& device = Device::cpu());
ComplexExpansion<double> dot_expansion(std::span<const std::complex<double>> x, std::span<const std::complex<double>> y,
                                       const Device& device = Device::cpu());
ComplexExpansion<float> dot_expansion(std::span<const std::complex<float>> x, std::span<const std::complex<float>> y,
                                      const Device& device = Device::cpu());
ComplexExpansion<double> dotu_expansion(std::span<const std::complex<double>> x, std::span<const std::complex<double>> y,
                                        const Device& device = Device::cpu());
ComplexExpansion<float> dotu_expansion(std::span<const std::complex<float>> x, std::span<const std::complex<float>> y,
                                       const Device& device = Device::cpu());

/// A complex matrix made ready for many products. It keeps a copy of the matrix, as real_form has it, which copies of the plan
/// share; the matrix need not outlive the plan. What else holds is said of SpmvPlan of real numbers. For vectors that live on a
/// CUDA device there is cuda::SpmvPlan<std::complex<T>> (cuda/spmv.hpp).
template <class T>
class SpmvPlan<std::complex<T>> {
public:
    using Number = std::complex<T>;

    explicit SpmvPlan(const CsrView<Number>& a, const Device& device = Device::best(),
                      SpmvKernel kernel = SpmvKernel::automatic)
        : SpmvPlan(a, device, SpmvOptions{.kernel = kernel}) {}

    SpmvPlan(const CsrView<Number>& a, const Device& device, const SpmvOptions& options);

    /// A matrix that lies on a CUDA device (cuda.hpp) is checked there, and its real form made there; nothing that writes it
    /// may be under way. It need not outlive the plan. A copy of the real form in the host's memory is made when first
    /// real().matrix() is asked for, as preconditioners and `solve` do. Throws InvalidArgument, and what cuda.hpp says.
    explicit SpmvPlan(const cuda::DeviceCsrView<Number>& a, const SpmvOptions& options = {});

    /// A move is a copy, which shares the matrix.
    SpmvPlan(const SpmvPlan&) = default;
    SpmvPlan& operator=(const SpmvPlan&) = default;

    /// y = alpha A x + beta y; x has A.columns elements, y A.rows, and they must not overlap. Each component of y is rounded as
    /// a row of a real product is, with all of alpha and beta inside: exact is one rounding of
    /// Re y = ar Re(A x) - ai Im(A x) + br Re y - bi Im y, and of Im y in turn. alpha == 0 reads neither A nor x, beta == 0
    /// does not read y. Where alpha or beta has an imaginary part, y is rounded once in every mode, from two exact products.
    /// Throws DimensionMismatch.
    void multiply(Number alpha, std::span<const Number> x, Number beta, std::span<Number> y, Accuracy accuracy) const;

    /// r = b - A (x + x_low), x_low empty or as long as x. r may be b, not x.
    void residual(std::span<const Number> b, std::span<const Number> x, std::span<const Number> x_low, std::span<Number> r,
                  Accuracy accuracy) const;

    /// Each task as multiply and residual would do it by itself, with the same bits.
    void multiply(std::span<const SpmvTask<Number>> tasks, Accuracy accuracy) const;

    std::int64_t rows() const { return real_.rows() / 2; }
    std::int64_t columns() const { return real_.columns() / 2; }
    const Device& device() const { return real_.device(); }
    SpmvDescription describe() const { return real_.describe(); }

    /// The plan of real_form(A): what takes real systems (bicgstab, cg, make_preconditioner, certify) takes it, with real_view
    /// of the vectors.
    const SpmvPlan<T>& real() const { return real_; }

private:
    // in the memory of the host or of a device
    template <class Matrix, class... Options>
    SpmvPlan(std::shared_ptr<const Matrix> real_form, const Options&... options)
        : real_form_(real_form), real_(real_form->view(), options...) {}

    std::shared_ptr<const void> real_form_;
    SpmvPlan<T> real_;
};

/// y = alpha A x + beta y for a product or two.
void spmv(std::complex<double> alpha, const CsrView<std::complex<double>>& a, std::span<const std::complex<double>> x,
          std::complex<double> beta, std::span<std::complex<double>> y, Accuracy accuracy,
          const Device& device = Device::cpu());
void spmv(std::complex<float> alpha, const CsrView<std::complex<float>>& a, std::span<const std::complex<float>> x,
          std::complex<float> beta, std::span<std::complex<float>> y, Accuracy accuracy, const Device& device = Device::cpu());

/// A sparse complex triangular matrix made ready for many solves, by what triangular_solve.hpp says of real ones: row by row,
/// given the elements already computed, x_i = (b_i - sum_j a_ij x_j) / a_ii. Each part of the numerator is rounded as the
/// accuracy asks, in exact once; then each part of the quotient of the two complex numbers is the real number, rounded once, in
/// every accuracy. The quotient of x + i y by p + i q is ((x p + y q) + i (y p - x q)) / (p^2 + q^2) as computed where one of
/// the four is Inf or NaN, but of two real ones where p or q is 0.
///
/// The bits do not depend on the number of threads, and in exact not on the device. In exact the conjugates of A and b have the
/// conjugate of x, and where nothing has an imaginary part, the bits are those of the real solve.
///
/// The plan keeps a copy of the matrix, in real form, which copies of the plan share; the matrix need not outlive the plan. For
/// A^H x = b there is conjugate_transpose(A), a triangle on the other side. For vectors that live on a CUDA device there is
/// cuda::TriangularSolvePlan<std::complex<T>> (cuda/triangular_solve.hpp).
template <class T>
class TriangularSolvePlan<std::complex<T>> {
public:
    using Number = std::complex<T>;

    /// Throws as the plan of a real matrix does.
    TriangularSolvePlan(const CsrView<Number>& a, Triangle triangle, Diagonal diagonal, const Device& device = Device::best());

    /// A move is a copy, which shares the triangle.
    TriangularSolvePlan(const TriangularSolvePlan&) = default;
    TriangularSolvePlan& operator=(const TriangularSolvePlan&) = default;

    /// Solves A x = b. x may be b. Throws DimensionMismatch, InvalidArgument where they overlap in part.
    void solve(std::span<const Number> b, std::span<Number> x, Accuracy accuracy) const;

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return rows_; }
    Triangle triangle() const { return triangle_; }
    Diagonal diagonal() const { return diagonal_; }

private:
    struct Pairs;

    std::int64_t rows_;
    Triangle triangle_;
    Diagonal diagonal_;
    std::shared_ptr<Pairs> pairs_;  // the real form, but for the diagonal
};

/// Solves T x = b for the triangle T of a dense complex matrix by substitution, x_i = (b_i - sum_j t_ij x_j) / t_ii, rounded as
/// TriangularSolvePlan<std::complex<T>> does; only the triangle named is read. x may be b. Unlike a sparse matrix's, parts that
/// are zero are multiplied: times Inf they are NaN. Throws InvalidArgument where T is not square or has a zero on the diagonal
/// (stored), DimensionMismatch, and NotSupported on a CUDA device: on the processor only.
void triangular_solve(const DenseView<std::complex<double>>& a, Triangle triangle, Diagonal diagonal,
                      std::span<const std::complex<double>> b, std::span<std::complex<double>> x, Accuracy accuracy,
                      const Device& device = Device::cpu());
void triangular_solve(const DenseView<std::complex<float>>& a, Triangle triangle, Diagonal diagonal,
                      std::span<const std::complex<float>> b, std::span<std::complex<float>> x, Accuracy accuracy,
                      const Device& device = Device::cpu());

/// Solves A x = b for complex numbers: `solve` of solve.hpp for the real system K real_view(x) = real_view(b) with K =
/// real_form(A), by methods whose scalars are complex (KrylovOptions::complex_scalars). All of it holds: the automatic choice,
/// preconditioners, x as a pair, mixed precision, guarantees. Multiplying A and b by i changes nothing but the order of
/// roundings; without imaginary parts bicgstab, gmres, cg and minres have the bits of real solves. Preconditioners are made of
/// the real form, but jacobi divides by the complex diagonal: each part of a quotient is the real number, rounded once. Proofs
/// speak of the components of real_view(x); SolutionProof::error_bound alone is by |x_i| (complex_error_bound).
template <>
SolveReport solve(const SpmvPlan<std::complex<double>>& a, std::span<const std::complex<double>> b,
                  std::span<std::complex<double>> x, std::span<std::complex<double>> x_low, const SolveOptions& options);
template <>
SolveReport solve(const SpmvPlan<std::complex<float>>& a, std::span<const std::complex<float>> b,
                  std::span<std::complex<float>> x, std::span<std::complex<float>> x_low, const SolveOptions& options);
template <>
SolveReport solve(const SpmvPlan<std::complex<double>>& a, const DenseMatrix<std::complex<double>>& b,
                  DenseMatrix<std::complex<double>>& x, DenseMatrix<std::complex<double>>* x_low, const SolveOptions& options);
template <>
SolveReport solve(const SpmvPlan<std::complex<float>>& a, const DenseMatrix<std::complex<float>>& b,
                  DenseMatrix<std::complex<float>>& x, DenseMatrix<std::complex<float>>* x_low, const SolveOptions& options);

/// Bounds of |z_i - z*_i| from those of the real and imaginary parts in turn.
std::vector<double> bounds_of_moduli(std::span<const double> bounds_of_parts);

/// max_i |z_i - z*_i| / |z_i|, proven by the bounds of the parts of z, which are given in turn, too: what
/// SolutionProof::error_bound is for numbers. 0 where all bounds are; infinite where some z_i is 0 and its bounds are not.
double complex_error_bound(std::span<const double> bounds_of_parts, std::span<const double> parts);

/// C = alpha A B + beta C of complex numbers, with conj(A) and conj(B) where asked for; gemm.hpp says the rest. Real and
/// imaginary part of an element are sums of 2 k products each and keep the promise of the mode, each for itself. On the
/// processor one real product of twice the inner dimension, for which B is copied with two real rows for each of its own, and A
/// where it is not stored by rows; on a CUDA device two integer products for each modulus where the matrices are large
/// (docs/gemm.md). alpha and beta are real numbers. Throws as gemm does, and InvalidArgument where alpha or beta has an
/// imaginary part.
void gemm(const GemmTask<std::complex<double>>& task, Accuracy accuracy, const Device& device = Device::cpu(),
          Conjugation conjugation = {});
void gemm(const GemmTask<std::complex<float>>& task, Accuracy accuracy, const Device& device = Device::cpu(),
          Conjugation conjugation = {});

}  // namespace solver
