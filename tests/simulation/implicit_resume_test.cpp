// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Implicit steps with contact and friction: the gradient depends on schedule, store, interruptions and ranks only
// within the tolerance of the linear systems.

#include <gtest/gtest.h>

#include <string>

#include "core/file_order.hpp"
#include "diffsim/mesh/construction.hpp"
#include "max_or_nan.hpp"
#include "simulation/resume_testing.hpp"

namespace diffsim::implicit_resume_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 36;  // a whole interval of 32 steps and a part
constexpr double solver_tolerance = 1e-11;
const std::vector<std::string> asked = {"youngs_modulus", "density", "gravity"};

/// Scene of a bar, fixed at one end, that falls on a rough plane. Quasi-static scenes have no contact.
DifferentiableScene make_solver(std::shared_ptr<TetrahedralMesh> mesh, const std::string& integrator, bool direct) {
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableSolver options{.dt = 0.02, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = options.implicit.linear.tolerance = solver_tolerance;
  if (integrator == "quasi_static") options.implicit.ramp_steps = num_steps;
  if (!direct) options.implicit.linear.direct_below = 0;
  DifferentiableScene solver(std::move(mesh), {material}, options);
  solver.fix("x_min");
  ContactOptions contact;
  contact.barrier_distance = 0.02;
  contact.barrier_stiffness = 1e4;
  contact.friction = 0.3;
  contact.friction_velocity = 1e-2;
  contact.planes.push_back({{0.0, -0.05, 0.0}, {0.0, 1.0, 0.0}});
  if (integrator != "quasi_static") solver.add_contact(contact);
  return solver;
}

InterruptedSweep make_case(MPI_Comm comm, const std::string& integrator, bool direct = true) {
  return {comm, TetrahedralMesh::box(comm, {1.0, 0.2, 0.2}, {4, 1, 1}), num_steps, asked,
          [&](std::shared_ptr<TetrahedralMesh> mesh) { return make_solver(std::move(mesh), integrator, direct); }};
}

CheckpointOptions options_of(const std::string& schedule, const std::string& store) {
  return resumed_by(schedule, store, 12, "implicit_resume");
}

/// Largest relative difference between the parts of two results: the loss and each gradient.
double worst_difference(const TetrahedralMesh& mesh, const std::vector<double>& a, const std::vector<double>& b) {
  const auto cells = static_cast<std::ptrdiff_t>(mesh.cell_order().block_size());
  double worst = 0.0;
  std::ptrdiff_t at = 0;
  for (const std::ptrdiff_t count : {std::ptrdiff_t{1}, cells, cells, std::ptrdiff_t{3}}) {
    worst = max_or_nan(
        worst, relative_difference({a.begin() + at, a.begin() + at + count}, {b.begin() + at, b.begin() + at + count}));
    at += count;
  }
  return worst;
}

bool is_alone() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks == 1;
}

class Implicit : public testing::TestWithParam<const char*> {};

TEST_P(Implicit, EveryScheduleAndStoreGivesTheSameBits) {
  if (!is_alone()) GTEST_SKIP() << "the next test does so on many ranks";
  InterruptedSweep problem = make_case(MPI_COMM_WORLD, GetParam());
  const std::vector<double> reference = problem.run(options_of("all", "memory"), false, 0, false);
  // One integrator runs all combinations, on one rank. Schedules and stores access the other integrators through the
  // same interfaces, Model and State.
  const bool every = GetParam() == std::string("bdf2");
  const std::vector<const char*> all{"uniform", "revolve", "online", "two_level", "multi_level"};
  for (const char* store : {"memory", "hdf5", "tiered"})
    for (const char* schedule : every ? all : std::vector{"two_level"})
      if (every || store == std::string("tiered")) {
        EXPECT_EQ(problem.run(options_of(schedule, store), false, 0, false), reference) << schedule << ' ' << store;
      }
}

TEST_P(Implicit, GoesOnToTheSameBits) {
  if (!is_alone() && GetParam() != std::string("newmark")) GTEST_SKIP() << "on one rank";
  InterruptedSweep problem = make_case(MPI_COMM_WORLD, GetParam());
  CheckpointOptions options = options_of("two_level", "tiered");
  const std::vector<double> reference = problem.run(options, false);
  const int whole = problem.polls;
  for (const double part : {0.2, 0.9}) {
    options.interval = part < 0.5 ? 1e9 : 0.0;
    EXPECT_TRUE(problem.stops(options, false, static_cast<int>(part * whole)));
    EXPECT_EQ(problem.run(options, true), reference) << part;
    EXPECT_TRUE(problem.warnings.empty()) << problem.warnings.front();
  }
}

INSTANTIATE_TEST_SUITE_P(Integrators, Implicit,
                         testing::Values("quasi_static", "implicit_euler", "bdf2", "newmark", "generalised_alpha"));

TEST(Implicit, IterativeSolversAgreeToTheirTolerance) {
  InterruptedSweep problem = make_case(MPI_COMM_WORLD, "bdf2", false);
  const std::vector<double> reference = problem.run(options_of("all", "memory"), false, 0, false);
  for (const char* schedule : {"uniform", "revolve"}) {
    const std::vector<double> found = problem.run(options_of(schedule, "memory"), false, 0, false);
    EXPECT_LT(worst_difference(*problem.mesh, found, reference), 1e-8) << schedule;
  }
  CheckpointOptions options = options_of("two_level", "tiered");
  (void)problem.run(options, false);
  EXPECT_TRUE(problem.stops(options, false, problem.polls / 2));
  EXPECT_LT(worst_difference(*problem.mesh, problem.run(options, true), reference), 1e-8);
}

TEST(Implicit, OtherNumbersOfRanksAgree) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 3) GTEST_SKIP() << "needs 3 ranks";
  struct Way {
    const char* integrator;
    bool direct;
  };
  for (const Way& way : {Way{"bdf2", true}, Way{"newmark", true}, Way{"implicit_euler", true},
                         Way{"generalised_alpha", true}, Way{"quasi_static", true}, Way{"bdf2", false}}) {
    SCOPED_TRACE(std::string(way.integrator) + (way.direct ? ", factored" : ", iterated"));
    const auto make = [&](MPI_Comm comm) { return make_case(comm, way.integrator, way.direct); };
    std::vector<double> reference;
    if (rank_in(MPI_COMM_WORLD) == 0)
      reference = make(MPI_COMM_SELF).run(options_of("two_level", "tiered"), false, 0, false);
    const std::vector<double> found =
        relayed({{1, 15}, {2, 18}, {3, 45}, {1, 0}}, options_of("two_level", "tiered"), make);
    if (rank_in(MPI_COMM_WORLD) != 0) continue;
    const std::size_t cells = (reference.size() - 4) / 2;
    // Tolerance of every step, and of every linear system of the derivatives.
    expect_near(found, reference, {1, cells, cells, 3}, num_steps * solver_tolerance);
  }
}

}  // namespace
}  // namespace diffsim::implicit_resume_test
