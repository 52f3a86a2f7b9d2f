// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Contact scenes that tests run with explicit and with implicit steps. DIFFSIM_SCENES=long runs larger scenes with more
// steps (tests/campaigns/contact_scenes.sh).

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "contact_scenes.hpp"

namespace diffsim::testing_scenes {

inline bool at_length() {
  const char* text = std::getenv("DIFFSIM_SCENES");
  return text && std::string(text) == "long";
}

inline ContactOptions contact_options(bool self, double friction = 0.3) {
  return {.barrier_distance = 0.01,
          .barrier_stiffness = 4e4,
          .friction = friction,
          .friction_velocity = 0.05,
          .self = self};
}
inline PlaneObstacle floor_at(double y) { return {.point = {0.0, y, 0.0}, .normal = {0.0, 1.0, 0.0}}; }
inline MeshObstacle box_at(Place min, Place max, Place velocity = {}) {
  return {.mesh = contact::box_triangles(min, max), .velocity = velocity};
}
inline MeshObstacle table() { return box_at({-0.2, -0.1, -0.2}, {0.2, 0.0, 0.2}); }

inline Scene with_plane(const std::string& name, std::vector<Piece> pieces, bool self = false) {
  Scene scene{name, std::move(pieces), contact_options(self)};
  scene.contact.planes = {floor_at(0.0)};
  scene.gravity = {0.0, -9.8, 0.0};
  return scene;
}
inline Scene with_mesh(const std::string& name, std::vector<Piece> pieces, MeshObstacle obstacle, bool self = false) {
  Scene scene{name, std::move(pieces), contact_options(self)};
  scene.contact.meshes = {std::move(obstacle)};
  scene.gravity = {0.0, -9.8, 0.0};
  return scene;
}
inline Scene alone(const std::string& name, std::vector<Piece> pieces) {
  return {name, std::move(pieces), contact_options(true)};
}

inline std::vector<Scene> drops() {
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
  // The knife is an open surface, the needle a closed one.
  all.push_back(with_mesh("drop onto a knife", {cube(3).standing(1, 0.011).thrown({0.0, -1.0, 0.0})},
                          {.mesh = {{{0.0, 0.0, -0.2}, {0.0, 0.0, 0.2}, {0.0, -0.3, 0.0}}, {{0, 1, 2}}}}));
  all.push_back(with_mesh("drop onto a needle", {cube(3).standing(1, 0.011).thrown({0.0, -0.5, 0.0})},
                          {.mesh = {{{0.0, 0.0, 0.0}, {0.03, -0.2, 0.0}, {-0.02, -0.2, 0.02}, {-0.02, -0.2, -0.02}},
                                    {{0, 1, 3}, {0, 3, 2}, {0, 2, 1}, {1, 2, 3}}}}));
  // A thickness of 6 mm of the body keeps the body 3 mm away from the obstacle.
  for (const std::size_t k : {std::size_t{2}, std::size_t{8}}) {
    Scene thick = all[k];
    thick.name = "thick " + thick.name;
    thick.contact.thickness = 6e-3;
    all.push_back(thick);
  }
  return all;
}

inline std::vector<Scene> stacks() {
  std::vector<Scene> all;
  // Aligned slabs: faces above faces, corners above corners, edges above edges. Then slabs that are shifted by half a
  // cell, and slabs that are rotated.
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

inline std::vector<Scene> squeezes_and_slides() {
  std::vector<Scene> all;
  {
    Scene scene{"squeezed between planes", {cube(3).standing(1, 0.008)}, contact_options(false)};
    scene.contact.planes = {floor_at(0.0), {.point = {0, 0.116, 0}, .normal = {0, -1, 0}, .velocity = {0, -0.8, 0}}};
    all.push_back(scene);
  }
  {
    Scene scene{"two squeezed between boxes",
                {slab().standing(1, 0.008), slab().turned(1, 0.3).standing(1, 0.056)},
                contact_options(true)};
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
  return all;
}

inline std::vector<Scene> bodies_against_each_other() {
  std::vector<Scene> all;
  {
    // Two plates move towards each other. Their gap is a tenth of the barrier distance.
    const Piece plate = block({0.12, 0.02, 0.12}, {4, 1, 4});
    Scene scene = alone("thin gap", {plate.thrown({0, 0.2, 0}), plate.turned(1, 0.1).moved({0, 0.021, 0})});
    scene.contact.barrier_stiffness = 4e3;
    all.push_back(scene);
  }
  {
    // Two legs of one body are driven against each other.
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
    // Two parallel bars whose ends are rotated about the axis between the bars: the bars wind around each other.
    const Piece bar = block({0.3, 0.03, 0.03}, {12, 1, 1});
    Scene scene = alone("twisted bars", {bar.moved({0, 0.021, 0}), bar.moved({0, -0.021, 0})});
    scene.motions = {{BoxShape{{0.145, -1, -1}, {1, 1, 1}}, {1, 0, 0}, {}, 12.0, {}},
                     {BoxShape{{-1, -1, -1}, {-0.145, 1, 1}}, {1, 0, 0}, {}, -12.0, {}}};
    scene.steps = 320;
    all.push_back(scene);
  }
  return all;
}

inline std::vector<Scene> motions() {
  std::vector<Scene> all = squeezes_and_slides();
  for (const Scene& scene : bodies_against_each_other()) all.push_back(scene);
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

/// Scenes whose bodies have finer contact surfaces of their own, as large as the boundary of the cells or larger.
inline std::vector<Scene> with_own_surfaces() {
  const auto given = [](Scene scene, double factor) {
    scene.name += ", own surface";
    scene.contact.surfaces = {{"body", divided_boundary(scene.pieces, factor)}};
    return scene;
  };
  const std::vector<Scene> dropped = drops(), stacked = stacks();
  Scene of_second_order = dropped.at(3);
  of_second_order.order = 2;
  return {given(dropped.at(2), 1.05),  given(dropped.at(4), 1.05), given(dropped.at(8), 1.0),
          given(of_second_order, 1.0), given(stacked.at(1), 1.0),  given(stacked.at(4), 1.0),
          given(stacked.at(7), 1.0)};
}

/// A mesh produced by another program: its name, its size, m, its height above the floor, m, and its velocity, m/s.
struct Thrown {
  std::string name;
  double size, level;
  Place velocity;
};

/// Scene of meshes produced by other programs above a floor; nullopt if one of the files does not exist. The barrier
/// distance is the smaller one of `range` and half of the shortest edge.
inline std::optional<Scene> of_files(const std::string& name, const std::vector<Thrown>& thrown, double range) {
  Scene scene = with_plane(name, {}, true);
  double edge = std::numeric_limits<double>::infinity();
  for (const Thrown& piece : thrown) {
    const std::optional<Piece> given = from_file(piece.name, piece.size);
    if (!given) return std::nullopt;
    scene.pieces.push_back(given->standing(1, piece.level).thrown(piece.velocity));
    edge = std::min(edge, given->shortest_edge());
  }
  scene.contact.barrier_distance = std::min(range, 0.5 * edge);
  scene.contact.barrier_stiffness = 1e4;
  scene.safety = 4.0;
  return scene;
}

/// Scene of a heap that falls into a pit: slabs, cubes and bars, every second one in a random orientation.
inline Scene heap(unsigned seed, int pieces) {
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
  return scene;
}

/// Runs the scenes and checks the verdicts.
inline void expect_good(const std::vector<Scene>& scenes) {
  for (const Scene& scene : scenes) {
    SCOPED_TRACE(scene.name);
    const Verdict verdict = run(scene);
    if (is_first_rank(MPI_COMM_WORLD))
      std::printf("%-32s %6zu triangles %6zu cells %5d steps; %5lld active, least distance %.2e m, %.1f s\n",
                  scene.name.c_str(), verdict.triangles, verdict.cells, verdict.steps,
                  static_cast<long long>(verdict.active), verdict.least, verdict.seconds);
    if (!verdict.error.empty() && is_first_rank(MPI_COMM_WORLD)) std::printf("  stopped: %s\n", verdict.error.c_str());
    const auto tells = [&](const char* words) { return verdict.error.find(words) != std::string::npos; };
    const bool refused = scene.may_stop && (tells("would be passed through") || tells("Newton's method failed"));
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

}  // namespace diffsim::testing_scenes
