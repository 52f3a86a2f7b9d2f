# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

include(${CMAKE_CURRENT_LIST_DIR}/code_blocks.cmake)

# diffsim_add_document_test(NAME FILE [RANKS n] MATCH regex [CHECK code]): a test that compiles and runs the C++ code of a
# Markdown file. The #include lines of the blocks and of CHECK come first; the other lines are the body of main(), in the
# same order. No other header is included, so the code must include what it uses. The output must match MATCH.
function(diffsim_add_document_test name file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "RANKS;MATCH;CHECK" "")
  file(READ ${PROJECT_SOURCE_DIR}/${file} rest)
  set(code "")
  diffsim_take_code(rest block)
  while(NOT block STREQUAL "")
    string(APPEND code "${block}")
    diffsim_take_code(rest block)
  endwhile()
  if(code STREQUAL "")
    message(FATAL_ERROR "${file} has no C++ code")
  endif()
  string(REGEX MATCHALL "#include [^\n]*\n" document_includes "${code}${arg_CHECK}")
  list(JOIN document_includes "" document_includes)
  string(REGEX REPLACE "#include [^\n]*\n" "" document_code "${code}")
  set(document ${file})
  string(REGEX REPLACE "#include [^\n]*\n" "" document_check "${arg_CHECK}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  set(target document_${name})
  string(MAKE_C_IDENTIFIER ${target} target)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/document.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/documents/${target}.cpp @ONLY)
  add_executable(${target} ${CMAKE_CURRENT_BINARY_DIR}/documents/${target}.cpp)
  diffsim_configure_target(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  target_link_libraries(${target} PRIVATE diffsim::diffsim)
  if(DIFFSIM_PRECOMPILE_HEADERS)
    get_property(first GLOBAL PROPERTY DIFFSIM_FIRST_DOCUMENT)
    if(first)
      target_precompile_headers(${target} REUSE_FROM ${first})
    else()
      target_precompile_headers(${target} PRIVATE <diffsim/diffsim.hpp>)
      set_property(GLOBAL PROPERTY DIFFSIM_FIRST_DOCUMENT ${target})
    endif()
  endif()
  diffsim_add_mpi_test(${name} RANKS ${arg_RANKS} CODE 0 MATCH "${arg_MATCH}" COMMAND $<TARGET_FILE:${target}>)
endfunction()

# diffsim_add_quotation_test(NAME FILE PROGRAM): a test that each ```cpp block of a Markdown file is part of a program.
function(diffsim_add_quotation_test name file program)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -D FILE=${PROJECT_SOURCE_DIR}/${file} -D PROGRAM=${PROJECT_SOURCE_DIR}/${program}
                                -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/quotation.cmake)
endfunction()
