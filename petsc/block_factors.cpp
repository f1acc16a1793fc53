#include "block_factors.hpp"

#include "numbers.hpp"
#include "preconditioner/ilu0.hpp"
#include "rank_product.hpp"
#include "ranks/ranks.hpp"
#include "real_rows.hpp"
#include "settings.hpp"

#include <petscsf.h>

#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace petscsolver {
namespace {

using Made = std::unique_ptr<solver::Preconditioner<double>>;

/// Rows of blocks as they rise, with all ranks' numbers.
struct BlockRows {
    std::vector<PetscInt> rows;
    std::vector<std::int32_t> block_of_row;
};

/// For each block that this rank has rows of, the rank that has its first row. Which rank that is, one rank finds that the
/// block's number leads to: the first of those that name the block.
std::unordered_map<std::int32_t, int> homes_of(const Ranks& ranks, const std::vector<std::int32_t>& block_of_row) {
    auto asked = ranks.lists<std::int32_t>();
    for (const std::int32_t block : std::set(block_of_row.begin(), block_of_row.end()))
        asked[static_cast<std::uint32_t>(block) % asked.size()].push_back(block);
    const auto asking = ranks.exchanged(asked);
    std::unordered_map<std::int32_t, int> first, home;
    auto answers = ranks.lists<int>();
    for (int rank = 0; rank < ranks.size(); ++rank)
        for (const std::int32_t block : asking[rank]) answers[rank].push_back(first.try_emplace(block, rank).first->second);
    const auto told = ranks.exchanged(answers);
    for (std::size_t rank = 0; rank < asked.size(); ++rank)
        for (std::size_t k = 0; k < asked[rank].size(); ++k) home[asked[rank][k]] = told[rank][k];
    return home;
}

/// The rows of all blocks whose first row this rank has. They rise, since ranks have rising rows.
BlockRows rows_at_home(const Ranks& ranks, PetscInt first_row, const std::vector<std::int32_t>& block_of_row) {
    const auto home = homes_of(ranks, block_of_row);
    auto rows = ranks.lists<PetscInt>();
    auto blocks = ranks.lists<std::int32_t>();
    for (const std::int32_t block : block_of_row) {
        rows[home.at(block)].push_back(first_row++);
        blocks[home.at(block)].push_back(block);
    }
    BlockRows result;
    for (const auto& part : ranks.exchanged(rows)) result.rows.insert(result.rows.end(), part.begin(), part.end());
    for (const auto& part : ranks.exchanged(blocks))
        result.block_of_row.insert(result.block_of_row.end(), part.begin(), part.end());
    return result;
}

/// The rows and columns that are named, whichever ranks have them.
PetscErrorCode copy_part(Mat a, const std::vector<PetscInt>& rows, solver::CsrMatrix<Number>* part) {
    IS wanted;
    Mat* parts;
    RankBlocks blocks;
    PetscFunctionBegin;
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(rows.size()), rows.data(), PETSC_USE_POINTER, &wanted));
    PetscCall(MatCreateSubMatrices(a, 1, &wanted, &wanted, MAT_INITIAL_MATRIX, &parts));
    PetscCall(RankBlocks::of(parts[0], &blocks));
    PetscCallCXX(*part = copy_of(blocks.own));
    PetscCall(MatDestroySubMatrices(1, &parts));
    PetscCall(ISDestroy(&wanted));
    PetscFunctionReturn(0);
}

/// Of the rows that are at home here. What one rank refuses is refused by all, in terms of the whole matrix.
Made factors_of(solver::PreconditionerKind kind, const Ranks& ranks, const solver::CsrMatrix<double>& part,
                const BlockRows& home) {
    Made made;
    std::string refusal;
    try {
        made = solver::make_preconditioner<double>(kind, part.view(), settings().accuracy, solver::Device::cpu(1),
                                                   {.block_of_row = home.block_of_row, .complex_numbers = numbers_are_complex});
    } catch (const solver::UnusableRow& here) {
        const auto row = home.rows[here.row() / (numbers_are_complex ? 2 : 1)];
        refusal = solver::UnusableRow(row, here.seen(), here.preconditioner()).what();
    } catch (const solver::Error& here) {
        refusal = here.what();
    }
    const auto refusing = ranks.least(std::int64_t{made ? ranks.size() : ranks.rank()});
    if (refusing == ranks.size()) return made;
    if (refusing != ranks.rank()) refusal.clear();
    const std::vector<char> first = ranks.gathered(std::span<const char>(refusal));
    throw solver::InvalidArgument(std::string(first.begin(), first.end()));
}

