// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// No accepted step intersects or inverts anything, by exact arithmetic. DIFFSIM_SCENES=long runs larger scenes for
// longer (tests/campaigns/contact_scenes.sh).

#include "contact_scenes.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <numbers>
#include <random>

namespace diffsim {
namespace {

using namespace testing_scenes;

bool at_length() {
  const char* text = std::getenv("DIFFSIM_SCENES");
  return text && std::string(text) == "long";
}

constexpr double quarter = 0.25 * std::numbers::pi;
/// The angle by which a cube stands on a corner, after an eighth turn.
const double corner = std::atan(std::sqrt(0.5));

Piece cube(int cells = 2) { return block({0.1, 0.1, 0.1}, {cells, cells, cells}); }
Piece slab() { return block({0.12, 0.04, 0.12}, {3, 1, 3}); }
Piece on_edge() { return cube().turned(2, quarter); }
Piece on_corner() { return cube().turned(0, quarter).turned(2, corner); }

ContactOptions contact(bool self, double friction = 0.3) {
  return {.barrier_distance = 0.01,
          .barrier_stiffness = 4e4,
          .friction = friction,
          .friction_velocity = 0.05,
          .self = self};
}
PlaneObstacle floor_at(double y) { return {.point = {0.0, y, 0.0}, .normal = {0.0, 1.0, 0.0}}; }
MeshObstacle box_at(Place min, Place max, Place velocity = {}) {
  return {.mesh = contact::box_triangles(min, max), .velocity = velocity};
}
MeshObstacle table() { return box_at({-0.2, -0.1, -0.2}, {0.2, 0.0, 0.2}); }

Scene with_plane(const std::string& name, std::vector<Piece> pieces, bool self = false) {
  Scene scene{name, std::move(pieces), contact(self)};
  scene.contact.planes = {floor_at(0.0)};
  scene.gravity = {0.0, -9.8, 0.0};
  return scene;
}
Scene with_mesh(const std::string& name, std::vector<Piece> pieces, MeshObstacle obstacle, bool self = false) {
  Scene scene{name, std::move(pieces), contact(self)};
  scene.contact.meshes = {std::move(obstacle)};
  scene.gravity = {0.0, -9.8, 0.0};
  return scene;
}
Scene alone(const std::string& name, std::vector<Piece> pieces) { return {name, std::move(pieces), contact(true)}; }

std::vector<Scene> drops() {
  std::vector<Scene> all;
  const Place down = {0.1, -1.0, 0.05};
  all.push_back(with_plane("drop of a face on a plane", {cube().standing(1, 0.011).thrown(down)}));
  all.push_back(with_plane("drop of an edge on a plane", {on_edge().standing(1, 0.011).thrown(down)}));
  all.push_back(with_plane("drop of a corner on a plane", {on_corner().standing(1, 0.011).thrown(down)}));
  all.push_back(with_mesh("drop of a face on a face", {cube().standing(1, 0.011).thrown({0.0, -1.0, 0.0})}, table()));
  all.push_back(with_mesh("drop onto an edge",
                          {cube().standing(1, 0.011).moved({0.2, 0.0, 0.0}).thrown({0.0, -1.0, 0.0})}, table()));
  all.push_back(with_mesh("drop onto a corner",
                          {cube().standing(1, 0.011).moved({0.2, 0.0, 0.2}).thrown({0.0, -1.0, 0.0})}, table()));
  all.push_back(with_mesh("drop onto a sphere", {cube().standing(1, 0.011).thrown({0.0, -1.0, 0.0})},
                          {.mesh = contact::sphere_triangles({0.0, -0.08, 0.0}, 0.08)}));
  all.push_back(with_mesh("drop onto a lying cylinder", {cube().standing(1, 0.011).thrown({0.0, -1.0, 0.0})},
                          {.mesh = contact::cylinder_triangles({-0.2, -0.05, 0.0}, {0.2, -0.05, 0.0}, 0.05)}));
  // A knife, open, and a needle, closed.
  all.push_back(with_mesh("drop onto a knife", {cube(3).standing(1, 0.011).thrown({0.0, -1.0, 0.0})},
                          {.mesh = {{{0.0, 0.0, -0.2}, {0.0, 0.0, 0.2}, {0.0, -0.3, 0.0}}, {{0, 1, 2}}}}));
  all.push_back(with_mesh("drop onto a needle", {cube(3).standing(1, 0.011).thrown({0.0, -0.5, 0.0})},
                          {.mesh = {{{0.0, 0.0, 0.0}, {0.03, -0.2, 0.0}, {-0.02, -0.2, 0.02}, {-0.02, -0.2, -0.02}},
                                    {{0, 1, 3}, {0, 3, 2}, {0, 2, 1}, {1, 2, 3}}}}));
  return all;
}

std::vector<Scene> stacks() {
  std::vector<Scene> all;
  // Faces over faces, corners over corners, edges over edges; then half a cell and a little beside.
  const double h = 0.04, gap = 0.008;
  const Piece s = slab().standing(1, gap);
  all.push_back(with_plane("aligned stack", {s, s.moved({0, h + gap, 0}), s.moved({0, 2 * (h + gap), 0})}, true));
  all.push_back(with_plane("stack half a cell aside",
                           {s, s.moved({0.02, h + gap, 0.02}), s.moved({0, 2 * (h + gap), 0.02})}, true));
  all.push_back(with_plane("turned stack", {s, slab().turned(1, 0.4).standing(1, h + 2 * gap)}, true));
  all.push_back(with_plane("aligned stack thrown down", {s, s.moved({0, h + gap, 0}).thrown({0, -1.5, 0})}, true));
  const auto meet = [&](const std::string& name, const Piece& lower, const Piece& upper) {
    const Piece first = lower.moved({0, 0, 0});
    double top = -1.0;
    for (const Place& x : first.places) top = std::max(top, x[1]);
    all.push_back(alone(name, {first.thrown({0, 0.5, 0}), upper.standing(1, top + 0.011).thrown({0, -0.5, 0})}));
  };
  meet("edge on crossing edge", on_edge(), on_edge().turned(1, 2 * quarter));
  meet("edge on parallel edge", on_edge(), on_edge());
  meet("corner on corner", on_corner(), on_corner());
  meet("corner on face", cube(), on_corner());
  meet("edge on face", cube(), on_edge());
  return all;
}

std::vector<Scene> motions() {
  std::vector<Scene> all;
  {
    Scene scene{"squeezed between planes", {cube(3).standing(1, 0.008)}, contact(false)};
    scene.contact.planes = {floor_at(0.0), {.point = {0, 0.116, 0}, .normal = {0, -1, 0}, .velocity = {0, -0.8, 0}}};
    all.push_back(scene);
  }
  {
    Scene scene{"two squeezed between boxes",
                {slab().standing(1, 0.008), slab().turned(1, 0.3).standing(1, 0.056)},
                contact(true)};
    scene.contact.meshes = {table(), box_at({-0.2, 0.104, -0.2}, {0.2, 0.2, 0.2}, {0, -0.6, 0})};
    all.push_back(scene);
  }
  {
    Scene scene = with_mesh("slides over an edge",
                            {slab().standing(1, 0.007).moved({0.1, 0, 0.01}).thrown({2, 0, 0.1})}, table());
    scene.steps = 200;
    all.push_back(scene);
  }
  {
    Scene scene = with_plane("slides into a wall", {slab().standing(1, 0.007).thrown({1.5, 0, 0.3})});
    scene.contact.meshes = {box_at({0.08, -0.1, -0.3}, {0.2, 0.05, 0.3})};
    all.push_back(scene);
  }
  {
    // A thin gap between plates that press: a tenth of the barrier's distance.
    const Piece plate = block({0.12, 0.02, 0.12}, {4, 1, 4});
    Scene scene = alone("thin gap", {plate.thrown({0, 0.2, 0}), plate.turned(1, 0.1).moved({0, 0.021, 0})});
    scene.contact.barrier_stiffness = 4e3;
    all.push_back(scene);
  }
  {
    // Two legs of one body clap together.
    const Piece fork =
        block({0.16, 0.1, 0.04}, {8, 5, 2}).cut([](const Place& x) { return x[0] < -0.04 || std::abs(x[1]) > 0.01; });
    Scene scene = alone("fork", {fork});
    scene.motions = {{BoxShape{{0.07, 0.02, -1}, {1, 1, 1}}, {0, 1, 0}, {}, 0.0, {0, -0.4, 0}},
                     {BoxShape{{0.07, -1, -1}, {1, -0.02, 1}}, {0, 1, 0}, {}, 0.0, {0, 0.4, 0}}};
    scene.contact.barrier_distance = 0.006;
    all.push_back(scene);
  }
  {
    // One block spins on another.
    all.push_back(alone("spinning block",
                        {cube().thrown({0, 0.3, 0}), cube().moved({0, 0.111, 0}).thrown({0, -0.3, 0}, {0, 12, 0})}));
  }
  {
    // Two bars side by side, whose ends are turned about their middle: they wind around each other.
    const Piece bar = block({0.3, 0.03, 0.03}, {12, 1, 1});
    Scene scene = alone("twisted bars", {bar.moved({0, 0.021, 0}), bar.moved({0, -0.021, 0})});
    scene.motions = {{BoxShape{{0.145, -1, -1}, {1, 1, 1}}, {1, 0, 0}, {}, 12.0, {}},
                     {BoxShape{{-1, -1, -1}, {-0.145, 1, 1}}, {1, 0, 0}, {}, -12.0, {}}};
    scene.steps = 320;
    all.push_back(scene);
  }
  {
    Scene scene = with_mesh("second order on a sphere", {cube(1).standing(1, 0.011).thrown({0, -0.7, 0})},
                            {.mesh = contact::sphere_triangles({0.01, -0.08, 0.0}, 0.08)});
    scene.order = 2;
    all.push_back(scene);
  }
  {
    Scene scene = with_plane("implicit landing", {on_edge().standing(1, 0.011).thrown({0.3, -1, 0})});
    scene.integrator = "implicit_euler";
    scene.dt = 4e-3;
    scene.steps = 12;
    all.push_back(scene);
  }
  return all;
}

std::vector<Scene> files() {
  std::vector<Scene> all;
  struct Thrown {
    std::string name;
    double size, level;  // m; above the floor
    Place velocity;
  };
  const auto add = [&](const std::string& name, const std::vector<Thrown>& thrown, double range, int steps,
                       double dt = 5e-4) {
    Scene scene = with_plane(name, {}, true);
    double edge = std::numeric_limits<double>::infinity();
    for (const Thrown& piece : thrown) {
      const std::optional<Piece> given = from_file(piece.name, piece.size);
      if (!given) return;
      scene.pieces.push_back(given->standing(1, piece.level).thrown(piece.velocity));
      edge = std::min(edge, given->shortest_edge());
    }
    scene.contact.barrier_distance = std::min(range, 0.5 * edge);
    scene.contact.barrier_stiffness = 1e4;
    scene.steps = steps;
    scene.dt = dt;
    scene.safety = 4.0;
    all.push_back(scene);
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

/// A heap of blocks and balls of all attitudes falls into a pit.
Scene heap(unsigned seed, int pieces) {
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
  };
  std::vector<Piece> all;
  for (int k = 0; k < pieces; ++k) {
    Piece piece = k % 3 == 0 ? slab() : k % 3 == 1 ? cube(1) : block({0.15, 0.03, 0.03}, {5, 1, 1});
    if (k % 2 == 0)
      for (std::size_t axis = 0; axis < 3; ++axis) piece = piece.turned(axis, uniform(0.0, 6.3));
    all.push_back(piece.moved({uniform(-0.03, 0.03), 0.1 + 0.19 * k, uniform(-0.03, 0.03)})
                      .thrown({uniform(-0.3, 0.3), -1.0 - 0.8 * k, uniform(-0.3, 0.3)}));
  }
  Scene scene = with_mesh("heap " + std::to_string(seed), all, table(), true);
  scene.contact.planes = {{.point = {0.15, 0, 0}, .normal = {-1, 1, 0}}, {.point = {-0.15, 0, 0}, .normal = {1, 1, 0}}};
  scene.contact.barrier_stiffness = 2e5;
  scene.dt = at_length() ? 5e-5 : 2e-4;
  scene.may_stop = at_length();  // blows of five bodies may be too hard for explicit steps
  scene.steps = at_length() ? 5000 : 500;
  return scene;
}

void expect_good(const std::vector<Scene>& scenes) {
  for (const Scene& scene : scenes) {
    SCOPED_TRACE(scene.name);
    const Verdict verdict = run(scene);
    std::printf("%-32s %6zu triangles %6zu cells %5d steps; %5lld active, least distance %.2e m, %.1f s\n",
                scene.name.c_str(), verdict.triangles, verdict.cells, verdict.steps,
                static_cast<long long>(verdict.active), verdict.least, verdict.seconds);
    const bool refused = scene.may_stop && verdict.error.find("would be passed through") != std::string::npos;
    if (!refused) {
      EXPECT_EQ(verdict.error, "");
      EXPECT_EQ(verdict.steps, scene.steps + 1);
    }
    EXPECT_EQ(verdict.fault, "");
    EXPECT_EQ(verdict.intersections, 0);
    EXPECT_EQ(verdict.inverted, 0);
    EXPECT_EQ(verdict.swallowed, 0);
    EXPECT_EQ(verdict.told, 0);
    EXPECT_GT(verdict.active, 0);
  }
}

/// In the long form, four times as many steps.
std::vector<Scene> lengthened(std::vector<Scene> scenes) {
  if (at_length())
    for (Scene& scene : scenes) scene.steps *= 4;
  return scenes;
}

TEST(contact_scenes, drops) { expect_good(lengthened(drops())); }
TEST(contact_scenes, stacks) { expect_good(lengthened(stacks())); }
TEST(contact_scenes, motions) { expect_good(motions()); }

TEST(contact_scenes, meshes_made_elsewhere) {
  const std::vector<Scene> scenes = files();
  if (scenes.empty()) GTEST_SKIP() << "no meshes; give DIFFSIM_DATA, a folder that holds meshes/";
  expect_good(scenes);
}

TEST(contact_scenes, a_crush_is_an_error_before_a_state_is_inverted) {
  // Planes that go on until they meet.
  Scene scene = motions().front();
  scene.steps = 400;
  const Verdict verdict = run(scene);
  EXPECT_NE(verdict.error.find("inverted"), std::string::npos) << verdict.error;
  EXPECT_GT(verdict.steps, 150);
  EXPECT_EQ(verdict.fault, "");
}

TEST(contact_scenes, heaps) {
  for (unsigned seed = 1; seed <= (at_length() ? 8u : 1u); ++seed) expect_good({heap(seed, at_length() ? 5 : 3)});
}

TEST(contact_scenes, the_checker_finds_what_is_planted) {
  Scene scene = alone("planted", {cube().standing(1, 0.005), cube().standing(1, 0.11)});
  scene.contact.meshes = {table()};
  scene.contact.planes = {floor_at(-0.5)};
  const DifferentiableSolver solver = make_solver(scene);
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
  EXPECT_GT(verdict_of(lower(0.108, 0.006)).intersections, 0);  // one block in the other
  EXPECT_GT(verdict_of(lower(-1.0, 0.006)).intersections, 0);   // in the table
  EXPECT_GT(verdict_of(lower(-1.0, 0.006)).swallowed, 0);
  EXPECT_EQ(verdict_of(lower(-1.0, 0.4)).fault, "");
  EXPECT_GT(verdict_of(lower(-1.0, 0.6)).intersections, 0);  // below the plane
  EXPECT_GT(verdict_of([](Place& p) { p[0] = -p[0]; }).inverted, 0);
}

}  // namespace
}  // namespace diffsim
