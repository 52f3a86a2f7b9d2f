// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/dynamics/system.hpp"

namespace diffsim {

/// Reaction of a region: the force (N) that fixes or moves the region's vertices,
///
///   R_c = -Σ_v (f_vc(x_n, v_n, p) + m_v g_c) over the fixed or moved components c of the region's vertices v,
///
/// where f is the sum of all force terms, m is the mass and g is gravity. Parameters with one value per step, such as
/// loads, have the values of step n - 1, which computed state n. For n = 0, these parameters have the values of step 0.
/// Friction is evaluated at state n, even if time steps evaluate friction at the start of each step. The inertial force
/// m_v a_v of moved vertices is not included. Vertices of obstacles, which have no mass, count as fixed. The reaction
/// of an obstacle is therefore minus the sum of the contact forces on the obstacle.
class Reaction {
 public:
  /// Prepares `system`, which must outlive this object. `dt`: length of a time step (s). `ramp_steps`: value of
  /// ImplicitOptions::ramp_steps, or 0 for explicit steps. Throws Error (input) if no component of the region's
  /// vertices is fixed or moved. Collective. `DifferentiableScene::reaction` creates a Reaction with the values of a
  /// scene.
  Reaction(System& system, const Region& region, double dt, int ramp_steps = 0);

  const std::string& region() const { return region_; }
  MPI_Comm comm() const { return system_->comm(); }

  // The following functions evaluate R and its derivatives at state n. Each function requires that the system is
  // prepared, and is collective.

  /// Returns the reaction R (N) on every rank.
  std::array<double, 3> value(int n, const State& state);
  /// Returns the derivative of R along `tangent` (of the state) and `direction` (of the parameters) on every rank.
  /// Requires `System::prepare_tangent`.
  std::array<double, 3> tangent(int n, const State& state, const State& tangent, const ParameterSet& direction);
  /// Adds (∂R/∂x)ᵀ w and (∂R/∂v)ᵀ w to the owned entries of `adjoint`, and this rank's contribution to (∂R/∂p)ᵀ w to
  /// `gradient`. Adds the adjoint of the masses to `System::mass_gradient`.
  void add_adjoint(int n, const State& state, const std::array<double, 3>& w, State& adjoint, ParameterSet& gradient);
  /// Adds the derivatives, along `tangent`, `direction` and dw, of the products that `add_adjoint` adds.
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const std::array<double, 3>& w, const std::array<double, 3>& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent);

 private:
  /// Fixed or moved component c of an owned vertex of the region. `at` = 3 vertex + c; `weighs`: true if gravity acts
  /// on the vertex.
  struct Entry {
    int at;
    bool weighs;
    std::size_t component() const { return static_cast<std::size_t>(at % 3); }
    std::size_t vertex() const { return static_cast<std::size_t>(at / 3); }
  };
  struct Evaluation;

  std::array<double, 3> sum(const Field& force, const std::array<double, 3>& weight) const;
  std::array<double, 3> weights(const Field& mass, const std::array<double, 3>& w) const;
  static void add_to_gravity(const Configuration& at, const std::array<double, 3>& weight, ParameterSet& gradient);
  void add_to_masses(const std::array<double, 3>& vector, Field& mass_adjoint) const;
  Field seed(const std::array<double, 3>& w) const;

  System* system_;
  std::string region_;
  double dt_;
  int ramp_steps_;
  std::vector<Entry> entries_;
};

/// Half the mean squared distance to observed reactions R̂_n: 1/(2 |S|) Σ_{n∈S} |R_n - R̂_n|², in N². Components of
/// R̂_n that are NaN count as not observed and do not enter the sum. S is the set of steps with at least one observed
/// component.
class ReactionLoss : public Loss {
 public:
  /// `observed`: R̂_n (N) by step n. Throws Error (input) if no component is observed.
  ReactionLoss(Reaction reaction, std::map<int, std::array<double, 3>> observed);
  std::string unit() const override { return "N²"; }
  double num_observations() const override { return static_cast<double>(observed_.size()); }
  bool multiply(double factor) override;
  bool observes(int n) const override { return observed_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override;

 private:
  /// Returns R_n - R̂_n, with zeros in the components that are not observed.
  std::array<double, 3> residual(int n, const State& state);
  /// Returns `vector` with zeros in the components that are not observed in step n.
  std::array<double, 3> observed_part(int n, std::array<double, 3> vector) const;
  /// Returns `vector` multiplied by the factor of the loss and divided by |S|.
  std::array<double, 3> weighted(const std::array<double, 3>& vector) const;

  Reaction reaction_;
  std::map<int, std::array<double, 3>> observed_;
  double factor_ = 1.0;
};

}  // namespace diffsim
