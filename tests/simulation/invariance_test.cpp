// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Loss and gradient do not depend on how a rollout is checkpointed (to the bit), nor on ranks and threads (to rounding).

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/mesh/box.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

constexpr int num_steps = 23;
const std::vector<std::string> asked = {"youngs_modulus", "poisson_ratio", "density", "gravity", "damping", "traction:x_max"};

DifferentiableSolver make_solver(std::shared_ptr<TetrahedralMesh> mesh) {
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableSolver solver(std::move(mesh), {material}, {.dt = 0.004, .substeps = 3});
  solver.fix("x_min");
  solver.add_traction("x_max", {20.0, -10.0, 5.0});
  return solver;
}

/// Loss, gradients by cell in the file's order, gradients of globals, and ∂L/∂x[0] in the file's order.
std::vector<double> loss_and_gradients(DifferentiableSolver& solver, const CheckpointOptions& options) {
  const TetrahedralMesh& mesh = *solver.mesh();
  SumLoss loss;
  for (const int step : {0, 7, 16, num_steps})
    loss.add(std::make_unique<TargetPositionLoss>(mesh, mesh.region("x_max"), std::array<double, 3>{0.9, 0.2, 0.1}, step));
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient(asked);
  std::vector<double> result{simulator.rollout(num_steps, options, loss)};
  simulator.backward();
  const auto append = [&](const std::vector<double>& values) { result.insert(result.end(), values.begin(), values.end()); };
  for (const std::string& name : asked) {
    const Parameter& gradient = simulator.gradient().at(name);
    std::vector<double> block = gradient.field.to_host();
    if (gradient.site == Site::cell) mesh.cell_order().to_file(gradient.field.to_host(), 1, block);
    append(block);
  }
  for (const char* name : {"positions", "velocities"}) {
    std::vector<double> block, owned = simulator.initial_gradient()[name].to_host();
    owned.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
    mesh.vertex_order().to_file(owned, 3, block);
    append(block);
  }
  return result;
}

TEST(invariance, gradient_has_the_same_bits_for_every_schedule_and_store) {
  DifferentiableSolver solver = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  const std::vector<double> reference = loss_and_gradients(solver, {});
  for (const char* store : {"memory", "hdf5"})
    for (const int every : {1, 7, 10, num_steps, 100})
      EXPECT_EQ(loss_and_gradients(solver, {"uniform", every, 1, store, "checkpoints"}), reference) << store << " every " << every;
  for (const int snapshots : {1, 2, 5})
    for (const char* schedule : {"revolve", "two_level"})
      EXPECT_EQ(loss_and_gradients(solver, {schedule, 6, snapshots, "memory", ""}), reference) << schedule << " " << snapshots;
}

TEST(invariance, the_same_run_gives_the_same_bits) {
  DifferentiableSolver first = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  DifferentiableSolver second = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  EXPECT_EQ(loss_and_gradients(first, {}), loss_and_gradients(second, {}));
}

TEST(invariance, many_ranks_agree_with_one) {
  DifferentiableSolver spread = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  DifferentiableSolver alone = make_solver(TetrahedralMesh::box(MPI_COMM_SELF, {1.0, 0.3, 0.2}, {6, 2, 2}));
  const std::vector<double> whole = loss_and_gradients(alone, {});
  const std::vector<double> part = loss_and_gradients(spread, {});
  EXPECT_NEAR(part[0], whole[0], 1e-11 * std::abs(whole[0]));
  // Walk through the parts of the result: blocks of the file's order here, all of it there.
  std::size_t at = 1, at_whole = 1;
  const auto compare = [&](std::size_t count, std::size_t count_whole, std::size_t begin, const char* name) {
    double scale = 0.0;
    for (std::size_t i = 0; i < count_whole; ++i) scale = std::max(scale, std::abs(whole[at_whole + i]));
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_NEAR(part[at + i], whole[at_whole + begin + i], 1e-11 * scale) << name << " " << i;
    }
    at += count;
    at_whole += count_whole;
  };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const FileOrder& cells = spread.mesh()->cell_order();
  const FileOrder& vertices = spread.mesh()->vertex_order();
  for (const std::string& name : asked) {
    if (spread.parameters().at(name).site == Site::cell)
      compare(size(cells.block_size()), size(cells.num_global()), size(cells.block_begin()), name.c_str());
    else
      compare(spread.parameters().at(name).field.size(), spread.parameters().at(name).field.size(), 0, name.c_str());
  }
  for (const char* name : {"positions", "velocities"})
    compare(size(3 * vertices.block_size()), size(3 * vertices.num_global()), size(3 * vertices.block_begin()), name);
  EXPECT_EQ(at, part.size());
  EXPECT_EQ(at_whole, whole.size());
}

}  // namespace
}  // namespace diffsim
