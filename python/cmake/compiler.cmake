# Whether there is a compiler at all, asked before CMake does, to say it in the same way as what else is missing.
set(compilers c++ g++ clang++)
if(CMAKE_CXX_COMPILER)
  set(compilers ${CMAKE_CXX_COMPILER})
elseif(DEFINED ENV{CXX}) # which pip's build sets to what Python was built with
  separate_arguments(compilers UNIX_COMMAND "$ENV{CXX}")
  list(GET compilers 0 compilers)
endif()
find_program(samebits_compiler NAMES ${compilers})
if(NOT samebits_compiler)
  list(JOIN compilers ", " compilers)
  message(FATAL_ERROR "samebits is built from source, and no C++ compiler was found (${compilers}). On Debian and Ubuntu:\n"
    "  sudo apt install g++ python3-dev zlib1g-dev libhwy-dev libfmt-dev libsuitesparse-dev\n"
    "Elsewhere install GCC 12 or later, or name a compiler by CXX=/path/to/g++ in the environment.\n")
endif()
