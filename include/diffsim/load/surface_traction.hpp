// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// A uniform dead load t on the rest area of some faces: f_i = t Σ_{faces at i} ∫ N_i dA, a third of the face's area
/// for each corner of a linear one. Its parameter, of the name given, is t [steps, 3], Pa; it takes `rest_positions`
/// too.
class SurfaceTraction : public ForceTerm {
 public:
  SurfaceTraction(std::string parameter, std::vector<Face> faces);
  ~SurfaceTraction() override;

  std::string name() const override { return parameter_; }
  void prepare(const ParameterSet& parameters) override;
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override;
  double area() const;  ///< of this rank's faces, m²; after `prepare`
  double energy(const Configuration& at, const ParameterSet& parameters) override;
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  /// The force is linear in the load and depends on nothing else that moves: the rest shape is refused.
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override;
  void add_jacobian(const Configuration&, const ParameterSet&, const JacobianWeights&, BlockMatrix&) override {}

 private:
  struct Data;
  std::string parameter_;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
