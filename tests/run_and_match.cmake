# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D "RUN=<command>" -D CODE=<exit code> -D MATCH=<regular expression> -P run_and_match.cmake
#
# Runs a command. Fails unless the exit code is CODE and the output matches MATCH. CTest's PASS_REGULAR_EXPRESSION
# ignores the exit code.

cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND ${RUN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}${errors}")
if(NOT code EQUAL CODE)
  message(FATAL_ERROR "ended with ${code}; expected ${CODE}")
endif()
if(NOT output MATCHES "${MATCH}")
  message(FATAL_ERROR "nothing in the output matches ${MATCH}")
endif()
