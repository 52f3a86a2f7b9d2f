// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscsys.h>
// petscblaslapack.h uses types of petscsys.h.
#include <petscblaslapack.h>

#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/dynamics/system.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/statics_testing.hpp"

/// Straight ropes for tests: equilibria, transverse stiffness, small vibrations. Meshes are on one rank.
namespace diffsim::testing_rope {

struct RopeValues {
  double bending = 1.0;    ///< EI, N m²; 0: no bending stiffness
  double density = 1.0;    ///< kg/m
  double stiffness = 1e7;  ///< EA, N; the default is nearly inextensible
};

/// A rope of length 1 m along a direction, fixed at its start. With a clamp, the first segment is fixed and begins half
/// a segment before the start, because a clamp acts in the middle of a fixed segment. Without a clamp, the first vertex
/// is fixed.
class Clamped {
 public:
  Clamped(int n, RopeValues values, std::array<double, 3> direction = {1.0, 0.0, 0.0}, bool clamp = true)
      : n_(n), values_(values), direction_(direction), clamp_(clamp) {
    const double h = clamp ? 1.0 / (n - 0.5) : 1.0 / n;
    for (int i = 0; i <= n; ++i)
      for (const double d : direction) rest_.push_back(d * (h * i - (clamp ? 0.5 * h : 0.0)));
  }

  double gravity = 0.0;                  ///< m/s², along -z
  std::array<double, 3> tip_force = {};  ///< N

  const std::vector<double>& rest() const { return rest_; }

  /// Positions in equilibrium, [n + 1, 3], under a load that grows over `steps` steps. `guided`: components that are
  /// fixed at all vertices.
  std::vector<double> equilibrium(int steps, std::array<bool, 3> guided = {}) const {
    DifferentiableScene solver = make(steps);
    if (guided != std::array<bool, 3>{}) solver.fix("all", guided);
    return in_order(*solver.mesh(), diffsim::equilibrium(solver, steps));
  }

  /// Stiffness matrix -∂f/∂x of the y components of the free vertices, [free, free].
  std::vector<double> stiffness_across(const std::vector<double>& x) const {
    DifferentiableScene solver = make(1);
    return stiffness_of(solver, x);
  }

  /// Squared angular frequencies ω² of transverse vibrations, ascending, (rad/s)².
  std::vector<double> squared_frequencies(const std::vector<double>& x) const;

 private:
  std::size_t first_free() const { return clamp_ ? 2 : 1; }
  std::size_t num_free() const { return static_cast<std::size_t>(n_) + 1 - first_free(); }

  DifferentiableScene make(int steps) const {
    std::vector<std::array<double, 3>> points;
    std::vector<std::array<std::int64_t, 2>> ends;
    for (std::size_t i = 0; i < rest_.size(); i += 3) points.push_back({rest_[i], rest_[i + 1], rest_[i + 2]});
    for (std::int64_t i = 0; i < n_; ++i) ends.push_back({i, i + 1});
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, testing_spring::segments(MPI_COMM_SELF, points, ends));
    std::vector<std::int64_t> held{0};
    if (clamp_) held.push_back(1);
    mesh->define_region("held", VertexList{held});
    DifferentiableMaterial rope{
        "rope", {{"rope_stiffness", values_.stiffness}, {"rope_density", values_.density}}, "all"};
    if (values_.bending > 0.0) rope.values["rope_bending"] = values_.bending;
    DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, -gravity}, .integrator = Integrator::quasi_static};
    options.implicit.ramp_steps = steps;
    DifferentiableScene solver(mesh, {rope}, options);
    solver.fix("held");
    std::vector<double> load(rest_.size(), 0.0);
    for (std::size_t c = 0; c < 3; ++c) load[3 * place(*mesh, n_) + c] = tip_force[c];
    solver.add_nodal_load(load);
    return solver;
  }

  static std::size_t place(const TetrahedralMesh& mesh, int vertex) {
    const auto& numbers = mesh.vertex_order().file_index();
    for (std::size_t v = 0; v < numbers.size(); ++v)
      if (numbers[v] == vertex) return v;
    throw std::out_of_range("no such vertex");
  }
  std::vector<double> in_order(const TetrahedralMesh& mesh, const std::vector<double>& local) const {
    std::vector<double> x(local.size());
    for (int i = 0; i <= n_; ++i)
      for (std::size_t c = 0; c < 3; ++c) x[3 * static_cast<std::size_t>(i) + c] = local[3 * place(mesh, i) + c];
    return x;
  }

  std::vector<double> stiffness_of(DifferentiableScene& solver, const std::vector<double>& x) const {
    System& system = solver.system();
    system.prepare();
    system.prepare_tangent({});
    const TetrahedralMesh& mesh = *solver.mesh();
    std::vector<std::size_t> places;
    for (int i = 0; i <= n_; ++i) places.push_back(place(mesh, i));
    Field at = system.local_field("x"), direction = system.local_field("dx"), change = system.local_field("df");
    std::vector<double> local(x.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) local[3 * places[i] + c] = x[3 * i + c];
    at.from_host(local);
    const std::size_t free = num_free();
    std::vector<double> K(free * free);
    for (std::size_t j = 0; j < free; ++j) {
      std::vector<double> unit(x.size(), 0.0);
      unit[3 * places[j + first_free()] + 1] = 1.0;
      direction.from_host(unit);
      system.compute_force_tangent({at}, {direction}, {}, change);
      const std::vector<double> df = change.to_host();
      for (std::size_t i = 0; i < free; ++i) K[i * free + j] = -df[3 * places[i + first_free()] + 1];
    }
    return K;
  }

  int n_;
  RopeValues values_;
  std::array<double, 3> direction_;
  bool clamp_;
  std::vector<double> rest_;
};

/// Eigenvalues of a symmetric matrix, ascending.
inline std::vector<double> eigenvalues(std::vector<double> A) {
  auto n = static_cast<PetscBLASInt>(std::lround(std::sqrt(static_cast<double>(A.size()))));
  std::vector<double> values(static_cast<std::size_t>(n)), work(values.size() * 3);
  auto length = static_cast<PetscBLASInt>(work.size());
  PetscBLASInt info = 0;
  LAPACKsyev_("N", "L", &n, A.data(), &n, values.data(), work.data(), &length, &info);
  if (info != 0) throw std::runtime_error("LAPACK's syev failed");
  return values;
}

inline std::vector<double> Clamped::squared_frequencies(const std::vector<double>& x) const {
  DifferentiableScene solver = make(1);
  std::vector<double> K = stiffness_of(solver, x);
  const std::vector<double> mass = solver.system().mass().to_host();
  const std::size_t free = num_free();
  for (std::size_t i = 0; i < free; ++i)
    for (std::size_t j = 0; j < free; ++j)
      K[i * free + j] /= std::sqrt(mass[place(*solver.mesh(), static_cast<int>(i + first_free()))] *
                                   mass[place(*solver.mesh(), static_cast<int>(j + first_free()))]);
  return eigenvalues(std::move(K));
}

}  // namespace diffsim::testing_rope
