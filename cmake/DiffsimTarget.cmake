# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# diffsim_configure_target(TARGET) sets warnings, instruction set and sanitizers, which are the same for all targets of
# diffsim. The instruction set is a PUBLIC option, because SIMD types in headers must have the same width in a user's
# code as in the library.

set(diffsim_arch_options "")
if(DIFFSIM_ARCH)
  set(diffsim_arch_options -march=${DIFFSIM_ARCH})
elseif(DIFFSIM_NATIVE)
  set(diffsim_arch_options -march=native)
endif()

# Prints the width of the SIMD packs of kernels, according to core/impl/pack.hpp.
function(diffsim_report_width)
  if(DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA" OR DIFFSIM_EMULATE_DEVICE)
    message(STATUS "Kernels: each thread processes one element")
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${diffsim_arch_options} -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros
    ERROR_VARIABLE complaint
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The compiler rejects the options '${flags} ${diffsim_arch_options}'; set DIFFSIM_ARCH to a"
                        " processor that the compiler's option -march accepts:\n${complaint}")
  endif()
  set(width "2 doubles")
  if(macros MATCHES "__AVX512F__")
    set(width "8 doubles (AVX-512)")
  elseif(macros MATCHES "__AVX__")
    set(width "4 doubles (AVX)")
  endif()
  message(STATUS "Kernels: SIMD packs of ${width}, for the compiler options ${CMAKE_CXX_FLAGS} ${diffsim_arch_options}")
endfunction()
diffsim_report_width()

