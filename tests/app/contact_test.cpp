// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of scenes with contact, from the text to the report.

#include <cmath>

#include "runner_fixture.hpp"

namespace diffsim::app::contact_test {
namespace {

/// Returns a scene with a soft block that is thrown onto a floor 12 mm below.
std::string block(const std::string& contact, const std::string& more = "") {
  return "mesh: {box: {size: [0.2, 0.1, 0.1], cells: [4, 2, 2]}}\n"
         "material: {model: stable_neo_hookean, density: 1000, youngs_modulus: 5e4, poisson_ratio: 0.3}\n"
         "solver: {dt: 0.001, steps: 40, substeps: 2, damping: 1}\n"
         "initial: {velocity: [0.3, -0.5, 0]}\n"
         "contact: {barrier_distance: 0.01, barrier_stiffness: 4e4, " +
         contact + "}\n" + more;
}

const std::string floor_ = "obstacles: [{plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}}]";

class Contact : public RunnerTest {};

// With a soft barrier, the gap is far below the barrier distance.
TEST_F(Contact, GapsAtTheLimitOfTheBarrierAreTold) {
  const auto text = [](const std::string& stiffness) {
    return "mesh: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}\n"
           "material: {model: stable_neo_hookean, density: 1000, youngs_modulus: 5e4, poisson_ratio: 0.3}\n"
           "solver: {integrator: implicit_euler, dt: 0.01, steps: 8}\ninitial: {velocity: [0, -0.5, 0]}\n"
           "contact: {barrier_distance: 0.01, barrier_stiffness: " +
           stiffness + ", obstacles: [{plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}, name: floor}]}\n";
  };
  write("soft.yaml", text("0.01"));
  write("stiff.yaml", text("1.0e+4"));
  const Ran soft = run({"simulate", "soft.yaml"}, "soft"), stiff = run({"simulate", "stiff.yaml"}, "stiff");
  EXPECT_EQ(soft.code, 0) << soft.err;
  EXPECT_EQ(stiff.code, 0) << stiff.err;
  if (rank_ != 0) return;
  EXPECT_LT(report("soft")["contact"]["min_distance"].get<double>(), 1e-5);
  EXPECT_NE(soft.err.find("warning: gaps of contact fall below a thousandth of the barrier distance"),
            std::string::npos)
      << soft.err;
  EXPECT_NE(soft.err.find("below a thousandth of the barrier distance, 0.01 m"), std::string::npos) << soft.err;
  EXPECT_NE(soft.err.find("the contact force between "), std::string::npos) << soft.err;
  EXPECT_NE(soft.err.find("and floor is the largest"), std::string::npos) << soft.err;
  EXPECT_EQ(stiff.err.find("a thousandth of the barrier distance"), std::string::npos) << stiff.err;
}

TEST_F(Contact, SimulateReportsHowTheBodyTouched) {
  write("scene.yaml", block(floor_ + ", friction: 0.3, friction_velocity: 0.05"));
  const Ran ran = run({"simulate", "scene.yaml"}, "out");
  ASSERT_EQ(ran.code, 0) << ran.err;
  if (rank_ != 0) return;
  const nlohmann::json contact = report("out")["contact"];
  EXPECT_GT(contact["min_distance"].get<double>(), 1e-3);
  EXPECT_LT(contact["min_distance"].get<double>(), 9.5e-3);
  EXPECT_GE(contact["active_pairs"].get<int>(), 15);
  EXPECT_EQ(contact["intersections"].get<int>(), 0);
  // The block slides at 0.3 m/s. Friction dissipates a part of the kinetic energy at the impact.
  const double work = contact["friction_work"].get<double>(), mass = 0.2 * 0.1 * 0.1 * 1000;
  EXPECT_GT(work, 0.1 * 0.5 * mass * 0.3 * 0.3);
  EXPECT_LT(work, 0.5 * mass * (0.3 * 0.3 + 0.5 * 0.5));
}

/// Compares the work of friction with and without the lag: the difference is proportional to dt.
TEST_F(Contact, FrictionLagsWhereAskedFor) {
  const auto difference = [&](int steps) {
    double work[2] = {};
    for (int lagged = 0; lagged < 2; ++lagged) {
      std::string scene =
          block(floor_ + ", friction: 0.3, friction_velocity: 0.05, lagged_friction: " + (lagged ? "true" : "false"));
      const std::string of_solver = "dt: 0.001, steps: 40, substeps: 2, damping: 1";
      scene.replace(
          scene.find(of_solver), of_solver.size(),
          "integrator: implicit_euler, dt: " + std::to_string(0.04 / steps) + ", steps: " + std::to_string(steps));
      write("scene.yaml", scene);
      const Ran ran = run({"simulate", "scene.yaml"}, "out");
      EXPECT_EQ(ran.code, 0) << ran.err;
      if (rank_ == 0) work[lagged] = report("out")["contact"]["friction_work"].get<double>();
    }
    return work[1] - work[0];
  };
  const double coarse = difference(20), fine = difference(40);
  if (rank_ == 0) {
    EXPECT_GT(std::abs(coarse), 1e-4);
    EXPECT_GT(coarse / fine, 1.5);
    EXPECT_LT(coarse / fine, 2.5);
  }
  write("scene.yaml", block(floor_ + ", friction: 0.3, lagged_friction: often"));
  const Ran ran = run({"simulate", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("lagged_friction"), std::string::npos) << ran.err;
  }
}

TEST_F(Contact, CheckPassesByEveryParameterOfContact) {
  write("scene.yaml", block(floor_ + ", friction: 0.3, friction_velocity: 0.05",
                            "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
                            "parameters:\n"
                            "  - {name: barrier_distance}\n  - {name: barrier_stiffness}\n  - {name: friction}\n"
                            "  - {name: friction_velocity}\n  - {name: \"obstacle_position:0\"}\n"
                            "  - {name: \"obstacle_velocity:0\"}\n"));
  const Ran ran = run({"check", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

/// A pair has a penalty, and the section `contact` a barrier. The body enters the floor.
TEST_F(Contact, APenaltyLetsTheBodyEnterTheFloor) {
  const std::string contact =
      "friction_velocity: 0.05, pairs: [{between: [body, floor], law: penalty, barrier_stiffness: 2e3, "
      "barrier_distance: 2e-3, damping: 0.4, friction: 0.3}], "
      "obstacles: [{name: floor, plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}}]";
  write("scene.yaml", block(contact,
                            "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
                            "parameters:\n"
                            "  - {name: \"contact_damping:body|floor\"}\n  - {name: \"friction:body|floor\"}\n"
                            "  - {name: \"barrier_stiffness:body|floor\"}\n  - {name: \"obstacle_position:floor\"}\n"));
  const Ran simulated = run({"simulate", "scene.yaml"}, "out");
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  if (rank_ == 0) {
    const nlohmann::json touched = report("out")["contact"];
    EXPECT_LT(touched["min_distance"].get<double>(), -1e-4);
    EXPECT_EQ(touched["intersections"].get<int>(), 0);
    EXPECT_EQ(simulated.err.find("a thousandth of the barrier distance"), std::string::npos) << simulated.err;
  }
  const Ran checked = run({"check", "scene.yaml"}, "out");
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

/// The only contact law is the impact. The scene has no barrier distance, and its reports have no distance.
TEST_F(Contact, ABodyBouncesByImpacts) {
  std::string text = block(
      "law: impact, restitution: 0.7, friction: 0.3, "
      "obstacles: [{name: floor, plane: {point: [0, -0.002, 0], normal: [0, 1, 0]}}]",
      "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
      "parameters: [{name: restitution}, {name: friction}, {name: \"obstacle_position:floor\"}]\n");
  text.erase(text.find("barrier_distance"), text.find("law: impact") - text.find("barrier_distance"));
  write("scene.yaml", text);
  const Ran simulated = run({"simulate", "scene.yaml"}, "out");
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  if (rank_ == 0) {
    EXPECT_FALSE(report("out").contains("contact"));
  }
  const Ran checked = run({"check", "scene.yaml"}, "out");
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  text.replace(text.find("law: impact"), 11, "law: impact, pairs: [{between: [body, floor], law: barrier}]");
  write("mixed.yaml", text);
  const Ran mixed = run({"simulate", "mixed.yaml"}, "out");
  EXPECT_EQ(mixed.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(mixed.err.find("contact.barrier_distance: is missing"), std::string::npos) << mixed.err;
  }
}

/// A barrier distance above half of the smallest edge is reported, but impacts have no barrier distance.
TEST_F(Contact, WarnsOfALargeBarrierDistance) {
  std::string text = block(floor_);
  text.replace(text.find("size: [0.2, 0.1, 0.1]"), 21, "size: [0.02, 0.01, 0.01]");
  text.replace(text.find("steps: 40, substeps: 2"), 22, "steps: 1, substeps: 20");
  write("barrier.yaml", text);
  text.replace(text.find("barrier_distance: 0.01, barrier_stiffness: 4e4"), 46, "law: impact");
  text.replace(text.find("size: [0.02, 0.01, 0.01]"), 24, "size: [0.002, 0.001, 0.001]");
  text.replace(text.find("substeps: 20"), 12, "substeps: 200");
  write("impact.yaml", text);
  const Ran barrier = run({"simulate", "barrier.yaml"}, "barrier"), impact = run({"simulate", "impact.yaml"}, "impact");
  ASSERT_EQ(barrier.code, 0) << barrier.err;
  ASSERT_EQ(impact.code, 0) << impact.err;
  if (rank_ != 0) return;
  EXPECT_NE(barrier.err.find("barrier_distance"), std::string::npos) << barrier.err;
  EXPECT_EQ(impact.err.find("barrier_distance"), std::string::npos) << impact.err;
}

TEST_F(Contact, AMovingFloorLiftsTheBody) {
  write("scene.yaml",
        block("obstacles: [{name: lift, plane: {point: [0, -0.012, 0], normal: [0, 3, 0]}, velocity: [0, 0.5, "
              "0]}]",
              "objective: {type: target_position, region: all, target: [0.1, 0.05, 0.05]}\n"
              "parameters: [{name: \"obstacle_velocity:lift\"}]\n"));
  const Ran ran = run({"gradient", "scene.yaml"}, "out");
  ASSERT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_GT(report("out")["gradient_norm"].get<double>(), 0.0);
  }
}

TEST_F(Contact, APairHasALawOfItsOwn) {
  const std::string obstacles =
      "friction_velocity: 0.05, obstacles: [{name: floor, plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}}, "
      "{name: ball, sphere: {center: [0.17, -0.068, 0.05], radius: 0.06}}], ";
  const auto gradient = [&](const std::string& contact, const std::string& parameters) -> std::vector<double> {
    write("scene.yaml", block(obstacles + contact,
                              "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
                              "parameters: [" +
                                  parameters + "]\n"));
    const Ran ran = run({"gradient", "scene.yaml"}, "out");
    EXPECT_EQ(ran.code, 0) << ran.err;
    if (rank_ != 0) return {};
    std::vector<double> numbers{report("out")["loss"].get<double>()};
    for (std::size_t at = ran.out.find("dL/d "); at != ran.out.npos; at = ran.out.find("dL/d ", at + 1))
      numbers.push_back(std::stod(ran.out.substr(ran.out.find('=', at) + 1)));
    return numbers;
  };
  // The sum of the derivatives with respect to the values of the two pairs equals the derivative with respect to a
  // common value.
  const std::vector<double> shared = gradient("friction: 0.3", "{name: friction}, {name: barrier_distance}");
  const std::vector<double> own = gradient(
      "friction: 0.7, pairs: [{between: [body, floor], friction: 0.3}, {between: [ball, body], friction: 0.3}]",
      "{name: \"friction:body|floor\"}, {name: barrier_distance}, {name: \"friction:ball|body\"}, {name: friction}");
  // Friction is present if a derivative with respect to one of its parameters is requested.
  gradient("pairs: [{between: [body, floor], friction_velocity: 0.1}]", "{name: \"friction_velocity:body|floor\"}");
  if (rank_ != 0) return;
  ASSERT_EQ(shared.size(), 3U);
  ASSERT_EQ(own.size(), 5U);
  EXPECT_EQ(own[0], shared[0]);
  EXPECT_NEAR(own[1] + own[3], shared[1], 1e-9 * std::abs(shared[1]));
  EXPECT_NEAR(own[2], shared[2], 1e-9 * std::abs(shared[2]));
  EXPECT_NE(own[1], 0.0);
  EXPECT_NE(own[3], 0.0);
  EXPECT_EQ(own[4], 0.0);
}

TEST_F(Contact, ThicknessIsOfBodiesObstaclesAndPairs) {
  const std::string obstacles =
      "thickness: 0.003, obstacles: [{name: floor, plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}, thickness: "
      "0.002}, {name: step, box: {min: [0.12, -0.1, -0.05], max: [0.4, -0.011, 0.15]}}], "
      "pairs: [{between: [body, step], thickness: 0.004}]";
  write("scene.yaml", block(obstacles,
                            "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
                            "parameters: [{name: thickness}, {name: \"thickness:floor\"}, "
                            "{name: \"thickness:body|step\"}, {name: barrier_distance}]\n"));
  const Ran ran = run({"check", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  // A distance of 12 mm from the floor is less than half the sum of the thicknesses, (15 mm + 10 mm)/2.
  write("near.yaml", block("thickness: 0.015, obstacles: [{name: floor, plane: {point: [0, -0.012, 0], normal: [0, 1, "
                           "0]}, thickness: 0.01}]"));
  write("less.yaml", block("thickness: -0.001, " + floor_));
  write("sphere.yaml", block("thickness: 0.02, obstacles: [{name: ball, sphere: {center: [0.1, -0.066, 0.05], radius: "
                             "0.06}, thickness: 0.001}]"));
  const std::vector<std::pair<std::string, std::string>> all{
      {"near", "near.yaml:5: contact: the body touches or intersects at the start, 15 times: vertex 0 and plane floor"},
      {"less", "less.yaml:5: contact.thickness: -0.001 is negative; give a number, 0 or more, in m"},
      {"sphere", "m apart, which is not more than the mean of their thicknesses, 0.0105 m"}};
  for (const auto& [name, message] : all) {
    const Ran refused = run({"simulate", name + ".yaml"}, "out");
    EXPECT_EQ(refused.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
    }
  }
}

/// A separate surface of the body is at the positions in its file, and its points move with the cells around them.
TEST_F(Contact, ABodyTouchesByASurfaceOfItsOwn) {
  // A closed surface 2 mm outside the block, in millimetres.
  write("skin.obj",
        "v -2 -2 -2\nv 202 -2 -2\nv 202 102 -2\nv -2 102 -2\nv -2 -2 102\nv 202 -2 102\nv 202 102 102\nv -2 102 102\n"
        "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 4 8 7 3\nf 1 5 8 4\nf 2 3 7 6\n");
  const std::string skin = "surface: {file: skin.obj, scale: 0.001}, ", floor = "obstacles: [{name: floor, plane: ";
  const std::string at_12_mm = floor + "{point: [0, -0.012, 0], normal: [0, 1, 0]}}]";
  const auto start_at_1_mm = [&](const std::string& surface) {
    write("scene.yaml", block(surface + floor + "{point: [0, -0.001, 0], normal: [0, 1, 0]}}]"));
    return run({"simulate", "scene.yaml"}, "out");
  };
  EXPECT_EQ(start_at_1_mm("").code, 0);
  const Ran through = start_at_1_mm(skin);
  EXPECT_EQ(through.code, 2);
  write("check.yaml", block(skin + at_12_mm,
                            "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
                            "parameters: [{name: barrier_distance}, {name: \"obstacle_position:floor\"}]\n"));
  const Ran checked = run({"check", "check.yaml"}, "out");
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  write("far.yaml", block("surface: {file: skin.obj}, " + at_12_mm));
  const Ran far = run({"simulate", "far.yaml"}, "out");
  EXPECT_EQ(far.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(through.err.find("the body touches or intersects at the start, 4 times: vertex 0 and plane floor"),
              std::string::npos)
        << through.err;
    EXPECT_NE(far.err.find("is farther from all cells of the body than the longest edge"), std::string::npos)
        << far.err;
  }
}

TEST_F(Contact, WiresAndPointsAreObstacles) {
  write("wire.obj", "v -0.1 -0.012 0.03\nv 0.02 -0.013 0.045\nv 0.12 -0.012 0.06\nv 0.3 -0.014 0.07\nl 1 2 3 4\n");
  write("nails.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0.03 -0.011 0.08\n2 0.17 -0.012 0.02\n$EndNodes\n"
        "$Elements\n2\n1 15 2 0 1 1\n2 15 2 0 2 2\n$EndElements\n");
  const auto scene = [](const std::string& wire, const std::string& more = "") {
    return "bodies:\n"
           "  block:\n"
           "    mesh: {box: {size: [0.2, 0.1, 0.1], cells: [4, 2, 2]}}\n"
           "    material: {model: stable_neo_hookean, density: 1000, youngs_modulus: 5e4, poisson_ratio: 0.3}\n"
           "    initial: {velocity: [0.3, -0.5, 0]}\n"
           "  wire: {kind: obstacle, mesh: {file: wire.obj, cells: segments}" +
           wire +
           "}\n"
           "  nails: {kind: obstacle, mesh: {file: nails.msh, cells: points}}\n"
           "solver: {dt: 0.001, steps: 40, substeps: 4, damping: 1}\n"
           "contact: {barrier_distance: 0.009, barrier_stiffness: 1e5, friction: 0.2, friction_velocity: 0.1}\n"
           "boundary: [{region: wire/all, move: {velocity: [0, 0.1, 0]}}]\n" +
           more;
  };
  write("scene.yaml", scene(", thickness: 0.004",
                            "objective: {type: target_position, region: block/all, target: [0.5, 0.3, 0.1]}\n"
                            "parameters: [{name: velocity, region: wire/all}, {name: \"thickness:wire\"}, "
                            "{name: friction}, {name: initial_velocities}]\n"));
  const Ran ran = run({"check", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Ran forward = run({"simulate", "scene.yaml"}, "forward");
  ASSERT_EQ(forward.code, 0) << forward.err;
  if (rank_ == 0) {
    const nlohmann::json contact = report("forward")["contact"];
    EXPECT_EQ(contact["intersections"].get<int>(), 0);
    EXPECT_GE(contact["active_pairs"].get<int>(), 2);
    EXPECT_LT(contact["min_distance"].get<double>(), 8e-3);
    std::ifstream file(path("forward/trajectory.xdmf"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find("Polyline"), std::string::npos);
  }
  write("near.yaml", scene(", thickness: 0.03"));
  const Ran near = run({"simulate", "near.yaml"}, "out");
  EXPECT_EQ(near.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(near.err.find("of wire"), std::string::npos) << near.err;
    EXPECT_NE(near.err.find("the mean of their thicknesses, 0.015 m"), std::string::npos) << near.err;
  }
  std::string without = scene(", thickness: 0.004");
  const std::size_t line = without.find("contact: ");
  without.erase(line, without.find('\n', line) + 1 - line);
  write("without.yaml", without);
  const Ran refused = run({"simulate", "without.yaml"}, "out");
  EXPECT_EQ(refused.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(refused.err.find("has a contact thickness, but the scene has no `contact`"), std::string::npos)
        << refused.err;
  }
}

TEST_F(Contact, PairsOfWhatIsNotThereAreToldWithThePlace) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"[body, flor], friction: 0.3",
       "contact.pairs[0]: there is no body, obstacle or region 'flor'; did you mean 'floor'? "
       "give one of: body, floor, all, x_max"},
      {"[floor, floor], friction: 0.3", "contact.pairs[0]: 'floor' and 'floor' are obstacles"},
      {"[body, body], friction: 0.3", "contact.pairs[0]: 'body' does not touch itself"},
      {"[body, floor], friction: 0.3}, {between: [floor, body], barrier_distance: 0.01",
       "contact.pairs[1]: 'floor' and 'body' are listed in an earlier pair"}};
  for (const auto& [pairs, message] : all) {
    write("scene.yaml", block("obstacles: [{name: floor, plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}}], "
                              "pairs: [{between: " +
                              pairs + "}]"));
    const Ran ran = run({"simulate", "scene.yaml"}, "out");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find("scene.yaml:5: " + message), std::string::npos) << ran.err;
    }
  }
  write("scene.yaml", block("obstacles: [{name: floor, plane: {point: [0, -0.012, 0], normal: [0, 1, 0]}}], "
                            "pairs: [{between: [body, floor], friction: 0.3}]",
                            "objective: {type: target_position, region: x_max, target: [0.5, 0.3, 0.1]}\n"
                            "parameters: [{name: \"friction:floor|body\"}]\n"));
  const Ran ran = run({"gradient", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("friction:body|floor"), std::string::npos) << ran.err;
  }
}

TEST_F(Contact, BadStartsAndPassagesAreToldWithTheVertex) {
  write("touching.yaml", block("obstacles: [{plane: {point: [0, 0.001, 0], normal: [0, 1, 0]}}]"));
  Ran ran = run({"simulate", "touching.yaml"}, "out");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("touches or intersects at the start, 15 times: vertex "), std::string::npos) << ran.err;
  }
  write("fast.yaml", block(floor_) + "output: {every: 1}\n");
  std::string text = block(floor_);
  text.replace(text.find("-0.5"), 4, "-90");
  write("fast.yaml", text);
  ran = run({"simulate", "fast.yaml"}, "out");
  EXPECT_EQ(ran.code, 1);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("step 0, substep 0: a contact would be passed through"), std::string::npos) << ran.err;
  }
}

TEST_F(Contact, ObstaclesOfAllShapes) {
  write("slab.obj", "v -1 -20 -1\nv 1 -20 -1\nv 0 -20 2\nf 1 3 2\n");
  write(
      "scene.yaml",
      block("self: true, friction: 0.2, friction_velocity: 0.05, obstacles: [\n"
            "  {name: table, box: {min: [-1, -1, -1], max: [0.1, -0.012, 1]}},\n"
            "  {sphere: {center: [0.17, -0.075, 0.05], radius: 0.06}, velocity: [0, 0.1, 0]},\n"
            "  {cylinder: {from: [0.25, -0.03, -1], to: [0.25, -0.03, 1], radius: 0.03}},\n"
            "  {mesh: {file: slab.obj, scale: 0.001}}]",
            "objective: {type: target_position, region: all, target: [0.3, 0.2, -0.1]}\n"
            "parameters: [{name: \"obstacle_position:1\"}, {name: \"obstacle_position:table\"}, {name: friction}]\n"));
  Ran ran = run({"simulate", "scene.yaml"}, "out");
  ASSERT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    const nlohmann::json contact = report("out")["contact"];
    EXPECT_GT(contact["active_pairs"].get<int>(), 20);
    EXPECT_EQ(contact["intersections"].get<int>(), 0);
    EXPECT_GT(contact["min_distance"].get<double>(), 1e-3);
  }
  ran = run({"gradient", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

/// Implicit steps of a block with self-contact and friction that falls onto a rotating wheel and a plane, with an
/// adaptive barrier stiffness.
TEST_F(Contact, ImplicitStepsWithEverything) {
  std::string text = block(
      "self: true, friction: 0.2, friction_velocity: 0.05, obstacles: [\n"
      "  {plane: {point: [0, -0.03, 0], normal: [0, 1, 0]}},\n"
      "  {name: wheel, cylinder: {from: [0.1, -0.04, -0.1], to: [0.1, -0.04, 0.2], radius: 0.03},\n"
      "   rotation: {axis: [0, 0, 1], origin: [0.1, -0.04, 0], angular_velocity: -10}}]",
      "objective: {type: target_position, region: all, target: [0.3, 0.2, -0.1]}\n"
      "parameters: [{name: \"obstacle_angular_velocity:wheel\"}, {name: barrier_stiffness}, {name: friction}]\n");
  text.replace(text.find("solver: {"), 9, "solver: {integrator: implicit_euler, ");
  text.replace(text.find(", substeps: 2, damping: 1"), 25, "");
  text.replace(text.find("dt: 0.001, steps: 40"), 20, "dt: 0.01, steps: 4");
  text.replace(text.find("barrier_stiffness: 4e4"), 22, "barrier_stiffness: adaptive");
  write("scene.yaml", text);
  Ran ran = run({"simulate", "scene.yaml"}, "out");
  ASSERT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    const nlohmann::json contact = report("out")["contact"];
    EXPECT_GT(contact["active_pairs"].get<int>(), 3);
    EXPECT_EQ(contact["intersections"].get<int>(), 0);
    EXPECT_GT(contact["min_distance"].get<double>(), 1e-4);
    EXPECT_GT(contact["friction_work"].get<double>(), 0.0);
    EXPECT_GT(contact["barrier_stiffness"].get<double>(), 1e2);
  }
  ran = run({"gradient", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_GT(report("out")["gradient_norm"].get<double>(), 0.0);
  }
}

TEST_F(Contact, MultigridGivesTheGradientOfFactors) {
  std::string text = block("self: true, friction: 0.3, friction_velocity: 0.05, " + floor_,
                           "objective: {type: target_position, region: all, target: [0.3, 0.2, -0.1]}\n"
                           "parameters: [{name: barrier_stiffness}, {name: friction}]\n");
  text.replace(text.find("solver: {"), 9, "solver: {integrator: bdf2, ");
  text.replace(text.find(", substeps: 2, damping: 1"), 25, "");
  text.replace(text.find("dt: 0.001, steps: 40"), 20, "dt: 0.005, steps: 5");
  double norms[2] = {};
  for (int k = 0; k < 2; ++k) {
    write("scene.yaml", text + (k == 1 ? "petsc: {pc_type: gamg}\n" : ""));
    const Ran ran = run({"gradient", "scene.yaml"}, "out");
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err.find("pc_type"), std::string::npos) << ran.err;  // the option was used
    if (rank_ == 0) norms[k] = report("out")["gradient_norm"].get<double>();
  }
  EXPECT_NEAR(norms[1], norms[0], 1e-8 * norms[0]);
  if (rank_ == 0) {
    EXPECT_GT(norms[0], 0.0);
    EXPECT_NE(norms[1], norms[0]);  // the linear systems were solved iteratively
  }
}

TEST_F(Contact, RotationsThatMakeNoSenseAreToldWithTheLine) {
  const auto error_of = [&](const std::string& obstacle) {
    write("bad.yaml", block("obstacles: [" + obstacle + "]"));
    const Ran ran = run({"simulate", "bad.yaml"}, "out");
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  const std::string axis =
      error_of("{sphere: {center: [0, -1, 0], radius: 0.1}, rotation: {axis: [0, 0, 0], angular_velocity: 1}}");
  if (rank_ != 0) return;
  EXPECT_NE(axis.find("contact.obstacles[0].rotation.axis: is zero"), std::string::npos) << axis;
}

TEST_F(Contact, AnObstacleThroughTheBodyIsToldWithThePair) {
  write("scene.yaml", block("obstacles: [{sphere: {center: [0.1, 0, 0.05], radius: 0.03}}]"));
  const Ran ran = run({"simulate", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("touches or intersects at the start, "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("and triangle "), std::string::npos) << ran.err;
  }
}

TEST_F(Contact, BadInputIsRefusedByName) {
  write("cap.obj", "v -1 -0.1 -1\nv 1 -0.1 -1\nv 0 -0.1 2\nv 0 -0.2 0\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  write("fan.obj",
        "v -1 -0.1 -1\nv 1 -0.1 -1\nv 0 -0.1 2\nv 0 -0.2 0\nv 0 -0.3 0\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 3 2\nf 1 2 5\n");
  struct Bad {
    std::string contact, words;
    int code = 2;
  };
  for (const Bad& bad : {
           Bad{"friction: -0.1, " + floor_, "contact.friction: -0.1 is negative; give a number, 0 or more"},
           Bad{"obstacles: [{plane: {point: [0, 0, 0], normal: [0, 1, 0]}}]", " and plane 0 near ("},
           Bad{"obstacles: [{box: {min: [0.2, 0, -1], max: [1, 1, 1]}}]", "s at the start, "},
           Bad{"obstacles: [{name: ball, sphere: {center: [0.1, 0, 0.05], radius: 0.03}}]",
               "and triangle obstacle ball's"},
           Bad{"obstacles: [{name: ball, sphere: {center: [0.1, 0.05, 0.05], radius: 0.03}}]",
               "at the start obstacle ball, at ("},
           Bad{"obstacles: [{box: {min: [-1, -1, -1], max: [1, 1, 1]}}]", ") is inside obstacle 0; move them apart"},
           Bad{"obstacles: [{name: cap, mesh: {file: cap.obj, solid: true}}]",
               "obstacle 'cap' has no inside: the edge from (-1, -0.1, -1) to (1, -0.1, -1) has one triangle"},
           Bad{"obstacles: [{mesh: {file: fan.obj, solid: true}}]", "more than two triangles"},
           Bad{"self: true, max_pairs: 10", " may touch, which would take ", 1},
           Bad{"self: true, max_pairs: 0", "contact.max_pairs: "},
       }) {
    write("scene.yaml", block(bad.contact));
    const Ran ran = run({"simulate", "scene.yaml"}, "out");
    EXPECT_EQ(ran.code, bad.code) << bad.contact;
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(bad.words), std::string::npos) << ran.err << "lacks: " << bad.words;
    }
  }
  // Obstacles may be open sheets and cavities.
  write("hollow.obj", "v -9 -9 -9\nv 99 -9 -9\nv -9 99 -9\nv -9 -9 99\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  for (const std::string& mesh : {std::string("file: cap.obj"), std::string("file: hollow.obj, solid: false")}) {
    write("scene.yaml", block("obstacles: [{mesh: {" + mesh + "}}]"));
    const Ran ran = run({"simulate", "scene.yaml"}, "out");
    EXPECT_EQ(ran.code, 0) << ran.err;
  }
}

TEST_F(Contact, AWideBarrierIsWarnedOf) {
  std::string text = block(floor_);
  text.replace(text.find("distance: 0.01"), 14, "distance: 0.03");
  text.replace(text.find("-0.012"), 6, "-0.050");
  write("scene.yaml", text);
  const Ran ran = run({"simulate", "scene.yaml"}, "out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("contact.barrier_distance, 0.03 m, is above half"), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace diffsim::app::contact_test
