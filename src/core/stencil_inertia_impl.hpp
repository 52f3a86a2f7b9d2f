// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/inertia.hpp"
#include "diffsim/core/impl/stencil_nodes_impl.hpp"

namespace diffsim {

namespace stencil {

/// Returns Σ_a w_a m_a with the weights w_a = `w[a]` and the masses m_a of the stencil's nodes a.
template <class F, class T, class W>
DIFFSIM_FUNCTION T weighted_mass(const F& f, const Values<F, T>& at, const W (&w)[F::num_nodes]) {
  T m[F::num_nodes], sum(0.0);
  f.masses(at, m);
  for (int a = 0; a < F::num_nodes; ++a) sum += m[a] * w[a];
  return sum;
}

/// Functor that computes the masses m_a of the nodes a of a stencil. Sets all three components of each node a in the
/// array `row` to m_a.
template <class F>
struct Masses {
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int, const Values<F>& at, double* row) const {
    double m[F::num_nodes];
    sweep.force.masses(at, m);
    for (int k = 0; k < 3 * F::num_nodes; ++k) row[k] = m[k / 3];
  }
};
/// Functor that computes the directional derivatives dm_a = ∂m_a/∂X dX + ∂m_a/∂p dp of the masses m_a of a stencil's
/// nodes a, with the rest positions X of the nodes, the parameter values p, and dX and dp from `direction`. Sets all
/// three components of each node a in the array `row` to dm_a.
template <class F>
struct MassTangents {
  Addresses<F::num_values> direction;
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int i, const Values<F>& at, double* row) const {
    Dual<double, 1> m[F::num_nodes];
    sweep.force.masses(combined(at, read(sweep, direction, i), point::Along()), m);
    for (int k = 0; k < 3 * F::num_nodes; ++k) row[k] = m[k / 3].derivative[0];
  }
};
/// Sets sum[a] to the sum of the three components of `field`, [local vertices, 3], at node a of stencil i, or to zero
/// if `field` is nullptr.
template <class F>
DIFFSIM_FUNCTION void sums_at(const Sweep<F>& sweep, int i, const double* field, double (&sum)[F::num_nodes]) {
  Vectors<F> vectors;
  read_nodes(sweep, i, field, vectors);
  for (int a = 0; a < F::num_nodes; ++a) sum[a] = vectors[a][0] + vectors[a][1] + vectors[a][2];
}
/// Functor that computes the derivatives of Σ_a w_a·(m_a, m_a, m_a) with respect to the rest positions X and the
/// parameter values p of a stencil. m_a is the mass of node a. w_a is the vector at node a in the field `w`, [local
/// vertices, 3].
template <class F>
struct MassAdjoints {
  const double* w;
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int i, const Values<F>& at, double* row) const {
    constexpr int n = Inputs<F>::count;
    double sums[F::num_nodes];
    sums_at(sweep, i, w, sums);
    const Dual<double, n> sum = weighted_mass(sweep.force, combined(at, Varied<n, InputAt<F>>{0}), sums);
    for (int k = 0; k < n; ++k) row[k] = sum.derivative[k];
  }
};
/// Functor that computes the derivatives of the results of the functor MassAdjoints along a direction in which the rest
/// positions X and the parameter values p change by `direction` and the field `w` changes by `dw`.
template <class F>
struct MassAdjointTangents {
  Addresses<F::num_values> direction;
  const double *w, *dw;
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int i, const Values<F>& at, double* row) const {
    constexpr int n = Inputs<F>::count;
    using Scalar = Dual<Dual<double, 1>, n>;
    double sums[F::num_nodes], changes[F::num_nodes];
    sums_at(sweep, i, w, sums);
    sums_at(sweep, i, dw, changes);
    Scalar weights[F::num_nodes];
    for (int a = 0; a < F::num_nodes; ++a) weights[a] = Scalar::constant(along(sums[a], changes[a]));
    const Scalar sum =
        weighted_mass(sweep.force, combined(at, read(sweep, direction, i), VariedAlong<n, InputAt<F>>{{0}}), weights);
    for (int k = 0; k < n; ++k) row[k] = sum.derivative[k].derivative[0];
  }
};

}  // namespace stencil

