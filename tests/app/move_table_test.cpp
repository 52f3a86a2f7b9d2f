// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Prescribed motions from a table of times, angles and displacements.
#include <array>
#include <cmath>

#include "io/hdf5_file.hpp"
#include "max_or_nan.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::move_table_test {
namespace {

using Vector = std::array<double, 3>;

constexpr int steps = 16;
constexpr double dt = 1.0 / 512.0;

std::string list(const std::vector<double>& values) {
  std::ostringstream text;
  text.precision(17);
  for (std::size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "[" : ", ") << values[i];
  return text.str() + "]";
}

std::string list(const Vector& value) { return list(std::vector<double>(value.begin(), value.end())); }

std::string list(const std::vector<Vector>& values) {
  std::string text;
  for (const Vector& value : values) text += (text.empty() ? "[" : ", ") + list(value);
  return text + "]";
}

/// Motion given by a table: rotation about an axis through `origin` in the direction of z, and translation.
struct Table {
  std::vector<double> times, angles;
  std::vector<Vector> displacements;
  Vector origin{};

  std::string entry(const std::string& region) const {
    return "  - {region: " + region + ", move: {origin: " + list(origin) + ", table: {times: " + list(times) +
           ", angle: " + list(angles) + ", displacement: " + list(displacements) + "}}}\n";
  }
  /// Returns a value that is linear between the times of the table and constant before the first and after the last.
  template <class F>
  double value(double t, F&& at) const {
    if (t <= times.front()) return at(0);
    for (std::size_t i = 1; i < times.size(); ++i)
      if (t <= times[i]) return at(i - 1) + (at(i) - at(i - 1)) * (t - times[i - 1]) / (times[i] - times[i - 1]);
    return at(times.size() - 1);
  }
  /// Returns the position at time t of a vertex with position x at time 0.
  Vector position(const Vector& x, double t) const {
    const auto angle = [&](std::size_t i) { return angles[i]; };
    const double turn = value(t, angle) - value(0.0, angle);
    const double c = std::cos(turn), s = std::sin(turn), a = x[0] - origin[0], b = x[1] - origin[1];
    Vector result{origin[0] + c * a - s * b, origin[1] + s * a + c * b, x[2]};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto displacement = [&](std::size_t i) { return displacements[i][k]; };
      result[k] += value(t, displacement) - value(0.0, displacement);
    }
    return result;
  }
};

/// Scene of a crate between a slab, whose bottom moves, and an obstacle, which moves.
std::string scene(const std::string& boundary) {
  return "bodies:\n"
         "  crate:\n"
         "    mesh: {box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}\n"
         "    placement: {translate: [0.3, 0.111, 0.1]}\n"
         "    material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e5, poisson_ratio: 0.3}\n"
         "    initial: {velocity: [0.1, -0.5, 0]}\n"
         "  slab:\n"
         "    mesh: {box: {size: [0.8, 0.1, 0.4], cells: [6, 1, 3]}}\n"
         "    material: {model: stable_neo_hookean, density: 300, youngs_modulus: 4.0e4, poisson_ratio: 0.2}\n"
         "  ram:\n"
         "    kind: obstacle\n"
         "    mesh: {box: {size: [0.085, 0.15, 0.16], cells: [1, 1, 1]}}\n"
         "    placement: {translate: [0.2, 0.12, 0.12]}\n"
         "contact: {barrier_distance: 1.0e-2, barrier_stiffness: 1.0e5, friction: 0.3, friction_velocity: 0.1}\n"
         "solver: {dt: 0.001953125, steps: 16, substeps: 8, damping: 1}\n"
         "boundary:\n" +
         boundary;
}

