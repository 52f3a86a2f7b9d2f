// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/explicit_constraints.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim::dynamics {

using body::derivatives_of;
using body::to_vectors;
using body::values_of;

namespace {

template <class T>
constexpr bool has_derivatives = !std::is_same_v<T, double>;

/// Values at the nodes, [nodes, components].
template <class T>
struct NodeArray {
  std::vector<double> value, derivative;  // `derivative` is empty if T has no derivatives

  explicit NodeArray(std::size_t size) : value(size, 0.0), derivative(has_derivatives<T> ? size : 0, 0.0) {}
  NodeArray(const ConstraintSet& set, const FieldPair& fields) : NodeArray(3 * set.num_nodes()) {
    if (fields.value) value = set.gather(*fields.value);
    if (has_derivatives<T> && fields.derivative) derivative = set.gather(*fields.derivative);
  }
  NodeArray(const std::vector<double>& values, const std::vector<double>* tangent) : value(values) {
    if constexpr (has_derivatives<T>) derivative = *tangent;
  }

  Out<T> out() {
    if constexpr (has_derivatives<T>)
      return {value.data(), derivative.data()};
    else
      return {value.data()};
  }
  In<T> in() const {
    if constexpr (has_derivatives<T>)
      return {value.data(), derivative.data()};
    else
      return {value.data()};
  }
  NodeVectors<T> vectors() const {
    NodeVectors<T> all(value.size() / 3);
    for (std::size_t i = 0; i < value.size(); ++i) all[i / 3][static_cast<int>(i % 3)] = in()(static_cast<int>(i));
    return all;
  }
};

/// Adds the vectors at the nodes to fields on vertices.
template <class T>
void add(const ConstraintSet& set, const NodeVectors<T>& vectors, const FieldPairToChange& fields) {
  set.add(values_of(vectors), *fields.value);
  if constexpr (has_derivatives<T>) set.add(derivatives_of(vectors), *fields.derivative);
}

/// Returns the multipliers of each assembly.
template <class T>
std::vector<std::vector<T>> by_assembly(const ConstraintSet& set, const ConstraintValues& recorded,
                                        const ConstraintValues* tangent) {
  std::vector<std::vector<T>> multipliers;
  std::size_t next = 0;
  for (const Assembly& assembly : set.assemblies()) {
    std::vector<T>& lambda = multipliers.emplace_back();
    for (std::size_t k = 0; k < assembly.size(); ++k, ++next) {
      lambda.push_back(T(recorded.multipliers[next]));
      if constexpr (has_derivatives<T>)
        if (tangent) lambda.back().derivative[0] = tangent->multipliers[next];
    }
  }
  return multipliers;
}

/// Returns a host copy of `count` values at a device address, or an empty vector for nullptr.
std::vector<double> to_host(const double* device, std::size_t count) {
  if (!device) return {};
  std::vector<double> host(count);
  Kokkos::deep_copy(HostSpan<double>(host.data(), count), DeviceSpan<const double>(device, count));
  return host;
}

const double* address(const std::vector<double>& values) { return values.empty() ? nullptr : values.data(); }

/// Returns the positions of the next stage. After the last stage, returns the new velocities if `velocities`, and
/// otherwise the new positions. The constraint force of the stage is included only if `at.force` contains the
/// constraint force.
template <class T>
NodeVectors<T> predict(const ConstraintSet& set, const ExplicitRule& rule, bool velocities,
                       const ConstraintStage<T>& at, const HostUpdate<T>& host) {
  const ExplicitUpdate<T> update = host();
  NodeArray<T> x(set, at.x), v(set, at.v);
  const NodeArray<T> force(set, at.force);
  std::vector<NodeArray<T>> accelerations;
  Earlier<T> earlier{};
  const auto store = [&](NodeArray<T> array) { accelerations.push_back(std::move(array)); };
  accelerations.reserve(max_stages);
  for (int j = 0; j < at.stage; ++j) {
    const Field* const field = &(*at.earlier)[static_cast<std::size_t>(j)];
    store(has_derivatives<T> ? NodeArray<T>(set, {nullptr, field}) : NodeArray<T>(set, {field, nullptr}));
  }
  const int count = static_cast<int>(x.value.size());
  const bool is_last = at.stage + 1 == static_cast<int>(rule.stages.size());
  if (!is_last) {
    store(NodeArray<T>(x.value.size()));
    const StoreAcceleration<T> last{update, force.in(), accelerations.back().out()};
    for (int i = 0; i < count; ++i) last(i);
  }
  for (std::size_t j = 0; j < accelerations.size(); ++j) earlier.of[j] = accelerations[j].in();
  if (is_last) {
    with_earlier(rule, [&](auto number) {
      const EndUpdate<T, decltype(number)::value> end{update, StageWeights::of_end(rule, update.h), earlier,
                                                      force.in()};
      for (int i = 0; i < count; ++i) {
        T new_x = x.in()(i), new_v = v.in()(i);
        end(i, new_x, new_v);
        x.out().set(i, new_x);
        v.out().set(i, new_v);
      }
    });
    return velocities ? v.vectors() : x.vectors();
  }
  // The update of a stage is linear in x, v and the accelerations.
  NodeArray<T> X(x.value.size());
  std::vector<double> unused(x.value.size());
  const auto advance = [&](std::vector<double> NodeArray<T>::*part) {
    Earlier<double> of{};
    for (std::size_t j = 0; j < accelerations.size(); ++j) of.of[j] = {(accelerations[j].*part).data()};
    const StageUpdate next{StageWeights::of_stage(rule, static_cast<std::size_t>(at.stage) + 1, update.h),
                           update.fixed,
                           of,
                           (x.*part).data(),
                           (v.*part).data(),
                           (X.*part).data(),
                           unused.data()};
    for (int i = 0; i < count; ++i) next(i);
  };
  advance(&NodeArray<T>::value);
  if constexpr (has_derivatives<T>) advance(&NodeArray<T>::derivative);
  return X.vectors();
}

}  // namespace

