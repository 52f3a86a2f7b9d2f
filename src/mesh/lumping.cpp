// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/lumping.hpp"

#include <array>
#include <cstddef>
#include <variant>

#include "diffsim/mesh/impl/cell_geometry_impl.hpp"

namespace diffsim {
namespace {

/// Returns the volumes of the cells of a pack: Σ_q weight(q) det(∂X/∂ξ).
template <class E>
DIFFSIM_FUNCTION Pack volume_of(const typename E::Rule& rule, const Vec3<Pack> (&X)[E::nodes]) {
  Pack volume = 0.0;
  Vec3<Pack> Y[4];
  for (int q = 0; q < E::Rule::num_points; ++q) {
    E::corners(rule, q, X, Y);
    volume += determinant(edges_of(Y)) * rule.weight(q);
  }
  return volume;
}

/// Kernel of the masses of cells: m = f ρ V, with the volume factor f, the density ρ and the volume V of the cell. If
/// `tangent` is true, the kernel computes the directional derivative f (dρ V + ρ dV) instead. The masses of the copies
/// that fill the last pack are 0.
template <class E>
struct CellMasses {
  typename E::Rule rule;
  DeviceArray<double> factors;
  DeviceArray<int> all;
  DeviceArray<double> masses;  // [packs, pack_width]
  const double* density;
  const double* rest;
  const double* density_tangent;  // dρ; nullptr if zero
  const double* rest_tangent;     // dX; nullptr if zero
  int num_cells;
  bool tangent;

  KOKKOS_INLINE_FUNCTION void operator()(int pack) const {
    const int* const vertices = &all(E::nodes * pack_width * pack);
    Vec3<Pack> X[E::nodes];
    gather_nodes(vertices, rest, X);
    const Pack factor = volume_factors(factors, pack, num_cells);
    const Pack rho = gather_cells(density, pack, num_cells) * factor;
    Pack sum = 0.0;
    if (!tangent) {
      sum = rho * volume_of<E>(rule, X);
    } else {
      if (density_tangent) sum += gather_cells(density_tangent, pack, num_cells) * factor * volume_of<E>(rule, X);
      if (rest_tangent) sum += rho * volume_tangent(vertices, X);
    }
    store(&masses(pack_width * pack), sum);
  }

  /// Returns the derivative of the volume along dX: dV = Σ_q weight(q) cof(∂X/∂ξ) : ∂dX/∂ξ.
  KOKKOS_INLINE_FUNCTION Pack volume_tangent(const int* vertices, const Vec3<Pack> (&X)[E::nodes]) const {
    Vec3<Pack> dX[E::nodes], Y[4], dY[4];
    gather_nodes(vertices, rest_tangent, dX);
    Pack sum = 0.0;
    for (int q = 0; q < E::Rule::num_points; ++q) {
      E::corners(rule, q, X, Y);
      E::corners(rule, q, dX, dY);
      sum += inner(cofactor(edges_of(Y)), edges_of(dY)) * rule.weight(q);
    }
    return sum;
  }
};

/// Returns Σ_a mass_share(a) (w_a,x + w_a,y + w_a,z) over the nodes a of a cell.
template <class E>
DIFFSIM_FUNCTION Pack shared_sum(const Vec3<Pack> (&w)[E::nodes]) {
  Pack sum = 0.0;
  for (int a = 0; a < E::nodes; ++a) sum += Pack(E::mass_share(a)) * (w[a][0] + w[a][1] + w[a][2]);
  return sum;
}

/// Kernel of the gradient with respect to the density: ρ̄ += f V shared_sum(w), with the volume factor f and the volume
/// V of the cell.
template <class E>
struct DensityGradient {
  typename E::Rule rule;
  DeviceArray<double> factors;
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
    const Pack sum = volume_factors(factors, pack, num_cells) * volume_of<E>(rule, X) * shared_sum<E>(weights);
    add_to_cells(sum, pack, num_cells, gradient);
  }
};

/// Kernel of the gradient with respect to the rest positions: X̄_a = f ρ shared_sum(w) ∂V/∂X_a, with the volume factor
/// f, the density ρ and the volume V of the cell.
template <class E>
struct RestGradient {
  typename E::Rule rule;
  DeviceArray<double> factors;
  const double* density;
  const double* rest;
  const double* w;
  int num_cells;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> X[E::nodes], weights[E::nodes], Y[4], y[4];
    gather_nodes(vertices, rest, X);
    gather_nodes(vertices, w, weights);
    const Pack scale =
        gather_cells(density, pack, num_cells) * volume_factors(factors, pack, num_cells) * shared_sum<E>(weights);
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = 0.0;
    for (int q = 0; q < E::Rule::num_points; ++q) {
      E::corners(rule, q, X, Y);
      edges_adjoint(scale * Pack(rule.weight(q)) * cofactor(edges_of(Y)), y);
      E::add_corners_adjoint(rule, q, y, value);
    }
  }
};

}  // namespace

