// Every operation of the plugin's types against the library's on the whole vectors and matrices, to the last bit, on however
// many ranks this runs: some without rows, values from 1e-300 to 1e300, Inf and NaN among them. Prints what differs; exit
// status 1 then. With -on_device, by the types on CUDA devices. For real numbers and for complex ones, as PETSc has them.
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/preconditioner.hpp"
#include "support/adversarial.hpp"

#include <petsc/private/petscimpl.h>
#include <petscksp.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

namespace {

using solver::Accuracy;
using solver::testing::Random;
using Number = PetscScalar;
using Numbers = std::vector<Number>;
using Span = std::span<const Number>;
constexpr bool numbers_are_complex = solver::is_complex<Number>;

int failures = 0;
int comparisons = 0;
std::string matrix_type;
std::string vector_type;

void expect_same(const char* what, double found, double expected) {
    ++comparisons;
    if (solver::testing::same_bits(found, expected)) return;
    ++failures;
    PetscMPIInt rank;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    std::printf("%s, %s, rank %d: %a instead of %a\n", matrix_type.c_str(), what, rank, found, expected);
}

inline void expect_same(const char* what, std::complex<double> found, std::complex<double> expected) {
    expect_same(what, found.real(), expected.real());
    expect_same(what, found.imag(), expected.imag());
}

/// Sizes of the ranks' parts: any, also none.
PetscInt part_of(Random& random, PetscInt n) {
    PetscMPIInt rank, ranks;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    std::vector<PetscInt> cuts{0, n};
    while (static_cast<int>(cuts.size()) <= ranks) cuts.push_back(static_cast<PetscInt>(random.between(0, n)));
    std::sort(cuts.begin(), cuts.end());
    return cuts[static_cast<std::size_t>(rank) + 1] - cuts[static_cast<std::size_t>(rank)];
}

Vec spread(PetscInt part, const Numbers& all) {
    Vec x;
    PetscInt begin, end;
    PetscCallAbort(PETSC_COMM_WORLD, VecCreate(PETSC_COMM_WORLD, &x));
    PetscCallAbort(PETSC_COMM_WORLD, VecSetSizes(x, part, static_cast<PetscInt>(all.size())));
    PetscCallAbort(PETSC_COMM_WORLD, VecSetType(x, vector_type.c_str()));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetOwnershipRange(x, &begin, &end));
    PetscScalar* values;
    PetscCallAbort(PETSC_COMM_WORLD, VecGetArray(x, &values));
    std::copy(all.begin() + begin, all.begin() + end, values);
    PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArray(x, &values));
    return x;
}

void expect_vector(const char* what, Vec x, const Numbers& expected) {
    PetscInt begin, end;
    const PetscScalar* values;
    PetscCallAbort(PETSC_COMM_WORLD, VecGetOwnershipRange(x, &begin, &end));
    PetscCallAbort(PETSC_COMM_WORLD, VecGetArrayRead(x, &values));
    for (PetscInt i = begin; i < end; ++i) expect_same(what, values[i - begin], expected[static_cast<std::size_t>(i)]);
    PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArrayRead(x, &values));
}

double random_part(Random& random, int exponents) {
    return random.number<double>(static_cast<int>(random.between(-exponents, exponents)));
}

/// The imaginary part is dropped where numbers are real.
template <class S>
S number_of(double re, [[maybe_unused]] double im) {
    if constexpr (solver::is_complex<S>)
        return {re, im};
    else
        return re;
}

Number random_number(Random& random, int exponents) {
    const double re = random_part(random, exponents);
    return numbers_are_complex ? number_of<Number>(re, random_part(random, exponents)) : Number(re);
}

Numbers random_numbers(Random& random, std::size_t n, int exponents) {
    Numbers x(n);
    for (Number& element : x) element = random_number(random, exponents);
    return x;
}

Number exact_sum(const Numbers& x) { return solver::sum(Span(x), Accuracy::exact); }
/// y^H x
Number exact_dot(const Numbers& x, const Numbers& y) { return solver::dot(Span(y), Span(x), Accuracy::exact); }
/// y^T x
template <class S>
S exact_tdot(const std::vector<S>& x, std::vector<S> y) {
    if constexpr (solver::is_complex<S>)
        for (S& element : y) element = std::conj(element);
    return exact_dot(x, y);
}
double exact_norm1(const Numbers& x) {
    std::vector<double> moduli;
    for (const Number& element : x) moduli.push_back(solver::norm2(Span(&element, 1), Accuracy::exact));
    return solver::sum(std::span<const double>(moduli), Accuracy::exact);
}

