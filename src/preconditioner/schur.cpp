#include "preconditioner/schur.hpp"

#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "preconditioner/amg/amg.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/row_accumulator.hpp"
#include "preconditioner/amg/setup.hpp"
#include "preconditioner/block_triangular.hpp"
#include "preconditioner/identity.hpp"
#include "preconditioner/jacobi.hpp"
#include "preconditioner/prepared.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/spmv.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// A's rows in a new order: those with a positive diagonal, then the others.
template <class T>
class SaddlePoint {
public:
    /// `a`, whose rows are sorted, must outlive this object.
    SaddlePoint(const CsrView<T>& a, const Device& host)
        : a_(a), host_(host), place_(static_cast<std::size_t>(a.rows)), diagonal_(zeros<T>(a.rows, host.threads())) {
        cpu::update(std::span(diagonal_), host, [&](T, std::int64_t i) { return diagonal_entry(i); });
        for (std::int64_t i = 0; i < a.rows; ++i)
            if (diagonal_[i] > T(0)) put_next(i);
        first_rows_ = std::ssize(order_);
        for (std::int64_t i = 0; i < a.rows; ++i)
            if (!(diagonal_[i] > T(0))) put_next(i);
    }

    const std::vector<std::int32_t>& order() const { return order_; }
    std::int64_t first_rows() const { return first_rows_; }
    std::int64_t second_rows() const { return a_.rows - first_rows_; }

    CsrMatrix<T> k() const {
        return rows_of<T>(first_rows_, first_rows_, [this](std::int64_t i, auto& columns, auto& values) {
            append_part(i, Part::first, columns, values);
        });
    }

    std::vector<T> diagonal_of_k() const {
        std::vector<T> diagonal;
        diagonal.reserve(static_cast<std::size_t>(first_rows_));
        for (std::int64_t i = 0; i < first_rows_; ++i) diagonal.push_back(diagonal_[order_[i]]);
        return diagonal;
    }

    /// Whether the sum of a row of K is at most a 64th of its diagonal in at least half of the rows. With rho, the sum by the
    /// diagonal, the same in all rows and nothing positive beside the diagonal, the eigenvalues of diag(K)^-1 K lie from rho to
    /// 2 (Gershgorin), so that S is up to 1 / rho times S_d. On cells of width h, -Laplace u + a u has rho near a h^2 / 4, and
    /// S by diag(S_d) varies between waves of the box's length and of a cell's by a factor of about a / 10 = 0.4 rho / h^2:
    /// both are equal where rho = 1.6 h, a 64th with 100 cells along a side.
    bool is_k_nearly_singular() const {
        constexpr double part = 1.0 / 64;
        std::atomic<std::int64_t> count{0};
        cpu::for_each_range(first_rows_, host_, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t mine = 0;
            for (std::int64_t i = begin; i < end; ++i) {
                double sum = 0;
                for_each_entry(i, [&](std::int32_t column, T value) {
                    if (column < first_rows_) sum = add_rn(sum, static_cast<double>(value));
                });
                mine += sum <= part * static_cast<double>(diagonal_[order_[i]]) ? 1 : 0;
            }
            count += mine;
        });
        return 2 * count >= first_rows_;
    }

    /// diag(S_d): d_ii - sum_j (b_ij u_ji) / k_jj, one after another.
    std::vector<T> diagonal_of_complement() const {
        auto diagonal = zeros<T>(second_rows(), host_.threads());
        cpu::update(std::span(diagonal), host_, [&](T, std::int64_t i) {
            const std::int64_t row = order_[first_rows_ + i];
            auto sum = static_cast<double>(diagonal_[row]);
            for_each_entry(first_rows_ + i, [&](std::int32_t column, T b) {
                if (column >= first_rows_) return;
                const std::int64_t j = order_[column], u = cpu::place_in_row(a_, j, row, 0);
                if (u < 0) return;
                const double product = mul_rn(static_cast<double>(b), static_cast<double>(a_.values[u]));
                sum = add_rn(sum, -div_rn(product, static_cast<double>(diagonal_[j])));
            });
            return static_cast<T>(sum);
        });
        return diagonal;
    }

    CsrMatrix<T> u() const {
        return rows_of<T>(first_rows_, second_rows(), [this](std::int64_t i, auto& columns, auto& values) {
            append_part(i, Part::second, columns, values, first_rows_);
        });
    }

    /// S_d = [B I] diag(-diag(K)^-1, D) [U; I]. A row of K that bears on all others would fill it.
    CsrMatrix<double> complement() const {
        constexpr std::int64_t most_growth = 10;
        auto result = amg::galerkin_product(b_and_identity().view(), inverse_and_d().view(), u_and_identity().view(), host_,
                                            most_growth * a_.nonzeros());
        if (!result)
            throw ResourceLimit(fmt::format(
                "preconditioner schur: the Schur complement would have more than {} times the {} entries of A; use ilut or klu",
                most_growth, a_.nonzeros()));
        if (cpu::is_symmetric(a_, host_)) amg::mirror_upper_triangle(*result, host_);
        return std::move(*result);
    }

    /// The elements that belong to K of each vector of the near-null space.
    std::vector<double> of_k(std::span<const double> near_null_space) const {
        std::vector<double> result;
        for (std::int64_t first = 0; first < std::ssize(near_null_space); first += a_.rows)
            for (std::int64_t i = 0; i < first_rows_; ++i) result.push_back(near_null_space[first + order_[i]]);
        return result;
    }

