#include "rank_product.hpp"

#include "apply.hpp"
#include "core/hash.hpp"
#include "elements.hpp"

#include <petsc/private/petscimpl.h>

#include <algorithm>
#include <stdexcept>

namespace petscsolver {

std::int32_t short_index(PetscInt index) {
    if (index > std::numeric_limits<std::int32_t>::max())
        throw std::length_error("a rank has more than 2^31 columns; use more ranks");
    return static_cast<std::int32_t>(index);
}

namespace {

/// A run of fewer rows than this costs more to look after than to copy; on a device it is a kernel of its own.
PetscInt shortest_run(const Place& place) { return place.on_device() ? 1 << 16 : 256; }

/// PETSc's own where they are as the library has them, else `copy`.
template <class Index>
std::span<const std::int32_t> short_indices(std::span<const Index> indices, std::vector<std::int32_t>& copy) {
    if constexpr (std::is_same_v<Index, std::int32_t>) {
        return indices;
    } else {
        for (const Index index : indices) copy.push_back(short_index(index));
        return copy;
    }
}

std::uint64_t hash_of(std::span<const PetscInt> numbers, std::uint64_t before = 0) {
    solver::Hash hash;
    hash.add(before);
    for (const PetscInt number : numbers) hash.add(static_cast<std::uint64_t>(number));
    return hash.value();
}

PetscErrorCode block_of(Mat a, RankBlocks::Block* block) {
    PetscBool done;
    PetscFunctionBegin;
    PetscCall(MatGetSize(a, nullptr, &block->columns));
    PetscCall(MatGetRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &block->rows, &block->offsets, &block->indices, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc did not give the rows of a block of a matrix");
    const PetscInt *offsets = block->offsets, *indices = block->indices;  // giving back sets them to null
    PetscInt rows = block->rows;
    PetscCall(MatRestoreRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &indices, &done));
    const PetscScalar* values;
    PetscCall(MatSeqAIJGetArrayRead(a, &values));
    block->values = values;
    PetscCall(MatSeqAIJRestoreArrayRead(a, &values));
    if (block->rows == 0) PetscFunctionReturn(0);
    block->pattern = hash_of({block->indices, static_cast<std::size_t>(block->offsets[block->rows])},
                             hash_of({block->offsets, static_cast<std::size_t>(block->rows) + 1}));
    PetscFunctionReturn(0);
}

PetscErrorCode is_parallel(Mat a, PetscBool* parallel) {
    void (*preallocate)(void);
    PetscFunctionBegin;
    PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(a), "MatMPIAIJSetPreallocation_C", &preallocate));
    *parallel = preallocate ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionReturn(0);
}

}  // namespace

solver::CsrMatrix<Number> copy_of(const RankBlocks::Block& block) {
    solver::CsrMatrix<Number> a;
    const PetscInt entries = block.offsets[block.rows];
    a.rows = block.rows;
    a.columns = block.columns;
    a.row_offsets.assign(block.offsets, block.offsets + block.rows + 1);
    for (PetscInt k = 0; k < entries; ++k) a.column_indices.push_back(short_index(block.indices[k]));
    a.values.assign(block.values, block.values + entries);
    return a;
}

PetscErrorCode MatrixState::of(Mat a, MatrixState* state) {
    Mat own, others;
    PetscBool parallel = PETSC_FALSE;
    PetscObjectState own_state, others_state;
    PetscFunctionBegin;
    state->blocks = 0;
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &state->whole));
    PetscCall(is_parallel(a, &parallel));
    if (!parallel) PetscFunctionReturn(0);
    PetscCall(MatMPIAIJGetSeqAIJ(a, &own, &others, nullptr));
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(own), &own_state));
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(others), &others_state));
    state->blocks = own_state + others_state;
    PetscFunctionReturn(0);
}

PetscErrorCode RankBlocks::of(Mat a, RankBlocks* blocks) {
    Mat own, others;
    PetscBool parallel = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(is_parallel(a, &parallel));
    *blocks = RankBlocks();
    blocks->parallel = parallel;
    if (parallel) {
        PetscCall(MatMPIAIJGetSeqAIJ(a, &own, &others, &blocks->ghosts));
        PetscCall(block_of(own, &blocks->own));
        PetscCall(block_of(others, &blocks->others));
        if (blocks->ghosts != nullptr)
            blocks->ghost_numbers = hash_of({blocks->ghosts, static_cast<std::size_t>(blocks->others.columns)});
    } else {
        PetscCall(block_of(a, &blocks->own));
    }
    PetscFunctionReturn(0);
}

