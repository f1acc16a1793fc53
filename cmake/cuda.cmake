# SOLVER_CUDA: on where a CUDA compiler is found that will do, unless somebody says otherwise. Half of the time of a build goes
# into code for CUDA devices: who builds for this machine alone does without what nothing here can run.
include(CheckLanguage)

option(SOLVER_CUDA_HERE "Code for the CUDA devices of this machine alone, and none where there is none; SOLVER_CUDA and \
CMAKE_CUDA_ARCHITECTURES (or CUDAARCHS in the environment) are asked first" OFF)

set(SOLVER_OLDEST_CUDA 12.4) # loops in CUDA graphs
set(cuda_advice "Install the CUDA toolkit ${SOLVER_OLDEST_CUDA} or later (developer.nvidia.com/cuda-downloads) and have nvcc in \
PATH or in /usr/local/cuda/bin, or name it by -DCMAKE_CUDA_COMPILER=/path/to/nvcc; or build for the processor alone, -DSOLVER_CUDA=OFF.")

# Sets CMAKE_CUDA_COMPILER, to a name or to NOTFOUND, and cuda_problem, which is empty where that compiler will do.
macro(find_cuda_compiler)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(SOLVER_NVCC nvcc PATHS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(SOLVER_NVCC)
    if(SOLVER_NVCC)
      set(ENV{CUDACXX} ${SOLVER_NVCC})
    endif()
  endif()
  check_language(CUDA)
  set(cuda_problem "no working CUDA compiler was found")
  if(CMAKE_CUDA_COMPILER)
    set(cuda_problem "")
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
    if(nvcc_version MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS SOLVER_OLDEST_CUDA)
      set(cuda_problem "${CMAKE_CUDA_COMPILER} is of CUDA ${CMAKE_MATCH_1}, which is too old")
    endif()
  endif()
endmacro()

if(SOLVER_CUDA_HERE AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  if(EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)
    set(CMAKE_CUDA_ARCHITECTURES native)
  elseif(NOT DEFINED SOLVER_CUDA)
    set(cuda_problem "there is no CUDA device here (SOLVER_CUDA=ON builds for one all the same)")
  endif()
endif()
if(NOT cuda_problem AND (NOT DEFINED SOLVER_CUDA OR SOLVER_CUDA))
  find_cuda_compiler()
endif()
# Sanitizers of the host and the CUDA runtime do not go together.
if(cuda_problem OR SOLVER_SANITIZE)
  set(cuda_by_default OFF)
else()
  set(cuda_by_default ON)
endif()
option(SOLVER_CUDA "Build the CUDA backend (default: where there is nvcc)" ${cuda_by_default})

if(SOLVER_CUDA)
  if(cuda_problem)
    message(FATAL_ERROR "SOLVER_CUDA is ON, but ${cuda_problem}. ${cuda_advice}")
  endif()
  # Machine code for these, and PTX of the last for what comes after.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  message(STATUS "solver: with CUDA ${CMAKE_CUDA_COMPILER_VERSION}, for architectures ${CMAKE_CUDA_ARCHITECTURES}")
elseif(cuda_problem)
  message(STATUS "solver: for the processor alone, since ${cuda_problem}")
else()
  message(STATUS "solver: for the processor alone")
endif()
