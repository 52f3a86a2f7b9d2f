// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Shells compared with established benchmarks: MacNeal and Harder 1985 (roof, hemisphere), Sze, Liu and Lo 2004 (large
// deflections). DIFFSIM_VERBOSE=1 adds coarser meshes, and regular meshes for the two most expensive problems, and
// prints the values.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

#include "core/file_order.hpp"
#include "simulation/plate_meshes.hpp"
#include "simulation/statics_testing.hpp"

namespace diffsim::shell_benchmarks_test {
namespace {

using namespace testing_plate;

constexpr double pi = 3.14159265358979323846;
constexpr double degree = pi / 180.0;

struct ShellValues {
  double youngs_modulus, poisson_ratio, thickness;
};

/// Shell whose mesh is a rectangle of nx × ny cells, mapped from [0, 1]² by `map`. The mesh is on one rank.
class MappedShell {
 public:
  MappedShell(Family family, int nx, int ny, const std::function<Point(double, double)>& map, ShellValues values,
              int steps = 1)
      : nx_(nx), ny_(ny), steps_(steps) {
    MeshData data = rectangle(family, nx, ny, 1.0, 1.0);
    for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
      const Point x = map(data.coordinates[i], data.coordinates[i + 1]);
      for (std::size_t c = 0; c < 3; ++c) data.coordinates[i + c] = x[c];
    }
    mesh_ = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, std::move(data));
    DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static};
    options.implicit.ramp_steps = steps;
    solver_ = std::make_unique<DifferentiableScene>(
        mesh_,
        std::vector<DifferentiableMaterial>{{"shell",
                                             {{"shell_youngs_modulus", values.youngs_modulus},
                                              {"shell_poisson_ratio", values.poisson_ratio},
                                              {"shell_thickness", values.thickness},
                                              {"shell_density", 1.0}},
                                             "all"}},
        options);
    load_.assign(3 * static_cast<std::size_t>(mesh_->num_vertices()), 0.0);
  }

  DifferentiableScene& solver() { return *solver_; }
  const TetrahedralMesh& mesh() const { return *mesh_; }
  std::size_t at(int i, int j) const {
    const auto& numbers = mesh_->vertex_order().file_index();
    return static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), std::int64_t{j} * (nx_ + 1) + i) -
                                    numbers.begin());
  }
  /// Fixes components of the vertices in column i and row j of the grid for which `chosen`(i, j) is true.
  void fix(const std::function<bool(int, int)>& chosen, std::array<bool, 3> axes, bool clamp = false) {
    std::vector<std::int64_t> vertices;
    for (int j = 0; j <= ny_; ++j)
      for (int i = 0; i <= nx_; ++i)
        if (chosen(i, j)) vertices.push_back(std::int64_t{j} * (nx_ + 1) + i);
    const std::string name = "fixed " + std::to_string(regions_++);
    mesh_->define_region(name, VertexList{vertices});
    if (clamp)
      solver_->clamp(name, axes);
    else
      solver_->fix(name, axes);
  }
  void push(int i, int j, const Point& force) {
    for (std::size_t c = 0; c < 3; ++c) load_[3 * at(i, j) + c] += force[c];
  }
  /// Adds a load per rest area, N/m².
  void push_all(const Point& pressure) {
    const std::vector<int>& corners = mesh_->lower_cells(CellKind::triangle).vertices;
    for (std::size_t t = 0; t < corners.size(); t += 3) {
      Vec3<double> x[3];
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          x[k][static_cast<int>(c)] = mesh_->rest_positions()[3 * static_cast<std::size_t>(corners[t + k]) + c];
      const Vec3<double> normal = cross(x[1] - x[0], x[2] - x[0]);
      const double area = 0.5 * std::sqrt(dot(normal, normal));
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          load_[3 * static_cast<std::size_t>(corners[t + k]) + c] += area / 3.0 * pressure[c];
    }
  }
  /// Displacements after each step, [vertices, 3]. The load grows to its full value over the steps.
  std::vector<std::vector<double>> displacements() {
    solver_->add_nodal_load(load_);
    State state = solver_->initial_state();
    solver_->model().prepare();
    std::vector<std::vector<double>> result;
    for (int n = 0; n < steps_; ++n) {
      solver_->step(n, state);
      result.push_back(state["positions"].to_host());
      for (std::size_t i = 0; i < load_.size(); ++i) result.back()[i] -= mesh_->rest_positions()[i];
    }
    return result;
  }

 private:
  int nx_, ny_, steps_, regions_ = 0;
  std::shared_ptr<TetrahedralMesh> mesh_;
  std::unique_ptr<DifferentiableScene> solver_;
  std::vector<double> load_;
};

