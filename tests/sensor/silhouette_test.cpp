// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Silhouettes: areas of masks of simple bodies, losses of displaced bodies, derivatives against differences, and
// errors.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
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

namespace diffsim::silhouette_test {
namespace {

using namespace testing_camera;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::array<double, 3> size{0.4, 0.2, 0.1};

/// Area of a mask in m² for an orthographic camera.
double area_of(const Numbers& mask, const Camera& camera) {
  double sum = 0.0;
  for (const double part : mask) sum += part;
  return sum * std::pow(camera.view_height / camera.height, 2);
}

TEST(silhouette, of_a_box_has_the_area_and_the_place_of_its_upper_side) {
  for (const int order : {1, 2}) {
    const Mesh mesh = make_box(order);
    const Camera camera = above();
    const Numbers mask = silhouette(*mesh, camera, at_rest(*mesh));
    ASSERT_EQ(mask.size(), 36u * 24u);
    EXPECT_NEAR(area_of(mask, camera), 0.08, 1e-12);
    // The box covers the columns 6 to 29 and the rows 6 to 17: a pixel has a side of 1/60 m.
    for (int row = 0; row < 24; ++row)
      for (int column = 0; column < 36; ++column) {
        const bool covered = row >= 6 && row < 18 && column >= 6 && column < 30;
        EXPECT_NEAR(mask[static_cast<std::size_t>(36 * row + column)], covered ? 1.0 : 0.0, 1e-12)
            << row << " " << column;
      }
  }
}

TEST(silhouette, has_row_0_at_the_top_and_column_0_at_the_left) {
  const Mesh mesh = make_box();
  const State moved = state_of(*mesh, [](const std::array<double, 3>& X) {
    return std::array<double, 3>{X[0] - 0.1, X[1] + 0.1, X[2]};
  });
  const Numbers mask = silhouette(*mesh, above(), moved);
  EXPECT_NEAR(mask[0], 1.0, 1e-12);
  EXPECT_NEAR(mask[36 * 24 - 1], 0.0, 1e-12);
}

TEST(silhouette, of_a_pinhole_camera_scales_with_the_distance) {
  const Mesh mesh = make_box();
  // The upper side z = 0.1 hides all other sides.
  for (const double distance : {1.0, 2.0}) {
    const Camera camera{.position = {0.2, 0.1, 0.1 + distance},
                        .target = {0.2, 0.1, 0.0},
                        .field_of_view = 0.6,
                        .width = 47,
                        .height = 40};
    double sum = 0.0;
    for (const double part : silhouette(*mesh, camera, at_rest(*mesh))) sum += part;
    const double scale = 20.0 / std::tan(0.3) / distance;
    EXPECT_NEAR(sum, 0.08 * scale * scale, 1e-10 * sum);
  }
}

TEST(silhouette, of_a_sheet_is_visible_from_both_sides) {
  const TriangleMesh sheet = rectangle_triangles({0.4, 0.2}, {4, 3});
  const auto mesh =
      std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, surface_mesh(MPI_COMM_WORLD, sheet.vertices, sheet.triangles));
  for (const double z : {2.0, -2.0}) {
    Camera camera = above();
    camera.position[2] = z;
    EXPECT_NEAR(area_of(silhouette(*mesh, camera, bent(*mesh)), camera),
                area_of(silhouette(*mesh, above(), bent(*mesh)), above()), 1e-12);
    EXPECT_NEAR(area_of(silhouette(*mesh, camera, at_rest(*mesh)), camera), 0.08, 1e-12);
  }
}

TEST(silhouette, of_an_affine_body_is_that_of_its_surface) {
  MeshData data = affine_body(MPI_COMM_WORLD, contact::box_triangles({0.0, 0.0, 0.0}, {0.4, 0.2, 0.1}));
  const TetrahedralMesh affine(MPI_COMM_WORLD, data);
  const Mesh box = make_box();
  for (const Camera& camera : {above(), oblique()}) {
    const Numbers mask = silhouette(affine, camera, at_rest(affine)),
                  expected = silhouette(*box, camera, at_rest(*box));
    for (std::size_t i = 0; i < mask.size(); ++i) EXPECT_NEAR(mask[i], expected[i], 1e-9) << i;
  }
}

TEST(silhouette, of_a_region_does_not_change_if_the_mesh_has_an_affine_body) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"block", affine_body(MPI_COMM_WORLD, contact::box_triangles({0.5, 0.0, 0.0}, {0.6, 0.2, 0.1}))});
  bodies.push_back({"box", box_mesh(MPI_COMM_WORLD, size, {4, 2, 1})});
  TetrahedralMesh both(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  const Mesh box = make_box();
  for (const std::string region : {"all", "z_max", "x_max"}) {
    SCOPED_TRACE(region);
    const Numbers mask = silhouette(both, oblique(), at_rest(both), "box/" + region),
                  expected = silhouette(*box, oblique(), at_rest(*box), region);
    double sum = 0.0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      EXPECT_NEAR(mask[i], expected[i], 1e-9) << i;
      sum += mask[i];
    }
    EXPECT_GT(sum, 1.0);
  }
  both.define_region("corner", BoxShape{{-1.0, -1.0, -1.0}, {0.201, 1.0, 1.0}});
  both.define_region("block/corner", BoxShape{{-1.0, -1.0, -1.0}, {1.0, 1.0, 1.0}}, "block");
  for (const std::string region : {"corner", "block/corner"})
    EXPECT_CONTAINS(error_of([&] { silhouette(both, oblique(), at_rest(both), region); }), "give all, BODY/all");
  EXPECT_CONTAINS(error_of([&] { silhouette(both, oblique(), at_rest(both), "box/z_mx"); }), "did you mean");
}

