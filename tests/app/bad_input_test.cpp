// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Every invalid input ends the program on every rank within seconds with exit code 2 and one line that says what is
// wrong and where, and no file is written. Errors that are found from the text of a scene alone are tested in
// scene_test.cpp.

#include <algorithm>

#include "io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::bad_input_test {
namespace {

const std::string box = "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\n";
const std::string rubber = "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.4}\n";
const std::string solver = "solver: {dt: 0.001, steps: 2}\n";
const std::string body = box + rubber + solver;  // lines 1 to 3
const std::string target = "objective: {type: target_position, region: x_max, target: [1, 0, 0]}\n";
const std::string stiffness = "parameters: {name: youngs_modulus}\n";

const std::string header = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string nodes = "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n";
/// Returns a mesh file with the given elements, one row of Gmsh 2.2 each.
std::string mesh_of(const std::vector<std::string>& rows, const std::string& with_nodes = nodes) {
  std::string text = header + with_nodes + "$Elements\n" + std::to_string(rows.size()) + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) text += std::to_string(i + 1) + " " + rows[i] + "\n";
  return text + "$EndElements\n";
}
std::string nodes_with(const std::string& fifth) {
  return nodes.substr(0, nodes.find("5 1 1 1")) + fifth + "\n$EndNodes\n";
}

const std::string good_mesh = mesh_of({"4 2 1 1 1 2 3 4", "4 2 2 2 2 3 4 5"});

struct Bad {
  std::string name, text, says;
  std::string command = "simulate";
};

