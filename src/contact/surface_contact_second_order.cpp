// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Second derivatives of surface contact.

#include "contact/surface_contact_data.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {

using contact::Vectors;

void SurfaceContact::add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                               const ParameterSet& direction, const Field* w, const Field* dw,
                                               const ConfigurationAdjoint& adjoint_tangent,
                                               ParameterSet& gradient_tangent) {
  const ProfilingRegion region("diffsim::contact::force_adjoint_tangent");
  const contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, *data_->parameters, uses_velocities());
  const bool rated = here.v.size() > 0;
  const Vectors obstacles_dx = data_->still(), obstacles_dv = data_->still();
  for (const auto& motion : data_->motions)
    obstacle_tangents(motion, data_->reference.data(), *data_->parameters, direction, at.step, at.time, tangent.time,
                      obstacles_dx, obstacles_dv);
  const auto gathered = [&](const Field* field) {
    return field ? candidates.gather(*field, data_->still()) : Vectors();  // w is zero at vertices of obstacles
  };
  const contact::PairDirection along = {
      candidates.gather(tangent.positions, obstacles_dx),
      rated && tangent.velocities ? candidates.gather(*tangent.velocities, obstacles_dv) : Vectors(), gathered(w),
      gathered(dw)};
  const auto slots = [&](bool needed) {
    return candidates.pool().take<double>("diffsim::contact::slots", needed ? 3 * here.targets.size() : 0);
  };
  const contact::PairAdjointTangent bar = {slots(true), slots(true), slots(rated), slots(rated)};
  data_->add_laws(contact::pair_adjoint_tangents(candidates.pairs(), here.active, {here.x, here.v}, along,
                                                 data_->laws_of(direction, at.step), bar),
                  at.step, gradient_tangent);
  for (const auto& motion : data_->motions)
    add_obstacle_gradient_tangent(motion, here.targets, candidates.num_mesh_vertices(), data_->reference.data(), bar,
                                  *data_->parameters, direction, at.step, at.time, tangent.time, gradient_tangent);
  data_->hand_over(here, bar.dx_bar, adjoint_tangent.positions);
  if (rated) data_->hand_over(here, bar.dv_bar, *adjoint_tangent.velocities);
}

}  // namespace diffsim
