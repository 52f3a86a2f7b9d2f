// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "contact/plane_force.hpp"
#include "contact/vertex_impact.hpp"

// Impact of the vertices of one rigid or affine body on planes. The functions run on the host, for the scalar types
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
  std::vector<std::size_t> planes{};             ///< indices of the planes that the body can touch
};

/// Number of values of a plane's parameters (PlaneForce).
constexpr int num_plane_values = PlaneForce<true>::num_values;

/// Quantities on which the impact of a body depends: positions x, velocities v and accelerations a of the corners at
/// the end of the substep, the scale s, and the values p of the parameters of each plane in `BodyOfImpact::planes`.
template <class T>
struct StateOfImpact {
  /// Number of scalars other than the values of planes.
  static constexpr int own_size = 37;
  Corners<T> x, v, a;
  T scale;
  std::vector<std::array<T, num_plane_values>> planes;

  int size() const { return own_size + num_plane_values * static_cast<int>(planes.size()); }
  /// Returns the scalar with the index i < `size()`, in the order of the members.
  T& at(int i) {
    if (i < 36) return (i < 12 ? x : i < 24 ? v : a)[static_cast<std::size_t>(i % 12 / 3)][i % 3];
    if (i == 36) return scale;
    const int k = i - own_size;
    return planes[static_cast<std::size_t>(k / num_plane_values)][static_cast<std::size_t>(k % num_plane_values)];
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

/// Impact of a body on planes.
///
/// Each vertex with a gap g_i < 0 to a plane at the end of the substep is a contact i. The time s_i before the end of
/// the substep at which the vertex passed the plane, the normal velocity -w_i at this time and the normal velocity
/// after the impact are those of a point that moves with a constant acceleration (make_plane_impact): the acceleration
/// of the vertex of an affine body, and the acceleration of the centre of mass of a rigid body, with which an impact
/// with e = 1 keeps the energy. Let j_i be the impulses at the contacts per mass of the body, K the change of the
/// velocities of all contacts per impulse, n_i the normal of the plane of contact i, and b_i the change of the normal
/// velocity that an impact at contact i alone would cause, or minus the normal velocity if the vertex does not approach
/// the plane. The impulses satisfy
///   j_i·n_i ≥ 0,   (K j)_i·n_i ≥ b_i,   (j_i·n_i) ((K j)_i·n_i - b_i) = 0,
/// and Coulomb's law for the sliding velocity after the impact, u_i + (K j)_i, where u_i is the sliding velocity at the
/// time of the impact (Moreau 1988, Unilateral contact and dry friction in finite freedom dynamics). The velocity of
/// the body changes by the sum of all impulses.
///
/// The position changes by the motion with the velocity K d during unit time, where the sliding components of d_i are
/// those of s_i j_i, and the normal components satisfy
///   d_i·n_i ≥ 0,   (K d)_i·n_i ≥ s_i b_i,   (d_i·n_i) ((K d)_i·n_i - s_i b_i) = 0.
/// A rigid body moves with this velocity of its centre of mass and rotates about this angular velocity.
///
/// Projected Gauss-Seidel iterations compute j and d. All derivatives are those of the executed iterations, with
/// constant step sizes and constant branches: the constructor computes the iterations once and stores which contacts
/// separate, stick and slide in each iteration, so that rounding errors of other scalar types do not change branches.
/// The number of iterations is twice the number of iterations until the velocity K j or K d is constant up to rounding
/// errors, but not more than `most_iterations`.
class BodyImpact {
 public:
  static constexpr int most_iterations = 800;

  /// `planes`: the planes in `body.planes`, in the same order.
  BodyImpact(const std::vector<const PlaneForce<true>*>& planes, const BodyOfImpact& body,
             const SubstepOfImpact& substep, const StateOfImpact<double>& at)
      : planes_(planes), body_(body), substep_(substep) {
    bool approaches = false;
    for (std::size_t k = 0; k < planes_.size(); ++k)
      for (std::size_t i = 0; i < body.weights.size(); ++i) {
        const auto values = vertex(at, {i, k});
        if (!(planes_[k]->gap(values) < 0.0)) continue;
        contacts_.push_back({i, k});
        approaches = approaches || dot(planes_[k]->normal_at(values), planes_[k]->relative_velocity(values)) < 0.0;
      }
    if (!approaches) contacts_.clear();
    if (contacts_.empty()) return;
    const Problem<double> problem = make_problem(at);
    choose_steps(problem);
    std::vector<Vec3<double>> impulses = choose_branches(problem);
    choose_placing(problem, impulses);
  }

  /// Returns false if the impact changes nothing.
  bool acts() const { return !contacts_.empty(); }

  template <class T>
  ChangeByImpact<T> change(const StateOfImpact<T>& at) const {
    const Problem<T> problem = make_problem(at);
    std::vector<Vec3<T>> impulses(contacts_.size(), zero<T>());
    BodyVelocity<T> velocity = still<T>();
    for (const std::vector<Branch>& branches : branches_) iterate(problem, branches, impulses, velocity);
    std::vector<T> shifts(contacts_.size(), T(0.0));
    BodyVelocity<T> motion = sliding_motion(problem, impulses);
    for (const std::vector<char>& separates : placing_) place(problem, separates, shifts, motion);
    return body_.is_rigid ? moved(problem, at, velocity, motion) : ChangeByImpact<T>{motion, velocity};
  }

  /// Vertex of the surface and index of the plane in `BodyOfImpact::planes` with the smallest gap, m.
  struct Lowest {
    double gap = 1e300;
    std::size_t vertex = 0, plane = 0;
  };
  static Lowest lowest_gap(const std::vector<const PlaneForce<true>*>& planes, const BodyOfImpact& body,
                           const SubstepOfImpact& substep, const StateOfImpact<double>& at) {
    const BodyImpact none(planes, body, substep);
    Lowest lowest;
    for (std::size_t k = 0; k < planes.size(); ++k)
      for (std::size_t i = 0; i < body.weights.size(); ++i)
        if (const double gap = planes[k]->gap(none.vertex(at, {i, k})); gap < lowest.gap) lowest = {gap, i, k};
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

  /// Vertex of the surface, and index of the plane in `BodyOfImpact::planes`.
  struct Place {
    std::size_t vertex, plane;
  };
  /// Contact of one vertex with one plane.
  template <class T>
  struct Contact {
    Weights<T> weights;
    Vec3<T> normal;  // n_i
    Vec3<T> r;       // position relative to the centre of mass
    Vec3<T> slip;    // u_i
    T push;          // b_i
    T since;         // s_i
    T mu;            // coefficient of friction
  };
  template <class T>
  struct Problem {
    Vec3<T> centre;
    double radius;               // distance of a corner from the centre of mass
    Vec3<T> inverse_inertia[3];  // rows of the inverse of the inertia per mass; not set for affine bodies
    std::vector<Contact<T>> contacts;
  };
  /// Step sizes of the iterations at a contact, for the normal and for the sliding component of the impulse.
  struct StepSize {
    double normal, sliding;
  };

  BodyImpact(const std::vector<const PlaneForce<true>*>& planes, const BodyOfImpact& body,
             const SubstepOfImpact& substep)
      : planes_(planes), body_(body), substep_(substep) {}

  template <class T>
  static Vec3<T> zero() {
    return {{T(0.0), T(0.0), T(0.0)}};
  }
  template <class T>
  static BodyVelocity<T> still() {
    return {zero<T>(), zero<T>(), zero<T>(), zero<T>()};
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
  AtVertex<T> vertex(const StateOfImpact<T>& at, const Place& place) const {
    const Weights<T> w = weights_of(body_, at, place.vertex);
    AtVertex<T> values;
    values.x = combined(at.x, w);
    values.v = combined(at.v, w);
    std::copy(at.planes[place.plane].begin(), at.planes[place.plane].end(), values.p);
    values.weight = T(1.0);
    values.time = T(substep_.time);
    return values;
  }

  template <class T>
  Problem<T> make_problem(const StateOfImpact<T>& at) const;
  template <class T>
  Contact<T> make_contact(const StateOfImpact<T>& at, const Place& place, const Vec3<T>& centre) const;
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
    const Contact<T>& contact = problem.contacts[i];
    const Vec3<T> change = at_contact(problem, i, velocity);
    return sliding - T(steps_[i].sliding) * (contact.slip + change - dot(contact.normal, change) * contact.normal);
  }
  /// Normal component of the impulse at contact i after an iteration, which may be negative. `old`: normal component
  /// before the iteration.
  template <class T>
  T normal_trial(const Problem<T>& problem, std::size_t i, const T& old, const BodyVelocity<T>& velocity) const {
    const Contact<T>& contact = problem.contacts[i];
    return old + steps_[i].normal * (contact.push - dot(contact.normal, at_contact(problem, i, velocity)));
  }
  /// Chooses the step sizes of the iterations: inverses of the largest responses of each contact to its own impulses.
  void choose_steps(const Problem<double>& problem);
  /// Chooses the number of iterations for the impulses and their branches. Returns the impulses.
  std::vector<Vec3<double>> choose_branches(const Problem<double>& problem);
  /// Chooses the number of iterations for the position and their branches.
  void choose_placing(const Problem<double>& problem, const std::vector<Vec3<double>>& impulses);
  /// Returns the motion by the sliding components of the impulses s_i j_i.
  template <class T>
  BodyVelocity<T> sliding_motion(const Problem<T>& problem, const std::vector<Vec3<T>>& impulses) const {
    BodyVelocity<T> motion = still<T>();
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const Contact<T>& contact = problem.contacts[i];
      push(problem, i, contact.since * (impulses[i] - dot(contact.normal, impulses[i]) * contact.normal), motion);
    }
    return motion;
  }
  /// Component d_i·n_i after an iteration, which may be negative. `old`: component before the iteration.
  template <class T>
  T shift_trial(const Problem<T>& problem, std::size_t i, const T& old, const BodyVelocity<T>& motion) const {
    const Contact<T>& contact = problem.contacts[i];
    return old +
           steps_[i].normal * (contact.since * contact.push - dot(contact.normal, at_contact(problem, i, motion)));
  }
  /// Computes one Gauss-Seidel iteration for the components d_i·n_i over all contacts, with the given branches.
  template <class T>
  void place(const Problem<T>& problem, const std::vector<char>& separates, std::vector<T>& shifts,
             BodyVelocity<T>& motion) const {
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const T next = separates[i] != 0 ? T(0.0) : shift_trial(problem, i, shifts[i], motion);
      push(problem, i, (next - shifts[i]) * problem.contacts[i].normal, motion);
      shifts[i] = next;
    }
  }
  /// Returns true if the velocity `now` equals the velocity `before` up to rounding errors.
  bool is_constant(const Problem<double>& problem, const BodyVelocity<double>& before,
                   const BodyVelocity<double>& now) const {
    double change = 0.0, size = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
      // Angular velocities are compared with velocities by the distance of a corner from the centre of mass.
      const double scale = body_.is_rigid && c == 1 ? problem.radius : 1.0;
      const Vec3<double> difference = scale * (now[c] - before[c]);
      change += dot(difference, difference);
      size += scale * scale * dot(now[c], now[c]);
    }
    return change <= 1e-30 * size;
  }
  /// Returns the changes of the corners of a rigid body.
  template <class T>
  ChangeByImpact<T> moved(const Problem<T>& problem, const StateOfImpact<T>& at, const BodyVelocity<T>& velocity,
                          const BodyVelocity<T>& motion) const;

