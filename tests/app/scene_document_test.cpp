// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scene documents: contents of scalars, YAML texts, paths of input files, and saved files.
#include "app/scene_document.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::app::scene_document_test {
namespace {

/// Returns the content of the value of the key `x` in the text `x: SCALAR`.
ScalarContent content(const std::string& scalar) { return content_of(parse_yaml("x: " + scalar + "\n", "s").items[0]); }

/// Expects two values to have the same kinds, texts, quotes, keys and items.
void expect_same(const Value& a, const Value& b) {
  EXPECT_EQ(a.kind, b.kind) << a.place.key;
  EXPECT_EQ(a.text, b.text) << a.place.key;
  EXPECT_EQ(a.keys, b.keys) << a.place.key;
  if (a.is_scalar()) {
    EXPECT_EQ(content_of(a), content_of(b)) << a.place.key;
  }
  ASSERT_EQ(a.items.size(), b.items.size()) << a.place.key;
  for (std::size_t i = 0; i < a.items.size(); ++i) expect_same(a.items[i], b.items[i]);
}

TEST(SceneDocument, ScalarsHaveContents) {
  EXPECT_EQ(content("true"), ScalarContent(true));
  EXPECT_EQ(content("12"), ScalarContent(std::int64_t{12}));
  EXPECT_EQ(content("-12"), ScalarContent(std::int64_t{-12}));
  EXPECT_EQ(content("1.0e5"), ScalarContent(1e5));
  EXPECT_EQ(content("+0.5"), ScalarContent(0.5));
  EXPECT_EQ(content("007"), ScalarContent(7.0));
  EXPECT_EQ(content("-.inf"), ScalarContent(-HUGE_VAL));
  EXPECT_TRUE(std::isnan(std::get<double>(content(".nan"))));
  for (const char* text : {"x_min", "inf", "yes", "True", "1 m", "0x10"})
    EXPECT_EQ(content(text), ScalarContent(std::string(text)));
  EXPECT_EQ(content("\"12\""), ScalarContent(std::string("12")));
  EXPECT_EQ(content("'true'"), ScalarContent(std::string("true")));
}

TEST(SceneDocument, ScalarsAreMadeFromContents) {
  const std::vector<ScalarContent> contents{false,
                                            std::int64_t{-3},
                                            0.1,
                                            -1.0e-300,
                                            HUGE_VAL,
                                            std::string("y_max"),
                                            std::string("3"),
                                            std::string("true"),
                                            std::string(".inf"),
                                            std::string("2.0e+4")};
  for (const ScalarContent& content : contents) EXPECT_EQ(content_of(scalar_with(content)), content);
  EXPECT_EQ(content_of(scalar_with(20000.0)), ScalarContent(std::int64_t{20000}));
  EXPECT_FALSE(scalar_with(std::string("y_max")).quoted);
  EXPECT_TRUE(scalar_with(std::string("3")).quoted);
}

TEST(SceneDocument, TextsAreReadBack) {
  const std::string text = R"(# a comment
mesh: {file: "bar 1.msh", scale: 1.0e-3}
regions:
  tip: {box: {min: [-1, -0.01, -1], max: [1, 0.05, 1]}}
  "7": {vertices: [17, 23]}
  '#odd: name': {vertices: []}
material: {model: neo_hookean, density: {file: fields.h5, dataset: /density}, youngs_modulus: 2.0e+4, poisson_ratio: .3}
boundary:
  - {region: "yes", fix: [x, y, z]}
  - region: x_max
    move: {velocity: [[0, 0, 1], [0, 0, 2]], axis: &a [0, 0, 1], origin: *a}
parameters: [{name: "joint_torque:arm/elbow", bounds: [-.inf, .inf], initial: ~}, {name: "friction:a|b", per: global}]
petsc: {ksp_monitor: "", tao_view: "two
  lines", other: "tab\tand\nnewline"}
)";
  const Value document = parse_yaml(text, "s.yaml");
  const std::string written = to_yaml(document);
  expect_same(document, parse_yaml(written, "s.yaml"));
  EXPECT_EQ(to_yaml(parse_yaml(written, "s.yaml")), written);
}

TEST(SceneDocument, PathsAreRelativeToAFolder) {
  EXPECT_EQ(path_from("a/b.h5", "a"), "b.h5");
  EXPECT_EQ(path_from("a/b.h5", ""), "a/b.h5");
  EXPECT_EQ(path_from("b.h5", "a/c"), "../../b.h5");
  const std::string text =
      "mesh: {file: bar.msh}\ninitial: {from: old/trajectory.h5, step: 3}\n"
      "contact: {obstacles: [{cylinder: {from: [0, 0, 0], to: [1, 0, 0], radius: 0.1}}, {mesh: {file: /abs/m.obj}}]}\n"
      "objective: [{type: track, observations: ../data.h5}]\noutput: {directory: out}\n";
  Value document = parse_yaml(text, "s.yaml");
  move_paths(document, "scenes", "scenes");
  expect_same(document, parse_yaml(text, "s.yaml"));
  move_paths(document, "scenes", "results/one");
  const std::string moved =
      "mesh: {file: ../../scenes/bar.msh}\ninitial: {from: ../../scenes/old/trajectory.h5, step: 3}\n"
      "contact: {obstacles: [{cylinder: {from: [0, 0, 0], to: [1, 0, 0], radius: 0.1}}, {mesh: {file: /abs/m.obj}}]}\n"
      "objective: [{type: track, observations: ../../data.h5}]\noutput: {directory: out}\n";
  expect_same(document, parse_yaml(moved, "s.yaml"));
}

TEST(SceneDocument, IsSavedAsAFile) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "diffsim_scene_document_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "scene.yaml").string();
  const std::string text =
      "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\n"
      "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.4}\n"
      "solver: {dt: 0.01, steps: 10}\n";
  const Value document = parse_yaml(text, "s.yaml");
  save_document(MPI_COMM_WORLD, document, "", path);
  std::ifstream file(path);
  std::stringstream saved;
  saved << file.rdbuf();
  expect_same(document, parse_yaml(saved.str(), path));
  EXPECT_EQ(parse_scene(saved.str(), path).solver.steps, 10);

  EXPECT_THROW(save_document(MPI_COMM_WORLD, parse_yaml("meshes: 1\n", "s.yaml"), "", path), InputError);
  EXPECT_THROW(save_document(MPI_COMM_WORLD, document, "", (folder / "no_folder" / "scene.yaml").string()), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace diffsim::app::scene_document_test
