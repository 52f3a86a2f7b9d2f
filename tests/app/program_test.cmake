# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D DIFFSIM=<program> -D MPIEXEC=<command> ... -P program_test.cmake: checks exit codes and messages of the
# program.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

# expect(CODE arguments...): runs the program, checks its exit code, and sets `output` and `errors`.
function(expect code)
  string(TIMESTAMP before %s)
  execute_process(
    COMMAND ${MPIEXEC} ${DIFFSIM} ${ARGN}
    WORKING_DIRECTORY ${SCRATCH}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE errors)
  string(TIMESTAMP after %s)
  math(EXPR seconds "${after} - ${before}")
  list(JOIN ARGN " " arguments)
  message("diffsim ${arguments}: ${result}, ${seconds} s\n${output}${errors}")
  if(NOT result EQUAL code)
    message(FATAL_ERROR "expected exit code ${code}")
  endif()
  string(REGEX MATCHALL "diffsim: error: " lines "${errors}")
  list(LENGTH lines count)
  # Warnings about the BLAS concern the machine and are not errors of the program. These warnings are tested below.
  string(REGEX REPLACE "diffsim: warning: (OpenBLAS uses its kernels for|the reference BLAS is in use)[^\n]*\n" "" silent "${errors}")
  if(code EQUAL 2 AND (NOT count EQUAL 1 OR seconds GREATER 10))
    message(FATAL_ERROR "expected one line of error, in little time")
  elseif(code EQUAL 0 AND NOT silent STREQUAL "")
    message(FATAL_ERROR "expected silence")
  endif()
  set(output "${output}" PARENT_SCOPE)
  set(errors "${errors}" PARENT_SCOPE)
endfunction()

function(expect_text text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected: ${pattern}")
  endif()
endfunction()

set(body "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}
material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.4}
solver: {dt: 0.001, steps: 3}
")
file(WRITE ${SCRATCH}/good.yaml "${body}")
file(WRITE ${SCRATCH}/bad.yaml "${body}boundary: {region: left, fix: [x]}\n")

expect(0 --version)
if(NOT output STREQUAL "diffsim ${VERSION}\n")
  message(FATAL_ERROR "expected the version, once")
endif()
expect(0 --help)
expect_text("${output}" "simulate.*gradient.*check.*invert.*mesh")
expect(2)
expect(2 simulate)
expect(2 simulate none.yaml)
expect_text("${errors}" "diffsim: error: none.yaml: there is no such file")
expect(2 simulate bad.yaml)
expect_text("${errors}" "diffsim: error: bad.yaml:4: boundary.region: unknown region 'left'")
if(EXISTS ${SCRATCH}/out)
  message(FATAL_ERROR "bad input left an output folder")
endif()
expect(0 mesh good.yaml)
expect(0 simulate good.yaml --output there --kokkos-num-threads=1 -- -options_left no)
foreach(file IN ITEMS out/report.json there/trajectory.h5 there/trajectory.xdmf there/report.json)
  if(NOT EXISTS ${SCRATCH}/${file})
    message(FATAL_ERROR "${file} is missing")
  endif()
endforeach()

# OpenBLAS with kernels for narrower vectors than those of the processor. The packages of Debian and Ubuntu, in folders such
# as openblas-serial, select their kernels when a program starts; other builds may contain the kernels of one processor only.
file(READ ${SCRATCH}/there/report.json report)
set(processor "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo processor REGEX "^flags.* avx2( |$)" LIMIT_COUNT 1)
endif()
if(report MATCHES "\"blas\": \"[^\"]*/openblas-" AND processor)
  set(ENV{OPENBLAS_CORETYPE} Prescott)
  expect(0 simulate good.yaml)
  expect_text("${errors}" "uses its kernels for the processor Prescott.* set OPENBLAS_CORETYPE=(HASWELL|SKYLAKEX)")
  set(ENV{OPENBLAS_CORETYPE} Haswell)
  expect(0 simulate good.yaml)
  if(NOT errors STREQUAL "")
    message(FATAL_ERROR "a warning of kernels that fit")
  endif()
endif()

# The reference BLAS in place of OpenBLAS, where both are installed as on Debian and Ubuntu.
string(REGEX MATCH "\"blas\": \"([^\"]*)/openblas-" is_openblas "${report}")
set(reference ${CMAKE_MATCH_1}/blas)
if(is_openblas AND EXISTS ${reference}/libblas.so.3)
  unset(ENV{OPENBLAS_CORETYPE})
  set(ENV{LD_LIBRARY_PATH} "${reference}:$ENV{LD_LIBRARY_PATH}")
  expect(0 simulate good.yaml)
  expect_text("${errors}" "the reference BLAS is in use .*; install OpenBLAS or BLIS")
else()
  message(STATUS "left out: OpenBLAS and the reference BLAS are not both installed")
endif()
