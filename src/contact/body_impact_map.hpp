// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "contact/plane_force.hpp"

// Impact of the vertices of one rigid or affine body on a plane. The functions run on the host, for the scalar types
// double and Dual.

namespace diffsim::contact {

/// Positions, velocities or accelerations of the four corners of an affine or rigid body, each with a quarter of the
/// body's mass.
template <class T>
using Corners = std::array<Vec3<T>, 4>;

/// Surface of a body. The position of a vertex is Σ_k [c_k + s (w_k - c_k)] x_k with the positions x_k of the corners,
/// the weights w_k of the vertex, the weights c_k of the centre of scaling and the scale s.
struct BodyOfImpact {
  bool is_rigid = false;
  std::array<int, 4> corners{};                  ///< local vertices of the mesh
  std::vector<std::array<double, 4>> weights{};  ///< w_k of each vertex of the surface
  std::array<double, 4> centre{};                ///< c_k
  int scale = -1;                                ///< index of the scale; -1: no scale, s = 1
};

/// Quantities on which the impact of a body depends: positions x, velocities v and accelerations a of the corners at
/// the end of the substep, values p of the plane's parameters (PlaneForce) and the scale s.
template <class T>
struct StateOfImpact {
  static constexpr int num_parameters = PlaneForce<true>::num_values, size = 37 + num_parameters;
  Corners<T> x, v, a;
  T p[num_parameters];
  T scale;

  /// Returns the scalar with the index i < `size`, in the order of the members.
  T& at(int i) {
    if (i < 36) return (i < 12 ? x : i < 24 ? v : a)[static_cast<std::size_t>(i % 12 / 3)][i % 3];
    return i < 36 + num_parameters ? p[i - 36] : scale;
  }
};

/// Changes of the positions x and of the velocities v of a body's corners.
template <class T>
struct ChangeByImpact {
  Corners<T> x, v;
};

/// Substep at whose end an impact acts.
struct SubstepOfImpact {
  double h;     ///< length, s
  double time;  ///< time at the end, s
};

/// Velocity of a rigid body, the velocity V of the centre of mass and the angular velocity ω, or velocities of the
/// corners of an affine body.
template <class T>
using BodyVelocity = std::array<Vec3<T>, 4>;

/// Impact of a body on a plane.
///
/// Each vertex i with a gap g_i < 0 at the end of the substep is a contact. The time s_i before the end of the substep
/// at which vertex i passed the plane, the normal velocity -w_i at this time and the normal velocity after the impact
/// are those of a point that moves with the constant acceleration of the vertex (make_plane_impact). Let j_i be the
/// impulses at the contacts per mass of the body, K the change of the velocities of all vertices per impulse, n the
/// normal of the plane, and b_i the change of the normal velocity that an impact of vertex i alone would cause, or
/// minus the normal velocity if vertex i does not approach the plane. The impulses satisfy
///   j_i·n ≥ 0,   (K j)_i·n ≥ b_i,   (j_i·n) ((K j)_i·n - b_i) = 0,
/// and Coulomb's law for the sliding velocity after the impact, u_i + (K j)_i, where u_i is the sliding velocity at the
/// time of the impact (Moreau 1988, Unilateral contact and dry friction in finite freedom dynamics). The impulses are
/// computed by projected Gauss-Seidel iterations. The velocity of the body changes by the sum of all impulses. The
/// position changes by the motion with the velocity Σ_i s_i K j_i, during unit time; a rigid body moves with this
/// velocity of its centre of mass and rotates about this angular velocity.
///
/// All derivatives are those of the executed iterations, with constant step sizes and constant branches: the
/// constructor computes the iterations once and stores which contacts separate, stick and slide in each iteration, so
/// that rounding errors of other scalar types do not change branches. The number of iterations is twice the number of
/// iterations until the velocity of the body is constant up to rounding errors.
class BodyImpact {
 public:
  BodyImpact(const PlaneForce<true>& plane, const BodyOfImpact& body, const SubstepOfImpact& substep,
             const StateOfImpact<double>& at)
      : plane_(plane), body_(body), substep_(substep) {
    bool approaches = false;
    for (std::size_t i = 0; i < body.weights.size(); ++i) {
      const auto values = vertex(at, i);
      if (!(plane.gap(values) < 0.0)) continue;
      contacts_.push_back(i);
      approaches = approaches || dot(plane.normal_at(values), plane.relative_velocity(values)) < 0.0;
    }
    if (!approaches) contacts_.clear();
    if (contacts_.empty()) return;
    const Problem<double> problem = make_problem(at);
    choose_steps(problem);
    choose_branches(problem);
  }

