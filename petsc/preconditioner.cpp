#include "preconditioner.hpp"

#include "block_factors.hpp"
#include "compatible_part.hpp"
#include "elements.hpp"
#include "numbers.hpp"
#include "place.hpp"
#include "rank_product.hpp"
#include "ranks/rank_multigrid.hpp"
#include "ranks/rank_solve.hpp"
#include "real_rows.hpp"
#include "releases.hpp"
#include "settings.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace petscsolver {
namespace {

using solver::PreconditionerKind;

using Span = std::span<const double>;
using Made = std::unique_ptr<solver::Preconditioner<double>>;

/// What a PC of ours is made of. `kind` is empty for samebits_auto.
struct Application {
    std::optional<PreconditionerKind> kind;
    PetscInt block_size = 0;         ///< of factors: so many successive rows are one block; 0: as the matrix says
    PetscInt gathered_rows = 10000;  ///< of multigrid: levels of at most so many rows are kept by every rank
    WholeSolveOptions solve = {};    ///< of samebits_auto
    Made made = {};                  ///< of samebits_auto a WholeSolve
    PetscReal left_out = 0;          ///< of samebits_auto: what ||r|| has lost, relatively, in the last application
    std::unique_ptr<solver::cuda::DevicePreconditioner<double>> there = {};  ///< where vectors have lain on a device

    void forget() {
        there.reset();
        made.reset();
    }

    /// Null where a device has no such thing.
    solver::cuda::DevicePreconditioner<double>* on_device(int device) {
        if (!there) there = made->on_device(device);
        return there.get();
    }
};

bool has_factors(std::optional<PreconditionerKind> kind) {
    return kind == PreconditionerKind::ilu0 || kind == PreconditionerKind::ilut || kind == PreconditionerKind::klu;
}

Application* application_of(PC pc) { return static_cast<Application*>(pc->data); }

const Outcome& last_outcome(const Application& application) {
    return static_cast<const WholeSolve&>(*application.made).outcome();
}

/// By the block size that the matrix was given; 0, for it to be looked for, where there is none.
PetscErrorCode unknowns_per_node_of(Mat a, int* unknowns) {
    PetscInt block_size;
    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(a, &block_size));
    *unknowns = block_size > 1 ? static_cast<int>(real_parts * block_size) : 0;
    PetscFunctionReturn(0);
}

/// Whether it is true on all ranks of an object.
PetscErrorCode on_all_ranks(PetscObject object, bool here, bool* everywhere) {
    PetscMPIInt all = here;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm(object)));
    *everywhere = all != 0;
    PetscFunctionReturn(0);
}

/// Near-null vectors are shared out as A's rows are.
PetscErrorCode check_layout(Mat a, std::span<const Vec> vectors) {
    PetscInt rows, size;
    bool fits = true;
    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(a, &rows, nullptr));
    for (Vec vector : vectors) {
        PetscCall(VecGetLocalSize(vector, &size));
        fits = fits && size == rows;
    }
    PetscCall(on_all_ranks(reinterpret_cast<PetscObject>(a), fits, &fits));
    PetscCheck(
        fits, PetscObjectComm(reinterpret_cast<PetscObject>(a)), PETSC_ERR_ARG_SIZ,
        "the vectors of the near-null space (MatSetNearNullSpace) are not shared out among the ranks as the matrix's rows "
        "are; make them by MatCreateVecs");
    PetscFunctionReturn(0);
}

/// v, or in the real form of complex numbers v and i v.
void add_vector(Span v, std::vector<double>* vectors, int* count) {
    vectors->insert(vectors->end(), v.begin(), v.end());
    ++*count;
    if constexpr (numbers_are_complex) {
        for (std::size_t i = 0; i < v.size(); i += 2) vectors->insert(vectors->end(), {-v[i + 1], v[i]});
        ++*count;
    }
}

