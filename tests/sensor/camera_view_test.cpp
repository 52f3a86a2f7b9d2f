// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Projections of points by pinhole and orthographic cameras, and their adjoints.

#include "sensor/camera_view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace diffsim::camera_view_test {
namespace {

using namespace sensor;
using D = Dual<double, 1>;

TEST(camera_view, maps_the_target_to_the_centre_and_the_edges_of_the_field_of_view_to_the_edges_of_the_image) {
  const Camera camera{
      .position = {1.0, 2.0, 5.0}, .target = {1.0, 2.0, 0.0}, .field_of_view = 0.8, .width = 60, .height = 40};
  const CameraView view(camera);
  const ImagePoint<double> centre = view.project(SpacePoint<double>{1.0, 2.0, 3.0});
  EXPECT_NEAR(centre[0], 30.0, 1e-12);
  EXPECT_NEAR(centre[1], 20.0, 1e-12);
  // Points at the distance 2 from the camera, at the upper edge and to the right.
  const double edge = 2.0 * std::tan(0.4);
  const ImagePoint<double> top = view.project(SpacePoint<double>{1.0, 2.0 + edge, 3.0});
  EXPECT_NEAR(top[0], 30.0, 1e-12);
  EXPECT_NEAR(top[1], 40.0, 1e-12);
  const ImagePoint<double> right = view.project(SpacePoint<double>{1.0 + edge, 2.0, 3.0});
  EXPECT_NEAR(right[0], 50.0, 1e-12);
  EXPECT_NEAR(right[1], 20.0, 1e-12);
  EXPECT_TRUE(view.sees({1.0, 2.0, 4.9}));
  EXPECT_FALSE(view.sees({1.0, 2.0, 5.1}));
}

TEST(camera_view, of_an_orthographic_camera_does_not_depend_on_the_distance) {
  const Camera camera{
      .position = {1.0, 2.0, 5.0}, .target = {1.0, 2.0, 0.0}, .view_height = 4.0, .width = 60, .height = 40};
  const CameraView view(camera);
  for (const double z : {-7.0, 0.0, 9.0}) {
    const ImagePoint<double> image = view.project(SpacePoint<double>{1.5, 1.0, z});
    EXPECT_NEAR(image[0], 35.0, 1e-12);
    EXPECT_NEAR(image[1], 10.0, 1e-12);
    EXPECT_TRUE(view.sees({1.5, 1.0, z}));
  }
}

TEST(camera_view, has_the_adjoint_of_its_tangent) {
  for (const double view_height : {0.0, 2.0}) {
    const CameraView view(
        {.position = {0.7, 0.6, 0.9}, .target = {0.2, 0.1, -0.3}, .up = {0.1, 1.0, -0.2}, .view_height = view_height});
    const SpacePoint<double> x{0.3, -0.1, 0.2}, dx{0.4, -0.7, 0.9};
    const ImagePoint<double> w{0.8, -1.3};
    SpacePoint<D> moved;
    for (std::size_t c = 0; c < 3; ++c) {
      moved[c].value = x[c];
      moved[c].derivative[0] = dx[c];
    }
    const ImagePoint<D> image = view.project(moved);
    SpacePoint<double> bar{};
    view.add_adjoint(x, w, bar);
    const double slope = w[0] * image[0].derivative[0] + w[1] * image[1].derivative[0];
    EXPECT_NEAR(bar[0] * dx[0] + bar[1] * dx[1] + bar[2] * dx[2], slope, 1e-12 * std::abs(slope));
  }
}

}  // namespace
}  // namespace diffsim::camera_view_test
