// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/impl/stencil_nodes_impl.hpp"
#include "diffsim/core/impl/sums_impl.hpp"

namespace diffsim {

/// Force term of a force F on stencils. A stencil consists of a few local vertices, for example the two ends of a
/// segment, the corners of a triangle, or the vertices of two triangles with a common side. The author of a force term
/// writes the struct F only; automatic differentiation with Dual numbers computes the tangent, the adjoint, the
/// derivative of the adjoint, the Jacobian, and the bounds of stiffness and damping from which the stable time step is
/// computed. The force F is a struct of plain values, which kernels copy. The struct F must define `num_nodes`,
/// `num_values`, and at least one of `forces` and `energy`; all other members are optional.
///
/// - `static constexpr int num_nodes` is the number of nodes per stencil.
///
/// - `static constexpr int num_values` is the total number of parameter values p per stencil.
///
/// - `void forces(const Values& at, Vec3<T> (&f)[num_nodes]) const`, a template of the scalar type T with `Values` =
///   `StencilValues<T, num_nodes, num_values>`, sets `f` to the forces in N. If F does not define `forces`, the forces
///   are -∂E/∂x with the energy E.
///
/// - `T energy(const StencilValues<T, num_nodes, num_values>&) const`, a template of the scalar type T, returns the
///   energy E in J. If F defines `forces`, the function `energy` is optional, and T = double is sufficient (T = Pack,
///   if `takes_packs` is true).
///
/// - `static constexpr bool uses_velocities` is true if the forces depend on velocities; the default is false.
///
/// - `static constexpr bool uses_rest` is true if the forces depend on rest positions; the default is false.
///
/// - `static constexpr bool takes_packs` is true if the functions of F accept T = Pack (core/impl/pack.hpp), with
///   values of several stencils; the default is false. If `takes_packs` is true, the code of the functions of F must
///   not branch on values of type T, and F must not define `active`.
///
/// - `bool active(const StencilValues<double, num_nodes, num_values>&) const` returns false if the forces of the
///   stencil are zero by definition; the default is true.
///
/// - `void work_derivatives(const Values& at, const Vec3<T> (&w)[num_nodes], Values& by) const`, a template of the
///   scalar type T with `Values` = `StencilValues<T, num_nodes, num_values>`, sets `by` to the derivatives of the work
///   Σ w·f of the forces f with the given nodal vectors w, with respect to positions x, velocities v (if the forces
///   depend on v), rest positions X (if the forces depend on X) and parameter values p. If F defines neither
///   `work_derivatives` nor `energy_derivatives`, the derivatives of the work are computed by Dual numbers, which are
///   slower than formulas.
///
/// - `void energy_derivatives(const Values& at, Values& by) const`, a template of the scalar type T with `Values` =
///   `StencilValues<T, num_nodes, num_values>`, sets `by` to the derivatives of the energy with respect to positions x,
///   rest positions X (if the energy depends on X) and parameter values p. The function `energy_derivatives` must
///   accept Dual types T. If F defines `energy_derivatives`, the forces and the derivatives of the work Σ w·f are
///   computed from the derivatives of the energy, unless F defines `forces` or `work_derivatives`, respectively.
///
/// All functions of F must be marked DIFFSIM_FUNCTION. Each stencil belongs to exactly one rank. A parameter of a
/// StencilTerm has one value for all stencils, or one value per entity. By default, entity i is stencil i of this rank;
/// the constructor with the argument `entities` receives the entity of each stencil. Sums at vertices have a fixed
/// order for a given number of threads.
template <class F>
class StencilTerm : public ForceTerm {
 public:
  static constexpr int N = F::num_nodes,  ///< number of nodes per stencil
      P = F::num_values;                  ///< number of parameter values p per stencil

