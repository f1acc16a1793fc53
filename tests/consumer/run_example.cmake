# cmake -DPROGRAM=example -P run_example.cmake: solves diag(2, 4) x = (2, 8) from the files that the README names.
file(WRITE A.mtx "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n")
file(WRITE b.mtx "%%MatrixMarket matrix array real general\n2 1\n2\n8\n")
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "converged, residual 0, x[0] = 1\n")
  message(FATAL_ERROR "the README's example printed: ${output}")
endif()
