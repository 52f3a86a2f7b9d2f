# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds the C library of MED 4 (libmedC) in MED_ROOT or in the folders that CMake searches. The library must use the
# same HDF5 as ParallelHDF5. Defines the target MED::MED.

find_path(MED_INCLUDE_DIR NAMES medfile.h)
find_library(MED_LIBRARY NAMES medC)
mark_as_advanced(MED_INCLUDE_DIR MED_LIBRARY)
if(MED_INCLUDE_DIR AND EXISTS ${MED_INCLUDE_DIR}/med.h)
  file(STRINGS ${MED_INCLUDE_DIR}/med.h med_version REGEX "^#define MED_(MAJOR|MINOR|RELEASE)_NUM +[0-9]+")
  string(REGEX MATCHALL "[0-9]+" med_version "${med_version}")
  list(JOIN med_version "." MED_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MED REQUIRED_VARS MED_LIBRARY MED_INCLUDE_DIR VERSION_VAR MED_VERSION)

if(MED_FOUND AND NOT TARGET MED::MED)
  add_library(MED::MED UNKNOWN IMPORTED)
  set_target_properties(
    MED::MED PROPERTIES IMPORTED_LOCATION ${MED_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${MED_INCLUDE_DIR}
                        INTERFACE_LINK_LIBRARIES ParallelHDF5::ParallelHDF5)
endif()
