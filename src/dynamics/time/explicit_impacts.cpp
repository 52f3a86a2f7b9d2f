// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/explicit_impacts.hpp"

#include "diffsim/core/impl/device.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim::dynamics {

namespace {

/// Computes a = (v - v_0)/h with the velocities v_0 = `start` and v = `end` of a substep of length h.
void find_accelerations(const Field& end, const Field& start, double h, Field& accelerations) {
  const double per_substep = 1.0 / h;
  const double *const after = end.data(), *const before = start.data();
  double* const a = accelerations.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::impact_accelerations", Range(0, static_cast<int>(accelerations.size())),
      KOKKOS_LAMBDA(int i) { a[i] = per_substep * (after[i] - before[i]); });
  Kokkos::fence();
}

/// Adds `from` to `to` at components whose bits in `fixed` are 0, and zeroes `from`.
void take_unfixed(const std::uint8_t* fixed, Field& from, Field& to) {
  double* const change = from.data();
  double* const sum = to.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::take_impact", Range(0, static_cast<int>(from.size())), KOKKOS_LAMBDA(int i) {
        if (((fixed[i / 3] >> (i % 3)) & 1) == 0) sum[i] += change[i];
        change[i] = 0.0;
      });
  Kokkos::fence();
}

/// Copies the values of owned vertices from `from` to `to`; copies of components whose bits in `fixed` are 1 are 0.
void copy_unfixed(const std::uint8_t* fixed, const Field& from, Field& to) {
  const double* const source = from.data();
  double* const copy = to.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::mask_impact", Range(0, static_cast<int>(to.size())),
      KOKKOS_LAMBDA(int i) { copy[i] = ((fixed[i / 3] >> (i % 3)) & 1) == 0 ? source[i] : 0.0; });
  Kokkos::fence();
}

}  // namespace

void BeforeImpacts::save(const Field& x, const Field& v, const Field& a) {
  has_impacts = true;
  if (velocities.size() != v.size()) {
    positions = v.like("positions");
    velocities = v.like("velocities");
    accelerations = v.like("accelerations");
  }
  const int count = static_cast<int>(v.size());
  copy_values(count, x, positions);
  copy_values(count, v, velocities);
  copy_values(count, a, accelerations);
}

void ExplicitImpacts::keep(const Field& values, Field& copy) const {
  if (copy.size() != values.size()) copy = values.like("start_velocities");
  copy_values(static_cast<int>(values.size()), values, copy);
}

void ExplicitImpacts::allocate(const Field& like) {
  if (dx_.size() == like.size()) return;
  for (Field* const field : {&accelerations_, &dx_, &dv_, &wx_, &wv_, &dwx_, &dwv_, &a_bar_, &a_bar_tangent_})
    *field = like.like("impact");
}

void ExplicitImpacts::apply(const End& end, Field& x, Field& v, BeforeImpacts* before) {
  allocate(v);
  if (before) before->has_impacts = false;
  find_accelerations(v, start_, h_, accelerations_);
  for (const auto& impact : system_.impacts()) {
    if (!impact->add_changes(place(end, {x, v, accelerations_}), system_.parameters(), dx_, dv_)) continue;
    if (before && !before->has_impacts) before->save(x, v, accelerations_);
    take_unfixed(system_.fixed(), dx_, x);
    take_unfixed(system_.fixed(), dv_, v);
  }
}

void ExplicitImpacts::replay(const End& end, const BeforeImpacts& before) {
  allocate(before.velocities);
  states_.resize(system_.impacts().size());
  states_[0].save(before.positions, before.velocities, before.accelerations);
  for (std::size_t i = 0; i + 1 < states_.size(); ++i) {
    const BeforeImpacts& from = states_[i];
    BeforeImpacts& next = states_[i + 1];
    next.save(from.positions, from.velocities, from.accelerations);
    if (!system_.impacts()[i]->add_changes(place(end, from.fields()), system_.parameters(), dx_, dv_)) continue;
    take_unfixed(system_.fixed(), dx_, next.positions);
    take_unfixed(system_.fixed(), dv_, next.velocities);
  }
}

