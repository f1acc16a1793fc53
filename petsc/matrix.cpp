#include "matrix.hpp"

#include "elements.hpp"
#include "rank_product.hpp"
#include "releases.hpp"
#include "settings.hpp"
#include "vector.hpp"

#include <petsc/private/matimpl.h>

#include <memory>
#include <new>

namespace petscsolver {
namespace {

/// What PETSc's own type does.
struct Parent {
    PetscErrorCode (*create)(Mat) = nullptr;
    PetscErrorCode (*assemblyend)(Mat, MatAssemblyType) = nullptr;
    PetscErrorCode (*view)(Mat, PetscViewer) = nullptr;
    PetscErrorCode (*retrieve_values)(Mat) = nullptr;
};
Parent seq_parent, mpi_parent;

/// What goes with every matrix of these types.
struct Products {
    RankProduct product;
    Mat transpose = nullptr;
    MatrixState transposed;  ///< the matrix that `transpose` was made of
    const Parent* parent = nullptr;

    ~Products() { PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&transpose)); }
};

constexpr const char* products_name = "petscsolver_products";

PetscErrorCode products_of(Mat a, Products** products) {
    PetscObject container;
    PetscFunctionBegin;
    PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(a), products_name, &container));
    PetscCheck(container, PetscObjectComm(reinterpret_cast<PetscObject>(a)), PETSC_ERR_PLIB,
               "a matrix of type %s has lost what it needs to multiply", reinterpret_cast<PetscObject>(a)->type_name);
    PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), reinterpret_cast<void**>(products)));
    PetscFunctionReturn(0);
}

/// On the device of the vectors, for matrices of the device types.
PetscErrorCode place_of_product(Mat a, Vec x, Vec z, Vec y, Place* place) {
    PetscBool on_device;
    PetscFunctionBegin;
    *place = {};
    PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(a), &on_device, MATSEQAIJSAMEBITSCUDA,
                                        MATMPIAIJSAMEBITSCUDA, ""));
    if (on_device) PetscCall(place_of({x, z, y}, place));
    PetscFunctionReturn(0);
}

/// y = alpha A x + beta z
PetscErrorCode multiply(Mat a, double alpha, Vec x, double beta, Vec z, Vec y) {
    Products* products;
    Place place;
    PetscFunctionBegin;
    PetscCall(products_of(a, &products));
    PetscCall(place_of_product(a, x, z, y, &place));
    PetscCall(products->product.prepare(a, place));
    PetscCall(products->product.multiply(alpha, x, beta, z, y));
    PetscFunctionReturn(0);
}

PetscErrorCode mult(Mat a, Vec x, Vec y) {
    PetscFunctionBegin;
    PetscCall(multiply(a, 1, x, 0, y, y));
    PetscFunctionReturn(0);
}

PetscErrorCode mult_add(Mat a, Vec x, Vec z, Vec y) {
    PetscFunctionBegin;
    PetscCall(multiply(a, 1, x, 1, z, y));
    PetscFunctionReturn(0);
}

PetscErrorCode residual(Mat a, Vec b, Vec x, Vec r) {
    PetscFunctionBegin;
    PetscCall(multiply(a, -1, x, 1, b, r));
    PetscFunctionReturn(0);
}

/// The transpose itself, so that each of its rows is one sum: made when first asked for, and again when A changed on any rank.
PetscErrorCode transpose_of(Mat a, Mat* transpose) {
    Products* products;
    MatrixState state;
    PetscFunctionBegin;
    PetscCall(products_of(a, &products));
    PetscCall(MatrixState::of(a, &state));
    PetscMPIInt changed = products->transposed != state;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm(reinterpret_cast<PetscObject>(a))));
    if (changed) {
        PetscCall(MatDestroy(&products->transpose));
        PetscCall(MatTranspose(a, MAT_INITIAL_MATRIX, &products->transpose));
        products->transposed = state;
    }
    *transpose = products->transpose;
    PetscFunctionReturn(0);
}

PetscErrorCode mult_transpose(Mat a, Vec x, Vec y) {
    Mat transpose = nullptr;
    PetscFunctionBegin;
    PetscCall(transpose_of(a, &transpose));
    PetscCall(mult(transpose, x, y));
    PetscFunctionReturn(0);
}

PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec z, Vec y) {
    Mat transpose = nullptr;
    PetscFunctionBegin;
    PetscCall(transpose_of(a, &transpose));
    PetscCall(mult_add(transpose, x, z, y));
    PetscFunctionReturn(0);
}

void take_operations(Mat a);

/// PETSc chooses among its own products at the end of an assembly.
PetscErrorCode assembly_end(Mat a, MatAssemblyType type) {
    Products* products;
    PetscFunctionBegin;
    PetscCall(products_of(a, &products));
    PetscCall(products->parent->assemblyend(a, type));
    take_operations(a);
    PetscFunctionReturn(0);
}

/// PETSc's own puts the values back without a word to those who watch the matrix.
PetscErrorCode retrieve_values(Mat a) {
    Products* products;
    PetscFunctionBegin;
    PetscCall(products_of(a, &products));
    PetscCall(products->parent->retrieve_values(a));
    PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(a)));
    PetscFunctionReturn(0);
}

const char* promise() {
    switch (settings().accuracy) {
        case solver::Accuracy::fast:
            return "fast, the library's plain sums";
        case solver::Accuracy::compensated:
            return "compensated, as if in twice the precision";
        case solver::Accuracy::exact:
            return "exact, every product and every reduction rounded once, the same bits on any number of ranks";
    }
    return "";
}

