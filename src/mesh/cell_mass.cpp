// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/cell_mass.hpp"

#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/stencil_kernels_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {
namespace {

/// Names of the parameters of the mass. `thickness` is empty if the thickness is not a parameter.
struct CellMassNames {
  std::string density, thickness;
};

/// Density, thickness (1 if thickness is not a parameter) and rest corners of a segment (N = 2) or a triangle (N = 3).
template <class T, int N>
struct Simplex {
  T density, thickness;
  Vec3<T> X[N];

  /// Returns the length of the segment or the area of the triangle.
  DIFFSIM_FUNCTION T measure() const {
    using std::sqrt;
    if constexpr (N == 2) {
      const Vec3<T> a = X[1] - X[0];
      return sqrt(dot(a, a));
    } else {
      const Vec3<T> normal = cross(X[1] - X[0], X[2] - X[0]);
      return 0.5 * sqrt(dot(normal, normal));
    }
  }
  /// Returns the mass at each corner: density × thickness × measure / N.
  DIFFSIM_FUNCTION T mass() const { return density * thickness * measure() / double(N); }
  /// Returns the derivatives of mass() with respect to the density, the thickness and the corners.
  DIFFSIM_FUNCTION Simplex gradient() const {
    const T size = measure(), factor = density * thickness / (double(N) * size);
    Simplex by;
    by.density = thickness * size / double(N);
    by.thickness = density * size / double(N);
    const Vec3<T> a = X[1] - X[0];
    if constexpr (N == 2) {
      for (int c = 0; c < 3; ++c) {
        by.X[1][c] = factor * a[c];
        by.X[0][c] = -by.X[1][c];
      }
    } else {
      const Vec3<T> b = X[2] - X[0], normal = cross(a, b), by_a = cross(b, normal), by_b = cross(normal, a);
      for (int c = 0; c < 3; ++c) {
        by.X[1][c] = 0.25 * factor * by_a[c];
        by.X[2][c] = 0.25 * factor * by_b[c];
        by.X[0][c] = -by.X[1][c] - by.X[2][c];
      }
    }
    return by;
  }
};

/// Pointers to the densities, thicknesses and rest positions of cells, or to a direction of these parameters. A null
/// pointer stands for zeros; a null pointer `thickness` stands for `default_thickness`.
template <int N>
struct Cells {
  DeviceArray<int> corners;
  const double *density, *thickness, *X;
  double default_thickness;

  DIFFSIM_FUNCTION Simplex<double, N> read(int i) const {
    Simplex<double, N> of;
    of.density = density ? density[i] : 0.0;
    of.thickness = thickness ? thickness[i] : default_thickness;
    for (int k = 0; k < 3 * N; ++k) of.X[k / 3][k % 3] = X ? X[place(i, k)] : 0.0;
    return of;
  }
  /// Returns the sum of the entries of `field` [local vertices, 3] over the corners of cell i and the three components.
  DIFFSIM_FUNCTION double sum_at(int i, const double* field) const {
    double sum = 0.0;
    for (int k = 0; k < 3 * N; ++k) sum += field[place(i, k)];
    return sum;
  }