/// The near-null space that the matrix carries (MatSetNearNullSpace), this rank's elements of one vector after another.
PetscErrorCode near_null_space_of(Mat a, std::vector<double>* vectors, int* vector_count) {
    MatNullSpace space = nullptr;
    PetscBool has_constants = PETSC_FALSE;
    PetscInt count = 0, rows;
    const Vec* vecs = nullptr;
    PetscFunctionBegin;
    PetscCall(MatGetNearNullSpace(a, &space));
    *vector_count = 0;
    if (!space) PetscFunctionReturn(0);
    PetscCall(MatGetLocalSize(a, &rows, nullptr));
    PetscCall(MatNullSpaceGetVecs(space, &has_constants, &count, &vecs));
    PetscCall(check_layout(a, {vecs, static_cast<std::size_t>(count)}));
    if (has_constants) {
        const std::vector<Number> ones(static_cast<std::size_t>(rows), Number(1));
        add_vector(solver::real_view(std::span(ones)), vectors, vector_count);
    }
    for (PetscInt k = 0; k < count; ++k) add_vector(Elements(vecs[k]), vectors, vector_count);
    PetscFunctionReturn(0);
}

/// Where vectors of a matrix lie.
PetscErrorCode place_of_vectors(Mat a, Place* place) {
    Vec x;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(a, &x, nullptr));
    PetscCall(place_of({x}, place));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

/// Multigrid's levels are made where the vectors are, which changes no bit; factors are made by this thread.
Made made_here(PreconditionerKind kind, const solver::CsrView<double>& a, const solver::Device& device,
               const solver::PreconditionerOptions& options) {
    const bool is_there = kind == PreconditionerKind::amg && device.kind() == solver::Device::Kind::cuda;
    const solver::SpmvPlan<double> plan(a, is_there ? device : one_thread(), {.storage = solver::SpmvStorage::csr});
    return solver::make_preconditioner(kind, plan, settings().accuracy, options);
}

/// Of a matrix on one rank.
PetscErrorCode make_here(PC pc) {
    PetscBool is_aij;
    RankBlocks blocks;
    solver::CsrMatrix<double> a;
    solver::PreconditionerOptions options;
    std::vector<double> near_null;
    int vectors;
    Place place;
    Application* application = application_of(pc);
    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(pc->pmat), &is_aij, MATSEQAIJ, MATMPIAIJ, nullptr));
    PetscCheck(is_aij, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%s needs a matrix of a type that begins with seqaij or mpiaij, and this is %s",
               reinterpret_cast<PetscObject>(pc)->type_name, reinterpret_cast<PetscObject>(pc->pmat)->type_name);
    PetscCall(RankBlocks::of(pc->pmat, &blocks));
    PetscCallCXX(a = real_matrix(copy_of(blocks.own)));
    PetscCall(place_of_vectors(pc->pmat, &place));
    const solver::Device device = place.on_device() ? solver::Device::cuda(place.device) : one_thread();
    if (!application->kind) {
        PetscCallCXX(application->made = make_solve(std::move(a), application->solve, device));
        PetscFunctionReturn(0);
    }
    PetscCall(unknowns_per_node_of(pc->pmat, &options.amg.unknowns_per_node));
    PetscCall(near_null_space_of(pc->pmat, &near_null, &vectors));
    options.amg.near_null_space = near_null;
    PetscCallCXX(application->made = made_here(*application->kind, a.view(), device, options));
    PetscFunctionReturn(0);
}

/// Jacobi's, of this rank's part of a diagonal.
Made made_of_diagonal(const Elements& diagonal) {
    const PetscInt rows = diagonal.size();
    solver::CsrMatrix<Number> a{rows, rows, {0}, {}, {diagonal.data(), diagonal.data() + rows}};
    for (PetscInt row = 0; row < rows; ++row) {
        a.column_indices.push_back(short_index(row));
        a.row_offsets.push_back(row + 1);
    }
    return solver::make_preconditioner<double>(PreconditionerKind::jacobi, real_matrix(a).view(), settings().accuracy,
                                               one_thread(), {.complex_numbers = numbers_are_complex});
}