PetscErrorCode check_reductions(Vec x, Vec y, const Numbers& all_x, const Numbers& all_y) {
    PetscScalar value, transposed, several[3], pair[2];
    PetscReal norm, norms[2];
    const Vec ys[] = {y, x, y};
    const Number dot = exact_dot(all_x, all_y), tdot = exact_tdot(all_x, all_y), square = exact_dot(all_x, all_x);
    const double norm2 = solver::norm2(Span(all_x), Accuracy::exact);
    PetscFunctionBeginUser;
    PetscCall(VecDot(x, y, &value));
    expect_same("VecDot", value, dot);
    PetscCall(VecTDot(x, y, &value));
    expect_same("VecTDot", value, tdot);
    PetscCall(VecDot(x, x, &value));
    expect_same("VecDot with itself", value, square);
    PetscCall(VecMDot(x, 3, ys, several));
    expect_same("VecMDot", several[0], dot);
    expect_same("VecMDot", several[1], square);
    expect_same("VecMDot", several[2], dot);
    PetscCall(VecMTDot(x, 3, ys, several));
    expect_same("VecMTDot", several[0], tdot);
    expect_same("VecMTDot", several[1], exact_tdot(all_x, all_x));
    PetscCall(VecDotNorm2(y, x, &pair[0], &norm));
    expect_same("VecDotNorm2", pair[0], exact_dot(all_y, all_x));
    expect_same("VecDotNorm2", norm, PetscRealPart(square));
    PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(x)));  // norms are remembered
    PetscCall(VecNorm(x, NORM_2, &norm));
    expect_same("VecNorm", norm, norm2);
    PetscCall(VecNorm(x, NORM_1, &norm));
    expect_same("VecNorm 1", norm, exact_norm1(all_x));
    PetscCall(VecNorm(x, NORM_1_AND_2, norms));
    expect_same("VecNorm 1 and 2", norms[1], norm2);
    PetscCall(VecSum(x, &value));
    expect_same("VecSum", value, exact_sum(all_x));
    PetscCall(VecDotBegin(x, y, &value));
    PetscCall(VecTDotBegin(x, y, &transposed));
    PetscCall(VecMDotBegin(x, 3, ys, several));
    PetscCall(PetscCommSplitReductionBegin(PetscObjectComm(reinterpret_cast<PetscObject>(x))));
    PetscCall(VecDotEnd(x, y, &value));
    PetscCall(VecTDotEnd(x, y, &transposed));
    PetscCall(VecMDotEnd(x, 3, ys, several));
    expect_same("VecDotBegin/End", value, dot);
    expect_same("VecTDotBegin/End", transposed, tdot);
    expect_same("VecMDotBegin/End", several[1], square);
    PetscFunctionReturn(0);
}

/// VecNormBegin/End square the norm: only where that stays in the range.
PetscErrorCode check_split_norm(Vec x, const Numbers& all_x) {
    PetscReal norm;
    PetscFunctionBeginUser;
    PetscCall(VecNormBegin(x, NORM_2, &norm));
    PetscCall(VecNormEnd(x, NORM_2, &norm));
    expect_same("VecNormBegin/End", norm, solver::norm2(Span(all_x), Accuracy::exact));
    PetscFunctionReturn(0);
}

Numbers elementwise(std::size_t n, const std::function<Number(std::size_t)>& f) {
    Numbers result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = f(i);
    return result;
}

inline double multiplied(double s, double t) { return solver::mul_rn(s, t); }
inline double added_to(double y, double s, double t) { return solver::add_rn(y, solver::mul_rn(s, t)); }

using Complex = std::complex<double>;

/// By a factor's real part first, then by its imaginary part.
inline Complex multiplied(Complex s, Complex t) {
    const Complex first(solver::mul_rn(s.real(), t.real()), solver::mul_rn(s.real(), t.imag()));
    return {added_to(first.real(), -s.imag(), t.imag()), added_to(first.imag(), s.imag(), t.real())};
}
inline Complex added_to(Complex y, Complex s, Complex t) {
    const Complex first(added_to(y.real(), s.real(), t.real()), added_to(y.imag(), s.real(), t.imag()));
    return {added_to(first.real(), -s.imag(), t.imag()), added_to(first.imag(), s.imag(), t.real())};
}