template <class T>
HostUpdate<T>::HostUpdate(const ConstraintSet& set, const FieldPair& mass, const ExplicitUpdate<T>& update)
    : h_(update.h),
      gravity_(to_host(update.gravity.value, 3)),
      damping_(to_host(update.damping.value, 1)),
      mass_(set.gather(*mass.value)),
      fixed_(set.num_nodes(), 0) {
  for (std::size_t k = 0; k < fixed_.size(); ++k)
    if (set.is_rotor()[k] != 0) fixed_[k] = System::weightless;
  if constexpr (has_derivatives<T>) {
    gravity_tangent_ = to_host(update.gravity.derivative, 3);
    damping_tangent_ = to_host(update.damping.derivative, 1);
    if (mass.derivative) mass_tangent_ = set.gather(*mass.derivative);
  }
}

template <class T>
ExplicitUpdate<T> HostUpdate<T>::operator()() const {
  if constexpr (has_derivatives<T>)
    return {h_,
            {damping_.data(), address(damping_tangent_)},
            {gravity_.data(), address(gravity_tangent_)},
            {mass_.data(), address(mass_tangent_)},
            fixed_.data()};
  else
    return {h_, {damping_.data()}, {gravity_.data()}, {mass_.data()}, fixed_.data()};
}

ExplicitConstraints::ExplicitConstraints(const ConstraintSet& set, const ExplicitRule& rule, double h)
    : set_(set), rule_(rule), h_(h) {
  const std::size_t last = rule.stages.size() - 1;
  bool depends = rule.ends_in_last_stage || rule.new_velocity != 0.0;
  for (std::size_t i = 0; i < last; ++i) depends = depends && rule.stages[i + 1].position[i] != 0.0;
  if (!depends)
    throw Error(std::string("rigid bodies and joints do not support integrator ") + name_of(rule.integrator) +
                    "; use symplectic_euler or velocity_verlet",
                ErrorKind::input);
}

std::size_t ExplicitConstraints::record_bytes() const {
  std::size_t values = 3 * set_.num_nodes();
  for (const Assembly& assembly : set_.assemblies()) values += assembly.size();
  return values * sizeof(double) + sizeof(ConstraintValues);
}

bool ExplicitConstraints::is_on_velocities(int stage) const {
  return rule_.ends_in_last_stage && stage + 1 == static_cast<int>(rule_.stages.size());
}

template <class T>
std::vector<T> ExplicitConstraints::factors(int stage, const ExplicitUpdate<T>& update) const {
  const auto i = static_cast<std::size_t>(stage);
  T factor(0.0);
  if (i + 1 < rule_.stages.size()) {
    factor = T(StageWeights::of_stage(rule_, i + 1, h_).position[i]);
  } else {
    const StageWeights end = StageWeights::of_end(rule_, h_);
    const T to_velocity = end.velocity[i] * update.damping(0);
    factor = is_on_velocities(stage) ? to_velocity : end.position[i] + end.new_velocity * to_velocity;
  }
  std::vector<T> all;
  for (std::size_t k = 0; k < set_.num_nodes(); ++k) all.push_back(factor / update.mass(static_cast<int>(k)));
  return all;
}