/// The first row of all ranks, counted from 0, that has no diagonal to divide by; the largest number where all have one.
PetscErrorCode first_zero_of(Vec diagonal, PetscInt* row) {
    PetscInt begin;
    PetscFunctionBegin;
    *row = std::numeric_limits<PetscInt>::max();
    PetscCall(VecGetOwnershipRange(diagonal, &begin, nullptr));
    {
        const Elements elements(diagonal);
        const Number *const first = elements.data(), *const end = first + elements.size();
        if (const Number* const zero = std::find(first, end, Number(0)); zero != end) *row = begin + (zero - first);
    }
    PetscCallMPI(
        MPI_Allreduce(MPI_IN_PLACE, row, 1, MPIU_INT, MPI_MIN, PetscObjectComm(reinterpret_cast<PetscObject>(diagonal))));
    PetscFunctionReturn(0);
}

/// Of any matrix that tells its diagonal.
PetscErrorCode make_jacobi(PC pc) {
    Vec diagonal;
    PetscInt row;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(pc->pmat, &diagonal, nullptr));
    PetscCall(MatGetDiagonal(pc->pmat, diagonal));
    PetscCall(first_zero_of(diagonal, &row));
    PetscCheck(
        row == std::numeric_limits<PetscInt>::max(), PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONG,
        "samebits_jacobi divides by the diagonal, and that of row %" PetscInt_FMT " (counted from 0) is zero or missing", row);
    PetscCallCXX(application_of(pc)->made = made_of_diagonal(Elements(diagonal)));
    PetscCall(VecDestroy(&diagonal));
    PetscFunctionReturn(0);
}

Made made_over_ranks(Mat a, const Application& application, RankMultigridOptions options) {
    const Ranks ranks(PetscObjectComm(reinterpret_cast<PetscObject>(a)));
    options.gathered_rows = application.gathered_rows;
    if (application.kind) return make_rank_multigrid(ranks, read_matrix(ranks, a), options);
    WholeSolveOptions of_solve = application.solve;
    of_solve.gathered_rows = application.gathered_rows;
    return make_rank_solve(ranks.comm(), read_matrix(ranks, a), of_solve);
}

/// Of a matrix that ranks share out.
PetscErrorCode make_over_ranks(PC pc) {
    PetscBool is_aij;
    std::vector<double> near_null;
    Application* application = application_of(pc);
    RankMultigridOptions options;
    PetscFunctionBegin;
    PetscCheck(!application->kind || *application->kind == PreconditionerKind::amg,
               PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
               "%s takes the matrix of one rank, and there are several; use -pc_type redundant -redundant_pc_type %s, which "
               "gives every rank the whole matrix%s",
               reinterpret_cast<PetscObject>(pc)->type_name, reinterpret_cast<PetscObject>(pc)->type_name,
               has_factors(application->kind) ? ", or name blocks of rows to be factored alone: -pc_samebits_block_size" : "");
    PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(pc->pmat), MATMPIAIJ, &is_aij));
    PetscCheck(is_aij, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
               "%s needs a matrix of a type that begins with mpiaij, and this is %s",
               reinterpret_cast<PetscObject>(pc)->type_name, reinterpret_cast<PetscObject>(pc->pmat)->type_name);
    PetscCall(unknowns_per_node_of(pc->pmat, &options.unknowns_per_node));
    PetscCall(near_null_space_of(pc->pmat, &near_null, &options.vectors));
    options.near_null_space = near_null;
    PetscCall(place_of_vectors(pc->pmat, &options.place));
    PetscCallCXX(application->made = made_over_ranks(pc->pmat, *application, options));
    PetscFunctionReturn(0);
}