  /// Returns false if the impact changes nothing.
  bool acts() const { return !contacts_.empty(); }

  template <class T>
  ChangeByImpact<T> change(const StateOfImpact<T>& at) const {
    const Problem<T> problem = make_problem(at);
    std::vector<Vec3<T>> impulses(contacts_.size(), zero<T>());
    BodyVelocity<T> velocity{zero<T>(), zero<T>(), zero<T>(), zero<T>()};
    for (const std::vector<Branch>& branches : branches_) iterate(problem, branches, impulses, velocity);
    BodyVelocity<T> motion{zero<T>(), zero<T>(), zero<T>(), zero<T>()};
    for (std::size_t i = 0; i < contacts_.size(); ++i)
      push(problem, i, problem.contacts[i].since * impulses[i], motion);
    return body_.is_rigid ? moved(problem, at, velocity, motion) : ChangeByImpact<T>{motion, velocity};
  }

  /// Smallest gap of the body's vertices, m, and the index of the vertex.
  static std::pair<double, std::size_t> lowest_gap(const PlaneForce<true>& plane, const BodyOfImpact& body,
                                                   const SubstepOfImpact& substep, const StateOfImpact<double>& at) {
    const BodyImpact none(plane, body, substep);
    std::pair<double, std::size_t> lowest{1e300, 0};
    for (std::size_t i = 0; i < body.weights.size(); ++i) lowest = std::min(lowest, {plane.gap(none.vertex(at, i)), i});
    return lowest;
  }
  /// Position of vertex i of the surface.
  static Vec3<double> position(const BodyOfImpact& body, const StateOfImpact<double>& at, std::size_t i) {
    return combined(at.x, weights_of(body, at, i));
  }

 private:
  template <class T>
  using AtVertex = PlaneForce<true>::At<T>;
  template <class T>
  using Weights = std::array<T, 4>;

  /// Contact of one vertex.
  template <class T>
  struct Contact {
    Weights<T> weights;
    Vec3<T> r;     // position relative to the centre of mass
    Vec3<T> slip;  // u_i
    T push;        // b_i
    T since;       // s_i
  };
  template <class T>
  struct Problem {
    Vec3<T> normal, centre;
    double radius;               // distance of a corner from the centre of mass
    Vec3<T> inverse_inertia[3];  // rows of the inverse of the inertia per mass; not set for affine bodies
    T mu;
    std::vector<Contact<T>> contacts;
  };
  /// Step sizes of the iterations at a contact, for the normal and for the sliding component of the impulse.
  struct StepSize {
    double normal, sliding;
  };

  BodyImpact(const PlaneForce<true>& plane, const BodyOfImpact& body, const SubstepOfImpact& substep)
      : plane_(plane), body_(body), substep_(substep) {}

  template <class T>
  static Vec3<T> zero() {
    return {{T(0.0), T(0.0), T(0.0)}};
  }
  template <class T>
  static Vec3<T> combined(const Corners<T>& q, const Weights<T>& w) {
    Vec3<T> sum = zero<T>();
    for (std::size_t k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) sum[c] = sum[c] + w[k] * q[k][c];
    return sum;
  }
  template <class T>
  static Weights<T> weights_of(const BodyOfImpact& body, const StateOfImpact<T>& at, std::size_t i) {
    Weights<T> w;
    for (std::size_t k = 0; k < 4; ++k)
      w[k] =
          body.scale < 0 ? T(body.weights[i][k]) : T(body.centre[k] + at.scale * (body.weights[i][k] - body.centre[k]));
    return w;
  }
  template <class T>
  AtVertex<T> vertex(const StateOfImpact<T>& at, std::size_t i) const {
    const Weights<T> w = weights_of(body_, at, i);
    AtVertex<T> values;
    values.x = combined(at.x, w);
    values.v = combined(at.v, w);
    for (int k = 0; k < StateOfImpact<T>::num_parameters; ++k) values.p[k] = at.p[k];
    values.weight = T(1.0);
    values.time = T(substep_.time);
    return values;
  }

