# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds SLEPc, built for the PETSc of FindPETSc, by its pkg-config file, first in SLEPC_DIR/PETSC_ARCH if SLEPC_DIR is
# set. Defines the target SLEPc::SLEPc, SLEPc_INCLUDE_DIR and SLEPc_VERSION.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  set(_slepc_saved_path "$ENV{PKG_CONFIG_PATH}")
  if(NOT "$ENV{SLEPC_DIR}" STREQUAL "")
    set(ENV{PKG_CONFIG_PATH}
        "$ENV{SLEPC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{SLEPC_DIR}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  endif()
  if(NOT "$ENV{PETSC_DIR}" STREQUAL "")
    # The file of SLEPc requires the file of PETSc.
    set(ENV{PKG_CONFIG_PATH}
        "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{PETSC_DIR}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  endif()
  pkg_search_module(SLEPC QUIET SLEPc slepc)
  set(ENV{PKG_CONFIG_PATH} "${_slepc_saved_path}")
  unset(_slepc_saved_path)
endif()
set(SLEPc_VERSION "${SLEPC_VERSION}")

set(_slepc_reason "pkg-config knows no SLEPc: set SLEPC_DIR (and PETSC_ARCH) or PKG_CONFIG_PATH")
if(SLEPC_FOUND)
  find_library(SLEPc_LIBRARY NAMES ${SLEPC_LIBRARIES} HINTS ${SLEPC_LIBRARY_DIRS})
  find_path(SLEPc_INCLUDE_DIR slepceps.h HINTS ${SLEPC_INCLUDE_DIRS} NO_DEFAULT_PATH)
  mark_as_advanced(SLEPc_LIBRARY SLEPc_INCLUDE_DIR)
  # Versions of SLEPc and PETSc with different minor numbers do not fit.
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" _slepc_minor "${SLEPc_VERSION}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" _petsc_minor "${PETSc_VERSION}")
  if(NOT _slepc_minor STREQUAL _petsc_minor)
    set(_slepc_reason "SLEPc ${SLEPc_VERSION} does not fit PETSc ${PETSc_VERSION}")
    unset(SLEPc_LIBRARY CACHE)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  SLEPc
  REQUIRED_VARS SLEPc_LIBRARY SLEPc_INCLUDE_DIR
  VERSION_VAR SLEPc_VERSION
  REASON_FAILURE_MESSAGE "${_slepc_reason}")

if(SLEPc_FOUND AND NOT TARGET SLEPc::SLEPc)
  add_library(SLEPc::SLEPc UNKNOWN IMPORTED)
  set_target_properties(
    SLEPc::SLEPc PROPERTIES IMPORTED_LOCATION ${SLEPc_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SLEPc_INCLUDE_DIR}
                            INTERFACE_LINK_LIBRARIES PETSc::PETSc)
endif()
