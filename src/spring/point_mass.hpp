// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "core/inertia.hpp"

namespace diffsim {

/// Inertia of point masses. The point masses are the values of the parameter `point_mass`, an array [owned vertices],
/// in kg. The value of `point_mass` is zero at vertices without a point mass.
class PointMass : public Inertia {
 public:
  std::string name() const override { return "mass of points"; }
  bool depends_on(const ParameterSet& set) const override;
  void add_mass(const ParameterSet& parameters, Field& mass) const override;
  void add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                        Field& mass_tangent) const override;
  void add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                        ParameterSet& gradient) const override;
  void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                const Field& mass_adjoint, const Field& mass_adjoint_tangent,
                                ParameterSet& gradient_tangent) const override;
};

}  // namespace diffsim
