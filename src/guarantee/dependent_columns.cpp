#include "guarantee/dependent_columns.hpp"

#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace solver::guarantee {
namespace {

constexpr double nearly_nothing = 0x1p-30;

struct Element {
    std::int32_t row;
    double value;
};

/// Left-looking: a column is taken up, those before it are subtracted, and its largest element becomes the pivot.
class Elimination {
public:
    explicit Elimination(const CsrMatrix<double>& by_columns)
        : b_(by_columns), work_(static_cast<std::size_t>(b_.rows)), is_pivot_(work_.size()) {}

    std::vector<double> run(double most_operations) {
        for (std::int64_t k = 0; k < b_.rows; ++k) {
            const double size = take_up(k);
            for (std::size_t m = 0; m < lower_.size(); ++m) subtract(m);
            operations_ += static_cast<double>(k);
            if (operations_ > most_operations) return {};
            if (!finish(size)) return combination();
        }
        return {};
    }

private:
    /// Returns its largest magnitude.
    double take_up(std::int64_t k) {
        double size = 0;
        for (std::int64_t e = b_.row_offsets[k]; e < b_.row_offsets[k + 1]; ++e) {
            work_[b_.column_indices[e]] = b_.values[e];
            size = std::max(size, magnitude(b_.values[e]));
        }
        return size;
    }

    /// The multiple of column m of L that clears its pivot's row.
    void subtract(std::size_t m) {
        const double factor = work_[pivots_[m]];
        if (factor == 0) return;
        for (const Element& element : lower_[m]) work_[element.row] -= element.value * factor;
        operations_ += static_cast<double>(lower_[m].size());
    }

    /// Moves the column to U and L; false where nothing is left for a pivot. Cleans up.
    bool finish(double size) {
        std::vector<Element>& upper = upper_.emplace_back();
        for (std::size_t m = 0; m < pivots_.size(); ++m)
            if (work_[pivots_[m]] != 0) upper.push_back({static_cast<std::int32_t>(m), work_[pivots_[m]]});
        std::vector<Element> rest;
        Element pivot{0, 0};
        for (std::size_t i = 0; i < work_.size(); ++i) {
            if (work_[i] == 0) continue;
            if (!is_pivot_[i]) {
                rest.push_back({static_cast<std::int32_t>(i), work_[i]});
                if (magnitude(work_[i]) > magnitude(pivot.value)) pivot = rest.back();
            }
            work_[i] = 0;
        }
        operations_ += static_cast<double>(work_.size());
        if (!(magnitude(pivot.value) > nearly_nothing * size)) return false;
        for (Element& element : rest) element.value /= pivot.value;
        std::erase_if(rest, [&](const Element& element) { return element.row == pivot.row; });
        is_pivot_[pivot.row] = true;
        pivots_.push_back(pivot.row);
        diagonal_.push_back(pivot.value);
        lower_.push_back(std::move(rest));
        return true;
    }

    /// U_11^-1 u_1k above -1.
    std::vector<double> combination() const {
        std::vector<double> v(work_.size());
        for (const Element& element : upper_.back()) v[element.row] = element.value;
        for (std::size_t m = pivots_.size(); m-- > 0;) {
            v[m] /= diagonal_[m];
            for (const Element& element : upper_[m]) v[element.row] -= element.value * v[m];
        }
        v[pivots_.size()] = -1;
        return v;
    }

    const CsrMatrix<double>& b_;
    std::vector<double> work_;
    std::vector<bool> is_pivot_;  ///< of each row
    std::vector<std::int32_t> pivots_;
    std::vector<double> diagonal_;
    std::vector<std::vector<Element>> lower_;  ///< columns of L below their ones, by rows of B
    std::vector<std::vector<Element>> upper_;  ///< columns of U above their diagonal, by steps
    double operations_ = 0;
};

}  // namespace

std::vector<double> first_dependence(const CsrMatrix<double>& by_columns, double most_operations) {
    return Elimination(by_columns).run(most_operations);
}

}  // namespace solver::guarantee
