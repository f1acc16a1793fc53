# Installs into a folder of its own and builds the README's examples against what was installed, by CMake and by pkg-config.
set(folder ${PROJECT_BINARY_DIR}/consumer)
set(installed ${folder}/installed)
set(here ${CMAKE_CURRENT_LIST_DIR})
set(first_output "converged, x[0] = 0.5")
file(MAKE_DIRECTORY ${folder})

# An example of the README, or of another text, becomes a file in the folder; the tests that use it come after.
function(write_example file language heading)
  set(text ${PROJECT_SOURCE_DIR}/README.md ${ARGN})
  list(GET text -1 text)
  add_test(NAME consumer.${file}
    COMMAND ${CMAKE_COMMAND} -DREADME=${text} -DHEADING=${heading} -DLANGUAGE=${language}
      -DEXAMPLE=${folder}/${file} -P ${here}/write_example.cmake)
  set_tests_properties(consumer.${file} PROPERTIES FIXTURES_SETUP consumer)
endfunction()

add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${installed})
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP consumer)
set(library_page ${PROJECT_SOURCE_DIR}/docs/library.md)
write_example(main.cpp cpp "As a library" ${library_page})
write_example(first.cpp cpp "From C++ and Python")

add_test(NAME consumer.find_package
  COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${here} ${folder}/find_package --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_PREFIX_PATH=${installed} -DEXAMPLE=${folder}/main.cpp
    --test-command ${CMAKE_COMMAND} -DPROGRAM=${folder}/find_package/example -P ${here}/run_example.cmake)
add_test(NAME consumer.pkg_config
  COMMAND sh ${here}/pkg_config.sh ${CMAKE_CXX_COMPILER} ${installed}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${folder}/main.cpp
    ${folder}/pkg_config ${CMAKE_COMMAND} -DPROGRAM=${folder}/pkg_config/example -P ${here}/run_example.cmake)
add_test(NAME consumer.first
  COMMAND sh ${here}/pkg_config.sh ${CMAKE_CXX_COMPILER} ${installed}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${folder}/first.cpp
    ${folder}/first ${CMAKE_COMMAND} -DPROGRAM=${folder}/first/example -DOUTPUT=${first_output} -P ${here}/run_example.cmake)
set_tests_properties(consumer.find_package consumer.pkg_config consumer.first PROPERTIES FIXTURES_REQUIRED consumer)

if(SOLVER_CUDA)
  write_example(stream.cpp cpp "On your own stream" ${library_page})
  write_example(kernel.cuh cuda "In your own kernels" ${library_page})
  list(GET CMAKE_CUDA_ARCHITECTURES -1 last_architecture)
  add_test(NAME consumer.cuda
    COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${here}/cuda ${folder}/cuda --build-generator ${CMAKE_GENERATOR}
      --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}
        -DCMAKE_CUDA_ARCHITECTURES=${last_architecture} -DCMAKE_PREFIX_PATH=${installed} -DEXAMPLES=${folder}
      --test-command ${CMAKE_COMMAND} -DFOLDER=${folder}/cuda -P ${here}/cuda/run_examples.cmake)
  set_tests_properties(consumer.cuda PROPERTIES FIXTURES_REQUIRED consumer
    SKIP_REGULAR_EXPRESSION "no CUDA device to run it on")
endif()

if(TARGET solver_shared)
  include(${here}/c.cmake)
endif()
