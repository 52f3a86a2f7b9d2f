// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of several bodies.
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "io/hdf5_file.hpp"
#include "max_or_nan.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::bodies_test {
namespace {

const std::string rubber = "{model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.3}";
const std::string foam = "{model: stable_neo_hookean, density: 300, youngs_modulus: 4.0e4, poisson_ratio: 0.2}";
const std::string solver = "solver: {dt: 0.002, steps: 10, substeps: 4, damping: 1}\n";
const std::string crate_mesh = "mesh: {box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}";
const std::string slab_mesh = "mesh: {box: {size: [0.8, 0.1, 0.4], cells: [6, 1, 3]}}";

/// Scene of a crate that falls onto a slab.
const std::string two_bodies = "bodies:\n  crate:\n    " + crate_mesh +
                               "\n    placement: {translate: [0.3, 0.111, 0.1]}\n    material: " + rubber +
                               "\n    initial: {velocity: [0.1, -1, 0]}\n  slab:\n    " + slab_mesh +
                               "\n    material: " + foam + "\n";
const std::string held = "boundary: [{region: slab/y_min, fix: [x, y, z]}]\n";
const std::string contact =
    "contact: {barrier_distance: 1.0e-2, barrier_stiffness: 1.0e5, friction: 0.3, friction_velocity: 0.1}\n";

class Bodies : public RunnerTest {
 protected:
  std::vector<double> dataset(const std::string& file, const std::string& name) const {
    return Hdf5File::open(MPI_COMM_WORLD, path(file)).read_array<double>(name);
  }
  bool has(const std::string& file, const std::string& name) const {
    return Hdf5File::open(MPI_COMM_WORLD, path(file)).has(name);
  }
  void good(const std::vector<std::string>& words, const std::string& output) {
    const Ran ran = run(words, output);
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  void refused(const std::string& text, const std::string& says, const std::string& command = "simulate") {
    write("bad.yaml", text);
    const Ran ran = run({command, "bad.yaml"}, "bad");
    EXPECT_EQ(ran.code, 2) << ran.err;
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    }
  }
  static double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size() || a.empty()) return HUGE_VAL;
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) most = max_or_nan(most, std::abs(a[i] - b[i]));
    return most;
  }
};

TEST_F(Bodies, OfOneNameMoveAsTheShortForm) {
  const std::string boundary = "boundary: [{region: SIDE, fix: [x, y, z]}]\n";
  const auto with = [&](const std::string& side) {
    std::string text = boundary;
    return text.replace(text.find("SIDE"), 4, side);
  };
  write("short.yaml", crate_mesh + "\nmaterial: " + rubber + "\n" + solver + with("x_min"));
  write("long.yaml",
        "bodies: {crate: {" + crate_mesh + ", material: " + rubber + "}}\n" + solver + with("crate/x_min"));
  good({"simulate", "short.yaml"}, "short");
  good({"simulate", "long.yaml"}, "long");
  EXPECT_EQ(dataset("short/trajectory.h5", "/positions"), dataset("long/trajectory.h5", "/bodies/crate/positions"));
}

TEST_F(Bodies, ThatDoNotTouchMoveEachByItself) {
  const std::string quarter_turn = "{rotate: {axis: [0, 0, 1], angle: 1.5707963267948966}, translate: [3, 0, 0]}";
  write("both.yaml", "bodies:\n  crate: {" + crate_mesh + ", material: " + rubber +
                         ", initial: {velocity: [1, 0, 2]}}\n  slab: {" + slab_mesh + ", material: " + foam +
                         ", placement: " + quarter_turn + "}\n" + solver +
                         "boundary: [{region: slab/x_min, fix: [x, y, z]}]\n");
  write("crate.yaml", crate_mesh + "\nmaterial: " + rubber + "\ninitial: {velocity: [1, 0, 2]}\n" + solver);
  // The slab without its placement. Gravity is rotated by the inverse quarter turn instead: x to -y, y to x.
  std::string turned = solver;
  turned.insert(turned.find('}'), ", gravity: [-9.8, 0, 0]");
  write("slab.yaml",
        slab_mesh + "\nmaterial: " + foam + "\n" + turned + "boundary: [{region: x_min, fix: [x, y, z]}]\n");
  for (const char* name : {"both", "crate", "slab"}) good({"simulate", std::string(name) + ".yaml"}, name);
  EXPECT_LT(largest_difference(dataset("both/trajectory.h5", "/bodies/crate/positions"),
                               dataset("crate/trajectory.h5", "/positions")),
            1e-13);
  std::vector<double> alone = dataset("slab/trajectory.h5", "/positions");
  for (std::size_t i = 0; i < alone.size(); i += 3) {
    const double x = alone[i], y = alone[i + 1];
    alone[i] = 3.0 - y;
    alone[i + 1] = x;
  }
  EXPECT_LT(largest_difference(dataset("both/trajectory.h5", "/bodies/slab/positions"), alone), 1e-13);
}

