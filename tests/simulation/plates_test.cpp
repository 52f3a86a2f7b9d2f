// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Shells as plates, on four families of meshes, two of which are irregular: values and convergence orders.

#include <gtest/gtest.h>

#include <cmath>

#include "core/file_order.hpp"
#include "simulation/convergence_testing.hpp"
#include "simulation/plate_meshes.hpp"
#include "simulation/statics_testing.hpp"

namespace diffsim::plates_test {
namespace {

using namespace testing_plate;

constexpr double pi = 3.14159265358979323846;
constexpr double thickness = 0.01, poisson = 0.3, youngs_modulus = 12.0 * (1.0 - poisson * poisson) * 1e6;  // D = 1 N m

enum class Sides { free, supported, clamped };

/// Plate of size a × 1 m with D = 1 N m that moves only perpendicularly to its plane. The mesh is on one rank.
class Plate {
 public:
  Plate(Family family, int nx, int ny, double a, Sides sides)
      : mesh_(std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, rectangle(family, nx, ny, a, 1.0))),
        solver_(mesh_,
                {{"shell",
                  {{"shell_youngs_modulus", youngs_modulus},
                   {"shell_poisson_ratio", poisson},
                   {"shell_thickness", thickness},
                   {"shell_density", 1.0}},
                  "all"}},
                {.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static}),
        a_(a) {
    solver_.fix("all", {true, true, false});
    std::vector<std::int64_t> border;
    for (std::int64_t j = 0; j <= ny; ++j)
      for (std::int64_t i = 0; i <= nx; ++i)
        if (i == 0 || j == 0 || i == nx || j == ny) border.push_back(j * (nx + 1) + i);
    mesh_->define_region("border", VertexList{border});
    if (sides == Sides::supported) solver_.fix("border", {false, false, true});
    if (sides == Sides::clamped) solver_.clamp("border");
    solver_.add_nodal_load(std::vector<double>(3 * num(), 0.0));
  }

  std::size_t num() const { return static_cast<std::size_t>(mesh_->num_vertices()); }
  double x(std::size_t v, std::size_t c) const { return mesh_->rest_positions()[3 * v + c]; }
  DifferentiableScene& solver() { return solver_; }
  /// Local index of a vertex with the given index in the file.
  std::size_t place(std::int64_t number) const {
    const auto& numbers = mesh_->vertex_order().file_index();
    return static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), number) - numbers.begin());
  }
  /// Area of the plate at each vertex, m².
  std::vector<double> areas() const {
    std::vector<double> area(num(), 0.0);
    const std::vector<int>& corners = mesh_->lower_cells(CellKind::triangle).vertices;
    for (std::size_t t = 0; t < corners.size(); t += 3) {
      const auto v = [&](std::size_t k) { return static_cast<std::size_t>(corners[t + k]); };
      const auto side = [&](std::size_t k, std::size_t c) { return x(v(k), c) - x(v(0), c); };
      for (std::size_t k = 0; k < 3; ++k) area[v(k)] += (side(1, 0) * side(2, 1) - side(2, 0) * side(1, 1)) / 6.0;
    }
    return area;
  }

  /// Deflections under forces, N. The forces are scaled down so far that the deflections are proportional to them.
  std::vector<double> deflections(const std::vector<double>& force) {
    constexpr double small = 1e-6;
    std::vector<double> load(3 * num(), 0.0);
    for (std::size_t v = 0; v < num(); ++v) load[3 * v + 2] = small * force[v];
    solver_.parameters().at("nodal_load").field.from_host(load);
    const std::vector<double> at = equilibrium(solver_);
    std::vector<double> w(num());
    for (std::size_t v = 0; v < num(); ++v) w[v] = at[3 * v + 2] / small;
    return w;
  }
  /// Least-squares fit of a polynomial of degree 2 to w, at vertices at most `reach` away from the middle along x and
  /// y. Returns the coefficients of 1, x, y, x²/2, y²/2 and xy, with x and y measured from the middle.
  std::array<double, 6> fit(const std::vector<double>& w, std::array<double, 2> reach) const;

  /// Smallest ω² of K w = ω² (area) w, by inverse iteration.
  double least_eigenvalue() {
    const std::vector<double> area = areas();
    std::vector<double> w(num());
    for (std::size_t v = 0; v < num(); ++v) w[v] = std::sin(pi * x(v, 0) / a_) * std::sin(pi * x(v, 1));
    double value = 0.0;
    for (int iteration = 0; iteration < 6; ++iteration) {
      std::vector<double> force(num());
      for (std::size_t v = 0; v < num(); ++v) force[v] = area[v] * w[v];
      const std::vector<double> next = deflections(force);
      double numerator = 0.0, denominator = 0.0;
      for (std::size_t v = 0; v < num(); ++v) {
        numerator += next[v] * area[v] * w[v];
        denominator += next[v] * area[v] * next[v];
      }
      value = numerator / denominator;
      for (std::size_t v = 0; v < num(); ++v) w[v] = next[v] * value;
    }
    return value;
  }

 private:
  std::shared_ptr<TetrahedralMesh> mesh_;
  DifferentiableScene solver_;
  double a_;
};