  template <class T>
  Problem<T> make_problem(const StateOfImpact<T>& at) const;
  template <class T>
  Contact<T> make_contact(const StateOfImpact<T>& at, std::size_t i, const Vec3<T>& normal,
                          const Vec3<T>& centre) const;
  /// Returns the change of the velocity of contact i by the velocity `q` of the body.
  template <class T>
  Vec3<T> at_contact(const Problem<T>& problem, std::size_t i, const BodyVelocity<T>& q) const {
    const Contact<T>& contact = problem.contacts[i];
    return body_.is_rigid ? Vec3<T>(q[0] + cross(q[1], contact.r)) : combined(q, contact.weights);
  }
  /// Adds to `q` the change of the body's velocity by the impulse `j` at contact i.
  template <class T>
  void push(const Problem<T>& problem, std::size_t i, const Vec3<T>& j, BodyVelocity<T>& q) const {
    const Contact<T>& contact = problem.contacts[i];
    if (!body_.is_rigid) {
      for (std::size_t k = 0; k < 4; ++k) q[k] = q[k] + T(4.0 * contact.weights[k]) * j;
      return;
    }
    const Vec3<T> moment = cross(contact.r, j);
    q[0] = q[0] + j;
    for (int c = 0; c < 3; ++c) q[1][c] = q[1][c] + dot(problem.inverse_inertia[c], moment);
  }
  /// Branch of an iteration at a contact.
  struct Branch {
    bool separates = false, slides = false;
  };
  /// Computes one Gauss-Seidel iteration over all contacts, with the given branches.
  template <class T>
  void iterate(const Problem<T>& problem, const std::vector<Branch>& branches, std::vector<Vec3<T>>& impulses,
               BodyVelocity<T>& velocity) const;
  /// Sliding component of the impulse at contact i after an iteration, without the limit of friction. `sliding`:
  /// sliding component before the iteration.
  template <class T>
  Vec3<T> sliding_trial(const Problem<T>& problem, std::size_t i, const Vec3<T>& sliding,
                        const BodyVelocity<T>& velocity) const {
    const Vec3<T> change = at_contact(problem, i, velocity);
    return sliding -
           T(steps_[i].sliding) * (problem.contacts[i].slip + change - dot(problem.normal, change) * problem.normal);
  }
  /// Normal component of the impulse at contact i after an iteration, which may be negative. `old`: normal component
  /// before the iteration.
  template <class T>
  T normal_trial(const Problem<T>& problem, std::size_t i, const T& old, const BodyVelocity<T>& velocity) const {
    return old + steps_[i].normal * (problem.contacts[i].push - dot(problem.normal, at_contact(problem, i, velocity)));
  }
  /// Chooses the step sizes of the iterations: inverses of the largest responses of each contact to its own impulses.
  void choose_steps(const Problem<double>& problem);
  /// Chooses the number of iterations and their branches.
  void choose_branches(const Problem<double>& problem);
  /// Returns the changes of the corners of a rigid body.
  template <class T>
  ChangeByImpact<T> moved(const Problem<T>& problem, const StateOfImpact<T>& at, const BodyVelocity<T>& velocity,
                          const BodyVelocity<T>& motion) const;

  const PlaneForce<true>& plane_;
  const BodyOfImpact& body_;
  SubstepOfImpact substep_;
  std::vector<std::size_t> contacts_;
  std::vector<StepSize> steps_;
  std::vector<std::vector<Branch>> branches_;  // of each iteration and contact
};

/// Returns the rows of the inverse of a symmetric matrix with the rows `m`.
template <class T>
std::array<Vec3<T>, 3> inverse_of(const Vec3<T> (&m)[3]) {
  const Vec3<T> cofactors[3] = {cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])};
  const T inverse = T(1.0) / dot(m[0], cofactors[0]);
  return {inverse * cofactors[0], inverse * cofactors[1], inverse * cofactors[2]};
}

