# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D ROOT=<checkout> -P sizes.cmake: checks the limits of sizes. A function of the library, the runner or the Python
# module has at most 60 lines, from its first line to its closing brace; functions of tests are not counted. Installed
# headers outside of folders `impl` are counted in two groups: at most 35 headers for programs, with a median of at most
# 120 lines, and at most 6 headers for authors of laws and force terms (layers.cmake). The sources are formatted by
# clang-format, so the indentation shows where functions begin and end.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

set(max_lines_of_function 60)
set(max_headers 35)
set(max_author_headers 6)
set(max_median_lines 120)

set(violations 0)
macro(violation text)
  math(EXPR violations "${violations} + 1")
  message("${text}")
endmacro()

# Sets VARIABLE to the lines of a file. Characters that have a meaning in lists of CMake are replaced.
function(read_lines variable file)
  file(READ ${file} text)
  string(REGEX REPLACE "[];\\[]" "," text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

find_sources(files)
list(LENGTH files count)

foreach(file IN LISTS files)
  read_lines(lines ${ROOT}/${file})
  set(number 0)
  set(is_raw FALSE) # inside a raw string literal of several lines
  # First line of the last declaration at namespace scope, and of that in a class.
  set(begin_0 1)
  set(begin_2 1)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(is_raw)
      if(line MATCHES "\\)\"")
        set(is_raw FALSE)
      endif()
      continue()
    endif()
    if(line MATCHES "R\"\\(" AND NOT line MATCHES "R\"\\(.*\\)\"")
      set(is_raw TRUE)
    elseif(line MATCHES "^(  )?}$")
      string(LENGTH "${CMAKE_MATCH_1}" indentation)
      math(EXPR length "${number} - ${begin_${indentation}} + 1")
      if(length GREATER max_lines_of_function)
        violation("${file}:${begin_${indentation}}: a function of ${length} lines; ${max_lines_of_function} are allowed")
      endif()
    elseif(NOT line MATCHES "^ *template.*>$" AND line MATCHES "^(  )?[A-Za-z_:~]")
      string(LENGTH "${CMAKE_MATCH_1}" indentation)
      set(begin_${indentation} ${number})
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE headers RELATIVE ${ROOT}/include ${ROOT}/include/*.hpp)
list(FILTER headers EXCLUDE REGEX "/impl/")
set(author_headers ${headers})
list(FILTER author_headers INCLUDE REGEX "_impl\\.hpp$|elastic/law\\.hpp$")
list(LENGTH author_headers number)
if(number GREATER max_author_headers)
  violation("authors include ${number} headers; ${max_author_headers} are allowed")
endif()
set(counted "${number} headers for authors")
list(FILTER headers EXCLUDE REGEX "_impl\\.hpp$|elastic/law\\.hpp$")
set(lengths "")
foreach(header IN LISTS headers)
  read_lines(lines ${ROOT}/include/${header})
  list(LENGTH lines length)
  math(EXPR length "${length} - 1") # the last line ends with a newline, after which the list has an empty entry
  list(APPEND lengths ${length})
endforeach()
list(LENGTH lengths number)
if(number GREATER max_headers)
  violation("programs include ${number} headers; ${max_headers} are allowed")
endif()
if(number GREATER 0)
  list(SORT lengths COMPARE NATURAL)
  math(EXPR middle "(${number} - 1) / 2")
  list(GET lengths ${middle} median)
  if(median GREATER max_median_lines)
    violation("the median of the headers' lengths is ${median} lines; ${max_median_lines} are allowed")
  endif()
endif()

if(violations GREATER 0)
  message(FATAL_ERROR "${violations} violations of the limits of sizes in ${count} files")
endif()
message("${count} files, ${number} headers for programs, median of ${median} lines, ${counted}, no violation")
