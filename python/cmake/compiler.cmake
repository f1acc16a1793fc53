# Whether there is a compiler at all, asked before CMake does, to say it in the same way as what else is missing.
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(samebits_compiler NAMES c++ g++ clang++)
  if(NOT samebits_compiler)
    message(FATAL_ERROR "samebits is built from source, and no C++ compiler was found. On Debian and Ubuntu:\n"
      "  sudo apt install g++ zlib1g-dev libhwy-dev libfmt-dev libsuitesparse-dev\n"
      "Elsewhere install GCC 12 or later, or name a compiler by CXX=/path/to/g++ in the environment.\n")
  endif()
endif()
