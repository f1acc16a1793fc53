#include "vector.hpp"

#include "elements.hpp"
#include "elementwise.hpp"
#include "reductions.hpp"

#include <petsc/private/vecimpl.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

namespace petscsolver {
namespace {

using Span = std::span<const double>;

PetscErrorCode (*create_seq)(Vec) = nullptr;  // PETSc's own
PetscErrorCode (*create_mpi)(Vec) = nullptr;
PetscErrorCode (*duplicate_seq)(Vec, Vec*) = nullptr;
PetscErrorCode (*duplicate_mpi)(Vec, Vec*) = nullptr;
PetscErrorCode (*norm_of_parent)(Vec, NormType, PetscReal*) = nullptr;
PetscErrorCode (*norm_local_of_parent)(Vec, NormType, PetscReal*) = nullptr;

MPI_Comm comm_of(Vec x) { return PetscObjectComm(reinterpret_cast<PetscObject>(x)); }

PetscErrorCode dot(Vec x, Vec y, PetscScalar* result) {
    PetscFunctionBegin;
    const Elements px(x), py(y);
    const Span other = py;
    PetscCall(reduce_dots(comm_of(x), px, {&other, 1}, Rounding::sum, result));
    PetscCall(PetscLogFlops(2.0 * px.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode dots(Vec x, PetscInt count, const Vec y[], PetscScalar* results) {
    std::vector<std::unique_ptr<Elements>> ys;
    std::vector<Span> spans;
    PetscFunctionBegin;
    const Elements px(x);
    for (PetscInt j = 0; j < count; ++j) spans.push_back(*ys.emplace_back(std::make_unique<Elements>(y[j])));
    PetscCall(reduce_dots(comm_of(x), px, spans, Rounding::sum, results));
    PetscCall(PetscLogFlops(2.0 * count * px.size()));
    PetscFunctionReturn(0);
}

/// s t and t t at once
PetscErrorCode dot_and_norm2(Vec s, Vec t, PetscScalar* dot, PetscScalar* squares) {
    double results[2];
    PetscFunctionBegin;
    const Elements ps(s), pt(t);
    const Span both[] = {ps, pt};
    PetscCall(reduce_dots(comm_of(t), pt, both, Rounding::sum, results));
    *dot = results[0];
    *squares = results[1];
    PetscCall(PetscLogFlops(4.0 * pt.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode norm_1(Vec x, PetscReal* result) {
    PetscFunctionBegin;
    const Elements px(x);
    std::vector<double> magnitudes(px.data(), px.data() + px.size());
    for (double& magnitude : magnitudes) magnitude = std::abs(magnitude);
    PetscCall(reduce_sum(comm_of(x), magnitudes, result));
    PetscFunctionReturn(0);
}

PetscErrorCode norm_2(Vec x, PetscReal* result) {
    PetscFunctionBegin;
    const Elements px(x);
    const Span itself = px;
    PetscCall(reduce_dots(comm_of(x), px, {&itself, 1}, Rounding::square_root, result));
    PetscCall(PetscLogFlops(2.0 * px.size()));
    PetscFunctionReturn(0);
}

/// A maximum is not rounded: that is left to PETSc.
template <PetscErrorCode (**parent)(Vec, NormType, PetscReal*)>
PetscErrorCode norm(Vec x, NormType type, PetscReal* result) {
    PetscFunctionBegin;
    switch (type) {
        case NORM_1:
            PetscCall(norm_1(x, result));
            break;
        case NORM_2:
        case NORM_FROBENIUS:
            PetscCall(norm_2(x, result));
            break;
        case NORM_1_AND_2:
            PetscCall(norm_1(x, result));
            PetscCall(norm_2(x, result + 1));
            break;
        default:
            PetscCall((*parent)(x, type, result));
    }
    PetscFunctionReturn(0);
}

/// What VecDotBegin/End and their kin add up over the ranks: the whole on the first rank and +0 on the others, so that any
/// order of additions is exact. Collective, unlike PETSc's own, as the pairs of Begin and End are, and nothing overlaps.
PetscErrorCode keep_on_first_rank(Vec x, PetscInt count, PetscScalar* results) {
    PetscMPIInt rank;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(comm_of(x), &rank));
    if (rank != 0) std::fill(results, results + count, 0.0);
    PetscFunctionReturn(0);
}

PetscErrorCode dot_local(Vec x, Vec y, PetscScalar* result) {
    PetscFunctionBegin;
    PetscCall(dot(x, y, result));
    PetscCall(keep_on_first_rank(x, 1, result));
    PetscFunctionReturn(0);
}

PetscErrorCode dots_local(Vec x, PetscInt count, const Vec y[], PetscScalar* results) {
    PetscFunctionBegin;
    PetscCall(dots(x, count, y, results));
    PetscCall(keep_on_first_rank(x, count, results));
    PetscFunctionReturn(0);
}

/// VecNormEnd takes the root of a sum of squares: sqrt(RN(x^2)) = x for every x whose square is in the range.
PetscErrorCode norm_local(Vec x, NormType type, PetscReal* result) {
    PetscFunctionBegin;
    PetscCall(norm<&norm_local_of_parent>(x, type, result));
    if (type != NORM_INFINITY) PetscCall(keep_on_first_rank(x, type == NORM_1_AND_2 ? 2 : 1, result));
    PetscFunctionReturn(0);
}

/// VecSum adds these up.
PetscErrorCode sum(Vec x, PetscScalar* result) {
    PetscFunctionBegin;
    PetscCall(reduce_sum(comm_of(x), Elements(x), result));
    PetscCall(keep_on_first_rank(x, 1, result));
    PetscFunctionReturn(0);
}

PetscErrorCode scale(Vec x, PetscScalar a) {
    PetscFunctionBegin;
    const MutableElements px(x);
    elementwise::scale(px.size(), a, px.data());
    PetscCall(PetscLogFlops(1.0 * px.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode axpy(Vec y, PetscScalar a, Vec x) {
    PetscFunctionBegin;
    const Elements px(x);
    const MutableElements py(y);
    elementwise::axpy(py.size(), a, px.data(), py.data());
    PetscCall(PetscLogFlops(2.0 * py.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode aypx(Vec y, PetscScalar b, Vec x) {
    PetscFunctionBegin;
    const Elements px(x);
    const MutableElements py(y);
    elementwise::aypx(py.size(), b, px.data(), py.data());
    PetscCall(PetscLogFlops(2.0 * py.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode axpby(Vec y, PetscScalar a, PetscScalar b, Vec x) {
    PetscFunctionBegin;
    const Elements px(x);
    const MutableElements py(y);
    elementwise::axpby(py.size(), a, b, px.data(), py.data());
    PetscCall(PetscLogFlops(3.0 * py.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode waxpy(Vec w, PetscScalar a, Vec x, Vec y) {
    PetscFunctionBegin;
    const Elements px(x), py(y);
    const MutableElements pw(w);
    elementwise::waxpy(pw.size(), a, px.data(), py.data(), pw.data());
    PetscCall(PetscLogFlops(2.0 * pw.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode axpbypcz(Vec z, PetscScalar a, PetscScalar b, PetscScalar c, Vec x, Vec y) {
    PetscFunctionBegin;
    const Elements px(x), py(y);
    const MutableElements pz(z);
    elementwise::axpbypcz(pz.size(), a, b, c, px.data(), py.data(), pz.data());
    PetscCall(PetscLogFlops(5.0 * pz.size()));
    PetscFunctionReturn(0);
}

/// y = ((y + a_0 x_0) + a_1 x_1) + ..., piece by piece, so that y stays in the nearest cache.
PetscErrorCode maxpy(Vec y, PetscInt count, const PetscScalar* a, Vec* x) {
    constexpr PetscInt piece = 1024;
    std::vector<std::unique_ptr<Elements>> xs;
    PetscFunctionBegin;
    for (PetscInt j = 0; j < count; ++j) xs.push_back(std::make_unique<Elements>(x[j]));
    const MutableElements py(y);
    for (PetscInt begin = 0; begin < py.size(); begin += piece)
        for (PetscInt j = 0; j < count; ++j)
            elementwise::axpy(std::min(piece, py.size() - begin), a[j], xs[j]->data() + begin, py.data() + begin);
    PetscCall(PetscLogFlops(2.0 * count * py.size()));
    PetscFunctionReturn(0);
}

void take_operations(Vec v) {
    VecOps ops = v->ops;
    ops->dot = ops->tdot = dot;
    ops->mdot = ops->mtdot = dots;
    ops->dot_local = ops->tdot_local = dot_local;
    ops->mdot_local = ops->mtdot_local = dots_local;
    ops->norm = norm<&norm_of_parent>;
    ops->norm_local = norm_local;
    ops->dotnorm2 = dot_and_norm2;
    ops->sum = sum;
    ops->scale = scale;
    ops->axpy = axpy;
    ops->aypx = aypx;
    ops->axpby = axpby;
    ops->waxpy = waxpy;
    ops->axpbypcz = axpbypcz;
    ops->maxpy = maxpy;
}

PetscErrorCode rename(Vec v, const char* name) {
    PetscFunctionBegin;
    PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(v), name));
    PetscFunctionReturn(0);
}

PetscErrorCode create_seq_anew(Vec v) {
    PetscFunctionBegin;
    PetscCall(create_seq(v));
    take_operations(v);
    PetscFunctionReturn(0);
}

PetscErrorCode create_mpi_anew(Vec v) {
    PetscFunctionBegin;
    PetscCall(create_mpi(v));
    take_operations(v);
    PetscFunctionReturn(0);
}

/// PETSc's copies take the operations along, but not the name.
PetscErrorCode duplicate_seq_named(Vec v, Vec* copy) {
    PetscFunctionBegin;
    PetscCall(duplicate_seq(v, copy));
    PetscCall(rename(*copy, VECSEQSAMEBITS));
    PetscFunctionReturn(0);
}

PetscErrorCode duplicate_mpi_named(Vec v, Vec* copy) {
    PetscFunctionBegin;
    PetscCall(duplicate_mpi(v, copy));
    PetscCall(rename(*copy, VECMPISAMEBITS));
    PetscFunctionReturn(0);
}

PetscErrorCode create_seq_named(Vec v) {
    PetscFunctionBegin;
    PetscCall(create_seq_anew(v));
    v->ops->duplicate = duplicate_seq_named;
    PetscCall(rename(v, VECSEQSAMEBITS));
    PetscFunctionReturn(0);
}

PetscErrorCode create_mpi_named(Vec v) {
    PetscFunctionBegin;
    PetscCall(create_mpi_anew(v));
    v->ops->duplicate = duplicate_mpi_named;
    PetscCall(rename(v, VECMPISAMEBITS));
    PetscFunctionReturn(0);
}

PetscErrorCode create_for_ranks(Vec v) {
    PetscMPIInt ranks;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm_of(v), &ranks));
    PetscCall(VecSetType(v, ranks == 1 ? VECSEQSAMEBITS : VECMPISAMEBITS));
    PetscFunctionReturn(0);
}

/// What PETSc's own types do, looked up in a vector without elements.
PetscErrorCode look_at_parents() {
    Vec v;
    PetscFunctionBegin;
    PetscCall(PetscFunctionListFind(VecList, VECSEQ, &create_seq));
    PetscCall(PetscFunctionListFind(VecList, VECMPI, &create_mpi));
    PetscCheck(create_seq && create_mpi, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc has no Vec types seq and mpi to build upon");
    PetscCall(VecCreate(PETSC_COMM_SELF, &v));
    PetscCall(VecSetSizes(v, 0, 0));
    PetscCall(VecSetType(v, VECMPI));
    norm_of_parent = v->ops->norm;
    norm_local_of_parent = v->ops->norm_local;
    duplicate_mpi = v->ops->duplicate;
    PetscCall(VecSetType(v, VECSEQ));
    duplicate_seq = v->ops->duplicate;
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode register_vectors(bool everywhere) {
    PetscFunctionBegin;
    PetscCall(VecInitializePackage());
    PetscCall(look_at_parents());
    PetscCall(VecRegister(VECSEQSAMEBITS, create_seq_named));
    PetscCall(VecRegister(VECMPISAMEBITS, create_mpi_named));
    PetscCall(VecRegister(VECSAMEBITS, create_for_ranks));
    if (everywhere) {
        PetscCall(VecRegister(VECSEQ, create_seq_anew));
        PetscCall(VecRegister(VECMPI, create_mpi_anew));
    }
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
