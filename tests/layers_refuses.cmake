# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D SCRATCH=<folder> -P layers_refuses.cmake: checks that layers.cmake accepts permitted code and refuses each
# kind of violation.

cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)

function(expect verdict name file text)
  set(root ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${root})
  file(WRITE ${root}/${file} "${text}\n")
  foreach(other IN LISTS ARGN) # other files: empty, or with the text after a colon
    string(REGEX MATCH "^([^:]*):?(.*)$" all "${other}")
    file(WRITE ${root}/${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endforeach()
  expect_verdict(${verdict} layers ${root} "${file}: ${text}")
endfunction()

expect(accepted down src/adjoint/x.cpp "#include \"diffsim/checkpoint/y.hpp\"")
expect(accepted own_folder include/diffsim/mesh/x.hpp "#include \"diffsim/mesh/y.hpp\"")
expect(accepted whole include/diffsim/diffsim.hpp "#include \"diffsim/simulation/y.hpp\"" include/diffsim/simulation/y.hpp)
expect(accepted comment src/mesh/x.cpp "int x; // not MPI_COMM_WORLD")
expect(accepted world_in_app src/app/main.cpp "MPI_Comm comm = MPI_COMM_WORLD;")
expect(accepted kokkos_in_source src/elastic/x.cpp "#include <Kokkos_Core.hpp>")
expect(accepted kokkos_in_impl include/diffsim/elastic/x_impl.hpp "#include <Kokkos_Core.hpp>")

expect(accepted lower_wing src/dynamics/time/x.cpp "#include \"dynamics/linear/y.hpp\"")
expect(accepted no_wing src/dynamics/linear/x.cpp "#include \"dynamics/y.hpp\"")
expect(accepted wing_of_wing src/mesh/readers/gmsh/x.cpp "#include \"mesh/readers/y.hpp\"")

set(links "src/adjoint/CMakeLists.txt:diffsim_add_folder(LINKS core checkpoint)")
expect(accepted linked src/adjoint/x.cpp "#include \"diffsim/checkpoint/y.hpp\"" "${links}")
expect(refused not_linked src/adjoint/x.cpp "#include \"diffsim/mesh/y.hpp\"" "${links}")
expect(refused links_nothing src/mesh/x.cpp "#include \"diffsim/core/y.hpp\"" "src/mesh/CMakeLists.txt:diffsim_add_folder()")

expect(refused upper_wing src/dynamics/linear/x.cpp "#include \"dynamics/nonlinear/y.hpp\"")
expect(refused wing_from_below src/dynamics/x.cpp "#include \"dynamics/time/y.hpp\"")
expect(refused readers_from_below src/mesh/x.cpp "#include \"mesh/readers/y.hpp\"")
expect(refused gmsh_from_below src/mesh/x.cpp "#include \"mesh/readers/gmsh/y.hpp\"")
expect(refused gmsh_from_readers src/mesh/readers/x.cpp "#include \"mesh/readers/gmsh/y.hpp\"")
expect(refused up include/diffsim/core/x.hpp "#include \"diffsim/mesh/y.hpp\"")
expect(refused sibling src/io/x.cpp "#include <diffsim/elastic/y.hpp>")
expect(refused upper_private src/core/x.cpp "#include \"mesh/y.hpp\"")
expect(refused upper_sibling src/inverse/x.cpp "  #  include \"diffsim/simulation/y.hpp\"")
expect(refused unknown_folder src/misc/x.cpp "int x;")
expect(refused whole_inside src/mesh/x.cpp "#include <diffsim/diffsim.hpp>")
expect(refused world src/mesh/x.cpp "MPI_Comm comm = MPI_COMM_WORLD;")
expect(refused petsc_world include/diffsim/mesh/x.hpp "auto comm = PETSC_COMM_WORLD;")
expect(refused backend src/elastic/x.cpp "#ifdef KOKKOS_ENABLE_CUDA")
expect(refused kokkos_in_header include/diffsim/elastic/x.hpp "#include <Kokkos_Core.hpp>")

set(program include/diffsim/diffsim.hpp)
expect(accepted for_authors ${program} "" include/diffsim/core/point_term_impl.hpp)
expect(refused not_installed ${program} "#include \"mesh/y.hpp\"" src/mesh/y.hpp)
expect(refused not_for_programs ${program} "" include/diffsim/mesh/x.hpp)
expect(refused not_for_authors ${program} "" include/diffsim/mesh/impl/x.hpp)
expect(refused for_programs_in_impl ${program} "#include \"diffsim/mesh/impl/x.hpp\"" include/diffsim/mesh/impl/x.hpp)
