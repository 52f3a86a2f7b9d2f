// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of rigid bodies and joints.
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::rigid_test {
namespace {

const std::string no_more = "parameters: [{name: gravity}]\n";

/// Returns a scene with a door on a post, driven by a torque. `hinge`: further keys of the joint; `door`: of the body.
std::string scene(const std::string& hinge, const std::string& more = no_more, const std::string& door = "density: 600",
                  const std::string& integrator = "velocity_verlet") {
  return "bodies:\n  post: {kind: rigid, mesh: {box: {size: [0.1, 1, 0.1], cells: [1, 1, 1]}}, density: 2000}\n"
         "  door: {kind: rigid, mesh: {box: {size: [0.8, 0.9, 0.04], cells: [1, 1, 1]}}, "
         "placement: {translate: [0.12, 0, 0]}, " +
         door +
         "}\njoints:\n  floor: {kind: fixed, body: post, point: [0, 0, 0]}\n"
         "  hinge: {kind: revolute, body: door, to: post, point: [0.1, 0, 0.02], axis: [0, 1, 0]" +
         hinge + "}\nsolver: {integrator: " + integrator +
         ", dt: 0.01, steps: 20, substeps: 1}\n"
         "objective: [{type: target_position, region: door/all, target: [0, 0.4, -0.5]}]\n" +
         more;
}

class Rigid : public CellModelTest {};

TEST_F(Rigid, turns_by_the_angle_of_its_torque) {
  write("scene.yaml", scene(", torque: 20"));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> joints = dataset("run/trajectory.h5", "/joints");
  ASSERT_EQ(joints.size(), 21u * 2u);
  EXPECT_TRUE(std::isnan(joints[0]));  // a fixed joint has no coordinate
  // Moment of inertia about the hinge: m (a² + b²)/12 + m d², with the distance d of the centre from the hinge.
  const double m = 600.0 * 0.8 * 0.9 * 0.04, d = 0.12 + 0.4 - 0.1;
  const double inertia = m * (0.8 * 0.8 + 0.04 * 0.04) / 12.0 + m * d * d;
  EXPECT_NEAR(joints[2 * 20 + 1], 0.5 * 20.0 / inertia * 0.2 * 0.2, 2e-6);  // error O(dt²)
}

TEST_F(Rigid, passes_the_check_of_its_gradient) {
  const std::string parameters =
      "parameters:\n  - {name: density, region: door/all}\n  - {name: \"joint_torque:hinge\", per: step}\n"
      "  - {name: \"joint_stiffness:hinge\"}\n  - {name: \"joint_damping:hinge\"}\n  - {name: "
      "\"joint_target:hinge\"}\n  - {name: \"joint_friction:hinge\"}\n  - {name: \"joint_limit_stiffness:hinge\"}\n"
      "  - {name: \"joint_point:hinge\"}\n  - {name: \"joint_axis:hinge\"}\n";
  for (const std::string integrator : {"symplectic_euler", "velocity_verlet", "bdf2", "generalised_alpha"}) {
    write("scene.yaml",
          scene(", torque: 20, stiffness: 5, damping: 0.5, target: 0.3, friction: 0.8, friction_velocity: 0.5, "
                "limits: [-0.05, 1], limit_stiffness: 20, limit_distance: 0.1",
                parameters, "density: 600", integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

// A ball falls on the floor and rolls; its radius is found from its track.
TEST_F(Rigid, finds_the_scale_of_a_surface) {
  const auto rolling = [](const std::string& scale, const std::string& more) {
    return "bodies: {ball: {kind: rigid, mesh: {sphere: {center: [0, 0.101, 0], radius: 0.1, refinements: 2}}, "
           "density: 500, initial: {velocity: [0.5, 0, 0]}}}\n"
           "contact: {barrier_distance: 2.0e-3, barrier_stiffness: 1.0e+5, friction: 0.3, friction_velocity: 0.02, "
           "surface_scales: {ball: " +
           scale +
           "}, obstacles: [{plane: {point: [0, 0, 0], normal: [0, 1, 0]}, name: floor}]}\n"
           "solver: {integrator: velocity_verlet, dt: 2.0e-3, steps: 60, substeps: 4}\n" +
           more;
  };
  const std::string search =
      "objective: {type: track, observations: truth/trajectory.h5, steps: all}\n"
      "parameters: [{name: \"surface_scale:ball\", bounds: [0.9, 1.005]}]\n"
      "optimiser: {method: lbfgs, max_iterations: 30, gradient_tolerance: 1.0e-8}\n";
  write("truth.yaml", rolling("{value: 0.99, centre: [0, 0.101, 0]}", ""));
  good({"simulate", "truth.yaml"}, "truth");
  write("search.yaml", rolling("1", search));
  good({"check", "search.yaml"}, "check");
  run({"invert", "search.yaml"}, "found");
  EXPECT_NEAR(report("found")["parameters"]["surface_scale:ball"].get<double>(), 0.99, 1e-5);
  write("bad.yaml", rolling("{value: 1, center: [0, 0, 0]}", ""));
  const Ran bad = run({"simulate", "bad.yaml"}, "bad");
  EXPECT_EQ(bad.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(bad.err.find("did you mean 'centre'?"), std::string::npos) << bad.err;
  }
}

TEST_F(Rigid, has_an_armature) {
  const std::string driven = ", torque: 20, armature: 8";
  write("scene.yaml", scene(driven));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> joints = dataset("run/trajectory.h5", "/joints");
  ASSERT_EQ(joints.size(), 21u * 2u);
  const double m = 600.0 * 0.8 * 0.9 * 0.04, d = 0.12 + 0.4 - 0.1, q = joints[2 * 20 + 1];
  const double inertia = m * (0.8 * 0.8 + 0.04 * 0.04) / 12.0 + m * d * d + 8.0;
  EXPECT_NEAR(q, 0.5 * 20.0 / inertia * 0.2 * 0.2, 2e-6);  // error O(dt²)
  const std::vector<double> rotor = dataset("run/trajectory.h5", "/bodies/hinge.rotor/directors/positions");
  ASSERT_EQ(rotor.size(), 21u * 3u);
  EXPECT_NEAR(rotor[60], std::cos(q), 1e-12);
  EXPECT_NEAR(rotor[61], std::sin(q), 1e-12);
  EXPECT_NEAR(rotor[62], 0.0, 1e-12);
  for (const std::string integrator : {"symplectic_euler", "velocity_verlet", "bdf2", "generalised_alpha"}) {
    write("scene.yaml", scene(driven, "parameters: [{name: \"joint_armature:hinge\"}]\n", "density: 600", integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Rigid, a_joint_follows_another) {
  const auto text = [](const std::string& follows, const std::string& rail = "prismatic") {
    return "bodies:\n  wheel: {kind: rigid, mesh: {box: {size: [0.2, 0.2, 0.1], cells: [1, 1, 1]}}, density: 600}\n"
           "  rack: {kind: rigid, mesh: {box: {size: [0.5, 0.05, 0.1], cells: [1, 1, 1]}}, density: 600, "
           "placement: {translate: [0, 0.4, 0]}}\n"
           "joints:\n  shaft: {kind: revolute, body: wheel, point: [0.1, 0.1, 0], axis: [0, 0, 1], " +
           follows + "}\n  rail: {kind: " + rail +
           ", body: rack, point: [0, 0.4, 0], axis: [1, 0, 0]}\n"
           "solver: {integrator: velocity_verlet, dt: 0.01, steps: 40, substeps: 1, gravity: [2, 0, 0]}\n"
           "objective: [{type: target_position, region: rack/all, target: [0.4, 0.4, 0]}]\n"
           "parameters: [{name: density, region: wheel/all}, {name: gravity}, {name: \"joint_ratio:shaft\"}]\n";
  };
  write("scene.yaml", text("follows: {joint: rail, ratio: -10}"));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> joints = dataset("run/trajectory.h5", "/joints");
  ASSERT_EQ(joints.size(), 41u * 2u);
  const double rack = 600.0 * 0.5 * 0.05 * 0.1, wheel = 600.0 * 0.2 * 0.2 * 0.1, inertia = wheel * 0.08 / 12.0;
  EXPECT_NEAR(joints[2 * 40 + 1], 0.5 * 2.0 * rack / (rack + 100.0 * inertia) * 0.16, 2e-4);  // error O(dt²)
  EXPECT_NEAR(joints[2 * 40], -10.0 * joints[2 * 40 + 1], 1e-11);
  good({"check", "scene.yaml"}, "check");
  std::string search = text("follows: {joint: rail, ratio: -7}");  // the rack's way gives the ratio
  search.replace(search.find("objective:"), std::string::npos,
                 "objective: [{type: joint, joint: rail, target: " + std::to_string(joints[2 * 40 + 1]) +
                     "}]\nparameters: [{name: \"joint_ratio:shaft\", bounds: [-20, -1]}]\n"
                     "optimiser: {method: lbfgs, max_iterations: 30, gradient_tolerance: 1.0e-9}\n");
  write("search.yaml", search);
  run({"invert", "search.yaml"}, "found");
  EXPECT_NEAR(report("found")["parameters"]["joint_ratio:shaft"].get<double>(), -10.0, 1e-3);
  refused(text("follows: {joint: rial}"), "did you mean 'rail'?");
  refused(text("follows: {joint: shaft}"), "joints.shaft.follows.joint: is the joint itself; give another joint");
  refused(text("follows: {joint: rail, ratio: 0}"), "joints.shaft.follows.ratio: is zero; give a ratio");
  refused(text("armature: 0.1"), "joint_ratio:shaft");  // the joint follows no other joint
  refused(text("follows: {joint: rail}", "planar"), "follows 'rail', which is neither revolute nor prismatic");
}

/// Returns a scene with a wheel on a revolute joint, a rack on a prismatic joint and a screw that follows the wheel.
/// `more`: objective and parameters.
std::string wheel_and_rack(const std::string& more) {
  const std::string drive =
      ", torque: 0.2, target: 0.1, stiffness: 0.5, damping: 0.1, friction: 0.1, limits: [-0.5, 0.5], limit_stiffness: "
      "0.3, limit_distance: 0.5, armature: 0.1}\n";
  const auto body = [](const std::string& name, const std::string& y) {
    return "  " + name + ": {kind: rigid, mesh: {box: {size: [0.2, 0.2, 0.1], cells: [1, 1, 1]}}, density: 600, " +
           "placement: {translate: [0, " + y + ", 0]}}\n";
  };
  return "bodies:\n" + body("wheel", "0") + body("rack", "0.4") + body("bolt", "0.8") +
         "joints:\n  screw: {kind: prismatic, body: bolt, point: [0, 0.8, 0], axis: [1, 0, 0], "
         "follows: {joint: shaft, ratio: 0.3}}\n"
         "  shaft: {kind: revolute, body: wheel, point: [0, 0, 0], axis: [0, 0, 1]" +
         drive + "  rail: {kind: prismatic, body: rack, point: [0, 0.4, 0], axis: [1, 0, 0]" + drive +
         "solver: {integrator: velocity_verlet, dt: 0.01, steps: 5, substeps: 1}\n" + more;
}

TEST_F(Rigid, units_in_files_are_those_of_the_joint) {
  const std::vector<std::array<std::string, 3>> units{
      {"torque", "N m", "N"},      {"stiffness", "N m", "N/m"},       {"damping", "N m s", "N s/m"},
      {"friction", "N m", "N"},    {"limit_stiffness", "N m", "N/m"}, {"target", "1", "m"},
      {"armature", "kg m^2", "kg"}};
  std::string names = "{name: \"joint_ratio:screw\"}";
  for (const auto& [name, turning, sliding] : units)
    for (const std::string joint : {"shaft", "rail"}) names += ", {name: \"joint_" + name + ":" + joint + "\"}";
  const std::string objective = "objective: [{type: target_position, region: all, target: [1, 1, 1]}]\n";
  write("scene.yaml", wheel_and_rack(objective + "parameters: [" + names + "]\noptimiser: {max_iterations: 1}\n"));
  run({"gradient", "scene.yaml"}, "gradient");
  run({"invert", "scene.yaml"}, "invert");
  const auto unit = [&](const std::string& file, const std::string& name) {
    const auto found = Hdf5File::open(MPI_COMM_WORLD, path(file)).attribute(name, "units");
    return found ? std::get<std::string>(*found) : "none";
  };
  const auto expect = [&](const std::string& name, const std::string& expected) {
    EXPECT_EQ(unit("invert/parameters.h5", "/parameters/" + name), expected) << name;
    EXPECT_EQ(unit("gradient/gradient.h5", "/gradient/" + name), expected == "1" ? "m^2" : "m^2/(" + expected + ")");
  };
  for (const auto& [name, turning, sliding] : units) {
    expect("joint_" + name + ":shaft", turning);
    expect("joint_" + name + ":rail", sliding);
  }
  expect("joint_ratio:screw", "m");
  EXPECT_EQ(unit("invert/trajectory.h5", "/joints"), "m, 1, m");  // screw, shaft, rail
  write("scene.yaml", wheel_and_rack("objective: [{type: effort, parameter: \"joint_torque:rail\"}]\n"
                                     "parameters: [{name: \"joint_torque:rail\"}]\n"));
  run({"gradient", "scene.yaml"}, "effort");
  EXPECT_EQ(unit("effort/gradient.h5", "/loss"), "N^2 s");
  EXPECT_EQ(unit("effort/gradient.h5", "/gradient/joint_torque:rail"), "N^2 s/(N)");
}

TEST_F(Rigid, messages_have_the_unit_of_the_joint) {
  const auto with = [](const std::string& joint) {
    return wheel_and_rack("objective: [{type: joint, joint: rail, target: 1}]\nparameters: [{name: \"joint_friction:" +
                          joint + "\", initial: -1}]\n");
  };
  refused(with("shaft"), "-1 is negative; give a number, 0 or more, in N m\n");
  refused(with("rail"), "-1 is negative; give a number, 0 or more, in N\n");
}

TEST_F(Rigid, units_of_starts_of_joints_are_those_of_the_joints) {
  const auto unit = [&](const std::string& name, const std::string& joints) {
    std::string text = wheel_and_rack(
        "objective: [{type: target_position, region: all, target: [1, 1, 1]}]\n"
        "parameters: [{name: " +
        name + ", joints: [" + joints + "]}]\n");
    for (std::size_t at; (at = text.find(", armature: 0.1")) != std::string::npos;) text.erase(at, 15);
    write("scene.yaml", text);
    run({"gradient", "scene.yaml"}, "run");
    const auto found = Hdf5File::open(MPI_COMM_WORLD, path("run/gradient.h5")).attribute("/gradient/" + name, "units");
    return found ? std::get<std::string>(*found) : "none";
  };
  EXPECT_EQ(unit("initial_coordinates", "rail"), "m^2/(m)");
  EXPECT_EQ(unit("initial_coordinates", "shaft"), "m^2");
  EXPECT_EQ(unit("initial_coordinates", "shaft, rail"), "m^2, m^2/(m)");
  EXPECT_EQ(unit("initial_rates", "rail"), "m^2/(m/s)");
  EXPECT_EQ(unit("initial_rates", "rail, shaft"), "m^2/(m/s), m^2/(1/s)");
}

TEST_F(Rigid, starts_of_joints_are_unknowns) {
  const auto text = [](const std::string& parameters) {
    return "bodies:\n  upper: {kind: rigid, mesh: {box: {size: [0.3, 0.04, 0.04], cells: [1, 1, 1]}}, density: 600}\n"
           "  lower: {kind: rigid, mesh: {box: {size: [0.2, 0.03, 0.04], cells: [1, 1, 1]}}, density: 600, placement: "
           "{translate: [0.3, 0, 0]}}\n"
           "joints:\n  shoulder: {kind: revolute, body: upper, point: [0, 0, 0], axis: [0, 0, 1]}\n"
           "  elbow: {kind: revolute, body: lower, to: upper, point: [0.3, 0, 0], axis: [0, 0.2, 1]}\n"
           "solver: {integrator: velocity_verlet, dt: 0.01, steps: 20, substeps: 1}\n"
           "objective: [{type: target_position, region: lower/all, target: [0.1, 0.2, 0]}]\n"
           "parameters: [" +
           parameters + "]\n";
  };
  const std::string start = "{name: initial_coordinates, joints: [elbow, shoulder]";
  write("scene.yaml", text(start + ", initial: [0.3, -0.2]}"));
  good({"check", "scene.yaml"}, "check");
  good({"gradient", "scene.yaml"}, "gradient");
  EXPECT_EQ(dataset("gradient/gradient.h5", "/gradient/initial_coordinates").size(), 2u);
  good({"tangent", "scene.yaml"}, "tangent");
  write("scene.yaml", text("{name: initial_rates, joints: [elbow], initial: 0.7}, {name: gravity}"));
  good({"check", "scene.yaml"}, "check");
  write("scene.yaml",
        text(start + "}") +
            "priors: [{parameter: initial_coordinates, type: normal, mean: [-0.3, 0.5], deviation: 0.1}]\n");
  good({"check", "scene.yaml"}, "check");
  refused(text(start + ", initial: [2, 0], bounds: [-1, 1]}"), "the initial value 2 is outside the bounds [-1, 1]");
  refused(text("{name: initial_rates}"), "parameters[0].joints: is missing; give a list of names");
  refused(text("{name: initial_rates, joints: [wrist]}"), "joint 'wrist' does not exist");
  refused(text(start + ", per: region}"), "parameters[0].per: does not belong to initial_coordinates");
  refused(text(start + ", initial: [1, 2, 3]}"), "a list with one number per joint");
  refused(text(start + "}, {name: initial_rates, joints: [elbow]}"), "cannot both be unknowns; remove one");
  refused(text(start + "}, {name: \"joint_axis:elbow\"}"), "cannot both be unknowns; remove one");
  std::string follows = text(start + "}, {name: \"joint_ratio:elbow\"}");
  refused(follows.insert(follows.find("axis: [0, 0.2, 1]"), "follows: {joint: shoulder}, "),
          "cannot both be unknowns; remove one");
  refused(text("{name: gravity, joints: [elbow]}"), "belongs to initial_coordinates and initial_rates; remove it");
}

TEST_F(Rigid, moves_with_the_least_effort) {
  // A unit mass goes from 0 to 1 m in 1 s and stops there. The least ∫ u² dt is 12 N² s, with u = 6 - 12 t.
  write("scene.yaml",
        "bodies:\n  cart: {kind: rigid, mesh: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, density: 1000}\n"
        "joints:\n  rail: {kind: prismatic, body: cart, point: [0, 0, 0], axis: [1, 0, 0], torque: 0}\n"
        "solver: {integrator: velocity_verlet, dt: 0.01, steps: 100, substeps: 1}\nobjective:\n"
        "  - {type: joint, joint: rail, target: 1, weight: 1.0e+6}\n"
        "  - {type: target_velocity, region: cart/all, target: [0, 0, 0], weight: 1.0e+6}\n"
        "  - {type: effort, parameter: \"joint_torque:rail\"}\n"
        "parameters: [{name: \"joint_torque:rail\", per: step}]\n"
        "optimiser: {method: newton_cg, max_iterations: 20, gradient_tolerance: 1.0e-10}\n");
  good({"invert", "scene.yaml"}, "run");
  const std::vector<double> u = dataset("run/parameters.h5", "/parameters/joint_torque:rail");
  ASSERT_EQ(u.size(), 100u);
  double effort = 0.0;
  for (std::size_t n = 0; n < u.size(); ++n) {
    EXPECT_NEAR(u[n], 6.0 - 12.0 * (static_cast<double>(n) + 0.5) * 0.01, 6e-3);
    effort += 0.01 * u[n] * u[n];
  }
  EXPECT_NEAR(effort, 12.0, 0.012);
}

TEST_F(Rigid, follows_coordinates_of_a_joint) {
  // The objective `joint` is zero for a torque of 20 N m.
  write("scene.yaml", scene(", torque: 20"));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> joints = dataset("run/trajectory.h5", "/joints");
  std::string targets;
  for (std::size_t n = 1; n <= 20; ++n) targets += (n > 1 ? ", " : "") + std::to_string(joints[2 * n + 1]);
  const std::string door =
      scene(", torque: 5", "parameters: [{name: \"joint_torque:hinge\"}]\noptimiser: {method: lbfgs}\n");
  const std::size_t begin = door.find("objective:"), end = door.find('\n', begin);
  const auto with_effort = [&](const std::string& weight) {
    return door.substr(0, begin) + "objective:\n  - {type: joint, joint: hinge, steps: all, target: [" + targets +
           "]}\n  - {type: effort, parameter: \"joint_torque:hinge\", weight: " + weight + "}" + door.substr(end);
  };
  write("scene.yaml", with_effort("1.0e-3"));  // both terms of the loss have derivatives of the same size
  good({"check", "scene.yaml", "--hessian"}, "check");
  write("scene.yaml", with_effort("1.0e-12"));
  good({"invert", "scene.yaml"}, "invert");
  EXPECT_NEAR(dataset("invert/parameters.h5", "/parameters/joint_torque:hinge").at(0), 20.0, 2e-3);
}

TEST_F(Rigid, refuses_what_it_cannot_do) {
  refused(scene("", no_more, "material: {model: neo_hookean}"), "give `density` next to `mesh`");
  refused(scene("", no_more, "thickness: 0"), "density");
  refused(scene("", "boundary: [{region: door/all, fix: [x, y, z]}]\n" + no_more), "of a rigid body is fixed or moved");
  refused(scene("", no_more, "density: 600", "newmark"),
          "do not support integrator newmark; use generalised_alpha, bdf2");
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = scene("");
    return text.replace(text.find(from), from.size(), to);
  };
  refused(changed("to: post", "to: pots"), "'post'");
  refused(changed("to: post", "to: door"), "is the same body");
  refused(changed("axis: [0, 1, 0]", "axis: [0, 0, 0]"), "has no length");
  refused(changed("axis: [0, 1, 0]", "axis: [0, 1, 0], limits: [-1, 1]"), "limit_stiffness");
  refused(changed("axis: [0, 1, 0]", "axis: [0, 1, 0], limit_stiffness: 1"), "needs `limits: [lower, upper]`");
  refused(changed("axis: [0, 1, 0]", "axis: [0, 1, 0], limits: [0.1, 1], limit_stiffness: 1"),
          "must be between the limits [0.1, 1]");
  refused(changed("kind: fixed", "kind: fixed, stiffness: 3"), "only allowed for revolute and prismatic joints");
  refused(changed("kind: fixed", "kind: fixed, armature: 3"), "only allowed for revolute and prismatic joints");
  refused(scene(", armature: 0"), "0 is not positive");
  refused(scene(", armature: 3", "parameters: [{name: initial_velocities, per: global}]\n"),
          "cannot be an unknown in a scene with armatures of joints");
  refused(scene("", no_more, "density: 600, armature: 1"), "only allowed for robots and in `joints`");
  refused(scene("", "parameters: [{name: \"joint_armature:hinge\"}]\n"), "joint_armature:hinge");
  refused(scene("", "parameters: [{name: \"joint_axis:floor\"}]\n"), "joint_axis:floor");  // a fixed joint
  const std::string position = "type: target_position, region: door/all, target: [0, 0.4, -0.5]";
  refused(changed(position, "type: joint, joint: hing, target: 1"), "did you mean 'hinge'?");
  refused(changed(position, "type: joint, joint: floor, target: 1"), "only revolute and prismatic joints");
  refused(changed(position, "type: effort, parameter: gravi"), "no parameter 'gravi'");
  refused(changed("hinge:",
                  "again: {kind: revolute, body: door, to: post, point: [0.1, 0.5, 0.02], axis: [0, 1, 0]}\n"
                  "  hinge:"),
          "depend on one another");
}

/// The frame contains the rotor. With a rotor at the initial coordinate, the motion after the frame would differ.
TEST_F(Rigid, goes_on_from_a_frame_with_an_armature) {
  const std::string driven = ", torque: 20, armature: 8";
  write("whole.yaml", scene(driven));
  good({"simulate", "whole.yaml"}, "whole");
  write("rest.yaml", scene(driven, no_more + "initial: {from: whole/trajectory.h5, step: 7}\n"));
  good({"simulate", "rest.yaml"}, "rest");
  const std::vector<double> q = dataset("rest/trajectory.h5", "/joints"),
                            all_q = dataset("whole/trajectory.h5", "/joints");
  ASSERT_EQ(q.size(), 14u * 2u);
  EXPECT_NEAR(q.back(), all_q.back(), 1e-13);
  const std::string rotor = "/bodies/hinge.rotor/directors/velocities";
  const std::vector<double> v = dataset("rest/trajectory.h5", rotor), all_v = dataset("whole/trajectory.h5", rotor);
  ASSERT_EQ(v.size(), 14u * 3u);
  EXPECT_GT(all_v[61], 0.1);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(v[39 + c], all_v[60 + c], 1e-12);
}

}  // namespace
}  // namespace diffsim::app::rigid_test
