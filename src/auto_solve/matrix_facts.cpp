#include "auto_solve/matrix_facts.hpp"

#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "cuda/spmv.hpp"

#include <mutex>
#include <span>

namespace solver {
namespace {

/// The facts of all rows; see_row(watch, i) shows a watch the elements of row i.
template <class T, class SeeRow>
RowFacts facts_of_rows(std::int64_t rows, const Device& device, const SeeRow& see_row) {
    RowFacts all;
    std::mutex mutex;
    cpu::for_each_range(rows, device, [&](std::int64_t begin, std::int64_t end) {
        RowWatch<T> watch;
        for (std::int64_t i = begin; i < end; ++i) {
            watch.begin_row();
            see_row(watch, i);
            watch.end_row();
        }
        const std::lock_guard lock(mutex);
        all.merge(watch.facts());
    });
    return all;
}

template <class T>
bool has_symmetry(const DenseView<T>& a, OwnTranspose kind) {
    const auto element = [&](std::int64_t i, std::int64_t j) { return a.data[i * a.row_stride + j * a.column_stride]; };
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < i; ++j)
            if (element(j, i) != mirrored_value(kind, i, j, element(i, j))) return false;
    return true;
}

template <class T>
MatrixFacts facts_of_sparse(const CsrView<T>& a, const Device& device) {
    MatrixFacts facts{facts_of_rows<T>(a.rows, device,
                                       [&](RowWatch<T>& watch, std::int64_t i) {
                                           for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                                               watch.see(a.column_indices[k] == i, a.values[k]);
                                       }),
                      a.rows};
    facts.nonzeros = a.nonzeros();
    const bool may_be = facts.is_finite && a.rows == a.columns && has_sorted_rows(a, device);
    facts.is_symmetric = may_be && cpu::has_symmetry(a, OwnTranspose::of_reals, device);
    facts.is_complex_symmetric = may_be && cpu::has_symmetry(a, OwnTranspose::of_complex_numbers, device);
    return facts;
}

template <class T>
MatrixFacts facts_of_dense(const DenseView<T>& a, const Device& device) {
    MatrixFacts facts{facts_of_rows<T>(a.rows, device,
                                       [&](RowWatch<T>& watch, std::int64_t i) {
                                           for (std::int64_t j = 0; j < a.columns; ++j)
                                               watch.see(i == j, a.data[i * a.row_stride + j * a.column_stride]);
                                       }),
                      a.rows};
    const bool may_be = facts.is_finite && a.rows == a.columns;
    facts.is_symmetric = may_be && has_symmetry(a, OwnTranspose::of_reals);
    facts.is_complex_symmetric = may_be && has_symmetry(a, OwnTranspose::of_complex_numbers);
    return facts;
}

/// Of a matrix that lies on a device, which gathers them.
template <class T>
MatrixFacts facts_on_device(const SpmvPlan<T>& a) {
    const cuda::FactsOnDevice& found = a.on_device()->facts();
    MatrixFacts facts{found.rows, a.rows()};
    facts.nonzeros = a.on_device()->stored_entries();
    facts.is_symmetric = facts.is_finite && found.is_symmetric;
    facts.is_complex_symmetric = facts.is_finite && found.is_complex_symmetric;
    return facts;
}

}  // namespace

template <class T>
MatrixFacts facts_of(const SpmvPlan<T>& a) {
    if (a.dense() != nullptr) return facts_of_dense(*a.dense(), a.device());
    return a.on_device() != nullptr ? facts_on_device(a) : facts_of_sparse(a.matrix(), a.device());
}

template MatrixFacts facts_of(const SpmvPlan<float>&);
template MatrixFacts facts_of(const SpmvPlan<double>&);

}  // namespace solver
