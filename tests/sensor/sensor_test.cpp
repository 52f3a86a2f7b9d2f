// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Values of sensors in states that are known in closed form, balances of moments, and errors. Derivatives are tested in
// tests/simulation/sensors_test.cpp.

#include "diffsim/sensor/sensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/scene.hpp"
#include "error_text.hpp"

namespace diffsim::sensor_test {
namespace {

using Matrix = Mat3<double>;

constexpr double density = 1200.0, mu = 2e4, lambda = 3e4;
const std::array<double, 3> size{0.4, 0.2, 0.1};

DifferentiableScene make_bar(int order, const std::string& integrator = "symplectic_euler") {
  const double E = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), nu = lambda / (2.0 * (lambda + mu));
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, size, {4, 2, 1}, order);
  mesh->define_region("half", BoxShape{{-1.0, -1.0, -1.0}, {0.201, 1.0, 1.0}});
  mesh->define_region("other_half", BoxShape{{0.199, -1.0, -1.0}, {1.0, 1.0, 1.0}});
  const DifferentiableMaterial rubber("neo_hookean",
                                      {{"youngs_modulus", E}, {"poisson_ratio", nu}, {"density", density}}, "all");
  DifferentiableSolver options{.dt = 0.01, .gravity = {0.5, -9.8, 1.5}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-13;
  return {mesh, {rubber}, options};
}

/// Homogeneous motion x = F X, v = L X.
const Matrix F{{{1.2, 0.1, -0.05}, {0.03, 0.9, 0.2}, {-0.1, 0.02, 1.1}}};
const Matrix L{{{0.3, -1.0, 0.2}, {1.1, 0.4, -0.6}, {0.1, 0.7, -0.2}}};

State moved(DifferentiableScene& scene) {
  scene.model().prepare();
  State state = scene.initial_state();
  for (const auto& [field, map] : {std::pair{"positions", F}, {"velocities", L}}) {
    std::vector<double> values = state[field].to_host();
    for (std::size_t i = 0; i < values.size(); i += 3) {
      const double* const X = &scene.mesh()->rest_positions()[i];
      const Vec3<double> y = map * Vec3<double>{{X[0], X[1], X[2]}};
      for (int c = 0; c < 3; ++c) values[i + static_cast<std::size_t>(c)] = y[c];
    }
    state[field].from_host(values);
  }
  return state;
}

void expect_near(const std::vector<double>& y, const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(y.size(), expected.size());
  double largest = 0.0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t c = 0; c < y.size(); ++c) EXPECT_NEAR(y[c], expected[c], tolerance * largest) << c;
}

std::vector<double> of(const Matrix& a) { return {a(0, 0), a(1, 1), a(2, 2), a(0, 1), a(1, 2), a(0, 2)}; }
std::vector<double> of(const Vec3<double>& a) { return {a[0], a[1], a[2]}; }

class Values : public testing::TestWithParam<int> {
 protected:
  DifferentiableScene scene = make_bar(GetParam());
  State state = moved(scene);
  std::vector<double> value(const SensorSpec& spec) { return scene.sensor(spec)->value(1, state); }
};

TEST_P(Values, of_strain_stress_and_volume_are_those_of_a_homogeneous_deformation) {
  const Matrix one = Matrix::identity(), E = 0.5 * (transpose(F) * F - one);
  const double J = determinant(F);
  // Cauchy stress of the law: σ = (µ (F Fᵀ - 1) + λ ln J 1)/J.
  const Matrix sigma = (1.0 / J) * (mu * (times_transpose(F, F) - one) + (lambda * std::log(J)) * one);
  for (const char* region : {"all", "half"}) {
    const double volume = size[0] * size[1] * size[2] * (region == std::string("all") ? 1.0 : 0.5);
    expect_near(value({.quantity = SensorQuantity::strain, .place = {.region = region}}), of(E));
    expect_near(value({.quantity = SensorQuantity::stress, .place = {.region = region}}), of(sigma), 1e-11);
    const Matrix dev = sigma - (trace(sigma) / 3.0) * one;
    for (const double power : {2.0, 8.0, 40.0})
      expect_near(value({.quantity = SensorQuantity::von_mises, .place = {.region = region}, .power = power}),
                  {std::sqrt(1.5 * inner(dev, dev))}, 1e-11);
    expect_near(value({.quantity = SensorQuantity::volume, .place = {.region = region}}), {volume * J});
  }
}

