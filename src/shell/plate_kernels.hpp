// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "diffsim/core/impl/along.hpp"
#include "diffsim/core/impl/stencil_kernels_impl.hpp"
#include "shell/dihedral_angle.hpp"
#include "shell/plate_energy.hpp"

// Kernels of the bending of plates. The scalar T is double for values, and Dual<double, 1> for derivatives along a
// direction. Let E be the bending energy, f = -∂E/∂x the forces at the positions x, w a direction of the positions, and
// p any input. Then the derivative of -∂E/∂p along w is ∂(w·f)/∂p, so the same kernels compute tangents and adjoints. T
// is Dual<Dual<double, 1>, 1> for second derivatives: ∂(w·f)/∂p, differentiated along another direction.

namespace diffsim::shell {

using First = Dual<double, 1>;
using Second = Dual<First, 1>;

/// Returns a scalar of type T with the value `value`, the derivatives `first` and `second` along two directions, and
/// the mixed second derivative `mixed`.
template <class T>
DIFFSIM_FUNCTION T composed(double value, double first, double second, double mixed) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_same_v<T, First>) {
    return along(value, first);
  } else {
    T result;
    result.value = along(value, first);
    result.derivative[0] = along(second, mixed);
    return result;
  }
}

/// Returns the derivative of highest order that a scalar contains: the value of a double, the first derivative of a
/// `First`, or the mixed second derivative of a `Second`.
DIFFSIM_FUNCTION double highest(double x) { return x; }
DIFFSIM_FUNCTION double highest(const First& x) { return x.derivative[0]; }
DIFFSIM_FUNCTION double highest(const Second& x) { return x.derivative[0].derivative[0]; }

/// Stencils of a shell's triangles, and the hinges of the stencils, in device memory. The comments of `PlateTopology`
/// describe the contents of the arrays of PlateData.
struct PlateData {
  int num_triangles, num_hinges;
  DeviceArray<int> nodes;
  DeviceArray<int> hinges;
  DeviceArray<HingeState> states;
  DeviceArray<int> hinge_nodes;
  DeviceArray<int> entities;  // [triangles], index of the local triangle whose moduli apply
  stencil::Grouped slots;     // entries of `hinges`, grouped by hinge

  DIFFSIM_FUNCTION void read_states(int i, HingeState (&state)[num_plate_hinges]) const {
    for (int k = 0; k < num_plate_hinges; ++k) state[k] = states(num_plate_hinges * i + k);
  }
  /// Returns the third corner (local vertex) of the second triangle at a hinge, or a SecondCorner code if the second
  /// triangle is imaginary.
  DIFFSIM_FUNCTION int second(int hinge) const { return hinge_nodes(4 * hinge + 3); }
  /// Returns the factor by which the angle of a hinge is multiplied in a triangle's stencil; the hinge has the index
  /// `hinges`(place) / 2. The factor is negative if the stencil and the array `hinge_nodes` list the two triangles at
  /// the hinge in opposite orders. The absolute value of the factor is ½ at a side in a plane of symmetry, and 1 at all
  /// other sides. At a side in a plane of symmetry, the other half of the angle between the triangle and its mirror
  /// image belongs to the mirror image.
  DIFFSIM_FUNCTION double sign(int place) const {
    const double size = second(hinges(place) / 2) < SecondCorner::clamped ? 0.5 : 1.0;
    return (hinges(place) & 1) != 0 ? -size : size;
  }
};

// Functions for hinges with an imaginary second triangle (SecondCorner). The nodes of such a hinge are the ends `at[0]`
// and `at[1]` of the side, the third corner `at[2]` of the triangle, and the third corner `at[3]` of the imaginary
// triangle.

