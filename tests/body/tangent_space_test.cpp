// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tangent space of the constraints of a chain of rigid bodies, some of whose joints connect bodies of several ranks.

#include "body/tangent_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "simulation/affine_bodies.hpp"

namespace diffsim::body::tangent_space_test {
namespace {

constexpr int bodies = 5;

struct Chain {
  TetrahedralMesh mesh;
  ConstraintSet set;
  Chain() : mesh(MPI_COMM_WORLD, boxes()), set(mesh, cells(), joints()) {}

  static MeshData boxes() {
    std::vector<NamedMesh> all;
    for (int b = 0; b < bodies; ++b)
      all.push_back(
          testing_affine::affine_box(MPI_COMM_WORLD, "bar" + std::to_string(b), {0.2, 0.1, 0.15}, {0.3 * b, 0.0, 0.0}));
    return join_bodies(MPI_COMM_WORLD, std::move(all));
  }
  std::vector<int> cells() const {
    std::vector<int> all(static_cast<std::size_t>(mesh.num_cells()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  static std::vector<Joint> joints() {
    std::vector<Joint> all{{"base", JointKind::spherical, "bar0", "", {-0.1, 0.0, 0.0}}};
    for (int b = 1; b < bodies; ++b)
      all.push_back({"joint" + std::to_string(b),
                     b % 2 == 1 ? JointKind::revolute : JointKind::universal,
                     "bar" + std::to_string(b),
                     "bar" + std::to_string(b - 1),
                     {0.3 * b - 0.15, 0.02, 0.0},
                     {0.2, 0.4, 1.0}});
    return all;
  }
  Field field(double (*f)(double x, double y, double z, int c)) const {
    Field out("field", mesh.vertex_entities(), 3);
    const std::vector<double>& X = mesh.rest_positions();
    std::vector<double> values(X.size());
    for (std::size_t i = 0; i < X.size(); ++i) {
      const double* const P = &X[3 * (i / 3)];
      values[i] = f(P[0], P[1], P[2], static_cast<int>(i % 3));
    }
    out.from_host(values);
    return out;
  }
  Field rest() const {
    return field([](double x, double y, double z, int c) { return c == 0 ? x : c == 1 ? y : z; });
  }
  double dot(const Field& a, const Field& b) const {
    const std::vector<double> u = a.to_host(), v = b.to_host();
    double sum = 0.0;
    for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(mesh.num_owned_vertices()); ++i) sum += u[i] * v[i];
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sum;
  }
};

double wave(double x, double y, double z, int c) { return std::cos(7.0 * x + 11.0 * y - 5.0 * z + 1.3 * c); }
double ripple(double x, double y, double z, int c) { return std::sin(4.0 * x - 9.0 * y + 6.0 * z + 0.7 * c); }

/// Returns a + t b.
Field sum(const Field& a, double t, const Field& b) {
  std::vector<double> values = a.to_host();
  const std::vector<double> others = b.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += t * others[i];
  Field out = a.clone();
  out.from_host(values);
  return out;
}

TEST(tangent_space, projection_is_orthogonal) {
  const Chain chain;
  const TangentSpace space(chain.set, chain.rest());
  Field w = chain.field(wave);
  const Field given = w.clone();
  const double most = chain.dot(given, given);
  space.project(w);
  EXPECT_GT(chain.dot(w, w), 1e-3 * most);
  EXPECT_LT(chain.dot(w, w), 0.9 * most);
  // w - given is orthogonal to w, and another projection changes nothing.
  EXPECT_NEAR(chain.dot(w, sum(given, -1.0, w)), 0.0, 1e-12 * most);
  Field again = w.clone();
  space.project(again);
  EXPECT_NEAR(chain.dot(sum(again, -1.0, w), sum(again, -1.0, w)), 0.0, 1e-24 * most);
}

TEST(tangent_space, retracted_positions_satisfy_the_constraints_and_deviate_in_second_order) {
  const Chain chain;
  const Field y = chain.rest();
  const TangentSpace space(chain.set, y);
  Field w = chain.field(wave);
  space.project(w);
  std::vector<double> deviations;
  for (const double t : {2e-3, 1e-3}) {
    Field x = sum(y, t, w);
    const Field before = x.clone();
    ASSERT_TRUE(space.retract(x));
    const Field change = sum(x, -1.0, before);
    deviations.push_back(std::sqrt(chain.dot(change, change)));
    // The positions are on the constraints: another retraction, along the constraint forces there, changes nothing.
    Field again = x.clone();
    ASSERT_TRUE(TangentSpace(chain.set, x).retract(again));
    const Field more = sum(again, -1.0, x);
    EXPECT_LT(std::sqrt(chain.dot(more, more)), 1e-14);
  }
  EXPECT_NEAR(std::log2(deviations[0] / deviations[1]), 2.0, 0.02);
  Field far = sum(y, 100.0, w);
  EXPECT_FALSE(space.retract(far));
}

/// Derivative of the projection of a constant field b along a motion dy on the constraints: with w = b - Gᵀ λ,
/// dw = -(Λ(λ) dy + Gᵀ dλ). The normal component of dw is that of `add_normal_derivative`; the tangent
/// component of dw is the projection of -Λ(λ) dy.
TEST(tangent_space, derivatives_of_the_projection) {
  const Chain chain;
  const Field y = chain.rest(), b = chain.field(wave);
  const TangentSpace space(chain.set, y);
  Field dy = chain.field(ripple), w = b.clone();
  space.project(dy);
  const Multipliers lambda = space.project(w);
  Field expected = w.like("expected");
  space.add_curvature(lambda, dy, -1.0, expected);
  space.project(expected);
  space.add_normal_derivative(w, dy, expected);
  const auto projected = [&](double t) {
    Field x = sum(y, t, dy), result = b.clone();
    EXPECT_TRUE(space.retract(x));
    TangentSpace(chain.set, x).project(result);
    return result;
  };
  // Fourth-order differences.
  const double h = 2e-4;
  Field slope = sum(projected(h), -1.0, projected(-h));
  slope = sum(sum(slope, 7.0, slope), -1.0, sum(projected(2.0 * h), -1.0, projected(-2.0 * h)));
  const Field error = sum(expected, -1.0 / (12.0 * h), slope);
  EXPECT_LT(std::sqrt(chain.dot(error, error)), 1e-8 * std::sqrt(chain.dot(expected, expected)));
  // The Frobenius norm of Λ(λ) bounds its products.
  Field product = w.like("product");
  space.add_curvature(lambda, dy, 1.0, product);
  double square = space.curvature_square(lambda);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  EXPECT_GT(chain.dot(product, product), 1e-3 * square * chain.dot(dy, dy));
  EXPECT_LT(chain.dot(product, product), square * chain.dot(dy, dy));
}

}  // namespace
}  // namespace diffsim::body::tangent_space_test
