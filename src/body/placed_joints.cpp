// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/placed_joints.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "body/parameters.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

/// Changes of the factors A and B of a constraint (Constraint), and the constants a₀ and b₀.
template <class S>
struct Factors {
  Vec3<S> a, b, dA, dB;
};

/// Returns the changes of A and B by the displacements of the nodes at the positions x, or by the velocities x of the
/// nodes if `are_velocities`.
template <class S, class T>
Factors<S> factors_of(const ConstraintOf<S>& g, const NodeVectors<T>& x, bool are_velocities) {
  const Vec3<S> zero{{S(0.0), S(0.0), S(0.0)}};
  Factors<S> factors{zero, zero, zero, zero};
  for (int c = 0; c < 3; ++c) {
    const auto component = static_cast<std::size_t>(c);
    factors.a[c] = g.a[component];
    factors.b[c] = g.b[component];
    for (const auto& entry : g.entries) {
      T change = x[static_cast<std::size_t>(entry.node)][c];
      if (!are_velocities) change = change - entry.rest[component];
      factors.dA[c] += entry.a * S::constant(change);
      factors.dB[c] += entry.b * S::constant(change);
    }
  }
  return factors;
}

// The functions below omit the linear part of g, which does not depend on the placement.

/// Returns g(x) with its derivatives with respect to the placement.
template <class T>
ByPlacement<T> evaluate(const ConstraintOf<ByPlacement<T>>& g, const NodeVectors<T>& x) {
  const auto [a, b, dA, dB] = factors_of(g, x, false);
  return dot(a, dB) + dot(dA, b) + dot(dA, dB);
}

/// Returns ∇g(x)·w with its derivatives with respect to the placement.
template <class T>
ByPlacement<T> slope_of(const ConstraintOf<ByPlacement<T>>& g, const NodeVectors<T>& x, const NodeVectors<T>& w) {
  const auto at = factors_of(g, x, false), along = factors_of(g, w, true);
  return dot(along.dA, at.b + at.dB) + dot(at.a + at.dA, along.dB);
}

/// Returns the values of `x` at the nodes of the coupling, as constants.
template <class S, class T>
JointCoupling::NodeValues<S> constant_at(const JointCouplingOf<S>& coupling, const NodeVectors<T>& x) {
  JointCoupling::NodeValues<S> values;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (int c = 0; c < 3; ++c) values[k][c] = lift<S>(x[static_cast<std::size_t>(coupling.nodes[k])][c]);
  return values;
}

/// Returns the placement `values` with the scalar type S, as constants.
template <class S, class T>
PlacementOf<S> constant(const PlacementOf<T>& values) {
  PlacementOf<S> placement;
  for (std::size_t i = 0; i < 6; ++i) placement[i] = lift<S>(values[i]);
  return placement;
}

/// Returns the constraints of the joint at `place`, followed by those of the joint's rotor.
template <class S>
std::vector<ConstraintOf<S>> constraints_at(const PlacedJoints::Place& place, const PlacementOf<S>& placement) {
  std::vector<ConstraintOf<S>> all = joint_constraints(place.joint, placement, place.body, place.other);
  if (!place.rotor) return all;
  for (const ConstraintOf<S>& g : rotor_constraints(place.joint, placement, place.body, place.other, *place.rotor))
    all.push_back(g);
  return all;
}

}  // namespace

/// Present placement of a joint, its constraints with derivatives, and the accumulated derivatives.
struct PlacedJoints::State {
  Place place;
  Placement values{}, direction{};
  std::vector<ConstraintOf<ByPlacement<double>>> by_placement;
  std::vector<ConstraintOf<ByPlacement<Along>>> by_placement_along;
  std::array<Along, 6> sums{};
  bool is_wanted = false;
  bool has_changed = false;  ///< true if the couplings of the joint must be replaced

