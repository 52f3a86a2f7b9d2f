// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/camera_view.hpp"

#include <cmath>
#include <numbers>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::sensor {
namespace {

/// Returns a/|a|. Throws Error (input) with the message `what` if the length of a is zero or not finite.
Vec3<double> direction_of(const Vec3<double>& a, const char* what) {
  const double length = std::sqrt(dot(a, a));
  if (!(length > 0.0) || !std::isfinite(length)) throw Error(what, ErrorKind::input);
  return (1.0 / length) * a;
}

Vec3<double> vector_from(const std::array<double, 3>& values) { return {{values[0], values[1], values[2]}}; }

}  // namespace

CameraView::CameraView(const Camera& camera)
    : width_(camera.width),
      height_(camera.height),
      is_orthographic_(camera.view_height > 0.0),
      origin_(camera.position) {
  constexpr int most = 16384;
  if (width_ < 1 || height_ < 1 || width_ > most || height_ > most)
    throw Error("the image of a camera has no pixels or too many; give a width and a height from 1 to 16384",
                ErrorKind::input);
  if (!(camera.view_height >= 0.0) || !std::isfinite(camera.view_height))
    throw Error("the view height of a camera is negative or not finite; give a length in m", ErrorKind::input);
  if (!is_orthographic_ && !(camera.field_of_view > 0.0 && camera.field_of_view < std::numbers::pi))
    throw Error("the field of view of a camera is an angle between 0 and π, in rad", ErrorKind::input);
  const Vec3<double> forward =
      direction_of(vector_from(camera.target) - vector_from(camera.position),
                   "the position and the target of a camera are the same point, or not finite; give two points");
  const Vec3<double> up =
      direction_of(vector_from(camera.up), "the upward direction of a camera is zero or not finite");
  const Vec3<double> side = cross(forward, up);
  if (!(std::sqrt(dot(side, side)) > 1e-9))
    throw Error("the upward direction of a camera is parallel to the line of sight; give another direction",
                ErrorKind::input);
  const Vec3<double> right = direction_of(side, "the camera has no right side"), above = cross(right, forward);
  for (std::size_t c = 0; c < 3; ++c) {
    const int i = static_cast<int>(c);
    axes_[0][c] = right[i];
    axes_[1][c] = above[i];
    axes_[2][c] = forward[i];
  }
  scale_ = is_orthographic_ ? height_ / camera.view_height : 0.5 * height_ / std::tan(0.5 * camera.field_of_view);
}

}  // namespace diffsim::sensor