  const std::vector<const PlaneForce<true>*>& planes_;
  const BodyOfImpact& body_;
  SubstepOfImpact substep_;
  std::vector<Place> contacts_;
  std::vector<StepSize> steps_;
  std::vector<std::vector<Branch>> branches_;  // of each iteration for the impulses, and each contact
  std::vector<std::vector<char>> placing_;     // 1: d_i·n_i = 0; of each iteration for the position, and each contact
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
  for (const Place& place : contacts_) problem.contacts.push_back(make_contact(at, place, problem.centre));
  return problem;
}

template <class T>
BodyImpact::Contact<T> BodyImpact::make_contact(const StateOfImpact<T>& at, const Place& place,
                                                const Vec3<T>& centre) const {
  using std::sqrt;
  const PlaneForce<true>& plane = *planes_[place.plane];
  const AtVertex<T> values = vertex(at, place);
  const Vec3<T> normal = plane.normal_at(values);
  Contact<T> contact;
  contact.weights = weights_of(body_, at, place.vertex);
  contact.normal = normal;
  contact.r = values.x - centre;
  contact.mu = values.p[PlaneForce<true>::mu];
  const VertexAtPlane<T> at_plane{
      plane.height(values) - plane.offset(values), plane.relative_velocity(values),
      combined(at.a, body_.is_rigid ? Weights<T>{T(0.25), T(0.25), T(0.25), T(0.25)} : contact.weights), normal};
  const T rate = dot(normal, at_plane.u);
  if (!(value_of(rate) < 0.0)) {
    contact.slip = at_plane.u - rate * normal;
    contact.push = -rate;
    contact.since = T(0.0);
    return contact;
  }
  const VertexImpact<T> impact = vertex_impact(at_plane, values.p[PlaneForce<true>::damping], substep_.h);
  contact.slip = impact.slip;
  contact.push = impact.push;
  contact.since = impact.since;
  return contact;
}