/// Sets `at[3]`, the third corner of the imaginary triangle across a clamped side of a triangle (see SecondCorner), to
/// `at[0]` + (B - C), with the rest positions B of the second end of the side and C of the triangle's third corner.
template <class T>
DIFFSIM_FUNCTION void set_clamped(const Vec3<T>& B, const Vec3<T>& C, Vec3<T> (&at)[4]) {
  at[3] = at[0] + (B - C);
}
/// Sets `at[3]`, the third corner of the imaginary triangle across a side in a plane of symmetry (see SecondCorner), to
/// the mirror image of `at[2]`, the third corner of the triangle at the side. `second`: SecondCorner code of the plane
/// of symmetry.
template <class T>
DIFFSIM_FUNCTION void set_mirrored(int second, Vec3<T> (&at)[4]) {
  const int axis = SecondCorner::mirrored_x - second;
  at[3] = at[2];
  at[3][axis] = 2.0 * at[0][axis] - at[2][axis];
}
/// Applies the chain rule to node 3 of a hinge, the third corner of an imaginary second triangle. Node 3 depends on the
/// nodes 0 and 2 (see SecondCorner). The function adds the contributions of `by[3]`, the derivative with respect to
/// node 3, to the derivatives `by[0]` and `by[2]`, and sets `by[3]` to 0. Has no effect if the second triangle is real
/// (`second` ≥ 0).
template <class T>
DIFFSIM_FUNCTION void fold_second(int second, Vec3<T> (&by)[4]) {
  if (second >= 0) return;
  const int axis = SecondCorner::mirrored_x - second;
  for (int c = 0; c < 3; ++c) {
    if (second == SecondCorner::clamped) {
      by[0][c] += by[3][c];
    } else if (c == axis) {
      by[0][c] += 2.0 * by[3][c];
      by[2][c] -= by[3][c];
    } else {
      by[2][c] += by[3][c];
    }
    by[3][c] = T(0.0);
  }
}

/// Device addresses of the inputs of the bending energy, and of the derivatives of the inputs along directions. A
/// nullptr address represents an array of zeros.
struct PlateInputs {
  /// Positions x[0], and changes of the positions along directions, each [local vertices, 3]. For scalars of type
  /// `First`, x[1] is the change dx of the positions (tangents) or the vector w that multiplies the bending forces
  /// (adjoints). For scalars of type `Second`, x[1] is the change dx of the positions, x[2] is the vector w that
  /// multiplies the bending forces in adjoints, and x[3] is the change dw of w.
  const double* x[4] = {};
  const double* X[2] = {};      ///< rest positions X[0] and their change X[1] along a direction, [local vertices, 3]
  const double* rest[2] = {};   ///< PlateRest of each triangle, and its derivative along a direction
  const double* angle[2] = {};  ///< rest angles of the hinges, and their derivatives along a direction
  point::ParameterNumbers<PlateModuli<double>::size, const double> moduli[2];

  template <class T>
  DIFFSIM_FUNCTION static T read(const double* const* from, int count, std::ptrdiff_t place) {
    double number[4] = {};
    for (int k = 0; k < count; ++k)
      if (from[k]) number[k] = from[k][place];
    return composed<T>(number[0], number[1], number[2], number[3]);
  }
  template <class T>
  DIFFSIM_FUNCTION PlateRest<T> read_rest(int i) const {
    PlateRest<T> result;
    for (int k = 0; k < PlateRest<T>::size; ++k)
      result[k] = read<T>(rest, 2, PlateRest<T>::size * static_cast<std::ptrdiff_t>(i) + k);
    return result;
  }
  template <class T>
  DIFFSIM_FUNCTION PlateModuli<T> read_moduli(int entity) const {
    PlateModuli<T> result;
    for (int k = 0; k < PlateModuli<T>::size; ++k)
      result.p[k] = composed<T>(moduli[0].value(k, entity), moduli[1].value(k, entity), 0.0, 0.0);
    return result;
  }
  template <class T>
  DIFFSIM_FUNCTION DihedralAngle<T> read_angle(const PlateData& data, int hinge) const {
    Vec3<T> at[4];
    const int second = data.second(hinge);
    for (int n = 0; n < (second >= 0 ? 4 : 3); ++n) at[n] = read_vector<T>(x, 4, data.hinge_nodes(4 * hinge + n));
    if (second == SecondCorner::clamped)
      set_clamped(read_vector<T>(X, 2, data.hinge_nodes(4 * hinge + 1)),
                  read_vector<T>(X, 2, data.hinge_nodes(4 * hinge + 2)), at);
    else if (second < 0)
      set_mirrored(second, at);
    return DihedralAngle<T>(at);
  }
  template <class T>
  DIFFSIM_FUNCTION static Vec3<T> read_vector(const double* const* from, int count, int vertex) {
    Vec3<T> result;
    for (int c = 0; c < 3; ++c) result[c] = read<T>(from, count, 3 * static_cast<std::ptrdiff_t>(vertex) + c);
    return result;
  }
};