void report(const char* what, Family family, int n, double value, double exact) {
  if (std::getenv("DIFFSIM_VERBOSE"))
    std::printf("%-28s %-13s n %3d: %.6f, %+.2f %% of %.6f\n", what, name_of(family), n, value,
                100.0 * (value / exact - 1.0), exact);
}

/// Mesh families of the two most expensive problems: random meshes, and with DIFFSIM_VERBOSE also regular meshes.
std::vector<Family> families_of_expensive_problems() {
  if (!std::getenv("DIFFSIM_VERBOSE")) return {Family::random};
  return {Family::one_diagonal, Family::random};
}

/// Numbers of cells along a side: `finest`, whose value is tested, and with DIFFSIM_VERBOSE also those of coarser
/// meshes.
std::vector<int> meshes_to(int finest, int coarsest) {
  if (!std::getenv("DIFFSIM_VERBOSE")) return {finest};
  std::vector<int> result;
  for (int n = coarsest; n <= finest; n *= 2) result.push_back(n);
  return result;
}

class Shells : public ::testing::TestWithParam<Family> {};
class ExpensiveShells : public Shells {};
INSTANTIATE_TEST_SUITE_P(families, Shells, ::testing::Values(Family::one_diagonal, Family::random),
                         [](const auto& test) { return std::string(name_of(test.param)); });