/// Elements go where their blocks are, and come back.
class BlockFactors final : public solver::Preconditioner<double> {
public:
    /// `owners` says on which ranks rows lie.
    BlockFactors(const Ranks& ranks, PetscLayout owners, const std::vector<PetscInt>& rows, Made factors)
        : comm_(ranks.comm()),
          factors_(std::move(factors)),
          entries_(ranks.sum(factors_->factor_entries())),
          r_(rows.size()),
          z_(rows.size()) {
        PetscCallAbort(comm_, PetscSFCreate(comm_, &forest_));
        PetscCallAbort(comm_, PetscSFSetGraphLayout(forest_, owners, static_cast<PetscInt>(rows.size()), nullptr,
                                                    PETSC_COPY_VALUES, rows.data()));
        PetscCallAbort(comm_, PetscSFSetUp(forest_));
    }
    BlockFactors(const BlockFactors&) = delete;
    BlockFactors& operator=(const BlockFactors&) = delete;
    ~BlockFactors() override { PetscCallAbort(comm_, PetscSFDestroy(&forest_)); }

    void apply(std::span<const double> r, std::span<double> z, solver::Accuracy accuracy) const override {
        PetscCallAbort(comm_, PetscSFBcastBegin(forest_, MPIU_SCALAR, r.data(), r_.data(), MPI_REPLACE));
        PetscCallAbort(comm_, PetscSFBcastEnd(forest_, MPIU_SCALAR, r.data(), r_.data(), MPI_REPLACE));
        factors_->apply(solver::real_view(std::span<const Number>(r_)), solver::real_view(std::span<Number>(z_)), accuracy);
        PetscCallAbort(comm_, PetscSFReduceBegin(forest_, MPIU_SCALAR, z_.data(), z.data(), MPI_REPLACE));
        PetscCallAbort(comm_, PetscSFReduceEnd(forest_, MPIU_SCALAR, z_.data(), z.data(), MPI_REPLACE));
    }

    std::int64_t factor_entries() const override { return entries_; }

private:
    MPI_Comm comm_;
    Made factors_;
    std::int64_t entries_;
    PetscSF forest_ = nullptr;  ///< roots: elements of vectors; leaves: those of the rows that are at home here
    mutable std::vector<Number> r_, z_;
};

PetscErrorCode copy_composed(Mat a, PetscInt rows, std::optional<std::vector<std::int32_t>>* block_of_row) {
    PetscObject blocks;
    PetscClassId type = 0;
    PetscInt size = -1;
    const PetscInt* numbers;
    PetscFunctionBegin;
    PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(a), "samebits_blocks", &blocks));
    if (!blocks) PetscFunctionReturn(0);
    PetscCall(PetscObjectGetClassId(blocks, &type));
    if (type == IS_CLASSID) PetscCall(ISGetLocalSize(reinterpret_cast<IS>(blocks), &size));
    const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
    PetscCheck(
        Ranks(comm).all(size == rows), comm, PETSC_ERR_ARG_SIZ,
        "samebits_blocks of the matrix: expected an IS that has on each rank the number of a block for each of the rank's "
        "rows");
    PetscCall(ISGetIndices(reinterpret_cast<IS>(blocks), &numbers));
    PetscCallCXX(block_of_row->emplace());
    for (PetscInt i = 0; i < rows; ++i) PetscCallCXX((*block_of_row)->push_back(short_index(numbers[i])));
    PetscCall(ISRestoreIndices(reinterpret_cast<IS>(blocks), &numbers));
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode read_blocks(Mat a, PetscInt size, std::optional<std::vector<std::int32_t>>* block_of_row) {
    PetscInt begin, end;
    PetscFunctionBegin;
    block_of_row->reset();
    PetscCall(MatGetOwnershipRange(a, &begin, &end));
    if (size == 0) {
        PetscCall(copy_composed(a, end - begin, block_of_row));
        PetscFunctionReturn(0);
    }
    PetscCallCXX(block_of_row->emplace());
    for (PetscInt row = begin; row < end; ++row) PetscCallCXX((*block_of_row)->push_back(short_index(row / size)));
    PetscFunctionReturn(0);
}

std::unique_ptr<solver::Preconditioner<double>> make_block_factors(solver::PreconditionerKind kind, Mat a,
                                                                   const std::vector<std::int32_t>& block_of_row) {
    const Ranks ranks(PetscObjectComm(reinterpret_cast<PetscObject>(a)));
    solver::CsrMatrix<Number> part;
    PetscInt first_row;
    PetscLayout owners;
    PetscCallAbort(ranks.comm(), MatGetOwnershipRange(a, &first_row, nullptr));
    PetscCallAbort(ranks.comm(), MatGetLayouts(a, &owners, nullptr));
    const BlockRows home = rows_at_home(ranks, first_row, block_of_row);
    PetscCallAbort(ranks.comm(), copy_part(a, home.rows, &part));
    return std::make_unique<BlockFactors>(ranks, owners, home.rows,
                                          factors_of(kind, ranks, real_matrix(std::move(part)), home));
}

}  // namespace petscsolver
