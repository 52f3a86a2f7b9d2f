// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/segment_moment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/term_derivatives.hpp"

namespace diffsim::segment_moment_test {
namespace {

/// Returns the forces of a moment on one segment: at both ends and at the director, [3, 3].
std::vector<double> forces_of(const std::vector<double>& moment, int steps, const std::vector<double>& nodes) {
  ParameterSet parameters;
  parameters.add("moment", Entities::one_for_all(MPI_COMM_SELF), 3, steps).field.from_host(moment);
  const auto term = make_segment_moment("moment", {0, 1, 2});
  Field x("x", 3, 3), f("f", 3, 3);
  x.from_host(nodes);
  term->prepare(parameters);
  term->add_force({.positions = x, .step = 1, .load_factor = 0.5}, parameters, f);
  return f.to_host();
}

// t = (1, 0, 0), l = 2, d = (0, 3, 0), p = (4, 5, 6): p×t/l = (0, 3, -2.5), (p·t) t×d/|d|² = (0, 0, 4/3).
TEST(segment_moment, has_the_forces_of_the_formula) {
  const std::vector<double> nodes{1, 1, 1, 3, 1, 1, 0.5, 3, 0};
  const std::vector<double> expected{0, -3, 2.5, 0, 3, -2.5, 0, 0, 4.0 / 3.0};
  const std::vector<double> of_signal = forces_of({7, 7, 7, 4, 5, 6}, 2, nodes);
  const std::vector<double> of_constant = forces_of({4, 5, 6}, 1, nodes);  // multiplied by the load factor
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(of_signal[i], expected[i], 1e-15) << i;
    EXPECT_NEAR(of_constant[i], 0.5 * expected[i], 1e-15) << i;
  }
}

// In a rotation of the segment with the angular velocity ω, the director d rotates with ω×d, and the power is p·ω.
TEST(segment_moment, has_the_power_of_a_moment) {
  const double omega[3] = {0.3, -0.7, 0.2}, moment[3] = {4.0, 5.0, 6.0};
  // The segment (2, 1, 2) is perpendicular to the director (1, -2, 0).
  const std::vector<double> nodes{1, 0, -1, 3, 1, 1, 1, -2, 0};
  const std::vector<double> f = forces_of({0, 0, 0, moment[0], moment[1], moment[2]}, 2, nodes);
  double power = 0.0, expected = 0.0;
  for (std::size_t node = 0; node < 3; ++node)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
      power += f[3 * node + c] * (omega[a] * nodes[3 * node + b] - omega[b] * nodes[3 * node + a]);
    }
  for (std::size_t c = 0; c < 3; ++c) expected += moment[c] * omega[c];
  EXPECT_NEAR(power, expected, 1e-13);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(f[c] + f[3 + c], 0.0) << c;
}

/// Returns the vertex with the given rest position.
int vertex_at(const TetrahedralMesh& mesh, double x, double y, double z) {
  const std::vector<double>& X = mesh.rest_positions();
  for (int v = 0; v < mesh.num_vertices(); ++v) {
    const auto i = 3 * static_cast<std::size_t>(v);
    if (std::abs(X[i] - x) + std::abs(X[i + 1] - y) + std::abs(X[i + 2] - z) < 1e-12) return v;
  }
  ADD_FAILURE() << "no vertex";
  return 0;
}

// Two segments, along x and along z, share a vertex. The directors are vertices of the box.
TEST(segment_moment, derivatives) {
  const std::shared_ptr<TetrahedralMesh> mesh = TetrahedralMesh::box(MPI_COMM_SELF, {1.0, 0.6, 0.5}, {1, 1, 1});
  const int corner = vertex_at(*mesh, 0.0, 0.0, 0.0), x = vertex_at(*mesh, 1.0, 0.0, 0.0),
            z = vertex_at(*mesh, 0.0, 0.0, 0.5), yz = vertex_at(*mesh, 0.0, 0.6, 0.5),
            xy = vertex_at(*mesh, 1.0, 0.6, 0.0);
  ParameterSet parameters;
  parameters.add("moment", Entities::one_for_all(MPI_COMM_SELF), 3).field.from_host({0.6, -0.3, 0.8});
  const auto term = make_segment_moment("moment", {corner, x, yz, corner, z, xy});
  EXPECT_FALSE(term->has_energy());
  EXPECT_FALSE(term->has_symmetric_jacobian());
  testing_term::TermRig(mesh, *term, parameters).expect_all_derivatives();
}

}  // namespace
}  // namespace diffsim::segment_moment_test
