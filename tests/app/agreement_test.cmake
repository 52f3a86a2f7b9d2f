# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D DIFFSIM=<program> -D COMPARE=<compare_gradients> -D "MPIEXEC=<launcher up to the number of ranks>"
#       -D "MPIEXEC_FLAGS=<flags>" -D SCRATCH=<folder> -P agreement_test.cmake
#
# Compares the gradients of a scene with one body on 1, 2 and 3 ranks with 1 and 2 threads each, and of a scene with two
# bodies on 1, 2, 3 and 5 ranks. Gradients agree up to rounding for explicit steps, and up to the solver's tolerance for
# implicit steps. In the second scene one body also touches itself: without self-contact, each gradient is another one.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

# compute(NAME PARAMETERS SCENE): computes the gradients of a scene on RANKS ranks with THREADS threads. Sets the variables
# `datasets` to the names of the gradients, separated by commas, and `files` to the list of the files.
function(compute name parameters scene)
  set(listed "")
  set(names "")
  foreach(parameter IN LISTS parameters)
    if(parameter MATCHES "^(.*)=(.*)$")  # "entry=dataset"
      string(APPEND listed "  - {${CMAKE_MATCH_1}}\n")
      list(APPEND names ${CMAKE_MATCH_2})
    else()
      string(APPEND listed "  - {name: ${parameter}}\n")
      list(APPEND names ${parameter})
    endif()
  endforeach()
  file(WRITE ${SCRATCH}/${name}.yaml "${scene}parameters:\n${listed}")
  set(files "")
  foreach(ranks IN LISTS RANKS)
    foreach(threads IN LISTS THREADS)
      set(output ${SCRATCH}/${name}.np${ranks}.t${threads})
      execute_process(
        COMMAND ${CMAKE_COMMAND} -E env OMP_NUM_THREADS=${threads} ${MPIEXEC} ${ranks} ${MPIEXEC_FLAGS} ${DIFFSIM}
                gradient ${SCRATCH}/${name}.yaml --output ${output}
        WORKING_DIRECTORY ${SCRATCH}
        RESULT_VARIABLE code
        OUTPUT_VARIABLE said
        ERROR_VARIABLE said)
      if(NOT code EQUAL 0)
        message(FATAL_ERROR "${name} on ${ranks} ranks, ${threads} threads: ${code}\n${said}")
      endif()
      # The run used the requested numbers of ranks and threads.
      file(READ ${output}/report.json report)
      string(JSON found_ranks GET "${report}" ranks)
      string(JSON found_threads GET "${report}" threads)
      if(NOT found_ranks EQUAL ranks OR NOT found_threads EQUAL threads)
        message(FATAL_ERROR "asked for ${ranks} ranks, ${threads} threads; got ${found_ranks} and ${found_threads}")
      endif()
      list(APPEND files ${output}/gradient.h5)
    endforeach()
  endforeach()
  list(JOIN names "," names)
  set(datasets ${names} PARENT_SCOPE)
  set(files ${files} PARENT_SCOPE)
endfunction()

# agree(NAME TOLERANCE PARAMETERS SCENE): compares the gradients of a scene on RANKS ranks with THREADS threads.
function(agree name tolerance parameters scene)
  compute(${name} "${parameters}" "${scene}")
  execute_process(COMMAND ${COMPARE} ${tolerance} ${datasets} ${files} RESULT_VARIABLE code OUTPUT_VARIABLE said
                  ERROR_VARIABLE said)
  message("${name}\n${said}")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${name}: gradients differ by more than ${tolerance}")
  endif()
endfunction()

