# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the Python package: python.tests on one rank, python.tests.np2 on two. Skipped, with the reason, where pytest
# or mpi4py is missing.

# diffsim_add_python_test(NAME MODULES module... COMMAND command...)
function(diffsim_add_python_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MODULES;COMMAND")
  set(environment
      "PYTHONPATH=${CMAKE_CURRENT_BINARY_DIR}"
      OMPI_MCA_mpi_yield_when_idle=1
      OMPI_MCA_hwloc_base_binding_policy=none
      OMPI_MCA_rmaps_base_oversubscribe=1
      OMP_NUM_THREADS=1
      OMP_PROC_BIND=false
      KOKKOS_DISABLE_WARNINGS=true)
  set(missing "")
  foreach(module IN LISTS arg_MODULES)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import ${module}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
      list(APPEND missing ${module})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing " and " missing)
    message(STATUS "${name} will be skipped: ${Python_EXECUTABLE} has no ${missing}")
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${Python_EXECUTABLE} has no ${missing}")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  else()
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 ENVIRONMENT "${environment}")
  endif()
endfunction()

diffsim_add_python_test(
  python.tests MODULES pytest numpy
  COMMAND ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_SOURCE_DIR}/tests)
diffsim_add_python_test(
  python.tests.np2 MODULES pytest numpy mpi4py
  COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 ${MPIEXEC_PREFLAGS} ${Python_EXECUTABLE} -m pytest -q -p
          no:cacheprovider ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_ranks.py)
set_tests_properties(python.tests.np2 PROPERTIES PROCESSORS 2)
