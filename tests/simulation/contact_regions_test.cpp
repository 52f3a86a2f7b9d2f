// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Regions of a body's surface with contact laws of their own: the law that applies to a pair, and refused input.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "simulation/contact_regions.hpp"

namespace diffsim::contact_regions_test {
namespace {

using namespace testing_contact;
using testing_simulation::expect_refused;

/// Velocities after a step, [owned vertices, 3].
std::vector<double> velocities_after_step(const Scene& scene) {
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  State state = solver.initial_state();
  solver.step(0, state);
  return state["velocities"].to_host();
}

bool differ_somewhere(const std::vector<double>& a, const std::vector<double>& b) {
  int differ = a != b;
  MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return differ > 0;
}

TEST(contact_regions, a_region_of_the_whole_surface_is_the_body) {
  Scene of_body = tower(hard_law), of_region = of_body;
  of_body.contact.pairs = {pair_of("floor", "low", soft_law), pair_of("low", "middle", soft_law)};
  of_region.contact.pairs = {pair_of("floor", "low/all", soft_law), pair_of("low/all", "middle", soft_law)};
  EXPECT_EQ(velocities_after_step(of_region), velocities_after_step(of_body));
  EXPECT_TRUE(differ_somewhere(velocities_after_step(of_region), velocities_after_step(tower(hard_law))));
}

TEST(contact_regions, vertices_near_a_plane_have_the_law_of_the_first_region_that_they_are_in) {
  // Halves of a block's lower side. Both contain the vertices of their border, which have the law of the pair that is
  // listed first.
  Scene scene;
  scene.blocks = {{{0.2, 0.05, 0.1}, {4, 1, 2}, {0.0, 0.0, 0.0}, 0.0, {0.2, -0.1, 0.05}}};
  scene.regions = {{"left", {{-1.0, -0.001, -1.0}, {0.101, 0.001, 1.0}}},
                   {"right", {{0.099, -0.001, -1.0}, {1.0, 0.001, 1.0}}}};
  scene.contact.planes.push_back({.point = {0.0, -0.009, 0.0}, .label = "floor"});
  const auto with = [&](const Law& shared, std::vector<ContactPair> pairs) {
    Scene changed = scene;
    set_shared(changed.contact, shared);
    changed.contact.pairs = std::move(pairs);
    return velocities_after_step(changed);
  };
  const Law third{0.014, 2e4, 0.7, 0.1};
  const std::vector<double> soft = with(soft_law, {}), hard = with(hard_law, {}), none = with(third, {});
  const std::vector<double> left = with(third, {pair_of("left", "floor", soft_law)}),
                            both =
                                with(third, {pair_of("left", "floor", soft_law), pair_of("floor", "right", hard_law)}),
                            turned =
                                with(third, {pair_of("floor", "right", hard_law), pair_of("left", "floor", soft_law)}),
                            rest =
                                with(third, {pair_of("floor", "body", hard_law), pair_of("left", "floor", soft_law)});
  const auto mesh = make_mesh(scene.blocks, MPI_COMM_WORLD);
  int seen[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < soft.size(); ++i) {
    const double *X = &mesh->rest_positions()[3 * (i / 3)], x = X[0];
    if (X[1] > 0.001) continue;
    ++seen[x < 0.099 ? 0 : x < 0.101 ? 1 : 2];
    seen[3] += soft[i] != hard[i];
    EXPECT_EQ(left[i], x < 0.101 ? soft[i] : none[i]) << x;
    EXPECT_EQ(both[i], x < 0.101 ? soft[i] : hard[i]) << x;
    EXPECT_EQ(turned[i], x < 0.099 ? soft[i] : hard[i]) << x;
    EXPECT_EQ(rest[i], x < 0.101 ? soft[i] : hard[i]) << x;
  }
  MPI_Allreduce(MPI_IN_PLACE, seen, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(seen[0], 18);
  EXPECT_EQ(seen[1], 9);
  EXPECT_EQ(seen[2], 18);
  EXPECT_GT(seen[3], 30);
}

struct Sums {
  double energy = 0.0, friction_power = 0.0;
  std::int64_t active_pairs = 0;
};
Sums sums_of(const Law& shared, const std::vector<ContactPair>& pairs) {
  Scene scene = tower_with_regions(shared);
  scene.contact.pairs = pairs;
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  const State state = solver.initial_state();
  const ContactState contact = solver.contact_state(0, state);
  Sums sums{0.0, contact.friction_power, contact.active_pairs};
  for (const auto& term : solver.system().terms())
    if (term->limits_steps()) sums.energy += term->energy({state["positions"]}, solver.parameters());
  MPI_Allreduce(MPI_IN_PLACE, &sums.energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums;
}

TEST(contact_regions, energy_power_and_pairs_are_those_of_each_law) {
  const Sums soft = sums_of(soft_law, {}), hard = sums_of(hard_law, {});
  std::set<double> powers{soft.friction_power, hard.friction_power};
  const std::vector<std::vector<std::array<std::string, 2>>> cases{{{"floor", "low/under"}},
                                                                   {{"low/left", "middle"}},
                                                                   {{"low", "middle/under"}},
                                                                   {{"low/right", "middle/under"}},
                                                                   {{"roof", "high/over"}},
                                                                   {{"low/left", "middle"}, {"low/right", "middle"}},
                                                                   {{"middle/under", "low/left"}, {"high", "middle"}}};
  for (const auto& of_case : cases) {
    SCOPED_TRACE(of_case[0][0] + '|' + of_case[0][1]);
    std::vector<ContactPair> soft_pairs, hard_pairs;
    for (const auto& [a, b] : of_case) {
      soft_pairs.push_back(pair_of(a, b, soft_law));
      hard_pairs.push_back(pair_of(a, b, hard_law));
    }
    const Sums one = sums_of(hard_law, soft_pairs), other = sums_of(soft_law, hard_pairs);
    EXPECT_NEAR(one.energy + other.energy, soft.energy + hard.energy, 1e-13 * soft.energy);
    EXPECT_NEAR(one.friction_power + other.friction_power, soft.friction_power + hard.friction_power,
                1e-13 * soft.friction_power);
    EXPECT_EQ(one.active_pairs + other.active_pairs, soft.active_pairs + hard.active_pairs);
    EXPECT_TRUE(powers.insert(one.friction_power).second);
  }
}

TEST(contact_regions, parts_of_a_surface_touch_as_the_whole) {
  // The contact includes points, triangles and edges of both sides.
  const Sums parts = sums_of(hard_law,
                             {pair_of("low/first", "middle", soft_law), pair_of("low/second", "middle", soft_law)}),
             whole = sums_of(hard_law, {pair_of("low", "middle", soft_law)});
  EXPECT_NEAR(parts.energy, whole.energy, 1e-13 * whole.energy);
  EXPECT_NEAR(parts.friction_power, whole.friction_power, 1e-13 * whole.friction_power);
  EXPECT_EQ(parts.active_pairs, whole.active_pairs);
}

TEST(contact_regions, the_pair_that_names_most_regions_holds) {
  const ContactPair bodies = pair_of("low", "middle", hard_law), one = pair_of("low/left", "middle", soft_law),
                    other = pair_of("low", "middle/under", hard_law),
                    both = pair_of("middle/under", "low/left", soft_law);
  const auto power = [](const std::vector<ContactPair>& pairs) { return sums_of(soft_law, pairs).friction_power; };
  const double size = power({});
  const auto expect_same = [&](double a, double b) { EXPECT_NEAR(a, b, 1e-13 * size); };
  const auto expect_different = [&](double a, double b) { EXPECT_GT(std::abs(a - b), 1e-4 * size); };
  expect_same(power({bodies, one}), power({one, bodies}));
  expect_different(power({bodies, one}), power({bodies}));
  expect_same(power({bodies, both}), power({both, bodies}));
  expect_different(power({bodies, both}), power({bodies}));
  expect_same(power({both, other}), power({other, both}));
  // Of two pairs that name one region each, the first applies.
  expect_same(power({one, other, both}), power({one, other}));
  expect_different(power({other, one}), power({one, other}));
}

TEST(contact_regions, a_region_touches_its_own_body_where_self_is_true) {
  // Two blocks are one body. The upper block is a region, which has a law with the whole body.
  Scene scene = stack(0.4, 0.3);
  scene.blocks[0].name = "both";
  scene.blocks[1].place[1] = 0.06;
  scene.regions = {{"upper", {{-1.0, 0.059, -1.0}, {1.0, 1.0, 1.0}}}};
  Scene own = scene, shared = scene;
  shared.contact.barrier_stiffness = 9e4;
  own.contact.pairs = {{{"upper", "both"}, {}, 9e4}};
  EXPECT_EQ(velocities_after_step(own), velocities_after_step(shared));
  EXPECT_TRUE(differ_somewhere(velocities_after_step(own), velocities_after_step(scene)));
  own.contact.self = false;
  expect_refused([&] { make_solver(own); }, {"'upper' and 'both' belong to one body, which does not touch itself"});
}

TEST(contact_regions, do_not_depend_on_ranks) {
  if (ranks() == 1) GTEST_SKIP() << "one rank is what others are compared with";
  for (const char* integrator : {"symplectic_euler", "bdf2"}) {
    Scene scene = tower_with_regions(soft_law, integrator);
    scene.contact.pairs = {pair_of("floor", "low/under", hard_law), pair_of("middle", "low/left", hard_law),
                           pair_of("high/over", "roof", hard_law)};
    const int steps = scene.dt < 0.002 ? 100 : 8;
    const std::vector<double> here = digest(scene, steps, MPI_COMM_WORLD), alone = digest(scene, steps, MPI_COMM_SELF);
    double size = 0.0;
    for (const double value : alone) size = std::max(size, std::abs(value));
    EXPECT_GT(size, 0.3);
    for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(here[k], alone[k], 1e-10 * size);
  }
}

TEST(contact_regions, what_makes_no_sense_is_refused) {
  const auto refused = [](const std::vector<ContactPair>& pairs, const std::vector<std::string>& words) {
    Scene scene = tower_with_regions(soft_law);
    scene.regions.push_back({"low/half", {{-1.0, 0.049, -1.0}, {0.2, 0.051, 0.07}}, "low"});
    scene.regions.push_back({"low/inside", {{0.02, -1.0, 0.02}, {0.06, 1.0, 0.06}}, "low"});
    scene.regions.push_back({"half", {{-1.0, -1.0, -1.0}, {0.03, 1.0, 1.0}}});
    scene.contact.pairs = pairs;
    EXPECT_EQ(expect_refused([&] { make_solver(scene); }, words), ErrorKind::input);
  };
  refused({{{"low/lefd", "middle"}, {}, {}, 0.1}},
          {"there is no body, obstacle or region 'low/lefd'; did you mean 'low/left'?", "roof, high/all, high/over"});
  refused({{{"half", "middle"}, {}, {}, 0.1}}, {"region 'half' is not a region of one body", "BODY/REGION"});
  refused({{{"low/inside", "middle"}, {}, {}, 0.1}}, {"region 'low/inside' has no face of the contact surface"});
  refused({{{"low/left", "low/right"}, {}, {}, 0.1}}, {"belong to one body", "self: true"});
  refused({{{"low/left", "middle"}, {}, {}, 0.1}, {{"middle", "low/left"}, {}, {}, 0.2}},
          {"are listed in an earlier pair"});
  for (const char* other : {"middle", "floor"})
    refused({{{"low/left", other}, {}, {}, 0.1}, {{"low/half", other}, {}, {}, 0.1}},
            {"regions 'low/left' and 'low/half' both have the face of vertices ", " of low"});
}

}  // namespace
}  // namespace diffsim::contact_regions_test
