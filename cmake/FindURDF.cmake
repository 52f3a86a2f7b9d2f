# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Finds the library urdfdom, which reads URDF files, in URDF_ROOT or in the folders that CMake searches. Defines the
# target URDF::URDF.

find_path(URDF_INCLUDE_DIR NAMES urdf_parser/urdf_parser.h PATH_SUFFIXES urdfdom)
find_path(URDF_HEADERS_INCLUDE_DIR NAMES urdf_model/model.h PATH_SUFFIXES urdfdom_headers)
find_path(URDF_CONSOLE_INCLUDE_DIR NAMES console_bridge/console.h)
find_library(URDF_LIBRARY NAMES urdfdom_model)
find_library(URDF_CONSOLE_LIBRARY NAMES console_bridge)
mark_as_advanced(URDF_INCLUDE_DIR URDF_HEADERS_INCLUDE_DIR URDF_CONSOLE_INCLUDE_DIR URDF_LIBRARY URDF_CONSOLE_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(URDF REQUIRED_VARS URDF_LIBRARY URDF_CONSOLE_LIBRARY URDF_INCLUDE_DIR
                                                     URDF_HEADERS_INCLUDE_DIR URDF_CONSOLE_INCLUDE_DIR)

if(URDF_FOUND AND NOT TARGET URDF::URDF)
  add_library(URDF::URDF UNKNOWN IMPORTED)
  set_target_properties(
    URDF::URDF
    PROPERTIES IMPORTED_LOCATION ${URDF_LIBRARY} INTERFACE_LINK_LIBRARIES ${URDF_CONSOLE_LIBRARY}
               INTERFACE_INCLUDE_DIRECTORIES "${URDF_INCLUDE_DIR};${URDF_HEADERS_INCLUDE_DIR};${URDF_CONSOLE_INCLUDE_DIR}")
endif()
