// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/dynamics/system.hpp"
#include "mesh/directors.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/statics_testing.hpp"

/// Rods for tests: lines of n segments, equilibria, and the stability of these equilibria. Meshes are on one rank.
namespace diffsim::testing_rod {

/// Stiffnesses of a cross-section and other parameters of the model `beam`.
using Beam = std::map<std::string, double>;

/// Parameters of a beam with given stiffnesses, 1 kg/m; the default EA makes the beam nearly inextensible.
inline Beam beam(double EI1, double EI2, double GJ, double EA = 1e7) {
  return {{"beam_axial_stiffness", EA},
          {"beam_bending_stiffness1", EI1},
          {"beam_bending_stiffness2", EI2},
          {"beam_torsional_stiffness", GJ},
          {"beam_density", 1.0},
          {"beam_rotary_inertia", 1e-4}};
}

/// Mesh of n segments through place(0) … place(n), or a closed mesh through place(0) … place(n - 1). Regions: `start`
/// and `end` are the first and the last vertex, `last` the last two vertices. `is_turned`: directors are rotated by a
/// right angle about their segments.
inline std::shared_ptr<TetrahedralMesh> line(int n, const std::function<Point(int)>& place,
                                             const std::optional<Point>& director = {}, bool is_closed = false,
                                             bool is_turned = false) {
  std::vector<Point> points;
  std::vector<std::array<std::int64_t, 2>> ends;
  const int num = is_closed ? n : n + 1;
  for (int i = 0; i < num; ++i) points.push_back(place(i));
  for (std::int64_t i = 0; i < n; ++i) ends.push_back({i, (i + 1) % num});
  MeshData data = testing_spring::segments(MPI_COMM_SELF, points, ends);
  add_directors(MPI_COMM_SELF, data, director);
  for (std::size_t s = 0; is_turned && s < ends.size(); ++s) {
    const auto at = [&](std::int64_t v) {
      const double* const x = &data.coordinates[3 * static_cast<std::size_t>(v)];
      return Vec3<double>{{x[0], x[1], x[2]}};
    };
    const Vec3<double> e = at(ends[s][1]) - at(ends[s][0]);
    const Vec3<double> turned = cross(e, at(num + static_cast<std::int64_t>(s)));
    for (int c = 0; c < 3; ++c)
      data.coordinates[3 * (static_cast<std::size_t>(num) + s) + static_cast<std::size_t>(c)] =
          turned[c] / std::sqrt(dot(e, e));
  }
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, std::move(data));
  mesh->define_region("start", VertexList{{0}});
  mesh->define_region("end", VertexList{{num - 1}});
  mesh->define_region("last", VertexList{{num - 2, num - 1}});
  return mesh;
}

/// Makes a scene for equilibria without gravity; the loads grow over `steps` steps.
inline DifferentiableScene statics(std::shared_ptr<TetrahedralMesh> mesh, const Beam& values, int steps = 1) {
  DifferentiableMaterial material{"beam", {}, "all"};
  for (const auto& [name, value] : values) material.values[name] = value;
  DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static};
  options.implicit.ramp_steps = steps;
  return DifferentiableScene(std::move(mesh), {material}, options);
}

/// Local index of the vertex or director with the given index in the file. Throws std::out_of_range if there is none.
inline std::size_t local_of(const TetrahedralMesh& mesh, int number) {
  const auto& numbers = mesh.vertex_order().file_index();
  for (std::size_t v = 0; v < numbers.size(); ++v)
    if (numbers[v] == number) return v;
  throw std::out_of_range("no such vertex");
}
inline Point at(const TetrahedralMesh& mesh, const std::vector<double>& x, int number) {
  const std::size_t v = 3 * local_of(mesh, number);
  return {x[v], x[v + 1], x[v + 2]};
}

/// Adds a force on the last vertex, N.
inline void pull_end(DifferentiableScene& solver, const Point& force) {
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<double> load(3 * static_cast<std::size_t>(mesh.num_owned_vertices()), 0.0);
  for (const int v : mesh.region("end").vertices)
    for (std::size_t c = 0; c < 3; ++c) load[3 * static_cast<std::size_t>(v) + c] = force[c];
  solver.add_nodal_load(load);
}

/// Directions of displacements, [3 local vertices] each.
using Directions = std::vector<std::vector<double>>;

/// Unit directions of all components that are not fixed.
inline Directions free_components(const DifferentiableScene& of) {
  auto& solver = const_cast<DifferentiableScene&>(of);
  solver.system().prepare();
  const std::uint8_t* const fixed = solver.system().fixed();
  Directions directions;
  const auto size = 3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices());
  for (std::size_t i = 0; i < size; ++i) {
    if ((fixed[i / 3] >> (i % 3)) & 1) continue;
    directions.emplace_back(size, 0.0);
    directions.back()[i] = 1.0;
  }
  return directions;
}

/// Stiffness matrix -dᵢ·(∂f/∂x) dⱼ at x in the given directions, [n, n].
inline std::vector<double> stiffness(DifferentiableScene& solver, const std::vector<double>& x, const Directions& d) {
  System& system = solver.system();
  system.prepare();
  system.prepare_tangent({});
  Field position = system.local_field("x"), direction = system.local_field("dx"), change = system.local_field("df");
  position.from_host(x);
  const std::size_t n = d.size();
  std::vector<double> K(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    direction.from_host(d[j]);
    system.compute_force_tangent({position}, {direction}, {}, change);
    const std::vector<double> df = change.to_host();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < df.size(); ++k) K[i * n + j] -= d[i][k] * df[k];
  }
  return K;
}

/// Returns true if a symmetric matrix, [n, n], is positive definite (Cholesky factorisation).
inline bool is_positive(std::vector<double> A, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < k; ++j) A[k * n + k] -= A[k * n + j] * A[k * n + j];
    if (!(A[k * n + k] > 0.0)) return false;
    A[k * n + k] = std::sqrt(A[k * n + k]);
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = 0; j < k; ++j) A[i * n + k] -= A[i * n + j] * A[k * n + j];
      A[i * n + k] /= A[k * n + k];
    }
  }
  return true;
}

/// Largest load between `low` and `high` for which is_stable(load) is true, by bisection.
inline double critical_load(double low, double high, const std::function<bool(double)>& is_stable) {
  while (high - low > 1e-6 * high) {
    const double middle = 0.5 * (low + high);
    (is_stable(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace diffsim::testing_rod
