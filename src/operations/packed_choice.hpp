#pragma once

/// Whether a plan packs its matrix.

#include "packed/matrix.hpp"
#include "solver/spmv.hpp"

#include <string>

namespace solver {

/// What packing asks of the place where it is done.
struct PackingTerms {
    PackedShape shape;
    std::int64_t least_products;  ///< from which on it pays
    std::int64_t least_rows;      ///< below, CSR is faster
    std::int64_t memory_limit;    ///< bytes, where the options name none
    const char* why_not;          ///< or nullptr
};

PackingTerms packing_terms_on_cpu(std::int64_t rows);
/// Of a matrix whose rows will be paired or not.
template <class T>
PackingTerms packing_terms_on_cuda(int device, const CsrView<T>& a, bool is_paired);

struct StorageChoice {
    SpmvStorage storage;  ///< csr or packed
    std::string reason;   ///< "200 products are expected"
};

/// Throws ResourceLimit or InvalidArgument where packed is asked for and cannot be.
template <class T>
StorageChoice choose_storage(const CsrView<T>& a, const SpmvOptions& options, const PackingTerms& terms);

}  // namespace solver
