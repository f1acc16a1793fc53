# solver_fmt: the formatting library {fmt}, for this project's own use. Its code is compiled once, as a part of the library solver,
# which thus needs no libfmt beside it; in every source it would cost seven seconds each. The templates to instantiate are named by
# core/fmt.cpp as fmt 9 has them; other versions are compiled wherever they are used.
find_package(fmt 8 REQUIRED)
add_library(solver_fmt INTERFACE)
if(fmt_VERSION MATCHES "^9\\.")
  get_target_property(fmt_folder fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(solver_fmt SYSTEM INTERFACE ${fmt_folder})
  set(solver_fmt_source core/fmt.cpp)
else()
  target_link_libraries(solver_fmt INTERFACE fmt::fmt-header-only)
  set(solver_fmt_source "")
endif()
