#include "preconditioner.hpp"

#include "elements.hpp"
#include "rank_product.hpp"
#include "settings.hpp"
#include "solver/preconditioner.hpp"

#include <petsc/private/pcimpl.h>

#include <new>

namespace petscsolver {
namespace {

using solver::PreconditionerKind;

struct Factors {
    PreconditionerKind kind;
    std::unique_ptr<solver::Preconditioner<double>> preconditioner;
};

Factors* factors_of(PC pc) { return static_cast<Factors*>(pc->data); }

solver::CsrMatrix<double> copy_of(const RankBlocks::Block& block) {
    solver::CsrMatrix<double> a;
    const PetscInt entries = block.offsets[block.rows];
    a.rows = block.rows;
    a.columns = block.columns;
    a.row_offsets.assign(block.offsets, block.offsets + block.rows + 1);
    for (PetscInt k = 0; k < entries; ++k) a.column_indices.push_back(short_index(block.indices[k]));
    a.values.assign(block.values, block.values + entries);
    return a;
}

PetscErrorCode setup(PC pc) {
    PetscMPIInt ranks;
    PetscBool is_aij;
    RankBlocks blocks;
    Factors* factors = factors_of(pc);
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &ranks));
    PetscCheck(ranks == 1, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
               "%s factors the matrix of one rank, and there are %d; use -pc_type redundant -redundant_pc_type %s, which gives "
               "every rank the whole matrix",
               reinterpret_cast<PetscObject>(pc)->type_name, ranks, reinterpret_cast<PetscObject>(pc)->type_name);
    PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(pc->pmat), MATSEQAIJ, &is_aij));
    PetscCheck(is_aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s needs a matrix of a type that begins with seqaij, and this is %s",
               reinterpret_cast<PetscObject>(pc)->type_name, reinterpret_cast<PetscObject>(pc->pmat)->type_name);
    PetscCall(RankBlocks::of(pc->pmat, &blocks));
    PetscCallCXX(factors->preconditioner = solver::make_preconditioner<double>(factors->kind, copy_of(blocks.own).view(),
                                                                               settings().accuracy, solver::Device::cpu(1)));
    PetscFunctionReturn(0);
}

PetscErrorCode apply(PC pc, Vec r, Vec z) {
    PetscFunctionBegin;
    const Elements pr(r);
    const MutableElements pz(z);
    const std::span<double> result(pz.data(), static_cast<std::size_t>(pz.size()));
    PetscCallCXX(factors_of(pc)->preconditioner->apply(pr, result, settings().accuracy));
    PetscFunctionReturn(0);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
    PetscBool ascii;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
    if (ascii && factors_of(pc)->preconditioner)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: %lld entries in the factors, hash %016llx\n",
                                         static_cast<long long>(factors_of(pc)->preconditioner->factor_entries()),
                                         static_cast<unsigned long long>(factors_of(pc)->preconditioner->factor_hash())));
    PetscFunctionReturn(0);
}

PetscErrorCode reset(PC pc) {
    PetscFunctionBegin;
    factors_of(pc)->preconditioner.reset();
    PetscFunctionReturn(0);
}

PetscErrorCode destroy(PC pc) {
    PetscFunctionBegin;
    delete factors_of(pc);
    pc->data = nullptr;
    PetscFunctionReturn(0);
}

template <PreconditionerKind kind>
PetscErrorCode create(PC pc) {
    PetscFunctionBegin;
    auto* factors = new (std::nothrow) Factors{kind, nullptr};
    PetscCheck(factors, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a preconditioner");
    pc->data = factors;
    pc->ops->setup = setup;
    pc->ops->apply = apply;
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode register_preconditioners() {
    PetscFunctionBegin;
    PetscCall(PCRegister("samebits_ilu0", create<PreconditionerKind::ilu0>));
    PetscCall(PCRegister("samebits_ilut", create<PreconditionerKind::ilut>));
    PetscCall(PCRegister("samebits_klu", create<PreconditionerKind::klu>));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