TEST_F(Bodies, TouchEachOtherWithoutSelf) {
  write("touch.yaml", two_bodies + held + contact + "solver: {dt: 0.002, steps: 30, substeps: 4, damping: 1}\n");
  good({"simulate", "touch.yaml"}, "touch");
  // Without contact the crate's lowest vertices would be 1.7 cm inside the slab, whose upper side is at 0.1 m.
  const std::vector<double> x = dataset("touch/trajectory.h5", "/bodies/crate/positions");
  double lowest = HUGE_VAL;
  for (std::size_t i = x.size() - 3 * 27 + 1; i < x.size(); i += 3) lowest = std::min(lowest, x[i]);
  EXPECT_GT(lowest, 0.08);
  double pushed = 0.0;
  const std::vector<double> y = dataset("touch/trajectory.h5", "/bodies/slab/positions");
  for (std::size_t i = y.size() - 3 * 56 + 1; i < y.size(); i += 3) pushed = std::max(pushed, y[i]);
  EXPECT_NE(pushed, 0.1);
  if (rank_ == 0) {
    EXPECT_EQ(report("touch")["contact"]["intersections"], 0);
  }
}

TEST_F(Bodies, HaveParametersByBodyAndByRegion) {
  const std::string scene = two_bodies + held + contact + solver +
                            "regions: {tip: {body: crate, box: {min: [-9, 0.2, -9], max: [9, 9, 9]}}}\n"
                            "objective: {type: target_position, region: tip, target: [0.3, 0.2, 0.1]}\n";
  write("scene.yaml",
        scene +
            "parameters:\n  - {name: youngs_modulus, per: region}\n  - {name: density, region: crate/all}\n"
            "  - {name: poisson_ratio, per: cell}\n  - {name: initial_velocities}\n  - {name: friction}\n");
  good({"check", "scene.yaml"}, "check");
  good({"gradient", "scene.yaml"}, "gradient");
  const std::string file = "gradient/gradient.h5";
  EXPECT_EQ(dataset(file, "/gradient/youngs_modulus").size(), 2u);
  EXPECT_EQ(Hdf5File::open(MPI_COMM_WORLD, path(file)).read_strings("/gradient/youngs_modulus.regions"),
            (std::vector<std::string>{"crate/all", "slab/all"}));
  EXPECT_EQ(dataset(file, "/bodies/crate/gradient/poisson_ratio").size(), 48u);
  EXPECT_EQ(dataset(file, "/bodies/slab/gradient/initial_velocities").size(), 3u * 56u);
  EXPECT_FALSE(has(file, "/gradient/poisson_ratio"));

  // A region can be named in either way. A run reads all parameters that another run wrote.
  write("again.yaml", scene +
                          "parameters: {name: poisson_ratio, per: cell, initial: {file: out/parameters.h5, dataset: "
                          "/parameters/poisson_ratio}}\n");
  std::string other = scene;
  other.replace(other.find("region: tip"), 11, "region: crate/tip");
  write("invert.yaml", other +
                           "parameters: {name: poisson_ratio, per: cell, bounds: [0.1, 0.4]}\n"
                           "optimiser: {max_iterations: 1}\n");
  EXPECT_EQ(run({"invert", "invert.yaml"}, "out").code, 1);  // not converged
  good({"gradient", "again.yaml"}, "again");
  EXPECT_EQ(dataset("out/parameters.h5", "/bodies/crate/parameters/poisson_ratio").size(), 48u);
}

