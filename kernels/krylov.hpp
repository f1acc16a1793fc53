#pragma once

/// The recurrences of the Krylov methods on a CUDA device: many steps without the host.

#include "core/krylov/bicgstab_scalars.hpp"
#include "core/krylov/cg_scalars.hpp"
#include "products.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/preconditioner.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace solver::cuda {

/// M^-1 where it can be applied on the host alone: z = M^-1 r.
template <class T>
using HostPreconditioner = std::function<void(std::span<const T> r, std::span<T> z)>;

/// At once, of any method.
inline constexpr int most_krylov_columns = 32;

/// r and z with r ~ r_0 - A z, as the recurrences on the processor have them, with the same bits in exact: one for each of
/// several columns, which share every product with A. The method is named by its scalars, BicgstabScalars or CgScalars.
///
/// A step is a chain of kernels, each open in its stage alone (Gate). The last block of each reduction computes the scalars
/// and decides the next stage, so that nothing of a step is known to the host; the chain is the body of a loop in
/// a CUDA graph, which ends with the stretch. What the fast chain cannot decide - a reduction that needs a
/// superaccumulator, a dot product that may be lost - ends the loop as well; then the careful chain, which has kernels for
/// that, goes on at that stage. Where the driver knows no such loops, or SOLVER_CUDA_GRAPHS=0 forbids them, the host launches
/// the same chains one by one.
///
/// Every column has its own stage, and its own bits whatever the others do. A loop over several ends once one has come to
/// something for which it has no kernels; the others wait where they are.
///
/// Waits for its stream in run() only. One at a time on a plan, whose working memory it uses.
template <class Scalars>
class DeviceRecurrence {
public:
    using Value = typename Scalars::Value;

    /// a has n rows and takes so many columns, which is what there is memory for. It must outlive the recurrence.
    DeviceRecurrence(int device, std::int64_t n, const MatrixProducts<Value>& a, Accuracy accuracy, Stream stream,
                     int columns = 1);
    DeviceRecurrence(const DeviceRecurrence&) = delete;
    DeviceRecurrence& operator=(const DeviceRecurrence&) = delete;
    ~DeviceRecurrence();

    /// What a column takes on the device, in bytes.
    static std::int64_t bytes_a_column(std::int64_t n);

    /// Before all else, and again for another M: then everything begins anew. Exactly one of m and m_on_host is there, and both
    /// must outlive their use. So many columns are used.
    void precondition(DevicePreconditioner<Value>* m, HostPreconditioner<Value> m_on_host, int columns = 1);

    DeviceArray<Value>& r(int column);
    DeviceArray<Value>& z(int column);

    /// For another right-hand side: z = 0. `weights` are the 1-norms of the columns of A, the same for all right-hand sides, or
    /// null where r is not replaced.
    void start(int column, const Value* weights);

    /// Begins at r. What a seed other than 0 means is the method's. Leaves z alone.
    void begin(int column, double r_norm, std::uint64_t seed);
    void continue_from_replaced(int column, double r_norm);
    void reset_drift(int column, double r_norm, double x_terms);

    /// To be made by run(): steps until there is a reason to verify or a limit is reached.
    void ask(int column, const StepLimits& limits);

    /// Goes on with what is asked for, if anything, until some of it is done.
    void run();

    bool has_ended(int column) const;

    /// The last one, which has ended.
    Stretch stretch(int column) const;

    /// ||r|| after each of its steps.
    std::span<const double> norms(int column) const;

private:
    struct Chain;
    std::unique_ptr<Chain> chain_;
};

}  // namespace solver::cuda
