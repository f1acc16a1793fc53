#include "fuzz/bytes.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/spmv.hpp"

namespace solver::fuzz {
namespace {

/// Small numbers, mostly plausible ones.
template <class Index>
std::vector<Index> indices(Bytes& bytes, int count, bool rising) {
    std::vector<Index> values;
    Index last = 0;
    for (int i = 0; i < count; ++i) {
        const int kind = bytes.byte() % 16;
        const Index from = rising && last < 1'000'000 ? last : Index{0};
        last = kind == 0 ? bytes.bits<Index>() : static_cast<Index>(from + bytes.byte() % 5);
        values.push_back(i == 0 && rising && kind != 0 ? Index{0} : last);
    }
    return values;
}

void use(const CsrMatrix<double>& a) {
    std::vector<double> x(static_cast<std::size_t>(a.columns), 1), y(static_cast<std::size_t>(a.rows), 1);
    for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive})
        SpmvPlan<double>(a, Device::cpu(2), kernel).multiply(2, x, 1, y, Accuracy::exact);
    check<double>(transpose<double>(a));
    try {
        diagnose<double>(a);
        prepared_matrix<double>(a, prepare<double>(a, Ordering::amd));
    } catch (const InvalidArgument&) {
    }
    for (const PreconditionerKind kind : {PreconditionerKind::jacobi, PreconditionerKind::ilu0, PreconditionerKind::isai,
                                          PreconditionerKind::ilut, PreconditionerKind::klu})
        try {
            const auto m =
                make_preconditioner<double>(kind, a, Accuracy::compensated, Device::cpu(1), {.memory_limit = 1 << 20});
            m->apply(y, x, Accuracy::exact);
        } catch (const Error&) {
        }
}

}  // namespace

void csr_view(Input input) {
    Bytes bytes(input);
    CsrMatrix<double> a;
    a.rows = bytes.byte() % 17 == 16 ? bytes.bits<std::int64_t>() : bytes.byte() % 12;
    a.columns = bytes.byte() % 17 == 16 ? bytes.bits<std::int64_t>() : bytes.coin() ? a.rows : bytes.byte() % 12;
    a.row_offsets =
        indices<std::int64_t>(bytes, bytes.byte() % 8 == 7 ? bytes.byte() % 14 : static_cast<int>(a.rows % 32) + 1, true);
    const int entries =
        bytes.byte() % 8 == 7 || a.row_offsets.empty() ? bytes.byte() : static_cast<int>(a.row_offsets.back() % 256);
    a.column_indices = indices<std::int32_t>(bytes, entries < 0 ? 0 : entries, false);
    a.values = Numbers<double>(bytes).vector(bytes.byte() % 32 == 31 ? bytes.byte()
                                                                     : static_cast<std::int64_t>(a.column_indices.size()));
    try {
        check<double>(a);
    } catch (const InvalidArgument&) {
        return;
    }
    if (a.columns < 1000) use(a);
}

}  // namespace solver::fuzz