  /// Constructs a term in which stencil i has the parameter values of entity i. The shape of `vertices`, an array of
  /// local vertices, is [stencils, N].
  StencilTerm(std::string name, const F& force, std::vector<PointParameter> parameters, std::vector<int> vertices)
      : StencilTerm(std::move(name), force, std::move(parameters), std::move(vertices), {}, 0) {}
  /// Constructs a term in which stencil i has the parameter values of entity `entities[i]`. The shape of `entities` is
  /// [stencils]. `num_entities` is the number of entities on this rank.
  StencilTerm(std::string name, const F& force, std::vector<PointParameter> parameters, std::vector<int> vertices,
              const std::vector<int>& entities, int num_entities)
      : force_(force),
        takes_(std::move(name), std::move(parameters)),
        num_entities_(entities.empty() && num_entities == 0 ? static_cast<int>(vertices.size()) / N : num_entities) {
    set_stencils(std::move(vertices), entities);
  }

  std::string name() const override { return takes_.term(); }  ///< name of the force term, as passed to the constructor
  bool uses_velocities() const override { return stencil::uses_velocities<F>(); }
  bool has_energy() const override { return stencil::HasEnergy<F> && !uses_velocities(); }
  bool has_symmetric_jacobian() const override { return has_energy(); }

  /// Checks the parameters. Throws Error if a required parameter is missing, or if a parameter has a wrong number of
  /// components, or has neither one value for all entities nor one value per entity.
  void prepare(const ParameterSet& parameters) override {
    parameters_ = &parameters;
    takes_.check(
        parameters, [&](const Entities& on) { return static_cast<int>(on.local()) == num_entities_; },
        "each of " + std::to_string(num_entities_));
    if constexpr (stencil::uses_rest<F>()) parameters.at("rest_positions");
  }
  void begin_adjoint_tangent(const ParameterSet&, const ParameterSet&) override {}

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    const stencil::Energies<F> each{sweep(at, parameters)};
    return sum_over("diffsim::core::stencil_energy", each.sweep.num_groups(), each);
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    add_vectors("diffsim::core::stencil_force", sweep(at, parameters), stencil::Forces(), force);
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    add_vectors("diffsim::core::stencil_tangent", sweep(at, *parameters_),
                stencil::Tangents<F>{along(at, tangent, direction)}, force_tangent);
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    constexpr const char* label = "diffsim::core::stencil_adjoint";
    if constexpr (stencil::can_leave_out_rest<F>()) {
      if (!gradient.find("rest_positions")) {
        add_derivatives(label, at, stencil::Adjoints<F, false>{w.data()}, adjoint, gradient);
        return;
      }
    }
    add_derivatives(label, at, stencil::Adjoints<F>{w.data()}, adjoint, gradient);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    add_derivatives(
        "diffsim::core::stencil_adjoint_tangent", at,
        stencil::AdjointTangents<F>{along(at, tangent, direction), w ? w->data() : nullptr, dw ? dw->data() : nullptr},
        adjoint_tangent, gradient_tangent);
  }