template <class T>
BodyImpact::Problem<T> BodyImpact::make_problem(const StateOfImpact<T>& at) const {
  Problem<T> problem;
  problem.normal = plane_.normal_at(vertex(at, contacts_.front()));
  problem.mu = at.p[PlaneForce<true>::mu];
  problem.centre = combined(at.x, Weights<T>{T(0.25), T(0.25), T(0.25), T(0.25)});
  const Vec3<T> first = at.x[0] - problem.centre;
  problem.radius = std::sqrt(value_of(dot(first, first)));
  if (body_.is_rigid) {
    Vec3<T> inertia[3] = {zero<T>(), zero<T>(), zero<T>()};
    for (const Vec3<T>& x : at.x) {
      const Vec3<T> r = x - problem.centre;
      const T square = dot(r, r);
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) inertia[i][k] = inertia[i][k] + 0.25 * ((i == k ? square : T(0.0)) - r[i] * r[k]);
    }
    const auto rows = inverse_of(inertia);
    std::copy(rows.begin(), rows.end(), problem.inverse_inertia);
  }
  for (const std::size_t i : contacts_) problem.contacts.push_back(make_contact(at, i, problem.normal, problem.centre));
  return problem;
}

template <class T>
BodyImpact::Contact<T> BodyImpact::make_contact(const StateOfImpact<T>& at, std::size_t i, const Vec3<T>& normal,
                                                const Vec3<T>& centre) const {
  using std::sqrt;
  const AtVertex<T> values = vertex(at, i);
  Contact<T> contact;
  contact.weights = weights_of(body_, at, i);
  contact.r = values.x - centre;
  const Vec3<T> u = plane_.relative_velocity(values), a = combined(at.a, contact.weights);
  const T g = plane_.height(values) - plane_.offset(values), rate = dot(normal, u), pull = dot(normal, a);
  contact.slip = u - rate * normal;
  contact.push = -rate;
  contact.since = T(0.0);
  if (!(value_of(rate) < 0.0)) return contact;
  const T square = rate * rate - 2.0 * pull * g;  // w²
  const T& e = at.p[PlaneForce<true>::damping];
  const T speed = value_of(square) > 0.0 ? T(sqrt(square)) : T(0.0);
  T since = -2.0 * g / (speed - rate);
  if (value_of(since) > substep_.h) since = T(substep_.h);
  if (value_of(e) * value_of(speed) + value_of(pull) * value_of(since) < 0.0) {  // the vertex comes to rest
    contact.since = value_of(g) > value_of(rate) * substep_.h ? T(g / rate) : T(substep_.h);
    return contact;
  }
  contact.push = (1.0 + e) * speed;
  contact.since = since;
  contact.slip = contact.slip - since * (a - pull * normal);
  return contact;
}

template <class T>
void BodyImpact::iterate(const Problem<T>& problem, const std::vector<Branch>& branches, std::vector<Vec3<T>>& impulses,
                         BodyVelocity<T>& velocity) const {
  using std::sqrt;
  const Vec3<T>& n = problem.normal;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const T old = dot(n, impulses[i]);
    const T along = branches[i].separates ? T(0.0) : normal_trial(problem, i, old, velocity);
    push(problem, i, (along - old) * n, velocity);
    const Vec3<T> sliding = impulses[i] - old * n;
    Vec3<T> next = sliding_trial(problem, i, sliding, velocity);
    if (branches[i].slides) next = T(problem.mu * along / sqrt(dot(next, next))) * next;
    push(problem, i, next - sliding, velocity);
    impulses[i] = along * n + next;
  }
}