class BadInput : public RunnerTest {
 protected:
  /// Writes the files that the scenes below refer to.
  void SetUp() override {
    RunnerTest::SetUp();
    write("good.msh", good_mesh);
    const auto fields = [&](const std::string& name, const std::vector<double>& values, const Shape& shape,
                            const std::vector<std::string>& regions = {}) {
      Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path(name), "test", 1);
      file.write_array("/values", values, shape);
      if (!regions.empty()) file.write_strings("/values.regions", regions);
      file.publish();
    };
    fields("two.h5", {1000, -7}, {2});
    fields("three.h5", {1, 2, 3}, {3});
    fields("nan.h5", {1000, std::nan("")}, {2});
    fields("regions.h5", {1000, 2000}, {2}, {"all"});
    write("text.h5", "no HDF5 at all, but long enough to be taken for some of it if nobody looked at its signature\n");
    files_ = count();
  }

  std::ptrdiff_t count() const {
    using Iterator = std::filesystem::recursive_directory_iterator;
    return std::distance(Iterator(folder_), Iterator());
  }

  void expect_refused(const Bad& bad) {
    SCOPED_TRACE(bad.name);
    write("s.yaml", bad.text);
    Ran ran = run({bad.command, "s.yaml"}, "out/results");
    double seconds = ran.seconds;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (seconds > 5.0) ran = run({bad.command, "s.yaml"}, "out/results");  // a busy machine may stall once
    EXPECT_EQ(ran.code, 2);
    EXPECT_LT(ran.seconds, 5.0);
    if (rank_ == 0) {
      EXPECT_TRUE(ran.err.starts_with("diffsim: error: ")) << ran.err;
      EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
      EXPECT_NE(ran.err.find(bad.says), std::string::npos) << ran.err << "should have " << bad.says;
      EXPECT_EQ(ran.out, "");
      std::filesystem::remove(path("s.yaml"));
      EXPECT_EQ(count(), files_) << "something was left behind";
    } else {
      EXPECT_EQ(ran.err + ran.out, "");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::ptrdiff_t files_ = 0;
};

TEST_F(BadInput, Meshes) {
  const std::string at_mesh = "s.yaml:1: mesh.file: ";
  const std::string scene = "mesh: {file: bad.msh}\n" + rubber + solver;
  expect_refused({"missing", "mesh: {file: none.msh}\n" + rubber + solver, at_mesh});
  expect_refused({"folder", "mesh: {file: .}\n" + rubber + solver, at_mesh});
  struct BadMesh {
    std::string name, text, says;
  };
  const std::vector<BadMesh> meshes{
      {"empty", "", "bad.msh:1: the file is empty"},
      {"foreign", "solid cube\nfacet normal 0 0 1\n", "bad.msh:1: not a Gmsh 2.2 or 4.1 mesh"},
      {"binary", std::string("\x7f\x45\x4c\x46\0\0\0\1", 8), "bad.msh:1: not a Gmsh mesh"},
      {"truncated in nodes", good_mesh.substr(0, 70), "bad.msh:4: section $Nodes has no $EndNodes"},
      {"truncated in elements", good_mesh.substr(0, good_mesh.size() - 30),
       "bad.msh:12: section $Elements has no $EndElements"},
      {"no elements", header + nodes, "bad.msh:1: no $Elements section"},
      {"no tetrahedra", mesh_of({"2 2 1 1 1 2 3"}), "bad.msh: no tetrahedra"},
      {"index out of range", mesh_of({"4 2 1 1 1 2 3 9"}), "bad.msh:14: the element has node 9"},
      {"negative index", mesh_of({"4 2 1 1 1 2 3 -4"}), "bad.msh:14: the element has node -4"},
      {"too few nodes", mesh_of({"4 2 1 1 1 2 3 4"}, "$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"),
       "bad.msh:10: $Nodes ends after 4 of 7 nodes"},
      {"absurd count", mesh_of({"4 2 1 1 1 2 3 4"}, "$Nodes\n999999999999999\n1 0 0 0\n$EndNodes\n"),
       "bad.msh:5: the count says 999999999999999 nodes"},
      {"not a number", mesh_of({"4 2 1 1 1 2 3 4"}, nodes_with("5 nan 1 1")), "bad.msh:10: a coordinate is nan"},
      {"infinite", mesh_of({"4 2 1 1 1 2 3 4"}, nodes_with("5 1 inf 1")), "bad.msh:10: a coordinate is inf"},
      {"repeated node", mesh_of({"4 2 1 1 1 2 3 4"}, nodes_with("4 1 1 1")), "bad.msh:10: node 4 is given twice"},
      {"coincident vertices", mesh_of({"4 2 1 1 1 2 3 4", "4 2 1 1 5 2 3 4"}, nodes_with("5 0 0 0")), "same position"},
      {"repeated vertex in a cell", mesh_of({"4 2 1 1 1 2 3 3"}), "bad.msh:14: cell 0 has vertex 2 twice"},
      {"duplicate cell", mesh_of({"4 2 1 1 1 2 3 4", "4 2 1 1 2 3 1 4"}),
       "bad.msh:15: cell 1 has the same vertices as cell 0"},
      {"inverted cell", mesh_of({"4 2 1 1 1 3 2 4"}), "bad.msh:14: cell 0 is inverted"},
      {"flat cell", mesh_of({"4 2 1 1 1 2 3 5"}, nodes_with("5 1 1 0")), "bad.msh:14: cell 0 has zero volume"},
      {"face of three cells",
       mesh_of({"4 2 1 1 1 2 3 4", "4 2 1 1 1 2 3 5", "4 2 1 1 1 2 3 6"},
               "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 2\n6 0 0 3\n$EndNodes\n"),
       "which more than two cells have"},
  };
  for (const BadMesh& mesh : meshes) {
    write("bad.msh", mesh.text);
    files_ += 1;
    expect_refused({mesh.name, scene, mesh.says});
    if (rank_ == 0) std::filesystem::remove(path("bad.msh"));
    files_ -= 1;
  }
  expect_refused({"HDF5 that is none", "mesh: {file: text.h5}\n" + rubber + solver, "text.h5"});
  expect_refused({"HDF5 without a mesh", "mesh: {file: two.h5}\n" + rubber + solver, "two.h5"});
}

TEST_F(BadInput, Scenes) {
  expect_refused({"not YAML", "mesh: [\n", "s.yaml:2: not YAML"});
  expect_refused(
      {"a second document", body + "---\n" + body, "s.yaml:4: a second YAML document, or other text, begins"});
  expect_refused(
      {"text after the document", body + "...\n, stray\n", "s.yaml:5: a second YAML document, or other text"});
  expect_refused({"no mesh", rubber, "s.yaml: mesh: is missing"});
  expect_refused({"no material", box + solver, "s.yaml: material: is missing; simulate needs"});
  expect_refused({"no steps", box + rubber, "s.yaml: solver.steps: is missing"});
  expect_refused({"no objective", body + stiffness, "s.yaml: objective: is missing; gradient needs", "gradient"});
  expect_refused({"no parameters", body + target, "s.yaml: parameters: is missing; invert needs", "invert"});
  expect_refused({"unknown key", body + "outptu: {}\n", "s.yaml:4: outptu: unknown key; did you mean 'output'?"});
  expect_refused({"negative stiffness", box + "material:\n  model: neo_hookean\n  youngs_modulus: -5\n",
                  "s.yaml:4: material.youngs_modulus: -5 is not positive; give a number above 0, in Pa", "mesh"});
  expect_refused({"bad optimiser, good rest", body + target + stiffness + "optimiser: {max_iterations: x}\n",
                  "s.yaml:6: optimiser.max_iterations: 'x' is not a number", "gradient"});
}

TEST_F(BadInput, Regions) {
  const std::string known = "all, x_max, x_min, y_max, y_min, z_max, z_min";
  expect_refused({"boundary", body + "boundary: [{region: x_min, fix: [x]}, {region: left, fix: [y]}]\n",
                  "s.yaml:4: boundary[1].region: unknown region 'left'"});
  expect_refused({"known ones are named", body + "boundary: {region: left, fix: [y]}\n", known});
  expect_refused({"material",
                  box + solver +
                      "material: [{region: core, model: neo_hookean, density: 1, "
                      "youngs_modulus: 1, poisson_ratio: 0}]\n",
                  "s.yaml:3: material[0].region: unknown region 'core'"});
  expect_refused({"objective", body + "objective: {type: target_position, region: tip, target: [0, 0, 0]}\n",
                  "s.yaml:4: objective.region: unknown region 'tip'"});
  expect_refused({"parameter", body + target + "parameters: {name: density, region: tip}\n",
                  "s.yaml:5: parameters.region: unknown region 'tip'", "gradient"});
  expect_refused({"initial of a region",
                  "mesh: {file: good.msh}\n" + rubber + solver +
                      "objective: {type: target_position, region: all, target: [1, 0, 0]}\n"
                      "parameters: {name: density, per: region, initial: {1: 3, 5: 4}}\n",
                  "s.yaml:5: parameters.initial.5: '5' is not one of the parameter's regions; give one of: 1, 2",
                  "gradient"});
  expect_refused({"taken name", body + "regions: {x_min: {vertices: [0]}}\n", "s.yaml:4: regions.x_min: "});
  expect_refused({"no such vertex", body + "regions: {r: {vertices: [27]}}\n", "s.yaml:4: regions.r: "});
  expect_refused(
      {"nothing inside", body + "regions: {r: {sphere: {center: [9, 9, 9], radius: 1}}}\n", "s.yaml:4: regions.r: "});
  expect_refused({"material of a surface",
                  box + solver +
                      "material: [{region: x_min, model: neo_hookean, density: 1, "
                      "youngs_modulus: 1, poisson_ratio: 0}]\n",
                  "s.yaml:3: material[0].region: region 'x_min' has no cells"});
  expect_refused({"cells without material",
                  "mesh: {file: good.msh}\n" + solver +
                      "material: [{region: 1, model: neo_hookean, density: 1, "
                      "youngs_modulus: 1, poisson_ratio: 0}]\n",
                  "s.yaml:3: material[0]: cell 1 has no material"});
  expect_refused({"cells with two materials",
                  body.substr(0, box.size()) + solver +
                      "regions: {left: {box: {min: [0, 0, 0], max: [0.5, 1, 1]}}}\n"
                      "material:\n  - {model: neo_hookean, density: 1, youngs_modulus: 1, poisson_ratio: 0}\n"
                      "  - {region: left, model: neo_hookean, density: 1, youngs_modulus: 1, poisson_ratio: 0}\n",
                  "is in two material regions"});
  expect_refused({"traction where there is no face",
                  "mesh: {file: good.msh}\n" + rubber + solver +
                      "regions: {tip: {vertices: [0]}}\n"
                      "boundary: {region: tip, traction: [0, 0, 1]}\n",
                  "s.yaml:5: boundary: region 'tip' has no faces"});
  expect_refused(
      {"no such parameter in all cells",
       "mesh: {file: good.msh}\n" + solver +
           "material:\n  - {region: 1, model: neo_hookean, density: 1, youngs_modulus: 1, poisson_ratio: 0}\n"
           "  - {region: 2, model: mooney_rivlin, density: 1, c10: 1, c01: 1, bulk_modulus: 1}\n"
           "objective: {type: target_position, region: all, target: [1, 0, 0]}\n"
           "parameters: {name: youngs_modulus, per: cell}\n",
       "s.yaml:7: parameters: not all cells have a material with youngs_modulus", "gradient"});
  expect_refused({"no volume groups", body + target + "parameters: {name: density, per: region}\n",
                  "s.yaml:5: parameters: the mesh has no volume groups", "check"});
}

TEST_F(BadInput, Fields) {
  const auto density = [&](const std::string& file, const std::string& dataset) {
    return "mesh: {file: good.msh}\n" + solver + "material:\n  model: neo_hookean\n  density: {file: " + file +
           ", dataset: " + dataset + "}\n  youngs_modulus: 1\n  poisson_ratio: 0.3\n";
  };
  const std::string at = "s.yaml:5: material.density: ";
  expect_refused({"missing file", density("none.h5", "/values"), at});
  expect_refused({"not HDF5", density("text.h5", "/values"), at});
  expect_refused({"missing dataset", density("two.h5", "/density"), at});
  expect_refused({"wrong shape", density("three.h5", "/values"), at});
  expect_refused({"two values for one region", density("regions.h5", "/values"),
                  "/values must have one value for each of the regions in /values.regions, whose number is 1"});
  expect_refused({"negative in a cell", density("two.h5", "/values"),
                  at + "cell 1: -7 is not positive; give a number above 0, in kg/m³"});
  expect_refused({"not a number in a cell", density("nan.h5", "/values"),
                  "/values: the value of cell 1 is nan; it must be finite"});
  expect_refused({"velocities of another shape", body + "initial: {velocity: {file: two.h5, dataset: /values}}\n",
                  "s.yaml:4: initial.velocity: "});
  expect_refused({"values of velocities of another shape", body + "values: {initial_velocities: 3}\n",
                  "s.yaml:4: values.initial_velocities: "});
  expect_refused(
      {"values of an unknown parameter", body + "values: {youngs_modulos: 3}\n",
       "s.yaml:4: values.youngs_modulos: there is no parameter of this name; did you mean 'youngs_modulus'?"});
  expect_refused({"signal of another length",
                  box + rubber + "solver: {steps: 2, damping: {file: three.h5, dataset: /values}}\n",
                  "s.yaml:3: solver.damping: "});
  expect_refused({"impossible damping",
                  box + rubber + "solver: {steps: 3, damping: {file: three.h5, dataset: /values}}\n",
                  "s.yaml:3: solver.damping: 2 is outside (0, 1]"});
}

TEST_F(BadInput, Observations) {
  write("other.yaml", "mesh: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}\n" + rubber + solver);
  write("same.yaml", body);
  ASSERT_EQ(run({"simulate", "other.yaml"}, "other").code, 0);
  ASSERT_EQ(run({"simulate", "same.yaml"}, "same").code, 0);
  files_ = count();
  const auto track = [&](const std::string& what) {
    return body + "objective: {type: track, " + what + "}\n" + stiffness;
  };
  const std::string at = "s.yaml:4: objective.observations: ";
  expect_refused({"missing", track("observations: none.h5"), at, "gradient"});
  expect_refused({"not HDF5", track("observations: text.h5"), at, "gradient"});
  expect_refused({"no positions", track("observations: two.h5"), at, "gradient"});
  expect_refused({"another mesh", track("observations: other/trajectory.h5"), at, "gradient"});
  expect_refused({"a step that is not there", track("observations: same/trajectory.h5, steps: [0, 1, 2, 3]"),
                  "s.yaml:4: objective.steps[3]: 3 is after the last step", "gradient"});
  expect_refused({"steps after the run",
                  box + rubber + "solver: {dt: 0.001, steps: 1}\n" +
                      "objective: {type: track, observations: same/trajectory.h5}\n" + stiffness,
                  at + "has step 2, which is after the run's last step, 1", "gradient"});
}

TEST_F(BadInput, Starts) {
  const auto parameter = [&](const std::string& what) { return body + target + "parameters: {" + what + "}\n"; };
  expect_refused({"scene's value outside the bounds", parameter("name: youngs_modulus, bounds: [1, 10]"),
                  "s.yaml:5: parameters: the initial value 100000 is outside the bounds [1, 10]", "gradient"});
  expect_refused({"no logarithm",
                  box + "material: {model: neo_hookean, density: 1, youngs_modulus: 1, poisson_ratio: -0.1}\n" +
                      solver + target + "parameters: {name: poisson_ratio, search: logarithm}\n",
                  "s.yaml:5: parameters: the initial value -0.1 has no logarithm", "gradient"});
  expect_refused({"different values",
                  "mesh: {file: good.msh}\n" + solver +
                      "material:\n"
                      "  - {region: 1, model: neo_hookean, density: 1, youngs_modulus: 1, poisson_ratio: 0}\n"
                      "  - {region: 2, model: neo_hookean, density: 1, youngs_modulus: 2, poisson_ratio: 0}\n"
                      "objective: {type: target_position, region: all, target: [1, 0, 0]}\n" +
                      stiffness,
                  "s.yaml:7: parameters: needs one value, but the scene has different values, from 1 to 2",
                  "gradient"});
  expect_refused({"no steps",
                  box + rubber + "solver: {steps: 0}\n" + target + "parameters: {name: gravity, per: step}\n",
                  "s.yaml:5: parameters: `per: step` needs solver.steps >= 1", "gradient"});
  expect_refused({"wrong shape in a file", parameter("name: gravity, initial: {file: two.h5, dataset: /values}"),
                  "s.yaml:5: parameters.initial: has the shape [2]; give [3]", "gradient"});
}

TEST_F(BadInput, Output) {
  write("s.yaml", body);
  write("a_file", "");
  if (rank_ == 0) std::filesystem::create_directories(path("taken/report.json"));
  MPI_Barrier(MPI_COMM_WORLD);
  const auto refused = [&](const std::string& output, const std::string& says) {
    const Ran ran = run({"simulate", "s.yaml"}, output);
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_TRUE(ran.err.starts_with("diffsim: error: --output: ") && ran.err.find(says) != ran.err.npos) << ran.err;
    }
  };
  refused("a_file", "is a file, not a folder");
  refused("a_file/below/it", "cannot be created");
  refused("taken", "exists and is not a regular file, so it cannot be replaced");
  write("s.yaml", body + "output: {directory: /dev/null/out}\n");
  std::ostringstream out, err;
  EXPECT_EQ(app::run(MPI_COMM_WORLD, parse_command_line({"simulate", path("s.yaml")}), out, err), 2);
  if (rank_ == 0) {
    EXPECT_NE(err.str().find("s.yaml:4: output.directory: '/dev/null/out'"), std::string::npos) << err.str();
  }
}

