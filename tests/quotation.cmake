# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D FILE=<document> -D PROGRAM=<source> -P quotation.cmake: each ```cpp block of the document is part of the source.

cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/code_blocks.cmake)

file(READ ${FILE} rest)
file(READ ${PROGRAM} program)
set(blocks 0)
diffsim_take_code(rest block)
while(NOT block STREQUAL "")
  math(EXPR blocks "${blocks} + 1")
  string(FIND "${program}" "${block}" found)
  if(found EQUAL -1)
    message(SEND_ERROR "${FILE} quotes what is not in ${PROGRAM}:\n${block}")
  endif()
  diffsim_take_code(rest block)
endwhile()
if(blocks EQUAL 0)
  message(FATAL_ERROR "${FILE} has no C++ code")
endif()
message("${blocks} blocks")
