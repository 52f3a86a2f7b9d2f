# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Functions for the checks of sources.

# Sets VARIABLE to the C++ files of the library, the runner and the Python package, relative to ROOT. Ends with an error
# if there are none.
function(find_sources variable)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/include/*.hpp ${ROOT}/src/*.hpp ${ROOT}/src/*.cpp
       ${ROOT}/python/src/*.hpp ${ROOT}/python/src/*.cpp)
  if(NOT files)
    message(FATAL_ERROR "no sources in ${ROOT}")
  endif()
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()
