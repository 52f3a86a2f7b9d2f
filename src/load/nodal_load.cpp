// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/nodal_load.hpp"

#include "diffsim/core/point_term_impl.hpp"

namespace diffsim {
namespace {

/// Dead load: a force p that is constant in space, with the energy -p · x.
struct DeadForce {
  static constexpr int num_values = 3;
  static constexpr bool uses_positions = false;

  template <class T>
  DIFFSIM_FUNCTION Vec3<T> force(const PointValues<T, num_values>& at) const {
    return at.vector(0);
  }
  DIFFSIM_FUNCTION double energy(const PointValues<double, num_values>& at) const { return -dot(at.vector(0), at.x); }
};

}  // namespace

std::unique_ptr<ForceTerm> make_nodal_load(int num_owned_vertices) {
  PointParameter load = PointParameter::of(LoadParameters::nodal_load);
  load.is_dead_load = true;
  return std::make_unique<PointTerm<DeadForce>>(load.name, DeadForce(), std::vector{load}, num_owned_vertices);
}

}  // namespace diffsim
