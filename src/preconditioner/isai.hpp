#pragma once

/// Incomplete sparse approximate inverses of triangular factors: preconditioning by products instead of substitutions.

#include "preconditioner/check.hpp"
#include "preconditioner/factor_hash.hpp"
#include "preconditioner/ilu0.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <mutex>
#include <vector>

namespace solver {

/// W ~ L^-1 with the pattern of L, ones on the diagonal included, where `lower` holds what is below that diagonal. With J the
/// pattern of row i, (W L)_ij = delta_ij for all j in J: J systems of the size of a row, each solved by substitution (Anzt,
/// Huckle, Braeckle, Dongarra, Parallel Computing 71, 2018, sec. 3):
///     w_ii = 1,  w_ij = -(sum_{k in J, k > j} w_ik l_kj),  j falling,
/// every product and sum rounded, in the order of falling k. Rows depend on nothing but `lower`: neither threads nor machines
/// show. Columns must be sorted. Throws InvalidArgument where an entry is not finite.
template <class T>
CsrMatrix<T> invert_unit_lower(const CsrView<T>& lower, int threads);

/// V ~ U^-1 with the pattern of U, whose columns must be sorted: (V U)_ij = delta_ij on the pattern, every operation rounded,
///     v_ii = RN(1 / u_ii),  v_ij = RN(-(sum_{k in J, k < j} v_ik u_kj) / u_jj),  j rising.
/// Threads do not show in the bits. Throws InvalidArgument where an entry is not finite.
template <class T>
CsrMatrix<T> invert_upper(const CsrView<T>& upper, int threads);

/// factor_ilu0, whose refusals name isai.
template <class T>
IluFactors<T> factors_for_isai(const CsrView<T>& a, Accuracy accuracy) {
    try {
        return factor_ilu0(a, accuracy);
    } catch (const UnusableRow& refused) {
        throw UnusableRow(refused.row(), refused.seen(), "isai");
    }
}

/// M^-1 = V W for ILU(0)'s factors, applied as two products.
template <class T>
class Isai final : public Preconditioner<T> {
public:
    Isai(const CsrView<T>& a, Accuracy accuracy, const Device& device) : Isai(factors_for_isai(a, accuracy), device) {}

    Isai(const Isai&) = delete;  // the plans look at the matrices
    Isai& operator=(const Isai&) = delete;

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_vectors<T>("isai", between_.size(), r, z);
        const std::lock_guard lock(between_mutex_);
        lower_plan_.multiply(T(1), r, T(0), between_, accuracy);
        upper_plan_.multiply(T(1), between_, T(0), z, accuracy);
    }

    std::int64_t factor_entries() const override { return lower_.nonzeros() + upper_.nonzeros(); }
    std::uint64_t factor_hash() const override { return hash_of(lower_.view(), upper_.view()); }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        return cuda::make_two_products<T>(device, lower_, upper_);
    }

private:
    Isai(const IluFactors<T>& factors, const Device& device)
        : lower_(invert_unit_lower<T>(factors.lower, device.threads())),
          upper_(invert_upper<T>(factors.upper, device.threads())),
          lower_plan_(lower_, host_of(device)),
          upper_plan_(upper_, host_of(device)),
          between_(static_cast<std::size_t>(upper_.rows)) {}

    CsrMatrix<T> lower_;
    CsrMatrix<T> upper_;
    SpmvPlan<T> lower_plan_;
    SpmvPlan<T> upper_plan_;
    mutable std::mutex between_mutex_;
    mutable std::vector<T> between_;  // W r
};

}  // namespace solver
