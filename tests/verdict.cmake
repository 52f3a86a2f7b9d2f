# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Function for the tests x_refuses.cmake.

# Runs tests/CHECK.cmake on the folder ROOT. Reports an error with TEXT if the verdict, `accepted` or `refused`, is not
# VERDICT.
function(expect_verdict verdict check root text)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D ROOT=${root} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${check}.cmake
    RESULT_VARIABLE result
    OUTPUT_QUIET ERROR_QUIET)
  set(got refused)
  if(result EQUAL 0)
    set(got accepted)
  endif()
  if(NOT got STREQUAL verdict)
    message(SEND_ERROR "${root}: ${got}, not ${verdict}: ${text}")
  endif()
endfunction()