PetscErrorCode check_updates(Vec x, Vec y, const Numbers& p, const Numbers& q) {
    const Number a = number_of<Number>(1.0 / 3, 0.6), b = number_of<Number>(-0.7, 0.01), c = 1.1;
    const std::size_t n = p.size();
    const auto times = [](Number s, Number t) { return multiplied(s, t); };
    const auto plus = [](Number z, Number s, Number t) { return added_to(z, s, t); };
    Vec w;
    const Vec xs[] = {x, y};
    const PetscScalar factors[] = {a, b};
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(x, &w));
    PetscCall(VecCopy(x, w));
    PetscCall(VecAXPY(w, a, y));
    expect_vector("VecAXPY", w, elementwise(n, [&](std::size_t i) { return plus(p[i], a, q[i]); }));
    PetscCall(VecCopy(x, w));
    PetscCall(VecAYPX(w, a, y));
    expect_vector("VecAYPX", w, elementwise(n, [&](std::size_t i) { return plus(q[i], a, p[i]); }));
    PetscCall(VecCopy(x, w));
    PetscCall(VecAXPBY(w, a, b, y));
    expect_vector("VecAXPBY", w, elementwise(n, [&](std::size_t i) { return plus(times(a, q[i]), b, p[i]); }));
    PetscCall(VecWAXPY(w, a, x, y));
    expect_vector("VecWAXPY", w, elementwise(n, [&](std::size_t i) { return plus(q[i], a, p[i]); }));
    PetscCall(VecCopy(x, w));
    PetscCall(VecAXPBYPCZ(w, a, b, c, x, y));
    expect_vector("VecAXPBYPCZ", w,
                  elementwise(n, [&](std::size_t i) { return plus(plus(times(a, p[i]), b, q[i]), c, p[i]); }));
    PetscCall(VecCopy(x, w));
    PetscCall(VecMAXPY(w, 2, factors, const_cast<Vec*>(xs)));
    expect_vector("VecMAXPY", w, elementwise(n, [&](std::size_t i) { return plus(plus(p[i], a, p[i]), b, q[i]); }));
    PetscCall(VecCopy(x, w));
    PetscCall(VecScale(w, a));
    expect_vector("VecScale", w, elementwise(n, [&](std::size_t i) { return times(a, p[i]); }));
    PetscCall(VecScale(w, c));
    expect_vector("VecScale by a real number", w, elementwise(n, [&](std::size_t i) { return times(c, times(a, p[i])); }));
    if (!numbers_are_complex) {  // whose products and quotients are PETSc's
        PetscCall(VecPointwiseMult(w, x, y));
        expect_vector("VecPointwiseMult", w, elementwise(n, [&](std::size_t i) { return times(p[i], q[i]); }));
        PetscCall(VecPointwiseDivide(w, x, y));
        expect_vector("VecPointwiseDivide", w,
                      elementwise(n, [&](std::size_t i) { return q[i] == Number(0) ? Number(0) : p[i] / q[i]; }));
    }
    PetscCall(VecDestroy(&w));
    PetscFunctionReturn(0);
}

PetscErrorCode check_vectors() {
    Random random(1);
    constexpr double inf = std::numeric_limits<double>::infinity();
    PetscFunctionBeginUser;
    for (const PetscInt n : {0, 1, 3, 100, 5000})
        for (const int exponents : {0, 30, 300, 500}) {
            const auto size = static_cast<std::size_t>(n);
            Numbers p = random_numbers(random, size, exponents), q = random_numbers(random, size, exponents);
            if (exponents == 30 && n > 1) q[1] = -0.0;
            if (exponents == 30)
                for (std::size_t i = 0; i + 1 < size; i += 2)
                    p[i + 1] = -p[i], q[i + 1] = q[i];  // a dot of nearly, or exactly, zero
            const PetscInt part = part_of(random, n);
            Vec x = spread(part, p), y = spread(part, q);
            PetscCall(check_reductions(x, y, p, q));
            if (exponents < 500) PetscCall(check_split_norm(x, p));
            PetscCall(check_updates(x, y, p, q));
            PetscCall(VecDestroy(&x));
            PetscCall(VecDestroy(&y));
        }
    for (const double special : {inf, -inf, solver::canonical_nan<double>}) {
        Numbers p = random_numbers(random, 50, 3), q = random_numbers(random, 50, 3);
        p[7] = special;
        const PetscInt part = part_of(random, 50);
        Vec x = spread(part, p), y = spread(part, q);
        PetscScalar value;
        PetscCall(VecDot(x, y, &value));
        expect_same("VecDot of Inf or NaN", value, exact_dot(p, q));
        PetscCall(VecSum(x, &value));
        expect_same("VecSum of Inf or NaN", value, exact_sum(p));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&y));
    }
    PetscFunctionReturn(0);
}

