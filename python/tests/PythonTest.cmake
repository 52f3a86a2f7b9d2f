# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the Python package: python.tests and python.documents on one rank, python.tests.np2 and python.views.np2 on two
# ranks. If a Python module that a test needs is missing, the test is skipped with a message.

# diffsim_add_python_test(NAME RANKS n MODULES module... TESTS path or option of pytest...)
#
# Adds a test that runs pytest on n ranks. On one rank, pytest is not started by the launcher of MPI, because some tests
# start other programs that use MPI, which the launcher does not permit.
function(diffsim_add_python_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RANKS" "MODULES;TESTS")
  set(missing "")
  foreach(module IN LISTS arg_MODULES)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import ${module}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
      list(APPEND missing ${module})
    endif()
  endforeach()
  list(TRANSFORM arg_TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/tests/ REGEX "^[^-]")
  set(command ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${arg_TESTS})
  set(path PYTHONPATH=${CMAKE_CURRENT_BINARY_DIR})
  if(missing)
    list(JOIN missing " and " missing)
    message(STATUS "${name} will be skipped: ${Python_EXECUTABLE} has no ${missing}")
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${Python_EXECUTABLE} has no ${missing}")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  elseif(arg_RANKS GREATER 1)
    diffsim_add_mpi_test(${name} RANKS ${arg_RANKS} LABELS python ENVIRONMENT ${path} COMMAND ${command})
  else()
    add_test(NAME ${name} COMMAND ${command})
    # The test is started before shorter tests.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${DIFFSIM_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;${path}" COST 100
                                            TIMEOUT 900 LABELS python)
  endif()
endfunction()

set(documents test_documents.py) # programs of the documentation and notebooks, which take as long as all other tests
set(ignored ${documents} test_ranks.py) # test_ranks.py compares several ranks with one
list(TRANSFORM ignored PREPEND --ignore=${CMAKE_CURRENT_SOURCE_DIR}/tests/)
diffsim_add_python_test(python.tests RANKS 1 MODULES pytest numpy TESTS "." ${ignored})
diffsim_add_python_test(python.documents RANKS 1 MODULES pytest numpy TESTS ${documents})
diffsim_add_python_test(python.tests.np2 RANKS 2 MODULES pytest numpy mpi4py 
                        TESTS test_ranks.py test_wrong_ranks.py test_progress.py test_petsc.py)
diffsim_add_python_test(python.views.np2 RANKS 2 MODULES pytest numpy mpi4py TESTS test_views.py)