/// Factors of a matrix that is cut into blocks; makes nothing where it is not.
PetscErrorCode make_within_blocks(PC pc) {
    PetscBool is_aij;
    std::optional<std::vector<std::int32_t>> block_of_row;
    Application* application = application_of(pc);
    PetscFunctionBegin;
    PetscCall(read_blocks(pc->pmat, application->block_size, &block_of_row));
    if (!block_of_row) PetscFunctionReturn(0);
    PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(pc->pmat), &is_aij, MATSEQAIJ, MATMPIAIJ, nullptr));
    PetscCheck(is_aij, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
               "%s needs a matrix of a type that begins with seqaij or mpiaij, and this is %s",
               reinterpret_cast<PetscObject>(pc)->type_name, reinterpret_cast<PetscObject>(pc->pmat)->type_name);
    PetscCallCXX(application->made = make_block_factors(*application->kind, pc->pmat, *block_of_row));
    PetscFunctionReturn(0);
}

/// Assembled, and rows and columns shared out alike, for r and z to be.
PetscErrorCode check_matrix(PC pc) {
    PetscInt rows, columns, own_rows, own_columns;
    bool is_assembled, is_alike;
    PetscFunctionBegin;
    PetscCall(on_all_ranks(reinterpret_cast<PetscObject>(pc), pc->pmat->assembled, &is_assembled));
    PetscCheck(is_assembled, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONGSTATE,
               "%s needs an assembled matrix; call MatAssemblyBegin and MatAssemblyEnd after the last value is set",
               reinterpret_cast<PetscObject>(pc)->type_name);
    PetscCall(MatGetSize(pc->pmat, &rows, &columns));
    PetscCall(MatGetLocalSize(pc->pmat, &own_rows, &own_columns));
    PetscCall(on_all_ranks(reinterpret_cast<PetscObject>(pc), own_rows == own_columns, &is_alike));
    PetscCheck(
        is_alike, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_SIZ,
        "%s needs a square matrix whose rows and columns are shared out alike among the ranks, and this has %" PetscInt_FMT
        " rows and %" PetscInt_FMT " columns",
        reinterpret_cast<PetscObject>(pc)->type_name, rows, columns);
    PetscFunctionReturn(0);
}

PetscErrorCode setup(PC pc) {
    PetscMPIInt ranks;
    Application* application = application_of(pc);
    PetscFunctionBegin;
    application->forget();
    PetscCall(check_matrix(pc));
    if (has_factors(application->kind)) PetscCall(make_within_blocks(pc));
    if (application->made) PetscFunctionReturn(0);
    PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &ranks));
    if (application->kind == PreconditionerKind::jacobi)
        PetscCall(make_jacobi(pc));
    else
        PetscCall(ranks == 1 ? make_here(pc) : make_over_ranks(pc));
    PetscFunctionReturn(0);
}

PetscErrorCode apply(PC pc, Vec r, Vec z) {
    Place place;
    solver::cuda::DevicePreconditioner<double>* there = nullptr;
    PetscFunctionBegin;
    PetscCall(place_of({r, z}, &place));
    if (place.on_device()) PetscCallCXX(there = application_of(pc)->on_device(place.device));
    if (there) {
        const Elements pr(r, place);
        const MutableElements pz(z, place);
        PetscCallCXX(there->apply(reals(pr.data()), reals(pz.data()), settings().accuracy, place.stream));
        PetscFunctionReturn(0);
    }
    const Elements pr(r);
    const MutableElements pz(z);
    PetscCallCXX(application_of(pc)->made->apply(pr, pz, settings().accuracy));
    PetscFunctionReturn(0);
}

/// To those who ask by -info or -pc_view, and where programs want errors, in one.
PetscErrorCode tell_outcome(PC pc) {
    const Outcome& outcome = last_outcome(*application_of(pc));
    bool is_solved = outcome.is_solved;
    PetscFunctionBegin;
    PetscCall(PetscInfo(pc, "samebits_auto: %s\n", outcome.words.c_str()));
    PetscCall(on_all_ranks(reinterpret_cast<PetscObject>(pc), is_solved, &is_solved));
    PetscCheck(is_solved || !pc->erroriffailure, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_NOT_CONVERGED,
               "samebits_auto: %s", outcome.words.c_str());
    pc->failedreason = is_solved ? PC_NOERROR : PC_SUBPC_ERROR;  // PETSc's methods then end with KSP_DIVERGED_PC_FAILED
    PetscFunctionReturn(0);
}