PetscErrorCode view(Mat a, PetscViewer viewer) {
    Products* products;
    PetscBool ascii;
    PetscViewerFormat format;
    PetscFunctionBegin;
    PetscCall(products_of(a, &products));
    PetscCall(products->parent->view(a, viewer));
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
    if (!ascii || a->factortype != MAT_FACTOR_NONE) PetscFunctionReturn(0);
    PetscCall(PetscViewerGetFormat(viewer, &format));
    if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  petscsolver: %s\n", promise()));
    PetscFunctionReturn(0);
}

void take_operations(Mat a) {
    a->ops->mult = mult;
    a->ops->multadd = mult_add;
    a->ops->multtranspose = mult_transpose;
    a->ops->multtransposeadd = mult_transpose_add;
    a->ops->residual = residual;
    a->ops->assemblyend = assembly_end;
    a->ops->view = view;
}

PetscErrorCode compose_products(Mat a, const Parent& parent) {
    PetscFunctionBegin;
    auto* products = new (std::nothrow) Products;
    PetscCheck(products, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a matrix");
    products->parent = &parent;
    PetscCall(compose_owned(reinterpret_cast<PetscObject>(a), products_name, products));
    PetscFunctionReturn(0);
}

/// PETSc's own way from its AIJ to its matrices on devices; without it MatConvert takes the type that is registered.
PetscErrorCode forget_conversion_to_cusparse(Mat a) {
    PetscFunctionBegin;
    for (const char* conversion : {"MatConvert_seqaij_seqaijcusparse_C", "MatConvert_mpiaij_mpiaijcusparse_C"})
        PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(a), conversion, nullptr));
    PetscFunctionReturn(0);
}

PetscErrorCode create(Mat a, Parent& parent) {
    PetscFunctionBegin;
    PetscCall(parent.create(a));
    if constexpr (has_device_types)
        if (settings().everywhere) PetscCall(forget_conversion_to_cusparse(a));
    parent.assemblyend = a->ops->assemblyend;
    parent.view = a->ops->view;
    PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(a), "MatRetrieveValues_C", &parent.retrieve_values));
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(a), "MatRetrieveValues_C", retrieve_values));
    PetscCall(compose_products(a, parent));
    take_operations(a);
    PetscFunctionReturn(0);
}

PetscErrorCode create_named(Mat a, Parent& parent, const char* name, const char* vector_type) {
    PetscFunctionBegin;
    PetscCall(create(a, parent));
    PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(a), name));
    PetscCall(MatSetVecType(a, vector_type));
    PetscFunctionReturn(0);
}

PetscErrorCode create_seq_anew(Mat a) { return create(a, seq_parent); }
PetscErrorCode create_mpi_anew(Mat a) { return create(a, mpi_parent); }
PetscErrorCode create_seq_named(Mat a) { return create_named(a, seq_parent, MATSEQAIJSAMEBITS, VECSAMEBITS); }
PetscErrorCode create_seq_matrix_on_device(Mat a) {
    return create_named(a, seq_parent, MATSEQAIJSAMEBITSCUDA, VECSAMEBITSCUDA);
}
PetscErrorCode create_mpi_matrix_on_device(Mat a) {
    return create_named(a, mpi_parent, MATMPIAIJSAMEBITSCUDA, VECSAMEBITSCUDA);
}
PetscErrorCode create_mpi_named(Mat a) { return create_named(a, mpi_parent, MATMPIAIJSAMEBITS, VECSAMEBITS); }

/// Matrices of these types are assembled and changed on the processor; products have a copy on the device.
PetscErrorCode register_device_matrices(bool everywhere) {
    PetscFunctionBegin;
    PetscCall(MatRegisterRootName(MATAIJSAMEBITSCUDA, MATSEQAIJSAMEBITSCUDA, MATMPIAIJSAMEBITSCUDA));
    PetscCall(MatRegister(MATSEQAIJSAMEBITSCUDA, create_seq_matrix_on_device));
    PetscCall(MatRegister(MATMPIAIJSAMEBITSCUDA, create_mpi_matrix_on_device));
    if (everywhere) {
        PetscCall(MatRegister(MATSEQAIJCUSPARSE, create_seq_matrix_on_device));
        PetscCall(MatRegister(MATMPIAIJCUSPARSE, create_mpi_matrix_on_device));
    }
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode register_matrices(bool everywhere) {
    PetscFunctionBegin;
    PetscCall(MatInitializePackage());
    PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &seq_parent.create));
    PetscCall(PetscFunctionListFind(MatList, MATMPIAIJ, &mpi_parent.create));
    PetscCheck(seq_parent.create && mpi_parent.create, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "PETSc has no Mat types seqaij and mpiaij to build upon");
    PetscCall(MatRegisterRootName(MATAIJSAMEBITS, MATSEQAIJSAMEBITS, MATMPIAIJSAMEBITS));
    PetscCall(MatRegister(MATSEQAIJSAMEBITS, create_seq_named));
    PetscCall(MatRegister(MATMPIAIJSAMEBITS, create_mpi_named));
    if (everywhere) {
        PetscCall(MatRegister(MATSEQAIJ, create_seq_anew));
        PetscCall(MatRegister(MATMPIAIJ, create_mpi_anew));
    }
    if constexpr (has_device_types) PetscCall(register_device_matrices(everywhere));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
