// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "body/joint_drive.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::body {
namespace {

/// Returns sin x and 1 - cos x.
std::array<double, 2> sine_and_versine(double x) { return {std::sin(x), 2.0 * std::sin(0.5 * x) * std::sin(0.5 * x)}; }
template <class T>
std::array<Dual<T, 1>, 2> sine_and_versine(const Dual<T, 1>& x) {
  const auto [sine, versine] = sine_and_versine(x.value);
  return {detail::chain(x, sine, T(T(1.0) - versine)), detail::chain(x, versine, sine)};
}

/// Motion of the bodies on one side of a joint: a rotation about an axis through a point, or a translation along the
/// axis, by factor · (q - q₀) with value number `value` of the unknown, q, and its start value q₀.
struct Move {
  std::size_t value;
  double factor;
  bool is_rotation;
  Vec3<double> point, axis;    ///< at the initial positions; `axis` is a unit vector
  std::set<std::size_t> side;  ///< indices of the bodies that move

  /// Returns the position to which the motion by `change` = factor · (q - q₀) brings the position x.
  template <class T>
  Vec3<T> apply(const T& change, const Vec3<T>& x) const {
    Vec3<T> to;
    if (!is_rotation) {
      for (int c = 0; c < 3; ++c) to[c] = x[c] + axis[c] * change;
      return to;
    }
    Vec3<T> r;
    for (int c = 0; c < 3; ++c) r[c] = x[c] - point[c];
    const auto [turn, rest] = sine_and_versine(change);
    T along(0.0);
    for (int c = 0; c < 3; ++c) along = along + axis[c] * r[c];
    for (int c = 0; c < 3; ++c) {
      const int i = (c + 1) % 3, j = (c + 2) % 3;
      const T across = axis[i] * r[j] - axis[j] * r[i];
      // Rodrigues: r cos θ + a × r sin θ + a (a·r) (1 - cos θ)
      to[c] = x[c] - rest * r[c] + turn * across + axis[c] * (rest * along);
    }
    return to;
  }
  /// Returns the velocity at the position x for the rate 1 of the joint's coordinate.
  Vec3<double> velocity(const double* x) const {
    if (!is_rotation) return factor * axis;
    const Vec3<double> r{{x[0] - point[0], x[1] - point[1], x[2] - point[2]}};
    return factor * cross(axis, r);
  }
};

/// Owned vertex and the indices of the motions that move the vertex, from the root of the tree of joints to the leaves.
struct Moved {
  std::size_t vertex;
  std::vector<std::size_t> moves;
};

/// Bodies and joints of a scene, and the joints whose coordinates are values of an unknown.
class Tree {
 public:
  Tree(const TetrahedralMesh& mesh, const std::vector<Joint>& joints, const std::vector<std::string>& names)
      : mesh_(mesh), joints_(joints), names_(names) {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const std::size_t j = find(names_[k]);
      if (std::count(names_.begin(), names_.end(), names_[k]) > 1) fail(names_[k], "is listed twice");
      if (!joints_[j].follows.empty())
        fail(names_[k], "follows joint '" + joints_[j].follows + "'; give the name of that joint");
      add_move(j, k, 1.0);
    }
    for (const Joint& joint : joints_)
      if (joint.armature > 0.0) fail(joint.name, "has an armature, whose rotor would not follow the coordinate");
    std::stable_sort(moves_.begin(), moves_.end(),
                     [](const Move& a, const Move& b) { return a.side.size() > b.side.size(); });
    require_nested();
  }

