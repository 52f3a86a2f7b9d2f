// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "simulation/contact_bodies.hpp"

/// Scenes with bodies that have contact surfaces of their own.
namespace diffsim::testing_contact {

/// Boundary of a block divided into `cells` bricks and scaled by `factor` about its middle.
inline BodySurface skin(const Block& block, const std::array<int, 3>& cells, double factor = 1.0) {
  Block finer = block;
  finer.cells = cells;
  finer.name = {};
  const auto mesh = make_mesh({finer}, MPI_COMM_SELF);
  const std::vector<double>& X = mesh->rest_positions();
  std::array<double, 3> middle{};
  const auto count = static_cast<std::size_t>(mesh->num_vertices());
  for (std::size_t i = 0; i < 3 * count; ++i) middle[i % 3] += X[i] / static_cast<double>(count);
  BodySurface surface{block.name, {}};
  std::map<int, int> number;
  for (const Face& face : mesh->boundary()) {
    std::array<int, 3>& triangle = surface.mesh.triangles.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [place, is_new] = number.try_emplace(face.vertices[k], static_cast<int>(number.size()));
      triangle[k] = place->second;
      if (!is_new) continue;
      std::array<double, 3>& x = surface.mesh.vertices.emplace_back();
      for (std::size_t c = 0; c < 3; ++c)
        x[c] = middle[c] + factor * (X[3 * static_cast<std::size_t>(face.vertices[k]) + c] - middle[c]);
    }
  }
  return surface;
}

/// Scene `tower` in which low has a finer contact surface and high a larger one with different triangles. The contact
/// surface of middle is its boundary.
inline Scene tower_with_skins(const std::string& integrator, bool friction) {
  Scene scene = tower({0.014, 3e3, friction ? 0.3 : 0.0, 0.9}, integrator);
  scene.contact.surfaces = {skin(scene.blocks[0], {3, 1, 2}), skin(scene.blocks[2], {2, 1, 1}, 1.02)};
  scene.contact.thicknesses = {{"high", 2e-3}};
  scene.contact.pairs = {{{"low", "middle"}, {}, 5e3}};
  return scene;
}

}  // namespace diffsim::testing_contact
