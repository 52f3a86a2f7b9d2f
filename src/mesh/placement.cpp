// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/construction.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "mesh/affine_body.hpp"

namespace diffsim {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix rotation(const std::array<double, 3>& axis, double angle) {
  Matrix result{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  if (angle == 0.0) return result;
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  if (!(length > 0.0) || !std::isfinite(length) || !std::isfinite(angle))
    throw InputError("a rotation needs an axis that is not zero, and a finite angle");
  const double a[3] = {axis[0] / length, axis[1] / length, axis[2] / length};
  const double c = std::cos(angle), s = std::sin(angle);
  const double cross[3][3] = {{0.0, -a[2], a[1]}, {a[2], 0.0, -a[0]}, {-a[1], a[0], 0.0}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) result[i][j] = (i == j ? c : 0.0) + s * cross[i][j] + (1.0 - c) * a[i] * a[j];
  return result;
}

}  // namespace

void place(MeshData& mesh, const Placement& placement) {
  for (const double factor : placement.scale)
    if (!(factor > 0.0) || !std::isfinite(factor))
      throw InputError("the scale " + std::to_string(factor) +
                       (factor < 0.0 ? " would mirror the body and invert its cells" : " is not a valid scale") +
                       "; give positive numbers");
  const bool is_identity = placement.scale == std::array{1.0, 1.0, 1.0} && placement.angle == 0.0 &&
                           placement.translate == std::array<double, 3>{};
  if (!is_identity && mesh.lower(CellKind::segment).num_directors > 0)
    throw InputError(
        "the segments of the body have directors, which are not positions; place the body before "
        "add_directors");
  const Matrix r = rotation(placement.axis, placement.angle);
  const auto move = [&](double* x) {
    const double scaled[3] = {placement.scale[0] * x[0], placement.scale[1] * x[1], placement.scale[2] * x[2]};
    for (std::size_t i = 0; i < 3; ++i)
      x[i] = r[i][0] * scaled[0] + r[i][1] * scaled[1] + r[i][2] * scaled[2] + placement.translate[i];
  };
  for (std::size_t v = 0; v + 2 < mesh.coordinates.size(); v += 3) move(&mesh.coordinates[v]);
  if (!mesh.affine) return;
  // The inertial tetrahedron of the transformed surface is the transformed inertial tetrahedron, and the ratio of the
  // two volumes does not change, so `volume_factor` stays the same.
  AffineBody body = *mesh.affine;
  body.volume *= placement.scale[0] * placement.scale[1] * placement.scale[2];
  for (auto& vertex : body.surface.vertices) move(vertex.data());
  mesh.affine = std::make_shared<const AffineBody>(std::move(body));
}

}  // namespace diffsim
