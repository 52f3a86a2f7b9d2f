# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# diffsim_configure_target(TARGET): warnings, instruction set and sanitizers, the same for all that is ours.
# The instruction set is public: SIMD types of the headers must be as wide in a user's code as in the library.

set(diffsim_arch_options "")
if(DIFFSIM_ARCH)
  set(diffsim_arch_options -march=${DIFFSIM_ARCH})
elseif(DIFFSIM_NATIVE)
  set(diffsim_arch_options -march=native)
endif()

# Says in what kernels compute. The widths are those of core/impl/pack.hpp.
function(diffsim_report_width)
  if(DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA" OR DIFFSIM_EMULATE_DEVICE)
    message(STATUS "Kernels work one element a thread")
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${diffsim_arch_options} -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros
    ERROR_VARIABLE complaint
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The compiler refuses '${flags} ${diffsim_arch_options}'; set DIFFSIM_ARCH to one of its"
                        " -march names:\n${complaint}")
  endif()
  set(width "2 doubles")
  if(macros MATCHES "__AVX512F__")
    set(width "8 doubles (AVX-512)")
  elseif(macros MATCHES "__AVX__")
    set(width "4 doubles (AVX)")
  endif()
  message(STATUS "Kernels work packs of ${width}, by the compiler's options: ${CMAKE_CXX_FLAGS} ${diffsim_arch_options}")
endfunction()
diffsim_report_width()

function(diffsim_configure_target target)
  set(warnings -Wall -Wextra)
  if(NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    # nvcc's intermediate code is not free of these
    list(APPEND warnings -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  endif()
  if(DIFFSIM_WARNINGS_AS_ERRORS AND NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    # What depends on how far the optimiser sees differs with processor and compiler, and is often a false alarm.
    list(APPEND warnings -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      foreach(kind IN ITEMS maybe-uninitialized uninitialized array-bounds stringop-overflow stringop-overread
                            free-nonheap-object dangling-pointer use-after-free)
        list(APPEND warnings -Wno-error=${kind})
      endforeach()
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict -Wno-stringop-overflow) # false alarms from std::string, GCC bug 105651
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND DIFFSIM_UNITY_BUILD)
    list(APPEND warnings -Wno-subobject-linkage) # a source that another includes is taken for a header
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

  get_target_property(type ${target} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "EXECUTABLE")
    set(scope PRIVATE)
  endif()
  target_compile_options(${target} ${scope} ${diffsim_arch_options})
  if(DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    target_compile_options(${target} ${scope} --expt-relaxed-constexpr) # std::array in kernels
    target_compile_definitions(${target} PRIVATE FMT_USE_CONSTEXPR=1) # fmt 9 leaves half of its constexpr out for nvcc
  endif()
  if(DIFFSIM_SANITIZE)
    target_compile_options(${target} ${scope} -fsanitize=${DIFFSIM_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} ${scope} -fsanitize=${DIFFSIM_SANITIZE})
  endif()
endfunction()

# diffsim_configure_library(TARGET): settings of the library and of its parts.
function(diffsim_configure_library target)
  diffsim_configure_target(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(
    ${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # The C interface of MPI only.
  target_compile_definitions(${target} PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(
    ${target}
    PUBLIC Kokkos::kokkos MPI::MPI_C PETSc::PETSc ParallelHDF5::ParallelHDF5
    PRIVATE fmt::fmt spdlog::spdlog Scotch::Scotch tinyxml2::tinyxml2 ZLIB::ZLIB)
  if(DIFFSIM_PRECOMPILE_HEADERS)
    target_precompile_headers(
      ${target}
      PRIVATE
      <algorithm>
      <cmath>
      <map>
      <memory>
      <span>
      <string>
      <vector>
      <petscksp.h>
      <Kokkos_Core.hpp>)
  endif()
endfunction()

# Sets VARIABLE to those of the sources that have kernels.
function(diffsim_find_kernels variable)
  set(found "")
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} kernels REGEX "KOKKOS_|include \"(diffsim/)?[a-z]+/(impl/)?[a-z_]+_impl\\.hpp" LIMIT_COUNT 1)
    if(kernels)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# diffsim_compile_together(TARGET [KERNELS] [ALONE source...] SOURCES source...): with DIFFSIM_UNITY_BUILD, the sources
# become one object, so that headers and templates are compiled once for all of them. Sources with kernels stay objects
# of their own, unless KERNELS is given; those that are named ALONE, without a folder, do in any case.
function(diffsim_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "KERNELS" "" "ALONE;SOURCES")
  if(NOT DIFFSIM_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(with_kernels "")
  if(NOT arg_KERNELS)
    diffsim_find_kernels(with_kernels ${arg_SOURCES})
  endif()
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(name ${source} NAME)
    if(NOT name IN_LIST arg_ALONE AND NOT source IN_LIST with_kernels)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
    endif()
  endforeach()
endfunction()

# diffsim_add_host_sources(source...): adds the sources to the library, those without kernels to its part diffsim_host.
# Most of that is input, output and preparation; with -O1 it compiles in two thirds of the time.
function(diffsim_add_host_sources)
  if(NOT TARGET diffsim_host)
    add_library(diffsim_host OBJECT)
    diffsim_configure_library(diffsim_host)
    target_compile_options(diffsim_host PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
    target_sources(diffsim PRIVATE $<TARGET_OBJECTS:diffsim_host>)
  endif()
  set(host ${ARGN})
  diffsim_find_kernels(with_kernels ${ARGN})
  list(REMOVE_ITEM host ${with_kernels})
  target_sources(diffsim PRIVATE ${with_kernels})
  target_sources(diffsim_host PRIVATE ${host})
  diffsim_compile_together(diffsim_host SOURCES ${host})
endfunction()
