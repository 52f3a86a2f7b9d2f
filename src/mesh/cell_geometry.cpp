// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/impl/cell_geometry_impl.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

/// Kernel that computes `geometry` from the rest positions: (∂X/∂ξ)⁻¹ and weight · det(∂X/∂ξ) · factor at each
/// quadrature point. If det(∂X/∂ξ) of a cell is not positive at a quadrature point, sets `*invalid` to the minimum of
/// `*invalid` and the index of the cell.
template <class E>
struct ComputeGeometry {
  CellGeometry<E> geometry;
  DeviceArray<int> vertices;
  DeviceArray<double> factors;  // volume factors of the cells; empty if all are 1
  const double* rest;
  int num_cells;
  std::int32_t* invalid;

  KOKKOS_INLINE_FUNCTION void operator()(int pack) const {
    Vec3<Pack> X[E::nodes], Y[4];
    gather_nodes(&vertices(E::nodes * pack_width * pack), rest, X);
    const Pack factor = volume_factors(factors, pack, num_cells);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      E::corners(geometry.rule, q, X, Y);
      const Mat3<Pack> derivative = edges_of(Y);
      const Mat3<Pack> inverted = inverse(derivative);
      const Pack volume = determinant(derivative) * geometry.rule.weight(q) * factor;
      const int row = geometry.row(pack, q);
      for (int i = 0; i < 9; ++i) store(&geometry.inverses(pack_width * (9 * row + i)), inverted(i / 3, i % 3));
      for (int i = 0; i < pack_width; ++i) {
        const int cell = pack_width * pack + i;
        geometry.volumes(pack_width * row + i) = cell < num_cells ? lane(volume, i) : 0.0;
        if (cell < num_cells && !(lane(volume, i) > 0.0)) Kokkos::atomic_fetch_min(invalid, cell);
      }
    }
  }
};

/// Kernel that converts the derivatives M with respect to ∂X/∂ξ (add_shape_derivative) to contributions at the nodes:
/// value_a = Σ_q Σ_i ∂y_i/∂x_a ȳ_i, with ȳ = edges_adjoint(M_q).
template <class E>
struct ShapeGradient {
  typename E::Rule rule;
  const double* sums;
  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, Vec3<Pack> (&value)[E::nodes]) const {
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = 0.0;
    for (int q = 0; q < E::Rule::num_points; ++q) {
      Mat3<Pack> M;
      for (int i = 0; i < 9; ++i)
        M(i / 3, i % 3) = load(sums + pack_width * (9 * (E::Rule::num_points * pack + q) + i));
      Vec3<Pack> y[4];
      edges_adjoint(M, y);
      E::add_corners_adjoint(rule, q, y, value);
    }
  }
};

}  // namespace

template <class E>
void compute_geometry(const TetrahedralMesh& mesh, const CellScatter& scatter, const std::vector<int>& cells,
                      const Field& rest, CellGeometry<E>& geometry) {
  const auto points =
      static_cast<std::size_t>(E::Rule::num_points * pack_width) * static_cast<std::size_t>(scatter.num_packs());
  if (geometry.volumes.size() != points) {
    geometry.inverses = make_device_array<double>("diffsim::mesh::inverses", 9 * points);
    geometry.volumes = make_device_array<double>("diffsim::mesh::volumes", points);
  }
  const auto factors = to_device("diffsim::mesh::volume_factors", mesh.volume_factors(cells));
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  DeviceArray<std::int32_t> invalid("diffsim::mesh::invalid", 1);
  Kokkos::deep_copy(invalid, none);
  Kokkos::parallel_for(
      "diffsim::mesh::geometry", Range(0, scatter.num_packs()),
      ComputeGeometry<E>{geometry, scatter.data().vertices, factors, rest.data(), scatter.num_cells(), invalid.data()});
  const auto found = host_view(invalid);
  collectively(mesh.comm(), [&] {
    if (found(0) == none) return;
    const auto entry = static_cast<std::size_t>(found(0));
    const std::size_t cell = cells.empty() ? entry : static_cast<std::size_t>(cells[entry]);
    throw Error("rest shape: cell " + cell_name(mesh.bodies(), mesh.cell_order().file_index()[cell]) +
                    " has no positive volume; keep rest positions closer to the mesh's",
                ErrorKind::run);
  });
}

template <class E>
void add_shape_gradient(const CellScatter& scatter, const DeviceArray<double>& sums, Field& gradient) {
  for_each_cell<E::nodes>("diffsim::mesh::shape_gradient", scatter, gradient.data(), ShapeGradient<E>{{}, sums.data()});
}

template void compute_geometry(const TetrahedralMesh&, const CellScatter&, const std::vector<int>&, const Field&,
                               CellGeometry<Tet4>&);
template void compute_geometry(const TetrahedralMesh&, const CellScatter&, const std::vector<int>&, const Field&,
                               CellGeometry<Tet10>&);
template void compute_geometry(const TetrahedralMesh&, const CellScatter&, const std::vector<int>&, const Field&,
                               CellGeometry<FineTet10>&);
template void add_shape_gradient<Tet4>(const CellScatter&, const DeviceArray<double>&, Field&);
template void add_shape_gradient<Tet10>(const CellScatter&, const DeviceArray<double>&, Field&);
template void add_shape_gradient<FineTet10>(const CellScatter&, const DeviceArray<double>&, Field&);

}  // namespace diffsim