std::array<double, 6> Plate::fit(const std::vector<double>& w, std::array<double, 2> reach) const {
  double A[6][7] = {};
  for (std::size_t v = 0; v < num(); ++v) {
    const double dx = x(v, 0) - 0.5 * a_, dy = x(v, 1) - 0.5;
    if (std::abs(dx) > reach[0] || std::abs(dy) > reach[1]) continue;
    const double row[7] = {1.0, dx, dy, 0.5 * dx * dx, 0.5 * dy * dy, dx * dy, w[v]};
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 7; ++j) A[i][j] += row[i] * row[j];
  }
  for (int k = 0; k < 6; ++k)
    for (int i = 0; i < 6; ++i) {
      if (i == k) continue;
      const double factor = A[i][k] / A[k][k];
      for (int j = k; j < 7; ++j) A[i][j] -= factor * A[k][j];
    }
  std::array<double, 6> result{};
  for (std::size_t i = 0; i < 6; ++i) result[i] = A[i][6] / A[i][i];
  return result;
}

class Plates : public ::testing::TestWithParam<Family> {
 protected:
  static std::string titled(const char* what) { return std::string(what) + ", " + name_of(GetParam()); }
  /// Deflection in the middle under a uniform load of 1 Pa.
  static double middle(int n, Sides sides) {
    Plate plate(GetParam(), n, n, 1.0, sides);
    const double reach = 1.5 / n;
    return plate.fit(plate.deflections(plate.areas()), {reach, reach})[0];
  }
};
INSTANTIATE_TEST_SUITE_P(families, Plates, ::testing::ValuesIn(families),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(Plates, simply_supported_under_a_uniform_load) {
  std::vector<double> values;
  for (const int n : {8, 16, 32}) values.push_back(middle(n, Sides::supported));
  expect_convergence(titled("supported"), values, 0.0040624, 0.01);
}

TEST_P(Plates, clamped_under_a_uniform_load) {
  std::vector<double> values;
  for (const int n : {12, 24, 48}) values.push_back(middle(n, Sides::clamped));
  expect_convergence(titled("clamped"), values, 0.0012653, 0.01);
}

TEST_P(Plates, simply_supported_vibrate_and_buckle) {
  std::vector<double> frequencies, loads;
  for (const int n : {8, 16, 32}) {
    Plate plate(GetParam(), n, n, 1.0, Sides::supported);
    const double at_rest = plate.least_eigenvalue();
    frequencies.push_back(std::sqrt(at_rest) / (2.0 * pi * pi));
    // A compressive membrane force N along x reduces the eigenvalue in proportion to N. At an eigenvalue of 0 the plate
    // buckles.
    const double N = 0.5 * 4.0 * pi * pi, strain = N / (youngs_modulus * thickness);
    std::vector<double> displacement(3 * plate.num(), 0.0);
    for (std::size_t v = 0; v < plate.num(); ++v) {
      displacement[3 * v] = (std::sqrt(1.0 - 2.0 * strain) - 1.0) * plate.x(v, 0);
      displacement[3 * v + 1] = (std::sqrt(1.0 + 2.0 * poisson * strain) - 1.0) * plate.x(v, 1);
    }
    plate.solver().set_initial_displacement(displacement);
    loads.push_back(N / (1.0 - plate.least_eigenvalue() / at_rest) / (4.0 * pi * pi));
  }
  expect_convergence(titled("frequency over exact"), frequencies, 1.0, 0.01);
  expect_convergence(titled("buckling load over exact"), loads, 1.0, 0.01);
}

/// Free strip bent by moments of 1 N m per metre at its ends: couples of forces on the two columns of vertices at each
/// end.
TEST_P(Plates, bent_at_their_ends_curve_the_other_way_across) {
  for (const int n : {8, 16}) {
    const int nx = 3 * n;
    Plate plate(GetParam(), nx, n, 3.0, Sides::free);
    std::vector<double> force(plate.num(), 0.0);
    for (int j = 0; j <= n; ++j) {
      const double width = (j == 0 || j == n ? 0.5 : 1.0) / n;
      for (const int end : {0, nx}) {
        const std::size_t outer = plate.place(std::int64_t{j} * (nx + 1) + end),
                          inner = plate.place(std::int64_t{j} * (nx + 1) + (end == 0 ? 1 : nx - 1));
        const double couple = width / std::abs(plate.x(inner, 0) - plate.x(outer, 0));
        force[outer] += couple;
        force[inner] -= couple;
      }
    }
    plate.solver().mesh()->define_region("three", VertexList{{0, nx, std::int64_t{n} * (nx + 1)}});
    plate.solver().fix("three", {false, false, true});
    const std::array<double, 6> fit = plate.fit(plate.deflections(force), {0.6, 0.4});
    const double D = 1.0 / (fit[3] * (1.0 - poisson * poisson)), ratio = fit[4] / fit[3];
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("strip, %-20s n %2d: D %.5f, curvature across over that along %.5f\n", name_of(GetParam()), n, D,
                  ratio);
    EXPECT_NEAR(D, 1.0, 0.02);
    EXPECT_NEAR(ratio, -poisson, 0.02 * poisson);
  }
}

}  // namespace
}  // namespace diffsim::plates_test
