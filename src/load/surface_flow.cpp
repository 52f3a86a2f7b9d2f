// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/surface_flow.hpp"

#include "diffsim/core/error.hpp"
#include "diffsim/core/stencil_term_impl.hpp"
#include "load/surface_forces.hpp"

namespace diffsim {
namespace {

std::vector<int> corners_of(const std::string& load, const std::vector<Face>& faces) {
  std::vector<int> corners;
  for (const Face& face : faces) {
    if (face.num_nodes() != 3)
      throw Error(load + " acts on flat faces, and this mesh is of order 2; use order 1", ErrorKind::input);
    corners.insert(corners.end(), face.vertices.begin(), face.vertices.end());
  }
  return corners;
}

}  // namespace

std::unique_ptr<ForceTerm> make_surface_pressure(const std::string& parameter, const std::vector<Face>& faces) {
  PointParameter pressure{parameter, 1};
  pressure.is_dead_load = true;
  return std::make_unique<StencilTerm<PressureForce>>(parameter, PressureForce(), std::vector{pressure},
                                                      corners_of("pressure", faces));
}

std::unique_ptr<ForceTerm> make_wind(const std::string& wind, const std::string& drag, const std::vector<Face>& faces) {
  return std::make_unique<StencilTerm<WindForce>>(
      wind, WindForce(), std::vector{PointParameter{wind, 3}, PointParameter{drag, 1}}, corners_of("wind", faces));
}

}  // namespace diffsim
