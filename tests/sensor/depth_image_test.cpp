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

namespace diffsim::depth_image_test {
namespace {

using Numbers = std::vector<double>;
using Point = std::array<double, 3>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<TetrahedralMesh> make_box(MPI_Comm comm = MPI_COMM_WORLD, int order = 1) {
  return TetrahedralMesh::box(comm, {0.4, 0.2, 0.1}, {4, 2, 1}, order);
}

/// Camera that looks along -z at the middle of the box; a pixel of the orthographic image has a side of 1/60 m.
Camera above() {
  return {.position = {0.2, 0.1, 2.0}, .target = {0.2, 0.1, 0.0}, .view_height = 0.4, .width = 36, .height = 24};
}
/// Pinhole camera in a general direction.
Camera oblique() {
  return {.position = {0.7, 0.6, 0.9},
          .target = {0.21, 0.09, 0.04},
          .up = {0.1, 1.0, -0.2},
          .field_of_view = 0.5,
          .width = 30,
          .height = 22};
}

/// State with the positions move(X) of the rest positions X.
State state_of(const TetrahedralMesh& mesh, const std::function<Point(const Point&)>& move) {
  State state;
  Field& x = state.add(Field("positions", mesh.vertex_entities(), 3));
  Numbers values = mesh.rest_positions();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    const Point y = move({values[i], values[i + 1], values[i + 2]});
    for (std::size_t c = 0; c < 3; ++c) values[i + c] = y[c];
  }
  x.from_host(values);
  return state;
}
State at_rest(const TetrahedralMesh& mesh) {
  return state_of(mesh, [](const Point& X) { return X; });
}
State bent(const TetrahedralMesh& mesh) {
  return state_of(mesh, [](const Point& X) {
    return Point{1.03 * X[0] + 0.0137 + 0.11 * X[1] * X[0] + 0.05 * X[2],
                 0.97 * X[1] - 0.0083 + 0.23 * X[0] * X[0] - 0.07 * X[2], 1.01 * X[2] + 0.0071 + 0.09 * X[0]};
  });
}

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
  const auto mesh = make_box(), alone = make_box(MPI_COMM_SELF);
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

double value_of(Loss& loss, const State& state) { return sum_over_ranks(loss.value(2, state, {}), MPI_COMM_WORLD); }

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

/// Direction or weight of the positions, which does not depend on the number of ranks.
State noise(const TetrahedralMesh& mesh, double amplitude, double phase) {
  State state;
  Field& field = state.add(Field("positions", mesh.vertex_entities(), 3));
  Numbers values(field.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = amplitude * std::sin(phase + (5.7 + 0.9 * static_cast<double>(i % 3)) *
                                                 static_cast<double>(mesh.vertex_order().file_index()[i / 3]));
  field.from_host(values);
  return state;
}

/// Returns the derivative at 0 by central differences of order eight, with steps so small that no pixel begins to show
/// another triangle.
double difference(const std::function<double(double)>& function) {
  constexpr double h = 1e-4, factors[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) sum += factors[k] / h * (function((k + 1) * h) - function(-(k + 1) * h));
  return sum;
}

void expect_derivatives(const TetrahedralMesh& mesh, const Camera& camera, double huber) {
  Numbers observed = depth_image(mesh, camera, at_rest(mesh));
  for (std::size_t i = 0; i < observed.size(); i += 7) observed[i] += 0.3;  // outliers
  const auto loss = make_depth_loss(mesh, camera, {{2, observed}}, {.huber = huber});
  const State state = bent(mesh), along = noise(mesh, 1e-2, 0.4), other = noise(mesh, 1e-2, 2.2);
  ParameterSet none;
  const auto moved = [&](double h) {
    State result = state.clone();
    axpy(h, along, result);
    return result;
  };
  const auto product = [&](const State& adjoint) { return sum_over_ranks(local_dot(adjoint, other), MPI_COMM_WORLD); };
  const double scale = value_of(*loss, state);
  ASSERT_GT(scale, 1e-5);
  const double slope = sum_over_ranks(loss->tangent(2, state, none, along, none), MPI_COMM_WORLD);
  EXPECT_NEAR(slope, difference([&](double h) { return value_of(*loss, moved(h)); }), 1e-9 * scale);
  EXPECT_GT(std::abs(slope), 1e-4 * scale);
  const auto gradient = [&](double h) {
    State bar = state.zero_like();
    loss->add_gradient(2, moved(h), none, bar, none);
    return product(bar);
  };
  const double of_other = sum_over_ranks(loss->tangent(2, state, none, other, none), MPI_COMM_WORLD);
  EXPECT_NEAR(gradient(0.0), of_other, 1e-12 * scale);
  State bar = state.zero_like();
  loss->add_gradient_tangent(2, state, none, along, none, bar, none);
  const double second = product(bar);
  EXPECT_NEAR(second, difference(gradient), 1e-9 * scale);
  EXPECT_GT(std::abs(second), 1e-6 * scale);
}

TEST(depth_image, has_the_derivatives_that_differences_have) {
  MeshData affine = affine_body(MPI_COMM_WORLD, contact::box_triangles({0.0, 0.0, 0.0}, {0.4, 0.2, 0.1}));
  const TetrahedralMesh body(MPI_COMM_WORLD, affine);
  for (const double huber : {0.0, 0.1})
    for (const Camera& camera : {above(), oblique()}) {
      SCOPED_TRACE(std::to_string(huber) + " " + std::to_string(camera.view_height));
      expect_derivatives(*make_box(), camera, huber);
      expect_derivatives(*make_box(MPI_COMM_WORLD, 2), camera, huber);
      expect_derivatives(body, camera, huber);
      expect_derivatives(*two_boxes(), camera, huber);
    }
}

TEST(depth_image, has_the_gauss_newton_matrix_as_hessian_where_the_residuals_are_zero) {
  const auto mesh = make_box();
  const State state = bent(*mesh), along = noise(*mesh, 1e-3, 0.4);
  const auto loss = make_depth_loss(*mesh, oblique(), {{2, depth_image(*mesh, oblique(), state)}});
  ParameterSet none;
  State newton = state.zero_like(), gauss = state.zero_like();
  loss->add_gradient_tangent(2, state, none, along, none, newton, none);
  loss->add_gauss_newton(2, state, none, along, none, gauss, none);
  const double scale = sum_over_ranks(local_dot(gauss, along), MPI_COMM_WORLD);
  EXPECT_GT(scale, 0.0);
  axpy(-1.0, gauss, newton);
  EXPECT_NEAR(sum_over_ranks(local_dot(newton, along), MPI_COMM_WORLD), 0.0, 1e-9 * scale);
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