/// Inertia of stencils. The masses of a stencil's nodes are functions of the rest positions of these nodes and of
/// parameters. The template argument F is a struct without data members; kernels construct an object F(). The struct F
/// has the members
///
///   static constexpr int num_nodes, num_values   nodes per stencil; total number of parameter values p of a stencil
///   static constexpr bool uses_rest = true       the masses depend on the rest positions X
///   void masses(const StencilValues<T, num_nodes, num_values>&, T (&m)[num_nodes]) const
///                                                sets m to the masses of the nodes (kg), computed from X and p; a
///                                                template of the scalar type T, marked DIFFSIM_FUNCTION
///
/// Derivatives of the masses are computed by automatic differentiation with Dual numbers. Parameters have one value for
/// all stencils or one value per entity, as in StencilTerm.
template <class F>
class StencilInertia : public Inertia {
  static constexpr int N = F::num_nodes, P = F::num_values;

 public:
  /// Constructs the inertia. `vertices`: local vertices of the nodes of each stencil, [stencils, nodes per stencil].
  /// Stencil i has the parameter values of entity `entities[i]`. `entities`: [stencils], without repetitions.
  /// `num_entities`: number of this rank's entities that have parameter values.
  StencilInertia(std::string name, std::vector<PointParameter> parameters, const std::vector<int>& vertices,
                 const std::vector<int>& entities, int num_entities)
      : parameters_(parameters),
        takes_(std::move(name), std::move(parameters)),
        count_(static_cast<int>(vertices.size()) / N),
        num_entities_(num_entities),
        entities_(to_device("diffsim::core::mass_entities", entities)) {
    nodes_.set(vertices);
  }

  std::string name() const override { return takes_.term(); }
  bool depends_on(const ParameterSet& set) const override {
    for (const PointParameter& parameter : parameters_)
      if (set.find(parameter.name)) return true;
    return set.find("rest_positions") != nullptr;
  }

  void add_mass(const ParameterSet& parameters, Field& mass) const override {
    takes_.check(
        parameters, [&](const Entities& on) { return static_cast<int>(on.local()) == num_entities_; },
        "each of " + std::to_string(num_entities_));
    add_vectors("diffsim::core::masses", sweep(parameters, mass), stencil::Masses<F>(), mass);
  }
  void add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                        Field& mass_tangent) const override {
    add_vectors("diffsim::core::mass_tangents", sweep(parameters, mass_tangent),
                stencil::MassTangents<F>{addresses(direction, mass_tangent)}, mass_tangent);
  }
  void add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                        ParameterSet& gradient) const override {
    add_derivatives("diffsim::core::mass_adjoint", parameters, stencil::MassAdjoints<F>{mass_adjoint.data()},
                    mass_adjoint, gradient);
  }
  void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                const Field& mass_adjoint, const Field& mass_adjoint_tangent,
                                ParameterSet& gradient_tangent) const override {
    add_derivatives("diffsim::core::mass_adjoint_tangent", parameters,
                    stencil::MassAdjointTangents<F>{addresses(direction, mass_adjoint), mass_adjoint.data(),
                                                    mass_adjoint_tangent.data()},
                    mass_adjoint, gradient_tangent);
  }

 private:
  /// Returns the device addresses of the rest positions and parameter values in `set`. `field`: any field on the
  /// vertices; the function passes `field` to a Configuration in place of positions, and no values of `field` are read.
  /// For parameters with a value for each time step, the value of time step 0 is used.
  stencil::Addresses<P> addresses(const ParameterSet& set, const Field& field) const {
    return {nullptr, nullptr, set.data("rest_positions"), takes_.template numbers<const double>(set, {field}), 0.0};
  }
  stencil::Sweep<F> sweep(const ParameterSet& set, const Field& field) const {
    return {F(), count_, nodes_.vertices(), entities_, addresses(set, field)};
  }
  template <class Each>
  void add_vectors(const char* label, const stencil::Sweep<F>& sweep, const Each& each, Field& to) const {
    nodes_.add_vectors(label, sweep, each, to.data());
  }
  template <class Each>
  void add_derivatives(const char* label, const ParameterSet& parameters, const Each& each, const Field& field,
                       ParameterSet& gradient) const {
    Parameter* const rest = gradient.find("rest_positions");
    const stencil::VectorSums to{nullptr, nullptr, rest ? rest->field.data() : nullptr};
    const auto numbers = takes_.template numbers<double>(gradient, {field});
    const auto sums = nodes_.add_derivatives(label, sweep(parameters, field), each, to, numbers, nullptr);
    takes_.add_sums(sums, {field}, gradient);
  }

  std::vector<PointParameter> parameters_;
  point::Parameters<P> takes_;
  int count_;
  int num_entities_;
  DeviceArray<int> entities_;        // [count]
  mutable stencil::Nodes<F> nodes_;  // mutable: contains buffers for sums
};

}  // namespace diffsim
