// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/shell/area_mass.hpp"

#include <cmath>

#include "diffsim/core/dual.hpp"
#include "diffsim/core/loops_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/shell/parameters.hpp"

namespace diffsim {
namespace {

/// Density and corners at rest of a triangle.
template <class T>
struct Triangle {
  T density;
  Vec3<T> X[3];

  /// Mass at each corner, ρ A/3 with the area A.
  DIFFSIM_FUNCTION T mass() const {
    using std::sqrt;
    const Vec3<T> normal = cross(X[1] - X[0], X[2] - X[0]);
    return density * sqrt(dot(normal, normal)) / 6.0;
  }
  /// Derivatives of the mass at each corner.
  DIFFSIM_FUNCTION Triangle gradient() const {
    using std::sqrt;
    const Vec3<T> a = X[1] - X[0], b = X[2] - X[0], normal = cross(a, b);
    const T length = sqrt(dot(normal, normal)), factor = density / (6.0 * length);
    const Vec3<T> by_a = cross(b, normal), by_b = cross(normal, a);
    Triangle by;
    by.density = length / 6.0;
    for (int c = 0; c < 3; ++c) {
      by.X[1][c] = factor * by_a[c];
      by.X[2][c] = factor * by_b[c];
      by.X[0][c] = -by.X[1][c] - by.X[2][c];
    }
    return by;
  }
};

/// Addresses of densities and places at rest, or of their derivatives; zero without an address.
struct Triangles {
  DeviceArray<int> corners;
  const double *density, *X;

  DIFFSIM_FUNCTION Triangle<double> read(int i) const {
    Triangle<double> of;
    of.density = density ? density[i] : 0.0;
    for (int k = 0; k < 9; ++k) of.X[k / 3][k % 3] = X ? X[place(i, k)] : 0.0;
    return of;
  }
  /// Σ of the components of a field, [local vertices, 3], at the triangle's corners.
  DIFFSIM_FUNCTION double sum_at(int i, const double* field) const {
    double sum = 0.0;
    for (int k = 0; k < 9; ++k) sum += field[place(i, k)];
    return sum;
  }

 private:
  DIFFSIM_FUNCTION std::ptrdiff_t place(int i, int k) const {
    return 3 * static_cast<std::ptrdiff_t>(corners(3 * i + k / 3)) + k % 3;
  }
};

DIFFSIM_FUNCTION Triangle<Dual<double, 1>> along(const Triangle<double>& a, const Triangle<double>& direction) {
  Triangle<Dual<double, 1>> result;
  result.density = diffsim::along(a.density, direction.density);
  for (int k = 0; k < 9; ++k) result.X[k / 3][k % 3] = diffsim::along(a.X[k / 3][k % 3], direction.X[k / 3][k % 3]);
  return result;
}

template <class Set>
auto address(Set& set, std::string_view name) {
  auto* const found = set.find(name);
  return found ? found->field.data() : nullptr;
}
template <class Set>
Triangles triangles(const DeviceArray<int>& corners, Set& set) {
  return {corners, address(set, ClothParameters::density.name), address(set, "rest_positions")};
}

/// Adds number(i) to each component at the corners of triangle i.
template <class Number>
void add_to_corners(int count, const stencil::Grouped& nodes, Field& to, const Number& number) {
  const auto vectors = make_zeroed_device_array<double>("diffsim::shell::masses", 9 * static_cast<std::size_t>(count));
  double* const rows = vectors.data();
  for_each_index(
      "diffsim::shell::set_masses", count, KOKKOS_LAMBDA(int i) {
        const double mass = number(i);
        for (int k = 0; k < 9; ++k) rows[9 * static_cast<std::ptrdiff_t>(i) + k] = mass;
      });
  stencil::add_vectors(nodes, rows, to.data());
}

/// Adds by(i), derivatives by density and corners of triangle i, to a gradient.
template <class By>
void add_to_gradient(int count, const stencil::Grouped& nodes, ParameterSet& gradient, const By& by) {
  double* const density = address(gradient, ClothParameters::density.name);
  Parameter* const rest = gradient.find("rest_positions");
  const auto vectors =
      make_zeroed_device_array<double>("diffsim::shell::mass_derivatives", 9 * static_cast<std::size_t>(count));
  double* const rows = vectors.data();
  for_each_index(
      "diffsim::shell::set_mass_derivatives", count, KOKKOS_LAMBDA(int i) {
        const Triangle<double> d = by(i);
        if (density) density[i] += d.density;
        for (int k = 0; k < 9; ++k) rows[9 * static_cast<std::ptrdiff_t>(i) + k] = d.X[k / 3][k % 3];
      });
  if (rest) stencil::add_vectors(nodes, rows, rest->field.data());
}

struct Masses {
  Triangles at;
  DIFFSIM_FUNCTION double operator()(int i) const { return at.read(i).mass(); }
};
struct MassTangents {
  Triangles at, direction;
  DIFFSIM_FUNCTION double operator()(int i) const { return along(at.read(i), direction.read(i)).mass().derivative[0]; }
};
struct MassAdjoints {
  Triangles at;
  const double* w;
  DIFFSIM_FUNCTION Triangle<double> operator()(int i) const {
    Triangle<double> by = at.read(i).gradient();
    const double sum = at.sum_at(i, w);
    by.density *= sum;
    for (int k = 0; k < 9; ++k) by.X[k / 3][k % 3] *= sum;
    return by;
  }
};
struct MassAdjointTangents {
  Triangles at, direction;
  const double *w, *dw;
  DIFFSIM_FUNCTION Triangle<double> operator()(int i) const {
    const auto by = along(at.read(i), direction.read(i)).gradient();
    const Dual<double, 1> sum = diffsim::along(at.sum_at(i, w), at.sum_at(i, dw));
    Triangle<double> change;
    change.density = (by.density * sum).derivative[0];
    for (int k = 0; k < 9; ++k) change.X[k / 3][k % 3] = (by.X[k / 3][k % 3] * sum).derivative[0];
    return change;
  }
};

}  // namespace

AreaMass::AreaMass(const TetrahedralMesh& mesh)
    : count_(static_cast<int>(mesh.lower_cells(CellKind::triangle).entities->local())),
      corners_(to_device("diffsim::shell::corners", mesh.lower_cells(CellKind::triangle).vertices)),
      nodes_(stencil::grouped(mesh.lower_cells(CellKind::triangle).vertices)) {}

bool AreaMass::depends_on(const ParameterSet& set) const {
  return set.find(ClothParameters::density.name) || set.find("rest_positions");
}

void AreaMass::add_mass(const ParameterSet& parameters, Field& mass) const {
  add_to_corners(count_, nodes_, mass, Masses{triangles(corners_, parameters)});
}

void AreaMass::add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                Field& mass_tangent) const {
  add_to_corners(count_, nodes_, mass_tangent,
                 MassTangents{triangles(corners_, parameters), triangles(corners_, direction)});
}

void AreaMass::add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                                ParameterSet& gradient) const {
  add_to_gradient(count_, nodes_, gradient, MassAdjoints{triangles(corners_, parameters), mass_adjoint.data()});
}

void AreaMass::add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                        const Field& mass_adjoint, const Field& mass_adjoint_tangent,
                                        ParameterSet& gradient_tangent) const {
  add_to_gradient(count_, nodes_, gradient_tangent,
                  MassAdjointTangents{triangles(corners_, parameters), triangles(corners_, direction),
                                      mass_adjoint.data(), mass_adjoint_tangent.data()});
}

}  // namespace diffsim
