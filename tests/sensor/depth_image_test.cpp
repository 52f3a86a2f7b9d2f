// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Depth maps: depths of simple bodies, hidden surfaces, losses of displaced bodies, derivatives against differences,
// and errors.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contact/obstacles.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "error_text.hpp"
#include "mesh/rectangle.hpp"
#include "sensor/camera_testing.hpp"

namespace diffsim::depth_image_test {
namespace {

using namespace testing_camera;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(depth_image, of_a_box_is_the_distance_of_its_upper_side) {
  const auto mesh = make_box();
  Camera pinhole = above();
  pinhole.view_height = 0.0;
  pinhole.field_of_view = 2.0 * std::atan(0.2 / 1.9);  // the same image of the plane z = 0.1
  for (const Camera& camera : {above(), pinhole}) {
    const Numbers depth = depth_image(*mesh, camera, at_rest(*mesh));
    ASSERT_EQ(depth.size(), 36u * 24u);
    for (int row = 0; row < 24; ++row)
      for (int column = 0; column < 36; ++column) {
        const double Z = depth[static_cast<std::size_t>(36 * row + column)];
        if (row >= 6 && row < 18 && column >= 6 && column < 30)
          EXPECT_NEAR(Z, 1.9, 1e-13) << row << " " << column;
        else
          EXPECT_TRUE(std::isnan(Z)) << row << " " << column;
      }
  }
}

TEST(depth_image, has_row_0_at_the_top_and_the_depth_of_a_slope) {
  const auto mesh = make_box();
  const State sheared = state_of(*mesh, [](const Point& X) {
    return Point{X[0] - 0.1, X[1] + 0.1, X[2] + 0.5 * X[0] - 0.25 * X[1]};
  });
  const Numbers depth = depth_image(*mesh, above(), sheared);
  const double side = 1.0 / 60.0;
  // The centre of the first pixel has the rest position X = (0, 0.2) + (½, -½) pixels.
  EXPECT_NEAR(depth[0], 1.9 - 0.25 * side + 0.25 * (0.2 - 0.5 * side), 1e-13);
  EXPECT_NEAR(depth[1] - depth[0], -0.5 * side, 1e-13);
  EXPECT_NEAR(depth[36] - depth[0], -0.25 * side, 1e-13);
  EXPECT_TRUE(std::isnan(depth[36 * 24 - 1]));
}

/// Two boxes, one above the other in a part of the image. On two ranks, each rank has one of them.
std::shared_ptr<TetrahedralMesh> two_boxes() {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"low", affine_body(MPI_COMM_WORLD, contact::box_triangles({0.0, 0.0, 0.0}, {0.2, 0.2, 0.1}))});
  bodies.push_back({"high", affine_body(MPI_COMM_WORLD, contact::box_triangles({0.1, 0.0, 0.5}, {0.3, 0.2, 0.6}))});
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
}

TEST(depth_image, shows_the_first_of_several_surfaces) {
  const auto mesh = two_boxes();
  const auto at = [&](double x, const std::string& region, double z = 2.0) {
    Camera camera = above();
    camera.position[2] = z;
    const double column = z > 0.0 ? (x + 0.1) * 60.0 : (0.5 - x) * 60.0;  // from below, x points to the left
    return depth_image(*mesh, camera, at_rest(*mesh), region)[36 * 12 + static_cast<std::size_t>(std::floor(column))];
  };
  EXPECT_NEAR(at(0.05, "all"), 1.9, 1e-12);
  EXPECT_NEAR(at(0.15, "all"), 1.4, 1e-12);
  EXPECT_NEAR(at(0.25, "all"), 1.4, 1e-12);
  EXPECT_NEAR(at(0.15, "low/all"), 1.9, 1e-12);
  EXPECT_TRUE(std::isnan(at(0.05, "high/all")));
  EXPECT_NEAR(at(0.05, "all", -1.0), 1.0, 1e-12);
  EXPECT_NEAR(at(0.15, "all", -1.0), 1.0, 1e-12);
  EXPECT_NEAR(at(0.25, "all", -1.0), 1.5, 1e-12);
}

TEST(depth_image, of_a_sheet_is_visible_from_both_sides) {
  const TriangleMesh sheet = rectangle_triangles({0.4, 0.2}, {4, 3});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, surface_mesh(MPI_COMM_WORLD, sheet.vertices, sheet.triangles));
  for (const double z : {2.0, -1.5}) {
    Camera camera = above();
    camera.position[2] = z;
    EXPECT_NEAR(depth_image(mesh, camera, at_rest(mesh))[36 * 12 + 18], std::abs(z), 1e-13);
  }
}

TEST(depth_image, does_not_depend_on_the_number_of_ranks) {
  const auto mesh = make_box(), alone = make_box(1, MPI_COMM_SELF);
  const Numbers depth = depth_image(*mesh, oblique(), bent(*mesh)),
                expected = depth_image(*alone, oblique(), bent(*alone));
  int seen = 0;
  for (std::size_t i = 0; i < depth.size(); ++i) {
    ASSERT_EQ(std::isnan(depth[i]), std::isnan(expected[i])) << i;
    if (std::isnan(depth[i])) continue;
    ++seen;
    EXPECT_NEAR(depth[i], expected[i], 1e-14);
  }
  EXPECT_GT(seen, 100);
}

