// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/lumping.hpp"

#include "diffsim/mesh/cell_geometry_impl.hpp"

namespace diffsim {
namespace {

template <class E>
DIFFSIM_FUNCTION Pack volume_of(const Vec3<Pack> (&X)[E::nodes]) {
  Pack volume = 0.0;
  Vec3<Pack> Y[4];
  for (int q = 0; q < E::points; ++q) {
    E::corners(q, X, Y);
    volume += determinant(edges_of(Y)) * (1.0 / 6.0 / E::points);
  }
  return volume;
}

template <class E>
struct Sums {
  const double* density;
  const double* rest;
  const double* density_tangent;  // with rest_tangent: the derivative's directions; nullptr: none
  const double* rest_tangent;
  int num_cells;
  bool tangent;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> X[E::nodes];
    gather_nodes(vertices, rest, X);
    const Pack rho = gather_cells(density, pack, num_cells);
    Pack sum = 0.0;
    if (!tangent) {
      sum = rho * volume_of<E>(X);
    } else {
      if (density_tangent) sum += gather_cells(density_tangent, pack, num_cells) * volume_of<E>(X);
      if (rest_tangent) sum += rho * volume_tangent(vertices, X);
    }
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = Pack(E::mass_share(a)) * sum;
  }

  KOKKOS_INLINE_FUNCTION Pack volume_tangent(const int* vertices, const Vec3<Pack> (&X)[E::nodes]) const {
    Vec3<Pack> dX[E::nodes], Y[4], dY[4];
    gather_nodes(vertices, rest_tangent, dX);
    Pack sum = 0.0;
    for (int q = 0; q < E::points; ++q) {
      E::corners(q, X, Y);
      E::corners(q, dX, dY);
      sum += inner(cofactor(edges_of(Y)), edges_of(dY)) * (1.0 / 6.0 / E::points);
    }
    return sum;
  }
};

/// Σ_nodes share Σ_components w.
template <class E>
DIFFSIM_FUNCTION Pack shared_sum(const Vec3<Pack> (&w)[E::nodes]) {
  Pack sum = 0.0;
  for (int a = 0; a < E::nodes; ++a) sum += Pack(E::mass_share(a)) * (w[a][0] + w[a][1] + w[a][2]);
  return sum;
}

template <class E>
struct DensityGradient {
  DeviceArray<int> vertices;
  const double* rest;
  const double* w;
  double* gradient;
  int num_cells;

  KOKKOS_INLINE_FUNCTION void operator()(int pack) const {
    Vec3<Pack> X[E::nodes], weights[E::nodes];
    const int* const v = &vertices(E::nodes * pack_width * pack);
    gather_nodes(v, rest, X);
    gather_nodes(v, w, weights);
    const Pack sum = volume_of<E>(X) * shared_sum<E>(weights);
    add_to_cells(sum, pack, num_cells, gradient);
  }
};

template <class E>
struct RestGradient {
  const double* density;
  const double* rest;
  const double* w;
  int num_cells;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> X[E::nodes], weights[E::nodes], Y[4], y[4];
    gather_nodes(vertices, rest, X);
    gather_nodes(vertices, w, weights);
    const Pack scale = gather_cells(density, pack, num_cells) * shared_sum<E>(weights) * Pack(1.0 / 6.0 / E::points);
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = 0.0;
    for (int q = 0; q < E::points; ++q) {
      E::corners(q, X, Y);
      edges_adjoint(scale * cofactor(edges_of(Y)), y);
      E::add_corners_adjoint(q, y, value);
    }
  }
};

}  // namespace

struct Lumping::Implementation {
  explicit Implementation(const TetrahedralMesh& of) : mesh(&of), nodes(of.nodes_per_cell()) {}

  template <class E>
  void add(const Field& density, const Field& rest, const Field* density_tangent, const Field* rest_tangent,
           bool tangent, Field& sums) const {
    const CellScatter& scatter = mesh->scatter();
    for_each_cell<E::nodes>("diffsim::mesh::lumping", scatter, sums.data(),
                            Sums<E>{density.data(), rest.data(), density_tangent ? density_tangent->data() : nullptr,
                                    rest_tangent ? rest_tangent->data() : nullptr, scatter.num_cells(), tangent});
  }

  template <class E>
  void add_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                   Field* rest_gradient) const {
    const CellScatter& scatter = mesh->scatter();
    if (density_gradient)
      Kokkos::parallel_for("diffsim::mesh::lumping_density", Range(0, scatter.num_packs()),
                           DensityGradient<E>{scatter.data().vertices, rest.data(), w.data(), density_gradient->data(),
                                              scatter.num_cells()});
    Kokkos::fence();
    if (rest_gradient)
      for_each_cell<E::nodes>("diffsim::mesh::lumping_rest", scatter, rest_gradient->data(),
                              RestGradient<E>{density.data(), rest.data(), w.data(), scatter.num_cells()});
  }

  const TetrahedralMesh* mesh;
  int nodes;
};

Lumping::Lumping(const TetrahedralMesh& mesh) : implementation_(std::make_unique<Implementation>(mesh)) {}
Lumping::~Lumping() = default;
Lumping::Lumping(Lumping&&) noexcept = default;

void Lumping::add_sums(const Field& density, const Field& rest, Field& sums) const {
  if (implementation_->nodes == Tet10::nodes)
    implementation_->add<Tet10>(density, rest, nullptr, nullptr, false, sums);
  else
    implementation_->add<Tet4>(density, rest, nullptr, nullptr, false, sums);
}

void Lumping::add_sums_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                               const Field* rest_tangent, Field& sums_tangent) const {
  if (implementation_->nodes == Tet10::nodes)
    implementation_->add<Tet10>(density, rest, density_tangent, rest_tangent, true, sums_tangent);
  else
    implementation_->add<Tet4>(density, rest, density_tangent, rest_tangent, true, sums_tangent);
}

void Lumping::add_sums_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                               Field* rest_gradient) const {
  if (implementation_->nodes == Tet10::nodes)
    implementation_->add_adjoint<Tet10>(density, rest, w, density_gradient, rest_gradient);
  else
    implementation_->add_adjoint<Tet4>(density, rest, w, density_gradient, rest_gradient);
}

}  // namespace diffsim