  const std::vector<Move>& moves() const { return moves_; }
  const Joint& joint(std::size_t k) const { return joints_[find(names_[k])]; }
  /// Returns the owned vertices that move, with the indices of their moves. Throws Error (input) if a vertex is not at
  /// its rest position. Collective.
  std::vector<Moved> moved(const std::vector<double>& positions) const {
    std::vector<Moved> all;
    double off = 0.0, extent = 0.0;
    for (std::size_t v = 0; v < static_cast<std::size_t>(mesh_.num_owned_vertices()); ++v) {
      const auto body = static_cast<std::size_t>(body_of_vertex(mesh_.bodies(), mesh_.vertex_order().file_index()[v]));
      Moved of{v, {}};
      for (std::size_t m = 0; m < moves_.size(); ++m)
        if (moves_[m].side.count(body) > 0) of.moves.push_back(m);
      if (of.moves.empty()) continue;
      for (std::size_t i = 3 * v; i < 3 * v + 3; ++i) {
        off = std::max(off, std::abs(positions[i] - mesh_.rest_positions()[i]));
        extent = std::max(extent, std::abs(positions[i]));
      }
      all.push_back(std::move(of));
    }
    double most[2] = {off, extent};
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, mesh_.comm()));
    if (most[0] > 1e-9 * most[1])
      throw Error("initial coordinates of joints need bodies at their rest positions; remove initial displacements",
                  ErrorKind::input);
    return all;
  }

 private:
  [[noreturn]] static void fail(const std::string& joint, const std::string& what) {
    throw Error("initial coordinates: joint '" + joint + "' " + what, ErrorKind::input);
  }
  std::size_t find(const std::string& name) const {
    const auto found = std::find_if(joints_.begin(), joints_.end(), [&](const Joint& j) { return j.name == name; });
    if (found == joints_.end()) fail(name, "does not exist");
    return static_cast<std::size_t>(found - joints_.begin());
  }
  /// Returns the bodies that joints other than joint `without` connect with `body`. Sets `world` to true if one of
  /// these joints connects a body with the world.
  std::set<std::size_t> connected(const std::string& body, std::size_t without, bool& world) const {
    std::set<std::string> names{body};
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t j = 0; j < joints_.size(); ++j) {
        const Joint& joint = joints_[j];
        const bool has = names.count(joint.body) > 0, has_other = names.count(joint.other) > 0;
        if (j == without || !(has || has_other)) continue;
        if (joint.other.empty())
          world = true;
        else
          grows = names.insert(has ? joint.other : joint.body).second || grows;
      }
    }
    std::set<std::size_t> bodies;
    for (const std::string& name : names) bodies.insert(static_cast<std::size_t>(mesh_.find_body(name)));
    return bodies;
  }
  /// Adds the motion by joint j, and the motions by the joints that follow joint j.
  void add_move(std::size_t j, std::size_t value, double factor) {
    const Joint& joint = joints_[j];
    require_coordinate(joint);
    bool fixes_body = false, fixes_other = joint.other.empty();
    const std::set<std::size_t> own = connected(joint.body, j, fixes_body);
    std::set<std::size_t> other;
    if (!joint.other.empty()) other = connected(joint.other, j, fixes_other);
    if ((fixes_body && fixes_other) || (!joint.other.empty() && own == other))
      fail(joint.name, "belongs to a closed loop of joints");
    const double length = std::hypot(joint.axis[0], joint.axis[1], joint.axis[2]);
    Move move{value, fixes_body ? -factor : factor, joint.kind == JointKind::revolute, {},
              {},    fixes_body ? other : own};
    for (int c = 0; c < 3; ++c) {
      move.point[c] = joint.point[static_cast<std::size_t>(c)];
      move.axis[c] = joint.axis[static_cast<std::size_t>(c)] / length;
    }
    moves_.push_back(std::move(move));
    for (std::size_t k = 0; k < joints_.size(); ++k)
      if (joints_[k].follows == joint.name) add_move(k, value, factor * joints_[k].ratio);
  }
  void require_nested() const {
    for (std::size_t a = 0; a < moves_.size(); ++a)
      for (std::size_t b = a + 1; b < moves_.size(); ++b) {
        const std::set<std::size_t>&large = moves_[a].side, &small = moves_[b].side;
        const auto inside =
            std::count_if(small.begin(), small.end(), [&](std::size_t i) { return large.count(i) > 0; });
        if (inside > 0 && inside < static_cast<std::ptrdiff_t>(small.size()))
          throw Error(
              "initial coordinates: the joints do not form a tree with one root; give `body` and `to` of each joint "
              "such "
              "that `to` is nearer to the root",
              ErrorKind::input);
      }
  }

  const TetrahedralMesh& mesh_;
  const std::vector<Joint>& joints_;
  const std::vector<std::string>& names_;
  std::vector<Move> moves_;
};