TEST(depth_image, loss_is_the_mean_square_of_a_displacement_and_limits_outliers) {
  const auto mesh = make_box();
  const auto raised = [&](double by) {
    return state_of(*mesh, [&](const Point& X) { return Point{X[0], X[1], X[2] + by}; });
  };
  Numbers observed = depth_image(*mesh, above(), at_rest(*mesh));
  const double seen = 24.0 * 12.0;
  const auto loss = make_depth_loss(*mesh, above(), {{2, observed}});
  EXPECT_TRUE(loss->observes(2));
  EXPECT_FALSE(loss->observes(1));
  EXPECT_EQ(loss->unit(), "m²");
  EXPECT_EQ(loss->num_observations(), seen);
  EXPECT_NEAR(value_of(*loss, raised(0.0)), 0.0, 1e-24);
  EXPECT_NEAR(value_of(*loss, raised(0.02)), 0.5 * 0.02 * 0.02, 1e-14);
  EXPECT_NEAR(value_of(*loss, raised(-0.03)), 0.5 * 0.03 * 0.03, 1e-14);
  // An observed pixel at which the camera sees nothing counts, without a residual.
  observed[0] = 1.0;
  EXPECT_NEAR(value_of(*make_depth_loss(*mesh, above(), {{2, observed}}), raised(0.02)),
              0.5 * 0.02 * 0.02 * seen / (seen + 1.0), 1e-14);
  observed[0] = nan;
  observed[36 * 12 + 18] -= 3.0;
  EXPECT_NEAR(value_of(*make_depth_loss(*mesh, above(), {{2, observed}}, {.huber = 0.1}), raised(0.02)),
              (0.5 * 0.02 * 0.02 * (seen - 1.0) + 0.1 * (2.98 - 0.05)) / seen, 1e-13);
}

/// The steps of the differences are so small that no pixel begins to show another triangle.
void expect_derivatives(const TetrahedralMesh& mesh, const Camera& camera, double huber) {
  Numbers observed = depth_image(mesh, camera, at_rest(mesh));
  for (std::size_t i = 0; i < observed.size(); i += 7) observed[i] += 0.3;  // outliers
  const auto loss = make_depth_loss(mesh, camera, {{2, observed}}, {.huber = huber});
  testing_camera::expect_derivatives(*loss, mesh, {1e-2, 1e-4, 1e-9, 1e-12, 1e-9});
}

TEST(depth_image, has_the_derivatives_that_differences_have) {
  MeshData affine = affine_body(MPI_COMM_WORLD, contact::box_triangles({0.0, 0.0, 0.0}, {0.4, 0.2, 0.1}));
  const TetrahedralMesh body(MPI_COMM_WORLD, affine);
  for (const double huber : {0.0, 0.1})
    for (const Camera& camera : {above(), oblique()}) {
      SCOPED_TRACE(std::to_string(huber) + " " + std::to_string(camera.view_height));
      expect_derivatives(*make_box(), camera, huber);
      expect_derivatives(*make_box(2), camera, huber);
      expect_derivatives(body, camera, huber);
      expect_derivatives(*two_boxes(), camera, huber);
    }
}

TEST(depth_image, has_the_gauss_newton_matrix_as_hessian_where_the_residuals_are_zero) {
  const Mesh mesh = make_box();
  expect_gauss_newton(*make_depth_loss(*mesh, oblique(), {{2, depth_image(*mesh, oblique(), bent(*mesh))}}), *mesh);
}

TEST(depth_image, is_refused_for_invalid_images_and_options) {
  const auto mesh = make_box();
  const Numbers seen(36 * 24, 1.9);
  const auto refused = [&](const std::map<int, Numbers>& depths, DepthOptions options = {}) {
    return error_of([&] { make_depth_loss(*mesh, above(), depths, options); });
  };
  EXPECT_CONTAINS(refused({{0, Numbers(7, 1.0)}}), "a depth image has 7 pixels; the image of the camera has 24 rows");
  EXPECT_CONTAINS(refused({{0, Numbers(36 * 24, INFINITY)}}), "is infinite; give a depth in m, or NaN");
  EXPECT_CONTAINS(refused({{0, Numbers(36 * 24, nan)}}), "no pixel of a depth image is observed");
  EXPECT_CONTAINS(refused({{-1, seen}}), "step -1 is negative");
  EXPECT_CONTAINS(refused({{0, seen}}, {.huber = -1.0}), "huber of a depth loss is -1");
  EXPECT_CONTAINS(refused({{0, seen}}, {.region = "z_mx"}), "did you mean");
  Camera inside = oblique();
  inside.position = {0.1, 0.1, 0.05};
  try {
    depth_image(*mesh, inside, at_rest(*mesh));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_CONTAINS(std::string(error.what()), "behind the camera of a depth image");
    EXPECT_EQ(error.kind(), ErrorKind::run);
  }
}

}  // namespace
}  // namespace diffsim::depth_image_test