  template <class T>
  const std::vector<ConstraintOf<ByPlacement<T>>>& constraints() const {
    if constexpr (std::is_same_v<T, double>)
      return by_placement;
    else
      return by_placement_along;
  }
  /// Returns the index in the assembly of constraint k of `constraints()`.
  std::size_t index(std::size_t k, std::size_t num_of_joint) const {
    return k < num_of_joint ? place.first + k : place.first_of_rotor + k - num_of_joint;
  }
  std::size_t num_of_joint() const { return by_placement.size() - (place.rotor ? 3 : 0); }
  /// Adds the derivatives `derivative` with respect to the placement, multiplied by `factor`.
  template <class T>
  void add(const T& factor, const T (&derivative)[6]) {
    for (std::size_t c = 0; c < 6; ++c) {
      const T product = factor * derivative[c];
      if constexpr (std::is_same_v<T, double>)
        sums[c].value += product;
      else
        sums[c] += product;
    }
  }
  /// Returns the placement with the scalar type of the derivatives.
  template <class T>
  PlacementOf<T> placement() const {
    if constexpr (std::is_same_v<T, double>)
      return values;
    else
      return move_along(values, direction);
  }
};

/// Coupling of two joints, the indices of the joints in `states_`, the present ratio, and the accumulated derivatives
/// with respect to the ratio.
struct PlacedJoints::StateOfCoupling {
  Coupling of;
  std::array<std::size_t, 2> states;
  double value, direction = 0.0;  ///< ratio, and its derivative along the direction
  Along sum{0.0};
  bool is_wanted = false;
  bool has_changed = false;  ///< true if the coupling must be replaced

  bool needs_turns(TurnsFor purpose) const;
  const Joint& joint() const { return of.joints.joints[0]; }
  const Joint& leader() const { return of.joints.joints[1]; }
  /// Returns the ratio with the scalar type of the derivatives.
  template <class T>
  T ratio() const {
    if constexpr (std::is_same_v<T, double>)
      return value;
    else
      return move_along(value, direction);
  }
};

PlacedJoints::PlacedJoints(std::vector<Place> places, std::vector<Coupling> couplings) {
  for (Place& place : places) {
    const Placement values = placement_of(place.joint);
    State& state = states_.emplace_back();
    state.place = std::move(place);
    state.values = values;
  }
  const auto find = [&](const Joint& joint) {
    const auto found = std::find_if(states_.begin(), states_.end(),
                                    [&](const State& state) { return state.place.joint.name == joint.name; });
    return static_cast<std::size_t>(found - states_.begin());
  };
  for (Coupling& coupling : couplings) {
    const std::array<std::size_t, 2> states{find(coupling.joints.joints[0]), find(coupling.joints.joints[1])};
    const double ratio = coupling.joints.joints[0].ratio;
    couplings_.push_back({std::move(coupling), states, ratio});
  }
}

PlacedJoints::~PlacedJoints() = default;

void PlacedJoints::set_values(const ParameterSet& parameters, std::vector<Assembly>& assemblies) {
  for (State& state : states_) {
    const Placement values = read_placement(parameters, state.place.joint, state.values);
    if (values == state.values) continue;
    state.values = values;
    Joint joint = state.place.joint;
    std::copy_n(values.begin() + 3, 3, joint.axis.begin());
    require_axis(joint);
    replace(state, assemblies);
  }
  for (StateOfCoupling& coupling : couplings_) {
    const double value = read_ratio(parameters, coupling.joint(), coupling.value);
    if (const std::string what = range_error(JointParameters::ratio, value); !what.empty())
      throw Error(fmt::format("{}:{}: {}", JointParameters::ratio.name, coupling.joint().name, what), ErrorKind::input);
    coupling.has_changed = coupling.has_changed || value != coupling.value;
    coupling.value = value;
  }
  replace_couplings(assemblies);
}

void PlacedJoints::set_direction(const ParameterSet& direction, std::vector<Assembly>& assemblies) {
  for (State& state : states_) {
    const Placement change = read_placement(direction, state.place.joint, {});
    if (change == state.direction) continue;
    state.direction = change;
    replace(state, assemblies);
  }
  ratios_move_ = has_ratios(direction);
  for (StateOfCoupling& coupling : couplings_) {
    const double change = read_ratio(direction, coupling.joint(), 0.0);
    coupling.has_changed = coupling.has_changed || change != coupling.direction;
    coupling.direction = change;
  }
  replace_couplings(assemblies);
}

void PlacedJoints::replace_couplings(std::vector<Assembly>& assemblies) {
  for (StateOfCoupling& coupling : couplings_) {
    const State &joint = states_[coupling.states[0]], &leader = states_[coupling.states[1]];
    if (!joint.has_changed && !leader.has_changed && !coupling.has_changed) continue;
    coupling.has_changed = false;
    const Coupling& of = coupling.of;
    assemblies[of.assembly].replace_coupling(
        of.index, of.joints.at(joint.values, leader.values, coupling.value),
        of.joints.at(joint.placement<Along>(), leader.placement<Along>(), coupling.ratio<Along>()));
  }
  for (State& state : states_) state.has_changed = false;
}

