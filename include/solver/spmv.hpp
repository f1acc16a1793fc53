#pragma once

/// Sparse matrix times vector, and the residual.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace solver {

template <class T>
struct CsrMatrix;
template <class T>
struct DenseMatrix;

namespace cuda {
template <class T>
class SpmvOnDevice;
template <class T>
struct DeviceCsrView;
}  // namespace cuda
template <class T>
class MatrixStorage;

/// How rows are shared out. It never changes a bit of an exact result.
enum class SpmvKernel {
    automatic,  ///< general where equal shares of rows are nearly equal shares of entries, else adaptive
    general,    ///< equal numbers of rows; a row belongs to one thread
    adaptive,   ///< equal numbers of entries and rows, counted together; a long row is shared by several threads
};

/// "auto", "general" or "adaptive".
std::string_view to_string(SpmvKernel kernel);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
SpmvKernel spmv_kernel_from_text(std::string_view text);

/// What products read. It never changes a bit of an exact result.
enum class SpmvStorage {
    automatic,  ///< packed where the products expected pay for packing, else csr
    csr,        ///< the caller's matrix as it is: nothing is copied on the processor
    packed,     ///< a copy beside it, regrouped and compressed without loss (docs/packed.md)
};

/// "auto", "csr" or "packed".
std::string_view to_string(SpmvStorage storage);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
SpmvStorage spmv_storage_from_text(std::string_view text);

/// How a plan is made.
struct SpmvOptions {
    SpmvKernel kernel = SpmvKernel::automatic;  ///< of CSR; long rows of a packed matrix are shared out in any case
    SpmvStorage storage = SpmvStorage::automatic;
    std::int64_t expected_products = 1;  ///< with this matrix, for `automatic`: packing costs tens
    std::int64_t memory_limit = 0;       ///< bytes for a packed copy; 0: a quarter of the memory, half of a GPU's free one
    bool is_checked = false;             ///< check() (views.hpp) was called: the plan does not look again
};

/// What to expect of one solve (expected_products) where nothing better is known: enough for a packed copy to pay.
inline constexpr std::int64_t products_of_a_solve = 1000;

/// What a plan made of its matrix.
struct SpmvDescription {
    SpmvStorage storage = SpmvStorage::csr;  ///< csr or packed
    double bytes_a_nonzero = 0;              ///< which one product reads of the matrix
    std::string text;                        ///< for people: which encodings, and why
};

/// Where one thread's work begins and its predecessor's ends: before this entry, which belongs to this row.
struct WorkBoundary {
    std::int64_t row = 0;
    std::int64_t entry = 0;
};

/// One product of several that are made together: y = alpha A (x + x_low) + beta y_in. x_low may be empty, and y_in may be y.
template <class T>
struct SpmvTask {
    T alpha = 1;
    std::span<const T> x;
    std::span<const T> x_low = {};
    T beta = 0;
    std::span<const T> y_in = {};  ///< not read where beta is 0
    std::span<T> y;
};

/// A matrix made ready for many products: who works on which entries. Keeps a view; the matrix must outlive the plan unchanged.
/// Building costs two binary searches a thread; it is const and may be used by several threads at once.
///
/// On a CUDA device it keeps a copy of the matrix and its analysis there, which copies of the plan share; vectors are copied to
/// the device and back in every call, and calls from several threads take turns. For vectors that live on the device there is
/// cuda::SpmvPlan (cuda.hpp).
template <class T>
class SpmvPlan {
public:
    /// Throws DimensionMismatch where the lengths of A's arrays do not agree, and what check() (views.hpp) throws.
    explicit SpmvPlan(const CsrView<T>& a, const Device& device = Device::best(), SpmvKernel kernel = SpmvKernel::automatic);

    /// With a choice of kernel, storage and what is expected of the plan. A packed plan serves alpha = 1 and -1 with any beta,
    /// x as a pair and several tasks; other factors are multiplied from the CSR matrix, which is kept in any case. In fast and
    /// compensated its bits do not depend on the number of threads. Throws ResourceLimit where `packed` is asked for and the
    /// memory limit forbids it.
    SpmvPlan(const CsrView<T>& a, const Device& device, const SpmvOptions& options);

    /// A matrix that lies on a CUDA device (cuda.hpp) is read there, by products of that device: it must outlive the plan
    /// unchanged. Checked there; nothing that writes it may be under way. A copy in the host's memory is made when first
    /// matrix() is asked for, as preconditioners and `solve` do. Throws InvalidArgument, and what cuda.hpp says.
    explicit SpmvPlan(const cuda::DeviceCsrView<T>& a, const SpmvOptions& options = {});

