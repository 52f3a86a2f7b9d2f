// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <type_traits>

#include "body/linear_form.hpp"
#include "body/placement.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/macros.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

// Coordinates of revolute and prismatic joints, for kernels.

namespace diffsim::body {

/// Returns the scalar x of type S as a scalar of type T: x itself, or a Dual with the value x and the derivatives 0.
template <class T, class S>
DIFFSIM_FUNCTION T lift(const S& x) {
  if constexpr (std::is_constructible_v<T, S>)
    return T(x);
  else
    return T::constant(lift<decltype(T::value)>(x));
}

/// Vector that is an affine function of the positions x_k of the four nodes of a body: at_rest + Σ_k w_k (x_k - X_k),
/// with the weights w_k and the rest positions X_k. The scalar type S is double, or a Dual if the weights and the
/// vector at the rest positions depend on parameters.
template <class S>
struct BodyVector {
  S weights[4];
  S at_rest[3];
  double rest[4][3];  ///< rest positions X_k

  /// Returns the vector at the rest positions.
  template <class T>
  DIFFSIM_FUNCTION Vec3<T> constant() const {
    return {{lift<T>(at_rest[0]), lift<T>(at_rest[1]), lift<T>(at_rest[2])}};
  }
  /// Returns the change of the vector from the rest positions to the positions x.
  template <class T>
  DIFFSIM_FUNCTION Vec3<T> change(const Vec3<T>* x) const {
    Vec3<T> sum{{T(0.0), T(0.0), T(0.0)}};
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) sum[c] = sum[c] + lift<T>(weights[k]) * (x[k][c] - rest[k][c]);
    return sum;
  }
  /// Adds the product w_k g of the vector `g` with `weights[k]` = w_k to `f[k]`, for each node k. If g is the gradient
  /// of a function of a BodyVector with the weights w_k, w_k g is the derivative of this function with respect to the
  /// position of node k.
  template <class T>
  DIFFSIM_FUNCTION void add(const Vec3<T>& g, Vec3<T>* f) const {
    for (int k = 0; k < 4; ++k) f[k] = f[k] + lift<T>(weights[k]) * g;
  }
};

/// Coordinate q of a revolute or prismatic joint, as a function of the positions of the four nodes of `Joint::body` and
/// of the four nodes of `Joint::other`. The scalar type S is double, or a Dual if the directions and points depend on
/// parameters.
///
/// The coordinate of a revolute joint is q = q₀ + atan2(e·f', e·e'), where q₀ is the coordinate at the rest positions,
/// e is a direction fixed to `Joint::body`, and e' and f' are directions fixed to `Joint::other`; at the rest
/// positions, e = e', and (axis, e', f') is an orthonormal basis.
///
/// The coordinate of a prismatic joint is q = q₀ + a'·(p - p'), where q₀ is the coordinate at the rest positions, p and
/// p' are the positions of the joint's point as a point of `Joint::body` and as a point of `Joint::other`, and a' is
/// the unit direction of the axis, fixed to `Joint::other`.
template <class S>
struct JointCoordinateOf {
  static constexpr int num_nodes = 8;

  bool is_rotation;
  BodyVector<S> own;          ///< rotation: e; translation: p
  BodyVector<S> other_point;  ///< translation: p'
  BodyVector<S> first;        ///< rotation: e'; translation: a'
  BodyVector<S> second;       ///< rotation: f'
  double start;               ///< coordinate q₀ of the joint at the rest positions

  /// Returns the joint's coordinate q at the positions x of the nodes, and sets gradient[k] to ∂q/∂x_k for each node k.
  template <class T>
  DIFFSIM_FUNCTION T operator()(const Vec3<T>* x, Vec3<T> (&gradient)[num_nodes]) const {
    using std::atan2;
    const Vec3<T> zero{{T(0.0), T(0.0), T(0.0)}};
    for (int k = 0; k < num_nodes; ++k) gradient[k] = zero;
    if (is_rotation) {
      // e·f' = 0 and e·e' = 1 at the rest positions, for every axis.
      const Vec3<T> e0 = own.template constant<T>(), f0 = second.template constant<T>(), de = own.change(x),
                    de1 = first.change(x + 4), df1 = second.change(x + 4);
      const Vec3<T> e = e0 + de, e1 = e0 + de1, f1 = f0 + df1;
      const T sine = dot(e0, df1) + dot(de, f0) + dot(de, df1), cosine = dot(e0, de1) + dot(de, e1) + T(1.0);
      const T inverse = T(1.0) / (sine * sine + cosine * cosine);
      const T by_sine = cosine * inverse, by_cosine = -(sine * inverse);
      own.add(by_sine * f1 + by_cosine * e1, gradient);
      first.add(by_cosine * e, gradient + 4);
      second.add(by_sine * e, gradient + 4);
      return T(start) + atan2(sine, cosine);
    }
    const Vec3<T> d = own.change(x) - other_point.change(x + 4);  // the points p and p' coincide at the rest positions
    const Vec3<T> a = first.template constant<T>() + first.change(x + 4);
    own.add(a, gradient);
    other_point.add(T(-1.0) * a, gradient + 4);
    first.add(d, gradient + 4);
    return T(start) + dot(d, a);
  }
  /// Returns target - q, the difference between the target and the joint's coordinate q. For revolute joints, the
  /// difference target - q is reduced modulo 2π to [-π, π).
  template <class T>
  DIFFSIM_FUNCTION T behind(const T& target, const T& q) const {
    const T difference = target - q;
    if (!is_rotation) return difference;
    constexpr double turn = 2.0 * std::numbers::pi;
    return difference - turn * std::floor(value_of(difference) / turn + 0.5);
  }
};
using JointCoordinate = JointCoordinateOf<double>;