 private:
  DIFFSIM_FUNCTION std::ptrdiff_t place(int i, int k) const {
    return 3 * static_cast<std::ptrdiff_t>(corners(N * i + k / 3)) + k % 3;
  }
};

/// Returns the values of `a` as Dual numbers with the derivatives `direction`.
template <int N>
DIFFSIM_FUNCTION Simplex<Dual<double, 1>, N> along(const Simplex<double, N>& a, const Simplex<double, N>& direction) {
  Simplex<Dual<double, 1>, N> result;
  result.density = diffsim::along(a.density, direction.density);
  result.thickness = diffsim::along(a.thickness, direction.thickness);
  for (int k = 0; k < 3 * N; ++k) result.X[k / 3][k % 3] = diffsim::along(a.X[k / 3][k % 3], direction.X[k / 3][k % 3]);
  return result;
}

/// Returns the device address of the parameter `name`, or nullptr if `set` does not contain the parameter.
template <class Set>
auto address(Set& set, std::string_view name) {
  auto* const found = set.find(name);
  return found ? found->field.data() : nullptr;
}

/// Adds number(i) to each of the three components of `to` at the corners of cell i.
template <int N, class Number>
void add_to_corners(int count, const stencil::Grouped& nodes, Field& to, const Number& number) {
  const auto vectors =
      make_zeroed_device_array<double>("diffsim::mesh::cell_masses", 3 * N * static_cast<std::size_t>(count));
  double* const rows = vectors.data();
  Kokkos::parallel_for(
      "diffsim::mesh::set_cell_masses", Range(0, count), KOKKOS_LAMBDA(int i) {
        const double mass = number(i);
        for (int k = 0; k < 3 * N; ++k) rows[3 * N * static_cast<std::ptrdiff_t>(i) + k] = mass;
      });
  stencil::add_vectors(nodes, rows, to.data());
}

/// Adds by(i), the derivatives with respect to the density, the thickness and the corners of cell i, to `gradient`.
template <int N, class By>
void add_to_gradient(int count, const stencil::Grouped& nodes, const CellMassNames& names, ParameterSet& gradient,
                     const By& by) {
  double* const density = address(gradient, names.density);
  double* const thickness = address(gradient, names.thickness);
  Parameter* const rest = gradient.find("rest_positions");
  const auto vectors =
      make_zeroed_device_array<double>("diffsim::mesh::cell_mass_derivatives", 3 * N * static_cast<std::size_t>(count));
  double* const rows = vectors.data();
  Kokkos::parallel_for(
      "diffsim::mesh::set_cell_mass_derivatives", Range(0, count), KOKKOS_LAMBDA(int i) {
        const Simplex<double, N> d = by(i);
        if (density) density[i] += d.density;
        if (thickness) thickness[i] += d.thickness;
        for (int k = 0; k < 3 * N; ++k) rows[3 * N * static_cast<std::ptrdiff_t>(i) + k] = d.X[k / 3][k % 3];
      });
  if (rest) stencil::add_vectors(nodes, rows, rest->field.data());
}

/// Functor that returns the mass at each corner of cell i: m = ρ t A/N, with the density ρ, the thickness t, and the
/// length or area A.
template <int N>
struct Masses {
  Cells<N> at;
  DIFFSIM_FUNCTION double operator()(int i) const { return at.read(i).mass(); }
};
/// Functor that returns dm, the derivative of the mass m of `Masses` along `direction`.
template <int N>
struct MassTangents {
  Cells<N> at, direction;
  DIFFSIM_FUNCTION double operator()(int i) const { return along(at.read(i), direction.read(i)).mass().derivative[0]; }
};
/// Functor that returns the derivatives ∂m/∂q Σ_kc w_kc with respect to q: the density, the thickness and the corners
/// of cell i. The sum is over the corners k and the components c, because m is added to each of these entries.
template <int N>
struct MassAdjoints {
  Cells<N> at;
  const double* w;
  DIFFSIM_FUNCTION Simplex<double, N> operator()(int i) const {
    Simplex<double, N> by = at.read(i).gradient();
    const double sum = at.sum_at(i, w);
    by.density *= sum;
    by.thickness *= sum;
    for (int k = 0; k < 3 * N; ++k) by.X[k / 3][k % 3] *= sum;
    return by;
  }
};
/// Functor that returns the derivatives of the results of `MassAdjoints` along a direction in which the parameters
/// change by `direction` and w changes by `dw`: d(∂m/∂q) Σ w_kc + ∂m/∂q Σ dw_kc.
template <int N>
struct MassAdjointTangents {
  Cells<N> at, direction;
  const double *w, *dw;
  DIFFSIM_FUNCTION Simplex<double, N> operator()(int i) const {
    const auto by = along(at.read(i), direction.read(i)).gradient();
    const Dual<double, 1> sum = diffsim::along(at.sum_at(i, w), at.sum_at(i, dw));
    Simplex<double, N> change;
    change.density = (by.density * sum).derivative[0];
    change.thickness = (by.thickness * sum).derivative[0];
    for (int k = 0; k < 3 * N; ++k) change.X[k / 3][k % 3] = (by.X[k / 3][k % 3] * sum).derivative[0];
    return change;
  }
};

template <int N>
class CellMass : public Inertia {
 public:
  CellMass(const LowerCellSet& cells, std::string name, CellMassNames names)
      : name_(std::move(name)),
        names_(std::move(names)),
        count_(cells.num()),
        corners_(to_device("diffsim::mesh::corners", cells.vertices)),
        nodes_(stencil::grouped(cells.vertices)) {}

  std::string name() const override { return name_; }
  bool depends_on(const ParameterSet& set) const override {
    return set.find(names_.density) || set.find(names_.thickness) || set.find("rest_positions");
  }

  void add_mass(const ParameterSet& parameters, Field& mass) const override {
    add_to_corners<N>(count_, nodes_, mass, Masses<N>{values(parameters)});
  }
  void add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                        Field& mass_tangent) const override {
    add_to_corners<N>(count_, nodes_, mass_tangent, MassTangents<N>{values(parameters), directions(direction)});
  }
  void add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                        ParameterSet& gradient) const override {
    add_to_gradient<N>(count_, nodes_, names_, gradient, MassAdjoints<N>{values(parameters), mass_adjoint.data()});
  }
  void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                const Field& mass_adjoint, const Field& mass_adjoint_tangent,
                                ParameterSet& gradient_tangent) const override {
    add_to_gradient<N>(count_, nodes_, names_, gradient_tangent,
                       MassAdjointTangents<N>{values(parameters), directions(direction), mass_adjoint.data(),
                                              mass_adjoint_tangent.data()});
  }

 private:
  Cells<N> values(const ParameterSet& set) const { return cells(set, 1.0); }
  Cells<N> directions(const ParameterSet& set) const { return cells(set, 0.0); }
  Cells<N> cells(const ParameterSet& set, double default_thickness) const {
    return {corners_, address(set, names_.density), address(set, names_.thickness), address(set, "rest_positions"),
            default_thickness};
  }

  std::string name_;
  CellMassNames names_;
  int count_;
  DeviceArray<int> corners_;  // [count, N]
  stencil::Grouped nodes_;    // corners grouped by vertex
};

}  // namespace

std::unique_ptr<Inertia> make_cell_mass(const TetrahedralMesh& mesh, CellKind kind, std::string_view density,
                                        std::string_view thickness) {
  const LowerCellSet& cells = mesh.lower_cells(kind);
  std::string name = std::string("mass of ") + name_of(kind);
  switch (kind) {
    case CellKind::segment:
      return std::make_unique<CellMass<2>>(cells, std::move(name),
                                           CellMassNames{std::string(density), std::string(thickness)});
    case CellKind::triangle:
      return std::make_unique<CellMass<3>>(cells, std::move(name),
                                           CellMassNames{std::string(density), std::string(thickness)});
    default:
      throw Error("cell masses are defined for segments and triangles, not for " + std::string(name_of(kind)));
  }
}

}  // namespace diffsim