TEST_F(Bodies, HaveALawOfContactForAPair) {
  std::string pairs = contact;
  pairs.insert(pairs.find('}'), ", pairs: [{between: [slab, crate], friction: 0.8, barrier_stiffness: 5.0e4}]");
  const std::string longer = "solver: {dt: 0.002, steps: 20, substeps: 4, damping: 1}\n";
  const std::string objective = "objective: {type: target_position, region: crate/all, target: [0.3, 0.2, 0.1]}\n";
  write("pairs.yaml", two_bodies + held + pairs + longer + objective +
                          "parameters:\n  - {name: \"friction:slab|crate\"}\n  - {name: friction}\n");
  write("global.yaml", two_bodies + held +
                           "contact: {barrier_distance: 1.0e-2, barrier_stiffness: 5.0e4, friction: 0.8, "
                           "friction_velocity: 0.1}\n" +
                           longer + objective + "parameters: {name: friction}\n");
  good({"gradient", "pairs.yaml"}, "pairs");
  good({"gradient", "global.yaml"}, "global");
  const std::vector<double> of_pair = dataset("pairs/gradient.h5", "/gradient/friction:slab|crate");
  EXPECT_EQ(of_pair, dataset("global/gradient.h5", "/gradient/friction"));
  EXPECT_NE(of_pair.at(0), 0.0);
  // No pair uses the common value of µ.
  EXPECT_EQ(dataset("pairs/gradient.h5", "/gradient/friction").at(0), 0.0);
}

TEST_F(Bodies, HaveALawOfContactForARegion) {
  const auto gradient = [&](const std::string& pairs, const std::vector<std::string>& names, const std::string& out) {
    std::string all = contact, parameters = "parameters:\n";
    all.insert(all.find('}'), ", pairs: " + pairs);
    for (const std::string& name : names) parameters += "  - {name: \"" + name + "\"}\n";
    write("scene.yaml", two_bodies + held + all +
                            "regions: {sole: {body: crate, box: {min: [0, 0, 0], max: [1, 0.112, 1]}}}\n"
                            "solver: {dt: 0.002, steps: 20, substeps: 4, damping: 1}\n"
                            "objective: {type: target_position, region: crate/all, target: [0.3, 0.2, 0.1]}\n" +
                            parameters);
    good({"gradient", "scene.yaml"}, out);
    std::vector<double> values;
    for (const std::string& name : names) values.push_back(dataset(out + "/gradient.h5", "/gradient/" + name).at(0));
    return values;
  };
  const std::vector<double> body =
      gradient("[{between: [slab, crate], friction: 0.8}]", {"friction:slab|crate", "friction"}, "body");
  EXPECT_EQ(gradient("[{between: [slab, crate/all], friction: 0.8}]", {"friction:slab|crate/all", "friction"}, "all"),
            body);
  // Contacts of the sole, and contacts of the crate's other parts, which touch the slab at their sides.
  const std::vector<double> sole = gradient(
      "[{between: [slab, crate/sole], friction: 0.8}, {between: [crate, slab], "
      "friction: 0.8}]",
      {"friction:slab|crate/sole", "friction:crate|slab"}, "sole");
  EXPECT_NEAR(sole[0] + sole[1], body[0], 1e-9 * std::abs(body[0]));
  EXPECT_NE(sole[0], 0.0);
  EXPECT_NE(sole[1], 0.0);
  EXPECT_EQ(body[1], 0.0);
}