    /// A dense matrix as it is: several products are made by one gemm, in the modes' own ways of adding up. Throws
    /// InvalidArgument unless one stride is 1 and the other at least the length of what it steps over.
    explicit SpmvPlan(const DenseView<T>& a, const Device& device = Device::best());

    /// Copies share what was made of the matrix, and a move is a copy: no plan is ever empty.
    SpmvPlan(const SpmvPlan&) = default;
    SpmvPlan& operator=(const SpmvPlan&) = default;

    /// A matrix that would be gone before the plan is used.
    template <class... More>
    explicit SpmvPlan(CsrMatrix<T>&& a, const More&... more) = delete;
    template <class... More>
    explicit SpmvPlan(DenseMatrix<T>&& a, const More&... more) = delete;

    /// y = alpha A x + beta y; x has A.columns elements, y A.rows, and they must not overlap.
    ///
    /// exact: y_i = RN(alpha sum a_ij x_j + beta y_i). compensated: A x stays a pair until the last rounding. fast: within
    /// gamma_{n+2} (|alpha| |A| |x| + |beta| |y|) for n entries in the row. alpha == 0 reads neither A nor x, beta == 0 does
    /// not read y. Special values as in reduce.hpp, row by row. Throws DimensionMismatch, InvalidArgument where y overlaps x.
    void multiply(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy) const;

    /// r = b - A (x + x_low), x_low empty or as long as x: an approximate solution as an unevaluated pair.
    /// exact: RN of the real number. compensated: as if in twice the working precision. r may be b, not x (InvalidArgument).
    void residual(std::span<const T> b, std::span<const T> x, std::span<const T> x_low, std::span<T> r,
                  Accuracy accuracy) const;

    /// Each task as multiply and residual would do it by itself, with the same bits, but A is read from memory once for all
    /// (sparse matrix times several vectors). No y overlaps an x, or what another task reads.
    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const;

    /// Other values in the same pattern, in the order of the CSR matrix, which is not analysed again. They must outlive the
    /// plan unchanged, and so must the pattern's row offsets and column indices. Not for a dense matrix, nor for one that was
    /// given on a CUDA device (InvalidArgument); not while another thread uses the plan. On a CUDA device, copies of the plan
    /// get them too. Throws DimensionMismatch; ResourceLimit where a packed matrix cannot be packed anew for want of memory on
    /// a device, and then the values are those of before.
    void update_values(std::span<const T> values);

    SpmvDescription describe() const;

    std::int64_t rows() const;
    std::int64_t columns() const;

    /// In the host's memory. Of a dense matrix its nonzero elements, of one that was given on a CUDA device a copy: both are
    /// made when first asked for. There until update_values or the plan's end.
    const CsrView<T>& matrix() const;

    /// The dense matrix; null for a sparse one.
    const DenseView<T>* dense() const;

    const Device& device() const { return device_; }
    SpmvKernel kernel() const { return kernel_; }  ///< general or adaptive

    /// Thread t works between boundaries t and t + 1; a row that crosses a boundary is shared. Empty on a CUDA device.
    std::span<const WorkBoundary> boundaries() const;

    /// For the library itself: what lies on the CUDA device; null on the processor.
    std::shared_ptr<cuda::SpmvOnDevice<T>> on_device() const;

private:
    void store_here(const CsrView<T>& a, const SpmvOptions& options);
    void store_on_device(const CsrView<T>& a, std::shared_ptr<cuda::SpmvOnDevice<T>> on_device, const SpmvOptions& options);

    Device device_;
    SpmvKernel kernel_;
    std::string reason_;  // for the storage chosen
    std::shared_ptr<const MatrixStorage<T>> storage_;
};

/// y = alpha A x + beta y for a product or two; SpmvPlan::multiply says the rest. The default is the processor, since taking a
/// matrix to a CUDA device costs more than one product.
void spmv(double alpha, const CsrView<double>& a, std::span<const double> x, double beta, std::span<double> y,
          Accuracy accuracy, const Device& device = Device::cpu());
void spmv(float alpha, const CsrView<float>& a, std::span<const float> x, float beta, std::span<float> y, Accuracy accuracy,
          const Device& device = Device::cpu());

}  // namespace solver
