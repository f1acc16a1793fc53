#include "vector.hpp"

#include "apply.hpp"
#include "elements.hpp"
#include "numbers.hpp"
#include "reductions.hpp"
#include "solver/reduce.hpp"

#include <petsc/private/vecimpl.h>

#include <algorithm>
#include <cmath>
#include <complex>
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

/// Which product of two vectors: y^H x, which is VecDot's, or y^T x. They differ for complex numbers.
enum class Product { hermitian, transposed };

/// The parts of complex numbers changed places, the second one times a sign.
std::vector<double> exchanged(Span x, double sign) {
    std::vector<double> result(x.size());
    for (std::size_t i = 0; i < x.size(); i += 2) {
        result[i] = x[i + 1];
        result[i + 1] = sign * x[i];
    }
    return result;
}

std::vector<double> conjugates(Span x) {
    std::vector<double> result(x.begin(), x.end());
    for (std::size_t i = 1; i < x.size(); i += 2) result[i] = -result[i];
    return result;
}

/// Of x with every y. The parts of a complex product are real dot products of x or conj x, and of -i x or i conj x, with y.
template <Product product, class Scalar>
PetscErrorCode reduce_products(MPI_Comm comm, const Place& place, Span x, std::span<const Span> ys, Scalar* results) {
    PetscFunctionBegin;
    if constexpr (solver::is_complex<Scalar>) {
        constexpr bool hermitian = product == Product::hermitian;
        const std::vector<double> conjugated = hermitian ? std::vector<double>() : conjugates(x);
        const std::vector<double> turned = exchanged(x, hermitian ? -1 : 1);
        const Span xs[] = {hermitian ? x : conjugated, turned};
        std::vector<double> parts(2 * ys.size());
        PetscCall(reduce_dots(comm, place, xs, ys, Rounding::sum, parts.data()));
        for (std::size_t j = 0; j < ys.size(); ++j) results[j] = {parts[j], parts[ys.size() + j]};
    } else {
        PetscCall(reduce_dots(comm, place, {&x, 1}, ys, Rounding::sum, results));
    }
    PetscFunctionReturn(0);
}

/// sum |x_i|^2, or its root
PetscErrorCode reduce_squares(Vec x, Rounding rounding, double* result) {
    Place place;
    PetscFunctionBegin;
    PetscCall(place_of({x}, &place));
    const Elements px(x, place);
    const Span itself = px;
    PetscCall(reduce_dots(comm_of(x), place, {&itself, 1}, {&itself, 1}, rounding, result));
    PetscCall(PetscLogFlops(2.0 * px.size()));
    PetscFunctionReturn(0);
}

template <Product product>
PetscErrorCode dot(Vec x, Vec y, PetscScalar* result) {
    double squares;
    Place place;
    PetscFunctionBegin;
    if (x == y && product == Product::hermitian) {  // real
        PetscCall(reduce_squares(x, Rounding::sum, &squares));
        *result = squares;
        PetscFunctionReturn(0);
    }
    PetscCall(place_of({x, y}, &place));
    const Elements px(x, place), py(y, place);
    const Span other = py;
    PetscCall(reduce_products<product>(comm_of(x), place, px, {&other, 1}, result));
    PetscCall(PetscLogFlops(2.0 * px.size()));
    PetscFunctionReturn(0);
}

template <Product product>
PetscErrorCode dots(Vec x, PetscInt count, const Vec y[], PetscScalar* results) {
    std::vector<std::unique_ptr<Elements>> ys;
    std::vector<Span> spans;
    Place place;
    PetscFunctionBegin;
    PetscCall(place_of(x, count, y, &place));
    const Elements px(x, place);
    for (PetscInt j = 0; j < count; ++j) spans.push_back(*ys.emplace_back(std::make_unique<Elements>(y[j], place)));
    PetscCall(reduce_products<product>(comm_of(x), place, px, spans, results));
    PetscCall(PetscLogFlops(2.0 * count * px.size()));
    PetscFunctionReturn(0);
}

/// t^H s and t^H t: of real numbers at once
PetscErrorCode dot_and_norm2(Vec s, Vec t, PetscScalar* product, PetscScalar* squares) {
    Place place;
    PetscFunctionBegin;
    if constexpr (numbers_are_complex) {
        PetscCall(dot<Product::hermitian>(s, t, product));
        PetscCall(dot<Product::hermitian>(t, t, squares));
        PetscFunctionReturn(0);
    }
    PetscScalar results[2];
    PetscCall(place_of({s, t}, &place));
    const Elements ps(s, place), pt(t, place);
    const Span both[] = {ps, pt};
    PetscCall(reduce_products<Product::transposed>(comm_of(t), place, pt, both, results));
    *product = results[0];
    *squares = results[1];
    PetscCall(PetscLogFlops(4.0 * pt.size()));
    PetscFunctionReturn(0);
}

