# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D FILE=<document> -D PROGRAM=<source> -P quotation.cmake: each ```cpp block of the document is part of the source.

cmake_minimum_required(VERSION 3.22)

file(READ ${FILE} rest)
file(READ ${PROGRAM} program)
set(blocks 0)
string(FIND "${rest}" "```cpp\n" begin)
while(NOT begin EQUAL -1)
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} block)
  string(FIND "${program}" "${block}" found)
  if(found EQUAL -1)
    message(SEND_ERROR "${FILE} quotes what is not in ${PROGRAM}:\n${block}")
  endif()
  math(EXPR blocks "${blocks} + 1")
  math(EXPR end "${end} + 3")
  string(SUBSTRING "${rest}" ${end} -1 rest)
  string(FIND "${rest}" "```cpp\n" begin)
endwhile()
if(blocks EQUAL 0)
  message(FATAL_ERROR "${FILE} has no C++ code")
endif()
message("${blocks} blocks")
