// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/lumping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/impl/element.hpp"

namespace diffsim::lumping_test {
namespace {

double over_ranks(double share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

Field field_of(std::size_t extent, int components, double (*value)(std::size_t)) {
  Field field("field", extent, components);
  std::vector<double> values(field.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(i);
  field.from_host(values);
  return field;
}

/// A mesh of linear cells, or of quadratic cells with a quadrature of degree 2 or 5, with curved rest positions, and
/// the inputs of a lumping.
struct Case {
  explicit Case(int degree)
      : mesh(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.5, 0.25}, {4, 2, 2}, degree == 1 ? 1 : 2,
                                  degree == 1 ? std::nullopt : std::optional<int>(degree))),
        lumping(*mesh),
        rest("rest", static_cast<std::size_t>(mesh->num_vertices()), 3),
        density(field_of(static_cast<std::size_t>(mesh->num_cells()), 1,
                         [](std::size_t i) { return 2.0 + std::sin(static_cast<double>(i)); })) {
    std::vector<double> X = mesh->rest_positions();
    for (std::size_t i = 0; i < X.size(); i += 3) X[i + 1] += 0.1 * X[i] * X[i];
    rest.from_host(X);
  }
  Field vectors(double (*value)(std::size_t)) const {
    return field_of(static_cast<std::size_t>(mesh->num_vertices()), 3, value);
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  Lumping lumping;
  Field rest, density;
};

class EveryRule : public testing::TestWithParam<int> {};

// The deformation of the rest positions is a shear, which preserves volumes. The sums therefore add up to the box's
// volume, and each sum is positive.
TEST_P(EveryRule, sums_add_up_to_the_volume_and_are_positive) {
  const Case at(GetParam());
  Field one = at.density.like("one");
  one.fill(1.0);
  Field sums = at.rest.like("sums");
  at.lumping.add_sums(one, at.rest, sums);
  const std::vector<double> s = sums.to_host();
  double total = 0.0;
  for (std::size_t i = 0; i < s.size(); i += 3) {
    EXPECT_GT(s[i], 0.0);
    EXPECT_EQ(s[i], s[i + 2]);
    total += s[i];
  }
  EXPECT_NEAR(over_ranks(total), 0.125, 1e-15);
}

TEST_P(EveryRule, derivatives_are_each_others_transpose_and_those_of_the_sums) {
  const Case at(GetParam());
  const Field d_density = field_of(static_cast<std::size_t>(at.mesh->num_cells()), 1,
                                   [](std::size_t i) { return 1.0 + 0.5 * std::cos(1.0 + static_cast<double>(i)); });
  const Field d_rest = at.vectors([](std::size_t i) { return 0.01 * std::sin(3.0 * static_cast<double>(i)); });
  const Field w = at.vectors([](std::size_t i) { return 1.0 + std::sin(2.0 * static_cast<double>(i)); });
  Field tangent = at.rest.like("tangent"), by_density = at.density.like("by_density"),
        by_rest = at.rest.like("by_rest");
  at.lumping.add_sums_tangent(at.density, at.rest, &d_density, &d_rest, tangent);
  at.lumping.add_sums_adjoint(at.density, at.rest, w, &by_density, &by_rest);
  const double forward = over_ranks(local_dot(tangent, w));
  const double reverse = over_ranks(local_dot(by_density, d_density) + local_dot(by_rest, d_rest));
  EXPECT_NEAR(forward, reverse, 1e-13 * std::abs(forward));

  // Central differences along both directions at once. The sums are polynomials of low degree.
  double sides[2];
  for (const int side : {0, 1}) {
    const double h = side == 0 ? -1e-4 : 1e-4;
    Field density = at.density.clone(), rest = at.rest.clone(), sums = at.rest.like("sums");
    axpy(h, d_density, density);
    axpy(h, d_rest, rest);
    at.lumping.add_sums(density, rest, sums);
    sides[side] = over_ranks(local_dot(sums, w));
  }
  EXPECT_NEAR((sides[1] - sides[0]) / 2e-4, forward, 1e-9 * std::abs(forward));
}

INSTANTIATE_TEST_SUITE_P(lumping, EveryRule, testing::Values(1, 2, 5));

/// Returns the largest relative error of the volumes of cells with cubic Jacobian determinants.
double volume_error(int degree) {
  const Case at(degree);
  std::vector<double> X = at.mesh->rest_positions();
  for (std::size_t i = 0; i < X.size(); i += 3) {
    const double x = X[i], y = X[i + 1], z = X[i + 2];
    X[i] += 0.4 * x * y;
    X[i + 1] += 0.5 * y * z - 0.2 * x * x;
    X[i + 2] += 0.3 * z * x + 0.4 * y * y;
  }
  Field rest = at.rest.clone(), volumes = at.density.like("volumes");
  rest.from_host(X);
  // The derivative of the sum of all first components with respect to a cell's density is the cell's volume.
  const Field w = at.vectors([](std::size_t i) { return i % 3 == 0 ? 1.0 : 0.0; });
  at.lumping.add_sums_adjoint(at.density, rest, w, &volumes, nullptr);
  const std::vector<double> found = volumes.to_host();
  double largest = 0.0;
  for (std::size_t cell = 0; cell < found.size(); ++cell) {
    QuadraticCell x;
    for (std::size_t a = 0; a < 10; ++a)
      std::copy_n(&X[3 * static_cast<std::size_t>(at.mesh->cells()[10 * cell + a])], 3, x[a].begin());
    largest = std::max(largest, std::abs(found[cell] / volume(x) - 1.0));
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

TEST(lumping, is_exact_on_curved_cells_with_degree_five) {
  EXPECT_GT(volume_error(2), 1e-7);
  EXPECT_LT(volume_error(5), 1e-14);
}

}  // namespace
}  // namespace diffsim::lumping_test