/// |x_i|, rounded once
template <class Scalar>
double modulus(const Scalar& x) {
    if constexpr (solver::is_complex<Scalar>)
        return solver::norm2(solver::real_view(std::span<const Scalar>(&x, 1)), solver::Accuracy::exact,
                             solver::Device::cpu(1));
    else
        return std::abs(x);
}

PetscErrorCode norm_1(Vec x, PetscReal* result) {
    PetscFunctionBegin;
    const Elements px(x);
    std::vector<double> moduli;
    for (PetscInt i = 0; i < px.size(); ++i) moduli.push_back(modulus(px.data()[i]));
    PetscCall(reduce_sum(comm_of(x), moduli, result));
    PetscFunctionReturn(0);
}

PetscErrorCode norm_2(Vec x, PetscReal* result) {
    PetscFunctionBegin;
    PetscCall(reduce_squares(x, Rounding::square_root, result));
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
template <class Result>
PetscErrorCode keep_on_first_rank(Vec x, PetscInt count, Result* results) {
    PetscMPIInt rank;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(comm_of(x), &rank));
    if (rank != 0) std::fill(results, results + count, Result(0));
    PetscFunctionReturn(0);
}

template <Product product>
PetscErrorCode dot_local(Vec x, Vec y, PetscScalar* result) {
    PetscFunctionBegin;
    PetscCall(dot<product>(x, y, result));
    PetscCall(keep_on_first_rank(x, 1, result));
    PetscFunctionReturn(0);
}

template <Product product>
PetscErrorCode dots_local(Vec x, PetscInt count, const Vec y[], PetscScalar* results) {
    PetscFunctionBegin;
    PetscCall(dots<product>(x, count, y, results));
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

/// Real and imaginary parts apart.
template <class Scalar>
PetscErrorCode reduce_sum_of(MPI_Comm comm, Span x, Scalar* result) {
    PetscFunctionBegin;
    if constexpr (solver::is_complex<Scalar>) {
        for (const std::size_t first : {0, 1}) {
            std::vector<double> parts;
            for (std::size_t i = first; i < x.size(); i += 2) parts.push_back(x[i]);
            PetscCall(reduce_sum(comm, parts, reals(result) + first));
        }
    } else {
        PetscCall(reduce_sum(comm, x, result));
    }
    PetscFunctionReturn(0);
}

/// VecSum adds these up.
PetscErrorCode sum(Vec x, PetscScalar* result) {
    PetscFunctionBegin;
    PetscCall(reduce_sum_of(comm_of(x), Elements(x), result));
    PetscCall(keep_on_first_rank(x, 1, result));
    PetscFunctionReturn(0);
}

/// Updates y by make_update(the addresses of the others' elements..., of y's), in so many operations an element.
template <class MakeUpdate, class... Vectors>
PetscErrorCode update(Vec y, double operations, const MakeUpdate& make_update, Vectors... others) {
    Place place;
    PetscFunctionBegin;
    PetscCall(place_of({others..., y}, &place));
    const MutableElements py(y, place);
    PetscCallCXX(apply(place, py.size(), make_update(Elements(others, place).data()..., py.data())));
    PetscCall(PetscLogFlops(operations * py.size()));
    PetscFunctionReturn(0);
}

PetscErrorCode scale(Vec x, PetscScalar a) {
    return update(x, 1, [a](auto* px) { return Scale{a, px}; });
}

PetscErrorCode axpy(Vec y, PetscScalar a, Vec x) {
    return update(
        y, 2,
        [a](auto* px, auto* py) {
            return Axpy{a, px, py};
        },
        x);
}

PetscErrorCode aypx(Vec y, PetscScalar b, Vec x) {
    return update(
        y, 2,
        [b](auto* px, auto* py) {
            return Aypx{b, px, py};
        },
        x);
}

PetscErrorCode axpby(Vec y, PetscScalar a, PetscScalar b, Vec x) {
    return update(
        y, 3,
        [a, b](auto* px, auto* py) {
            return Axpby{a, b, px, py};
        },
        x);
}

PetscErrorCode waxpy(Vec w, PetscScalar a, Vec x, Vec y) {
    return update(
        w, 2,
        [a](auto* px, auto* py, auto* pw) {
            return Waxpy{a, px, py, pw};
        },
        x, y);
}

PetscErrorCode axpbypcz(Vec z, PetscScalar a, PetscScalar b, PetscScalar c, Vec x, Vec y) {
    return update(
        z, 5, [a, b, c](auto* px, auto* py, auto* pz) { return Axpbypcz{a, b, c, px, py, pz}; }, x, y);
}

using ManyElements = std::vector<std::unique_ptr<Elements>>;

/// Piece by piece, so that y stays in the nearest cache.
void add_here(PetscInt n, const PetscScalar* a, const ManyElements& x, Number* y) {
    constexpr PetscInt piece = 1024;
    for (PetscInt begin = 0; begin < n; begin += piece)
        for (std::size_t j = 0; j < x.size(); ++j)
            apply(Place(), std::min(piece, n - begin), Axpy{a[j], x[j]->data() + begin, y + begin});
}

/// As many at a time as one kernel takes.
void add_on_device(const Place& place, PetscInt n, const PetscScalar* a, const ManyElements& x, Number* y) {
    for (std::size_t first = 0; first < x.size(); first += Maxpy::most) {
        Maxpy some{.count = static_cast<int>(std::min<std::size_t>(x.size() - first, Maxpy::most)), .a = {}, .x = {}, .y = y};
        for (int j = 0; j < some.count; ++j) {
            some.a[j] = a[first + static_cast<std::size_t>(j)];
            some.x[j] = x[first + static_cast<std::size_t>(j)]->data();
        }
        apply(place, n, some);
    }
}

/// y = ((y + a_0 x_0) + a_1 x_1) + ...
PetscErrorCode maxpy(Vec y, PetscInt count, const PetscScalar* a, Vec* x) {
    ManyElements xs;
    Place place;
    PetscFunctionBegin;
    PetscCall(place_of(y, count, x, &place));
    for (PetscInt j = 0; j < count; ++j) xs.push_back(std::make_unique<Elements>(x[j], place));
    const MutableElements py(y, place);
    if (place.on_device())
        PetscCallCXX(add_on_device(place, py.size(), a, xs, py.data()));
    else
        add_here(py.size(), a, xs, py.data());
    PetscCall(PetscLogFlops(2.0 * count * py.size()));
    PetscFunctionReturn(0);
}

void take_operations(Vec v) {
    VecOps ops = v->ops;
    ops->dot = dot<Product::hermitian>;
    ops->tdot = dot<Product::transposed>;
    ops->mdot = dots<Product::hermitian>;
    ops->mtdot = dots<Product::transposed>;
    ops->dot_local = dot_local<Product::hermitian>;
    ops->tdot_local = dot_local<Product::transposed>;
    ops->mdot_local = dots_local<Product::hermitian>;
    ops->mtdot_local = dots_local<Product::transposed>;
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

// On a device. These vectors keep the names of PETSc's own types, seqcuda and mpicuda, by which PETSc knows where elements
// lie; their copies take the operations along.

PetscErrorCode (*create_seqcuda)(Vec) = nullptr;  // PETSc's own
PetscErrorCode (*create_mpicuda)(Vec) = nullptr;
PetscErrorCode (*bind_seqcuda)(Vec, PetscBool) = nullptr;
PetscErrorCode (*bind_mpicuda)(Vec, PetscBool) = nullptr;

void take_device_operations(Vec v);

/// PETSc chooses its operations anew, for the processor or for the device.
PetscErrorCode bind_to_cpu(Vec v, PetscBool to_cpu) {
    PetscBool sequential;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(v), VECSEQCUDA, &sequential));
    PetscCall((sequential ? bind_seqcuda : bind_mpicuda)(v, to_cpu));
    take_device_operations(v);
    PetscFunctionReturn(0);
}