/// A guarantee is one of A^-1 r, r as it is.
PetscErrorCode solve(PC pc, Vec r, Vec z) {
    Application& application = *application_of(pc);
    Vec compatible = nullptr;
    PetscFunctionBegin;
    application.left_out = 0;
    if (application.solve.guarantee == solver::Guarantee::none)
        PetscCall(compatible_part_of(pc, r, application.solve.tolerance, &compatible, &application.left_out));
    PetscCall(apply(pc, compatible ? compatible : r, z));
    PetscCall(VecDestroy(&compatible));
    PetscCall(tell_outcome(pc));
    PetscFunctionReturn(0);
}

/// Column by column; one that has failed is told of all.
PetscErrorCode apply_to_columns(PC pc, Mat r, Mat z) {
    PetscInt columns;
    PCFailedReason reason = PC_NOERROR;
    PetscFunctionBegin;
    PetscCall(MatGetSize(r, nullptr, &columns));
    for (PetscInt j = 0; j < columns; ++j) {
        Vec from, to;
        PetscCall(MatDenseGetColumnVecRead(r, j, &from));
        PetscCall(MatDenseGetColumnVecWrite(z, j, &to));
        PetscCall(pc->ops->apply(pc, from, to));
        if (pc->failedreason != PC_NOERROR) reason = pc->failedreason;
        PetscCall(MatDenseRestoreColumnVecWrite(z, j, &to));
        PetscCall(MatDenseRestoreColumnVecRead(r, j, &from));
    }
    pc->failedreason = reason;
    PetscFunctionReturn(0);
}

PetscErrorCode view_solve(const Application& application, PetscViewer viewer) {
    const Outcome& outcome = last_outcome(application);
    PetscFunctionBegin;
    PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: solves to %g ||r||, by a preconditioner of its own choice\n",
                                     application.solve.tolerance));
    if (application.solve.guarantee != solver::Guarantee::none)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: guarantee %s\n",
                                         std::string(to_string(application.solve.guarantee)).c_str()));
    if (!outcome.words.empty())
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: the last application: %s\n", outcome.words.c_str()));
    if (application.left_out > 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: without %.1e ||r|| in the null space, which A cannot reach\n",
                                         static_cast<double>(application.left_out)));
    PetscFunctionReturn(0);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
    PetscBool ascii;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
    const Application& application = *application_of(pc);
    if (!ascii || !application.made) PetscFunctionReturn(0);
    if (!application.kind) {
        PetscCall(view_solve(application, viewer));
        PetscFunctionReturn(0);
    }
    const auto entries = static_cast<long long>(application.made->factor_entries());
    if (const std::uint64_t hash = application.made->factor_hash(); hash == 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: %lld entries in the factors\n", entries));
    else
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: %lld entries in the factors, hash %016llx\n", entries,
                                         static_cast<unsigned long long>(hash)));
    for (const solver::LevelSummary& level : application.made->levels())
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: level of %lld rows, %lld nonzeros, %d unknowns a node\n",
                                         static_cast<long long>(level.rows), static_cast<long long>(level.nonzeros),
                                         level.unknowns_per_node));
    PetscFunctionReturn(0);
}

PetscErrorCode take_options_of_solve(PC pc, OptionItems PetscOptionsObject) {
    PetscReal& tolerance = application_of(pc)->solve.tolerance;
    char guarantee[16] = "none";
    PetscBool given = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscOptionsReal("-pc_samebits_tolerance", "on ||r - A z|| / ||r|| of each application", "PCSAMEBITSAUTO",
                               tolerance, &tolerance, nullptr));
    PetscCheck(tolerance > 0 && tolerance < 1, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_samebits_tolerance is %g; it takes a number above 0 and below 1", static_cast<double>(tolerance));
    PetscCall(PetscOptionsString("-pc_samebits_guarantee", "what is to be proven of each application: none, bound or rounded",
                                 "PCSAMEBITSAUTO", guarantee, guarantee, sizeof guarantee, &given));
    if (given) PetscCallCXX(application_of(pc)->solve.guarantee = solver::guarantee_from_text(guarantee));
    PetscFunctionReturn(0);
}

