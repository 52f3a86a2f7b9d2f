// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// A uniform dead load t on the rest area of some faces: f_i = t Σ_{faces at i} A/3. Its parameter, of the name given,
/// is t [steps, 3], Pa.
class SurfaceTraction : public ForceTerm {
 public:
  /// `rest_positions`: [local vertices, 3], m.
  SurfaceTraction(std::string parameter, const std::vector<double>& rest_positions, const std::vector<Face>& faces);
  ~SurfaceTraction() override;

  std::string name() const override { return parameter_; }
  double area() const { return area_; }  ///< of this rank's faces, m²
  double energy(const Configuration& at, const ParameterSet& parameters) override;
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;

 private:
  struct Data;
  std::string parameter_;
  double area_ = 0.0;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
