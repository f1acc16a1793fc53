# cmake --install: the library for find_package(solver) and for pkg-config, in C++ and in C. The commands install themselves.
include(CMakePackageConfigHelpers)
get_target_property(SOLVER_LIBRARY_TYPE solver TYPE)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/solver)

# What a user of the static library needs of CUDA: the runtime, if it was built with it, and nothing otherwise.
set(SOLVER_CONFIG_CUDA "")
set(SOLVER_PC_CUDA "")
set(header_patterns PATTERN *.hpp PATTERN *.h)
if(SOLVER_CUDA)
  get_target_property(cudart_library CUDA::cudart_static IMPORTED_LOCATION)
  get_filename_component(cudart_folder ${cudart_library} DIRECTORY)
  set(SOLVER_CONFIG_CUDA "  set(cudart_folder \"${cudart_folder}\")\n  find_dependency(Cudart)\n")
  set(SOLVER_PC_CUDA "-L${cudart_folder} -lcudart_static -ldl -lrt ")
  list(APPEND header_patterns PATTERN *.cuh)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindCudart.cmake DESTINATION ${package_folder})
endif()

install(TARGETS solver EXPORT solverTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/solver DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING ${header_patterns})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT solverTargets NAMESPACE solver:: DESTINATION ${package_folder})
if(TARGET solver_shared)
  install(TARGETS solver_shared EXPORT solver_cTargets)
  install(EXPORT solver_cTargets NAMESPACE solver:: DESTINATION ${package_folder})
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/solverConfig.cmake.in ${PROJECT_BINARY_DIR}/solverConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/solverConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/solverConfig.cmake ${PROJECT_BINARY_DIR}/solverConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindKLU.cmake DESTINATION ${package_folder})

# A static library passes its own needs on to every user, a shared one keeps them private. The file finds its prefix from where it
# lies, so that the installed tree can be moved.
file(RELATIVE_PATH SOLVER_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" SOLVER_PC_TO_PREFIX "${SOLVER_PC_TO_PREFIX}")
set(SOLVER_PC_PRIVATE ".private")
set(SOLVER_PC_LIBRARY solver)
if(SOLVER_LIBRARY_TYPE STREQUAL STATIC_LIBRARY)
  set(SOLVER_PC_PRIVATE "")
  set(SOLVER_PC_LIBRARY :libsolver.a) # beside libsolver.so, which has C's functions only
endif()
foreach(name solver solver_c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
