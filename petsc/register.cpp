/// What PETSc calls when it loads the plugin: -dll_prepend libpetscsolver.so, or libpetscsolver_complex.so

#include "matrix.hpp"
#include "numbers.hpp"
#include "preconditioner.hpp"
#include "reductions.hpp"
#include "settings.hpp"
#include "vector.hpp"

#include <petscsys.h>

#include <type_traits>

#if !defined(PETSC_USE_REAL_DOUBLE)
#error \
    "petscsolver is for double precision: PetscReal of this PETSc is another type. Name another PETSc to pkg-config, or -DSOLVER_PETSC=OFF"
#endif

namespace petscsolver {
namespace {

static_assert(std::is_same_v<PetscScalar, Number>, "PETSCSOLVER_COMPLEX is to be defined for a PETSc with complex numbers");

/// The PETSc that runs must be the one that the plugin was compiled for, in all that is decided at compile time.
PetscErrorCode check_petsc() {
    PetscInt major = 0, minor = 0;
    PetscBool found = PETSC_FALSE;
    PetscDataType scalar;
    size_t index_size = 0, scalar_size = 0;
    PetscFunctionBegin;
    PetscCheck(
        PETSC_COMM_WORLD != MPI_COMM_NULL, PETSC_COMM_SELF, PETSC_ERR_SUP,
        "petscsolver was built for the PETSc that is %s, but this program runs another one (complex, single precision or "
        "another version); build petscsolver for the program's PETSc",
        PETSCSOLVER_PETSC);
    PetscCall(PetscGetVersionNumber(&major, &minor, nullptr, nullptr));
    PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "petscsolver was built for PETSc %d.%d and this program runs %d.%d; build petscsolver for the program's PETSc",
               PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, static_cast<int>(major), static_cast<int>(minor));
    PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
    PetscCall(PetscDataTypeGetSize(scalar, &scalar_size));
    PetscCheck(found && scalar_size == sizeof(Number), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "this plugin is for %s numbers in double precision, %d bytes each; PetscScalar of this program's PETSc has %d "
               "bytes: libpetscsolver is for PETSc configured --with-scalar-type=real, libpetscsolver_complex for complex",
               numbers_are_complex ? "complex" : "real", static_cast<int>(sizeof(Number)), static_cast<int>(scalar_size));
    PetscCall(PetscDataTypeGetSize(PETSC_INT, &index_size));
    PetscCheck(
        index_size == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_SUP,
        "petscsolver was built for a PETSc with indices of %d bytes, and this program's PETSc has %d; build petscsolver for "
        "the program's PETSc",
        static_cast<int>(sizeof(PetscInt)), static_cast<int>(index_size));
    PetscFunctionReturn(0);
}

PetscErrorCode read_options() {
    char accuracy[32] = "exact", storage[32] = "auto";
    PetscBool everywhere = PETSC_FALSE;
    PetscFunctionBegin;
    PetscOptionsBegin(PETSC_COMM_WORLD, nullptr,
                      "petscsolver: products and reductions with the same bits on any number of ranks", nullptr);
    PetscCall(PetscOptionsString("-solver_accuracy", "of products and reductions: exact, compensated or fast", nullptr,
                                 accuracy, accuracy, sizeof accuracy, nullptr));
    PetscCall(PetscOptionsString("-solver_storage", "of a rank's rows: auto, csr or packed; in exact it changes no bit",
                                 nullptr, storage, storage, sizeof storage, nullptr));
    PetscCall(PetscOptionsBool("-solver_everywhere", "PETSc's types seq, mpi, seqaij and mpiaij are the plugin's", nullptr,
                               everywhere, &everywhere, nullptr));
    PetscOptionsEnd();
    PetscCallCXX(settings().accuracy = solver::accuracy_from_text(accuracy));
    PetscCallCXX(settings().storage = solver::spmv_storage_from_text(storage));
    settings().everywhere = everywhere;
    PetscFunctionReturn(0);
}

}  // namespace
}  // namespace petscsolver

/// PETSc derives the name from that of the file.
#if defined(PETSCSOLVER_COMPLEX)
#define PETSCSOLVER_REGISTER PetscDLLibraryRegister_petscsolver_complex
#else
#define PETSCSOLVER_REGISTER PetscDLLibraryRegister_petscsolver
#endif

PETSC_EXTERN PetscErrorCode PETSCSOLVER_REGISTER(void) {
    using namespace petscsolver;
    PetscFunctionBegin;
    PetscCall(check_petsc());
    PetscCall(read_options());
    PetscCall(register_vectors(settings().everywhere));
    PetscCall(prepare_reductions());
    PetscCall(register_matrices(settings().everywhere));
    PetscCall(register_preconditioners());
    PetscFunctionReturn(0);
}
