# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds the C library of netCDF with support for MPI, which uses the same HDF5 as ParallelHDF5, in ParallelNetCDF_ROOT
# or in the folders of distributions. Defines the target ParallelNetCDF::ParallelNetCDF.

find_library(ParallelNetCDF_LIBRARY NAMES netcdf_mpi netcdf)
# On Debian, /usr/include/netcdf.h belongs to a netCDF without MPI.
find_path(ParallelNetCDF_INCLUDE_DIR NAMES netcdf.h PATH_SUFFIXES netcdf/mpi/include lib/netcdf/mpi/include
          HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi/include)
mark_as_advanced(ParallelNetCDF_LIBRARY ParallelNetCDF_INCLUDE_DIR)

set(ParallelNetCDF_IS_PARALLEL "")
if(ParallelNetCDF_INCLUDE_DIR AND EXISTS ${ParallelNetCDF_INCLUDE_DIR}/netcdf_meta.h)
  file(STRINGS ${ParallelNetCDF_INCLUDE_DIR}/netcdf_meta.h ParallelNetCDF_IS_PARALLEL
       REGEX "^#define NC_HAS_PARALLEL4? +1")
  file(STRINGS ${ParallelNetCDF_INCLUDE_DIR}/netcdf_meta.h version REGEX "^#define NC_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX MATCHALL " [0-9]+" version "${version}")
  string(REPLACE " " "" version "${version}")
  list(JOIN version "." ParallelNetCDF_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ParallelNetCDF
  REQUIRED_VARS ParallelNetCDF_LIBRARY ParallelNetCDF_INCLUDE_DIR ParallelNetCDF_IS_PARALLEL
  VERSION_VAR ParallelNetCDF_VERSION
  REASON_FAILURE_MESSAGE "no netCDF built for MPI")

if(ParallelNetCDF_FOUND AND NOT TARGET ParallelNetCDF::ParallelNetCDF)
  add_library(ParallelNetCDF::ParallelNetCDF UNKNOWN IMPORTED)
  set_target_properties(
    ParallelNetCDF::ParallelNetCDF
    PROPERTIES IMPORTED_LOCATION ${ParallelNetCDF_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ParallelNetCDF_INCLUDE_DIR})
endif()
