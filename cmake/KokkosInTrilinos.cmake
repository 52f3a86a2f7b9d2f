# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# After find_package(Kokkos): the Kokkos that is packaged inside Trilinos describes itself a little differently.

if(NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  target_link_libraries(Kokkos::kokkos INTERFACE Kokkos::all_libs)
endif()
if(Kokkos_INCLUDE_DIRS)
  # The target of Trilinos 13 names /include.
  get_target_property(_kokkos_include_directories Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT EXISTS "${_kokkos_include_directories}")
    set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
  endif()
  unset(_kokkos_include_directories)
endif()
