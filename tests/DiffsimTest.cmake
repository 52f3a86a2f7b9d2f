# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
set(DIFFSIM_MPIEXEC_FLAGS ${MPIEXEC_PREFLAGS})
if(mpiexec_version MATCHES "Open MPI|OpenRTE|PRRTE|PRTE")
  # Several tests run at once, with more ranks than cores. Open MPI must neither refuse ranks nor pin several of them to
  # one core.
  list(APPEND DIFFSIM_MPIEXEC_FLAGS --oversubscribe --bind-to none)
endif()

# Environment of every test that starts MPI. Waiting ranks and threads yield the core to working ones. The
# point-to-point layer of Open MPI is given, because the search for others, on networks that a test does not use, takes
# 0.2 s per start.
set(DIFFSIM_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_pml=ob1
    OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none
    OMP_PROC_BIND=false
    OMP_WAIT_POLICY=passive
    KOKKOS_DISABLE_WARNINGS=true)
if(DIFFSIM_SANITIZE)
  # Leak detection is off: leaks in MPI and PETSc are not errors of diffsim.
  list(APPEND DIFFSIM_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1)
endif()

# diffsim_add_mpi_test(NAME [RANKS n] [THREADS n] [TIMEOUT s] [LABELS ...] [CODE n] [MATCH regex] [ENVIRONMENT ...]
#                      COMMAND command...)
#
# Adds a CTest that runs the command on RANKS ranks, in a separate folder. The test passes if the exit code is CODE (0
# by default) and, if MATCH is given, the output matches this regular expression. ENVIRONMENT lists variables in
# addition to those of every test.
function(diffsim_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RANKS;THREADS;TIMEOUT;CODE;MATCH" "LABELS;ENVIRONMENT;COMMAND")
  foreach(default IN ITEMS RANKS=1 THREADS=1 TIMEOUT=600 CODE=0)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 key)
    if(NOT DEFINED arg_${key})
      list(GET default 1 arg_${key})
    endif()
  endforeach()
  if(DIFFSIM_SANITIZE)
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")  # sanitizers make the programs slower
  endif()
  set(folder ${PROJECT_BINARY_DIR}/tests/run/${name})
  file(MAKE_DIRECTORY ${folder})
  set(command ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS} ${DIFFSIM_MPIEXEC_FLAGS} ${arg_COMMAND}
              ${MPIEXEC_POSTFLAGS})
  if(DEFINED arg_MATCH OR NOT arg_CODE EQUAL 0)
    add_test(
      NAME ${name}
      COMMAND ${CMAKE_COMMAND} -D "RUN=${command}" -D CODE=${arg_CODE} -D "MATCH=${arg_MATCH}"
              -P ${PROJECT_SOURCE_DIR}/tests/run_and_match.cmake
      WORKING_DIRECTORY ${folder})
  else()
    add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${folder})
  endif()
  math(EXPR processors "${arg_RANKS} * ${arg_THREADS}")
  set_tests_properties(
    ${name}
    PROPERTIES ENVIRONMENT "${DIFFSIM_TEST_ENVIRONMENT};OMP_NUM_THREADS=${arg_THREADS};${arg_ENVIRONMENT}"
               PROCESSORS ${processors}
               TIMEOUT ${arg_TIMEOUT}
               LABELS "${arg_LABELS}")
endfunction()

# Tests of these folders run many rollouts, which are slow if several ranks share a core.
option(DIFFSIM_EVERY_CASE_ON_EVERY_RANKS "Run each case of the tests in tests/simulation, tests/app and tests/inverse on \
1, 2 and 3 ranks, not all on 1 and in turn on 3, on 2 and on no other number" OFF)
set(DIFFSIM_SPLIT_FOLDERS simulation app inverse)

# Each test of these folders takes one or two seconds.
set(DIFFSIM_QUICK_FOLDERS core mesh io elastic load spring contact checkpoint)

