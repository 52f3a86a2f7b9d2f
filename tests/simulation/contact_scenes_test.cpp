// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// No accepted explicit step has an intersection or an inverted cell, checked in exact arithmetic.

#include <gtest/gtest.h>

#include "contact_scene_list.hpp"

namespace diffsim::contact_scenes_test {
namespace {

using namespace testing_scenes;

std::vector<Scene> files() {
  std::vector<Scene> all;
  const auto add = [&](const std::string& name, const std::vector<Thrown>& thrown, double range, int steps,
                       double dt = 5e-4) {
    if (std::optional<Scene> scene = of_files(name, thrown, range)) {
      scene->steps = steps;
      scene->dt = dt;
      all.push_back(*scene);
    }
  };
  const Place down = {0.1, -0.5, 0};
  add("spike on a wedge", {{"wedge", 0.1, 0.011, {}}, {"spike", 0.1, 0.125, {0, -0.5, 0}}}, 0.01, 100);
  add("corner of a cell on another", {{"tet-corner", 0.1, 0.011, {}}, {"tet-corner", 0.1, 0.125, {0, -0.5, 0}}}, 0.01,
      100);
  add("link", {{"link", 0.2, 0.004, down}}, 0.004, 60);
  add("ball", {{"sphere1K", 0.1, 0.002, down}}, 0.003, at_length() ? 100 : 10);
  add("bar of unequal cells", {{"bar-2523", 0.3, 0.001, down}}, 0.004, at_length() ? 200 : 20, 1e-4);
  if (!at_length()) return all;
  add("link on a ball", {{"sphere1K", 0.1, 0.003, {}}, {"link", 0.15, 0.105, {0, -1, 0}}}, 0.003, 50);
  add("bunny", {{"bunny", 0.2, 0.0005, down}}, 3e-5, 50, 1e-4);
  add("octocat", {{"octocat", 0.2, 0.0005, down}}, 0.0015, 50, 1e-4);
  add("armadillo", {{"Armadillo13K", 0.3, 0.0005, down}}, 0.0015, 25, 1e-4);
  add("two bunnies", {{"bunny", 0.2, 0.0005, {}}, {"bunny", 0.2, 0.21, {0, -2, 0}}}, 3e-5, 50, 1e-4);
  return all;
}

/// Returns the scenes with four times as many steps if DIFFSIM_SCENES=long, and the unchanged scenes otherwise.
std::vector<Scene> lengthened(std::vector<Scene> scenes) {
  if (at_length())
    for (Scene& scene : scenes) scene.steps *= 4;
  return scenes;
}

TEST(contact_scenes, drops) { expect_good(lengthened(drops())); }
TEST(contact_scenes, stacks) { expect_good(lengthened(stacks())); }
TEST(contact_scenes, motions) { expect_good(motions()); }
TEST(contact_scenes, surfaces_of_their_own) { expect_good(with_own_surfaces()); }

TEST(contact_scenes, meshes_made_elsewhere) {
  const std::vector<Scene> scenes = files();
  if (scenes.empty()) GTEST_SKIP() << "no meshes; give DIFFSIM_DATA, a folder that holds meshes/";
  expect_good(scenes);
}

TEST(contact_scenes, a_crush_is_an_error_before_a_state_is_inverted) {
  // The planes move until they would meet.
  Scene scene = motions().front();
  scene.steps = 400;
  const Verdict verdict = run(scene);
  EXPECT_NE(verdict.error.find("inverted"), std::string::npos) << verdict.error;
  EXPECT_GT(verdict.steps, 150);
  EXPECT_EQ(verdict.fault, "");
}

class Heaps : public testing::TestWithParam<unsigned> {};

TEST_P(Heaps, fall_into_a_pit) {
  Scene scene = heap(GetParam(), at_length() ? 5 : 3);
  scene.dt = at_length() ? 5e-5 : 2e-4;
  scene.may_stop = at_length();  // impacts of five bodies may be too strong for explicit steps
  scene.steps = at_length() ? 5000 : 500;
  expect_good({scene});
}

INSTANTIATE_TEST_SUITE_P(contact_scenes, Heaps, testing::Range(1u, at_length() ? 9u : 2u));

/// Changes states of two cubes, a table and a plane so that these intersect, and expects the checks to find the
/// intersections.
void expect_to_find_what_is_planted(const Scene& scene) {
  const DifferentiableScene solver = make_solver(scene);
  const auto verdict_of = [&](const std::function<void(Place&)>& change) {
    ExactWatch watch(scene, *solver.mesh());
    State state = solver.initial_state();
    std::vector<double> x = state["positions"].to_host();
    for (std::size_t i = 0; i < x.size(); i += 3) {
      Place p = {x[i], x[i + 1], x[i + 2]};
      change(p);
      std::copy(p.begin(), p.end(), x.begin() + static_cast<std::ptrdiff_t>(i));
    }
    state["positions"].from_host(x);
    watch.look(0, 0.0, state);
    return watch.verdict();
  };
  EXPECT_EQ(verdict_of([](Place&) {}).fault, "");
  const auto lower = [](double from, double by) { return [=](Place& p) { p[1] -= p[1] > from ? by : 0.0; }; };
  EXPECT_EQ(verdict_of(lower(0.108, 0.004)).fault, "");
  EXPECT_GT(verdict_of(lower(0.108, 0.006)).intersections, 0);  // one block intersects the other
  EXPECT_GT(verdict_of(lower(-1.0, 0.006)).intersections, 0);   // the blocks intersect the table
  EXPECT_GT(verdict_of(lower(-1.0, 0.006)).swallowed, 0);
  EXPECT_EQ(verdict_of(lower(-1.0, 0.4)).fault, "");
  EXPECT_GT(verdict_of(lower(-1.0, 0.6)).intersections, 0);  // below the plane
  EXPECT_GT(verdict_of([](Place& p) { p[0] = -p[0]; }).inverted, 0);
}

TEST(contact_scenes, the_checker_finds_what_is_planted) {
  Scene scene = alone("planted", {cube().standing(1, 0.005), cube().standing(1, 0.11)});
  scene.contact.meshes = {table()};
  scene.contact.planes = {floor_at(-0.5)};
  expect_to_find_what_is_planted(scene);
  scene.contact.surfaces = {{"body", divided_boundary(scene.pieces, 1.0)}};
  expect_to_find_what_is_planted(scene);
}

}  // namespace
}  // namespace diffsim::contact_scenes_test