void PlacedJoints::replace(State& state, std::vector<Assembly>& assemblies) {
  state.has_changed = true;
  const Place& place = state.place;
  const auto values = constraints_at(place, state.values);
  const auto moving = constraints_at(place, state.placement<Along>());
  const auto count = static_cast<std::ptrdiff_t>(values.size()) - (place.rotor ? 3 : 0);
  Assembly& assembly = assemblies[place.assembly];
  assembly.replace(place.first, {values.begin(), values.begin() + count}, {moving.begin(), moving.begin() + count});
  assembly.replace(place.first_of_rotor, {values.begin() + count, values.end()},
                   {moving.begin() + count, moving.end()});
  if (state.is_wanted) differentiate(state);
}

void PlacedJoints::differentiate(State& state) {
  state.by_placement = constraints_at(state.place, variables(state.values));
  state.by_placement_along = constraints_at(state.place, variables(state.placement<Along>()));
}

void PlacedJoints::begin_gradient(const ParameterSet& gradient) {
  for (State& state : states_) {
    state.is_wanted = has_placement(gradient, state.place.joint);
    state.sums = {};
    if (state.is_wanted) differentiate(state);
  }
  ratios_are_wanted_ = has_ratios(gradient);
  for (StateOfCoupling& coupling : couplings_) {
    coupling.is_wanted = has_ratio(gradient, coupling.joint());
    coupling.sum = Along(0.0);
  }
}

template <class T, class Sum>
void PlacedJoints::accumulate(const std::vector<std::vector<T>>& lambda, double scale, const Sum& sum) {
  for (State& state : states_) {
    if (!state.is_wanted) continue;
    const auto& constraints = state.constraints<T>();
    for (std::size_t k = 0; k < constraints.size(); ++k) {
      const T factor = T(scale) * lambda[state.place.assembly][state.index(k, state.num_of_joint())];
      state.add(factor, sum(constraints[k]).derivative);
    }
  }
}

template <class T, class Sum>
void PlacedJoints::accumulate_couplings(const std::vector<std::vector<T>>& lambda, double scale, const Sum& sum) {
  using ByRatio = Dual<T, 1>;
  for (StateOfCoupling& coupling : couplings_) {
    const auto& [joints, assembly, index] = coupling.of;
    const std::vector<T>& multipliers = lambda[assembly];
    // The multipliers of couplings are the last ones.
    std::size_t num_couplings = 0;
    for (const auto& other : couplings_) num_couplings += other.of.assembly == assembly;
    const T factor = T(scale) * multipliers[multipliers.size() - num_couplings + index];
    const std::array<PlacementOf<T>, 2> placements{states_[coupling.states[0]].template placement<T>(),
                                                   states_[coupling.states[1]].template placement<T>()};
    const T ratio = coupling.template ratio<T>();
    for (std::size_t side = 0; side < 2; ++side) {
      State& state = states_[coupling.states[side]];
      if (!state.is_wanted) continue;
      const auto moving = variables(placements[side]), fixed = constant<ByPlacement<T>>(placements[1 - side]);
      const auto fixed_ratio = ByPlacement<T>::constant(ratio);
      const auto g = side == 0 ? joints.at(moving, fixed, fixed_ratio) : joints.at(fixed, moving, fixed_ratio);
      state.add(factor, sum(g).derivative);
    }
    if (!coupling.is_wanted) continue;
    const T change = factor * sum(joints.at(constant<ByRatio>(placements[0]), constant<ByRatio>(placements[1]),
                                            ByRatio::variable(ratio, 0)))
                                  .derivative[0];
    if constexpr (std::is_same_v<T, double>)
      coupling.sum.value += change;
    else
      coupling.sum += change;
  }
}

template <class T>
void PlacedJoints::add_values(const std::vector<std::vector<T>>& lambda, const NodeVectors<T>& x, double scale) {
  accumulate(lambda, scale, [&](const ConstraintOf<ByPlacement<T>>& g) { return evaluate(g, x); });
  accumulate_couplings(lambda, scale, [&]<class S>(const JointCouplingOf<S>& g) {
    JointCoupling::NodeValues<S> gradient;
    return g.evaluate(constant_at(g, x), gradient);
  });
}

