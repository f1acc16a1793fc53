#pragma once

/// The steps by which levels are made, on the host.

#include "core/huge_pages.hpp"
#include "core/matrix_hash.hpp"
#include "core/multigrid/level.hpp"
#include "core/row_facts.hpp"
#include "core/thread_pool.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "preconditioner/amg/aggregates.hpp"
#include "preconditioner/amg/chebyshev.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/near_null_space.hpp"
#include "preconditioner/amg/nodes.hpp"
#include "preconditioner/amg/prolongator.hpp"
#include "preconditioner/amg/strength.hpp"
#include "preconditioner/amg/tentative.hpp"
#include "preconditioner/memory_limit.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace solver::amg {

/// By the threads that a device has. cuda::CudaPlace has the same steps on a CUDA device.
class HostPlace : public OnHost {
public:
    template <class T>
    using View = CsrView<T>;
    using Graph = amg::Graph;
    using Space = NearNullSpace;

    using Memory = OnHost;

    HostPlace(const Device& device) : device_(device) {}

    int host_threads() const { return device_.threads(); }

    /// What hierarchies may take by default: half of the memory that the process may use.
    std::int64_t default_memory_limit() const { return static_cast<std::int64_t>(memory_limit_in_bytes(0)); }

    template <class T>
    static std::int64_t nonzeros(const CsrView<T>& a) {
        return a.nonzeros();
    }
    template <class T>
    bool is_symmetric(const CsrView<T>& a, OwnTranspose kind) const {
        return cpu::has_symmetry(a, kind, device_);
    }
    template <class T>
    int unknowns_per_node(const CsrView<T>& a) const {
        return amg::unknowns_per_node(a, device_);
    }
    NearNullSpace space(int unknowns_per_node, int dimension, std::span<const double> vectors) const {
        return {unknowns_per_node, dimension, {vectors.begin(), vectors.end()}};
    }

    /// 1 / a_ii, and the first row that a smoother in V cannot divide by; a.rows if there is none.
    template <class V, class T>
    std::vector<double> inverse_diagonal(const CsrView<T>& a, std::int64_t& first_failure) const {
        return amg::inverse_diagonal<V>(a, first_failure, device_);
    }
    template <class V, class T>
    CsrMatrix<V> rounded(const CsrView<T>& a) const {
        return {a.rows, a.columns, copied<std::int64_t>(a.row_offsets), copied<std::int32_t>(a.column_indices),
                copied<V>(a.values)};
    }
    template <class V>
    std::vector<V> rounded(const std::vector<double>& x) const {
        return copied<V>(std::span(x));
    }

    template <class T>
    double gershgorin_bound(const CsrView<T>& a, const std::vector<double>& inverse_diagonal) const {
        return amg::gershgorin_bound(a, inverse_diagonal, device_);
    }
    template <class T>
    double power_method(const CsrView<T>& a, const std::vector<double>& inverse_diagonal, int iterations,
                        std::uint64_t seed) const {
        return amg::power_method(a, inverse_diagonal, iterations, seed, device_);
    }

    template <class T>
    CsrMatrix<T> transpose(const CsrView<T>& a) const {
        return solver::transpose(a, device_);
    }
    template <class T>
    CsrMatrix<T> symmetric_magnitudes(const CsrView<T>& a, const CsrView<T>& transposed) const {
        return amg::symmetric_magnitudes(a, transposed, device_);
    }
    template <class T>
    CsrMatrix<T> magnitudes_of_nodes(const CsrView<T>& a, int unknowns) const {
        return amg::magnitudes_of_nodes(a, unknowns, device_);
    }
    template <class T>
    Graph strong_connections(const CsrView<T>& magnitudes, double theta) const {
        return amg::strong_connections(magnitudes, theta, device_);
    }
    Aggregates aggregate(const Graph& graph) const { return amg::aggregate(graph, device_); }

    TentativeProlongator tentative(Aggregates aggregates, const NearNullSpace& space) const {
        return {std::move(aggregates), space, device_};
    }
    template <class V>
    CsrMatrix<V> matrix_of(const TentativeProlongator& tentative) const {
        return tentative.matrix<V>();
    }
    template <class V, class T>
    CsrMatrix<V> smoothed_prolongator(const CsrView<T>& a, const Graph& strong, const TentativeProlongator& tentative) const {
        return amg::smoothed_prolongator<V>(a, strong, tentative, device_);
    }

    template <class V, class T>
    std::optional<CsrMatrix<double>> galerkin_product(const CsrView<V>& r, const CsrView<T>& a, const CsrView<V>& p,
                                                      std::int64_t most_entries) const {
        return amg::galerkin_product<V>(r, a, p, device_, most_entries);
    }
    void mirror_upper_triangle(CsrMatrix<double>& a) const { amg::mirror_upper_triangle(a, device_); }

    template <class T>
    CsrMatrix<T> to_host(const CsrView<T>& a) const {
        return rounded<T>(a);
    }
    template <class T>
    CsrMatrix<T> from_host(CsrMatrix<T> a) const {
        return a;
    }

    /// Of blocks of so many rows of each matrix, one after another.
    template <class V>
    std::vector<std::uint64_t> hashes_of_blocks(std::span<const CsrView<V>> matrices, std::int64_t rows_a_block) const;

private:
    /// Rounded to V, by several threads.
    template <class V, std::ranges::sized_range Values>
    std::vector<V> copied(const Values& values) const {
        std::vector<V> result = zeros<V>(std::ssize(values), device_.threads());
        cpu::update(std::span(result), device_, [=](V, std::int64_t i) { return static_cast<V>(values[i]); });
        return result;
    }

    Device device_;
};

template <class V>
std::vector<std::uint64_t> HostPlace::hashes_of_blocks(std::span<const CsrView<V>> matrices, std::int64_t rows_a_block) const {
    std::vector<std::uint64_t> of_block;
    for (const CsrView<V>& a : matrices) {
        const std::size_t first = of_block.size();
        const std::int64_t blocks = (a.rows + rows_a_block - 1) / rows_a_block;
        of_block.resize(first + static_cast<std::size_t>(blocks));
        hash_blocks(a, rows_a_block, device_.threads(), std::span(of_block).subspan(first));
    }
    return of_block;
}

}  // namespace solver::amg