using Matrix = solver::CsrMatrix<Number>;

Matrix random_matrix(Random& random, PetscInt rows, PetscInt columns, PetscInt length, int exponents) {
    std::vector<solver::Entry<Number>> entries;
    for (PetscInt i = 0; i < rows; ++i)
        for (PetscInt k = 0; k < length; ++k) {
            // near the diagonal, so that there are rows without ghosts, or anywhere; one place once
            const PetscInt near = std::min<PetscInt>(static_cast<PetscInt>(std::int64_t{i} * columns / rows) + k, columns - 1);
            const bool far = k == 0 && i % 700 > 600;
            const auto column = far ? random.between(0, columns - 1) : near;
            entries.push_back(
                {static_cast<std::int32_t>(i), static_cast<std::int32_t>(column), random_number(random, exponents)});
        }
    return solver::csr_from_entries<Number>(rows, columns, entries);
}

Mat spread(const Matrix& all, PetscInt row_part, PetscInt column_part) {
    Mat a;
    PetscInt begin, end;
    PetscCallAbort(PETSC_COMM_WORLD, MatCreate(PETSC_COMM_WORLD, &a));
    PetscCallAbort(PETSC_COMM_WORLD,
                   MatSetSizes(a, row_part, column_part, static_cast<PetscInt>(all.rows), static_cast<PetscInt>(all.columns)));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetType(a, matrix_type.c_str()));
    PetscCallAbort(PETSC_COMM_WORLD, MatSeqAIJSetPreallocation(a, 20, nullptr));
    PetscCallAbort(PETSC_COMM_WORLD, MatMPIAIJSetPreallocation(a, 20, nullptr, 20, nullptr));
    PetscCallAbort(PETSC_COMM_WORLD, MatGetOwnershipRange(a, &begin, &end));
    for (PetscInt i = begin; i < end; ++i) {
        const auto first = static_cast<std::size_t>(all.row_offsets[static_cast<std::size_t>(i)]);
        const std::vector<PetscInt> columns(all.column_indices.begin() + static_cast<std::ptrdiff_t>(first),
                                            all.column_indices.begin() + all.row_offsets[static_cast<std::size_t>(i) + 1]);
        PetscCallAbort(PETSC_COMM_WORLD, MatSetValues(a, 1, &i, static_cast<PetscInt>(columns.size()), columns.data(),
                                                      all.values.data() + first, INSERT_VALUES));
    }
    PetscCallAbort(PETSC_COMM_WORLD, MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCallAbort(PETSC_COMM_WORLD, MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    return a;
}

Numbers product(Number alpha, const Matrix& a, const Numbers& x, Number beta, Numbers y) {
    solver::spmv(alpha, a.view(), Span(x), beta, std::span(y), Accuracy::exact);
    return y;
}

template <class S>
solver::CsrMatrix<S> hermitian_transpose(const solver::CsrMatrix<S>& a) {
    if constexpr (solver::is_complex<S>)
        return solver::conjugate_transpose(a.view());
    else
        return solver::transpose(a.view());
}

void expect(bool holds, const char* what) {
    ++comparisons;
    if (holds) return;
    ++failures;
    std::printf("%s, %s\n", matrix_type.c_str(), what);
}

/// On every rank: a rank that went on alone would wait for the others.
PetscErrorCode check_refusal(const char* what, Mat a, const char* type, PetscInt vectors = 0) {
    PC pc;
    MatNullSpace space;
    std::vector<Vec> modes(static_cast<std::size_t>(vectors));
    PetscFunctionBeginUser;
    for (std::size_t k = 0; k < modes.size(); ++k) {
        PetscCall(MatCreateVecs(a, &modes[k], nullptr));
        PetscCall(VecSetValue(modes[k], static_cast<PetscInt>(k), 1, ADD_VALUES));
        PetscCall(VecAssemblyBegin(modes[k]));
        PetscCall(VecAssemblyEnd(modes[k]));
        PetscCall(VecNormalize(modes[k], nullptr));
    }
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, vectors, modes.data(), &space));
    if (vectors > 0) PetscCall(MatSetNearNullSpace(a, space));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, a, a));
    PetscCall(PCSetType(pc, type));
    PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
    const PetscErrorCode refused = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    expect(refused != 0, what);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatNullSpaceDestroy(&space));
    for (Vec& mode : modes) PetscCall(VecDestroy(&mode));
    PetscFunctionReturn(0);
}