private:
    enum class Part { first, second };

    void put_next(std::int64_t row) {
        place_[row] = static_cast<std::int32_t>(order_.size());
        order_.push_back(static_cast<std::int32_t>(row));
    }

    T diagonal_entry(std::int64_t i) const {
        const std::int64_t k = cpu::place_in_row(a_, i, i, 0);
        return k < 0 ? T(0) : a_.values[k];
    }

    template <class V>
    static void append(std::int64_t column, V value, std::vector<std::int32_t>& columns, std::vector<V>& values) {
        columns.push_back(static_cast<std::int32_t>(column));
        values.push_back(value);
    }

    /// use(column, value) for row i and columns in the new order, in which those of K rise and the others do.
    template <class Use>
    void for_each_entry(std::int64_t i, const Use& use) const {
        const std::int64_t row = order_[i];
        for (std::int64_t k = a_.row_offsets[row]; k < a_.row_offsets[row + 1]; ++k)
            use(place_[a_.column_indices[k]], a_.values[k]);
    }

    /// Row i in the columns of K or in the others, which are counted from `first` on.
    template <class V>
    void append_part(std::int64_t i, Part part, std::vector<std::int32_t>& columns, std::vector<V>& values,
                     std::int64_t first = 0) const {
        for_each_entry(i, [&](std::int32_t column, T value) {
            if ((column < first_rows_) == (part == Part::first)) append(column - first, static_cast<V>(value), columns, values);
        });
    }

    template <class V, class AddRow>
    CsrMatrix<V> rows_of(std::int64_t rows, std::int64_t columns, const AddRow& add_row) const {
        struct Worker {
            const AddRow& add_row;
        };
        return *amg::make_rows<V>(rows, columns, host_, [&] { return Worker{add_row}; });
    }

    CsrMatrix<double> b_and_identity() const {
        return rows_of<double>(second_rows(), a_.rows, [this](std::int64_t i, auto& columns, auto& values) {
            append_part(first_rows_ + i, Part::first, columns, values);
            append(first_rows_ + i, 1.0, columns, values);
        });
    }

    CsrMatrix<double> inverse_and_d() const {
        return rows_of<double>(a_.rows, a_.rows, [this](std::int64_t i, auto& columns, auto& values) {
            if (i < first_rows_) return append(i, div_rn(-1.0, static_cast<double>(diagonal_[order_[i]])), columns, values);
            append_part(i, Part::second, columns, values);
        });
    }

    CsrMatrix<double> u_and_identity() const {
        return rows_of<double>(a_.rows, second_rows(), [this](std::int64_t i, auto& columns, auto& values) {
            if (i >= first_rows_) return append(i - first_rows_, 1.0, columns, values);
            append_part(i, Part::second, columns, values, first_rows_);
        });
    }

    CsrView<T> a_;
    Device host_;
    std::vector<std::int32_t> order_;  ///< the row of A at each place
    std::vector<std::int32_t> place_;  ///< of each row of A
    std::vector<T> diagonal_;          ///< of A
    std::int64_t first_rows_ = 0;
};