Dual<double, 1> along(double value, double derivative) {
  Dual<double, 1> x(value);
  x.derivative[0] = derivative;
  return x;
}

}  // namespace

struct JointStart::Data {
  std::vector<Move> moves;
  std::vector<Moved> moved;
  std::vector<double> base;  // initial positions

  template <class T>
  Vec3<T> place(const Moved& of, const std::vector<T>& q, const std::vector<double>& start) const {
    Vec3<T> x;
    for (int c = 0; c < 3; ++c) x[c] = T(base[3 * of.vertex + static_cast<std::size_t>(c)]);
    for (auto move = of.moves.rbegin(); move != of.moves.rend(); ++move) {
      const Move& by = moves[*move];
      x = by.apply(T(by.factor * (q[by.value] - start[by.value])), x);
    }
    return x;
  }
};

JointStart::JointStart(const TetrahedralMesh& mesh, const std::vector<Joint>& joints,
                       const std::vector<std::string>& names, std::vector<double> positions,
                       const std::vector<double>& velocities) {
  const Tree tree(mesh, joints, names);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const JointMotion motion = motion_of(mesh, find_joint_nodes(mesh, tree.joint(k)), positions, velocities);
    coordinates_.push_back(motion.coordinate);
    rates_.push_back(motion.rate);
  }
  std::vector<Moved> moved = tree.moved(positions);
  data_ = std::make_unique<Data>(Data{tree.moves(), std::move(moved), std::move(positions)});
}

JointStart::~JointStart() = default;

void JointStart::set(const std::vector<double>& q, std::vector<double>& x) const {
  for (const Moved& of : data_->moved) {
    const Vec3<double> to = data_->place(of, q, coordinates_);
    for (int c = 0; c < 3; ++c) x[3 * of.vertex + static_cast<std::size_t>(c)] = to[c];
  }
}

void JointStart::tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dx) const {
  std::vector<Dual<double, 1>> at(q.size());
  for (std::size_t k = 0; k < q.size(); ++k) at[k] = along(q[k], dq[k]);
  for (const Moved& of : data_->moved) {
    const auto to = data_->place(of, at, coordinates_);
    for (int c = 0; c < 3; ++c) dx[3 * of.vertex + static_cast<std::size_t>(c)] = to[c].derivative[0];
  }
}

std::vector<double> JointStart::adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                                const std::vector<double>& w, const std::vector<double>& dw) const {
  using Inner = Dual<double, 1>;
  std::vector<double> sums(q.size(), 0.0);
  for (std::size_t k = 0; k < q.size(); ++k) {
    std::vector<Dual<Inner, 1>> at(q.size());
    for (std::size_t i = 0; i < q.size(); ++i) {
      at[i] = Dual<Inner, 1>::constant(along(q[i], dq[i]));
      if (i == k) at[i].derivative[0] = Inner(1.0);
    }
    for (const Moved& of : data_->moved) {
      const auto to = data_->place(of, at, coordinates_);
      for (int c = 0; c < 3; ++c) {
        const std::size_t i = 3 * of.vertex + static_cast<std::size_t>(c);
        sums[k] += dw[i] * to[c].derivative[0].value + w[i] * to[c].derivative[0].derivative[0];
      }
    }
  }
  return sums;
}

std::vector<double> JointStart::velocity_matrix() const {
  const std::size_t columns = coordinates_.size();
  std::vector<double> matrix(data_->base.size() * columns, 0.0);
  for (const Moved& of : data_->moved)
    for (const std::size_t m : of.moves) {
      const Move& move = data_->moves[m];
      const Vec3<double> velocity = move.velocity(&data_->base[3 * of.vertex]);
      for (int c = 0; c < 3; ++c)
        matrix[(3 * of.vertex + static_cast<std::size_t>(c)) * columns + move.value] += velocity[c];
    }
  return matrix;
}

}  // namespace diffsim::body