TEST_P(Values, of_masses_are_those_of_a_homogeneous_motion) {
  const double mass = density * size[0] * size[1] * size[2];
  const Vec3<double> middle{{0.5 * size[0], 0.5 * size[1], 0.5 * size[2]}};
  expect_near(value({.quantity = SensorQuantity::center_of_mass}), of(F * middle));
  expect_near(value({.quantity = SensorQuantity::momentum}), of(mass * (L * middle)));
  expect_near(value({.quantity = SensorQuantity::kinetic_energy}), {scene.system().kinetic_energy(state)});
  // The angular momentum about o differs from that about the origin by -o × P.
  const std::vector<double> at_zero = value({.quantity = SensorQuantity::angular_momentum});
  const std::vector<double> about = value({.quantity = SensorQuantity::angular_momentum, .about = {0.3, -0.2, 0.5}});
  const Vec3<double> shift = cross(Vec3<double>{{0.3, -0.2, 0.5}}, mass * (L * middle));
  expect_near(about, {at_zero[0] - shift[0], at_zero[1] - shift[1], at_zero[2] - shift[2]}, 1e-11);
}

TEST_P(Values, of_points_follow_the_motion) {
  const Vec3<double> X{{0.13, 0.07, 0.03}}, Y{{0.31, 0.2, 0.0}}, x = F * X, y = F * Y;
  const SensorPlace at_X{.point = std::array<double, 3>{X[0], X[1], X[2]}};
  const SensorPlace at_Y{.point = std::array<double, 3>{Y[0], Y[1], Y[2]}};
  expect_near(value({.quantity = SensorQuantity::position, .place = at_X}), of(x));
  expect_near(value({.quantity = SensorQuantity::displacement, .place = at_X}), of(x - X), 1e-11);
  expect_near(value({.quantity = SensorQuantity::velocity, .place = at_X}), of(L * X));
  expect_near(value({.quantity = SensorQuantity::distance, .place = at_X, .other = at_Y}),
              {std::sqrt(dot(x - y, x - y))});
  const Vec3<double> face{{size[0], 0.5 * size[1], 0.5 * size[2]}};
  expect_near(value({.quantity = SensorQuantity::position, .place = {.region = "x_max"}}), of(F * face));
}

INSTANTIATE_TEST_SUITE_P(sensor, Values, testing::Values(1, 2));

/// Masses and moduli of sensors and energies are those of the present parameters.
TEST(sensor, values_follow_changed_parameters) {
  DifferentiableScene scene = make_bar(1), fresh = make_bar(1);
  for (DifferentiableScene* each : {&scene, &fresh}) each->fix("x_min");
  const auto change = [](DifferentiableScene& of, double factor) {
    of.parameters().at("density").field.fill(factor * density);
    of.parameters().at("youngs_modulus").field.fill(factor * 1e4);
  };
  const std::vector<SensorSpec> specs{{.quantity = SensorQuantity::momentum},
                                      {.quantity = SensorQuantity::kinetic_energy},
                                      {.quantity = SensorQuantity::reaction, .place = {.region = "x_min"}}};
  const State state = moved(scene);
  std::vector<std::shared_ptr<Sensor>> sensors;
  std::vector<std::vector<double>> before;
  for (const SensorSpec& spec : specs) {
    sensors.push_back(scene.sensor(spec));
    before.push_back(sensors.back()->value(1, state));
  }
  change(fresh, 2.0);
  const State state_of_fresh = moved(fresh);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    change(scene, 2.0);
    const std::vector<double> after = sensors[i]->value(1, state);
    EXPECT_NE(after, before[i]) << sensors[i]->name();
    EXPECT_EQ(after, fresh.sensor(specs[i])->value(1, state_of_fresh)) << sensors[i]->name();
    change(scene, 1.0);
    scene.model().prepare();
  }
  change(fresh, 3.0);
  fresh.model().prepare();
  change(scene, 3.0);
  EXPECT_DOUBLE_EQ(scene.system().kinetic_energy(state), fresh.system().kinetic_energy(state_of_fresh));
  change(scene, 3.0);
  EXPECT_DOUBLE_EQ(scene.system().potential_energy(state, 0), fresh.system().potential_energy(state_of_fresh, 0));
}

