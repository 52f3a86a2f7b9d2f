// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "app/objective_types.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::app::scene_test {
namespace {

const std::string material =
    "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.4}\n";
const std::string box = "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\n";
const std::string solver = "solver: {dt: 0.01, steps: 10}\n";

/// Returns the message of parse_scene, or an empty string if the scene is valid.
std::string fault(const std::string& text) {
  try {
    parse_scene(text, "s.yaml");
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return {};
}

/// Returns the names of all types of objectives in the order of the table, separated by commas.
std::string names_of_objectives() {
  std::string names;
  for (const ObjectiveType& type : objective_types()) names += (names.empty() ? "" : ", ") + type.name;
  return names;
}

TEST(Scene, HasAnOrder) {
  EXPECT_EQ(parse_scene(box, "s.yaml").mesh.order, 1);
  EXPECT_EQ(parse_scene("mesh: {file: a.msh, order: 2}\n", "s.yaml").mesh.order, 2);
  EXPECT_FALSE(parse_scene("mesh: {file: a.msh, order: 2}\n", "s.yaml").mesh.quadrature_degree);
  for (const int degree : {2, 5})
    EXPECT_EQ(
        parse_scene("mesh: {quadrature_degree: " + std::to_string(degree) + ", file: a.msh, order: 2}\n", "s.yaml")
            .mesh.quadrature_degree,
        degree);
}

TEST(Scene, MayEndWithItsDocument) {
  EXPECT_EQ(fault(box + "...\n"), "");
  EXPECT_EQ(fault("# a comment\n---\n" + box + "...\n# and another\n\n"), "");
}

const std::string example_of_the_contract = R"(
mesh:
  file: bar.msh
  order: 1
  scale: 0.5
regions:
  foot: {box: {min: [-1, -0.01, -1], max: [1, 0.05, 1]}}
  tip: {sphere: {center: [1, 0, 0], radius: 0.1}}
  two: {vertices: [17, 23]}
material:
  model: neo_hookean
  density: {file: fields.h5, dataset: /density}
  youngs_modulus: 1.0e5
  poisson_ratio: 0.4
solver:
  integrator: symplectic_euler
  dt: 0.01
  steps: 100
  substeps: 4
  damping: 0.99
  gravity: [0, -9.8, 0]
  implicit_differentiation: true
initial: {velocity: [0, 1, 0]}
boundary:
  - {region: x_min, fix: [x, z]}
  - {region: x_max, traction: [0, 0, -0.5]}
objective:
  - type: track
    observations: observed.h5
    steps: all
    region: all
    weight: 2
  - type: target_position
    region: x_max
    target: [1.0, -0.1, 0.0]
    step: last
parameters:
  - {name: youngs_modulus, per: region, initial: 5.0e4, bounds: [1.0e3, 1.0e7]}
checkpoint:
  schedule: uniform
  every: 7
  store: hdf5
  directory: snapshots
optimiser: {method: adam, max_iterations: 3, gradient_tolerance: 1.0e-8, learning_rate: 0.1}
output: {directory: there, every: 2, fields: [positions]}
petsc: {tao_view: , tao: {gatol: 1e-9}}
)";

TEST(Scene, ReadsTheExampleOfTheContract) {
  const Scene scene = parse_scene(example_of_the_contract, "folder/s.yaml");
  EXPECT_EQ(std::get<std::string>(scene.mesh.source), "folder/bar.msh");
  EXPECT_EQ(scene.mesh.scale, 0.5);
  ASSERT_EQ(scene.regions.size(), 3u);
  EXPECT_EQ(std::get<BoxShape>(scene.regions[0].shape).max[1], 0.05);
  EXPECT_EQ(std::get<VertexList>(scene.regions[2].shape).vertices, (std::vector<std::int64_t>{17, 23}));
  ASSERT_EQ(scene.materials.size(), 1u);
  EXPECT_FALSE(scene.material_list);
  EXPECT_EQ(scene.materials[0].values.at("density").dataset()->path, "folder/fields.h5");
  EXPECT_EQ(scene.materials[0].values.at("youngs_modulus").array()->values[0], 1.0e5);
  EXPECT_EQ(scene.solver.steps, 100);
  EXPECT_EQ(scene.solver.gravity.array()->values, (std::vector<double>{0, -9.8, 0}));
  ASSERT_EQ(scene.boundary.size(), 2u);
  EXPECT_EQ(scene.boundary[0].axes, (std::array<bool, 3>{true, false, true}));
  EXPECT_EQ(scene.boundary[1].load.array()->shape, (std::vector<std::int64_t>{3}));
  ASSERT_EQ(scene.objectives.size(), 2u);
  EXPECT_EQ(scene.objectives[0].weight, 2.0);
  EXPECT_EQ(scene.objectives[0].function->observations_file(), "folder/observed.h5");
  ASSERT_EQ(scene.objectives[1].function->regions().size(), 1u);
  EXPECT_EQ(scene.objectives[1].function->regions()[0].name, "x_max");
  ASSERT_EQ(scene.parameters.size(), 1u);
  EXPECT_EQ(scene.parameters[0].per, ParameterEntry::Per::region);
  EXPECT_EQ(scene.parameters[0].upper, 1.0e7);
  EXPECT_EQ(scene.checkpoint.schedule, CheckpointSchedule::uniform);
  EXPECT_EQ(scene.checkpoint.every, 7);
  EXPECT_EQ(scene.checkpoint.directory, "snapshots");
  EXPECT_EQ(scene.optimiser.learning_rate, 0.1);
  EXPECT_EQ(scene.output.fields, (std::vector<std::string>{"positions"}));
  EXPECT_EQ(scene.output.every, 2);
  EXPECT_EQ(scene.petsc, (std::vector<std::pair<std::string, std::string>>{{"-tao_view", ""}, {"-tao_gatol", "1e-9"}}));
}

TEST(Scene, FillsInWhatIsNotGiven) {
  const Scene scene = parse_scene(box + material, "s.yaml");
  EXPECT_EQ(scene.solver.dt, 0.01);
  EXPECT_EQ(scene.solver.substeps, 4);
  EXPECT_EQ(scene.solver.steps, -1);
  EXPECT_EQ(scene.solver.damping.array()->values[0], 0.99);
  EXPECT_EQ(scene.checkpoint.schedule, CheckpointSchedule::all);
  EXPECT_EQ(scene.checkpoint.store, CheckpointStore::memory);
  EXPECT_EQ(scene.output.directory, "out");
  const auto checkpoint = [&](const std::string& text) {
    return parse_scene(box + "checkpoint: " + text, "s").checkpoint;
  };
  EXPECT_EQ(checkpoint("{every: 5}").schedule, CheckpointSchedule::uniform);
  EXPECT_EQ(checkpoint("{memory: 2GiB}").memory.bytes, std::int64_t{2} << 30);
  EXPECT_EQ(checkpoint("{memory: 1.5 MB}").memory.bytes, 1500000);
  EXPECT_EQ(checkpoint("{memory: 4096}").memory.bytes, 4096);
  EXPECT_EQ(checkpoint("{memory: 50%}").memory.share, 0.5);
  EXPECT_EQ(checkpoint("{memory: 2GiB, store: tiered}").store, CheckpointStore::tiered);
  EXPECT_FALSE(checkpoint("{memory: 2GiB, store: tiered}").disk.is_given());
  EXPECT_EQ(checkpoint("{memory: 2GiB, store: tiered, disk: 20GiB}").disk.bytes, std::int64_t{20} << 30);
  EXPECT_EQ(checkpoint("{memory: 50%, store: tiered, disk: 25%}").disk.share, 0.25);
  const CheckpointOptions levels = checkpoint("{levels: [{snapshots: 2}, {snapshots: 9, write: 3, read: 0.5}]}");
  EXPECT_EQ(levels.schedule, CheckpointSchedule::multi_level);
  EXPECT_EQ(levels.store, CheckpointStore::tiered);
  EXPECT_EQ(levels.levels.at(1).snapshots, 9);
  EXPECT_EQ(levels.levels.at(1).write, 3.0);
  EXPECT_EQ(levels.levels.at(1).read, 0.5);
  EXPECT_EQ(parse_scene(box + "solver: {gravity: 0}\n", "s").solver.gravity.array()->values,
            (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(
      parse_scene(box + material + "parameters: {name: gravity, bounds: [-.inf, 3]}\n", "s").parameters.size() == 1);
}

TEST(Scene, TakesControlSignals) {
  const Scene scene = parse_scene(box +
                                      "solver: {steps: 2, gravity: [[0, 0, 0], [1, 2, 3]], damping: [1, 0.5]}\n"
                                      "boundary: {region: x_max, traction: [[0, 0, 1], [0, 0, 2]]}\n",
                                  "s.yaml");
  const auto expect = [](const Numbers& numbers, const Shape& shape, const std::vector<double>& values) {
    EXPECT_EQ(numbers.array()->shape, shape);
    EXPECT_EQ(numbers.array()->values, values);
  };
  expect(scene.solver.gravity, {2, 3}, {0, 0, 0, 1, 2, 3});
  expect(scene.solver.damping, {2}, {1, 0.5});
  expect(scene.boundary[0].load, {2, 3}, {0, 0, 1, 0, 0, 2});
}

struct Bad {
  const char* text;
  std::string says;
};

void PrintTo(const Bad& bad, std::ostream* stream) { *stream << bad.text; }

class BadScene : public testing::TestWithParam<Bad> {};

TEST_P(BadScene, IsToldWithItsPlace) {
  std::string says = GetParam().says, told = fault(GetParam().text);
  if (says.ends_with("...")) {  // the list may be extended later
    says.resize(says.size() - 3);
    told.resize(std::min(told.size(), says.size()));
  }
  EXPECT_EQ(told, says);
}

#define BOX "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\n"
#define BODY BOX "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.4}\n"

#define SECOND_DOCUMENT(line)                                                                       \
  "s.yaml:" line                                                                                    \
  ": a second YAML document, or other text, begins; give one scene per file and nothing after the " \
  "scene"

INSTANTIATE_TEST_SUITE_P(
    Yaml, BadScene,
    testing::Values(
        Bad{"", "s.yaml: the scene is empty; it needs at least `mesh:`"},
        Bad{"a word", "s.yaml:1: a scene is a mapping; write `mesh: {file: …}`"},
        Bad{"mesh: [1, 2\nb: 3\n",
            "s.yaml:2: not YAML: end of sequence flow not found; check indentation, brackets and quotes there"},
        Bad{"mesh: *none\n",
            "s.yaml:1: not YAML: the referenced anchor is not defined; check indentation, brackets and quotes there"},
        Bad{"mesh: 1\n---\nmesh: 2\n", SECOND_DOCUMENT("2")}, Bad{"mesh: 1\n---\n", SECOND_DOCUMENT("2")},
        Bad{"mesh: 1\n...\nstray\n", SECOND_DOCUMENT("3")}, Bad{"mesh: 1\n...\n, stray\n", SECOND_DOCUMENT("3")},
        Bad{"{mesh: 1}\n,\n", SECOND_DOCUMENT("2")}, Bad{",", SECOND_DOCUMENT("1")},
        Bad{"mesh: {}}\n", "s.yaml:1: not YAML: illegal flow end; check indentation, brackets and quotes there"},
        Bad{"mesh: &m [*m]\n",
            "s.yaml:1: "
            "mesh[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]"
            "[0]: is nested too deeply; an alias (*) must not be inside the value that it refers to"},
        Bad{BOX "mesh: {file: a.msh}\n", "s.yaml:2: mesh: is given twice; remove one"},
        Bad{BOX "solver: {dt: 0.1,\n  dt: 0.2}\n", "s.yaml:3: solver.dt: is given twice; remove one"},
        Bad{BOX "? [1, 2]\n: 3\n", "s.yaml:2: a key is not a word; write `key: value`"},
        Bad{BOX "solver:\n", "s.yaml:2: solver: has no value; give a value or remove the key"},
        Bad{BOX "solver: 3\n",
            "s.yaml:2: solver: is '3'; give a mapping of: integrator, dt, steps, substeps, damping, gravity, "
            "implicit_differentiation, newton, linear, beta, gamma, spectral_radius, ramp_loads"}));

INSTANTIATE_TEST_SUITE_P(
    Keys, BadScene,
    testing::Values(
        Bad{BOX "solvr: {}\n",
            "s.yaml:2: solvr: unknown key; did you mean 'solver'? known keys: mesh, bodies, regions, material, solver, "
            "initial, "
            "boundary, attach, joints, contact, sensors, feedback, values, objective, parameters, priors, "
            "prior_factors, "
            "constraints, checkpoint, "
            "optimiser, output, "
            "petsc, "
            "experiments"},
        Bad{BOX "solver:\n  dt: 0.1\n  step: 3\n",
            "s.yaml:4: solver.step: unknown key; did you mean 'steps'? known keys: integrator, dt, steps, substeps, "
            "damping, gravity, implicit_differentiation, "
            "newton, linear, beta, gamma, spectral_radius, ramp_loads"},
        Bad{BOX "output: {zzzzzzzzzz: 3}\n",
            "s.yaml:2: output.zzzzzzzzzz: unknown key; known keys: directory, every, fields, log, adjoint_log"},
        Bad{BOX "contact: {friction: 0.3}\n", "s.yaml:2: contact.barrier_distance: is missing; give d̂, m"},
        Bad{"solver: {steps: 1}\n", "s.yaml: mesh: is missing; give {file: …} or {box: …}; or give `bodies`"},
        Bad{"mesh: {scale: 2}\n", "s.yaml:1: mesh: a key is missing; give one of: file, box, sheet, sphere, cylinder"},
        Bad{"mesh: {box: {size: [1, 1, 1], cells: [1, 1, 1]}, cells: triangles}\n",
            "s.yaml:1: mesh.cells: is triangles, but a box has tetrahedra; remove `cells`"},
        Bad{"mesh: {sphere: {center: [0, 0, 0], radius: 1}, cells: tetrahedra}\n",
            "s.yaml:1: mesh.cells: is tetrahedra, but a sphere has triangles; remove `cells`"},
        Bad{"mesh: {file: a.msh, box: {size: [1, 1, 1], cells: [1, 1, 1]}}\n",
            "s.yaml:1: mesh.box: cannot be combined with 'file'; give one of: file, box, sheet, sphere, cylinder"}));

INSTANTIATE_TEST_SUITE_P(
    Values, BadScene,
    testing::Values(
        Bad{BOX "solver: {dt: abc}\n", "s.yaml:2: solver.dt: 'abc' is not a number; give a number"},
        Bad{BOX "solver: {dt: \"0.1\"}\n", "s.yaml:2: solver.dt: \"0.1\" is text; write the number without quotes"},
        Bad{BOX "solver: {dt: .nan}\n", "s.yaml:2: solver.dt: .nan is not finite; give a finite number"},
        Bad{BOX "solver: {dt: inf}\n", "s.yaml:2: solver.dt: inf is not finite; give a finite number"},
        Bad{BOX "solver: {dt: 1e999}\n", "s.yaml:2: solver.dt: '1e999' is not a number; give a number"},
        Bad{BOX "solver: {dt: 0}\n", "s.yaml:2: solver.dt: 0 is not positive; give a number above 0, in s"},
        Bad{BOX "solver: {dt: [1]}\n", "s.yaml:2: solver.dt: is a list of 1; give a number"},
        Bad{BOX "solver: {steps: 1.5}\n", "s.yaml:2: solver.steps: 1.5 is not a whole number; give a whole number"},
        Bad{BOX "solver: {steps: -1}\n", "s.yaml:2: solver.steps: -1 is too small; give a whole number >= 0"},
        Bad{BOX "solver: {steps: 1e12}\n",
            "s.yaml:2: solver.steps: 1000000000000 is too large; give a whole number <= 2147483647"},
        Bad{BOX "solver: {substeps: 0}\n", "s.yaml:2: solver.substeps: 0 is too small; give a whole number >= 1"},
        Bad{BOX "solver: {damping: 1.5}\n",
            "s.yaml:2: solver.damping: 1.5 is outside (0, 1]; give a factor in this range (1: no damping)"},
        Bad{BOX "solver: {gravity: [0, 1]}\n",
            "s.yaml:2: solver.gravity: has the shape [2]; give [x, y, z] in m/s², or one [x, y, z] per step"},
        Bad{BOX "solver: {gravity: 9.8}\n",
            "s.yaml:2: solver.gravity: 9.8 has no direction; give [x, y, z] in m/s², such as [0, -9.8, 0] for weight "
            "along -y"},
        Bad{BOX "solver: {steps: 2, gravity: [[0, 1, 2], [1, 2]]}\n",
            "s.yaml:2: solver.gravity[1]: has 2 entries, but the first row has 3; give rows of equal length"},
        Bad{BOX "solver: {steps: 3, gravity: [[0, 1, 2], [1, 2, 3]]}\n",
            "s.yaml:2: solver.gravity: has the shape [2, 3]; give [x, y, z] in m/s², or one [x, y, z] per step"},
        Bad{BOX "solver: {implicit_differentiation: maybe}\n",
            "s.yaml:2: solver.implicit_differentiation: is 'maybe'; give true or false"},
        Bad{BOX "solver: {integrator: euler}\n",
            "s.yaml:2: solver.integrator: there is no 'euler'; use one of: explicit_euler, symplectic_euler, "
            "velocity_verlet, runge_kutta_2, runge_kutta_4, implicit_euler, bdf2, newmark, generalised_alpha, "
            "quasi_static"},
        Bad{BOX "solver: {integrator: newmark, gamma: 0.4}\n", "s.yaml:2: solver.gamma: 0.4 is outside [0.5, 10]"},
        Bad{BOX "solver: {newton: {tolerance: 0}}\n",
            "s.yaml:2: solver.newton.tolerance: 0 is not positive; give a number above 0"},
        Bad{"mesh: {box: {size: [1, 1], cells: [1, 1, 1]}}\n",
            "s.yaml:1: mesh.box.size: has 2 entries; give a list of 3 numbers"},
        Bad{"mesh: {box: {size: [1, 1, -1], cells: [1, 1, 1]}}\n",
            "s.yaml:1: mesh.box.size[2]: -1 is not positive; give a number above 0, in m"},
        Bad{"mesh: {file: a.msh, order: 3}\n", "s.yaml:1: mesh.order: 3 is too large; give a whole number <= 2"},
        Bad{"mesh: {file: a.msh, order: 0}\n", "s.yaml:1: mesh.order: 0 is too small; give a whole number >= 1"},
        Bad{"mesh: {file: a.msh, order: 2, quadrature_degree: 3}\n",
            "s.yaml:1: mesh.quadrature_degree: 3 is not known; give 2 or 5"},
        Bad{"mesh: {file: a.msh, order: 2, quadrature_degree: -1}\n",
            "s.yaml:1: mesh.quadrature_degree: -1 is not known; give 2 or 5"},
        Bad{"mesh: {file: a.msh, order: 1, quadrature_degree: 2}\n",
            "s.yaml:1: mesh.quadrature_degree: requires second-order cells, because linear cells have one quadrature "
            "point; give order: 2 too, or remove it"},
        Bad{"mesh: {file: a.msh, quadrature_degree: 5}\n",
            "s.yaml:1: mesh.quadrature_degree: requires second-order cells, because linear cells have one quadrature "
            "point; give order: 2 too, or remove it"},
        Bad{"mesh: {file: a.msh, scale: 0}\n", "s.yaml:1: mesh.scale: 0 is not positive; give a number above 0"},
        Bad{BOX "regions: {r: {box: {min: [0, 0, 0], max: [1, -1, 1]}}}\n",
            "s.yaml:2: regions.r.box.max[1]: -1 is below min, 0; exchange min and max"},
        Bad{BOX "regions: {r: {sphere: {center: [0, 0, 0], radius: -1}}}\n",
            "s.yaml:2: regions.r.sphere.radius: -1 is not positive; give a number above 0, in m"},
        Bad{BOX "regions: {r: {vertices: [1, -2]}}\n",
            "s.yaml:2: regions.r.vertices[1]: -2 is too small; give a whole number >= 0"},
        Bad{BOX "regions: {all: {vertices: [1]}}\n",
            "s.yaml:2: regions.all: `all` is always the whole mesh; choose another name"}));

#define CONTACT(more) BOX "contact: {barrier_distance: 0.1, barrier_stiffness: 1e5, " more "}\n"

INSTANTIATE_TEST_SUITE_P(
    Contact, BadScene,
    testing::Values(
        Bad{BOX "contact: {barrier_distance: 0, barrier_stiffness: 1}\n",
            "s.yaml:2: contact.barrier_distance: 0 is not positive; give a number above 0, in m"},
        Bad{BOX "contact: {barrier_distance: 0.1, barrier_stiffness: -1}\n",
            "s.yaml:2: contact.barrier_stiffness: -1 is not positive; give a number above 0, in Pa, or the word "
            "adaptive"},
        Bad{BOX "contact: {barrier_distance: 0.1, barrier_stiffness: stiff}\n",
            "s.yaml:2: contact.barrier_stiffness: 'stiff' is not possible here; give a number above 0, in Pa, or the "
            "word adaptive"},
        Bad{CONTACT("friction: -0.1"), "s.yaml:2: contact.friction: -0.1 is negative; give a number, 0 or more"},
        Bad{CONTACT("self: false"),
            "s.yaml:2: contact.obstacles: there is nothing to touch; give at least one obstacle, or self: true"},
        Bad{CONTACT("obstacles: [{plane: {point: [0, 0, 0], normal: [0, 0, 0]}}]"),
            "s.yaml:2: contact.obstacles[0].plane.normal: is zero; give a vector that points to the side of the body"},
        Bad{CONTACT("obstacles: [{sphere: {center: [0, 0, 0], radius: 0}}]"),
            "s.yaml:2: contact.obstacles[0].sphere.radius: 0 is not positive; give a number above 0, in m"},
        Bad{CONTACT("obstacles: [{box: {min: [0, 0, 0], max: [1, 0, 1]}}]"),
            "s.yaml:2: contact.obstacles[0].box.max: is not above min in all of x, y and z; exchange min and max, or "
            "widen the box"},
        Bad{CONTACT("obstacles: [{name: a, cylinder: {from: [0, 0, 0], to: [1, 0, 1], radius: 1}}, {name: a, plane: "
                    "{point: [0, 0, 0], normal: [0, 1, 0]}}]"),
            "s.yaml:2: contact.obstacles[1].name: another obstacle is called 'a'; give each obstacle a unique name"},
        Bad{CONTACT("pairs: [{friction: 0.1}]"),
            "s.yaml:2: contact.pairs[0].between: is missing; give [A, B], names of two bodies or of a body and an "
            "obstacle"},
        Bad{CONTACT("pairs: [{between: [a], friction: 0.1}]"),
            "s.yaml:2: contact.pairs[0].between: give [A, B], names of two bodies or of a body and an obstacle"},
        Bad{CONTACT("pairs: [{between: [a, b], fricton: 0.1}]"),
            "s.yaml:2: contact.pairs[0].fricton: unknown key; did you mean 'friction'? known keys: between, "
            "law, barrier_distance, barrier_stiffness, damping, restitution, friction, friction_velocity, thickness, "
            "touch"},
        Bad{CONTACT("law: spring"),
            "s.yaml:2: contact.law: there is no 'spring'; use one of: barrier, penalty, impact"},
        Bad{CONTACT("law: impact"),
            "s.yaml:2: contact.barrier_distance: has no effect with the contact law impact; remove the key"},
        Bad{CONTACT("law: impact, restitution: -1, pairs: [{between: [a, b], law: barrier}]"),
            "s.yaml:2: contact.restitution: -1 is negative; give a number, 0 or more"},
        Bad{CONTACT("law: penalty, damping: -1"),
            "s.yaml:2: contact.damping: -1 is negative; give a number, 0 or more, in s/m"},
        Bad{CONTACT("pairs: [{between: [a, b]}, {between: [a, c], friction: -1}]"),
            "s.yaml:2: contact.pairs[1].friction: -1 is negative; give a number, 0 or more"},
        Bad{CONTACT("pairs: [{between: [a, b], barrier_distance: 0}]"),
            "s.yaml:2: contact.pairs[0].barrier_distance: 0 is not positive; give a number above 0, in m"}));

INSTANTIATE_TEST_SUITE_P(
    Physics, BadScene,
    testing::Values(
        Bad{BOX "material:\n  model: neo_hookean\n  density: 1\n  youngs_modulus: -5\n  poisson_ratio: 0.3\n",
            "s.yaml:5: material.youngs_modulus: -5 is not positive; give a number above 0, in Pa"},
        Bad{BOX "material: {model: neo_hookean, density: 0, youngs_modulus: 1, poisson_ratio: 0.3}\n",
            "s.yaml:2: material.density: 0 is not positive; give a number above 0, in kg/m³"},
        Bad{BOX "material: {model: mooney_rivlin, density: 1, c10: 1, c01: 1, bulk_modulus: -1}\n",
            "s.yaml:2: material.bulk_modulus: -1 is not positive; give a number above 0, in Pa"},
        Bad{BOX "material: {model: mooney_rivlin, density: 1, youngs_modulus: 1, c10: 1, c01: 1, bulk_modulus: 1}\n",
            "s.yaml:2: material.youngs_modulus: unknown key; known keys: model, region, dilatation, c10, c01, "
            "bulk_modulus, density, viscosity, bulk_viscosity, rayleigh_damping, drag"},
        Bad{BOX "material: {model: neo_hookean, density: 1, youngs_modulus: 1, poisson_ratio: 0.5}\n",
            "s.yaml:2: material.poisson_ratio: 0.5 is outside (-1, 0.5); give a value in this range"},
        Bad{BOX "material: {model: neo_hookean, density: 1, poisson_ratio: 0.3}\n",
            "s.yaml:2: material.youngs_modulus: is missing; give a number, or {file:, dataset:} with one value per "
            "cell"},
        Bad{BOX "material: {model: neo_hokean, density: 1, youngs_modulus: 1, poisson_ratio: 0.3}\n",
            "s.yaml:2: material.model: there is no 'neo_hokean'; did you mean 'neo_hookean'? use one of: neo_hookean, "
            "neo_hookean_quadratic, stable_neo_hookean..."},
        Bad{BOX "material: {model: neo_hookean, density: {file: a.h5}, youngs_modulus: 1, poisson_ratio: 0.3}\n",
            "s.yaml:2: material.density.dataset: is missing; give the name of a dataset in it, such as /density"},
        Bad{BOX "boundary: {region: x_min, fix: [x, w]}\n",
            "s.yaml:2: boundary.fix[1]: there is no 'w'; use one of: x, y, z"},
        Bad{BOX "boundary:\n  - {region: x_min, fix: [x]}\n  - {fix: [x]}\n",
            "s.yaml:4: boundary[1].region: is missing; give the name of a region"},
        Bad{BOX "boundary: {region: x_min}\n",
            "s.yaml:2: boundary: a key is missing; give one of: fix, traction, pressure, wind, moment, nodal_load, "
            "move"},
        Bad{BOX "boundary: {region: x_min, move: {axis: [0, 0, 0]}}\n",
            "s.yaml:2: boundary.move.axis: has no length; give a direction such as [0, 0, 1]"},
        Bad{BOX "boundary: {region: x_min, move: {table: {times: [0, 1, 1], angle: [0, 1, 2]}}}\n",
            "s.yaml:2: boundary.move.table.times: the times do not ascend; sort them"},
        Bad{BOX "boundary: {region: x_min, move: {velocity: [1, 0, 0], table: {times: [0, 1]}}}\n",
            "s.yaml:2: boundary.move.table: cannot be combined with `angular_velocity` or `velocity`; give a table or "
            "rates"},
        Bad{BOX "boundary: {region: x_min, traction: [1, 2]}\n",
            "s.yaml:2: boundary.traction: has the shape [2]; give [x, y, z] in Pa, or one for each of solver.steps"},
        Bad{BOX "initial: {velocity: [0, 1]}\n",
            "s.yaml:2: initial.velocity: has the shape [2]; give [x, y, z], or {file:, dataset:} of shape [vertices, "
            "3]"},
        Bad{BOX "solver: {steps: 5}\nobjective: {type: track, observations: o.h5, steps: [1, 6]}\n",
            "s.yaml:3: objective.steps[1]: 6 is after the last step, 5; give an earlier step or raise solver.steps"},
        Bad{BOX "objective: {type: trak, observations: o.h5}\n",
            "s.yaml:2: objective.type: there is no 'trak'; did you mean 'track'? use one of: " + names_of_objectives()},
        Bad{BOX "objective: {type: track, observations: o.h5, target: [0, 0, 0]}\n",
            "s.yaml:2: objective.target: unknown key; known keys: type, observations, steps, region, noise, weight"},
        Bad{BOX "objective: {type: target_position, region: x_max}\n",
            "s.yaml:2: objective.target: is missing; give [x, y, z] in m"},
        Bad{BOX "objective: {type: target_position, region: x_max, target: [0, 0, 0], weight: 0}\n",
            "s.yaml:2: objective.weight: 0 is not positive; give a number above 0"},
        Bad{BOX "objective: {type: silhouette, observations: m.h5}\n",
            "s.yaml:2: objective.camera: is missing; give {position:, target:, field_of_view:, size:}"},
        Bad{BOX "objective: {type: silhouette, observations: m.h5, camera: {position: [0, 0, 1], target: [0, 0, 0], "
                "view_height: 1, size: [8]}}\n",
            "s.yaml:2: objective.camera.size: is not a list of two numbers of pixels: width, height"},
        Bad{BOX "objective: {type: silhouette, observations: m.h5, filter: 2, camera: {position: [0, 0, 1], target: "
                "[0, 0, 0], view_height: 1, size: [8, 8]}}\n",
            "s.yaml:2: objective.filter: 2 is even; give an odd number of pixels"}));

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadScene,
    testing::Values(
        Bad{BODY "parameters: {name: youngs_modulos}\n",
            "s.yaml:3: parameters.name: there is no 'youngs_modulos'; did you mean 'youngs_modulus'? use one of: "
            "density, "
            "youngs_modulus, poisson_ratio, gravity, damping, traction, pressure, wind, wind_drag, moment, "
            "angular_velocity, "
            "velocity, nodal_load, "
            "rest_positions, initial_positions, "
            "initial_velocities"},
        Bad{BODY "parameters: {name: gravity, per: cell}\n",
            "s.yaml:3: parameters.per: there is no 'cell'; use one of: global, step"},
        Bad{BODY "parameters: {name: youngs_modulus, bounds: [2, 1]}\n",
            "s.yaml:3: parameters.bounds: the lower bound, 2, is not below the upper bound, 1; exchange or widen the "
            "bounds"},
        Bad{BODY "parameters: {name: youngs_modulus, bounds: [0, 1]}\n",
            "s.yaml:3: parameters.bounds[0]: 0 is not positive; give a number above 0, in Pa"},
        Bad{BODY "parameters: {name: youngs_modulus, bounds: [1, 2, 3]}\n",
            "s.yaml:3: parameters.bounds: give [lower, upper]; use -.inf or .inf for no bound"},
        Bad{BODY "parameters: {name: youngs_modulus, bounds: [1, 2], initial: 3}\n",
            "s.yaml:3: parameters.initial: 3 is outside the bounds [1, 2]; start inside the bounds"},
        Bad{BODY "parameters: {name: youngs_modulus, initial: -3}\n",
            "s.yaml:3: parameters.initial: -3 is not positive; give a number above 0, in Pa"},
        Bad{BODY "parameters: {name: traction}\n",
            "s.yaml:3: parameters: the scene has no traction; add one to `boundary`, for example with the value [0, 0, "
            "0]"},
        Bad{BODY "boundary: [{region: a, traction: [0, 0, 1]}, {region: b, traction: [0, 0, 1]}]\n"
                 "parameters: {name: traction}\n",
            "s.yaml:4: parameters.region: is missing and there are several tractions; give one of: a, b"},
        Bad{BODY "parameters: [{name: density}, {name: density}]\n",
            "s.yaml:3: parameters[1]: 'density' is given twice; remove one"},
        Bad{BODY "parameters: {name: gravity, search: logarithm}\n",
            "s.yaml:3: parameters.search: a vector's components may have any sign; use search: linear"},
        Bad{BODY "parameters: {name: poisson_ratio, search: logarithm, bounds: [-0.5, 0.4]}\n",
            "s.yaml:3: parameters.search: the lower bound, -0.5, has no logarithm; raise the bound above 0 or use "
            "search: linear"},
        Bad{BODY "parameters: {name: initial_positions, initial: [0, 0, 0]}\n",
            "s.yaml:3: parameters.initial: has the shape [3]; give {file:, dataset:} with one position per vertex"}));

INSTANTIATE_TEST_SUITE_P(
    Runs, BadScene,
    testing::Values(
        Bad{BOX "checkpoint: {schedule: revolve, snapshots: 0}\n",
            "s.yaml:2: checkpoint.snapshots: 0 is too small; give a whole number >= 1"},
        Bad{BOX "checkpoint: {schedule: uniform}\n",
            "s.yaml:2: checkpoint.every: is missing; give the steps between snapshots"},
        Bad{BOX "checkpoint: {store: tape}\n",
            "s.yaml:2: checkpoint.store: there is no 'tape'; use one of: memory, hdf5, tiered"},
        Bad{BOX "checkpoint: {schedule: multi_level}\n",
            "s.yaml:2: checkpoint.levels: is missing; give a list such as [{snapshots: 10}, {snapshots: 100, write: 2, "
            "read: 1}]"},
        Bad{BOX "checkpoint: {levels: [{snapshots: 2, write: 3}, {snapshots: 9, write: 1}]}\n",
            "s.yaml:2: checkpoint.levels[1]: is faster than the previous level; give the fastest level first"},
        Bad{BOX "checkpoint: {memory: much}\n",
            "s.yaml:2: checkpoint.memory: 'much' is not an amount of memory; give a value such as 2GiB, 500MB, or 50% "
            "of what "
            "is free"},
        Bad{BOX "checkpoint: {memory: 120%}\n",
            "s.yaml:2: checkpoint.memory: '120%' is not an amount of memory; give a value such as 2GiB, 500MB, or 50% "
            "of what "
            "is free"},
        Bad{BOX "checkpoint: {memory: -2GiB}\n",
            "s.yaml:2: checkpoint.memory: '-2GiB' is not an amount of memory; give a value such as 2GiB, 500MB, or 50% "
            "of what "
            "is free"},
        Bad{BOX "checkpoint: {memory: 2GiB, snapshots: 3}\n",
            "s.yaml:2: checkpoint.snapshots: cannot be combined with checkpoint.memory, which plans this value; remove "
            "one of them"},
        Bad{BOX "checkpoint: {memory: 2GiB, store: hdf5}\n",
            "s.yaml:2: checkpoint.store: checkpoint.memory plans snapshots in memory, or in memory and on a disk; use "
            "store: memory or tiered, or give a schedule"},
        Bad{BOX "checkpoint: {memory: 2GiB, store: tiered, disk: all}\n",
            "s.yaml:2: checkpoint.disk: 'all' is not an amount of disk space; give a value such as 2GiB, 500MB, or 50% "
            "of what "
            "is free"},
        Bad{BOX "checkpoint: {memory: 2GiB, disk: 20GiB}\n",
            "s.yaml:2: checkpoint.disk: limits the disk space of a planned schedule; also give checkpoint.memory and "
            "store: tiered"},
        Bad{BOX "optimiser: {method: newton}\n",
            "s.yaml:2: optimiser.method: there is no 'newton'; did you mean 'newton_cg'? use one of: lbfgs, "
            "newton_cg, adam, mma, almm"},
        Bad{BOX "optimiser: {gradient_tolerance: -1}\n",
            "s.yaml:2: optimiser.gradient_tolerance: -1 is negative; give a number, 0 or more"},
        Bad{BOX "output: {every: 0}\n", "s.yaml:2: output.every: 0 is too small; give a whole number >= 1"},
        Bad{BOX "output: {fields: [position]}\n",
            "s.yaml:2: output.fields[0]: there is no 'position'; did you mean 'positions'? use one of: positions, "
            "velocities, reactions, contact_forces"},
        Bad{BOX "petsc: {\"-tao view\": 1}\n",
            "s.yaml:2: petsc.-tao view: '-tao view' is not the name of a PETSc option; give one, such as tao_view"}));

TEST(Value, KnowsNumbers) {
  const auto number = [](const std::string& text) { return to_number(parse_yaml("a: " + text + "\n", "s").items[0]); };
  EXPECT_EQ(number("1"), 1.0);
  EXPECT_EQ(number("+1.5e3"), 1500.0);
  EXPECT_EQ(number("-.5"), -0.5);
  EXPECT_EQ(number("1."), 1.0);
  EXPECT_EQ(number("1E-3"), 1e-3);
  for (const char* bad : {"1,5", "0x10", "1e", "--1", "1 2", "''", "1_000", "1:30"})
    EXPECT_THROW(number(bad), InputError) << bad;
}

}  // namespace
}  // namespace diffsim::app::scene_test
