#include "operations/packed_choice.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace solver {
namespace {

/// Smaller matrices stay in a core's own cache, where there is little to win.
constexpr std::int64_t least_nonzeros = 20000;

std::int64_t memory_limit_of(const SpmvOptions& options) {
    if (options.memory_limit > 0) return options.memory_limit;
    return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) / 4 * static_cast<std::int64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

template <class T>
StorageChoice choose_storage(const CsrView<T>& a, const PackedShape& shape, const SpmvOptions& options,
                             std::int64_t products_worth_packing) {
    if (options.storage == SpmvStorage::csr) return {SpmvStorage::csr, "as asked for"};
    const bool is_asked_for = options.storage == SpmvStorage::packed;
    if (!is_asked_for && options.expected_products < products_worth_packing)
        return {SpmvStorage::csr, fmt::format("{} products expected, and packing pays from {} on", options.expected_products,
                                              products_worth_packing)};
    if (!is_asked_for && a.nonzeros() < least_nonzeros)
        return {SpmvStorage::csr, fmt::format("{} nonzeros, and packing pays from {} on", a.nonzeros(), least_nonzeros)};
    if (const char* why = why_not_packed(a.rows); why != nullptr) {
        if (is_asked_for) throw InvalidArgument(fmt::format("spmv: the matrix cannot be packed: {}; choose storage csr", why));
        return {SpmvStorage::csr, why};
    }
    constexpr double megabyte = 1e6;
    const std::int64_t limit = memory_limit_of(options);
    const std::int64_t needed = most_packed_bytes(a, shape);
    if (needed > limit) {
        const std::string why = fmt::format("a packed copy may take {:.4g} MB and the limit is {:.4g} MB",
                                            static_cast<double>(needed) / megabyte, static_cast<double>(limit) / megabyte);
        if (is_asked_for) throw ResourceLimit(fmt::format("spmv: {}; raise the memory limit, or choose storage csr", why));
        return {SpmvStorage::csr, why};
    }
    if (is_asked_for) return {SpmvStorage::packed, "as asked for"};
    return {SpmvStorage::packed, fmt::format("{} products expected", options.expected_products)};
}

template StorageChoice choose_storage(const CsrView<float>&, const PackedShape&, const SpmvOptions&, std::int64_t);
template StorageChoice choose_storage(const CsrView<double>&, const PackedShape&, const SpmvOptions&, std::int64_t);

}  // namespace solver