TEST(sensor, moment_of_a_support_balances_weight_and_loads) {
  DifferentiableScene scene = make_bar(1, "quasi_static");
  scene.fix("x_min");
  scene.add_traction("x_max", {100.0, -50.0, 20.0});
  const std::array<double, 3> about{0.1, -0.3, 0.2};
  const auto moment = scene.sensor({.quantity = SensorQuantity::moment, .place = {.region = "x_min"}, .about = about});
  const auto center = scene.sensor({.quantity = SensorQuantity::center_of_mass});
  const auto face = scene.sensor({.quantity = SensorQuantity::position, .place = {.region = "x_max"}});
  EXPECT_EQ(moment->unit(), "N m");
  State state = scene.initial_state();
  scene.model().prepare();
  scene.step(0, state);
  const Vec3<double> o{{about[0], about[1], about[2]}}, g{{0.5, -9.8, 1.5}}, t{{100.0, -50.0, 20.0}};
  const auto arm = [&](const std::vector<double>& x) { return Vec3<double>{{x[0], x[1], x[2]}} - o; };
  const double mass = density * size[0] * size[1] * size[2];
  Vec3<double> expected = cross(arm(center->value(1, state)), mass * g);
  // The traction acts on vertices in proportion to their rest areas, not on the mean position of the vertices.
  const std::vector<double> x = state["positions"].to_host(), X = scene.mesh()->rest_positions();
  Vec3<double> weighted{};
  for (const Face& f : scene.mesh()->faces("x_max")) {
    Vec3<double> q[3];
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c)
        q[k][c] =
            X[3 * static_cast<std::size_t>(f.vertices[static_cast<std::size_t>(k)]) + static_cast<std::size_t>(c)];
    const Vec3<double> n = cross(q[1] - q[0], q[2] - q[0]);
    const double share = 0.5 * std::sqrt(dot(n, n)) / 3.0;
    for (const int v : f.vertices)
      for (int c = 0; c < 3; ++c)
        weighted[c] += share * x[3 * static_cast<std::size_t>(v) + static_cast<std::size_t>(c)];
  }
  for (int c = 0; c < 3; ++c) weighted[c] = sum_over_ranks(weighted[c], MPI_COMM_WORLD);
  const double area = size[1] * size[2];
  expected = expected + cross(weighted - area * o, t);
  expect_near(moment->value(1, state), {-expected[0], -expected[1], -expected[2]}, 1e-9);
}

TEST(sensor, work_is_the_compliance_in_static_equilibrium) {
  DifferentiableScene scene = make_bar(2, "quasi_static");
  scene.parameters().at("gravity").field.fill(0.0);
  scene.fix("x_min");
  const TetrahedralMesh& mesh = *scene.mesh();
  std::vector<double> load(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
  for (std::size_t i = 0; i < load.size(); ++i)
    load[i] = mesh.rest_positions()[i - i % 3] * std::cos(2.0 * static_cast<double>(i % 3));
  scene.add_nodal_load(load);
  const auto work = [&](const char* region) {
    return scene.sensor({.quantity = SensorQuantity::work, .place = {.region = region}});
  };
  EXPECT_EQ(work("all")->unit(), "J");
  State state = scene.initial_state();
  scene.model().prepare();
  scene.step(0, state);
  double compliance = 0.0;
  const std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 0; i < load.size(); ++i) compliance += load[i] * (x[i] - mesh.rest_positions()[i]);
  compliance = sum_over_ranks(compliance, MPI_COMM_WORLD);
  EXPECT_GT(compliance, 0.01);
  expect_near(work("all")->value(1, state), {compliance}, 1e-9);
  expect_near({work("half")->value(1, state)[0] + work("other_half")->value(1, state)[0]}, {compliance}, 1e-9);
}

