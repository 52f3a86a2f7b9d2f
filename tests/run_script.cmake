# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRIPT=<file> -D ARGUMENTS=<arguments> -D WRITES=<files> [-D SAME_AS=<file>] -P run_script.cmake
#
# Runs a Python script with the first Python that has the packages that the script imports. Fails unless the script succeeds
# and writes the files WRITES, the last of which must equal the file SAME_AS if this file is given.

cmake_minimum_required(VERSION 3.22)

list(TRANSFORM WRITES REPLACE "^([^/].*)$" "${CMAKE_CURRENT_BINARY_DIR}/\\1")
set(has_run FALSE)
foreach(python IN ITEMS python3 /usr/bin/python3)
  file(REMOVE ${WRITES})
  execute_process(COMMAND ${python} ${SCRIPT} ${ARGUMENTS} RESULT_VARIABLE code OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT output MATCHES "No module named|the Python package [a-z0-9]+ is missing" AND NOT code MATCHES "^[^0-9]")
    set(has_run TRUE)
    break()
  endif()
endforeach()
if(NOT has_run)
  message("skipped: no Python has the packages that ${SCRIPT} imports (h5py, matplotlib, numpy)")
  return()
endif()
message("${python}: ${output}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${SCRIPT} ended with ${code}")
endif()
foreach(file IN LISTS WRITES)
  set(size 0)
  if(EXISTS ${file})
    file(SIZE ${file} size)
  endif()
  if(size EQUAL 0)
    message(FATAL_ERROR "${SCRIPT} did not write ${file}")
  endif()
endforeach()
if(SAME_AS)
  list(GET WRITES -1 file)
  file(SHA256 ${file} written)
  file(SHA256 ${SAME_AS} expected)
  if(NOT written STREQUAL expected)
    message(FATAL_ERROR "${file} differs from ${SAME_AS}")
  endif()
endif()
