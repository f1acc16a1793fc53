# cpack: a Debian package of the commands, the libraries and the headers. tools/deb configures for it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME solver)
set(CPACK_PACKAGE_VENDOR "the authors of solver")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Linear solvers and kernels whose results keep a promise about rounding")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CPACK_PACKAGE_VENDOR}")
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What the command looks for at run time: gnuplot draws its page, curl fetches matrices by their names.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, curl")
# What programs that link libsolver.a need, too; those that link libsolver.so do not.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libhwy-dev, libsuitesparse-dev, zlib1g-dev")
include(CPack)