template <class T>
void PlacedJoints::add_slopes(const std::vector<std::vector<T>>& lambda, const NodeVectors<T>& x,
                              const NodeVectors<T>& w, double scale) {
  accumulate(lambda, scale, [&](const ConstraintOf<ByPlacement<T>>& g) { return slope_of(g, x, w); });
  accumulate_couplings(lambda, scale, [&]<class S>(const JointCouplingOf<S>& g) {
    JointCoupling::NodeValues<S> gradient;
    g.evaluate(constant_at(g, x), gradient);
    const auto along = constant_at(g, w);
    S slope(0.0);
    for (std::size_t k = 0; k < gradient.size(); ++k) slope += dot(gradient[k], along[k]);
    return slope;
  });
}

void PlacedJoints::move_to(ParameterSet& gradient) {
  for (State& state : states_) {
    Placement sums;
    for (std::size_t c = 0; c < 6; ++c) sums[c] = std::exchange(state.sums[c].value, 0.0);
    if (state.is_wanted) add_to_placement(gradient, state.place.joint, sums);
  }
  for (StateOfCoupling& coupling : couplings_)
    add_to_ratio(gradient, coupling.joint(), std::exchange(coupling.sum.value, 0.0));
}

void PlacedJoints::move_tangent_to(ParameterSet& gradient_tangent) {
  for (State& state : states_) {
    Placement sums;
    for (std::size_t c = 0; c < 6; ++c) sums[c] = std::exchange(state.sums[c].derivative[0], 0.0);
    if (state.is_wanted) add_to_placement(gradient_tangent, state.place.joint, sums);
  }
  for (StateOfCoupling& coupling : couplings_)
    add_to_ratio(gradient_tangent, coupling.joint(), std::exchange(coupling.sum.derivative[0], 0.0));
}

bool PlacedJoints::StateOfCoupling::needs_turns(TurnsFor purpose) const {
  if (!of.joints.turns()) return false;
  switch (purpose) {
    case TurnsFor::tangent:
      return direction != 0.0;
    case TurnsFor::adjoint:
      return is_wanted;
    case TurnsFor::step:
      break;
  }
  return !coupling_weights(value, true, true).is_periodic;
}

bool PlacedJoints::needs_turns(TurnsFor purpose) const {
  if (purpose != TurnsFor::step) return purpose == TurnsFor::tangent ? ratios_move_ : ratios_are_wanted_;
  return std::any_of(couplings_.begin(), couplings_.end(),
                     [&](const StateOfCoupling& coupling) { return coupling.needs_turns(purpose); });
}

void PlacedJoints::require_known_turns(const NodeVectors<double>& before, const NodeVectors<double>& after,
                                       TurnsFor purpose) const {
  for (const StateOfCoupling& coupling : couplings_) {
    if (!coupling.needs_turns(purpose)) continue;
    const JointCoupling g =
        coupling.of.joints.at(states_[coupling.states[0]].values, states_[coupling.states[1]].values, coupling.value);
    if (has_known_turns(g, before, after)) continue;
    const std::string &joint = coupling.joint().name, &leader = coupling.leader().name;
    if (purpose != TurnsFor::step)
      throw Error(
          fmt::format("no derivative with respect to '{}:{}' if joint '{}' or joint '{}' turns by more than π "
                      "from the rest position, because whole turns are not counted; use fewer steps, or remove "
                      "this parameter",
                      JointParameters::ratio.name, joint, joint, leader));
    throw Error(
        fmt::format("joint '{}' follows joint '{}' with the ratio {}, and one of both turns by more than π from "
                    "the rest position, but whole turns are not counted; use fewer steps, or a ratio that is a "
                    "fraction of integers with a denominator of at most 50",
                    joint, leader, coupling.value));
  }
}

#define DIFFSIM_PLACED_JOINTS(T)                                                                             \
  template void PlacedJoints::add_values(const std::vector<std::vector<T>>&, const NodeVectors<T>&, double); \
  template void PlacedJoints::add_slopes(const std::vector<std::vector<T>>&, const NodeVectors<T>&,          \
                                         const NodeVectors<T>&, double);
DIFFSIM_PLACED_JOINTS(double)
DIFFSIM_PLACED_JOINTS(Along)
#undef DIFFSIM_PLACED_JOINTS

}  // namespace diffsim::body