TEST(sensor, that_does_not_exist_is_refused) {
  DifferentiableScene scene = make_bar(1);
  const auto error = [&](const SensorSpec& spec) { return error_of([&] { scene.sensor(spec); }); };
  EXPECT_EQ(error_of([] { sensor_quantity_named("strian"); }),
            "there is no sensor of type 'strian'; did you mean 'strain'?");
  for (const SensorType& type : sensor_types()) {
    EXPECT_EQ(sensor_quantity_named(type.name), type.quantity);
    EXPECT_EQ(&type_of(type.quantity), &type);
  }
  EXPECT_EQ(error({.quantity = SensorQuantity::strain, .place = {.region = "x_max"}}),
            "region 'x_max' has no tetrahedra");
  EXPECT_EQ(error({.quantity = SensorQuantity::distance}), "a sensor of type distance needs two places");
  EXPECT_EQ(error({.quantity = SensorQuantity::position, .other = SensorPlace{}}),
            "a sensor of type position measures one place; remove the second place");
  EXPECT_EQ(
      error({.quantity = SensorQuantity::position, .place = {.region = "x_max", .point = std::array<double, 3>{}}}),
      "the place of a sensor is a region or a point, not both; remove one of them");
  EXPECT_EQ(error({.quantity = SensorQuantity::position, .place = {.point = std::array<double, 3>{0.41, 0.1, 0.05}}}),
            "point (0.41, 0.1, 0.05) is outside the body; give the rest position of a point inside the body");
  EXPECT_EQ(error({.quantity = SensorQuantity::strain, .place = {.point = std::array<double, 3>{0.1, 0.1, 0.05}}}),
            "a sensor of type strain measures a region, not a point; give a region");
  EXPECT_NE(error({.quantity = SensorQuantity::position, .place = {.point = std::array<double, 3>{9.0, 0.0, 0.0}}})
                .find("point (9, 0, 0) is farther from all cells"),
            std::string::npos);
}

TEST(sensor, loss_checks_its_values) {
  DifferentiableScene scene = make_bar(1);
  const auto sensor = scene.sensor({.quantity = SensorQuantity::momentum});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto error = [&](std::map<int, std::vector<double>> observed, SensorLossOptions options = {}) {
    return error_of([&] { SensorLoss(sensor, std::move(observed), std::move(options)); });
  };
  const std::string who = "momentum of region 'all'";
  EXPECT_EQ(error({{1, {nan, nan, nan}}}), "no component of the " + who + " is observed");
  EXPECT_EQ(error({{-1, {1.0, 2.0, 3.0}}}), "step -1 is negative; the first step is 0");
  EXPECT_EQ(error({{1, {1.0}}}), "the " + who + " has 3 components, but 1 values are given for step 1");
  EXPECT_EQ(error({{1, {1.0, 2.0, 3.0}}}, {.covariance = {1.0}}),
            "a covariance matrix of 3 values needs 9 entries, but has 1");
  EXPECT_EQ(error({{1, {1.0, 2.0, 3.0}}}, {.covariance = {1, 2, 0, 2, 1, 0, 0, 0, 1}}),
            "the covariance matrix is not positive definite: its leading 2 × 2 block has a determinant that is not "
            "positive");
  EXPECT_EQ(error({{1, {1.0, 2.0, 3.0}}}, {.covariance = {1, 0, 0, 0.5, 1, 0, 0, 0, 1}}),
            "the covariance matrix is not symmetric: entries (1, 0) and (0, 1) differ");
  EXPECT_EQ(error({{1, {1.0, 2.0, 3.0}}}, {.covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .huber = 1.0}),
            "Huber's loss cannot be combined with a covariance matrix; remove one of them");
}

TEST(sensor, loss_is_multiplied_by_its_factor) {
  DifferentiableScene scene = make_bar(1);
  const State state = moved(scene);
  const auto sensor = scene.sensor({.quantity = SensorQuantity::position, .place = {.region = "x_max"}});
  SensorLoss loss(sensor, {{1, {0.1, 0.2, 0.3}}});
  const auto results = [&] {
    State gradient = state.zero_like();
    ParameterSet none;
    loss.add_gradient(1, state, scene.parameters(), gradient, none);
    return std::array{sum_over_ranks(loss.value(1, state, scene.parameters()), MPI_COMM_WORLD),
                      sum_over_ranks(local_dot(gradient, state), MPI_COMM_WORLD)};
  };
  const std::array<double, 2> before = results();
  EXPECT_TRUE(loss.multiply(3.0));
  const std::array<double, 2> after = results();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(after[i], 3.0 * before[i], 1e-13 * std::abs(after[i]));
}

