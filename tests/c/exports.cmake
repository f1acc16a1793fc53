# cmake -DNM=nm -DLIBRARY=libsolver.so -DHEADERS="solver.h;solver_cuda.h" -P exports.cmake: the library shows every function that the
# headers declare, and nothing else.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n ]+ [A-Za-z] " exported "${symbols}")
list(TRANSFORM exported REPLACE "^([^ ]+) .*$" "\\1")

set(declared "")
foreach(header ${HEADERS})
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
  string(REGEX MATCHALL "[^a-z_(]solver_[a-z0-9_]+\\(" functions "${text}")
  list(TRANSFORM functions REPLACE "^.(.*)\\($" "\\1")
  list(APPEND declared ${functions})
endforeach()

list(SORT exported)
list(SORT declared)
if(declared STREQUAL "" OR NOT exported STREQUAL declared)
  message(FATAL_ERROR "${LIBRARY} exports\n  ${exported}\nand the headers declare\n  ${declared}")
endif()
