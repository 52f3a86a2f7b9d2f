// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// No accepted implicit step has an intersection or an inverted cell, checked in exact arithmetic.

#include <gtest/gtest.h>

#include "contact_scene_list.hpp"

namespace diffsim::implicit_contact_scenes_test {
namespace {

using namespace testing_scenes;

const std::vector<std::string> integrators = {"implicit_euler", "bdf2", "newmark", "generalised_alpha"};

Scene implicit(Scene scene, const std::string& integrator, double dt, int steps = 20) {
  scene.name += ", " + integrator;
  scene.integrator = integrator;
  scene.dt = dt;
  scene.steps = at_length() ? 2 * steps : steps;
  return scene;
}

/// Runs each scene with one of the integrators in turn, or with all of them if DIFFSIM_SCENES=long. `meet_fast`: bodies
/// meet at high speed. The forces of generalised_alpha act within the step, so no barrier keeps the end of a step away
/// from other bodies. Steps of generalised_alpha are therefore half as long, and steps of long runs may fail.
void expect_good_in_implicit_steps(const std::vector<Scene>& scenes, double dt, bool meet_fast = false) {
  std::vector<Scene> all;
  for (std::size_t k = 0; k < scenes.size(); ++k)
    for (std::size_t i = 0; i < integrators.size(); ++i)
      if (at_length() || i == k % integrators.size()) {
        all.push_back(implicit(scenes[k], integrators[i], dt));
        if (!meet_fast || integrators[i] != "generalised_alpha") continue;
        all.back().dt *= 0.5;
        all.back().may_stop = at_length();
      }
  expect_good(all);
}

TEST(implicit_contact_scenes, drops) { expect_good_in_implicit_steps(drops(), 4e-3); }
TEST(implicit_contact_scenes, stacks) { expect_good_in_implicit_steps(stacks(), 4e-3); }
TEST(implicit_contact_scenes, surfaces_of_their_own) { expect_good_in_implicit_steps(with_own_surfaces(), 4e-3); }
TEST(implicit_contact_scenes, motions) {
  std::vector<Scene> scenes = motions();
  // The ends rotate faster, so that the bars wind around each other within the run.
  for (Motion& motion : scenes[7].motions) motion.angular_velocity *= 5.0;
  // The ends of the fork would meet after 70 ms. Steps of long runs may therefore fail.
  Scene fork = scenes[5];
  fork.may_stop = at_length();
  scenes[5] = scenes.back();
  scenes.pop_back();
  expect_good_in_implicit_steps(scenes, 4e-3);
  expect_good_in_implicit_steps({fork}, 3e-3);
}

TEST(implicit_contact_scenes, what_turns) {
  std::vector<Scene> all;
  {
    // A paddle whose tip moves through the gap within one step.
    Scene scene{"paddle", {block({0.1, 0.05, 0.1}, {2, 1, 2}).standing(1, 0.02)}, contact_options(false)};
    scene.contact.barrier_stiffness = 4e5;
    scene.contact.meshes = {box_at({-0.3, -0.03, -0.07}, {0.08, -0.01, 0.07})};
    scene.contact.meshes[0].rotation.axis = {0.0, 0.0, 2.0};
    scene.contact.meshes[0].rotation.origin = {-0.3, -0.02, 0.0};
    scene.contact.meshes[0].rotation.angular_velocity = 10.0;
    all.push_back(scene);
  }
  {
    // A plane that rises as it rotates, and carries the cube along.
    Scene scene{"turning plane", {cube().standing(1, 0.02)}, contact_options(false)};
    scene.contact.barrier_stiffness = 4e5;
    scene.contact.planes = {{.point = {0.0, 0.0, 0.0}, .normal = {0.1, 1.0, 0.0}}};
    scene.contact.planes[0].rotation = {{0.0, 0.2, 1.0}, {-0.3, 0.0, 0.0}, 8.0};
    all.push_back(scene);
  }
  {
    // A box that rotates below a slab, about an axis that is none of the box's own.
    Scene scene = with_mesh("wheel", {slab().standing(1, 0.012)},
                            {.mesh = contact::box_triangles({-0.05, -0.1, -0.1}, {0.05, 0.0, 0.1})});
    scene.contact.meshes[0].rotation.axis = {0.1, 1.0, 0.05};
    scene.contact.meshes[0].rotation.origin = {0.02, -0.05, 0.01};
    scene.contact.meshes[0].rotation.angular_velocity = -8.0;
    all.push_back(scene);
  }
  expect_good_in_implicit_steps(all, 5e-3);
}

/// Scenes of two bodies that move towards each other at the distance `gap`: faces above faces, parallel and crossing
/// edges, corners above corners, an edge above a face.
std::vector<Scene> pressed_pairs(double gap, double friction) {
  const auto pressed = [&](const std::string& name, const Piece& lower, const Piece& upper) {
    double top = -1.0;
    for (const Place& x : lower.places) top = std::max(top, x[1]);
    Scene scene = alone(name, {lower.thrown({0, 0.2, 0}), upper.standing(1, top + gap).thrown({0.1, -0.2, 0})});
    scene.contact.friction = friction;
    return scene;
  };
  const Piece face = cube(), edge = on_edge(), tip = on_corner();
  return {pressed("near faces", face, face),
          pressed("near faces, half a cell aside", face, face.moved({0.025, 0, 0})),
          pressed("near parallel edges", edge, edge),
          pressed("near crossing edges", edge, edge.turned(1, 2 * quarter)),
          pressed("near corners", tip, tip),
          pressed("near edge and face", face, edge)};
}

TEST(implicit_contact_scenes, a_hundredth_of_the_barrier_apart) {
  expect_good_in_implicit_steps(pressed_pairs(1e-4, 0.0), 4e-3, true);
}

TEST(implicit_contact_scenes, a_tenth_of_the_barrier_apart_with_friction) {
  expect_good_in_implicit_steps(pressed_pairs(1e-3, 0.3), 4e-3);
}

TEST(implicit_contact_scenes, a_hundredth_of_the_barrier_apart_with_friction) {
  // The residual of Newton's method has local minima, for the near faces in the first step.
  std::vector<Scene> all;
  for (const Scene& scene : pressed_pairs(1e-4, 0.3)) all.push_back(implicit(scene, "newmark", 4e-3));
  expect_good(all);
}

TEST(implicit_contact_scenes, statics) {
  // A plane presses blocks together, and the legs of a fork close.
  Scene pressed =
      with_plane("pressed stack", {slab().standing(1, 0.008), slab().turned(1, 0.3).standing(1, 0.056)}, true);
  pressed.contact.planes.push_back({.point = {0, 0.106, 0}, .normal = {0, -1, 0}, .velocity = {0, -1.0, 0}});
  pressed.motions = {{BoxShape{{-1, -1, -1}, {1, 0.0081, 1}}, {0, 1, 0}, {}, 0.0, {}}};
  Scene fork = motions()[5];
  fork.motions[0].velocity = {0, -1.0, 0};
  fork.motions[1].velocity = {0, 1.0, 0};
  std::vector<Scene> all = {implicit(pressed, "quasi_static", 2e-3), implicit(fork, "quasi_static", 1.25e-3)};
  for (Scene& scene : all) scene.may_stop = at_length();  // without an equilibrium as the pressing continues
  expect_good(all);
}

TEST(implicit_contact_scenes, meshes_made_elsewhere) {
  const Place down = {0.1, -0.5, 0};
  std::vector<Scene> all;
  const auto add = [&](const std::string& name, const std::vector<Thrown>& thrown, double range, double dt) {
    const std::optional<Scene> scene = of_files(name, thrown, range);
    if (scene) all.push_back(implicit(*scene, integrators[all.size() % integrators.size()], dt));
  };
  add("spike on a wedge", {{"wedge", 0.1, 0.011, {}}, {"spike", 0.1, 0.125, {0, -0.5, 0}}}, 0.01, 4e-3);
  add("corner of a cell on another", {{"tet-corner", 0.1, 0.011, {}}, {"tet-corner", 0.1, 0.125, {0, -0.5, 0}}}, 0.01,
      4e-3);
  add("link", {{"link", 0.2, 0.004, down}}, 0.004, 4e-3);
  add("ball", {{"sphere1K", 0.1, 0.003, down}}, 0.003, 4e-3);
  if (at_length()) {
    add("link on a ball", {{"sphere1K", 0.1, 0.003, {}}, {"link", 0.15, 0.105, {0, -1, 0}}}, 0.003, 2e-3);
    add("bunny", {{"bunny", 0.2, 0.0005, down}}, 3e-5, 1e-3);
    add("octocat", {{"octocat", 0.2, 0.0005, down}}, 0.0015, 1e-3);
    add("armadillo", {{"Armadillo13K", 0.3, 0.0005, down}}, 0.0015, 1e-3);
  }
  if (all.empty()) GTEST_SKIP() << "no meshes; give DIFFSIM_DATA, a folder that holds meshes/";
  expect_good(all);
}

class ImplicitHeaps : public testing::TestWithParam<unsigned> {};

TEST_P(ImplicitHeaps, fall_into_a_pit) {
  Scene scene = implicit(heap(GetParam(), at_length() ? 5 : 3), "implicit_euler", 2e-3, 25);
  expect_good({scene});
}

INSTANTIATE_TEST_SUITE_P(implicit_contact_scenes, ImplicitHeaps, testing::Range(1u, at_length() ? 9u : 2u));

}  // namespace
}  // namespace diffsim::implicit_contact_scenes_test