/// Kernel that computes the change θ - θ̄ of the angle of each hinge, with the current angle θ and the angle θ̄ in the
/// rest shape.
template <class T>
struct SetChanges {
  PlateData data;
  PlateInputs in;
  DeviceArray<T> change;  // [hinges]

  DIFFSIM_FUNCTION void operator()(int h) const {
    change(h) = in.read_angle<T>(data, h).theta - PlateInputs::read<T>(in.angle, 2, h);
  }
};

/// Inputs of the bending energy of one triangle, and the rotations and moments (PlateBending) computed from the inputs.
template <class T>
struct BentTriangle {
  PlateRest<T> rest;
  PlateModuli<T> moduli;
  HingeState state[num_plate_hinges];
  T change[num_plate_hinges];  // δ = θ - c θ̄ with the current angles θ of the hinges, and c of PlateModuli
  T angle[num_plate_hinges];   // angles θ̄ of the hinges in the rest shape
  PlateBending<T> bending;

  DIFFSIM_FUNCTION BentTriangle(const PlateData& data, const PlateInputs& in, const DeviceArray<T>& changes, int i)
      : rest(in.read_rest<T>(i)), moduli(in.read_moduli<T>(data.entities(i))), bending(rest, moduli) {
    data.read_states(i, state);
    for (int k = 0; k < num_plate_hinges; ++k) {
      const int place = num_plate_hinges * i + k;
      change[k] = angle[k] = T(0.0);
      if (state[k] == HingeState::none) continue;
      const int hinge = data.hinges(place) / 2;
      angle[k] = data.sign(place) * PlateInputs::read<T>(in.angle, 2, hinge);
      change[k] = data.sign(place) * changes(hinge) + (1.0 - moduli.rest_curvature()) * angle[k];
    }
    bending.bend(rest, state, change);
  }
};

/// Kernel that computes the moments ∂E/∂δ_k of each triangle, where E is the bending energy of the triangle and δ_k is
/// the change of the angle at hinge k of the triangle's stencil.
template <class T>
struct SetMoments {
  PlateData data;
  PlateInputs in;
  DeviceArray<T> change;  // [hinges]
  DeviceArray<T> moment;  // [triangles, 9]

  DIFFSIM_FUNCTION void operator()(int i) const { set(i, BentTriangle<T>(data, in, change, i)); }
  DIFFSIM_FUNCTION void set(int i, const BentTriangle<T>& of) const {
    T by_angle[num_plate_hinges];
    of.bending.hinge_moments(of.rest, of.state, by_angle);
    for (int k = 0; k < num_plate_hinges; ++k) moment(num_plate_hinges * i + k) = by_angle[k];
  }
};

/// Kernel that computes the results of `SetMoments`, and the derivatives of w·f with respect to the members of
/// PlateModuli and PlateRest, where f are the bending forces and w is a direction of the positions (see the top of this
/// file). The derivative with respect to a parameter in PlateModuli is added to the member `to` if the parameter has
/// one value per triangle, and to the argument `sums` if the parameter has a single value for all triangles. The
/// derivatives with respect to the members of PlateRest are added to the array `rest` unless `rest` is nullptr.
template <class T>
struct SetMomentsAndDerivatives {
  SetMoments<T> moments;
  point::ParameterNumbers<PlateModuli<T>::size, double> to;
  double* rest;  // [triangles, PlateRest::size]

  KOKKOS_INLINE_FUNCTION void operator()(int i, point::Sums<PlateModuli<T>::size>& sums) const {
    const BentTriangle<T> of(moments.data, moments.in, moments.change, i);
    moments.set(i, of);
    T by[PlateModuli<T>::size];
    of.bending.by_moduli(of.rest, of.moduli, of.state, of.angle, by);
    const int entity = moments.data.entities(i);
    for (int k = 0; k < PlateModuli<T>::size; ++k) {
      const double derivative = -highest(by[k]);
      if (to.of[k])
        to.at(k, entity) += to.factor[k] * derivative;
      else
        sums.of[k] += derivative;
    }
    if (!rest) return;
    const PlateRest<T> by_rest = of.bending.by_rest(of.rest, of.moduli, of.state, of.change);
    for (int k = 0; k < PlateRest<T>::size; ++k)
      rest[PlateRest<T>::size * static_cast<std::ptrdiff_t>(i) + k] -= highest(by_rest[k]);
  }
};

