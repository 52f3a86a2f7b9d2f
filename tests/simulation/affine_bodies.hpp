// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contact/obstacles.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/affine_body.hpp"

/// Affine bodies for tests.
namespace diffsim::testing_affine {

/// Returns an affine body: a box of the given size, rotated about its centre and then moved to `place`.
inline NamedMesh affine_box(MPI_Comm comm, const std::string& name, const std::array<double, 3>& size,
                            const std::array<double, 3>& place, const std::array<double, 3>& axis = {0, 0, 1},
                            double angle = 0.0) {
  MeshData data = affine_body(comm, contact::box_triangles({-0.5 * size[0], -0.5 * size[1], -0.5 * size[2]},
                                                           {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]}));
  diffsim::place(data, {{1.0, 1.0, 1.0}, axis, angle, place});
  return {name, std::move(data)};
}

/// Material with the given Young's modulus, density and Poisson's ratio 0: ψ = E/8 ‖FᵀF - 1‖².
inline DifferentiableMaterial stiff(double youngs_modulus, double density, const std::string& region = "all") {
  return {"st_venant_kirchhoff",
          {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", 0.0}, {"density", density}},
          region};
}

/// Material of rigid bodies.
inline DifferentiableMaterial rigid(double density, const std::string& region = "all") {
  return {rigid_model, {{"density", density}}, region};
}

/// Motion of one affine body of a mesh on one rank: its centre, the velocity of the centre, and the angular momentum
/// about the centre.
struct Motion {
  std::array<double, 3> centre{}, velocity{}, angular_momentum{};
  std::array<std::array<double, 3>, 3> edges{};  ///< corners 1 to 3 minus corner 0
};
inline Motion motion_of(const State& state, double mass, std::size_t body = 0) {
  const std::vector<double> x = state["positions"].to_host(), v = state["velocities"].to_host();
  Motion motion;
  const std::size_t first = 12 * body;
  for (std::size_t i = 0; i < 12; ++i) {
    motion.centre[i % 3] += 0.25 * x[first + i];
    motion.velocity[i % 3] += 0.25 * v[first + i];
  }
  for (std::size_t a = 0; a < 4; ++a) {
    double r[3], u[3];
    for (std::size_t c = 0; c < 3; ++c) {
      r[c] = x[first + 3 * a + c] - motion.centre[c];
      u[c] = v[first + 3 * a + c] - motion.velocity[c];
    }
    for (std::size_t c = 0; c < 3; ++c)
      motion.angular_momentum[c] += 0.25 * mass * (r[(c + 1) % 3] * u[(c + 2) % 3] - r[(c + 2) % 3] * u[(c + 1) % 3]);
  }
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c) motion.edges[k][c] = x[first + 3 * (k + 1) + c] - x[first + c];
  return motion;
}

}  // namespace diffsim::testing_affine