/// M as a preconditioner of A.
template <class T>
class Schur final : public Prepared<T> {
public:
    using Prepared<T>::Prepared;

    std::vector<LevelSummary> levels() const override { return this->inner().levels(); }
};

/// Multigrid, made on the device where the solve runs.
template <class T>
std::unique_ptr<Preconditioner<T>> multigrid_of(const CsrView<T>& a, const PreconditionerOptions& options,
                                                const Device& device) {
    return make_amg<T>(SpmvPlan<T>(a, device, {.storage = SpmvStorage::csr}), options);
}

template <class T>
void require_two_parts(const SaddlePoint<T>& parts) {
    if (parts.second_rows() == 0)
        throw InvalidArgument(
            "preconditioner schur: every diagonal entry of A is positive, so that A is no saddle point; use amg or jacobi");
    if (parts.first_rows() == 0)
        throw InvalidArgument(
            "preconditioner schur: no diagonal entry of A is positive, and the Schur complement is that of the rows which have "
            "one; use ilut or klu");
}

template <class T>
void require_negative(const std::vector<T>& diagonal, const SaddlePoint<T>& parts) {
    for (std::int64_t i = 0; i < std::ssize(diagonal); ++i)
        if (!(diagonal[i] < T(0) && is_finite(diagonal[i])))
            throw InvalidArgument(
                fmt::format("preconditioner schur: the diagonal of the Schur complement is {} for row {} of A (counted from "
                            "1), but must be "
                            "negative: no row with a positive diagonal entry outweighs it; use ilut or klu",
                            diagonal[i], parts.order()[parts.first_rows() + i] + 1));
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_blocks(const SaddlePoint<T>& parts, const PreconditionerOptions& options,
                                               const Device& device) {
    std::vector<T> diagonal = parts.diagonal_of_complement();
    require_negative(diagonal, parts);
    PreconditionerOptions of_block = options;
    std::unique_ptr<Preconditioner<T>> first, second;
    if (parts.is_k_nearly_singular()) {
        const std::vector<double> near_null_space = parts.of_k(options.amg.near_null_space);
        of_block.amg.near_null_space = near_null_space;
        first = multigrid_of<T>(parts.k(), of_block, device);
        second = std::make_unique<Jacobi<T>>(std::move(diagonal), device);
    } else {
        of_block.amg.near_null_space = {};
        of_block.amg.unknowns_per_node = 1;
        first = std::make_unique<Jacobi<T>>(parts.diagonal_of_k(), device);
        second = multigrid_of<T>(convert<T>(parts.complement().view()), of_block, device);
    }
    return std::make_unique<BlockTriangular<T>>("schur", std::move(first), parts.u(), std::move(second), device);
}

}  // namespace

template <class T>
std::unique_ptr<Preconditioner<T>> make_schur(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device) {
    if (options.complex_numbers)
        throw InvalidArgument("preconditioner schur: A is complex, and this one is of real numbers; use ilut or klu");
    if (a.rows == 0) return std::make_unique<Identity<T>>(0);
    AmgOptions of_a = options.amg;
    of_a.unknowns_per_node = 0;  // which is said of K
    amg::check_options(of_a, a.rows);
    const Device host = host_of(device);
    if (!has_sorted_rows(a, host)) return make_schur<T>(with_sorted_rows(a).view(), options, device);
    const SaddlePoint<T> parts(a, host);
    require_two_parts(parts);
    const std::vector<std::int32_t> no_exponents(static_cast<std::size_t>(a.rows));
    const Preparation order{no_exponents, no_exponents, parts.order(), parts.order(), a.rows, {}};
    return std::make_unique<Schur<T>>("schur", order, make_blocks(parts, options, device), device);
}

template std::unique_ptr<Preconditioner<float>> make_schur(const CsrView<float>&, const PreconditionerOptions&, const Device&);
template std::unique_ptr<Preconditioner<double>> make_schur(const CsrView<double>&, const PreconditionerOptions&,
                                                            const Device&);

}  // namespace solver
