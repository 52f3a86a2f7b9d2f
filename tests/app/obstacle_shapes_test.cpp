// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/obstacle_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "contact/surface.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::app::obstacle_shapes_test {
namespace {

/// Parses a scene with one obstacle.
Scene scene_with(const std::string& obstacle) {
  return parse_scene(
      "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\n"
      "contact: {barrier_distance: 0.1, barrier_stiffness: 1, obstacles: [{" +
          obstacle + "}]}\n",
      "s.yaml");
}

/// Returns the message of the error in a scene with one obstacle; empty if the scene is valid.
std::string error_with(const std::string& obstacle) {
  try {
    scene_with(obstacle);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// Returns the volume enclosed by a mesh with outward normals.
double enclosed_volume(const TriangleMesh& mesh) {
  double sum = 0.0;
  for (const auto& triangle : mesh.triangles) {
    Vec3<double> x[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& p = mesh.vertices[static_cast<std::size_t>(triangle[k])];
      x[k] = {{p[0], p[1], p[2]}};
    }
    sum += dot(x[0], cross(x[1], x[2])) / 6.0;
  }
  return sum;
}

/// Obstacle in a scene, and the exact volume of the shape. The volume of the mesh is at least (1 - `deficit`) times the
/// exact volume.
struct Shape {
  std::string key, text;
  double volume, deficit;
};

// The deficit of an inscribed prism with 64 sides is (2 π/64)²/6 = 0.0016. That of the half-spheres of a capsule is
// about 1.5 times as large again for the second direction of curvature, together 0.0040.
const std::vector<Shape> samples{
    {"box", "box: {min: [1, 2, 3], max: [2, 4, 6]}", 6.0, 1e-12},
    {"sphere", "sphere: {center: [1, 2, 3], radius: 0.5}", M_PI / 6.0, 0.005},
    {"cylinder", "cylinder: {from: [1, 2, 3], to: [2, 3, 4], radius: 0.5}", 0.25 * M_PI* std::sqrt(3.0), 0.002},
    {"capsule", "capsule: {from: [1, 2, 3], to: [2, 3, 4], radius: 0.5}", 0.25 * M_PI* std::sqrt(3.0) + M_PI / 6.0,
     0.004},
};

TEST(ObstacleShapes, AreClosedAndHaveOutwardNormals) {
  for (const Shape& sample : samples) {
    const Scene scene = scene_with(sample.text);
    ASSERT_EQ(scene.contact->options.meshes.size(), 1u) << sample.key;
    const TriangleMesh& mesh = scene.contact->options.meshes[0].mesh;
    for (const contact::SurfaceTriangle& triangle : contact::triangle_surface(mesh, 0).triangles)
      for (const double weight : triangle.edge_weights) ASSERT_EQ(weight, -0.5) << sample.key;
    const double ratio = enclosed_volume(mesh) / sample.volume;
    EXPECT_LE(ratio, 1.0 + 1e-12) << sample.key;
    EXPECT_GE(ratio, 1.0 - sample.deficit) << sample.key;
  }
}

TEST(ObstacleShapes, AllHaveASample) {
  ASSERT_EQ(obstacle_shapes().size(), samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(obstacle_shapes()[i].key, samples[i].key);
}

/// Each vertex of a capsule has the distance `radius` from the segment between the two centres.
TEST(ObstacleShapes, VerticesOfACapsuleAreOnTheExactSurface) {
  const Scene scene = scene_with("capsule: {from: [0.1, 0.2, 0.3], to: [0.1, 0.2, 1.3], radius: 0.25}");
  const TriangleMesh& mesh = scene.contact->options.meshes[0].mesh;
  EXPECT_EQ(mesh.vertices.size(), 2050u);
  EXPECT_EQ(mesh.triangles.size(), 4096u);
  for (const auto& x : mesh.vertices) {
    const double along = std::fmin(std::fmax(x[2], 0.3), 1.3);
    EXPECT_NEAR(std::hypot(x[0] - 0.1, x[1] - 0.2, x[2] - along), 0.25, 1e-14);
  }
}

TEST(ObstacleShapes, InvalidShapesAreErrors) {
  EXPECT_EQ(error_with("capsule: {from: [1, 0, 0], to: [1, 0, 0], radius: 1}"),
            "s.yaml:2: contact.obstacles[0].capsule.to: is the same point as `from`; give the centre of the other end, "
            "or use a sphere");
  EXPECT_EQ(error_with("capsule: {from: [1, 0, 0], to: [2, 0, 0], radius: 0}"),
            "s.yaml:2: contact.obstacles[0].capsule.radius: 0 is not positive; give a number above 0, in m");
  std::string keys = "plane";
  for (const ObstacleShape& shape : obstacle_shapes()) keys += ", " + shape.key;
  EXPECT_EQ(error_with("velocity: [0, 0, 0]"),
            "s.yaml:2: contact.obstacles[0]: a key is missing; give one of: " + keys + ", mesh");
}

}  // namespace
}  // namespace diffsim::app::obstacle_shapes_test
