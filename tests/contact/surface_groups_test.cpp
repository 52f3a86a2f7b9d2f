// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/surface_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "contact/surface.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/mesh/construction.hpp"

namespace diffsim::contact::surface_groups_test {
namespace {

/// Groups of points, edges and triangles, by the sorted numbers of their vertices.
using Groups = std::map<std::vector<std::int64_t>, std::int32_t>;

std::shared_ptr<TetrahedralMesh> make_box(MPI_Comm comm, int order) {
  auto mesh = TetrahedralMesh::box(comm, {1.0, 1.0, 1.0}, {4, 3, 5}, order);
  mesh->define_region("corner", BoxShape{{0.7, 0.6, -1.0}, {2.0, 2.0, 2.0}});
  return mesh;
}

template <class Vertices>
std::vector<std::int64_t> numbers_of(const Vertices& vertices) {
  std::vector<std::int64_t> numbers;
  for (const SurfaceVertex& v : vertices) numbers.push_back(v.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Groups groups_of(MPI_Comm comm, int order, const std::vector<std::string>& regions) {
  const Surface surface = mesh_surface(*make_box(comm, order), regions);
  EXPECT_EQ(surface.points.size(), surface.point_groups.size());
  Groups groups;
  for (std::size_t i = 0; i < surface.points.size(); ++i)
    groups[numbers_of(std::vector{surface.points[i]})] = surface.point_groups[i];
  for (std::size_t i = 0; i < surface.edges.size(); ++i)
    groups[numbers_of(surface.edges[i].ends)] = surface.edge_groups[i];
  for (std::size_t i = 0; i < surface.triangles.size(); ++i)
    groups[numbers_of(surface.triangles[i].corners)] = surface.triangle_groups[i];
  return groups;
}

TEST(surface_groups, are_those_of_the_lowest_triangle_on_any_number_of_ranks) {
  for (const int order : {1, 2})
    for (const std::vector<std::string>& regions : {std::vector<std::string>{"x_min", "y_min", "corner"}, {}}) {
      const Groups alone = groups_of(MPI_COMM_SELF, order, regions);
      Groups expected;
      std::vector<int> count(regions.size() + 1, 0);
      for (const auto& [vertices, group] : alone) {
        if (vertices.size() < 3) continue;
        ++count[static_cast<std::size_t>(group)];
        for (unsigned which = 1; which < 8; ++which) {
          std::vector<std::int64_t> some;
          for (std::size_t k = 0; k < 3; ++k)
            if (which >> k & 1) some.push_back(vertices[k]);
          std::int32_t& least = expected.try_emplace(some, group).first->second;
          least = std::min(least, group);
        }
      }
      EXPECT_EQ(alone, expected);
      if (!regions.empty()) {
        // x_min and y_min have 3·5 and 4·5 faces of bricks, with two triangles each, or eight for order 2.
        EXPECT_EQ(count[0], 2 * 15 * (order == 1 ? 1 : 4));
        EXPECT_EQ(count[1], 2 * 20 * (order == 1 ? 1 : 4));
        EXPECT_GT(count[2], 10);
        EXPECT_GT(count[3], 10);
      }
      std::int64_t others = 0, size = 0;
      for (const auto& [vertices, group] : groups_of(MPI_COMM_WORLD, order, regions)) {
        ++size;
        others += alone.at(vertices) != group;
      }
      EXPECT_EQ(others, 0);
      MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(size, static_cast<std::int64_t>(alone.size()));
    }
}

TEST(surface_groups, vertices_of_groups_share_the_surface) {
  const auto mesh = make_box(MPI_COMM_WORLD, 1);
  std::vector<int> all;
  for (const std::size_t group : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const std::vector<int> some = surface_vertices(*mesh, {"y_min", "x_min"}, {group});
    for (const int v : some) {
      const double* const X = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
      EXPECT_EQ(group, X[1] == 0.0 ? 0U : X[0] == 0.0 ? 1U : 2U);
    }
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, surface_vertices(*mesh, {"y_min", "x_min"}, {}));
}

}  // namespace
}  // namespace diffsim::contact::surface_groups_test