ConstraintValues ExplicitConstraints::add_force(const ConstraintStage<double>& at, Field& force) const {
  const bool on_velocities = is_on_velocities(at.stage);
  const HostUpdate<double> host(set_, at.mass, at.update);
  const std::vector<double> C = factors<double>(at.stage, host());
  const NodeVectors<double> X = NodeArray<double>(set_, at.X).vectors();
  NodeVectors<double> result = predict(set_, rule_, on_velocities, at, host),
                      forces = body::zero_vectors<double>(set_.num_nodes());
  NodeVectors<double> scratch = body::zero_vectors<double>(set_.num_nodes());
  ConstraintValues values;
  collectively(set_.comm(), [&] {
    for (const Assembly& assembly : set_.assemblies()) {
      std::vector<double> lambda;
      if (on_velocities) {
        lambda = assembly.project(X, result);
        for (double& r : lambda) r = -r;
        lambda = assembly.solve(X, X, C, false, lambda);
      } else {
        lambda = assembly.correct_positions(X, C, result, scratch);
      }
      assembly.add_forces(X, lambda, 1.0, forces);
      values.multipliers.insert(values.multipliers.end(), lambda.begin(), lambda.end());
    }
  });
  if (on_velocities)
    for (std::size_t k = 0; k < forces.size(); ++k) result[k] = result[k] + C[k] * forces[k];
  else
    set_.require_known_turns(X, result, ConstraintSet::TurnsFor::step);
  set_.add(values_of(forces), force);
  values.result = values_of(result);
  return values;
}

ConstraintValues ExplicitConstraints::add_force_tangent(const ConstraintStage<Along>& at,
                                                        const ConstraintValues& recorded, Field& force_tangent) const {
  const bool on_velocities = is_on_velocities(at.stage);
  const HostUpdate<Along> host(set_, at.mass, at.update);
  const ExplicitUpdate<double> values_only{
      h_, {host().damping.value}, {host().gravity.value}, {host().mass.value}, host().fixed};
  const std::vector<double> C = factors<double>(at.stage, values_only);
  const NodeVectors<Along> X = NodeArray<Along>(set_, at.X).vectors();
  const NodeVectors<double> X0 = to_vectors(values_of(X));
  // Change of the constraint force with constant multipliers, due to the positions and to parameters of joints.
  const auto lambda = by_assembly<Along>(set_, recorded, nullptr);
  NodeVectors<Along> moving = body::zero_vectors<Along>(set_.num_nodes());
  for (std::size_t a = 0; a < lambda.size(); ++a) set_.assemblies()[a].add_forces(X, lambda[a], 1.0, moving);
  set_.add(derivatives_of(moving), force_tangent);
  const std::vector<double> predicted = derivatives_of(predict(set_, rule_, on_velocities, at, host));
  const NodeVectors<Along> result = NodeArray<Along>(recorded.result, &predicted).vectors();
  const NodeVectors<double> result0 = to_vectors(recorded.result);
  if (!on_velocities) set_.require_known_turns(X0, result0, ConstraintSet::TurnsFor::tangent);
  NodeVectors<double> forces = body::zero_vectors<double>(set_.num_nodes());
  ConstraintValues tangent;
  collectively(set_.comm(), [&] {
    for (const Assembly& assembly : set_.assemblies()) {
      std::vector<double> r;
      for (const Along& g : on_velocities ? assembly.project(X, result) : assembly.values(result))
        r.push_back(-g.derivative[0]);
      const std::vector<double> change = assembly.solve(on_velocities ? X0 : result0, X0, C, false, r);
      assembly.add_forces(X0, change, 1.0, forces);
      tangent.multipliers.insert(tangent.multipliers.end(), change.begin(), change.end());
    }
  });
  set_.add(values_of(forces), force_tangent);
  NodeVectors<double> corrected = to_vectors(predicted);
  for (std::size_t k = 0; k < corrected.size(); ++k) corrected[k] = corrected[k] + C[k] * forces[k];
  tangent.result = values_of(corrected);
  return tangent;
}

template <class T>
void ExplicitConstraints::add_recorded_force(const FieldPair& X, const ConstraintValues& recorded,
                                             const ConstraintValues* tangent, const FieldPairToChange& force) const {
  const NodeVectors<T> positions = NodeArray<T>(set_, X).vectors();
  const auto lambda = by_assembly<T>(set_, recorded, tangent);
  NodeVectors<T> forces = body::zero_vectors<T>(set_.num_nodes());
  for (std::size_t a = 0; a < lambda.size(); ++a) set_.assemblies()[a].add_forces(positions, lambda[a], 1.0, forces);
  add(set_, forces, force);
}

template <class T>
ExplicitConstraints::Reverse<T>::Reverse(const ExplicitConstraints& constraints, int stage, const FieldPair& X,
                                         const ConstraintValues& recorded, const ConstraintValues* tangent,
                                         const FieldPair& mass, const ExplicitUpdate<T>& update)
    : constraints_(constraints),
      set_(constraints.set_),
      stage_(stage),
      update_(set_, mass, update),
      X_(NodeArray<T>(set_, X).vectors()),
      result_(NodeArray<T>(recorded.result, tangent ? &tangent->result : nullptr).vectors()),
      multipliers_(by_assembly<T>(set_, recorded, tangent)) {}

