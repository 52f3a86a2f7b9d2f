// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/impl/nodal_average.hpp"

#include "core/exchange.hpp"
#include "diffsim/elastic/impl/elements_impl.hpp"

namespace diffsim::elastic {
namespace {

/// Kernel that adds at each corner of a cell the rest volume V of the cell (component 0) and the derivative of V along
/// dX (component 1).
struct RestVolumes {
  CellGeometry<Tet4> geometry;
  const double* dX;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    const auto [inverse, volume] = geometry.at(pack, 0);
    Pack change = 0.0;
    if (dX) {
      Vec3<Pack> rest[4];
      gather_nodes(vertices, dX, rest);
      change = volume * trace(shape_change<Tet4>(rest, {}, 0, inverse));
    }
    for (int a = 0; a < 4; ++a) value[a] = {{volume, change, Pack(0.0)}};
  }
};

/// Kernel that adds at each corner of a cell the current volume V J of the cell (component 0) and the derivative V cof
/// F : dF of V J along dx (component 1). The current volume does not depend on the rest shape.
struct Volumes {
  CellGeometry<Tet4> geometry;
  const double* x;
  const double* dx;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    const auto [inverse, volume] = geometry.at(pack, 0);
    Vec3<Pack> nodes[4];
    gather_nodes(vertices, x, nodes);
    const Mat3<Pack> F = gradient_at<Tet4>(nodes, {}, 0, inverse);
    Pack change = 0.0;
    if (dx) {
      gather_nodes(vertices, dx, nodes);
      change = volume * inner(cofactor(F), gradient_at<Tet4>(nodes, {}, 0, inverse));
    }
    const Pack now = volume * determinant(F);
    for (int a = 0; a < 4; ++a) value[a] = {{now, change, Pack(0.0)}};
  }
};

/// Divides `field` (s, ds) by `weights` (d, dd) at each vertex: sets s to s/d and ds to (ds - (s/d) dd)/d. If
/// `with_rest` is false, dd counts as 0. At vertices that are not a corner of any cell of the term, sets s and ds to 0.
void divide_by(const Field& weights, bool with_rest, Field& field) {
  const double* const d = weights.data();
  double* const s = field.data();
  Kokkos::parallel_for(
      "diffsim::elastic::nodal_average", Range(0, static_cast<int>(field.extent())), KOKKOS_LAMBDA(int i) {
        const double inverse = d[3 * i] > 0.0 ? 1.0 / d[3 * i] : 0.0;
        s[3 * i] *= inverse;
        s[3 * i + 1] = inverse * (s[3 * i + 1] - (with_rest ? s[3 * i] * d[3 * i + 1] : 0.0));
      });
  Kokkos::fence();
}

}  // namespace

NodalAverage::NodalAverage(const TetrahedralMesh& mesh, const CellScatter& scatter)
    : mesh_(&mesh),
      scatter_(&scatter),
      weights_("nodal_volumes", mesh.vertex_entities(), 3),
      dilatations_(weights_.like("nodal_dilatations")),
      pressures_(weights_.like("nodal_pressures")) {}

void NodalAverage::total(Field& field) const {
  mesh_->vertex_exchange().add_to_owners(field);
  mesh_->vertex_exchange().copy_to_ghosts(field);
}

void NodalAverage::prepare(const CellGeometry<Tet4>& geometry) { prepare_tangent(geometry, nullptr); }

void NodalAverage::prepare_tangent(const CellGeometry<Tet4>& geometry, const double* dX) {
  weights_.fill(0.0);
  for_each_cell<4>("diffsim::elastic::nodal_volumes", *scatter_, weights_.data(), RestVolumes{geometry, dX});
  total(weights_);
}

const Field& NodalAverage::dilatations(const CellGeometry<Tet4>& geometry, const double* x, const double* dx,
                                       bool with_rest) {
  dilatations_.fill(0.0);
  for_each_cell<4>("diffsim::elastic::nodal_dilatations", *scatter_, dilatations_.data(), Volumes{geometry, x, dx});
  total(dilatations_);
  divide_by(weights_, with_rest, dilatations_);
  return dilatations_;
}

Field& NodalAverage::start_pressures() {
  pressures_.fill(0.0);
  return pressures_;
}

const Field& NodalAverage::finish_pressures(bool with_rest) {
  total(pressures_);
  divide_by(weights_, with_rest, pressures_);
  return pressures_;
}

}  // namespace diffsim::elastic