TEST(silhouette, loss_is_zero_for_the_own_mask_and_grows_with_the_displacement) {
  const Mesh mesh = make_box();
  const auto moved = [&](double by) {
    return state_of(*mesh, [&](const std::array<double, 3>& X) {
      return std::array<double, 3>{X[0] + by, X[1], X[2]};
    });
  };
  for (const int filter : {1, 3}) {
    const auto loss =
        make_silhouette_loss(*mesh, above(), {{2, silhouette(*mesh, above(), moved(0.011))}}, {.filter = filter});
    EXPECT_TRUE(loss->observes(2));
    EXPECT_FALSE(loss->observes(1));
    EXPECT_EQ(loss->unit(), "1");
    EXPECT_EQ(loss->num_observations(), filter == 1 ? 36.0 * 24.0 : 34.0 * 22.0);
    EXPECT_NEAR(value_of(*loss, moved(0.011)), 0.0, 1e-24);
    double before = 0.0;
    for (const double by : {0.013, 0.017, 0.025, 0.05}) {
      const double now = value_of(*loss, moved(by));
      EXPECT_GT(now, before + 1e-9);
      before = now;
    }
  }
}

TEST(silhouette, does_not_depend_on_the_number_of_ranks) {
  const Mesh mesh = make_box(), alone = make_box(1, MPI_COMM_SELF);
  const Numbers mask = silhouette(*mesh, oblique(), bent(*mesh)),
                expected = silhouette(*alone, oblique(), bent(*alone));
  for (std::size_t i = 0; i < mask.size(); ++i) EXPECT_NEAR(mask[i], expected[i], 1e-13);
}

void expect_derivatives(const TetrahedralMesh& mesh, const Camera& camera, int filter) {
  const auto loss =
      make_silhouette_loss(mesh, camera, {{2, silhouette(mesh, camera, at_rest(mesh))}}, {.filter = filter});
  ASSERT_GT(value_of(*loss, bent(mesh)), 1e-4);
  testing_camera::expect_derivatives(*loss, mesh, {1e-3, 2e-5, 1e-7, 1e-11, 1e-8});
}

