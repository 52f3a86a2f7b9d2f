// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/model.hpp"
#include "diffsim/dynamics/lumped_mass.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Explicit dynamics of a mesh under a sum of force terms.
///
/// A step of dt is `substeps` times, with h = dt/substeps, lumped masses M, damping d and gravity g:
///
///   v ← m d (v + h (M⁻¹ f(x) + g)),   x ← x + h v
///
/// m is 0 for fixed components of vertices and 1 elsewhere, so gradients flow through everything but those.
///
/// State: `positions` [local vertices, 3], m; `velocities` [owned vertices, 3], m/s. Parameters of its own: `density`
/// (cell), kg/m³; `gravity` [3], m/s²; `damping` [1]; those of the terms are added by whoever adds the terms.
class SymplecticEuler : public Model {
 public:
  SymplecticEuler(std::shared_ptr<const TetrahedralMesh> mesh, double dt, int substeps);
  ~SymplecticEuler() override;

  void add_term(std::unique_ptr<ForceTerm> term);
  /// Fixes the components `axes` of local vertices where they are.
  void fix(const std::vector<int>& vertices, std::array<bool, 3> axes);

  const TetrahedralMesh& mesh() const { return *mesh_; }
  double dt() const { return dt_; }
  int substeps() const { return substeps_; }
  const std::vector<std::unique_ptr<ForceTerm>>& terms() const { return terms_; }

  /// The largest h = dt/substeps that small motions about rest are sure to stay stable with, s: `safety`·2/ω with ω² ≤ max_i
  /// (Σ_e λ_e)_i / m_i, λ_e the largest eigenvalue of each element at vertex i. Needs `prepare`. Collective.
  double stable_substep(double safety = 0.8);
  /// Σ ½ m v², J, over all ranks. Collective.
  double kinetic_energy(const State& state) const;
  /// Σ of the terms' energies less gravity's work from rest, J, over all ranks. Collective.
  double potential_energy(const State& state, int n = 0);
  /// Lumped masses of the owned vertices, kg.
  const Field& mass() const { return mass_.mass(); }

  MPI_Comm comm() const override { return mesh_->comm(); }
  State make_state() const override;
  void synchronise(State& state) const override { mesh_->halo().copy_to_ghosts(state["positions"]); }
  using Model::parameters;
  ParameterSet& parameters() override { return parameters_; }
  void prepare() override;
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(ParameterSet& gradient) override;
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override;
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;

 private:
  struct Workspace;
  void compute_force(const Field& positions, int n, Field& force, std::int32_t* invalid_cell);
  void require_valid(int n);

  std::shared_ptr<const TetrahedralMesh> mesh_;
  double dt_;
  int substeps_;
  std::vector<std::unique_ptr<ForceTerm>> terms_;
  ParameterSet parameters_;
  LumpedMass mass_;
  std::unique_ptr<Workspace> work_;
  bool records_velocities_ = false;  // the derivative by damping needs them
};

}  // namespace diffsim
