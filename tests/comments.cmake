# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D ROOT=<checkout> -P comments.cmake: the rules of CONTRIBUTING.md, section "Plain words", that a text search can
# check. A doc comment (///) of the library, the runner or the Python module begins with a noun or verb phrase, so not with
# a pronoun, preposition or conjunction. The string literals of these sources, and all comments, also those of tests,
# examples and benchmarks, do not use the private words of the glossary.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

set(not_a_beginning
    "Also|And|Anything|As|At|But|By|For|From|Here|How|If|In|It|Its|Like|Likewise|None|Not|Nothing|Of|On|Or|Same|So|Such|Than|That|Their|Then|There|These|They|Those|To|What|When|Where|Whether|Which|Who|Whose|With|Without"
)
set(private_words
    "bit for bit|dear|dearer|likewise|made elsewhere|mended|nobody|same bits|spare|spares|tell|tells|told|verb|verbs|whatever")

set_property(GLOBAL PROPERTY faulty 0)
function(report file what text)
  get_property(faulty GLOBAL PROPERTY faulty)
  math(EXPR faulty "${faulty} + 1")
  set_property(GLOBAL PROPERTY faulty ${faulty})
  string(STRIP "${text}" shown)
  message("${file}: ${what}:\n    ${shown}")
endfunction()

# Reports each of the given texts, parts of a file, that uses a private word.
function(check_words file)
  foreach(text IN LISTS ARGN)
    string(TOLOWER " ${text} " lower)
    if(lower MATCHES "[^a-z_`](${private_words})[^a-z_(`]")
      report(${file} "\"${CMAKE_MATCH_1}\" is in the glossary of CONTRIBUTING.md" "${text}")
    endif()
  endforeach()
endfunction()

# Sets VARIABLE to the text of a file. Escape sequences and characters that have a meaning in lists of CMake are replaced.
function(read_text variable file)
  file(READ ${ROOT}/${file} text)
  string(REPLACE "\\\\" " " text "${text}")
  string(REPLACE "\\\"" "'" text "${text}")
  string(REPLACE "\\n" " " text "${text}")
  string(REGEX REPLACE "[];\\[]" "," text "\n${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Sets VARIABLE to the string literals of a C++ text, raw strings R"(…)" included.
function(find_literals variable text)
  set(raw "")
  string(FIND "${text}" "R\"(" begin)
  while(NOT begin EQUAL -1)
    string(SUBSTRING "${text}" 0 ${begin} before)
    string(SUBSTRING "${text}" ${begin} -1 rest)
    string(FIND "${rest}" ")\"" end)
    if(end EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${end} literal)
    math(EXPR end "${end} + 2")
    string(SUBSTRING "${rest}" ${end} -1 rest)
    string(REGEX REPLACE "[ \n]+" " " literal "${literal}")
    list(APPEND raw "${literal}")
    set(text "${before}${rest}")
    string(FIND "${text}" "R\"(" begin)
  endwhile()
  string(REPLACE "'\"'" "' '" text "${text}") # the character, which does not delimit a string
  string(REGEX MATCHALL "\"[^\"\n]*\"" literals "${text}")
  set(${variable} "${raw};${literals}" PARENT_SCOPE)
endfunction()

find_sources(files)
foreach(file IN LISTS files)
  read_text(text ${file})

  # The first line of a doc comment follows a line that is none.
  string(REGEX MATCHALL "\n[ \t]*(//[^/\n][^\n]*|[^/\n \t][^\n]*|)\n[ \t]*/// *(${not_a_beginning})[^A-Za-z][^\n]*" found
         "${text}")
  foreach(lines IN LISTS found)
    string(REGEX REPLACE ".*\n" "" line "${lines}")
    report(${file} "begins with neither a noun nor a verb" "${line}")
  endforeach()

  find_literals(literals "${text}")
  check_words(${file} ${literals})
endforeach()

set(patterns "")
foreach(folder IN ITEMS tests examples benchmarks)
  foreach(pattern IN ITEMS *.hpp *.cpp *.py *.yaml CMakeLists.txt)
    list(APPEND patterns ${ROOT}/${folder}/${pattern})
  endforeach()
endforeach()
file(GLOB_RECURSE others RELATIVE ${ROOT} ${patterns})
list(APPEND files ${others})
list(LENGTH files count)
foreach(file IN LISTS files)
  read_text(text ${file})
  set(mark "#")
  if(file MATCHES "\\.[ch]pp$")
    set(mark "//")
  endif()
  string(REGEX MATCHALL "${mark}[^\n]*" comments "${text}")
  check_words(${file} ${comments})
endforeach()

get_property(faulty GLOBAL PROPERTY faulty)
if(faulty GREATER 0)
  message(FATAL_ERROR "${faulty} comments or string literals to rewrite in ${count} files")
endif()
message("${count} files, no comment and no string literal to rewrite")
