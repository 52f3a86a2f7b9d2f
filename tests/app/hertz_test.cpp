// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact of a rigid plane with a large elastic block whose top is a paraboloid (Hertz 1882), by `simulate` and
// `gradient` alone: the force, and the derivative of the force with respect to the depth of the plane.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app::hertz_test {
namespace {

constexpr double radius = 10.0;
constexpr double contact_radius = 0.2;  // √(radius · depth) for the depth 4 mm
constexpr double youngs_modulus = 1e6, poisson_ratio = 0.3;

struct Block {
  double side, depth;  ///< m
  double barrier_distance, barrier_stiffness;
  int cells_per_radius;  ///< number of cells along the contact's radius
};

/// Distances from the contact along each axis: cells of equal size up to about 1.5 contact radii, then cells that grow
/// by a constant factor.
std::vector<double> grid(double side, int cells_per_radius) {
  double h = contact_radius / cells_per_radius;
  std::vector<double> line;
  for (int i = 0; i <= (3 * cells_per_radius + 1) / 2; ++i) line.push_back(h * i);
  while (line.back() < side) line.push_back(line.back() + (h *= 2.5));
  if (side - line[line.size() - 2] < 0.5 * h) line.pop_back();
  line.back() = side;
  return line;
}

/// Gmsh file of a quarter of the block, with the axis x = z = 0 and the contact near the origin.
std::string quarter_of(const Block& block) {
  const std::vector<double> line = grid(block.side, block.cells_per_radius);
  const std::size_t n = line.size();
  const auto number = [n](const std::array<std::size_t, 3>& at) { return 1 + at[2] + n * (at[1] + n * at[0]); };
  std::string nodes, elements;
  std::size_t num_cells = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) {
        const double drop = std::min((line[i] * line[i] + line[k] * line[k]) / (2.0 * radius), 4.0 * block.depth);
        nodes += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", number({i, j, k}), line[i],
                             -drop - (block.side - drop) * line[j] / block.side, line[k]);
        if (i + 1 == n || j + 1 == n || k + 1 == n) continue;
        // Six tetrahedra of a brick: one for each order in which a path along edges increases i, j and k. The
        // tetrahedra of the first three orders are mirror images of the others.
        constexpr std::size_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
        for (std::size_t o = 0; o < 6; ++o) {
          std::array<std::size_t, 3> at{i, j, k};
          std::array<std::size_t, 4> path{number(at)};
          for (std::size_t step = 0; step < 3; ++step) {
            ++at[orders[o][step]];
            path[step + 1] = number(at);
          }
          if (o < 3) std::swap(path[0], path[1]);  // j counts downwards
          elements += fmt::format("{} 4 2 1 1 {} {} {} {}\n", ++num_cells, path[0], path[1], path[2], path[3]);
        }
      }
  return fmt::format("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n{}$EndNodes\n$Elements\n{}\n{}$EndElements\n",
                     n * n * n, nodes, num_cells, elements);
}

/// Scene with the plane `higher` m above the given depth. `tolerance`: relative tolerance of the solvers.
std::string scene(const Block& block, double higher, double tolerance) {
  return fmt::format(
      "mesh: {{file: block.msh, order: 2}}\n"
      "material: {{model: neo_hookean, density: 1000, youngs_modulus: {}, poisson_ratio: {}}}\n"
      "solver: {{integrator: quasi_static, dt: 1, steps: 1, gravity: [0, 0, 0], newton: {{tolerance: {}}}, "
      "linear: {{tolerance: {}}}}}\n"
      "regions:\n"
      "  middle_x: {{box: {{min: [-1.0e-9, -100, -100], max: [1.0e-9, 100, 100]}}}}\n"
      "  middle_z: {{box: {{min: [-100, -100, -1.0e-9], max: [100, 100, 1.0e-9]}}}}\n"
      "  foot: {{box: {{min: [-100, -100, -100], max: [100, {}, 100]}}}}\n"
      "boundary: [{{region: middle_x, fix: [x]}}, {{region: middle_z, fix: [z]}}, {{region: foot, fix: [y]}}]\n"
      "contact:\n"
      "  barrier_distance: {}\n"
      "  barrier_stiffness: {:e}\n"
      "  obstacles: [{{plane: {{point: [0, {:.17g}, 0], normal: [0, -1, 0]}}, velocity: [0, {:.17g}, 0], name: "
      "plate}}]\n"
      "sensors: {{force: {{type: reaction, region: foot}}}}\n"
      "objective: [{{type: minimise, sensor: force, component: y}}]\n"
      "parameters: [{{name: \"obstacle_position:plate\"}}]\n"
      "output: {{fields: [positions, reactions]}}\n",
      youngs_modulus, poisson_ratio, tolerance, tolerance, -0.999999 * block.side, block.barrier_distance,
      block.barrier_stiffness, block.barrier_distance + higher, -block.depth - block.barrier_distance);
}

class Hertz : public CellModelTest {};

TEST_F(Hertz, force_is_that_of_hertz) {
  // The side of the block is 60 times the contact's radius, and the barrier distance is 0.5 % of the depth.
  const Block block{12.0, 4e-3, 2e-5, 3e4, 3};
  write("block.msh", quarter_of(block));
  write("scene.yaml", scene(block, 0.0, 1e-8));
  good({"simulate", "scene.yaml"}, "out");
  const std::vector<double> reaction = dataset("out/trajectory.h5", "/sensors/force");
  const double expected = 0.25 * 4.0 / 3.0 * youngs_modulus / (1.0 - poisson_ratio * poisson_ratio) *
                          std::sqrt(radius) * std::pow(block.depth, 1.5);
  // Components x, y and z of the quarter's force in the first and in the last state.
  EXPECT_NEAR(reaction.at(1), 0.0, 1e-9 * expected);
  EXPECT_NEAR(reaction.at(4), expected, 0.03 * expected);
}

TEST_F(Hertz, derivative_by_the_depth_is_that_of_the_computed_force) {
  // The rounding errors of the force grow with the side of the block. The third derivative of the barrier is
  // discontinuous, so the differences are accurate only if no vertex enters the range of the barrier between the
  // depths at which the force is computed.
  const Block block{1.2, 4.15e-3, 5e-4, 1e5, 2};
  write("block.msh", quarter_of(block));
  const auto force = [&](double higher) {
    write("scene.yaml", scene(block, higher, 1e-13));
    good({"gradient", "scene.yaml"}, "out");
    return report("out")["loss"].get<double>();
  };
  constexpr double weights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0}, h = 2e-5;
  double difference = 0.0;
  for (int k = 1; k <= 4; ++k) difference += weights[k - 1] * (force(k * h) - force(-k * h)) / h;
  force(0.0);
  EXPECT_NEAR(dataset("out/gradient.h5", "/gradient/obstacle_position:plate").at(1), difference,
              1e-8 * std::abs(difference));
}

}  // namespace
}  // namespace diffsim::app::hertz_test
