#pragma once

/// Products of one rank's rows of an AIJ matrix with a vector that is spread over the ranks.

#include "local_rows.hpp"
#include "place.hpp"
#include "solver/csr_matrix.hpp"

#include <petscmat.h>

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

        PetscInt length(PetscInt row) const { return offsets[row + 1] - offsets[row]; }
        bool operator==(const Block&) const = default;
    };
    bool parallel = false;  ///< the same on all ranks, also those without rows
    Block own, others;
    const PetscInt* ghosts = nullptr;

    bool has_ghosts(PetscInt row) const { return others.rows > 0 && others.length(row) > 0; }
    bool operator==(const RankBlocks&) const = default;

    static PetscErrorCode of(Mat a, RankBlocks* blocks);
};

/// A column as the library has it. Throws std::length_error from 2^31 on.
std::int32_t short_index(PetscInt index);

/// y = alpha A x + beta z. Long runs of rows without ghosts are multiplied where PETSc has them, while the ghosts are on their
/// way; all other rows are copied, so that each of them, too, is one sum with one rounding. On a device there is a copy of all
/// rows.
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
        std::unique_ptr<LocalRows> rows;
    };

    PetscErrorCode build(Mat a);
    PetscErrorCode create_scatter(Mat a);
    void share_out_rows();
    void add_run(PetscInt first, PetscInt end);
    void copy_rows();
    void read_values();
    void copy_values();
    void destroy_scatter();

    void multiply_runs(double alpha, const double* x, double beta, const double* z, double* y) const;
    void multiply_copied(double alpha, const double* x, const double* ghosts, double beta, const double* z, double* y);

    Place place_;
    RankBlocks blocks_;
    PetscObjectState state_ = -1;
    PetscObjectState blocks_state_ = -1;
    PetscLogDouble flops_ = 0;

    std::vector<Run> runs_;
    std::vector<std::int32_t> copied_;  ///< which rows
    std::vector<std::int32_t> needed_;  ///< the rank's own columns that they touch, in order; the ghosts follow
    solver::CsrMatrix<double> rows_;
    std::unique_ptr<LocalRows> local_rows_;
    PlacedArray<std::int32_t> copied_there_, needed_there_;
    PlacedArray<double> x_, y_;  ///< what the copied rows read and write

    VecScatter scatter_ = nullptr;
    Vec ghosts_ = nullptr;
};

}  // namespace petscsolver