RankProduct::~RankProduct() { destroy_scatter(); }

void RankProduct::destroy_scatter() {
    PetscCallAbort(PETSC_COMM_SELF, VecScatterDestroy(&scatter_));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&ghosts_));
}

PetscErrorCode RankProduct::prepare(Mat a, const Place& place) {
    MatrixState state;
    PetscFunctionBegin;
    PetscCall(MatrixState::of(a, &state));
    const bool moved = place != place_;  // on all ranks or on none
    place_ = place;
    if (state == state_ && !moved) PetscFunctionReturn(0);
    RankBlocks blocks;
    PetscCall(RankBlocks::of(a, &blocks));
    const bool together = state.whole != state_.whole || moved;  // on all ranks or on none, unlike a block's
    PetscMPIInt changed = state_.whole < 0 || moved || blocks != blocks_;
    if (together)
        PetscCallMPI(
            MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm(reinterpret_cast<PetscObject>(a))));
    else
        PetscCheck(blocks.others.columns == blocks_.others.columns && blocks.ghost_numbers == blocks_.ghost_numbers,
                   PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
                   "a block of a parallel matrix has got other columns without an assembly of the matrix");
    blocks_ = blocks;
    if (changed && together) PetscCall(create_scatter(a));
    PetscCallCXX(changed ? build() : read_values());
    state_ = state;
    PetscFunctionReturn(0);
}

void RankProduct::build() {
    share_out_rows();
    copy_rows();
    flops_ = 0;
    for (const auto* block : {&blocks_.own, &blocks_.others})
        if (block->rows > 0) flops_ += 2.0 * block->offsets[block->rows];
}

/// None on one rank.
PetscErrorCode RankProduct::create_scatter(Mat a) {
    Vec x;
    IS from;
    PetscFunctionBegin;
    destroy_scatter();
    if (!blocks_.parallel) PetscFunctionReturn(0);
    PetscCall(MatCreateVecs(a, &x, nullptr));
    PetscCall(VecCreate(PETSC_COMM_SELF, &ghosts_));
    PetscCall(VecSetSizes(ghosts_, blocks_.others.columns, blocks_.others.columns));
    PetscCall(VecSetType(ghosts_, place_.on_device() ? VECSEQCUDA : VECSEQ));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, blocks_.others.columns, blocks_.ghosts, PETSC_COPY_VALUES, &from));
    PetscCall(VecScatterCreate(x, from, ghosts_, nullptr, &scatter_));
    PetscCall(ISDestroy(&from));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

void RankProduct::share_out_rows() {
    runs_.clear();
    copied_.clear();
    const PetscInt rows = blocks_.own.rows;
    for (PetscInt first = 0; first < rows;) {
        PetscInt end = first;
        while (end < rows && !blocks_.has_ghosts(end)) ++end;
        const bool all = first == 0 && end == rows;
        if (all || end - first >= shortest_run(place_))
            add_run(first, end);
        else
            for (PetscInt row = first; row < end; ++row) copied_.push_back(short_index(row));
        if (end < rows) copied_.push_back(short_index(end));
        first = end + 1;
    }
}

void RankProduct::add_run(PetscInt first, PetscInt end) {
    const RankBlocks::Block& own = blocks_.own;
    const PetscInt begin = own.offsets[first];
    const auto entries = static_cast<std::size_t>(own.offsets[end] - begin);
    Run& run = runs_.emplace_back();
    run.first = first;
    for (PetscInt row = first; row <= end; ++row) run.offsets.push_back(own.offsets[row] - begin);
    const auto indices = short_indices(std::span(own.indices + begin, entries), run.indices);
    run.numbers = {end - first, own.columns, run.offsets, indices, {own.values + begin, entries}};
    run.rows = ReadyRows(run.numbers, place_);
}