template <class T>
void BodyImpact::iterate(const Problem<T>& problem, const std::vector<Branch>& branches, std::vector<Vec3<T>>& impulses,
                         BodyVelocity<T>& velocity) const {
  using std::sqrt;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact<T>& contact = problem.contacts[i];
    const Vec3<T>& n = contact.normal;
    const T old = dot(n, impulses[i]);
    const T along = branches[i].separates ? T(0.0) : normal_trial(problem, i, old, velocity);
    push(problem, i, (along - old) * n, velocity);
    const Vec3<T> sliding = impulses[i] - old * n;
    Vec3<T> next = sliding_trial(problem, i, sliding, velocity);
    if (branches[i].slides) next = T(contact.mu * along / sqrt(dot(next, next))) * next;
    push(problem, i, next - sliding, velocity);
    impulses[i] = along * n + next;
  }
}

inline std::vector<Vec3<double>> BodyImpact::choose_branches(const Problem<double>& problem) {
  std::vector<Vec3<double>> impulses(contacts_.size(), zero<double>());
  BodyVelocity<double> velocity = still<double>();
  int count = most_iterations;
  for (int k = 0; k < count; ++k) {
    const BodyVelocity<double> before = velocity;
    std::vector<Branch> branches(contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const Vec3<double>& n = problem.contacts[i].normal;
      const double old = dot(n, impulses[i]);
      double along = normal_trial(problem, i, old, velocity);
      branches[i].separates = !(along > 0.0);
      if (branches[i].separates) along = 0.0;
      push(problem, i, (along - old) * n, velocity);
      const Vec3<double> sliding = impulses[i] - old * n;
      Vec3<double> next = sliding_trial(problem, i, sliding, velocity);
      const double size = std::sqrt(dot(next, next)), limit = problem.contacts[i].mu * along;
      branches[i].slides = size > limit;
      if (branches[i].slides) next = (limit / size) * next;
      push(problem, i, next - sliding, velocity);
      impulses[i] = along * n + next;
    }
    branches_.push_back(std::move(branches));
    if (count == most_iterations && is_constant(problem, before, velocity)) count = std::min(count, 2 * (k + 1));
  }
  return impulses;
}

inline void BodyImpact::choose_placing(const Problem<double>& problem, const std::vector<Vec3<double>>& impulses) {
  std::vector<double> shifts(contacts_.size(), 0.0);
  BodyVelocity<double> motion = sliding_motion(problem, impulses);
  int count = most_iterations;
  for (int k = 0; k < count; ++k) {
    const BodyVelocity<double> before = motion;
    std::vector<char> separates(contacts_.size(), 0);
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      double next = shift_trial(problem, i, shifts[i], motion);
      separates[i] = next > 0.0 ? 0 : 1;
      if (separates[i] != 0) next = 0.0;
      push(problem, i, (next - shifts[i]) * problem.contacts[i].normal, motion);
      shifts[i] = next;
    }
    placing_.push_back(std::move(separates));
    if (count == most_iterations && is_constant(problem, before, motion)) count = std::min(count, 2 * (k + 1));
  }
}

inline void BodyImpact::choose_steps(const Problem<double>& problem) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Vec3<double>& n = problem.contacts[i].normal;
    const auto response = [&](const Vec3<double>& impulse) {
      BodyVelocity<double> q = still<double>();
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
