// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/pixel_area.hpp"

namespace diffsim::sensor {

/// Point or direction in space.
template <class T>
using SpacePoint = std::array<T, 3>;

/// Points o + Z d, in the coordinates X, Y and Z of a camera, with the depth Z.
struct SightLine {
  SpacePoint<double> origin;     ///< o, with o_Z = 0
  SpacePoint<double> direction;  ///< d, with d_Z = 1
};

/// Projection of points in space to the image plane of a Camera. A point has the coordinates X to the right, Y upwards
/// and Z forward, in m, relative to the position and the axes of the camera. In an image of W × H pixels, the image of
/// the point, in pixels, is (W/2 + s X/Z, H/2 + s Y/Z) for a perspective camera, and (W/2 + s X, H/2 + s Y) for an
/// orthographic camera. The scale s is H/(2 tan(α/2)) pixels for a perspective camera with the field of view α, and H/h
/// pixels per metre for an orthographic camera with h = `Camera::view_height`.
class CameraView {
 public:
  /// Throws Error (input) for a width or height that is not from 1 to 16384, a view height that is negative or not
  /// finite, a field of view of a perspective camera outside (0, π), a position equal to the target, and an upward
  /// direction that is zero or parallel to the line of sight.
  explicit CameraView(const Camera& camera);

  int width() const { return width_; }
  int height() const { return height_; }
  /// Returns true if a point can be projected: the point is in front of the camera, or the camera is orthographic.
  bool sees(const SpacePoint<double>& x) const { return is_orthographic_ || along(2, x) > 0.0; }

  /// Returns the coordinates X, Y and Z (m) of a point, relative to the position and the axes of the camera.
  template <class T>
  SpacePoint<T> coordinates(const SpacePoint<T>& x) const {
    return {along(0, x), along(1, x), along(2, x)};
  }
  /// Adds the adjoint of a point to `x_bar`, from the adjoint `bar` of the point's coordinates X, Y and Z.
  template <class T>
  void add_coordinates_adjoint(const SpacePoint<T>& bar, SpacePoint<T>& x_bar) const {
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 3; ++k) x_bar[c] += axes_[k][c] * bar[k];
  }
  /// Returns the line of all points with the image q (pixels), in the coordinates X, Y and Z.
  SightLine line_through(const ImagePoint<double>& q) const {
    const double a = (q[0] - 0.5 * width_) / scale_, b = (q[1] - 0.5 * height_) / scale_;
    return is_orthographic_ ? SightLine{{a, b, 0.0}, {0.0, 0.0, 1.0}} : SightLine{{0.0, 0.0, 0.0}, {a, b, 1.0}};
  }

  template <class T>
  ImagePoint<T> project(const SpacePoint<T>& x) const {
    const T scale = is_orthographic_ ? T(scale_) : scale_ / along(2, x);
    return {0.5 * width_ + scale * along(0, x), 0.5 * height_ + scale * along(1, x)};
  }
  /// Adds (∂q/∂x)ᵀ q̄ to `x_bar`, where q is the image of the point x and q̄ = `q_bar` is the adjoint of q.
  template <class T>
  void add_adjoint(const SpacePoint<T>& x, const ImagePoint<T>& q_bar, SpacePoint<T>& x_bar) const {
    const T scale = is_orthographic_ ? T(scale_) : scale_ / along(2, x);
    SpacePoint<T> bar{scale * q_bar[0], scale * q_bar[1], T(0.0)};  // adjoints of X, Y, Z
    if (!is_orthographic_) bar[2] = -(bar[0] * along(0, x) + bar[1] * along(1, x)) / along(2, x);
    add_coordinates_adjoint(bar, x_bar);
  }

 private:
  /// Returns the coordinate X to the right (k = 0), Y upwards (k = 1) or Z forward (k = 2) of a point, relative to the
  /// position and the axes of the camera, in m.
  template <class T>
  T along(std::size_t k, const SpacePoint<T>& x) const {
    T sum = axes_[k][0] * (x[0] - origin_[0]);
    for (std::size_t c = 1; c < 3; ++c) sum += axes_[k][c] * (x[c] - origin_[c]);
    return sum;
  }

  int width_, height_;
  bool is_orthographic_;
  double scale_;                              // s: pixels, or pixels per metre for an orthographic camera
  SpacePoint<double> origin_;                 // position of the camera, m
  std::array<SpacePoint<double>, 3> axes_{};  // unit vectors along X, Y, Z
};

}  // namespace diffsim::sensor
