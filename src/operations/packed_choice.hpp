#pragma once

/// Whether a plan packs its matrix.

#include "packed/matrix.hpp"
#include "solver/spmv.hpp"

#include <string>

namespace solver {

/// From how many products on packing pays: it takes the time of tens of them on a processor, of thousands on a GPU, for which
/// the processor packs.
inline constexpr std::int64_t products_worth_packing_on_cpu = 100;
inline constexpr std::int64_t products_worth_packing_on_cuda = 5000;

struct StorageChoice {
    SpmvStorage storage;  ///< csr or packed
    std::string reason;   ///< "200 products are expected"
};

/// Throws ResourceLimit or InvalidArgument where packed is asked for and cannot be.
template <class T>
StorageChoice choose_storage(const CsrView<T>& a, const PackedShape& shape, const SpmvOptions& options,
                             std::int64_t products_worth_packing);

}  // namespace solver