TEST_F(BadInput, SceneFiles) {
  const auto refused = [&](const std::string& scene, const std::string& says) {
    const Ran ran = run({"mesh", scene}, "out");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    }
  };
  refused("none.yaml", "none.yaml: there is no such file");
  refused(".", "is a folder");
  refused("good.msh", "good.msh:");
  refused("two.h5", "two.h5:");
}

TEST_F(BadInput, CommandLine) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& says) {
    std::ostringstream out, err;
    EXPECT_EQ(app::run(MPI_COMM_WORLD, parse_command_line(words), out, err), 2);
    if (rank_ == 0) {
      EXPECT_EQ(err.str().find("diffsim: error: command line: "), 0u) << err.str();
      EXPECT_NE(err.str().find(says), std::string::npos) << err.str();
      EXPECT_NE(err.str().find("see diffsim --help"), std::string::npos) << err.str();
    }
  };
  refused({}, "no command is given");
  refused({"simulat", "s.yaml"}, "there is no command 'simulat'; did you mean simulate?");
  refused({"simulate"}, "scene is required");
  refused({"simulate", "a.yaml", "b.yaml"}, "b.yaml");
  refused({"simulate", "a.yaml", "--ouput", "x"}, "--ouput");
  refused({"simulate", "a.yaml", "--convert", "x.h5"}, "--convert");
  refused({"simulate", "a.yaml", "--", "tao_view"}, "options begin with -");
  std::ostringstream out, err;
  EXPECT_EQ(app::run(MPI_COMM_WORLD, parse_command_line({"--version"}), out, err), 0);
  EXPECT_EQ(app::run(MPI_COMM_WORLD, parse_command_line({"--parameters"}), out, err), 0);
  EXPECT_EQ(app::run(MPI_COMM_WORLD, parse_command_line({"invert", "--help"}), out, err), 0);
  if (rank_ == 0) {
    EXPECT_NE(out.str().find("Exit codes"), std::string::npos);
  }
}

}  // namespace
}  // namespace diffsim::app::bad_input_test
