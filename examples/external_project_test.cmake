# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Usage: cmake -D WAY=installed|subdirectory -D EXAMPLE=external_project ... -P external_project_test.cmake
# diffsim_add_project_test in CMakeLists.txt describes this test.

cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
set(configure
    ${CMAKE_COMMAND} -S ${SOURCE}/examples/${EXAMPLE} -B ${SCRATCH}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_FLAGS_RELEASE=-O2 -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")

if(WAY STREQUAL "installed")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix --config ${CONFIG})
  run(${configure} -D diffsim_ROOT=${SCRATCH}/prefix)
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
  run(${MPIEXEC} ${SCRATCH}/build/${EXAMPLE})
  if(NOT output MATCHES "gradient checks passed")
    message(FATAL_ERROR "unexpected output")
  endif()
else()
  run(${configure} -D DIFFSIM_SOURCE=${SOURCE} -D Kokkos_DIR=${Kokkos_DIR} -D DIFFSIM_EXECUTION_SPACE=${EXECUTION_SPACE})
  # In a subdirectory, diffsim configures the library only. The test does not build the library again, because the main
  # build has already built it.
  file(READ ${SCRATCH}/build/CMakeCache.txt cache)
  if(NOT cache MATCHES "DIFFSIM_BUILD_TESTS:BOOL=OFF" OR NOT cache MATCHES "DIFFSIM_BUILD_APP:BOOL=OFF")
    message(FATAL_ERROR "tests and runner are on in a subdirectory")
  endif()
  if(GENERATOR MATCHES "Ninja")
    run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target CMakeFiles/${EXAMPLE}.dir/main.cpp.o)
  elseif(GENERATOR MATCHES "Makefiles")
    run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target main.cpp.o)
  endif()
endif()