PetscErrorCode check_failures() {
    Random random(5);
    constexpr PetscInt rows = 36;
    const PetscInt part = part_of(random, rows), columns_part = part_of(random, rows - 3);
    Matrix all{rows, rows, {0}, {}, {}};
    for (std::int32_t row = 0; row < rows; ++row) {
        if (row != 7) {
            all.column_indices.push_back(row);
            all.values.emplace_back(1 + row);
        }
        all.row_offsets.push_back(all.nonzeros());
    }
    Mat singular = spread(all, part, part);
    PetscFunctionBeginUser;
    PetscCall(check_refusal("samebits_jacobi divides by nothing", singular, "samebits_jacobi"));
    if constexpr (!numbers_are_complex) {
        KSP ksp;
        Vec b, x;
        KSPConvergedReason reason;
        PetscCall(check_refusal("samebits_amg took 23 vectors", singular, "samebits_amg", 23));
        PetscCall(MatCreateVecs(singular, &x, &b));
        PetscCall(VecSet(b, 1));
        PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
        PetscCall(KSPSetOperators(ksp, singular, singular));
        PetscCall(KSPSetFromOptions(ksp));
        PetscCall(KSPSetType(ksp, KSPPREONLY));
        PC pc;
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(PCSetType(pc, "samebits_auto"));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        expect(reason == KSP_DIVERGED_PC_FAILED, "samebits_auto failed, and not every rank knows");
        PetscCall(MatMult(singular, b, x));
        PetscCall(VecCopy(x, b));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        expect(reason > 0, "samebits_auto failed for good");
        PetscCall(KSPDestroy(&ksp));
        PetscCall(VecDestroy(&b));
        PetscCall(VecDestroy(&x));
    }
    PetscCall(MatDestroy(&singular));
    all = random_matrix(random, rows, rows - 3, 5, 3);
    Mat rectangular = spread(all, part, columns_part);
    for (const char* type : {"samebits_jacobi", "samebits_ilu0", "samebits_amg", "samebits_auto"})
        if (!numbers_are_complex || type == std::string("samebits_jacobi"))
            PetscCall(check_refusal("a preconditioner took a rectangular matrix", rectangular, type));
    PetscCall(MatDestroy(&rectangular));
    PetscFunctionReturn(0);
}

PetscErrorCode check_products(Mat a, const Matrix& all, Vec x, Vec y, const Numbers& p, const Numbers& q) {
    const auto transposed = solver::transpose(all.view());
    Vec image, preimage;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(y, &image));
    PetscCall(VecDuplicate(x, &preimage));
    PetscCall(MatMult(a, x, image));
    expect_vector("MatMult", image, product(1, all, p, 0, q));
    PetscCall(MatMultAdd(a, x, y, image));
    expect_vector("MatMultAdd", image, product(1, all, p, 1, q));
    PetscCall(VecCopy(y, image));
    PetscCall(MatMultAdd(a, x, image, image));
    expect_vector("MatMultAdd in place", image, product(1, all, p, 1, q));
    PetscCall(MatResidual(a, y, x, image));
    expect_vector("MatResidual", image, product(-1, all, p, 1, q));
    PetscCall(MatMultTranspose(a, y, preimage));
    expect_vector("MatMultTranspose", preimage, product(1, transposed, q, 0, p));
    PetscCall(MatMultTransposeAdd(a, y, x, preimage));
    expect_vector("MatMultTransposeAdd", preimage, product(1, transposed, q, 1, p));
    PetscCall(MatMultHermitianTranspose(a, y, preimage));
    expect_vector("MatMultHermitianTranspose", preimage, product(1, hermitian_transpose(all), q, 0, p));
    PetscCall(VecDestroy(&image));
    PetscCall(VecDestroy(&preimage));
    PetscFunctionReturn(0);
}