TEST_F(Bodies, HaveValuesOfTheirOwnFromFiles) {
  std::vector<double> stiffness(48), velocity(3 * 27);
  for (std::size_t i = 0; i < stiffness.size(); ++i) stiffness[i] = 1.0e5 + 1.0e3 * static_cast<double>(i);
  for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] = 0.01 * static_cast<double>(i);
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("fields.h5"), "test", 1);
    file.write_array("/E", stiffness, {48});
    file.write_array("/v", velocity, {27, 3});
    file.write_array("/bodies/crate/all_v", velocity, {27, 3});
    file.write_array("/bodies/slab/all_v", std::vector<double>(3 * 56, 0.5), {56, 3});
    file.publish();
  }
  const std::string from_file =
      "{model: neo_hookean, density: 1000, youngs_modulus: {file: fields.h5, dataset: /E}, "
      "poisson_ratio: 0.3}";
  const std::string slab = "  slab: {" + slab_mesh + ", material: " + foam + ", placement: {translate: [0, 5, 0]}}\n";
  const std::string crate = "bodies:\n  crate: {" + crate_mesh + ", material: " + from_file;
  write("own.yaml", crate + ", initial: {velocity: {file: fields.h5, dataset: /v}}}\n" + slab + solver +
                        "initial: {velocity: [0.5, 0.5, 0.5]}\n");
  write("all.yaml", crate + "}\n" + slab + solver + "initial: {velocity: {file: fields.h5, dataset: /all_v}}\n");
  write("alone.yaml",
        crate_mesh + "\nmaterial: " + from_file + "\ninitial: {velocity: {file: fields.h5, dataset: /v}}\n" + solver);
  for (const char* name : {"own", "all", "alone"}) good({"simulate", std::string(name) + ".yaml"}, name);
  const std::vector<double> x = dataset("own/trajectory.h5", "/bodies/crate/positions");
  EXPECT_EQ(x, dataset("all/trajectory.h5", "/bodies/crate/positions"));
  EXPECT_LT(largest_difference(x, dataset("alone/trajectory.h5", "/positions")), 1e-13);
  EXPECT_EQ(dataset("own/trajectory.h5", "/bodies/slab/velocities"),
            dataset("all/trajectory.h5", "/bodies/slab/velocities"));
  EXPECT_EQ(dataset("own/trajectory.h5", "/bodies/slab/velocities")[0], 0.5);
}

TEST_F(Bodies, GoOnFromAFrame) {
  const std::string scene = two_bodies + held + contact;
  write("whole.yaml", scene + solver);
  good({"simulate", "whole.yaml"}, "whole");
  write("rest.yaml", scene + solver + "initial: {from: whole/trajectory.h5, step: 4}\n");
  good({"simulate", "rest.yaml"}, "rest");
  const auto last = [&](const std::string& file) {
    const std::vector<double> x = dataset(file, "/bodies/crate/positions");
    return std::vector<double>(x.end() - 3 * 27, x.end());
  };
  EXPECT_LT(largest_difference(last("whole/trajectory.h5"), last("rest/trajectory.h5")), 1e-14);
}

/// A ram next to the crate: eight vertices, twelve triangles.
const std::string ram_obj =
    "v 0.20 0.12 0.12\nv 0.285 0.12 0.12\nv 0.285 0.27 0.12\nv 0.20 0.27 0.12\n"
    "v 0.20 0.12 0.28\nv 0.285 0.12 0.28\nv 0.285 0.27 0.28\nv 0.20 0.27 0.28\n"
    "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
const std::string move_ram = "  - {region: ram/all, move: {velocity: [1, 0, 0]}}\n";

/// Returns the ram in VTK's format, after a vertex inside the crate that belongs to no triangle.
std::string ram_vtu() {
  std::istringstream lines(ram_obj);
  std::string points = "0.4 0.2 0.2\n", nodes, ends, types, line, word;
  for (int triangles = 0; std::getline(lines, line);) {
    if (line[0] == 'v') points += line.substr(2) + "\n";
    if (line[0] != 'f') continue;
    std::istringstream words(line.substr(2));
    std::vector<std::string> corners;
    while (words >> word) corners.push_back(word);
    for (std::size_t k = 2; k < corners.size(); ++k) {
      nodes += corners[0] + " " + corners[k - 1] + " " + corners[k] + "\n";
      ends += std::to_string(3 * ++triangles) + " ";
      types += "5 ";
    }
  }
  const auto array = [](const std::string& type, const std::string& name, const std::string& values) {
    return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
           (name == "Points" ? "3" : "1") + "\" format=\"ascii\">" + values + "</DataArray>";
  };
  return "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"9\" "
         "NumberOfCells=\"12\"><Points>" +
         array("Float64", "Points", points) + "</Points><Cells>" + array("Int32", "connectivity", nodes) +
         array("Int32", "offsets", ends) + array("UInt8", "types", types) +
         "</Cells></Piece></UnstructuredGrid></VTKFile>\n";
}

