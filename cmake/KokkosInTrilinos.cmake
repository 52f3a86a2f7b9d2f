# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# Included after find_package(Kokkos). Corrects the targets of the Kokkos in Trilinos packages, which differ from those
# of Kokkos itself.

if(NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  target_link_libraries(Kokkos::kokkos INTERFACE Kokkos::all_libs)
endif()
if(Kokkos_INCLUDE_DIRS)
  # The target Kokkos::kokkos of Trilinos 13 has the wrong include directory /include.
  get_target_property(_kokkos_include_directories Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT EXISTS "${_kokkos_include_directories}")
    set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
  endif()
  unset(_kokkos_include_directories)
endif()
