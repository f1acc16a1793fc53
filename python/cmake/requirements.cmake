# What the library needs beside a compiler, and how it is called on Debian: all that is missing is told at once.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "samebits needs GCC 12 or later, and ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_VERSION}. Install a later one and "
    "name it by CXX=g++-12 in the environment.\n")
endif()

set(missing "")
find_path(samebits_zlib zlib.h)
find_path(samebits_hwy hwy/highway.h)
find_path(samebits_fmt fmt/format.h)
find_path(samebits_klu klu.h PATH_SUFFIXES suitesparse)
foreach(need "zlib;zlib1g-dev" "hwy;libhwy-dev" "fmt;libfmt-dev" "klu;libsuitesparse-dev")
  list(GET need 0 name)
  list(GET need 1 package)
  if(NOT samebits_${name})
    list(APPEND missing ${package})
  endif()
endforeach()
if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "samebits is built from source, and needs headers and libraries that were not found. On Debian and Ubuntu:\n"
    "  sudo apt install ${missing}\n")
endif()