INSTANTIATE_TEST_SUITE_P(families, ExpensiveShells, ::testing::ValuesIn(families_of_expensive_problems()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(Shells, roof_of_scordelis_and_lo) {
  // A quarter of the roof: x from the crown to the free edge, y from the middle to the diaphragm.
  const double R = 25.0, half = 25.0, exact = 0.3006, small = 1e-3;
  for (const int n : meshes_to(64, 16)) {
    MappedShell shell(GetParam(), n, n,
                      [&](double s, double t) {
                        return Point{R * std::sin(40.0 * degree * s), half * t, R * std::cos(40.0 * degree * s)};
                      },
                      {4.32e8, 0.0, 0.25});
    shell.fix([&](int i, int) { return i == 0; }, {true, false, false}, true);
    shell.fix([&](int, int j) { return j == 0; }, {false, true, false}, true);
    shell.fix([&](int, int j) { return j == n; }, {true, false, true});
    shell.push_all({0.0, 0.0, -90.0 * small});
    const double w = -shell.displacements().back()[3 * shell.at(n, 0) + 2] / small;
    report("Scordelis-Lo", GetParam(), n, w, exact);
    if (n == 64) {
      EXPECT_NEAR(w, exact, 0.01 * exact);
    }
  }
}

TEST_P(Shells, hemisphere_with_a_hole) {
  const double R = 10.0, exact = 0.0940, small = 1e-3;
  for (const int n : meshes_to(64, 16)) {
    MappedShell shell(
        GetParam(), n, n,
        [&](double s, double t) {
          const double phi = 90.0 * degree * s, theta = 72.0 * degree * t;
          return Point{R * std::cos(theta) * std::cos(phi), R * std::cos(theta) * std::sin(phi), R * std::sin(theta)};
        },
        {6.825e7, 0.3, 0.04});
    shell.fix([&](int i, int) { return i == 0; }, {false, true, false}, true);
    shell.fix([&](int i, int) { return i == n; }, {true, false, false}, true);
    shell.fix([&](int i, int j) { return i == 0 && j == n; }, {false, false, true});
    shell.push(0, 0, {small, 0.0, 0.0});
    shell.push(n, 0, {0.0, -small, 0.0});
    const std::vector<double> u = shell.displacements().back();
    const double w = u[3 * shell.at(0, 0)] / small;
    report("hemisphere", GetParam(), n, w, exact);
    if (n == 64) {
      EXPECT_NEAR(w, exact, 0.01 * exact);
    }
  }
}

/// The mesh of a strip is a quarter of a circle, but the strip is straight without forces.
TEST_P(Shells, arc_without_curvature_unrolls) {
  const int n = 12;
  MappedShell shell(
      GetParam(), n, 2,
      [](double s, double t) {
        return Point{std::sin(0.5 * pi * s), 0.3 * t, std::cos(0.5 * pi * s)};
      },
      {1e6, 0.3, 0.05}, 4);
  shell.solver().parameters().at("shell_rest_curvature").field.fill(0.0);
  shell.fix([&](int i, int) { return i == 0; }, {true, true, true}, true);
  const std::vector<double> u = shell.displacements().back();
  const Vec3<double> at = {{1.0 + u[3 * shell.at(n, 1)], 0.0, u[3 * shell.at(n, 1) + 2]}};
  // The unrolled strip is as long as its chords, and points in the direction of the first chord, which is clamped.
  const double length = 2.0 * n * std::sin(0.25 * pi / n), angle = 0.25 * pi / n;
  const double tolerance = GetParam() == Family::one_diagonal ? 1e-6 : 0.02;
  EXPECT_NEAR(at[0], length * std::cos(angle), tolerance);
  EXPECT_NEAR(at[2], 1.0 - length * std::sin(angle), tolerance);
}

TEST_P(Shells, strip_under_a_shear_force_at_its_end) {
  for (const int n : meshes_to(32, 16)) {
    const int ny = n / 8;
    MappedShell shell(
        GetParam(), n, ny,
        [](double s, double t) {
          return Point{10.0 * s, t, 0.0};
        },
        {1.2e6, 0.0, 0.1}, 10);
    shell.fix([&](int i, int) { return i == 0; }, {true, true, true}, true);
    for (int j = 0; j <= ny; ++j) shell.push(n, j, {0.0, 0.0, 4.0 / ny * (j == 0 || j == ny ? 0.5 : 1.0)});
    const std::vector<double> u = shell.displacements().back();
    double W = 0.0, U = 0.0;
    for (int j = 0; j <= ny; ++j) {
      W += u[3 * shell.at(n, j) + 2] / (ny + 1);
      U -= u[3 * shell.at(n, j)] / (ny + 1);
    }
    report("strip W", GetParam(), n, W, 6.6996);
    report("strip U", GetParam(), n, U, 3.2894);
    if (n == 32) {
      EXPECT_NEAR(W, 6.6996, 0.01 * 6.6996);
      EXPECT_NEAR(U, 3.2894, 0.01 * 3.2894);
    }
  }
}

TEST_P(ExpensiveShells, slit_annulus_that_is_lifted) {
  for (const int n : meshes_to(8, 2)) {
    const int around = 10 * n;
    MappedShell shell(
        GetParam(), around, n,
        [](double s, double t) {
          const double r = 6.0 + 4.0 * t, phi = 2.0 * pi * s;
          return Point{r * std::cos(phi), r * std::sin(phi), 0.0};
        },
        {21e6, 0.0, 0.03}, 10);
    shell.fix([&](int i, int) { return i == around; }, {true, true, true}, true);
    for (int j = 0; j <= n; ++j) shell.push(0, j, {0.0, 0.0, 0.08 * 4.0 / n * (j == 0 || j == n ? 0.5 : 1.0)});
    const std::vector<double> u = shell.displacements().back();
    const double inner = u[3 * shell.at(0, 0) + 2], outer = u[3 * shell.at(0, n) + 2];
    report("annulus, inner", GetParam(), n, inner, 4.277);
    report("annulus, outer", GetParam(), n, outer, 5.876);
    if (n == 8) {
      EXPECT_NEAR(inner, 4.277, 0.02 * 4.277);
      EXPECT_NEAR(outer, 5.876, 0.02 * 5.876);
    }
  }
}

TEST_P(ExpensiveShells, clamped_half_cylinder_pinched_at_its_end) {
  const double R = 1.016, L = 3.048, P = 2000.0;
  for (const int n : meshes_to(32, 16)) {
    // Half of the half cylinder, from its lower edge, z = 0, to its crown.
    MappedShell shell(
        GetParam(), n, n,
        [&](double s, double t) {
          return Point{R * std::cos(90.0 * degree * s), L * t, R * std::sin(90.0 * degree * s)};
        },
        {2.0685e7, 0.3, 0.03}, 10);
    shell.fix([&](int i, int) { return i == 0; }, {false, false, true}, true);
    shell.fix([&](int i, int) { return i == n; }, {true, false, false}, true);
    shell.fix([&](int, int j) { return j == 0; }, {true, true, true}, true);
    shell.push(n, n, {0.0, 0.0, -0.5 * P});
    const std::vector<std::vector<double>> u = shell.displacements();
    for (const auto& [step, exact] : {std::pair(2, 0.66410), std::pair(9, 1.71505)}) {
      const double w = -u[static_cast<std::size_t>(step)][3 * shell.at(n, n) + 2];
      report(step == 2 ? "half cylinder, 600" : "half cylinder, 2000", GetParam(), n, w, exact);
      if (n == 32) {
        EXPECT_NEAR(w, exact, 0.02 * exact);
      }
    }
  }
}

}  // namespace
}  // namespace diffsim::shell_benchmarks_test