/// Number of quantities of a hinge that depend on the rest positions and whose derivatives are summed over time steps:
/// the rest angle and, at a clamped side, the three components of the vector B - C of SecondCorner.
inline constexpr int hinge_rest_size = 4;

/// Kernel that computes the bending forces f on the nodes of each hinge or, if T is a type of dual numbers, the
/// derivatives of f along a direction. The derivatives of f along a direction w of the positions x are equal to the
/// derivatives of w·f with respect to x, because ∂f/∂x is symmetric. The kernel adds the derivatives of w·f with
/// respect to the rest quantities of the hinge (see `hinge_rest_size`) to the array `rest` unless `rest` is nullptr.
template <class T>
struct SetVectors {
  PlateData data;
  PlateInputs in;
  DeviceArray<T> moment;  // [triangles, 9]
  double* vectors;        // [hinges, 4, 3]
  double* rest;           // [hinges, hinge_rest_size]

  DIFFSIM_FUNCTION void operator()(int h) const {
    T total(0.0), by_rest(0.0);  // by_rest: -∂E/∂θ̄
    for (int s = data.slots.begin(h); s < data.slots.begin(h + 1); ++s) {
      const int place = data.slots.place(s);
      const T share = data.sign(place) * moment(place);
      total += share;
      if (rest) by_rest += in.read_moduli<T>(data.entities(place / num_plate_hinges)).rest_curvature() * share;
    }
    Vec3<T> by[4];
    for (auto& of : by) of = {{T(0.0), T(0.0), T(0.0)}};
    in.read_angle<T>(data, h).add_gradient(total, by);
    double* const sums = rest ? rest + hinge_rest_size * static_cast<std::ptrdiff_t>(h) : nullptr;
    if (sums) sums[0] += highest(by_rest);
    if (sums && data.second(h) == SecondCorner::clamped)
      for (int c = 0; c < 3; ++c) sums[1 + c] -= highest(by[3][c]);
    fold_second(data.second(h), by);
    for (int k = 0; k < 12; ++k) vectors[12 * static_cast<std::ptrdiff_t>(h) + k] = -highest(by[k / 3][k % 3]);
  }
};

/// Kernel that sums the bending energies (J) of the triangles.
struct PlateEnergies {
  PlateData data;
  PlateInputs in;
  DeviceArray<double> change;
  DIFFSIM_FUNCTION void operator()(int i, double& sum) const {
    sum += BentTriangle<double>(data, in, change, i).bending.energy();
  }
};

// ---- rest shape ----

/// Rest positions X of vertices (T = double), or X together with a change dX of the rest positions (T = First).
template <class T>
struct RestPositions {
  const double *X, *dX;
  /// Returns the rest position of a vertex.
  DIFFSIM_FUNCTION Vec3<T> at(int vertex) const {
    Vec3<T> result;
    for (int c = 0; c < 3; ++c) {
      const auto place = 3 * static_cast<std::ptrdiff_t>(vertex) + c;
      result[c] = composed<T>(X[place], dX ? dX[place] : 0.0, 0.0, 0.0);
    }
    return result;
  }
  /// Reads the rest positions of the four nodes of a hinge that is not at a clamped side. At a side in a plane of
  /// symmetry, the fourth node of the hinge is the mirror image of the third node.
  DIFFSIM_FUNCTION void read(const PlateData& data, int hinge, Vec3<T> (&of)[4]) const {
    const int second = data.second(hinge);
    for (int n = 0; n < 3; ++n) of[n] = at(data.hinge_nodes(4 * hinge + n));
    if (second >= 0)
      of[3] = at(second);
    else
      set_mirrored(second, of);
  }
};

