#include "operations/packed_choice.hpp"

#include "core/check.hpp"
#include "core/machine.hpp"
#include "cpu/packed_spmv.hpp"
#include "kernels/packed.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

namespace solver {
namespace {

/// Smaller matrices stay in a core's own cache, where there is little to win.
constexpr std::int64_t least_nonzeros = 20000;

}  // namespace

PackingTerms packing_terms_on_cpu(std::int64_t rows) {
    constexpr std::int64_t min_products_to_pack = 100;
    return {cpu::packed_shape, min_products_to_pack, 0, available_memory() / 4, why_not_packed(rows)};
}

template <class T>
PackingTerms packing_terms_on_cuda(int device, const CsrView<T>& a, bool is_paired) {
    // Launches and allocations count most where a product takes microseconds.
    constexpr std::int64_t min_products_to_pack = 500;
    // A packed row is one lane's. With fewer rows than half of the threads of a large device, whose latencies nothing hides
    // then, CSR is faster: it gives a row several lanes (docs/packed.md). A lane of a pair waits for two numbers and two
    // elements of x at a time, so that half as many hide as much.
    const std::int64_t busy = is_paired ? 1 << 16 : 1 << 17;
    return {cuda::packed_shape(a.rows, a.nonzeros()), min_products_to_pack, busy, cuda::free_bytes(device) / 2,
            cuda::why_not_packed<T>(device, a.rows, a.nonzeros())};
}

template <class T>
StorageChoice choose_storage(const CsrView<T>& a, const SpmvOptions& options, const PackingTerms& terms) {
    require_memory_limit("spmv", options.memory_limit);
    if (options.storage == SpmvStorage::csr) return {SpmvStorage::csr, "as asked for"};
    const bool is_asked_for = options.storage == SpmvStorage::packed;
    if (!is_asked_for && options.expected_products < terms.least_products)
        return {SpmvStorage::csr, fmt::format("{} products expected, and packing pays from {} on", options.expected_products,
                                              terms.least_products)};
    if (!is_asked_for && a.nonzeros() < least_nonzeros)
        return {SpmvStorage::csr, fmt::format("{} nonzeros, and packing pays from {} on", a.nonzeros(), least_nonzeros)};
    if (!is_asked_for && a.rows < terms.least_rows)
        return {SpmvStorage::csr, fmt::format("{} rows, and packed ones keep a GPU busy from {} on", a.rows, terms.least_rows)};
    if (terms.why_not != nullptr) {
        if (is_asked_for)
            throw InvalidArgument(fmt::format("spmv: the matrix cannot be packed: {}; choose storage csr", terms.why_not));
        return {SpmvStorage::csr, terms.why_not};
    }
    constexpr double megabyte = 1e6;
    const std::int64_t limit = options.memory_limit > 0 ? options.memory_limit : terms.memory_limit;
    const std::int64_t needed = most_packed_bytes(a, terms.shape);
    if (needed > limit) {
        const std::string why = fmt::format("a packed copy may take {:.4g} MB and the limit is {:.4g} MB",
                                            static_cast<double>(needed) / megabyte, static_cast<double>(limit) / megabyte);
        if (is_asked_for) throw ResourceLimit(fmt::format("spmv: {}; raise the memory limit, or choose storage csr", why));
        return {SpmvStorage::csr, why};
    }
    if (is_asked_for) return {SpmvStorage::packed, "as asked for"};
    return {SpmvStorage::packed, fmt::format("{} products expected", options.expected_products)};
}

template PackingTerms packing_terms_on_cuda(int, const CsrView<float>&, bool);
template PackingTerms packing_terms_on_cuda(int, const CsrView<double>&, bool);
template StorageChoice choose_storage(const CsrView<float>&, const SpmvOptions&, const PackingTerms&);
template StorageChoice choose_storage(const CsrView<double>&, const SpmvOptions&, const PackingTerms&);

}  // namespace solver
