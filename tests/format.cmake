# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D ROOT=<checkout> -P format.cmake: checks that clang-format would leave every C++ source unchanged. Versions of
# clang-format differ in their output, so the check is skipped if version 14 is not installed.

cmake_minimum_required(VERSION 3.22)

find_program(formatter NAMES clang-format-14 clang-format HINTS ${ROOT}/build/deps/python/bin)
if(NOT formatter)
  message("skipped: there is no clang-format; install clang-format-14")
  return()
endif()
execute_process(COMMAND ${formatter} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT version MATCHES "version 14\\.")
  message("skipped: ${formatter} is ${version}; install clang-format-14")
  return()
endif()

set(sources "")
foreach(folder IN ITEMS include src tests benchmarks examples python)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  list(APPEND sources ${found})
endforeach()
list(LENGTH sources count)
if(count LESS 100)
  message(FATAL_ERROR "found ${count} sources only in ${ROOT}")
endif()
execute_process(COMMAND ${formatter} --dry-run --Werror ${sources} WORKING_DIRECTORY ${ROOT} RESULT_VARIABLE code
                ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${errors}\nnot formatted; run clang-format -i on these files")
endif()
message("${count} sources")
