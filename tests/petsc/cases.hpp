#pragma once

/// Several cases in one program: to start all ranks takes longer than most of them.

#include <petscsys.h>

#include <fstream>
#include <string>

/// run(), which reads PETSc's options, once with the options of the command line; or, with -cases FILE, once for each of its
/// lines with the options of that line alone.
template <class Run>
PetscErrorCode run_cases(const Run& run) {
    char path[PETSC_MAX_PATH_LEN];
    PetscBool is_given;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-cases", path, sizeof path, &is_given));
    if (!is_given) PetscFunctionReturn(run());
    std::ifstream file(path);
    PetscCheck(file.is_open(), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-cases: %s cannot be read", path);
    for (std::string line; std::getline(file, line);) {
        PetscOptions options;
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "case %s\n", line.c_str()));
        PetscCall(PetscOptionsCreate(&options));
        PetscCall(PetscOptionsInsertString(options, line.c_str()));
        PetscCall(PetscOptionsPush(options));
        PetscCall(run());
        PetscCall(PetscOptionsPop());
        PetscCall(PetscOptionsDestroy(&options));
    }
    PetscFunctionReturn(0);
}
