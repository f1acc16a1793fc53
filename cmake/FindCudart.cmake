# CUDA::cudart_static, the CUDA runtime, which is all of CUDA that a user of the installed library has to have. ${cudart_folder} is
# where it was when the library was built.
include(FindPackageHandleStandardArgs)

find_library(CUDART_STATIC_LIBRARY cudart_static
  HINTS "${cudart_folder}" ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES lib64 lib)
mark_as_advanced(CUDART_STATIC_LIBRARY)
find_package_handle_standard_args(Cudart REQUIRED_VARS CUDART_STATIC_LIBRARY
  REASON_FAILURE_MESSAGE "it is a part of the CUDA toolkit")

if(Cudart_FOUND AND NOT TARGET CUDA::cudart_static)
  find_package(Threads REQUIRED)
  add_library(CUDA::cudart_static STATIC IMPORTED)
  set_target_properties(CUDA::cudart_static PROPERTIES IMPORTED_LOCATION "${CUDART_STATIC_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
endif()