# diffsim_add_test(FOLDER/X_test.cpp [RANKS n...] [THREADS n...] [QUICK n...] [TIMEOUT s] [APART] [FIRST_ON_TWO]
#                  [EVERY_CASE] [LIBRARIES target...] [DEFINITIONS definition...])
#
# Adds the source to the program of its folder, FOLDER_tests, and adds one CTest for each number of ranks and of
# threads: folder.x.np2, or folder.x.np2.t2 for two threads. The default is RANKS 1 2 3, THREADS 1, TIMEOUT 600. Paths
# are relative to tests/. With APART the source has its own main() and becomes a separate program, FOLDER_x_test. QUICK
# lists the numbers of ranks on which the test has the label `quick`: by default 1 and 2 in DIFFSIM_QUICK_FOLDERS,
# otherwise none; QUICK 0 means none. In DIFFSIM_SPLIT_FOLDERS, all cases run on one rank, and also cases 1, 4, 7, … on
# three ranks and cases 2, 5, 8, … on two. FIRST_ON_TWO exchanges the two, for tests whose cases 1, 4, 7, … take longer.
# With EVERY_CASE, all cases run on all numbers of ranks. If DIFFSIM_TESTS names tests, these run on two ranks if two is
# among their numbers of ranks.
function(diffsim_add_test file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART;FIRST_ON_TWO;EVERY_CASE" "TIMEOUT" "RANKS;THREADS;QUICK;LIBRARIES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "diffsim_add_test(${file}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/${file})
    message(FATAL_ERROR "diffsim_add_test(${file}): there is no tests/${file}")
  endif()
  foreach(default IN ITEMS "RANKS=1 2 3" "THREADS=1" "TIMEOUT=600")
    string(REGEX MATCH "(.*)=(.*)" _ ${default})
    if(NOT DEFINED arg_${CMAKE_MATCH_1})
      string(REPLACE " " ";" arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY DIFFSIM_LISTED_TESTS ${file})

  string(REGEX REPLACE "/.*" "" folder ${file})
  if(NOT DEFINED arg_QUICK AND folder IN_LIST DIFFSIM_QUICK_FOLDERS)
    set(arg_QUICK 1 2)
  endif()
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_test$" "" name ${name})
  set(filter "")
  if(DIFFSIM_TESTS)
    set(chosen ${DIFFSIM_TESTS})
    list(FILTER chosen INCLUDE REGEX "^${folder}/${name}(=|$)")
    if(NOT chosen)
      return()
    endif()
    if(chosen MATCHES "=(.*)")
      set(filter --gtest_filter=${CMAKE_MATCH_1})
    endif()
    if(2 IN_LIST arg_RANKS)
      set(arg_RANKS 2)
    endif()
  endif()

  set(target ${folder}_tests)
  set(source --source=${name}_test.cpp)
  if(arg_APART)
    set(target ${folder}_${name}_test)
    set(source "")
  endif()
  if(NOT TARGET ${target})
    add_executable(${target})
    diffsim_configure_target(${target})
    set(main diffsim_test_main)
    if(folder IN_LIST DIFFSIM_OPTIMISED_TEST_FOLDERS)
      set(main diffsim_optimised_test_main)
    endif()
    target_link_libraries(${target} PRIVATE ${main})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
    if(DIFFSIM_PRECOMPILE_HEADERS)
      target_precompile_headers(${target} REUSE_FROM ${main})
    endif()
    if(DIFFSIM_UNITY_BUILD)
      # Most of the compile time is spent on templates that all sources use.
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
  endif()
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/${file})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})

  foreach(ranks IN LISTS arg_RANKS)
    set(labels ${folder})
    if(ranks IN_LIST arg_QUICK)
      list(APPEND labels quick)
      add_dependencies(diffsim_quick_tests ${target})
    endif()
    # GoogleTest distributes the cases over the shards in turn.
    set(part "")
    if(folder IN_LIST DIFFSIM_SPLIT_FOLDERS AND NOT DIFFSIM_EVERY_CASE_ON_EVERY_RANKS AND NOT DIFFSIM_TESTS
       AND NOT arg_EVERY_CASE AND 2 IN_LIST arg_RANKS AND 3 IN_LIST arg_RANKS AND ranks GREATER 1)
      math(EXPR index "3 - ${ranks}")
      if(arg_FIRST_ON_TWO)
        math(EXPR index "1 - ${index}")
      endif()
      set(part ENVIRONMENT GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=${index})
    endif()
    foreach(threads IN LISTS arg_THREADS)
      set(test ${folder}.${name}.np${ranks})
      if(NOT threads EQUAL 1)
        string(APPEND test .t${threads})
      endif()
      diffsim_add_mpi_test(
        ${test}
        RANKS ${ranks}
        THREADS ${threads}
        TIMEOUT ${arg_TIMEOUT}
        LABELS ${labels} ${part}
        COMMAND $<TARGET_FILE:${target}> ${source} ${filter})
    endforeach()
  endforeach()
endfunction()
