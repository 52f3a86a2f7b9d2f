// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_constraints.hpp"

#include <algorithm>
#include <cmath>

#include "body/placement.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

const std::vector<std::string>& joint_kinds() {
  static const std::vector<std::string> names{"fixed", "revolute", "prismatic", "spherical", "universal", "planar"};
  return names;
}

JointKind joint_kind(const std::string& name) {
  const std::vector<std::string>& names = joint_kinds();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error("unknown kind of joint '" + name + "'; did you mean '" + nearest(name, names) + "'?", ErrorKind::input);
  return static_cast<JointKind>(found - names.begin());
}

namespace body {
namespace {

template <class T>
VectorOf<T> cross(const VectorOf<T>& a, const VectorOf<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

template <class T>
VectorOf<T> unit(const VectorOf<T>& v) {
  using std::sqrt;
  const T length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

template <class T>
VectorOf<T> coordinate_direction(std::size_t component) {
  VectorOf<T> direction{T(0.0), T(0.0), T(0.0)};
  direction[component] = T(1.0);
  return direction;
}

/// Returns the right-handed orthonormal basis (a, e, f) with a along `axis` and e along a × e_i.
template <class T>
std::array<VectorOf<T>, 3> make_axes(const VectorOf<T>& axis, std::size_t i) {
  const VectorOf<T> a = unit(axis), e = unit(cross(a, coordinate_direction<T>(i)));
  return {a, e, cross(a, e)};
}

/// Point and axes of a joint for a placement.
template <class T>
struct PointAndAxes {
  VectorOf<T> point;
  std::array<VectorOf<T>, 3> axes;

  PointAndAxes(const Joint& joint, const PlacementOf<T>& p)
      : point{p[0], p[1], p[2]}, axes(make_axes<T>({p[3], p[4], p[5]}, smallest_component(joint.axis))) {}
};

}  // namespace

std::size_t smallest_component(const Vector& axis) {
  const Vector a = unit(axis);
  std::size_t least = 0;
  for (std::size_t c = 1; c < 3; ++c)
    if (std::abs(a[c]) < std::abs(a[least])) least = c;
  return least;
}

std::array<Vector, 3> axes_from(const Vector& axis) { return make_axes(axis, smallest_component(axis)); }

void require_axis(const Joint& joint) {
  const double length = std::hypot(joint.axis[0], joint.axis[1], joint.axis[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("joint '" + joint.name + "' has an axis of zero or infinite length; give a direction",
                ErrorKind::input);
}

template <class T>
std::vector<ConstraintOf<T>> joint_constraints(const Joint& joint, const PlacementOf<T>& placement, const Frame& body,
                                               const Frame& other) {
  std::vector<ConstraintOf<T>> constraints;
  const PointAndAxes<T> placed(joint, placement);
  const auto& [a, e, f] = placed.axes;
  const LinearFormOf<T> offset = body.point(placed.point) - other.point(placed.point);
  const auto keep_point = [&] {
    for (std::size_t c = 0; c < 3; ++c)
      constraints.push_back(product(offset, LinearFormOf<T>{{}, coordinate_direction<T>(c)}));
  };
  const auto keep_right_angle = [&](const VectorOf<T>& of_body, const VectorOf<T>& of_other) {
    constraints.push_back(product(body.direction(of_body), other.direction(of_other)));
  };
  const auto keep_offset_from = [&](const VectorOf<T>& normal) {
    constraints.push_back(product(offset, other.direction(normal)));
  };
  switch (joint.kind) {
    case JointKind::fixed:
      keep_point();
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      keep_right_angle(e, f);
      break;
    case JointKind::revolute:
      keep_point();
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      break;
    case JointKind::prismatic:
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      keep_right_angle(e, f);
      keep_offset_from(e);
      keep_offset_from(f);
      break;
    case JointKind::spherical:
      keep_point();
      break;
    case JointKind::universal:
      keep_point();
      keep_right_angle(a, e);
      break;
    case JointKind::planar:
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      keep_offset_from(a);
      break;
  }
  return constraints;
}

template <class T>
std::vector<ConstraintOf<T>> rotor_constraints(const Joint& joint, const PlacementOf<T>& placement, const Frame& body,
                                               const Frame& other, const LinearForm& change) {
  const PointAndAxes<T> placed(joint, placement);
  const auto& [a, e, f] = placed.axes;
  const LinearFormOf<T> offset = body.point(placed.point) - other.point(placed.point);
  std::vector<ConstraintOf<T>> constraints(3);
  if (joint.kind == JointKind::revolute) {
    constraints[0] = product(body.direction(e), other.direction(e));
    constraints[1] = product(body.direction(e), other.direction(f));
  } else {
    constraints[0] = product(offset, other.direction(a));
  }
  for (std::size_t c = 0; c < 3; ++c) {
    Vector direction{};
    direction[c] = -1.0;
    add_component(change, direction, constraints[c]);
  }
  return constraints;
}

#define DIFFSIM_JOINT_CONSTRAINTS(T)                                                                         \
  template std::vector<ConstraintOf<T>> joint_constraints(const Joint&, const PlacementOf<T>&, const Frame&, \
                                                          const Frame&);                                     \
  template std::vector<ConstraintOf<T>> rotor_constraints(const Joint&, const PlacementOf<T>&, const Frame&, \
                                                          const Frame&, const LinearForm&);
DIFFSIM_JOINT_CONSTRAINTS(double)
DIFFSIM_JOINT_CONSTRAINTS(Along)
DIFFSIM_JOINT_CONSTRAINTS(ByPlacement<double>)
DIFFSIM_JOINT_CONSTRAINTS(ByPlacement<Along>)
#undef DIFFSIM_JOINT_CONSTRAINTS

}  // namespace body
}  // namespace diffsim