/// Kernel that computes the rest quantities of triangles (PlateRest) or, if T is `First`, the derivatives of the rest
/// quantities along a change dX of the rest positions.
template <class T>
struct SetPlateRest {
  PlateData data;
  RestPositions<T> from;
  double* rest;  // [triangles, PlateRest::size]
  DIFFSIM_FUNCTION void operator()(int i) const {
    Vec3<T> X[num_plate_nodes];
    HingeState state[num_plate_hinges];
    for (int n = 0; n < num_plate_nodes; ++n) X[n] = from.at(data.nodes(num_plate_nodes * i + n));
    data.read_states(i, state);
    const PlateRest<T> of = plate_rest(X, state);
    for (int k = 0; k < PlateRest<T>::size; ++k)
      rest[PlateRest<T>::size * static_cast<std::ptrdiff_t>(i) + k] = highest(of[k]);
  }
};
/// Kernel that computes the angles of hinges in the rest shape or, if T is `First`, the derivatives of these angles
/// along a change dX of the rest positions. The rest angle at a clamped side is 0.
template <class T>
struct SetRestAngles {
  PlateData data;
  RestPositions<T> from;
  double* angle;  // [hinges]
  DIFFSIM_FUNCTION void operator()(int h) const {
    angle[h] = 0.0;
    if (data.second(h) == SecondCorner::clamped) return;
    Vec3<T> X[4];
    from.read(data, h, X);
    angle[h] = highest(DihedralAngle<T>(X).theta);
  }
};

/// Kernel that computes the derivatives of Σ_k r̄_k r_k with respect to the rest positions of the nodes of each
/// triangle's stencil, where r_k are the rest quantities of the triangle (PlateRest), and the constants r̄_k are the
/// entries of `weight`.
struct SetRestVectors {
  PlateData data;
  RestPositions<double> from;
  const double* weight;  // r̄, [triangles, PlateRest::size]
  double* vectors;       // [triangles, 12, 3]

  DIFFSIM_FUNCTION void operator()(int i) const {
    constexpr int at_once = 4;
    using Scalar = Dual<double, at_once>;
    HingeState state[num_plate_hinges];
    data.read_states(i, state);
    for (int first = 0; first < 3 * num_plate_nodes; first += at_once) {
      Vec3<Scalar> X[num_plate_nodes];
      for (int n = 0; n < num_plate_nodes; ++n) {
        const Vec3<double> at = from.at(data.nodes(num_plate_nodes * i + n));
        for (int c = 0; c < 3; ++c) {
          const int k = 3 * n + c - first;
          X[n][c] = k >= 0 && k < at_once ? Scalar::variable(at[c], k) : Scalar(at[c]);
        }
      }
      const PlateRest<Scalar> rest = plate_rest(X, state);
      double sum[at_once] = {};
      for (int k = 0; k < PlateRest<double>::size; ++k)
        for (int d = 0; d < at_once; ++d)
          sum[d] += weight[PlateRest<double>::size * static_cast<std::ptrdiff_t>(i) + k] * rest[k].derivative[d];
      for (int d = 0; d < at_once; ++d)
        vectors[3 * num_plate_nodes * static_cast<std::ptrdiff_t>(i) + first + d] = sum[d];
    }
  }
};

/// Kernel that computes the derivatives of Σ_k r̄_k r_k with respect to the rest positions of the nodes of each hinge,
/// where r_k are the rest quantities of the hinge (`hinge_rest_size`), and the constants r̄_k are the entries of
/// `weight`.
struct SetHingeRestVectors {
  PlateData data;
  RestPositions<double> from;
  const double* weight;  // [hinges, hinge_rest_size]
  double* vectors;       // [hinges, 4, 3]
  DIFFSIM_FUNCTION void operator()(int h) const {
    const double* const w = weight + hinge_rest_size * static_cast<std::ptrdiff_t>(h);
    Vec3<double> X[4], by[4];
    for (auto& of : by) of = {{0.0, 0.0, 0.0}};
    if (data.second(h) != SecondCorner::clamped) {
      from.read(data, h, X);
      DihedralAngle<double>(X).add_gradient(w[0], by);
      fold_second(data.second(h), by);
    } else {
      by[1] = {{w[1], w[2], w[3]}};
      by[2] = {{-w[1], -w[2], -w[3]}};
    }
    for (int k = 0; k < 12; ++k) vectors[12 * static_cast<std::ptrdiff_t>(h) + k] = by[k / 3][k % 3];
  }
};

}  // namespace diffsim::shell