/// Revolute or prismatic joint between two bodies with four nodes each, or between a body and the world, for any point
/// and axis of the joint.
struct JointGeometry {
  /// Body of a joint at the rest positions.
  struct Body {
    bool is_world;
    double to_weights[3][3];  ///< inverse of the matrix with the columns x_k - x_0, k = 1, 2, 3, at rest
    double rest[4][3];        ///< rest positions X_k of the nodes

    /// Returns the vector that is fixed to the body and equals `at_rest` at the rest positions.
    template <class S>
    DIFFSIM_FUNCTION BodyVector<S> direction(const Vec3<S>& at_rest) const {
      BodyVector<S> vector;
      for (int k = 0; k < 4; ++k) vector.weights[k] = S(0.0);
      for (int c = 0; c < 3; ++c) vector.at_rest[c] = at_rest[c];
      for (int k = 0; k < 4; ++k)
        for (int c = 0; c < 3; ++c) vector.rest[k][c] = rest[k][c];
      for (int k = 0; !is_world && k < 3; ++k) {
        S weight(0.0);
        for (int c = 0; c < 3; ++c) weight = weight + to_weights[k][c] * at_rest[c];
        vector.weights[k + 1] = weight;
        vector.weights[0] = vector.weights[0] - weight;
      }
      return vector;
    }
    /// Returns the position of the body's material point that is at `at_rest` at the rest positions.
    template <class S>
    DIFFSIM_FUNCTION BodyVector<S> point(const Vec3<S>& at_rest) const {
      if (is_world) return direction(at_rest);
      Vec3<S> from_node = at_rest;
      for (int c = 0; c < 3; ++c) from_node[c] = from_node[c] - rest[0][c];
      BodyVector<S> vector = direction(from_node);
      vector.weights[0] = vector.weights[0] + 1.0;
      for (int c = 0; c < 3; ++c) vector.at_rest[c] = at_rest[c];
      return vector;
    }
  };

  bool is_rotation;
  int coordinate;  ///< index of the coordinate direction that defines the directions normal to the axis (`axes_from`)
  Body own, other;
  double start;  ///< coordinate q₀ of the joint at the rest positions

  /// Returns the joint's coordinate for a joint with the point `point` and the axis `axis` at the rest positions.
  template <class S>
  DIFFSIM_FUNCTION JointCoordinateOf<S> at(const Vec3<S>& point, const Vec3<S>& axis) const {
    using std::sqrt;
    const auto unit = [](const Vec3<S>& v) {
      const S inverse = S(1.0) / sqrt(dot(v, v));
      return Vec3<S>{{inverse * v[0], inverse * v[1], inverse * v[2]}};
    };
    Vec3<S> direction{{S(0.0), S(0.0), S(0.0)}};
    direction[coordinate] = S(1.0);
    const Vec3<S> a = unit(axis), e = unit(cross(a, direction)), f = cross(a, e);
    return {is_rotation,        is_rotation ? own.direction(e) : own.point(point),
            other.point(point), other.direction(is_rotation ? e : a),
            other.direction(f), start};
  }
};

/// Throws Error (input) unless the joint is revolute or prismatic, and therefore has a coordinate.
void require_coordinate(const Joint& joint);

/// Returns the geometry of a revolute or prismatic joint. `body`, `other`: rest positions (m) of the four nodes of
/// `joint.body` and of `joint.other`; no value for the world.
JointGeometry make_joint_geometry(const Joint& joint, const std::array<Vector, 4>& body,
                                  const std::optional<std::array<Vector, 4>>& other);

/// Returns the coordinate of the joint with the geometry `geometry` at the placement `p`.
template <class S>
JointCoordinateOf<S> coordinate_at(const JointGeometry& geometry, const PlacementOf<S>& p) {
  return geometry.at(Vec3<S>{{p[0], p[1], p[2]}}, Vec3<S>{{p[3], p[4], p[5]}});
}
/// Returns the coordinate of the joint with the geometry `geometry` at the point `joint.point` and the axis
/// `joint.axis`.
JointCoordinate coordinate_of(const Joint& joint, const JointGeometry& geometry);

}  // namespace diffsim::body
