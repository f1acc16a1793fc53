#pragma once

/// The steps by which levels of multigrid are made, on a CUDA device and with the bits of the processor.

#include "core/row_facts.hpp"
#include "multigrid/device_matrix.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace solver::cuda {

/// The steps that amg::HostPlace has on the host, where they are explained: rows are taken one by one and summed in their order
/// there, and so they are here. Everything happens on one stream, and everything is waited for that a result on the host needs.
/// Matrices lie on the device, with rows sorted. Throws ResourceLimit where the device has not enough memory.
class CudaPlace : public OnDevice {
public:
    template <class T>
    using View = DeviceCsrView<T>;
    using Graph = DeviceGraph;
    using Aggregates = DeviceAggregates;
    using Space = DeviceNearNullSpace;
    using Tentative = DeviceTentative;

    using Memory = OnDevice;

    explicit CudaPlace(int device, Stream stream = nullptr) : device_(device), stream_(stream) {}

    /// For what is left to the host.
    static int host_threads() { return Device::cpu().threads(); }

    /// What hierarchies may take by default: half of the memory that is free.
    std::int64_t default_memory_limit() const;

    template <class T>
    static std::int64_t nonzeros(const View<T>& a) {
        return a.nonzeros;
    }

    template <class T>
    bool has_sorted_rows(const View<T>& a) const;
    /// Every value is zero or from 2^-90 to 2^90 in magnitude.
    bool suits_cycle_in_floats(const View<double>& a) const;
    bool suits_cycle_in_floats(const View<float>&) const { return true; }
    template <class T>
    bool is_symmetric(const View<T>& a, OwnTranspose kind) const;
    template <class T>
    int unknowns_per_node(const View<T>& a) const;
    Space space(int unknowns_per_node, int dimension, std::span<const double> vectors) const;

    /// 1 / a_ii, and the first row that a smoother in V cannot divide by; a.rows if there is none.
    template <class V, class T>
    DeviceArray<double> inverse_diagonal(const View<T>& a, std::int64_t& first_failure) const;
    template <class V, class T>
    DeviceMatrix<V> rounded(const View<T>& a) const;
    template <class V>
    DeviceArray<V> rounded(const DeviceArray<double>& x) const;

    template <class T>
    double gershgorin_bound(const View<T>& a, const DeviceArray<double>& inverse_diagonal) const;
    template <class T>
    double power_method(const View<T>& a, const DeviceArray<double>& inverse_diagonal, int iterations,
                        std::uint64_t seed) const;

    template <class T>
    DeviceMatrix<T> transpose(const View<T>& a) const;
    template <class T>
    DeviceMatrix<T> symmetric_magnitudes(const View<T>& a, const View<T>& transposed) const;
    template <class T>
    DeviceMatrix<T> magnitudes_of_nodes(const View<T>& a, int unknowns) const;
    template <class T>
    Graph strong_connections(const View<T>& magnitudes, double theta) const;
    Aggregates aggregate(const Graph& graph) const;

    Tentative tentative(Aggregates aggregates, const Space& space) const;
    template <class V>
    DeviceMatrix<V> matrix_of(const Tentative& tentative) const;
    template <class V, class T>
    DeviceMatrix<V> smoothed_prolongator(const View<T>& a, const Graph& strong, const Tentative& tentative) const;

    template <class V, class T>
    std::optional<DeviceMatrix<double>> galerkin_product(const View<V>& r, const View<T>& a, const View<V>& p,
                                                         std::int64_t most_entries) const;
    void mirror_upper_triangle(DeviceMatrix<double>& a) const;

    template <class T>
    CsrMatrix<T> to_host(const View<T>& a) const;
    template <class T>
    DeviceMatrix<T> from_host(const CsrMatrix<T>& a) const;

    /// Of blocks of so many rows of each matrix, one after another, with amg's Hash.
    template <class V>
    std::vector<std::uint64_t> hashes_of_blocks(std::span<const View<V>> matrices, std::int64_t rows_a_block) const;

    /// How many of the first groups of so many rows are no nodes.
    template <class T>
    std::int64_t count_others(const View<T>& a, std::int64_t nodes, int unknowns) const;

private:
    int device_;
    Stream stream_;
};

}  // namespace solver::cuda