  void add_couplings(const Configuration&, Couplings& couplings) override { couplings.add(vertices_, N); }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    if (count_ == 0) return;
    if (!blocks_ || !blocks_->fits(matrix)) blocks_ = std::make_unique<BlockScatter>(matrix, vertices_, N);
    for_each_element("diffsim::core::stencil_jacobian", *blocks_, matrix,
                     stencil::Jacobians<F>{sweep(at, parameters), weights});
  }
  void add_stiffness_bound(const ParameterSet& parameters, Field& stiffness) override {
    add_vectors("diffsim::core::stencil_stiffness", at_rest(parameters), stencil::Norms{1.0, 0.0}, stiffness);
  }
  void add_damping_bound(const ParameterSet& parameters, Field& damping) override {
    if constexpr (stencil::uses_velocities<F>())
      add_vectors("diffsim::core::stencil_damping", at_rest(parameters), stencil::Norms{0.0, 1.0}, damping);
  }

 protected:
  /// Replaces all stencils. A derived class calls `set_stencils` if the stencils depend on the constraints of the
  /// vertices (VertexConstraints). `entities`: see the constructor.
  void set_stencils(std::vector<int> vertices, const std::vector<int>& entities) {
    vertices_ = std::move(vertices);
    count_ = static_cast<int>(vertices_.size()) / N;
    entities_ = to_device("diffsim::core::stencil_entities", entities);
    nodes_.set(vertices_);
    stencils_ = {};
    numbers_ = {};
    blocks_.reset();
    group_stencils(entities);
  }

 private:
  /// Groups the stencils by entity, and allocates memory for each stencil's derivatives with respect to parameter
  /// values p. `group_stencils` does nothing if no entity has several stencils or the force has no parameters.
  void group_stencils(const std::vector<int>& entities) {
    std::vector<int> sorted = entities;
    std::sort(sorted.begin(), sorted.end());
    if (P == 0 || std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
    stencils_ = stencil::grouped(entities);
    numbers_ = make_zeroed_device_array<double>("diffsim::core::stencil_numbers",
                                                static_cast<std::size_t>(P) * static_cast<std::size_t>(count_));
  }

  stencil::Sweep<F> sweep(const Configuration& at, const ParameterSet& set) const {
    return {force_, count_, nodes_.vertices(), entities_,
            addresses(at, set, at.positions.data(), at.velocities ? at.velocities->data() : nullptr, at.time)};
  }
  /// Returns the stencils, and the inputs of the force at the rest positions, zero velocities and time 0.
  stencil::Sweep<F> at_rest(const ParameterSet& set) const {
    const Field& rest = set.at("rest_positions").field;
    return {force_, count_, nodes_.vertices(), entities_, addresses({rest}, set, rest.data(), nullptr, 0.0)};
  }
  stencil::Addresses<P> along(const Configuration& at, const ConfigurationTangent& tangent,
                              const ParameterSet& direction) const {
    return addresses(at, direction, tangent.positions.data(), tangent.velocities ? tangent.velocities->data() : nullptr,
                     tangent.time);
  }
  stencil::Addresses<P> addresses(const Configuration& at, const ParameterSet& set, const double* x, const double* v,
                                  double time) const {
    return {x, uses_velocities() ? v : nullptr, stencil::uses_rest<F>() ? set.data("rest_positions") : nullptr,
            takes_.template numbers<const double>(set, at), time};
  }

  template <class Each>
  void add_vectors(const char* label, const stencil::Sweep<F>& sweep, const Each& each, Field& to) {
    nodes_.add_vectors(label, sweep, each, to.data());
  }

  template <class Each>
  void add_derivatives(const char* label, const Configuration& at, const Each& each,
                       const ConfigurationAdjoint& adjoint, ParameterSet& gradient) {
    Parameter* const rest = stencil::uses_rest<F>() ? gradient.find("rest_positions") : nullptr;
    const stencil::VectorSums to{adjoint.positions.data(), adjoint.velocities ? adjoint.velocities->data() : nullptr,
                                 rest ? rest->field.data() : nullptr};
    const auto numbers = takes_.template numbers<double>(gradient, at);
    double* const of_stencils = numbers_.size() > 0 ? numbers_.data() : nullptr;
    const auto sums = nodes_.add_derivatives(label, sweep(at, *parameters_), each, to, numbers, of_stencils);
    if (of_stencils) stencil::add_numbers(stencils_, of_stencils, numbers);
    takes_.add_sums(sums, at, gradient);
  }

  F force_;
  point::Parameters<P> takes_;
  std::vector<int> vertices_;
  int count_ = 0;
  int num_entities_;           // number of entities with parameters on this rank
  DeviceArray<int> entities_;  // [count], or empty
  stencil::Nodes<F> nodes_;
  stencil::Grouped stencils_;    // stencils, grouped by entity; empty if no entity has several stencils
  DeviceArray<double> numbers_;  // derivatives with respect to p, [count, P]; empty if no entity has several stencils
  std::unique_ptr<BlockScatter> blocks_;      // created on first assembly
  const ParameterSet* parameters_ = nullptr;  // ParameterSet of the last `prepare`
};

}  // namespace diffsim
