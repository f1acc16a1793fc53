# SuiteSparse::KLU: KLU (LGPL-2.1+) with AMD, BTF, COLAMD and SuiteSparse_config; static libraries where there are any, but
# shared ones for a solver that is shared itself: into that Debian's static ones, compiled without -fPIC, do not link.
# SuiteSparse before 7 has neither CMake packages nor pkg-config files.
include(FindPackageHandleStandardArgs)

find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(KLU_LIBRARIES "")
set(_klu_required KLU_INCLUDE_DIR)
foreach(_klu_name klu amd btf colamd suitesparseconfig)
  string(TOUPPER ${_klu_name} _klu_upper)
  set(_klu_static lib${_klu_name}.a)
  if(BUILD_SHARED_LIBS)
    set(_klu_static "")
  endif()
  find_library(KLU_${_klu_upper}_LIBRARY NAMES ${_klu_static} ${_klu_name})
  mark_as_advanced(KLU_${_klu_upper}_LIBRARY)
  list(APPEND KLU_LIBRARIES ${KLU_${_klu_upper}_LIBRARY})
  list(APPEND _klu_required KLU_${_klu_upper}_LIBRARY)
endforeach()
mark_as_advanced(KLU_INCLUDE_DIR)

find_package_handle_standard_args(KLU REQUIRED_VARS ${_klu_required}
  REASON_FAILURE_MESSAGE "on Debian: apt install libsuitesparse-dev")

if(KLU_FOUND AND NOT TARGET SuiteSparse::KLU)
  add_library(SuiteSparse::KLU INTERFACE IMPORTED)
  set_target_properties(SuiteSparse::KLU PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${KLU_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${KLU_LIBRARIES}")
endif()
