// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

namespace contact {
struct PlaneSums;
}

/// Which half-space, and how it moves.
struct PlaneShape {
  std::string label;
  std::array<double, 3> normal;    ///< to the body, at t = 0; any length but zero
  std::array<double, 3> axis{};    ///< that it turns about, of any length; zero: it does not turn
  std::array<double, 3> origin{};  ///< m, a point of the axis at t = 0, which travels with the plane
};

/// A half-space that a body cannot enter: E = κ Σ_i w_i ψ(φ_i², d̂) over the surface's vertices, w_i their rest areas,
/// φ_i = n·(x_i - p - t V) > 0. With an axis a, n = R(a, ω t) n_0 and φ_i = n·(x_i - o - t V) - n_0·(p - o). A body
/// whose vertices are outside is outside.
///
/// Parameters of its own, named after the label: `obstacle_position:LABEL` p [3], m, `obstacle_velocity:LABEL` V [3],
/// m/s, and of one that turns `obstacle_angular_velocity:LABEL` ω [1], rad/s.
class PlaneContact : public ContactTerm {
 public:
  /// `with_friction`: forces depend on velocities. Throws Error for a normal without direction. Collective.
  PlaneContact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane, bool with_friction);
  ~PlaneContact() override;

  std::string name() const override { return "contact with plane " + label_; }
  bool uses_velocities() const override { return with_friction_; }
  void prepare(const ParameterSet& parameters) override;
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override;

  double energy(const Configuration& at, const ParameterSet& parameters) override;
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override;
  bool has_symmetric_jacobian() const override { return !with_friction_; }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override;
  bool moves(int n, const ParameterSet& parameters) const override;
  double max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) override;
  std::string limiting() const override { return limiting_; }
  ContactState state(const Configuration& at, const ParameterSet& parameters) override;
  std::string intersecting() const override { return intersecting_; }

 private:
  struct Data;
  std::shared_ptr<const TetrahedralMesh> mesh_;
  std::string label_;
  bool with_friction_;
  std::string limiting_, intersecting_;
  void add_sums(const contact::PlaneSums& sums, int n, ParameterSet& gradient) const;
  std::string name_of(std::size_t i) const;   // of vertex i of the surface, and the plane
  const ParameterSet* parameters_ = nullptr;  // prepared with
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
