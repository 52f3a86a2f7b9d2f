// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "sensor/cell_sums.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Elastic forces f that some of the mesh's tetrahedra exert on the vertices, and derivatives of f. Forces are arrays
/// [local vertices, 3] of the contributions of this rank's tetrahedra, in N; adjoints of forces have the same shape.
class ElasticForces {
 public:
  /// `terms`: elastic force terms of some of the mesh's tetrahedra, not added to the System.
  ElasticForces(const Site& site, std::vector<std::unique_ptr<ForceTerm>> terms)
      : site_(site), terms_(std::move(terms)) {}

  /// Calls `ForceTerm::prepare` of all elastic force terms with the system's parameters. The caller must call `prepare`
  /// before the other member functions of ElasticForces.
  void prepare() const;
  /// Returns the elastic forces f at the configuration `at`.
  std::vector<double> values(const Configuration& at) const;
  /// Returns the derivatives of the elastic forces f along the change `tangent` of the state and the change `set` of
  /// the parameters.
  std::vector<double> tangents(const Configuration& at, const State& tangent, const ParameterSet& set) const;
  /// Adds (∂f/∂x)ᵀ f̄ to `bar.x` and (∂f/∂p)ᵀ f̄ to `gradient`, where f̄ = `f_bar` is the adjoint of the elastic forces f,
  /// x are positions and p are parameters.
  void add_adjoint(const Evaluation& here, const std::vector<double>& f_bar, CellPositions& bar,
                   ParameterSet& gradient) const;
  /// Adds to `bar` and `gradient_tangent` the derivatives of the values that `add_adjoint` adds, along the changes
  /// `tangent` of the state, `set` of the parameters and `df_bar` of the adjoint `f_bar` of the elastic forces.
  void add_adjoint_tangent(const Evaluation& here, const State& tangent, const ParameterSet& set,
                           const std::vector<double>& f_bar, const std::vector<double>& df_bar, CellPositions& bar,
                           ParameterSet& gradient_tangent) const;

 private:
  Field local(const std::vector<double>& values) const;

  Site site_;
  std::vector<std::unique_ptr<ForceTerm>> terms_;
};

}  // namespace diffsim::sensor
