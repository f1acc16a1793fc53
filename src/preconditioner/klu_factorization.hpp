#pragma once

/// KLU's factors of a matrix, real or complex.

#include "preparation/fill_order.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/complex.hpp"

#include <fmt/format.h>
#include <klu.h>

#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// L U = P B Q. KLU takes the matrix by columns.
template <class V>
class KluFactorization {
public:
    /// KLU keeps its factors in units of 8 bytes and counts them in 32 bits; an entry takes its numbers and half a unit.
    static constexpr double most_entries = std::numeric_limits<std::int32_t>::max() / (components<V> + 0.5) * 0.999;

    /// The diagonal stays pivot where it is at least `tolerance` times the largest of its column.
    KluFactorization(CsrMatrix<V> columns, double tolerance)
        : n_(static_cast<int>(columns.rows)),
          offsets_(columns.row_offsets.begin(), columns.row_offsets.end()),
          rows_(std::move(columns.column_indices)),
          values_(std::move(columns.values)) {
        klu_defaults(&common_);
        common_.btf = 0;
        common_.scale = -1;  // done by the preparation
        common_.tol = tolerance;
        common_.memgrow = 1e30;  // growth is refused (KLU_TOO_LARGE): the capacity asked for is a limit
        common_.initmem_amd = 1;
        analyse(nullptr);
    }
    ~KluFactorization() {
        free_numeric();
        klu_free_symbolic(&symbolic_, &common_);
    }
    KluFactorization(const KluFactorization&) = delete;
    KluFactorization& operator=(const KluFactorization&) = delete;

    /// Rows and columns in an order for pivots from any row.
    void order_for_any_pivot() { analyse(preparation::order_of_columns(offsets_, rows_).data()); }
    void order_as_given() { analyse(nullptr); }

    /// Factors with room for so many entries of L and U; false where they are not enough.
    bool try_factor(double capacity) {
        // KLU makes room for Lnz entries and a column each of L and U, and wants room for a full column at every step. Memory
        // not written to costs nothing.
        symbolic_->Lnz[0] = capacity / 2;
        constexpr auto factor = is_complex<V> ? klu_z_factor : klu_factor;
        numeric_ = factor(offsets_.data(), rows_.data(), real_view(std::span<V>(values_)).data(), symbolic_, &common_);
        if (common_.status == KLU_TOO_LARGE) return false;
        if (numeric_ == nullptr && common_.status < KLU_OK) fail();
        return true;
    }

    int rows() const { return n_; }
    bool is_singular() const { return common_.status == KLU_SINGULAR; }
    int rank() const { return common_.numerical_rank; }
    int dependent_column() const { return common_.singular_col; }

    /// L by columns, with its ones.
    CsrMatrix<V> lower_by_columns() {
        return extracted(numeric_->lnz, [&](int* offsets, int* rows, double* re, double* im) {
            return extract(offsets, rows, re, im, nullptr, nullptr, nullptr, nullptr);
        });
    }

    /// U by columns.
    CsrMatrix<V> upper_by_columns() {
        return extracted(numeric_->unz, [&](int* offsets, int* rows, double* re, double* im) {
            return extract(nullptr, nullptr, nullptr, nullptr, offsets, rows, re, im);
        });
    }

    /// Which row of the matrix became the k-th row of L, and which column the k-th of U.
    std::span<const int> row_order() const { return {numeric_->Pnum, static_cast<std::size_t>(n_)}; }
    std::span<const int> column_order() const { return {symbolic_->Q, static_cast<std::size_t>(n_)}; }

    void free_numeric() {
        constexpr auto free = is_complex<V> ? klu_z_free_numeric : klu_free_numeric;
        if (numeric_ != nullptr) free(&numeric_, &common_);
    }

private:
    void analyse(int* order) {
        free_numeric();
        klu_free_symbolic(&symbolic_, &common_);
        symbolic_ = klu_analyze_given(n_, offsets_.data(), rows_.data(), order, order, &common_);
        if (symbolic_ == nullptr) fail();
    }

    /// A factor of so many entries: extract(offsets, rows, real parts, imaginary parts) writes it. KLU hands out parts apart.
    template <class Extract>
    CsrMatrix<V> extracted(int entries, const Extract& extract) {
        const auto size = static_cast<std::size_t>(entries);
        std::vector<int> offsets(static_cast<std::size_t>(n_) + 1);
        CsrMatrix<V> matrix;
        matrix.rows = matrix.columns = n_;
        matrix.column_indices.resize(size);
        if constexpr (is_complex<V>) {
            std::vector<double> re(size), im(size);
            if (extract(offsets.data(), matrix.column_indices.data(), re.data(), im.data()) == 0) fail();
            matrix.values.reserve(size);
            for (std::size_t k = 0; k < size; ++k) matrix.values.emplace_back(re[k], im[k]);
        } else {
            matrix.values.resize(size);
            if (extract(offsets.data(), matrix.column_indices.data(), matrix.values.data(), nullptr) == 0) fail();
        }
        matrix.row_offsets.assign(offsets.begin(), offsets.end());
        return matrix;
    }

    int extract(int* lp, int* li, double* lx, double* lz, int* up, int* ui, double* ux, double* uz) {
        if constexpr (is_complex<V>)
            return klu_z_extract(numeric_, symbolic_, lp, li, lx, lz, up, ui, ux, uz, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr, nullptr, &common_);
        else
            return klu_extract(numeric_, symbolic_, lp, li, lx, up, ui, ux, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr, &common_);
    }

    [[noreturn]] void fail() const {
        if (common_.status == KLU_OUT_OF_MEMORY)
            throw ResourceLimit("preconditioner klu: the system gave no memory for the factors; use ilut, which keeps fewer");
        throw Error(fmt::format("preconditioner klu: KLU refused a {} x {} matrix (status {})", n_, n_, common_.status));
    }

    int n_;
    std::vector<int> offsets_;
    std::vector<int> rows_;
    std::vector<V> values_;
    klu_common common_;
    klu_symbolic* symbolic_ = nullptr;
    klu_numeric* numeric_ = nullptr;
};

}  // namespace solver
