// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/dynamics/mesh_model.hpp"

namespace diffsim {

/// Explicit dynamics of a mesh under a sum of force terms.
///
/// A step of dt is `substeps` times, with h = dt/substeps, lumped masses M, damping d and gravity g:
///
///   v ← m d (v + h (M⁻¹ f(x, v) + g)),   x ← x + h v
///
/// m is 0 for fixed components of vertices and 1 elsewhere, so gradients flow through everything but those. Vertices
/// that are moved follow their motion over each h.
///
/// Reversible, positions and velocities are whole multiples of powers of two, about 2⁻⁴⁸ of the mesh's extent and
/// 2⁻⁵² of that per substep, and so are their increments: sums are exact (src/dynamics/euler_update.hpp). Derivatives
/// are those of the motion without this rounding, at the states with it. Not with damping other than 1, contact, forces
/// that depend on velocities, or prescribed motions.
///
/// Parameters of its own, besides MeshModel's: `damping` [1].
class SymplecticEuler : public MeshModel {
 public:
  SymplecticEuler(std::shared_ptr<const TetrahedralMesh> mesh, double dt, int substeps);
  ~SymplecticEuler() override;

  int substeps() const { return substeps_; }

  /// The largest h = dt/substeps that small motions about rest are sure to stay stable with, s: `safety` times the
  /// largest h with h² κ + 2 h γ ≤ 4, κ = max_i (Σ_e λ_e)_i / m_i, λ_e the largest eigenvalue of each element's
  /// stiffness at vertex i, and γ likewise of the terms' damping. Needs `prepare`. Collective.
  double stable_substep(double safety = 0.8);

  void prepare() override;
  void set_reversible(bool wanted) override;
  void step_back(int n, State& state, Record& record) override;
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override;
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override;

 private:
  struct Workspace;
  /// Substep s of `step_tangent`; copies of dx are up to date before and after.
  void substep_tangent(int n, int s, const Record& record, const ParameterSet& direction, State& tangent);
  double largest_rate(void (ForceTerm::*add_bound)(const ParameterSet&, Field&));
  void require_valid(int n);
  /// Throws the same Error on every rank if a vertex is beyond the grid of reversible steps. Collective.
  void require_on_grid(int n);
  void require_reversible() const;
  /// Throws the same Error on every rank if substep s passes through something. Collective.
  void require_free(const Configuration& from, const Configuration& to, int s);
  /// "the substep, dt/substeps = 0.01 s, exceeds 0.002 s, below which motions about rest are stable".
  std::string exceeds(double stable) const;
  /// "dt: 0.002, or substeps: 5".
  std::string stable_choice(double stable) const;
  /// s, at the beginning of a substep.
  double time_of(int n, int s) const { return dt() * (n + static_cast<double>(s) / substeps_); }

  int substeps_;
  std::unique_ptr<Workspace> work_;
  bool reversible_ = false;
  bool records_velocities_ = false;  // the derivatives by damping, or of forces that depend on velocities, need them
};

}  // namespace diffsim