# Friction changes slowly enough for these explicit steps: h µ N/(m ε_v) is about 0.3 (README, Limitations). Above 1
# friction would oscillate between steps, and gradients would amplify rounding errors.
set(body
    "mesh: {box: {size: [1, 0.3, 0.2], cells: [12, 4, 3]}}
material: {model: neo_hookean, density: 900, youngs_modulus: 2.0e4, poisson_ratio: 0.35}
boundary:
  - {region: x_min, fix: [x, y, z]}
  - {region: x_max, traction: [20, -10, 5]}
objective: {type: target_position, region: x_max, target: [0.9, 0.2, 0.1], step: last}
contact:
  barrier_distance: 0.02
  barrier_stiffness: 1.0e4
  friction: 0.3
  friction_velocity: 0.05
  obstacles: [{plane: {point: [0, -0.03, 0], normal: [0, 1, 0]}}]
")
set(RANKS 1 2 3)
set(THREADS 1 2)
set(names youngs_modulus poisson_ratio density gravity traction friction barrier_stiffness initial_velocities)
agree(explicit 1e-11 "${names};damping"
      "${body}solver: {dt: 0.002, steps: 60, substeps: 2}\ncheckpoint: {schedule: revolve, snapshots: 5}\n")
agree(implicit 1e-8 "${names}" "${body}solver: {integrator: bdf2, dt: 0.02, steps: 6}\n")

# Writes a fork to ${SCRATCH}/fork.msh: a bar of 8 x 3 x 2 boxes without the boxes of the middle layer from x = 0.3 to the
# end. The slot between the two prongs is 15 mm wide. Each box is divided into six tetrahedra around its diagonal.
function(write_fork)
  set(heights 0 0.04 0.055 0.1)
  set(nodes "")
  foreach(k RANGE 2)
    foreach(j RANGE 3)
      list(GET heights ${j} y)
      foreach(i RANGE 8)
        math(EXPR node "1 + ${i} + 9 * (${j} + 4 * ${k})")
        math(EXPR z "15 * ${k}")
        string(APPEND nodes "${node} 0.${i} ${y} ${z}e-2\n")
      endforeach()
    endforeach()
  endforeach()
  set(cells "")
  set(count 0)
  foreach(k RANGE 1)
    foreach(j RANGE 2)
      foreach(i RANGE 7)
        if(j EQUAL 1 AND i GREATER_EQUAL 3)
          continue()
        endif()
        math(EXPR first "1 + ${i} + 9 * (${j} + 4 * ${k})")
        math(EXPR last "${first} + 46")
        # Each tetrahedron has the nodes of a path from the first to the last corner of the box along its edges.
        foreach(path IN ITEMS "1 10" "9 45" "36 37" "10 9" "45 36" "37 1")
          separate_arguments(path)
          list(GET path 0 one)
          list(GET path 1 two)
          math(EXPR count "${count} + 1")
          math(EXPR one "${first} + ${one}")
          math(EXPR two "${first} + ${two}")
          string(APPEND cells "${count} 4 2 1 1 ${first} ${one} ${two} ${last}\n")
        endforeach()
      endforeach()
    endforeach()
  endforeach()
  file(WRITE ${SCRATCH}/fork.msh "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n108\n${nodes}$EndNodes\n"
       "$Elements\n${count}\n${cells}$EndElements\n")
endfunction()

# Two bodies from two files with different laws, in contact with each other and with a moving obstacle of triangles. The
# crate and the obstacle press the prongs of the fork together.
write_fork()
file(WRITE ${SCRATCH}/crate_mesh.yaml "mesh: {box: {size: [0.2, 0.2, 0.2], cells: [3, 3, 3]}}\n")
execute_process(COMMAND ${DIFFSIM} mesh ${SCRATCH}/crate_mesh.yaml --convert ${SCRATCH}/crate.h5 --output ${SCRATCH}/mesh
                RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "mesh of crate: ${code}\n${said}")
endif()
file(
  WRITE ${SCRATCH}/ramp.obj
  "v -1 -0.03 -1\nv 2 -0.03 -1\nv 2 -0.03 1\nv -1 -0.03 1\nv 0.5 -0.3 0\nf 1 3 2\nf 1 4 3\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n")
set(bodies
    "bodies:
  fork:
    mesh: {file: fork.msh}
    material: {model: neo_hookean, density: 900, youngs_modulus: 2.0e4, poisson_ratio: 0.35}
  crate:
    mesh: {file: crate.h5}
    placement: {translate: [0.3, 0.115, 0.05], rotate: {axis: [0, 1, 0], angle: 0.2}}
    material: {model: stable_neo_hookean, density: 700, youngs_modulus: 4.0e4, poisson_ratio: 0.3}
    initial: {velocity: [0.3, -0.4, 0.1]}
regions:
  handle: {body: fork, box: {min: [-1, -1, -1], max: [0.01, 1, 1]}}
boundary:
  - {region: handle, fix: [x, y, z]}
objective:
  - {type: target_position, region: crate/all, target: [0.5, 0.2, 0.1], step: last}
contact:
  barrier_distance: 0.02
  barrier_stiffness: 1.0e4
  friction: 0.3
  friction_velocity: 0.05
  self: true
  obstacles: [{mesh: {file: ramp.obj}, velocity: [0.05, 0.1, 0], name: ramp}]
")
set(RANKS 1 2 3 5)
set(THREADS 1)
set(names
    "name: youngs_modulus, per: region=youngs_modulus"
    "name: density, region: crate/all=density"
    gravity
    friction
    barrier_stiffness
    obstacle_velocity:ramp
    "name: initial_velocities=/bodies/crate/gradient/initial_velocities")
set(explicit "solver: {dt: 0.002, steps: 50, substeps: 8}\n")
set(implicit "solver: {integrator: bdf2, dt: 0.01, steps: 6}\n")
agree(bodies_explicit 1e-11 "${names}" "${bodies}${explicit}")
agree(bodies_implicit 1e-8 "${names}" "${bodies}${implicit}")

# Without self-contact, the loss and each gradient differ by more than a thousandth of the largest value.
string(REPLACE "self: true" "self: false" without_self "${bodies}")
set(RANKS 1)
foreach(steps IN ITEMS explicit implicit)
  compute(without_self_${steps} "${names}" "${without_self}${${steps}}")
  execute_process(COMMAND ${COMPARE} 1e-3 ${datasets} ${SCRATCH}/bodies_${steps}.np1.t1/gradient.h5 ${files}
                  RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  message("bodies_${steps} without self-contact\n${said}")
  if(NOT code EQUAL 1 OR said MATCHES ": (0[.]00e|[0-9.]+e-(0[4-9]|[1-9][0-9]))")
    message(FATAL_ERROR "bodies_${steps}: without self-contact, the loss or a gradient hardly differs")
  endif()
endforeach()