TEST_F(Bodies, OfTrianglesAreObstacles) {
  write("ram.obj", ram_obj);
  write("ram.vtu", ram_vtu());
  const std::string boundary = "boundary:\n  - {region: slab/y_min, fix: [x, y, z]}\n" + move_ram;
  const std::string finer = "solver: {dt: 0.002, steps: 10, substeps: 8, damping: 1}\n";
  const std::string rest = boundary + contact + finer +
                           "objective: [{type: target_position, region: crate/all, target: [0.3, 0.2, 0.1]}]\n"
                           "parameters: [{name: velocity, region: ram/all}, {name: friction}]\n";
  write("body.yaml", two_bodies + "  ram: {kind: obstacle, mesh: {file: ram.obj}}\n" + rest);
  // The ram as the boundary of tetrahedra, and as an obstacle of the contact section.
  write("box.yaml", two_bodies +
                        "  ram: {kind: obstacle, mesh: {box: {size: [0.085, 0.15, 0.16], cells: [1, 1, 1]}}, "
                        "placement: {translate: [0.2, 0.12, 0.12]}}\n" +
                        rest);
  std::string of_contact = two_bodies + rest;
  of_contact.erase(of_contact.find(move_ram), move_ram.size());
  of_contact.replace(of_contact.find("velocity, region: ram/all"), 25, "obstacle_velocity:ram");
  of_contact.replace(of_contact.find("friction_velocity: 0.1}"), 23,
                     "friction_velocity: 0.1, obstacles: [{mesh: {file: ram.obj}, name: ram, velocity: [1, 0, 0]}]}");
  write("contact.yaml", of_contact);
  write("file.yaml", of_contact.replace(of_contact.find("ram.obj"), 7, "ram.vtu"));
  good({"simulate", "file.yaml"}, "file");
  for (const char* name : {"body", "box", "contact"}) {
    good({"gradient", std::string(name) + ".yaml"}, name);
    good({"simulate", std::string(name) + ".yaml"}, name);
  }
  const std::vector<double> x = dataset("body/trajectory.h5", "/bodies/crate/positions"),
                            other = dataset("contact/trajectory.h5", "/bodies/crate/positions");
  EXPECT_GT(largest_difference({x.begin(), x.begin() + 81}, {x.end() - 81, x.end()}), 0.01);
  // The trajectories differ by the velocity of the ram in friction during the first substep.
  EXPECT_LT(largest_difference(x, other), 1e-5);
  EXPECT_EQ(dataset("file/trajectory.h5", "/bodies/crate/positions"), other);
  const std::vector<double> ram = dataset("body/trajectory.h5", "/bodies/ram/positions");
  EXPECT_NEAR(ram[24 * 10] - ram[0], 0.002 * 10, 1e-14);
  EXPECT_EQ(dataset("body/trajectory.h5", "/bodies/ram/mesh/cells").size(), 36u);
  EXPECT_EQ(dataset("box/trajectory.h5", "/bodies/ram/mesh/cells").size(), 36u);
  const double slope = dataset("body/gradient.h5", "/gradient/velocity").at(0);
  EXPECT_NE(slope, 0.0);
  EXPECT_NEAR(dataset("contact/gradient.h5", "/gradient/obstacle_velocity:ram").at(0), slope, 1e-3 * std::abs(slope));
  if (rank_ == 0) {
    std::ifstream file(path("body/trajectory.xdmf"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find("TopologyType=\"Triangle\" NumberOfElements=\"12\""), std::string::npos);
  }
}

TEST_F(Bodies, ObstaclesDoNotHaveTheInitialVelocityOfTheScene) {
  write("ram.obj", ram_obj);
  write("scene.yaml", two_bodies + "  ram: {kind: obstacle, mesh: {file: ram.obj}}\n" + held + contact +
                          "initial: {velocity: [0.1, 0, 0]}\noutput: {fields: [positions, velocities]}\n" + solver);
  good({"simulate", "scene.yaml"}, "out");
  const std::vector<double> ram = dataset("out/trajectory.h5", "/bodies/ram/velocities"),
                            crate = dataset("out/trajectory.h5", "/bodies/crate/velocities");
  ASSERT_GE(ram.size(), 24u);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(ram[i], 0.0);
  EXPECT_EQ(crate[0], 0.1);
}

TEST_F(Bodies, OfTrianglesAreRefusedWithAReason) {
  write("ram.obj", ram_obj);
  write("lines.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
  const auto with = [&](const std::string& ram, const std::string& more = "") {
    return two_bodies + "  ram: {" + ram + "}\n" + held + contact + solver + more;
  };
  refused(with("kind: obstacle, mesh: {file: ram.obj}, material: " + rubber),
          "bodies.ram.material: is only allowed for deformable bodies");
  refused(with("kind: obstacle, mesh: {file: ram.obj}, initial: {velocity: [1, 0, 0]}"), "bodies.ram.initial: ");
  refused(with("kind: obstacle, mesh: {file: lines.obj}"), "lines.obj: has no triangles, but 1 segments");
  refused(with("mesh: {file: ram.obj}, material: " + rubber), "ram.obj: has no tetrahedra, but 12 triangles");
  refused(with("mesh: {file: ram.obj, cells: triangles}, material: " + rubber),
          "bodies.ram.mesh.file: gives triangles");
  refused(with("mesh: {sphere: {center: [0, 5, 0], radius: 1}}, material: " + rubber), "mesh.sphere: gives triangles");
  refused(with("kind: obstacle, mesh: {sphere: {center: [0.4, 0.2, 0.2], radius: 0.05}}"), "at the start");
  refused(with("kind: obstacle, mesh: {cylinder: {from: [0.4, 0.2, 0], to: [0.4, 0.2, 1], radius: 0.05}}"),
          "at the start");
  refused(with("kind: obstacle, mesh: {file: ram.obj}, placement: {translate: [0.1, 0, 0]}"), "at the start");
  refused("mesh: {file: ram.obj, cells: triangles}\nmaterial: " + rubber + "\n" + solver, "mesh.file: gives triangles");
}

TEST_F(Bodies, AreReportedByTheMeshCommand) {
  write("mesh.yaml", two_bodies);
  good({"mesh", "mesh.yaml"}, "mesh");
  if (rank_ == 0) {
    std::map<std::string, std::int64_t> cells;
    const nlohmann::json all = report("mesh");
    for (const auto& region : all["regions"])
      cells[region["name"].get<std::string>()] = region["cells"].get<std::int64_t>();
    EXPECT_EQ(cells.at("crate/all"), 48);
    EXPECT_EQ(cells.at("slab/all"), 108);
    EXPECT_EQ(cells.at("all"), 156);
  }
}

TEST_F(Bodies, AreConvertedToAFileEach) {
  // A box in another unit, an obstacle of triangles, and an obstacle that is the boundary of tetrahedra.
  const std::string ball = "mesh: {sphere: {center: [0.4, -1, 0.2], radius: 0.1}}";
  const std::string post = "mesh: {box: {size: [0.1, 1, 0.1], cells: [1, 2, 1]}}";
  const std::string rest =
      "  ball: {kind: obstacle, BALL}\n  post: {kind: obstacle, POST, placement: {translate: [2, 0, "
      "0]}}\n" +
      held + contact + "solver: {dt: 0.002, steps: 2, substeps: 4, damping: 1}\n";
  const auto filled = [](std::string text, const std::string& what, const std::string& with) {
    return text.replace(text.find(what), what.size(), with);
  };
  std::string scene =
      filled(two_bodies, crate_mesh, "mesh: {box: {size: [200, 200, 200], cells: [2, 2, 2]}, scale: 0.001}");
  write("scene.yaml", scene + filled(filled(rest, "BALL", ball), "POST", post));
  good({"mesh", "scene.yaml", "--convert", path("converted/all.h5")}, "mesh");
  const auto file = [](const std::string& body, const std::string& more = "") {
    return "mesh: {file: converted/all-" + body + ".h5" + more + "}";
  };
  scene = filled(filled(two_bodies, crate_mesh, file("crate")), slab_mesh, file("slab"));
  write("files.yaml", scene + filled(filled(rest, "BALL", file("ball")), "POST", file("post", ", cells: tetrahedra")));
  good({"simulate", "scene.yaml"}, "scene");
  good({"simulate", "files.yaml"}, "files");
  for (const char* body : {"crate", "slab", "ball", "post"}) {
    const std::string positions = "/bodies/" + std::string(body) + "/positions";
    EXPECT_LE(largest_difference(dataset("scene/trajectory.h5", positions), dataset("files/trajectory.h5", positions)),
              1e-13)
        << body;
  }
  EXPECT_FALSE(has("converted/all-ball.h5", "/cells"));
  EXPECT_TRUE(has("converted/all-post.h5", "/cells"));
  refused(two_bodies + "  ball: {kind: obstacle, " + file("post") + "}\n" + held + solver,
          "all-post.h5: no triangles, but 12 tetrahedra; give another file");
}

TEST_F(Bodies, AreRefusedWithAReason) {
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = two_bodies + held + contact + solver;
    return text.replace(text.find(from), from.size(), to);
  };
  refused(changed("slab/y_min", "slab/y_mn"),
          "boundary[0].region: unknown region 'slab/y_mn'; did you mean 'slab/y_min'?");
  refused(changed("slab/y_min", "y_min"), "unknown region 'y_min'");
  refused(changed("slab/y_min", "slb"), "unknown region 'slb'; did you mean 'slab/all'?");
  refused(changed("{translate: [0.3, 0.111, 0.1]}", "{scale: [1, -1, 1]}"),
          "bodies.crate.placement.scale[1]: -1 would mirror the body");
  refused(changed("{translate: [0.3, 0.111, 0.1]}", "{rotate: {axis: [0, 0, 0], angle: 1}}"),
          "bodies.crate.placement.rotate.axis: is zero");
  refused(changed("{translate: [0.3, 0.111, 0.1]}", "{translat: [0, 0, 0]}"), "did you mean 'translate'?");
  refused(changed("{translate: [0.3, 0.111, 0.1]}", "{translate: [0.3, 0.05, 0.1]}"), "at the start");
  refused(changed("    placement", "    kind: rigid\n    placement"),
          "bodies.crate.material: is only allowed for bodies that deform");
  refused(changed("    placement", "    density: 1\n    placement"),
          "bodies.crate.density: next to `mesh` is only allowed for kind: rigid");
  refused(changed("    placement", "    radius: 1\n    placement"), "is the radius of a rod's section");
  refused(changed("    placement", "    director: [0, 0, 1]\n    placement"), "is only allowed for rods and beams");
  refused(changed("cells: [2, 2, 2]}", "cells: [2, 2, 2]}, order: 2"),
          "bodies.slab.mesh.box: differs in `order` from an earlier body");
  refused(changed("bodies:", crate_mesh + "\nbodies:"), "mesh: cannot be combined with `bodies`");
  refused(changed("  slab:", "  all:"), "bodies.all: a body cannot have this name");
  refused(changed("material: " + foam, ""), " of slab has no material");
  refused(two_bodies + held + contact + solver + "regions: {r: {body: crat, box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n",
          "regions.r.body: ");
  refused(
      changed("friction_velocity: 0.1}", "obstacles: [{plane: {point: [0, -1, 0], normal: [0, 1, 0]}, name: slab}]}"),
      "an obstacle and a body are both called 'slab'");
  refused(changed("friction_velocity: 0.1}", "pairs: [{between: [crate, slap], friction: 1}]}"),
          "contact.pairs[0]: there is no body, obstacle or region 'slap'; did you mean 'slab'?");
  refused(changed("friction_velocity: 0.1}",
                  "pairs: [{between: [slab, crate/y_min], friction: 1}, {between: [slab, "
                  "crate/all], friction: 0.5}]}"),
          "contact: regions 'crate/y_min' and 'crate/all' both have the face of vertices ");
  refused(changed("{translate: [0.3, 0.111, 0.1]}", "{translate: [0.3, 0.05, 0.1]}"), " of crate and ");
  refused(crate_mesh + "\nmaterial: " + rubber +
              "\nregions: {r: {body: crate, box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n" + solver,
          "is only allowed in a scene with `bodies`");
}

}  // namespace
}  // namespace diffsim::app::bodies_test
