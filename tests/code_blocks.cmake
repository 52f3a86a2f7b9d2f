# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

# diffsim_take_code(TEXT BLOCK): removes from the variable TEXT everything up to the end of its first ```cpp block, and sets
# the variable BLOCK to the code of that block; to an empty string if there is none.
function(diffsim_take_code text block)
  set(rest "${${text}}")
  set(code "")
  string(FIND "${rest}" "```cpp\n" begin)
  if(NOT begin EQUAL -1)
    math(EXPR begin "${begin} + 7")
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    string(FIND "${rest}" "```" end)
    string(SUBSTRING "${rest}" 0 ${end} code)
    math(EXPR end "${end} + 3")
    string(SUBSTRING "${rest}" ${end} -1 rest)
  endif()
  set(${text} "${rest}" PARENT_SCOPE)
  set(${block} "${code}" PARENT_SCOPE)
endfunction()