TEST(sensor, loss_weighs_residuals_by_the_covariance_of_what_is_observed) {
  DifferentiableScene scene = make_bar(1);
  const State state = moved(scene);
  const auto sensor = scene.sensor({.quantity = SensorQuantity::momentum});
  const std::vector<double> y = sensor->value(1, state);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto value = [&](const std::vector<double>& observed, SensorLossOptions options) {
    SensorLoss loss(sensor, {{1, observed}}, std::move(options));
    return sum_over_ranks(loss.value(1, state, scene.parameters()), MPI_COMM_WORLD);
  };
  const std::vector<double> C{4.0, 1.0, 0.0, 1.0, 2.0, 0.5, 0.0, 0.5, 1.0};
  // Without the second component, C is diag(4, 1); the residuals are 2 and -3.
  EXPECT_NEAR(value({y[0] - 2.0, nan, y[2] + 3.0}, {.covariance = C}), 0.5 * (4.0 / 4.0 + 9.0 / 1.0), 1e-9);
  // The inverse of the first two rows and columns is [2, -1; -1, 4]/7.
  EXPECT_NEAR(value({y[0] - 1.0, y[1] - 2.0, nan}, {.covariance = C}), 0.5 * (2.0 - 4.0 + 16.0) / 7.0, 1e-9);
  EXPECT_NEAR(value({y[0] - 2.0, y[1] - 0.5, nan}, {.huber = 1.0}), (2.0 - 0.5) + 0.125, 1e-9);
}

TEST(sensor, value_loss_is_the_weighted_mean_over_steps) {
  DifferentiableScene scene = make_bar(1);
  const State state = moved(scene);
  const auto sensor = scene.sensor({.quantity = SensorQuantity::momentum});
  const std::vector<double> y = sensor->value(1, state), w{1.0, -2.0, 0.5};
  const auto value = [&](SensorValueLoss& loss, int n) {
    return sum_over_ranks(loss.value(n, state, scene.parameters()), MPI_COMM_WORLD);
  };
  SensorValueLoss mean(sensor, w, {3, 1});
  EXPECT_TRUE(mean.observes(1) && mean.observes(3) && !mean.observes(2));
  EXPECT_EQ(mean.unit(), "kg m/s");
  EXPECT_NEAR(value(mean, 1), 0.5 * (y[0] - 2.0 * y[1] + 0.5 * y[2]), 1e-12);
  EXPECT_TRUE(mean.multiply(3.0));
  EXPECT_NEAR(value(mean, 3), 1.5 * (y[0] - 2.0 * y[1] + 0.5 * y[2]), 1e-12);
  SensorValueLoss cubes(sensor, w, {1}, 3.0);
  EXPECT_EQ(cubes.unit(), "(kg m/s)^3");
  const auto cube = [](double a) { return std::abs(a * a * a); };
  EXPECT_NEAR(value(cubes, 1), cube(y[0]) - 2.0 * cube(y[1]) + 0.5 * cube(y[2]), 1e-10);

  const auto error = [&](std::vector<double> weights, std::vector<int> steps, std::optional<double> power) {
    return error_of([&] { SensorValueLoss(sensor, std::move(weights), std::move(steps), power); });
  };
  EXPECT_EQ(error({1.0}, {1}, {}), "the momentum of region 'all' has 3 components, but 1 weights are given");
  EXPECT_EQ(error(w, {1}, 1.5), "the power of a mean is 1.500000; give a number of at least 2");
  const std::string steps = "the value of the momentum of region 'all' needs different steps, which are not negative";
  EXPECT_EQ(error(w, {}, {}), steps);
  EXPECT_EQ(error(w, {-1}, {}), steps);
  EXPECT_EQ(error(w, {2, 2}, {}), steps);
}

}  // namespace
}  // namespace diffsim::sensor_test
