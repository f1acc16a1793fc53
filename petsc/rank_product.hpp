#pragma once

/// Products of one rank's rows of an AIJ matrix with a vector that is spread over the ranks.

#include "local_rows.hpp"
#include "numbers.hpp"
#include "place.hpp"
#include "real_rows.hpp"
#include "settings.hpp"
#include "solver/csr_matrix.hpp"

#include <petscmat.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace petscsolver {

/// The parts of a rank's rows, as PETSc stores them: the columns that this rank owns, and the others, which are numbered by
/// `ghosts`. No ghosts and no second part on one rank.
struct RankBlocks {
    struct Block {
        PetscInt rows = 0;
        PetscInt columns = 0;
        const PetscInt* offsets = nullptr;
        const PetscInt* indices = nullptr;
        const PetscScalar* values = nullptr;
        std::uint64_t pattern = 0;  ///< a hash of offsets and indices, which PETSc changes where they are

        PetscInt length(PetscInt row) const { return offsets[row + 1] - offsets[row]; }
        bool operator==(const Block&) const = default;
    };
    bool parallel = false;  ///< the same on all ranks, also those without rows
    Block own, others;
    const PetscInt* ghosts = nullptr;
    std::uint64_t ghost_numbers = 0;  ///< a hash of them

    bool has_ghosts(PetscInt row) const { return others.rows > 0 && others.length(row) > 0; }
    bool operator==(const RankBlocks&) const = default;

    static PetscErrorCode of(Mat a, RankBlocks* blocks);
};

/// What rises with every change of a matrix: its own state on all ranks or on none, that of its blocks on some ranks, too.
struct MatrixState {
    PetscObjectState whole = -1;
    PetscObjectState blocks = -1;
    bool operator==(const MatrixState&) const = default;

    static PetscErrorCode of(Mat a, MatrixState* state);
};

/// A column as the library has it. Throws std::length_error from 2^31 on.
std::int32_t short_index(PetscInt index);

/// A copy for the library's own work.
solver::CsrMatrix<Number> copy_of(const RankBlocks::Block& block);

/// Rows ready for products with the parts of numbers.
class ReadyRows {
public:
    ReadyRows() = default;
    ReadyRows(const solver::CsrView<Number>& rows, const Place& place)
        : real_(std::make_unique<RealRows>(real_rows(rows))), ready_(std::make_unique<LocalRows<double>>(*real_, place)) {}

    /// y = alpha A x + beta z
    void multiply(const Place& place, double alpha, const Number* x, double beta, const Number* z, Number* y) const {
        ready_->multiply(place, alpha, reals(x), beta, reals(z), reals(y), settings().accuracy);
    }

    /// The values of the rows were changed where they are. Those of the real form of complex rows have another pattern, if a
    /// part has become zero or is none any more.
    void reread_values(const solver::CsrView<Number>& rows, const Place& place) {
        if constexpr (numbers_are_complex)
            *this = ReadyRows(rows, place);
        else
            ready_->reread_values(place);
    }

    explicit operator bool() const { return ready_ != nullptr; }

private:
    std::unique_ptr<RealRows> real_;  ///< where it is, for `ready_` refers to it
    std::unique_ptr<LocalRows<double>> ready_;
};

/// y = alpha A x + beta z. Long runs of rows without ghosts are multiplied where PETSc has them (complex ones from a copy),
/// while the ghosts are on their way; all other rows are copied, so that each of them, too, is one sum with one rounding. On a
/// device there is a copy of all rows.
class RankProduct {
public:
    RankProduct() = default;
    RankProduct(const RankProduct&) = delete;
    RankProduct& operator=(const RankProduct&) = delete;
    ~RankProduct();

    /// Looks whether A is the matrix it was and the vectors are where they were, and prepares what changed.
    PetscErrorCode prepare(Mat a, const Place& place);

    /// Vectors at the place that was prepared; z may be y, and is not looked at where beta is 0.
    PetscErrorCode multiply(double alpha, Vec x, double beta, Vec z, Vec y);

private:
    /// Rows that follow one another.
    struct Run {
        PetscInt first = 0;
        std::vector<std::int64_t> offsets;
        std::vector<std::int32_t> indices;  ///< only where PETSc's are not 32 bits long
        solver::CsrView<Number> numbers;
        ReadyRows rows;
    };

    PetscErrorCode create_scatter(Mat a);
    void build();
    void share_out_rows();
    void add_run(PetscInt first, PetscInt end);
    void copy_rows();
    void read_values();
    void copy_values();
    void destroy_scatter();

    void multiply_runs(double alpha, const Number* x, double beta, const Number* z, Number* y) const;
    void multiply_copied(double alpha, const Number* x, const Number* ghosts, double beta, const Number* z, Number* y);

    Place place_;
    RankBlocks blocks_;
    MatrixState state_;
    PetscLogDouble flops_ = 0;

    std::vector<Run> runs_;
    std::vector<std::int32_t> copied_;  ///< which rows
    std::vector<std::int32_t> needed_;  ///< the rank's own columns that they touch, in order; the ghosts follow
    solver::CsrMatrix<Number> rows_;
    ReadyRows ready_rows_;
    PlacedArray<std::int32_t> copied_there_, needed_there_;
    PlacedArray<Number> x_, y_;  ///< what the copied rows read and write

    VecScatter scatter_ = nullptr;
    Vec ghosts_ = nullptr;
};

}  // namespace petscsolver