void scale(Matrix& all, double factor) {
    for (Number& value : all.values) value *= factor;
}

/// Changes of which PETSc tells nobody, or the blocks of a parallel matrix alone: factors are powers of two.
PetscErrorCode check_silent_changes(Mat a, Matrix all, Vec x, Vec y, const Numbers& p, const Numbers& q) {
    Mat copy, blocks[2] = {a, nullptr};
    PetscBool parallel;
    PetscFunctionBeginUser;
    PetscCall(MatDuplicate(a, MAT_COPY_VALUES, &copy));
    PetscCall(MatAXPY(a, 1, copy, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&copy));
    scale(all, 2);
    PetscCall(check_products(a, all, x, y, p, q));
    PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), MATMPIAIJ, &parallel));
    if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
    for (Mat block : blocks)
        if (block) PetscCall(MatScale(block, 0.25));
    scale(all, 0.25);
    PetscCall(check_products(a, all, x, y, p, q));
    PetscCall(MatSetOption(a, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
    PetscCall(MatStoreValues(a));
    PetscCall(MatScale(a, 4));
    scale(all, 4);
    PetscCall(check_products(a, all, x, y, p, q));
    PetscCall(MatRetrieveValues(a));
    scale(all, 0.25);
    PetscCall(check_products(a, all, x, y, p, q));
    PetscFunctionReturn(0);
}

/// Another pattern in the same arrays: boundary conditions by MatZeroRows after a product.
PetscErrorCode check_zero_rows(Mat a, const Matrix& all, Vec x, Vec y, const Numbers& p, const Numbers& q) {
    const auto zeroed = static_cast<PetscInt>(all.rows / 2);
    Matrix expected{all.rows, all.columns, {0}, {}, {}};
    for (PetscInt row = 0; row < all.rows; ++row) {
        for (std::int64_t k = all.row_offsets[row]; row != zeroed && k < all.row_offsets[row + 1]; ++k) {
            expected.column_indices.push_back(all.column_indices[k]);
            expected.values.push_back(all.values[k]);
        }
        if (row == zeroed) {
            expected.column_indices.push_back(static_cast<std::int32_t>(row));
            expected.values.emplace_back(7);
        }
        expected.row_offsets.push_back(expected.nonzeros());
    }
    PetscMPIInt rank;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(check_products(a, all, x, y, p, q));
    PetscCall(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatZeroRows(a, rank == 0 ? 1 : 0, &zeroed, 7, nullptr, nullptr));
    PetscCall(check_products(a, expected, x, y, p, q));
    PetscFunctionReturn(0);
}

/// New values in the old places, then a scaled matrix, a copy, and a conversion from PETSc's type and back.
PetscErrorCode check_changes(Mat a, Matrix all, Vec x, Vec y, const Numbers& p, const Numbers& q) {
    Mat copy, plain;
    PetscFunctionBeginUser;
    PetscCall(MatScale(a, 0.3));
    for (Number& value : all.values) value = multiplied(Number(0.3), value);
    PetscCall(check_products(a, all, x, y, p, q));
    PetscCall(MatDuplicate(a, MAT_COPY_VALUES, &copy));
    PetscCall(check_products(copy, all, x, y, p, q));
    PetscCall(MatDestroy(&copy));
    PetscCall(MatConvert(a, MATAIJ, MAT_INITIAL_MATRIX, &plain));
    PetscCall(MatConvert(plain, matrix_type.c_str(), MAT_INITIAL_MATRIX, &copy));
    PetscCall(check_products(copy, all, x, y, p, q));
    PetscCall(MatDestroy(&copy));
    PetscCall(MatConvert(plain, matrix_type.c_str(), MAT_INPLACE_MATRIX, &plain));
    PetscCall(check_products(plain, all, x, y, p, q));
    PetscCall(MatDestroy(&plain));
    PetscFunctionReturn(0);
}

template <class S>
solver::CsrMatrix<double> real_rows(const solver::CsrMatrix<S>& a) {
    if constexpr (solver::is_complex<S>)
        return solver::real_form(a.view());
    else
        return a;
}

/// Quotients by the diagonal, each part rounded once.
PetscErrorCode check_jacobi() {
    Random random(3);
    constexpr PetscInt rows = 500;
    const Matrix all = random_matrix(random, rows, rows, 5, 30);
    const Numbers p = random_numbers(random, rows, 30);
    const PetscInt part = part_of(random, rows);
    const auto jacobi =
        solver::make_preconditioner<double>(solver::PreconditionerKind::jacobi, real_rows(all).view(), Accuracy::exact,
                                            solver::Device::cpu(1), {.complex_numbers = numbers_are_complex});
    Numbers expected(p.size());
    jacobi->apply(solver::real_view(Span(p)), solver::real_view(std::span<Number>(expected)), Accuracy::exact);
    PC pc;
    Mat a = spread(all, part, part);
    Vec r = spread(part, p), z;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(r, &z));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, a, a));
    PetscCall(PCSetType(pc, "samebits_jacobi"));
    PetscCall(PCApply(pc, r, z));
    expect_vector("samebits_jacobi", z, expected);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&a));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscFunctionReturn(0);
}