/// The copied rows' own columns are numbered as they stand in needed_, ghosts after them.
void RankProduct::copy_rows() {
    const RankBlocks::Block& own = blocks_.own;
    const RankBlocks::Block& others = blocks_.others;
    needed_.clear();
    for (const std::int32_t row : copied_)
        for (PetscInt k = own.offsets[row]; k < own.offsets[row + 1]; ++k) needed_.push_back(short_index(own.indices[k]));
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
    const auto own_columns = static_cast<PetscInt>(needed_.size());

    rows_ = {};
    rows_.rows = static_cast<std::int64_t>(copied_.size());
    rows_.columns = own_columns + others.columns;
    for (const std::int32_t row : copied_) {
        for (PetscInt k = own.offsets[row]; k < own.offsets[row + 1]; ++k) {
            const auto place = std::lower_bound(needed_.begin(), needed_.end(), own.indices[k]);
            rows_.column_indices.push_back(short_index(static_cast<PetscInt>(place - needed_.begin())));
        }
        for (PetscInt k = 0; others.rows > 0 && k < others.length(row); ++k)
            rows_.column_indices.push_back(short_index(own_columns + others.indices[others.offsets[row] + k]));
        rows_.row_offsets.push_back(static_cast<std::int64_t>(rows_.column_indices.size()));
    }
    rows_.values.resize(rows_.column_indices.size());
    copy_values();
    ready_rows_ = ReadyRows();
    if (copied_.empty()) return;
    ready_rows_ = ReadyRows(rows_, place_);
    copied_there_ = {place_, copied_, "numbers of rows"};
    needed_there_ = {place_, needed_, "numbers of columns"};
    x_ = {place_, static_cast<std::size_t>(rows_.columns), "x of a product"};
    y_ = {place_, copied_.size(), "y of a product"};
}

/// Other values in the same pattern.
void RankProduct::read_values() {
    copy_values();
    if (ready_rows_) ready_rows_.reread_values(rows_, place_);
    for (Run& run : runs_) run.rows.reread_values(run.numbers, place_);
}

void RankProduct::copy_values() {
    Number* value = rows_.values.data();
    for (const std::int32_t row : copied_)
        for (const auto* block : {&blocks_.own, &blocks_.others})
            if (block->rows > 0)
                value = std::copy(block->values + block->offsets[row], block->values + block->offsets[row + 1], value);
}

PetscErrorCode RankProduct::multiply(double alpha, Vec x, double beta, Vec z, Vec y) {
    PetscFunctionBegin;
    if (scatter_) PetscCall(VecScatterBegin(scatter_, x, ghosts_, INSERT_VALUES, SCATTER_FORWARD));
    {
        const Elements px(x, place_), pz(z, place_);
        const MutableElements py(y, place_);
        PetscCallCXX(multiply_runs(alpha, px.data(), beta, pz.data(), py.data()));
    }
    if (scatter_) PetscCall(VecScatterEnd(scatter_, x, ghosts_, INSERT_VALUES, SCATTER_FORWARD));
    if (ready_rows_) {
        const Elements px(x, place_), pz(z, place_), ghosts(ghosts_, place_);
        const MutableElements py(y, place_);
        PetscCallCXX(multiply_copied(alpha, px.data(), ghosts.data(), beta, pz.data(), py.data()));
    }
    PetscCall(PetscLogFlops(flops_));
    PetscFunctionReturn(0);
}

void RankProduct::multiply_runs(double alpha, const Number* x, double beta, const Number* z, Number* y) const {
    for (const Run& run : runs_) run.rows.multiply(place_, alpha, x, beta, z + run.first, y + run.first);
}

void RankProduct::multiply_copied(double alpha, const Number* x, const Number* ghosts, double beta, const Number* z,
                                  Number* y) {
    const auto rows = static_cast<std::int64_t>(copied_.size());
    const auto own_columns = static_cast<std::int64_t>(needed_.size());
    apply(place_, own_columns, Gather{needed_there_.data(), x, x_.data()});
    apply(place_, blocks_.others.columns, Copy{ghosts, x_.data() + own_columns});
    if (beta != 0) apply(place_, rows, Gather{copied_there_.data(), z, y_.data()});
    ready_rows_.multiply(place_, alpha, x_.data(), beta, y_.data(), y_.data());
    apply(place_, rows, Scatter{copied_there_.data(), y_.data(), y});
}

}  // namespace petscsolver
