#include "matrices/stokes.hpp"

#include "matrices/row_by_row.hpp"

#include <utility>
#include <vector>

namespace solver::matrices {
namespace {

/// Unknowns of one kind, width x height of them, numbered row by row from `first`.
struct Field {
    std::int64_t first, width, height;

    bool contains(std::int64_t i, std::int64_t j) const { return 0 <= i && i < width && 0 <= j && j < height; }
    std::int32_t number(std::int64_t i, std::int64_t j) const { return static_cast<std::int32_t>(first + j * width + i); }
    std::int64_t end() const { return first + width * height; }
};

class Box {
public:
    explicit Box(std::int64_t n)
        : n_(n),
          u_{0, n - 1, n},
          v_{u_.end(), n, n - 1},
          p_{v_.end(), n, n},
          matrix_(empty_matrix(p_.end(), stokes2d_entries(p_.end()))) {}

    CsrMatrix<double> build() {
        for_each(u_, [&](std::int64_t i, std::int64_t j) {
            add_laplacian(u_, i, j, j);
            row_.insert(row_.end(), {{p_.number(i, j), -1}, {p_.number(i + 1, j), 1}});
        });
        for_each(v_, [&](std::int64_t i, std::int64_t j) {
            add_laplacian(v_, i, j, i);
            row_.insert(row_.end(), {{p_.number(i, j), -1}, {p_.number(i, j + 1), 1}});
        });
        for_each(p_, [&](std::int64_t i, std::int64_t j) {
            add_if_inside(u_, i - 1, j, 1);
            add_if_inside(u_, i, j, -1);
            add_if_inside(v_, i, j - 1, 1);
            add_if_inside(v_, i, j, -1);
            if (i == n_ - 1 && j == n_ - 1) row_.push_back({p_.number(i, j), -1});
        });
        return std::move(matrix_);
    }

private:
    template <class FillRow>
    void for_each(const Field& field, const FillRow& fill_row) {
        for (std::int64_t j = 0; j < field.height; ++j) {
            for (std::int64_t i = 0; i < field.width; ++i) {
                row_.clear();
                fill_row(i, j);
                append_row(matrix_, row_);
            }
        }
    }

    void add_if_inside(const Field& field, std::int64_t i, std::int64_t j, double value) {
        if (field.contains(i, j)) row_.push_back({field.number(i, j), value});
    }

    /// `across`: the place among the n_ rows or columns of cells that lie side by side across the direction of this velocity.
    void add_laplacian(const Field& field, std::int64_t i, std::int64_t j, std::int64_t across) {
        const int walls = (across == 0 ? 1 : 0) + (across == n_ - 1 ? 1 : 0);
        row_.push_back({field.number(i, j), 4.0 + walls});
        add_if_inside(field, i - 1, j, -1);
        add_if_inside(field, i + 1, j, -1);
        add_if_inside(field, i, j - 1, -1);
        add_if_inside(field, i, j + 1, -1);
    }

    std::int64_t n_;
    Field u_, v_, p_;
    CsrMatrix<double> matrix_;
    std::vector<RowEntry> row_{};
};

}  // namespace

CsrMatrix<double> stokes2d(std::int64_t n) { return Box(n).build(); }

}  // namespace solver::matrices
