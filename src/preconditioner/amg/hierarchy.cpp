#include "preconditioner/amg/hierarchy.hpp"

#include "core/hash.hpp"
#include "core/sorted_rows.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "preconditioner/amg/setup.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace solver::amg {

void refuse_row(std::int64_t row, std::size_t level) {
    if (level > 0)
        throw InvalidArgument(fmt::format(
            "preconditioner amg: on level {} row {} (counted from 1) has a diagonal entry that is zero, or entries that "
            "are not finite: A is too far from definite for aggregation; use ilut or klu",
            level + 1, row + 1));
    throw InvalidArgument(fmt::format(
        "preconditioner amg: row {} (counted from 1) has a diagonal entry that is missing, zero or too small to divide "
        "by, or an entry that is not finite, and its smoother divides by the diagonal; use ilut or klu, which reorder "
        "the rows",
        row + 1));
}

void check_near_null_space(std::int64_t numbers, std::int64_t rows) {
    constexpr int most_vectors = 20;
    if (numbers % rows != 0 || numbers / rows > most_vectors)
        throw InvalidArgument(fmt::format(
            "preconditioner amg: the near-null space has {} numbers, and A has {} rows; expected at most {} vectors, "
            "one after another, of as many numbers as A has rows",
            numbers, rows, most_vectors));
}

void check_options(const AmgOptions& options, std::int64_t rows) {
    const double threshold = options.strength_threshold.value_or(0);
    if (!(threshold >= 0 && threshold <= 1))
        throw InvalidArgument(
            fmt::format("preconditioner amg: the strength threshold is {}, but must be a number from 0 to 1", threshold));
    constexpr int highest_degree = 20;
    if (options.smoother_degree < 1 || options.smoother_degree > highest_degree)
        throw InvalidArgument(fmt::format("preconditioner amg: the smoother has degree {}, but must have one from 1 to {}",
                                          options.smoother_degree, highest_degree));
    constexpr int most_unknowns = 100;
    const int unknowns = options.unknowns_per_node;
    if (unknowns < 0 || unknowns > most_unknowns || (unknowns > 0 && rows % unknowns != 0))
        throw InvalidArgument(
            fmt::format("preconditioner amg: nodes have {} unknowns, and A has {} rows; expected a number from 1 to "
                        "{} that divides the number of rows, or 0, for the number to be found",
                        unknowns, rows, most_unknowns));
    check_near_null_space(std::ssize(options.near_null_space), rows);
    if (!std::all_of(options.near_null_space.begin(), options.near_null_space.end(), is_finite<double>))
        throw InvalidArgument("preconditioner amg: the near-null space has a number that is not finite");
}

template <class V, class Memory>
std::int64_t Hierarchy<V, Memory>::entries() const {
    std::int64_t entries = this->coarsest_inverse.nonzeros();
    for (const Level<V, Memory>& level : this->levels) entries += level.a.nonzeros() + level.prolongation.nonzeros();
    return this->levels.empty() ? 0 : entries - this->levels.front().a.nonzeros();
}

template <class V, class Memory>
std::uint64_t Hierarchy<V, Memory>::hash(const typename Memory::Place& place) const {
    Hash hash;
    add_levels(hash, *this, place);
    hash.add(place.to_host(this->coarsest_inverse.view()).view());
    return hash.value();
}

template <class V, class T>
Hierarchy<V> make_hierarchy(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device) {
    if (a.rows == 0) return {};
    check_options(options.amg, a.rows);
    const HostPlace place(device);
    if (has_sorted_rows(a, device)) return Setup<V, HostPlace>(options, place).template run<T>(a);
    const CsrMatrix<T> sorted = with_sorted_rows(a);
    return Setup<V, HostPlace>(options, place).template run<T>(sorted.view());
}

template <class V, class T>
DeviceHierarchy<V> make_hierarchy(const cuda::DeviceCsrView<T>& a, const PreconditionerOptions& options) {
    if (a.rows == 0) return {};
    check_options(options.amg, a.rows);
    const cuda::CudaPlace place(a.device);
    return Setup<V, cuda::CudaPlace>(options, place).template run<T>(a);
}

template <class V>
Hierarchy<V> copy_to_host(const DeviceHierarchy<V>& hierarchy, const cuda::CudaPlace& place) {
    Hierarchy<V> copy;
    for (const Level<V, cuda::OnDevice>& level : hierarchy.levels) {
        std::vector<V> diagonal(static_cast<std::size_t>(level.inverse_diagonal.size()));
        level.inverse_diagonal.copy_to(diagonal);
        copy.levels.push_back({place.to_host(level.a.view()), std::move(diagonal), level.steps,
                               place.to_host(level.prolongation.view()), place.to_host(level.restriction.view())});
    }
    copy.coarsest_inverse = place.to_host(hierarchy.coarsest_inverse.view());
    copy.summary = hierarchy.summary;
    copy.is_symmetric = hierarchy.is_symmetric;
    return copy;
}

template struct Hierarchy<float>;
template struct Hierarchy<double>;
template struct Hierarchy<float, cuda::OnDevice>;
template struct Hierarchy<double, cuda::OnDevice>;
template Hierarchy<float> make_hierarchy(const CsrView<float>&, const PreconditionerOptions&, const Device&);
template Hierarchy<float> make_hierarchy(const CsrView<double>&, const PreconditionerOptions&, const Device&);
template Hierarchy<double> make_hierarchy(const CsrView<double>&, const PreconditionerOptions&, const Device&);
template DeviceHierarchy<float> make_hierarchy(const cuda::DeviceCsrView<float>&, const PreconditionerOptions&);
template DeviceHierarchy<float> make_hierarchy(const cuda::DeviceCsrView<double>&, const PreconditionerOptions&);
template DeviceHierarchy<double> make_hierarchy(const cuda::DeviceCsrView<double>&, const PreconditionerOptions&);
template Hierarchy<float> copy_to_host(const DeviceHierarchy<float>&, const cuda::CudaPlace&);
template Hierarchy<double> copy_to_host(const DeviceHierarchy<double>&, const cuda::CudaPlace&);

}  // namespace solver::amg