TEST(silhouette, has_the_derivatives_that_differences_have) {
  for (const int order : {1, 2})
    for (const int filter : {1, 3})
      for (const Camera& camera : {above(), oblique()}) {
        SCOPED_TRACE(std::to_string(order) + " " + std::to_string(filter) + " " + std::to_string(camera.view_height));
        expect_derivatives(*make_box(order), camera, filter);
      }
}

TEST(silhouette, of_an_affine_body_and_of_a_sheet_has_the_derivatives_that_differences_have) {
  MeshData data = affine_body(MPI_COMM_WORLD, contact::box_triangles({0.0, 0.0, 0.0}, {0.4, 0.2, 0.1}));
  expect_derivatives(TetrahedralMesh(MPI_COMM_WORLD, data), oblique(), 3);
  const TriangleMesh sheet = rectangle_triangles({0.4, 0.2}, {4, 3});
  expect_derivatives(TetrahedralMesh(MPI_COMM_WORLD, surface_mesh(MPI_COMM_WORLD, sheet.vertices, sheet.triangles)),
                     oblique(), 3);
}

TEST(silhouette, has_the_gauss_newton_matrix_as_hessian_where_the_residuals_are_zero) {
  const Mesh mesh = make_box();
  expect_gauss_newton(
      *make_silhouette_loss(*mesh, oblique(), {{2, silhouette(*mesh, oblique(), bent(*mesh))}}, {.filter = 3}), *mesh);
}

TEST(silhouette, is_refused_for_invalid_cameras_and_masks) {
  const Mesh mesh = make_box();
  const Numbers empty(36 * 24, 0.0);
  const auto refused = [&](Camera camera, const std::map<int, Numbers>& masks, SilhouetteOptions options = {}) {
    return error_of([&] { make_silhouette_loss(*mesh, camera, masks, options); });
  };
  Camera camera = above();
  camera.up = {0.0, 0.0, 3.0};
  EXPECT_CONTAINS(refused(camera, {{0, empty}}), "parallel to the line of sight");
  camera = above();
  camera.target = camera.position;
  EXPECT_CONTAINS(refused(camera, {{0, empty}}), "are the same point");
  camera = above();
  camera.width = 0;
  EXPECT_CONTAINS(refused(camera, {{0, empty}}), "from 1 to 16384");
  camera = oblique();
  camera.field_of_view = std::numbers::pi;
  EXPECT_CONTAINS(refused(camera, {{0, empty}}), "between 0 and π");
  EXPECT_CONTAINS(refused(above(), {{0, Numbers(7, 0.0)}}), "a mask has 7 pixels; the image of the camera has 24 rows");
  EXPECT_CONTAINS(refused(above(), {{0, Numbers(36 * 24, 1.5)}}), "outside of [0, 1]");
  EXPECT_CONTAINS(refused(above(), {{0, Numbers(36 * 24, nan)}}), "no pixel of a silhouette is observed");
  EXPECT_CONTAINS(refused(above(), {{-1, empty}}), "step -1 is negative");
  EXPECT_CONTAINS(refused(above(), {{0, empty}}, {.filter = 2}), "give an odd number");
  Camera inside = oblique();
  inside.position = {0.1, 0.1, 0.05};
  const auto loss = make_silhouette_loss(*mesh, inside, {{2, Numbers(30 * 22, 0.0)}});
  const auto error_at = [&](const State& state) {
    try {
      loss->value(2, state, {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_CONTAINS(error_at(at_rest(*mesh)), "behind the camera");
  const State lost = state_of(*mesh, [](const std::array<double, 3>&) { return std::array<double, 3>{0.0, nan, 0.0}; });
  EXPECT_CONTAINS(error_at(lost), "not finite");
}

}  // namespace
}  // namespace diffsim::silhouette_test
