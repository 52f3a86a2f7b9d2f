# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D ROOT=<checkout> -D SCRATCH=<folder> -P reference.cmake: Doxygen makes the API reference without a warning.

cmake_minimum_required(VERSION 3.22)

find_program(doxygen NAMES doxygen)
if(NOT doxygen)
  message("skipped: there is no doxygen; install doxygen")
  return()
endif()
file(READ ${ROOT}/docs/Doxyfile options)
file(WRITE ${SCRATCH}/Doxyfile "${options}\nOUTPUT_DIRECTORY = \"${SCRATCH}\"\n")
execute_process(COMMAND ${doxygen} ${SCRATCH}/Doxyfile WORKING_DIRECTORY ${ROOT} RESULT_VARIABLE code
                OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0 OR NOT EXISTS ${SCRATCH}/html/index.html)
  message(FATAL_ERROR "${errors}\ndoxygen docs/Doxyfile: exit code ${code}")
endif()