struct Lumping::Implementation {
  explicit Implementation(const TetrahedralMesh& of)
      : mesh(&of), factors(to_device("diffsim::mesh::volume_factors", of.volume_factors())) {}

  template <class E>
  void add(const Field& density, const Field& rest, const Field* density_tangent, const Field* rest_tangent,
           bool tangent, Field& sums) const {
    const CellScatter& scatter = mesh->scatter();
    const auto masses = make_device_array<double>("diffsim::mesh::cell_masses",
                                                  static_cast<std::size_t>(pack_width * scatter.num_packs()));
    Kokkos::parallel_for("diffsim::mesh::lumping", Range(0, scatter.num_packs()),
                         CellMasses<E>{{},
                                       factors,
                                       scatter.data().vertices,
                                       masses,
                                       density.data(),
                                       rest.data(),
                                       density_tangent ? density_tangent->data() : nullptr,
                                       rest_tangent ? rest_tangent->data() : nullptr,
                                       scatter.num_cells(),
                                       tangent});
    Kokkos::fence();
    std::array<double, E::nodes> shares{};
    for (int a = 0; a < E::nodes; ++a) shares[static_cast<std::size_t>(a)] = E::mass_share(a);
    add_cell_values<E::nodes>("diffsim::mesh::lumping_sums", scatter, masses, shares, sums.data());
  }

  template <class E>
  void add_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                   Field* rest_gradient) const {
    const CellScatter& scatter = mesh->scatter();
    if (density_gradient)
      Kokkos::parallel_for("diffsim::mesh::lumping_density", Range(0, scatter.num_packs()),
                           DensityGradient<E>{{},
                                              factors,
                                              scatter.data().vertices,
                                              rest.data(),
                                              w.data(),
                                              density_gradient->data(),
                                              scatter.num_cells()});
    Kokkos::fence();
    if (rest_gradient)
      for_each_cell<E::nodes>("diffsim::mesh::lumping_rest", scatter, rest_gradient->data(),
                              RestGradient<E>{{}, factors, density.data(), rest.data(), w.data(), scatter.num_cells()});
  }

  const TetrahedralMesh* mesh;
  DeviceArray<double> factors;  // volume factors of the cells; empty if all are 1
};

Lumping::Lumping(const TetrahedralMesh& mesh) : implementation_(std::make_unique<Implementation>(mesh)) {}
Lumping::~Lumping() = default;
Lumping::Lumping(Lumping&&) noexcept = default;

void Lumping::add_sums(const Field& density, const Field& rest, Field& sums) const {
  std::visit([&](auto kind) { implementation_->add<decltype(kind)>(density, rest, nullptr, nullptr, false, sums); },
             element_of(*implementation_->mesh));
}

void Lumping::add_sums_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                               const Field* rest_tangent, Field& sums_tangent) const {
  std::visit(
      [&](auto kind) {
        implementation_->add<decltype(kind)>(density, rest, density_tangent, rest_tangent, true, sums_tangent);
      },
      element_of(*implementation_->mesh));
}

void Lumping::add_sums_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                               Field* rest_gradient) const {
  std::visit(
      [&](auto kind) {
        implementation_->add_adjoint<decltype(kind)>(density, rest, w, density_gradient, rest_gradient);
      },
      element_of(*implementation_->mesh));
}

}  // namespace diffsim
