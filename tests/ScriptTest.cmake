# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

# diffsim_add_script_test(NAME SCRIPT [AFTER test...] [ARGUMENTS argument...] WRITES file... [SAME_AS file]
#                         LABELS label...)
#
# Adds a test that runs the Python script examples/SCRIPT in a separate folder. The script must write the files WRITES,
# whose paths are relative to this folder. If SAME_AS is given, the last of these files must equal the file SAME_AS. AFTER
# lists tests of the same CMakeLists.txt that write the inputs of the script. The test is skipped if no Python has the
# packages that the script imports.
function(diffsim_add_script_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SAME_AS" "AFTER;ARGUMENTS;WRITES;LABELS")
  set(folder ${PROJECT_BINARY_DIR}/tests/run/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(
    NAME ${name}
    COMMAND ${CMAKE_COMMAND} -D SCRIPT=${PROJECT_SOURCE_DIR}/examples/${script} -D "ARGUMENTS=${arg_ARGUMENTS}"
            -D "WRITES=${arg_WRITES}" -D SAME_AS=${arg_SAME_AS} -P ${PROJECT_SOURCE_DIR}/tests/run_script.cmake
    WORKING_DIRECTORY ${folder})
  foreach(test IN LISTS arg_AFTER)
    set_property(TEST ${test} APPEND PROPERTY FIXTURES_SETUP ${test})
  endforeach()
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED "${arg_AFTER}" SKIP_REGULAR_EXPRESSION "^skipped: " TIMEOUT 60
                                          LABELS "${arg_LABELS}")
endfunction()
