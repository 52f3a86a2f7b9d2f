// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "sensor/cell_sums.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Elastic forces f of some tetrahedra at the vertices, and derivatives of f. Forces are arrays [local vertices, 3] of
/// this rank's contributions, in N; adjoints of forces have the same shape.
class ElasticForces {
 public:
  /// `terms`: elastic terms of the tetrahedra, which are not terms of the system.
  ElasticForces(const Site& site, std::vector<std::unique_ptr<ForceTerm>> terms)
      : site_(site), terms_(std::move(terms)) {}

  /// Prepares the terms for the system's parameters. Must be called before the other functions.
  void prepare() const;
  /// Returns the forces f at the configuration `at`.
  std::vector<double> values(const Configuration& at) const;
  /// Returns the derivatives of the forces along the change `tangent` of the state and the change `set` of the
  /// parameters.
  std::vector<double> tangents(const Configuration& at, const State& tangent, const ParameterSet& set) const;
  /// Adds (∂f/∂x)ᵀ f̄ to `bar.x` and (∂f/∂p)ᵀ f̄ to `gradient`, where f̄ = `f_bar` is the adjoint of the forces f, x
  /// are positions and p are parameters.
  void add_adjoint(const Evaluation& here, const std::vector<double>& f_bar, CellPositions& bar,
                   ParameterSet& gradient) const;
  /// Adds the derivatives of the values that `add_adjoint` adds, along `tangent`, `set` and `df_bar`.
  void add_adjoint_tangent(const Evaluation& here, const State& tangent, const ParameterSet& set,
                           const std::vector<double>& f_bar, const std::vector<double>& df_bar, CellPositions& bar,
                           ParameterSet& gradient_tangent) const;

 private:
  Field local(const std::vector<double>& values) const;

  Site site_;
  std::vector<std::unique_ptr<ForceTerm>> terms_;
};

}  // namespace diffsim::sensor
