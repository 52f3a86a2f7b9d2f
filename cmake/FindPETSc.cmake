# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds PETSc with real double scalars by its pkg-config file, first in PETSC_DIR/PETSC_ARCH if PETSC_DIR is set.
# Defines the target PETSc::PETSc, which includes the LAPACK that PETSc uses, and PETSc_VERSION.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  set(_petsc_saved_path "$ENV{PKG_CONFIG_PATH}")
  if(NOT "$ENV{PETSC_DIR}" STREQUAL "")
    set(ENV{PKG_CONFIG_PATH}
        "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{PETSC_DIR}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  endif()
  pkg_search_module(PETSC QUIET PETSc petsc)
  set(ENV{PKG_CONFIG_PATH} "${_petsc_saved_path}")
  unset(_petsc_saved_path)
endif()
set(PETSc_VERSION "${PETSC_VERSION}")

if(PETSC_FOUND)
  find_path(PETSc_INCLUDE_DIR petscconf.h HINTS ${PETSC_INCLUDE_DIRS} NO_DEFAULT_PATH)
  set(PETSc_LIBRARIES "")
  foreach(_petsc_name IN LISTS PETSC_LIBRARIES)
    find_library(PETSc_${_petsc_name}_LIBRARY ${_petsc_name} HINTS ${PETSC_LIBRARY_DIRS})
    mark_as_advanced(PETSc_${_petsc_name}_LIBRARY)
    if(PETSc_${_petsc_name}_LIBRARY)
      list(APPEND PETSc_LIBRARIES ${PETSc_${_petsc_name}_LIBRARY})
    endif()
  endforeach()
  # The functions of petscblaslapack.h are in the BLAS and LAPACK libraries with which PETSc is linked.
  foreach(_petsc_name IN LISTS PETSC_STATIC_LIBRARIES)
    if(_petsc_name MATCHES "^(f?lapack|openblas|flame|blis|mkl_)")
      find_library(PETSc_${_petsc_name}_LIBRARY ${_petsc_name} HINTS ${PETSC_STATIC_LIBRARY_DIRS})
      mark_as_advanced(PETSc_${_petsc_name}_LIBRARY)
      if(PETSc_LIBRARIES AND PETSc_${_petsc_name}_LIBRARY)
        list(APPEND PETSc_LIBRARIES ${PETSc_${_petsc_name}_LIBRARY})
      endif()
    endif()
  endforeach()
  mark_as_advanced(PETSc_INCLUDE_DIR)
endif()

set(_petsc_reason
    "pkg-config knows no PETSc of the version asked for: set PETSC_DIR (and PETSC_ARCH) or PKG_CONFIG_PATH")
if(PETSc_INCLUDE_DIR)
  file(STRINGS ${PETSc_INCLUDE_DIR}/petscconf.h _petsc_scalar
       REGEX "^#define[ \t]+(PETSC_USE_COMPLEX|PETSC_USE_REAL_(SINGLE|__FLOAT128|___FP16))[ \t]")
  if(_petsc_scalar)
    set(_petsc_reason "this PETSc's scalars are not real doubles")
    set(PETSc_LIBRARIES "")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  PETSc
  REQUIRED_VARS PETSc_LIBRARIES PETSc_INCLUDE_DIR
  VERSION_VAR PETSc_VERSION
  REASON_FAILURE_MESSAGE "${_petsc_reason}")

if(PETSc_FOUND AND NOT TARGET PETSc::PETSc)
  # The target has include directories and libraries only, and not the compiler flags with which a distribution compiled
  # PETSc.
  add_library(PETSc::PETSc INTERFACE IMPORTED)
  set_target_properties(
    PETSc::PETSc PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PETSC_INCLUDE_DIRS}" INTERFACE_LINK_LIBRARIES
                                                                                  "${PETSc_LIBRARIES}")
endif()