function(diffsim_configure_target target)
  set(warnings -Wall -Wextra)
  if(NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    # the intermediate code of nvcc causes these warnings
    list(APPEND warnings -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  endif()
  if(DIFFSIM_WARNINGS_AS_ERRORS AND NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    # The kinds of warnings in the list below are not errors, because they depend on the optimiser, differ between
    # processors and compilers, and are often false.
    list(APPEND warnings -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      foreach(kind IN ITEMS maybe-uninitialized uninitialized array-bounds stringop-overflow stringop-overread
                            free-nonheap-object dangling-pointer use-after-free)
        list(APPEND warnings -Wno-error=${kind})
      endforeach()
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict -Wno-stringop-overflow) # false warnings from std::string, GCC bug 105651
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND DIFFSIM_UNITY_BUILD)
    list(APPEND warnings -Wno-subobject-linkage) # GCC treats the sources in a unity source as headers
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    # GCC searches for unused memory only if it holds more than 1 GB. The sources compile 7 to 9 % faster, with 15 to
    # 30 % more memory.
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-heapsize=1000000")
  endif()

  get_target_property(type ${target} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "EXECUTABLE")
    set(scope PRIVATE)
  endif()
  target_compile_options(${target} ${scope} ${diffsim_arch_options})
  if(DIFFSIM_EXECUTION_SPACE STREQUAL "CUDA")
    target_compile_options(${target} ${scope} --expt-relaxed-constexpr) # std::array in kernels
    target_compile_definitions(${target} PRIVATE FMT_USE_CONSTEXPR=1) # fmt 9 omits some constexpr for nvcc
  endif()
  if(DIFFSIM_SANITIZE)
    target_compile_options(${target} ${scope} -fsanitize=${DIFFSIM_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} ${scope} -fsanitize=${DIFFSIM_SANITIZE})
  endif()
endfunction()

# diffsim_configure_library(TARGET) configures the library, or the target of one of its folders.
function(diffsim_configure_library target)
  diffsim_configure_target(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(
    ${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # Headers of MPI must not declare the C++ interface of MPI.
  target_compile_definitions(${target} PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(
    ${target}
    PUBLIC Kokkos::kokkos MPI::MPI_C PETSc::PETSc ParallelHDF5::ParallelHDF5
    PRIVATE fmt::fmt spdlog::spdlog Scotch::Scotch tinyxml2::tinyxml2 ZLIB::ZLIB)
endfunction()

# diffsim_find_kernels(VARIABLE source...) sets VARIABLE to the list of the sources that contain kernels.
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

# diffsim_compile_together(TARGET NAME source...): with DIFFSIM_UNITY_BUILD, the sources are compiled to a single
# object, so that headers and templates are compiled only once.
function(diffsim_compile_together target name)
  if(DIFFSIM_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${name})
  endif()
endfunction()

# diffsim_precompile_headers(TARGET OPTIONS) precompiles the headers that most sources include. Targets with the same
# OPTIONS, `kernels` or `host`, share one precompiled header.
function(diffsim_precompile_headers target options)
  if(NOT DIFFSIM_PRECOMPILE_HEADERS)
    return()
  endif()
  get_property(first GLOBAL PROPERTY diffsim_headers_${options})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  set_property(GLOBAL PROPERTY diffsim_headers_${options} ${target})
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
endfunction()

# diffsim_add_objects(TARGET OPTIONS source...) adds objects to the library. OPTIONS is `kernels`, or `host` for sources
# without kernels, which are compiled with -O1, or with -O0 in the configuration Debug.
function(diffsim_add_objects target options)
  add_library(${target} OBJECT ${ARGN})
  diffsim_configure_library(${target})
  if(options STREQUAL "host")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1> $<$<CONFIG:Debug>:-O0>)
  endif()
  diffsim_precompile_headers(${target} ${options})
  target_sources(diffsim PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# diffsim_add_folder([OPTIMISED] [KERNELS_TOGETHER] [LINKS folder...] [SUBFOLDERS folder...] [ALONE source...]) adds the
# current folder to the library as the target diffsim_<folder>. The sources include headers of the current folder and of
# the folders after LINKS only; the test `layers` checks the includes.
#
# Sources without kernels form the target diffsim_<folder>_host, or diffsim_<folder> in folders without kernels. These
# sources mostly contain input, output and preparation, so they are compiled with -O1, which takes two thirds of the
# time. With OPTIMISED, sources without kernels are treated like sources with kernels. With DIFFSIM_UNITY_BUILD, sources
# without kernels are compiled to a single object. With KERNELS_TOGETHER in addition, sources with kernels, except those
# after ALONE, are also compiled to a single object.
function(diffsim_add_folder)
  cmake_parse_arguments(PARSE_ARGV 0 arg "OPTIMISED;KERNELS_TOGETHER" "" "LINKS;SUBFOLDERS;ALONE")
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(subfolder IN LISTS arg_SUBFOLDERS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${subfolder}/*.cpp)
  endforeach()
  file(GLOB host CONFIGURE_DEPENDS ${patterns})
  diffsim_find_kernels(kernels ${host})
  if(arg_OPTIMISED)
    set(kernels ${host})
  endif()
  list(REMOVE_ITEM host ${kernels})

  set(targets "")
  if(kernels)
    diffsim_add_objects(diffsim_${folder} kernels ${kernels})
    list(APPEND targets diffsim_${folder})
    if(arg_KERNELS_TOGETHER)
      list(TRANSFORM arg_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
      list(REMOVE_ITEM kernels ${arg_ALONE})
      diffsim_compile_together(diffsim_${folder} ${folder} ${kernels})
    endif()
  endif()
  if(host)
    set(target diffsim_${folder})
    if(TARGET ${target})
      string(APPEND target _host)
    endif()
    diffsim_add_objects(${target} host ${host})
    list(APPEND targets ${target})
    diffsim_compile_together(${target} ${folder} ${host})
  endif()

  foreach(below IN LISTS arg_LINKS)
    if(NOT TARGET diffsim_${below})
      message(FATAL_ERROR "src/${folder} links '${below}', which is not a folder below; see docs/architecture.md")
    endif()
    foreach(target IN LISTS targets)
      target_link_libraries(${target} PRIVATE diffsim_${below})
    endforeach()
  endforeach()
endfunction()

# diffsim_link_optional(LIBRARY INCLUDE_DIRS SOURCE DEFINITION) links an optional library. Only SOURCE, in the current
# folder, can include the headers of LIBRARY, and is compiled with the macro DEFINITION.
function(diffsim_link_optional library include_dir source definition)
  target_link_libraries(diffsim PRIVATE $<LINK_ONLY:${library}>)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS ${definition})
  list(REMOVE_ITEM include_dir ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  if(include_dir)
    set_source_files_properties(${source} PROPERTIES INCLUDE_DIRECTORIES "${include_dir}")
  endif()
endfunction()