class MoveTable : public RunnerTest {
 protected:
  /// Returns the positions of a body in all frames of a run.
  std::vector<double> positions(const std::string& run, const std::string& body) const {
    return Hdf5File::open(MPI_COMM_WORLD, path(run + "/trajectory.h5"))
        .read_array<double>("/bodies/" + body + "/positions");
  }
  void simulate(const std::string& name, const std::string& boundary) {
    write(name + ".yaml", scene(boundary));
    const Ran ran = run({"simulate", name + ".yaml"}, name);
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  /// Expects that the vertices of a body with y < `below` at time 0 move as the table prescribes, in all steps.
  void expect_motion(const std::string& run, const std::string& body, double below, const Table& table) const {
    const std::vector<double> x = positions(run, body);
    const std::size_t size = x.size() / (steps + 1);
    ASSERT_EQ(x.size(), (steps + 1) * size);
    double most = 0.0;
    int vertices = 0;
    for (std::size_t i = 0; i < size; i += 3) {
      const Vector start{x[i], x[i + 1], x[i + 2]};
      if (!(start[1] < below)) continue;
      ++vertices;
      for (std::size_t n = 0; n <= steps; ++n) {
        const Vector expected = table.position(start, static_cast<double>(n) * dt);
        for (std::size_t k = 0; k < 3; ++k) most = max_or_nan(most, std::abs(x[n * size + i + k] - expected[k]));
      }
    }
    EXPECT_GE(vertices, 8) << run << ", " << body;
    EXPECT_LT(most, 1e-14) << run << ", " << body;
  }
};

/// The times are multiples of the step and all values are multiples of powers of two, so that the rates are exact.
TEST_F(MoveTable, OfTimesOfStepsIsTheMotionOfRatesPerStep) {
  const std::vector<double> times{4 * dt, 8 * dt, 12 * dt};
  const Table of_ram{times, {0, 1.0 / 32, -1.0 / 64}, {{0, 0, 0}, {2 * dt, 0, 0}, {dt, dt, 2 * dt}}, {0.25, 0.25, 0}};
  // Only the changes of the values move the region; its motion does not depend on the first values.
  const Table of_slab{
      times, {0.5, 0.5 - 1.0 / 64, 0.5 + 1.0 / 64}, {{1, 2, 3}, {1, 2 + 2 * dt, 3}, {1 - dt, 2, 3}}, {0.5, 0, 0}};
  // Rates in steps 0 to 3, 4 to 7, 8 to 11 and 12 to 15.
  const auto per_step = [](const auto& rates) {
    std::decay_t<decltype(rates)> all;
    for (const auto& rate : rates) all.insert(all.end(), 4, rate);
    return list(all);
  };
  const auto entry = [&](const std::string& region, const Vector& origin, const std::vector<double>& turning,
                         const std::vector<Vector>& velocity) {
    return "  - {region: " + region + ", move: {origin: " + list(origin) + ", angular_velocity: " + per_step(turning) +
           ", velocity: " + per_step(velocity) + "}}\n";
  };
  simulate("table", of_ram.entry("ram/all") + of_slab.entry("slab/y_min"));
  simulate("rates", entry("ram/all", of_ram.origin, {0, 4, -6, 0}, {{}, {0.5, 0, 0}, {-0.25, 0.25, 0.5}, {}}) +
                        entry("slab/y_min", of_slab.origin, {0, -2, 4, 0}, {{}, {0, 0.5, 0}, {-0.25, -0.5, 0}, {}}));
  for (const char* body : {"crate", "slab", "ram"})
    EXPECT_EQ(positions("table", body), positions("rates", body)) << body;
  expect_motion("table", "ram", 1.0, of_ram);
  expect_motion("table", "slab", 1e-9, of_slab);

  // Both motions reach the crate.
  simulate("ram", of_ram.entry("ram/all") + "  - {region: slab/y_min, fix: [x, y, z]}\n");
  simulate("slab", of_slab.entry("slab/y_min"));
  EXPECT_NE(positions("table", "crate"), positions("ram", "crate"));
  EXPECT_NE(positions("table", "crate"), positions("slab", "crate"));
}

TEST_F(MoveTable, OfAnyTimesHasItsPositionsAtTheEndsOfSteps) {
  // The second and the third time are within one step; the last time is after the run, or the first before it.
  const Table of_ram{{0.0037, 0.0101, 0.0109, 0.0402},
                     {0.01, 0.02, -0.013, 0.04},
                     {{0, 0, 0}, {0.003, 0.001, 0}, {0.002, 0, 0.001}, {0.004, 0.001, 0}},
                     {0.24, 0.2, 0.1}};
  const Table of_slab{
      {-0.01, 0.005, 0.0183}, {0, 0.015, -0.01}, {{0, 0, 0}, {0, 0.006, 0.002}, {-0.004, 0, 0}}, {0.4, -0.1, 0}};
  simulate("table", of_ram.entry("ram/all") + of_slab.entry("slab/y_min"));
  expect_motion("table", "ram", 1.0, of_ram);
  expect_motion("table", "slab", 1e-9, of_slab);
}

}  // namespace
}  // namespace diffsim::app::move_table_test