inline void BodyImpact::choose_branches(const Problem<double>& problem) {
  constexpr int most = 400;
  const Vec3<double>& n = problem.normal;
  std::vector<Vec3<double>> impulses(contacts_.size(), zero<double>());
  BodyVelocity<double> velocity{zero<double>(), zero<double>(), zero<double>(), zero<double>()};
  int needed = most;
  for (int k = 0; k < 2 * needed; ++k) {
    const BodyVelocity<double> before = velocity;
    std::vector<Branch> branches(contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const double old = dot(n, impulses[i]);
      double along = normal_trial(problem, i, old, velocity);
      branches[i].separates = !(along > 0.0);
      if (branches[i].separates) along = 0.0;
      push(problem, i, (along - old) * n, velocity);
      const Vec3<double> sliding = impulses[i] - old * n;
      Vec3<double> next = sliding_trial(problem, i, sliding, velocity);
      const double size = std::sqrt(dot(next, next)), limit = problem.mu * along;
      branches[i].slides = size > limit;
      if (branches[i].slides) next = (limit / size) * next;
      push(problem, i, next - sliding, velocity);
      impulses[i] = along * n + next;
    }
    branches_.push_back(std::move(branches));
    double change = 0.0, size = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
      // Angular velocities are compared with velocities by the distance of a corner from the centre of mass.
      const double scale = body_.is_rigid && c == 1 ? problem.radius : 1.0;
      const Vec3<double> difference = scale * (velocity[c] - before[c]);
      change += dot(difference, difference);
      size += scale * scale * dot(velocity[c], velocity[c]);
    }
    if (needed == most && change <= 1e-30 * size) needed = k + 1;
  }
}

inline void BodyImpact::choose_steps(const Problem<double>& problem) {
  const Vec3<double>& n = problem.normal;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const auto response = [&](const Vec3<double>& impulse) {
      BodyVelocity<double> q{zero<double>(), zero<double>(), zero<double>(), zero<double>()};
      push(problem, i, impulse, q);
      return at_contact(problem, i, q);
    };
    // Sum and sum of the squares of the two eigenvalues λ of the response to impulses in sliding directions.
    double sum = 0.0, squares = 0.0;
    for (int c = 0; c < 3; ++c) {
      Vec3<double> unit = zero<double>();
      unit[c] = 1.0;
      const Vec3<double> full = response(unit - n[c] * n), sliding = full - dot(n, full) * n;
      sum += sliding[c];
      squares += dot(sliding, sliding);
    }
    const double largest = 0.5 * (sum + std::sqrt(std::max(0.0, 2.0 * squares - sum * sum)));
    steps_.push_back({1.0 / dot(n, response(n)), 1.0 / largest});
  }
}

template <class T>
ChangeByImpact<T> BodyImpact::moved(const Problem<T>& problem, const StateOfImpact<T>& at,
                                    const BodyVelocity<T>& velocity, const BodyVelocity<T>& motion) const {
  using std::sqrt;
  // Unit quaternion (c, q) of a rotation by 2 atan(|θ|/2) about θ.
  const Vec3<T> half = T(0.5) * motion[1];
  const T c = T(1.0) / sqrt(T(1.0 + dot(half, half)));
  const Vec3<T> q = c * half;
  const auto turn = [&](const Vec3<T>& r) {
    const Vec3<T> side = cross(q, r);
    return Vec3<T>(r + T(2.0) * (c * side + cross(q, side)));
  };
  const Vec3<T> mean = combined(at.v, Weights<T>{T(0.25), T(0.25), T(0.25), T(0.25)});
  Vec3<T> moment = zero<T>(), omega;
  for (std::size_t k = 0; k < 4; ++k) moment = moment + T(0.25) * cross(at.x[k] - problem.centre, at.v[k] - mean);
  for (int i = 0; i < 3; ++i) omega[i] = dot(problem.inverse_inertia[i], moment);
  ChangeByImpact<T> change;
  for (std::size_t k = 0; k < 4; ++k) {
    const Vec3<T> r = at.x[k] - problem.centre;
    change.x[k] = motion[0] + turn(r) - r;
    // The rotation turns the angular velocity, too.
    change.v[k] = velocity[0] + turn(cross(omega + velocity[1], r)) - cross(omega, r);
  }
  return change;
}

}  // namespace diffsim::contact