template <class T>
NodeVectors<T> ExplicitConstraints::Reverse<T>::correction(const NodeVectors<T>& force_bar) {
  const bool on_velocities = constraints_.is_on_velocities(stage_);
  const std::vector<T> C = constraints_.factors<T>(stage_, update_());
  const NodeVectors<T>& place = on_velocities ? X_ : result_;
  NodeVectors<T> correction = body::zero_vectors<T>(set_.num_nodes());
  z_.clear();
  collectively(set_.comm(), [&] {
    for (const Assembly& assembly : set_.assemblies()) {
      const std::vector<T> lambda_bar = assembly.project(X_, force_bar);
      z_.push_back(assembly.solve(place, X_, C, true, lambda_bar));
      assembly.add_forces(place, z_.back(), -1.0, correction);
    }
  });
  return correction;
}

template <class T>
void ExplicitConstraints::Reverse<T>::correct_end(const FieldPairToChange& x_bar, const FieldPairToChange& v_bar) {
  const ExplicitUpdate<T> update = update_();
  const NodeArray<T> x(set_, {x_bar.value, x_bar.derivative});
  NodeArray<T> v(set_, {v_bar.value, v_bar.derivative}), force(x.value.size());
  std::vector<NodeArray<T>> unused(max_stages, NodeArray<T>(x.value.size()));
  EarlierAdjoints<T> bars{};
  for (std::size_t j = 0; j < max_stages; ++j) bars.of[j] = unused[j].out();
  with_earlier(constraints_.rule_, [&](auto earlier) {
    const EndAdjoint<T, decltype(earlier)::value> end{
        update, StageWeights::of_end(constraints_.rule_, update.h), x.in(), v.out(), bars, force.out()};
    for (int i = 0; i < static_cast<int>(x.value.size()); ++i) end(i);
  });
  add(set_, correction(force.vectors()), constraints_.is_on_velocities(stage_) ? v_bar : x_bar);
}

template <class T>
void ExplicitConstraints::Reverse<T>::correct_next(const FieldPairToChange& x_bar, const FieldPair& v_bar,
                                                   const FieldPair& acceleration_bar) {
  const ExplicitUpdate<T> update = update_();
  const auto i = static_cast<std::size_t>(stage_);
  const StageWeights weights = StageWeights::of_stage(constraints_.rule_, i + 1, update.h);
  const NodeArray<T> x(set_, {x_bar.value, x_bar.derivative}), v(set_, v_bar), acceleration(set_, acceleration_bar);
  NodeArray<T> force(x.value.size());
  for (int k = 0; k < static_cast<int>(x.value.size()); ++k)
    force.out().set(k, (acceleration.in()(k) + weights.velocity[i] * v.in()(k) + weights.position[i] * x.in()(k)) /
                           update.mass(k / 3));
  add(set_, correction(force.vectors()), x_bar);
}

template <class T>
void ExplicitConstraints::Reverse<T>::add_to_positions(const FieldPair& f_bar, const FieldPairToChange& x_bar) const {
  const NodeVectors<T> force_bar = NodeArray<T>(set_, f_bar).vectors();
  NodeVectors<T> sum = body::zero_vectors<T>(set_.num_nodes());
  for (std::size_t a = 0; a < multipliers_.size(); ++a) {
    set_.assemblies()[a].add_curvature(X_, multipliers_[a], force_bar, 1.0, sum);
    // The constraint G(X) v' = 0 depends on X.
    if (constraints_.is_on_velocities(stage_)) set_.assemblies()[a].add_curvature(X_, z_[a], result_, -1.0, sum);
  }
  add(set_, sum, x_bar);
  body::PlacedJoints& joints = set_.placed_joints();
  joints.add_slopes(multipliers_, X_, force_bar, 1.0);
  if (constraints_.is_on_velocities(stage_)) {
    joints.add_slopes(z_, X_, result_, -1.0);
  } else {
    set_.require_known_turns(to_vectors(values_of(X_)), to_vectors(values_of(result_)),
                             ConstraintSet::TurnsFor::adjoint);
    joints.add_values(z_, result_, -1.0);
  }
}

template class HostUpdate<double>;
template class HostUpdate<Along>;
template class ExplicitConstraints::Reverse<double>;
template class ExplicitConstraints::Reverse<Along>;
template void ExplicitConstraints::add_recorded_force<double>(const FieldPair&, const ConstraintValues&,
                                                              const ConstraintValues*, const FieldPairToChange&) const;
template void ExplicitConstraints::add_recorded_force<Along>(const FieldPair&, const ConstraintValues&,
                                                             const ConstraintValues*, const FieldPairToChange&) const;

}  // namespace diffsim::dynamics
