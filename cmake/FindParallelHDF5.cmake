# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds the C library of HDF5 with support for MPI. If HDF5_ROOT is set, FindHDF5 of CMake finds the library; otherwise
# pkg-config is tried before FindHDF5. The reason for this order is that h5pcc of a distribution, which FindHDF5 uses,
# may name static libraries that conflict with the shared HDF5 of PETSc. Defines the target ParallelHDF5::ParallelHDF5.

set(ParallelHDF5_INCLUDE_DIRS "")
set(ParallelHDF5_LIBRARIES "")

if(NOT DEFINED HDF5_ROOT AND "$ENV{HDF5_ROOT}" STREQUAL "")
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_search_module(PC_HDF5 QUIET IMPORTED_TARGET hdf5-mpi hdf5-openmpi hdf5-mpich hdf5)
    if(PC_HDF5_FOUND)
      set(ParallelHDF5_INCLUDE_DIRS ${PC_HDF5_INCLUDE_DIRS})
      set(ParallelHDF5_LIBRARIES PkgConfig::PC_HDF5)
      set(ParallelHDF5_VERSION ${PC_HDF5_VERSION})
    endif()
  endif()
endif()
if(NOT ParallelHDF5_LIBRARIES)
  set(HDF5_PREFER_PARALLEL ON)
  find_package(HDF5 QUIET COMPONENTS C)
  set(ParallelHDF5_INCLUDE_DIRS ${HDF5_C_INCLUDE_DIRS})
  set(ParallelHDF5_LIBRARIES ${HDF5_C_LIBRARIES})
  set(ParallelHDF5_VERSION ${HDF5_VERSION})
endif()

find_file(ParallelHDF5_CONFIG_HEADER NAMES H5pubconf.h H5pubconf-64.h HINTS ${ParallelHDF5_INCLUDE_DIRS})
mark_as_advanced(ParallelHDF5_CONFIG_HEADER)
set(ParallelHDF5_IS_PARALLEL "")
if(ParallelHDF5_CONFIG_HEADER)
  file(STRINGS ${ParallelHDF5_CONFIG_HEADER} ParallelHDF5_IS_PARALLEL REGEX "^#define H5_HAVE_PARALLEL[ \t]+1")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ParallelHDF5
  REQUIRED_VARS ParallelHDF5_LIBRARIES ParallelHDF5_IS_PARALLEL
  VERSION_VAR ParallelHDF5_VERSION
  REASON_FAILURE_MESSAGE "no HDF5 built for MPI: set HDF5_ROOT to one")

if(ParallelHDF5_FOUND AND NOT TARGET ParallelHDF5::ParallelHDF5)
  add_library(ParallelHDF5::ParallelHDF5 INTERFACE IMPORTED)
  set_target_properties(
    ParallelHDF5::ParallelHDF5 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${ParallelHDF5_INCLUDE_DIRS}"
                                          INTERFACE_LINK_LIBRARIES "${ParallelHDF5_LIBRARIES}")
endif()
