# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds the serial library of the Scotch installation that PETSc uses, first in the folders of PETSc's headers and
# libraries. Defines the target Scotch::Scotch.

find_path(
  Scotch_INCLUDE_DIR scotch.h
  HINTS ${PETSc_INCLUDE_DIR}
  PATH_SUFFIXES scotch)
find_library(Scotch_LIBRARY scotch HINTS ${PETSC_LIBRARY_DIRS})
find_library(Scotch_ERROR_LIBRARY scotcherr HINTS ${PETSC_LIBRARY_DIRS})
set(Scotch_VERSION "")
if(Scotch_INCLUDE_DIR)
  file(STRINGS ${Scotch_INCLUDE_DIR}/scotch.h Scotch_VERSION REGEX "^#define SCOTCH_VERSION[ \t]+[0-9]+")
  string(REGEX MATCH "[0-9]+" Scotch_VERSION "${Scotch_VERSION}")
endif()
mark_as_advanced(Scotch_INCLUDE_DIR Scotch_LIBRARY Scotch_ERROR_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Scotch
  REQUIRED_VARS Scotch_LIBRARY Scotch_ERROR_LIBRARY Scotch_INCLUDE_DIR
  VERSION_VAR Scotch_VERSION
  REASON_FAILURE_MESSAGE "PETSc must have PTScotch, and scotch.h be where CMAKE_PREFIX_PATH says")

if(Scotch_FOUND AND NOT TARGET Scotch::Scotch)
  add_library(Scotch::Scotch INTERFACE IMPORTED)
  set_target_properties(
    Scotch::Scotch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Scotch_INCLUDE_DIR}"
                              INTERFACE_LINK_LIBRARIES "${Scotch_LIBRARY};${Scotch_ERROR_LIBRARY}")
endif()
