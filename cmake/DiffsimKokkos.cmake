# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds Kokkos 3.4 or later in Kokkos_ROOT, in the folders that CMake searches, or in the folder into which
# scripts/install-deps.sh installs Kokkos. If there is no Kokkos, downloads a pinned release, which is built as part of
# diffsim. Checks that Kokkos has the execution space DIFFSIM_EXECUTION_SPACE.

set(DIFFSIM_KOKKOS_URL "https://github.com/kokkos/kokkos/releases/download/4.6.02/kokkos-4.6.02.tar.gz"
    CACHE STRING "The Kokkos release to download if none is found")
set(DIFFSIM_KOKKOS_SHA256 "baf1ebbe67abe2bbb8bb6aed81b4247d53ae98ab8475e516d9c87e87fa2422ce"
    CACHE STRING "Its SHA256")
mark_as_advanced(DIFFSIM_KOKKOS_URL DIFFSIM_KOKKOS_SHA256)

find_package(Kokkos QUIET HINTS ${PROJECT_BINARY_DIR}/deps ${PROJECT_SOURCE_DIR}/build/deps)

if(Kokkos_FOUND)
  if(DEFINED Kokkos_VERSION AND Kokkos_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old; 3.4 or later is needed. Set Kokkos_ROOT")
  endif()
elseif(DIFFSIM_FETCH_KOKKOS)
  message(STATUS "No Kokkos found: downloading ${DIFFSIM_KOKKOS_URL}")
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "")
  if(DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    if(NOT CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper|clang")
      message(FATAL_ERROR "A CUDA Kokkos cannot be built along with ${CMAKE_CXX_COMPILER}. Install Kokkos with CUDA and"
                          " set Kokkos_ROOT to it, or give its nvcc_wrapper as CMAKE_CXX_COMPILER")
    endif()
    set(Kokkos_ENABLE_CUDA ON CACHE BOOL "")
    set(Kokkos_ENABLE_CUDA_LAMBDA ON CACHE BOOL "")
  elseif(NOT DIFFSIM_EXECUTION_SPACE STREQUAL "SERIAL")
    set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "")
  endif()
  include(FetchContent)
  FetchContent_Declare(Kokkos URL ${DIFFSIM_KOKKOS_URL} URL_HASH SHA256=${DIFFSIM_KOKKOS_SHA256})
  # The symbols are hidden because PETSc may load Trilinos, which contains another Kokkos. Symbols of one Kokkos must
  # not be bound to those of the other.
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  FetchContent_MakeAvailable(Kokkos)
  unset(CMAKE_CXX_VISIBILITY_PRESET)
  unset(CMAKE_VISIBILITY_INLINES_HIDDEN)
  unset(CMAKE_POSITION_INDEPENDENT_CODE)
  # The headers of Kokkos are system headers, so that they cause no compiler warnings.
  foreach(target IN ITEMS kokkoscore kokkoscontainers kokkosalgorithms kokkossimd)
    if(TARGET ${target})
      get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${directories})
    endif()
  endforeach()
else()
  message(FATAL_ERROR "No Kokkos found. Run scripts/install-deps.sh, or set Kokkos_ROOT to an installed Kokkos,"
                      " or let DIFFSIM_FETCH_KOKKOS download one")
endif()

include(KokkosInTrilinos)

foreach(device IN LISTS Kokkos_DEVICES)
  string(TOUPPER ${device} device)
  set(diffsim_kokkos_has_${device} TRUE)
endforeach()
if(Kokkos_DEVICES
   AND NOT DIFFSIM_EXECUTION_SPACE STREQUAL "DEFAULT"
   AND NOT diffsim_kokkos_has_${DIFFSIM_EXECUTION_SPACE})
  message(FATAL_ERROR "DIFFSIM_EXECUTION_SPACE is ${DIFFSIM_EXECUTION_SPACE}, but Kokkos in ${Kokkos_DIR} has only:"
                      " ${Kokkos_DEVICES}. Set Kokkos_ROOT to one that has it")
endif()
message(STATUS "Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}), kernels run in: ${DIFFSIM_EXECUTION_SPACE}")