PetscErrorCode take_gathered_rows(PC pc, OptionItems PetscOptionsObject) {
    PetscInt& rows = application_of(pc)->gathered_rows;
    PetscFunctionBegin;
    PetscCall(PetscOptionsInt("-pc_samebits_gathered_rows", "levels of at most so many rows are kept by every rank",
                              "PCSAMEBITSAMG", rows, &rows, nullptr));
    PetscCheck(rows >= 0, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_samebits_gathered_rows is %" PetscInt_FMT "; it takes a number of rows, 0 or more", rows);
    PetscFunctionReturn(0);
}

PetscErrorCode take_block_size(PC pc, OptionItems PetscOptionsObject) {
    PetscInt& size = application_of(pc)->block_size;
    PetscBool given;
    PetscFunctionBegin;
    PetscCall(PetscOptionsInt("-pc_samebits_block_size", "so many successive rows are a block, factored as if it stood alone",
                              "PCSAMEBITS", size, &size, &given));
    PetscCheck(!given || size >= 1, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_samebits_block_size is %" PetscInt_FMT "; it takes a number of rows, 1 or more", size);
    PetscFunctionReturn(0);
}

PetscErrorCode set_from_options(PC pc, OptionItems PetscOptionsObject) {
    const auto& kind = application_of(pc)->kind;
    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "samebits");
    if (!kind) PetscCall(take_options_of_solve(pc, PetscOptionsObject));
    if (has_factors(kind))
        PetscCall(take_block_size(pc, PetscOptionsObject));
    else
        PetscCall(take_gathered_rows(pc, PetscOptionsObject));
    PetscOptionsHeadEnd();
    PetscFunctionReturn(0);
}

PetscErrorCode reset(PC pc) {
    PetscFunctionBegin;
    application_of(pc)->forget();
    PetscFunctionReturn(0);
}

PetscErrorCode destroy(PC pc) {
    PetscFunctionBegin;
    delete application_of(pc);
    pc->data = nullptr;
    PetscFunctionReturn(0);
}

PetscErrorCode create_with(PC pc, std::optional<PreconditionerKind> kind) {
    PetscFunctionBegin;
    auto* application = new (std::nothrow) Application{.kind = kind};
    PetscCheck(application, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a preconditioner");
    pc->data = application;
    pc->ops->setup = setup;
    pc->ops->setfromoptions = set_from_options;
    pc->ops->apply = apply;
    pc->ops->matapply = apply_to_columns;
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    PetscFunctionReturn(0);
}

template <PreconditionerKind kind>
PetscErrorCode create(PC pc) {
    return create_with(pc, kind);
}

/// A diagonal is its own transpose, and has no options.
PetscErrorCode create_jacobi(PC pc) {
    PetscFunctionBegin;
    PetscCall(create<PreconditionerKind::jacobi>(pc));
    pc->ops->setfromoptions = nullptr;
    pc->ops->applytranspose = apply;
    PetscFunctionReturn(0);
}

PetscErrorCode create_automatic(PC pc) {
    PetscFunctionBegin;
    PetscCall(create_with(pc, std::nullopt));
    pc->ops->apply = solve;
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode register_preconditioners() {
    PetscFunctionBegin;
    PetscCall(PCRegister("samebits_jacobi", create_jacobi));
    PetscCall(PCRegister("samebits_ilu0", create<PreconditionerKind::ilu0>));
    PetscCall(PCRegister("samebits_ilut", create<PreconditionerKind::ilut>));
    PetscCall(PCRegister("samebits_klu", create<PreconditionerKind::klu>));
    PetscCall(PCRegister("samebits_amg", create<PreconditionerKind::amg>));
    PetscCall(PCRegister("samebits_auto", create_automatic));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
