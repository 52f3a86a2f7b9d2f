# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#
# cmake -D DIFFSIM=<program> -D COMPARE=<compare_gradients> -D "MPIEXEC=<launcher up to the number of ranks>"
#       -D "MPIEXEC_FLAGS=<flags>" -D SCRATCH=<folder> -P agreement_test.cmake
#
# Compares the gradients of a scene with one body on 1, 2 and 3 ranks with 1 and 2 threads each, and of a scene with two
# bodies on 1, 2, 3 and 5 ranks. Gradients agree up to rounding for explicit steps, and up to the solver's tolerance for
# implicit steps.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

# agree(NAME TOLERANCE PARAMETERS SCENE): compares the gradients of a scene on RANKS ranks with THREADS threads.
function(agree name tolerance parameters scene)
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
  execute_process(COMMAND ${COMPARE} ${tolerance} ${names} ${files} RESULT_VARIABLE code OUTPUT_VARIABLE said
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

# Two bodies from two files with different laws, in contact with each other, themselves and a moving obstacle of triangles.
foreach(block IN ITEMS "crate 0.2,0.2,0.2 3,3,3" "beam 0.8,0.1,0.3 8,2,3")
  string(REPLACE " " ";" block ${block})
  list(GET block 0 file)
  list(GET block 1 size)
  list(GET block 2 cells)
  file(WRITE ${SCRATCH}/${file}.yaml "mesh: {box: {size: [${size}], cells: [${cells}]}}\n")
  execute_process(COMMAND ${DIFFSIM} mesh ${SCRATCH}/${file}.yaml --convert ${SCRATCH}/${file}.h5 --output ${SCRATCH}/mesh
                  RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "mesh of ${file}: ${code}\n${said}")
  endif()
endforeach()
file(
  WRITE ${SCRATCH}/ramp.obj
  "v -1 -0.03 -1\nv 2 -0.03 -1\nv 2 -0.03 1\nv -1 -0.03 1\nv 0.5 -0.3 0\nf 1 3 2\nf 1 4 3\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n")
set(bodies
    "bodies:
  beam:
    mesh: {file: beam.h5}
    material: {model: neo_hookean, density: 900, youngs_modulus: 2.0e4, poisson_ratio: 0.35}
  crate:
    mesh: {file: crate.h5}
    placement: {translate: [0.3, 0.115, 0.05], rotate: {axis: [0, 1, 0], angle: 0.2}}
    material: {model: stable_neo_hookean, density: 700, youngs_modulus: 4.0e4, poisson_ratio: 0.3}
    initial: {velocity: [0.3, -0.4, 0.1]}
boundary:
  - {region: beam/x_min, fix: [x, y, z]}
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
agree(bodies_explicit 1e-11 "${names}" "${bodies}solver: {dt: 0.002, steps: 50, substeps: 8}\n")
agree(bodies_implicit 1e-8 "${names}" "${bodies}solver: {integrator: bdf2, dt: 0.01, steps: 6}\n")