void take_device_operations(Vec v) {
    take_operations(v);
    v->ops->bindtocpu = bind_to_cpu;
    v->ops->exp = nullptr;  // by the processor's functions, since a device's have other bits
    v->ops->log = nullptr;
}

PetscErrorCode create_on_device(Vec v, PetscErrorCode (*create)(Vec), PetscErrorCode (*&bind)(Vec, PetscBool)) {
    PetscFunctionBegin;
    PetscCall(create(v));
    bind = v->ops->bindtocpu;
    take_device_operations(v);
    PetscFunctionReturn(0);
}

PetscErrorCode create_seq_on_device(Vec v) { return create_on_device(v, create_seqcuda, bind_seqcuda); }
PetscErrorCode create_mpi_on_device(Vec v) { return create_on_device(v, create_mpicuda, bind_mpicuda); }

PetscErrorCode create_on_devices(Vec v) {
    PetscMPIInt ranks;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm_of(v), &ranks));
    PetscCall((ranks == 1 ? create_seq_on_device : create_mpi_on_device)(v));
    PetscFunctionReturn(0);
}

PetscErrorCode register_device_vectors(bool everywhere) {
    PetscFunctionBegin;
    PetscCall(PetscFunctionListFind(VecList, VECSEQCUDA, &create_seqcuda));
    PetscCall(PetscFunctionListFind(VecList, VECMPICUDA, &create_mpicuda));
    PetscCheck(create_seqcuda && create_mpicuda, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "PETSc has no Vec types seqcuda and mpicuda to build upon");
    PetscCall(VecRegister(VECSAMEBITSCUDA, create_on_devices));
    if (everywhere) {
        PetscCall(VecRegister(VECSEQCUDA, create_seq_on_device));
        PetscCall(VecRegister(VECMPICUDA, create_mpi_on_device));
    }
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
    if constexpr (has_device_types) PetscCall(register_device_vectors(everywhere));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