template <class Check>
PetscErrorCode on_a_copy(Mat a, const Check& check) {
    Mat copy;
    PetscFunctionBeginUser;
    PetscCall(MatDuplicate(a, MAT_COPY_VALUES, &copy));
    PetscCall(check(copy));
    PetscCall(MatDestroy(&copy));
    PetscFunctionReturn(0);
}

PetscErrorCode check_matrices() {
    Random random(2);
    PetscFunctionBeginUser;
    for (const auto& [rows, columns] :
         std::vector<std::pair<PetscInt, PetscInt>>{{1, 1}, {3, 3}, {40, 25}, {25, 40}, {3000, 3000}})
        for (const int exponents : {3, 200}) {
            const auto all = random_matrix(random, rows, columns, std::min<PetscInt>(columns, 5), exponents);
            const Numbers p = random_numbers(random, static_cast<std::size_t>(columns), exponents);
            const Numbers q = random_numbers(random, static_cast<std::size_t>(rows), exponents);
            const PetscInt row_part = part_of(random, rows),
                           column_part = rows == columns ? row_part : part_of(random, columns);
            Mat a = spread(all, row_part, column_part);
            Vec x = spread(column_part, p), y = spread(row_part, q);
            PetscCall(check_products(a, all, x, y, p, q));
            PetscCall(on_a_copy(a, [&](Mat copy) { return check_silent_changes(copy, all, x, y, p, q); }));
            if (rows == columns) PetscCall(on_a_copy(a, [&](Mat copy) { return check_zero_rows(copy, all, x, y, p, q); }));
            PetscCall(check_changes(a, all, x, y, p, q));
            if (rows == columns) {
                Numbers diagonal(static_cast<std::size_t>(rows));
                for (std::int64_t i = 0; i < rows; ++i)
                    for (std::int64_t k = all.row_offsets[i]; k < all.row_offsets[i + 1]; ++k)
                        if (all.column_indices[k] == i) diagonal[i] = multiplied(Number(0.3), all.values[k]);
                PetscCall(MatGetDiagonal(a, y));
                expect_vector("MatGetDiagonal", y, diagonal);
            }
            PetscCall(MatDestroy(&a));
            PetscCall(VecDestroy(&x));
            PetscCall(VecDestroy(&y));
        }
    PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
    PetscBool everywhere = PETSC_FALSE, on_device = PETSC_FALSE;
    PetscMPIInt rank;
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-solver_everywhere", &everywhere, nullptr));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-on_device", &on_device, nullptr));
    if (on_device) {
        matrix_type = everywhere ? "aijcusparse" : "aijsamebitscuda";
        vector_type = everywhere ? "cuda" : "samebitscuda";
    } else {
        matrix_type = everywhere ? "aij" : "aijsamebits";
        vector_type = everywhere ? "standard" : "samebits";
    }
    PetscCall(check_vectors());
    PetscCall(check_matrices());
    PetscCall(check_jacobi());
    PetscCall(check_failures());
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
    if (rank == 0) std::printf("%d comparisons on the first rank, %d failures on all\n", comparisons, failures);
    PetscCall(PetscFinalize());
    return failures == 0 ? 0 : 1;
}
