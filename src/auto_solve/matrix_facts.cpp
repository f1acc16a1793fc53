#include "auto_solve/matrix_facts.hpp"

#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "solver/numeric/rounding.hpp"

#include <mutex>
#include <span>

namespace solver {
namespace {

/// How much larger than the diagonal the rest of a balanced row may be.
constexpr double balance = 4;

/// The facts of some rows, seen element by element.
template <class T>
class RowWatch {
public:
    void begin_row() {
        diagonal_ = 0;
        rest_ = 0;
    }
    void see(bool on_diagonal, T value) {
        facts_.is_finite = facts_.is_finite && is_finite(value);
        facts_.nonzeros += value != T(0) ? 1 : 0;
        if (on_diagonal)
            diagonal_ = add_rn(diagonal_, value);
        else
            rest_ += static_cast<double>(magnitude(value));
    }
    void end_row() {
        facts_.zeros_on_diagonal = facts_.zeros_on_diagonal || diagonal_ == T(0);
        facts_.positive_diagonal = facts_.positive_diagonal && diagonal_ > T(0);
        facts_.balanced_rows += rest_ <= balance * static_cast<double>(magnitude(diagonal_)) ? 1 : 0;
    }

    const MatrixFacts& facts() const { return facts_; }

private:
    MatrixFacts facts_;
    T diagonal_ = 0;
    double rest_ = 0;
};

void merge(MatrixFacts& all, const MatrixFacts& part) {
    all.nonzeros += part.nonzeros;
    all.balanced_rows += part.balanced_rows;
    all.is_finite = all.is_finite && part.is_finite;
    all.zeros_on_diagonal = all.zeros_on_diagonal || part.zeros_on_diagonal;
    all.positive_diagonal = all.positive_diagonal && part.positive_diagonal;
}

/// The facts of all rows; see_row(watch, i) shows a watch the elements of row i.
template <class T, class SeeRow>
MatrixFacts facts_of_rows(std::int64_t rows, const Device& device, const SeeRow& see_row) {
    MatrixFacts all;
    all.rows = rows;
    std::mutex mutex;
    cpu::for_each_range(rows, device, [&](std::int64_t begin, std::int64_t end) {
        RowWatch<T> watch;
        for (std::int64_t i = begin; i < end; ++i) {
            watch.begin_row();
            see_row(watch, i);
            watch.end_row();
        }
        const std::lock_guard lock(mutex);
        merge(all, watch.facts());
    });
    return all;
}

template <class T>
bool is_symmetric(const DenseView<T>& a) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < i; ++j)
            if (a.data[i * a.row_stride + j * a.column_stride] != a.data[j * a.row_stride + i * a.column_stride]) return false;
    return true;
}

template <class T>
MatrixFacts facts_of_sparse(const CsrView<T>& a, const Device& device) {
    MatrixFacts facts = facts_of_rows<T>(a.rows, device, [&](RowWatch<T>& watch, std::int64_t i) {
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) watch.see(a.column_indices[k] == i, a.values[k]);
    });
    facts.nonzeros = a.nonzeros();
    facts.is_symmetric = facts.is_finite && facts.positive_diagonal && a.rows == a.columns && has_sorted_rows(a, device) &&
                         cpu::is_symmetric(a, device);
    return facts;
}

template <class T>
MatrixFacts facts_of_dense(const DenseView<T>& a, const Device& device) {
    MatrixFacts facts = facts_of_rows<T>(a.rows, device, [&](RowWatch<T>& watch, std::int64_t i) {
        for (std::int64_t j = 0; j < a.columns; ++j) watch.see(i == j, a.data[i * a.row_stride + j * a.column_stride]);
    });
    facts.is_symmetric = facts.is_finite && facts.positive_diagonal && a.rows == a.columns && is_symmetric(a);
    return facts;
}

}  // namespace

template <class T>
MatrixFacts facts_of(const SpmvPlan<T>& a) {
    return a.dense() != nullptr ? facts_of_dense(*a.dense(), a.device()) : facts_of_sparse(a.matrix(), a.device());
}

template MatrixFacts facts_of(const SpmvPlan<float>&);
template MatrixFacts facts_of(const SpmvPlan<double>&);

}  // namespace solver
