# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D ROOT=<checkout> -P comments.cmake: the rules of CONTRIBUTING.md, section "Plain words", that a text search can
# check. A doc comment (///) begins with a noun or verb phrase, so not with a pronoun, preposition or conjunction; comments
# do not use the private words of the glossary.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

set(not_a_beginning
    "Also|And|Anything|As|At|But|By|For|From|Here|How|If|In|It|Its|Like|Likewise|None|Not|Nothing|Of|On|Or|Same|So|Such|Than|That|Their|Then|There|These|They|Those|To|What|When|Where|Whether|Which|Who|Whose|With|Without"
)
set(private_words "dear|dearer|likewise|mended|nobody|spare|spares|tell|tells|told|verb|verbs|whatever")

set(faulty 0)
macro(report file what text)
  math(EXPR faulty "${faulty} + 1")
  string(STRIP "${text}" shown)
  message("${file}: ${what}:\n    ${shown}")
endmacro()

find_sources(files)
list(LENGTH files count)

foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} text)
  # Characters that have a meaning in lists of CMake.
  string(REGEX REPLACE "[];\\[]" "," text "\n${text}")

  # The first line of a doc comment follows a line that is none.
  string(REGEX MATCHALL "\n[ \t]*(//[^/\n][^\n]*|[^/\n \t][^\n]*|)\n[ \t]*/// *(${not_a_beginning})[^A-Za-z][^\n]*" found
         "${text}")
  foreach(lines IN LISTS found)
    string(REGEX REPLACE ".*\n" "" line "${lines}")
    report(${file} "begins with neither a noun nor a verb" "${line}")
  endforeach()

  string(REGEX MATCHALL "//[^\n]*" comments "${text}")
  foreach(comment IN LISTS comments)
    string(TOLOWER "${comment} " lower)
    if(lower MATCHES "[^a-z_`](${private_words})[^a-z_(`]")
      report(${file} "\"${CMAKE_MATCH_1}\" is in the glossary of CONTRIBUTING.md" "${comment}")
    endif()
  endforeach()
endforeach()

if(faulty GREATER 0)
  message(FATAL_ERROR "${faulty} comments to rewrite in ${count} files")
endif()
message("${count} files, no comment to rewrite")