void ExplicitImpacts::replay_tangents(const End& end, const BeforeImpacts& tangent_before,
                                      const ParameterSet& direction) {
  tangents_.resize(states_.size());
  tangents_[0].save(tangent_before.positions, tangent_before.velocities, tangent_before.accelerations);
  for (std::size_t i = 0; i + 1 < states_.size(); ++i) {
    const BeforeImpacts& from = tangents_[i];
    BeforeImpacts& next = tangents_[i + 1];
    next.save(from.positions, from.velocities, from.accelerations);
    system_.impacts()[i]->add_tangents(place(end, states_[i].fields()), from.fields(), system_.parameters(), direction,
                                       dx_, dv_);
    take_unfixed(system_.fixed(), dx_, next.positions);
    take_unfixed(system_.fixed(), dv_, next.velocities);
  }
}

void ExplicitImpacts::apply_tangent(const End& end, const BeforeImpacts& before, const ParameterSet& direction,
                                    Field& dx, Field& dv, BeforeImpacts* tangent_before) {
  if (tangent_before) tangent_before->has_impacts = false;
  if (!before.has_impacts) return;
  replay(end, before);
  find_accelerations(dv, start_tangent_, h_, accelerations_);
  if (tangent_before) tangent_before->save(dx, dv, accelerations_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    system_.impacts()[i]->add_tangents(place(end, states_[i].fields()), {dx, dv, accelerations_}, system_.parameters(),
                                       direction, dx_, dv_);
    take_unfixed(system_.fixed(), dx_, dx);
    take_unfixed(system_.fixed(), dv_, dv);
  }
}

void ExplicitImpacts::apply_adjoint(const End& end, const BeforeImpacts& before, const Adjoint& bar) {
  has_adjoint_ = before.has_impacts;
  if (!has_adjoint_) return;
  replay(end, before);
  a_bar_.fill(0.0);
  for (std::size_t i = states_.size(); i-- > 0;) {
    copy_unfixed(system_.fixed(), bar.x, wx_);
    copy_unfixed(system_.fixed(), bar.v, wv_);
    system_.impacts()[i]->add_adjoints(place(end, states_[i].fields()), {wx_, wv_}, system_.parameters(),
                                       {bar.x, bar.v, a_bar_}, bar.gradient);
  }
  add_scaled(static_cast<int>(a_bar_.size()), 1.0 / h_, a_bar_, bar.v);
}

void ExplicitImpacts::apply_adjoint_tangent(const End& end, const BeforeImpacts& before,
                                            const BeforeImpacts& tangent_before, const ParameterSet& direction,
                                            const Adjoint& bar, const Adjoint& bar_tangent) {
  has_adjoint_ = before.has_impacts;
  if (!has_adjoint_) return;
  replay(end, before);
  replay_tangents(end, tangent_before, direction);
  a_bar_.fill(0.0);
  a_bar_tangent_.fill(0.0);
  for (std::size_t i = states_.size(); i-- > 0;) {
    const PlaceOfImpact at = place(end, states_[i].fields());
    copy_unfixed(system_.fixed(), bar.x, wx_);
    copy_unfixed(system_.fixed(), bar.v, wv_);
    copy_unfixed(system_.fixed(), bar_tangent.x, dwx_);
    copy_unfixed(system_.fixed(), bar_tangent.v, dwv_);
    system_.impacts()[i]->add_adjoint_tangents(at, tangents_[i].fields(), {wx_, wv_}, {dwx_, dwv_},
                                               system_.parameters(), direction,
                                               {bar_tangent.x, bar_tangent.v, a_bar_tangent_}, bar_tangent.gradient);
    system_.impacts()[i]->add_adjoints(at, {wx_, wv_}, system_.parameters(), {bar.x, bar.v, a_bar_}, bar.gradient);
  }
  add_scaled(static_cast<int>(a_bar_.size()), 1.0 / h_, a_bar_, bar.v);
  add_scaled(static_cast<int>(a_bar_.size()), 1.0 / h_, a_bar_tangent_, bar_tangent.v);
}

void ExplicitImpacts::finish_adjoint(Field& v_bar, Field* tangent) {
  if (!has_adjoint_) return;
  add_scaled(static_cast<int>(a_bar_.size()), -1.0 / h_, a_bar_, v_bar);
  if (tangent) add_scaled(static_cast<int>(a_bar_.size()), -1.0 / h_, a_bar_tangent_, *tangent);
}

}  // namespace diffsim::dynamics
