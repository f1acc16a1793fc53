# The examples of docs/c.md, built against what was installed: by CMake and, with libsolver.so, by pkg-config.
function(expect_output test output)
  set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED consumer PASS_REGULAR_EXPRESSION "${output}" ENVIRONMENT
    LD_LIBRARY_PATH=${installed}/${CMAKE_INSTALL_LIBDIR})
endfunction()

set(guide ${PROJECT_SOURCE_DIR}/docs/c.md)
set(pc_folder ${installed}/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
write_example(example.c c "In C" ${guide})
add_test(NAME consumer.c
  COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${here}/c ${folder}/c --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_PREFIX_PATH=${installed} -DEXAMPLE=${folder}/example.c
    --test-command ${folder}/c/example)
expect_output(consumer.c "converged, x = 1 2 3")
add_test(NAME consumer.c_by_pkg_config
  COMMAND sh ${here}/pkg_config_c.sh "${CMAKE_C_COMPILER} -std=c99 -pedantic -Wall -Wextra -Werror" ${pc_folder} ${folder}/example.c
    ${folder}/example_c)
expect_output(consumer.c_by_pkg_config "converged, x = 1 2 3")

find_program(GFORTRAN gfortran)
mark_as_advanced(GFORTRAN)
if(GFORTRAN)
  write_example(example.f90 fortran "In Fortran" ${guide})
  add_test(NAME consumer.fortran
    COMMAND sh ${here}/pkg_config_c.sh "${GFORTRAN} -std=f2008 -Wall -Wextra" ${pc_folder} ${folder}/example.f90 ${folder}/example_fortran)
  expect_output(consumer.fortran "the sum is +0.0")
endif()
