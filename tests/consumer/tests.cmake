# Installs into a folder of its own and builds the README's example against what was installed, both ways.
set(folder ${PROJECT_BINARY_DIR}/consumer)
set(installed ${folder}/installed)
set(example ${folder}/main.cpp)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(MAKE_DIRECTORY ${folder})

add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${installed})
add_test(NAME consumer.example
  COMMAND ${CMAKE_COMMAND} -DREADME=${PROJECT_SOURCE_DIR}/README.md -DEXAMPLE=${example} -P ${here}/write_example.cmake)
set_tests_properties(consumer.install consumer.example PROPERTIES FIXTURES_SETUP consumer)

add_test(NAME consumer.find_package
  COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${here} ${folder}/find_package --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_PREFIX_PATH=${installed} -DEXAMPLE=${example}
    --test-command ${CMAKE_COMMAND} -DPROGRAM=${folder}/find_package/example -P ${here}/run_example.cmake)
add_test(NAME consumer.pkg_config
  COMMAND sh ${here}/pkg_config.sh ${CMAKE_CXX_COMPILER} ${installed}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${example} ${folder}/pkg_config
    ${CMAKE_COMMAND} -DPROGRAM=${folder}/pkg_config/example -P ${here}/run_example.cmake)
set_tests_properties(consumer.find_package consumer.pkg_config PROPERTIES FIXTURES_REQUIRED consumer)
