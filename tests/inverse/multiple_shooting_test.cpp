// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Multiple shooting: derivatives of the loss of windows, continuity, and a chaotic oscillator whose parameter one long
// rollout does not find.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adjoint/forwarding_model.hpp"
#include "adjoint/moving_points.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/sensor/feedback.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "diffsim/simulation/scene.hpp"
#include "inverse/hessian_check.hpp"
#include "inverse/shooting_model.hpp"

namespace diffsim::multiple_shooting_test {
namespace {

using inverse::ShootingLoss;
using inverse::ShootingModel;
using testing_adjoint::Start;
using Numbers = std::vector<double>;

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, MPI_COMM_WORLD);
}

/// Oscillator in a double well with a periodic force (Duffing), one per rank: v' = v + h (x - k x³ - δ v + F cos(ω h
/// n)), x' = x + h v'. The motion is chaotic.
class DoubleWell : public Model {
 public:
  static constexpr double h = 0.1, delta = 0.25, force = 0.4, omega = 1.0;

  explicit DoubleWell(MPI_Comm comm) : comm_(comm) {
    parameters_.add("stiffness", Entities::one_for_all(comm)).field.fill(1.0);
  }
  MPI_Comm comm() const override { return comm_; }
  State make_state() const override {
    State state;
    state.add(Field("positions", 1));
    state.add(Field("velocities", 1));
    return state;
  }
  ParameterSet& parameters() override { return parameters_; }
  void prepare() override {}
  void prepare_tangent(const ParameterSet&) override {}
  void begin_adjoint(const ParameterSet&) override {}
  void prepare_adjoint(ParameterSet&) override {}
  std::unique_ptr<Record> make_record() const override { return std::make_unique<Start>(make_state()); }
  std::size_t record_bytes() const override { return make_state().bytes(); }

  void step(int n, State& state, Record* record) override {
    ++num_steps;
    if (record) static_cast<Start*>(record)->state().copy_from(state);
    double x = state["positions"].to_host()[0], v = state["velocities"].to_host()[0];
    v += h * (x - stiffness() * x * x * x - delta * v + force * std::cos(omega * h * n));
    x += h * v;
    state["positions"].from_host({x});
    state["velocities"].from_host({v});
  }
  void step_tangent(int, const Record& record, const ParameterSet& direction, State& tangent) override {
    const double x = record.initial()["positions"].to_host()[0];
    const Parameter* const along = direction.find("stiffness");
    const double dk = along ? along->field.to_host()[0] : 0.0;
    double dx = tangent["positions"].to_host()[0], dv = tangent["velocities"].to_host()[0];
    dv += h * ((1.0 - 3.0 * stiffness() * x * x) * dx - dk * x * x * x - delta * dv);
    dx += h * dv;
    tangent["positions"].from_host({dx});
    tangent["velocities"].from_host({dv});
  }
  void step_adjoint(int, const Record& record, State& adjoint, ParameterSet& gradient) override {
    const double x = record.initial()["positions"].to_host()[0];
    const double x_bar = adjoint["positions"].to_host()[0], a = adjoint["velocities"].to_host()[0] + h * x_bar;
    adjoint["positions"].from_host({x_bar + h * (1.0 - 3.0 * stiffness() * x * x) * a});
    adjoint["velocities"].from_host({(1.0 - h * delta) * a});
    if (Parameter* const by = gradient.find("stiffness"))
      by->field.from_host({by->field.to_host()[0] - h * x * x * x * a});
  }

  int num_steps = 0;  ///< number of calls of `step`

 private:
  double stiffness() const { return parameters_.at("stiffness").field.to_host()[0]; }
  MPI_Comm comm_;
  ParameterSet parameters_;
};

/// Loss ½ Σ_n (x[n] - x̂_n)²/N.
class PathLoss final : public Loss {
 public:
  explicit PathLoss(Numbers observed) : observed_(std::move(observed)) {}
  bool observes(int n) const override { return n > 0; }
  double value(int n, const State& state, const ParameterSet&) override {
    return 0.5 * scale() * residual(n, state) * residual(n, state);
  }
  double tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) override {
    return scale() * residual(n, state) * tangent["positions"].to_host()[0];
  }
  void add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    adjoint["positions"].from_host({adjoint["positions"].to_host()[0] + scale() * residual(n, state)});
  }
  void add_gauss_newton(int, const State&, const ParameterSet&, const State& tangent, const ParameterSet&,
                        State& adjoint, ParameterSet&) override {
    adjoint["positions"].from_host({adjoint["positions"].to_host()[0] + scale() * tangent["positions"].to_host()[0]});
  }

 private:
  double scale() const { return 1.0 / static_cast<double>(observed_.size()); }
  double residual(int n, const State& state) const {
    return state["positions"].to_host()[0] - observed_[static_cast<std::size_t>(n)];
  }
  Numbers observed_;
};

constexpr int num_steps = 300;

/// Search for the stiffness of the double well, whose true value is 1, from the path x[n].
struct Search {
  explicit Search(double start, MPI_Comm comm = MPI_COMM_WORLD) : model(comm), initial(model.make_state()) {
    initial["positions"].from_host({0.3 + 0.1 * rank_of(comm)});
    State state = initial.clone();
    Numbers path{initial["positions"].to_host()[0]};
    for (int n = 0; n < num_steps; ++n) {
      model.step(n, state, nullptr);
      path.push_back(state["positions"].to_host()[0]);
    }
    loss = std::make_unique<PathLoss>(path);
    Unknown unknown{.parameter = "stiffness"};
    unknown.lower = 0.5;
    unknown.upper = 2.0;
    unknown.start = {start};
    problem = std::make_unique<InverseProblem>(
        model, initial, num_steps, *loss, std::vector<Unknown>{unknown},
        [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  }
  double found(const OptimiserResult& result) const { return problem->physical(0, result.u)[0]; }

  DoubleWell model;
  State initial;
  std::unique_ptr<Loss> loss;
  MemoryStore store;
  std::unique_ptr<InverseProblem> problem;
};

TEST(multiple_shooting, finds_the_parameter_of_a_chaotic_motion) {
  const Numbers starts = num_ranks(MPI_COMM_WORLD) == 1 ? Numbers{0.8, 1.3} : Numbers{1.3};
  for (const double start : starts) {
    Search one(start), windows(start);
    OptimiserOptions options{.method = Optimiser::newton_cg, .max_iterations = 50, .gradient_tolerance = 1e-8};
    options.gauss_newton = true;
    const OptimiserResult stuck = optimise(*one.problem, options);
    EXPECT_GT(std::abs(one.found(stuck) - 1.0), 0.01) << "one rollout finds the parameter, too";
    options.shooting = {.windows = 15, .tolerance = 1e-5, .rounds = 12, .duration = 2.0};
    double first = 0.0, last = 0.0;
    int iterations = -1;
    const OptimiserResult found = optimise(*windows.problem, options, [&](const Iterate& iterate) {
      if (iterate.iteration == 0) first = iterate.loss;
      EXPECT_GT(iterate.iteration, iterations);
      EXPECT_EQ(iterate.u->size(), windows.problem->size());
      iterations = iterate.iteration;
      last = iterate.loss;
    });
    EXPECT_NEAR(windows.found(found), 1.0, 1e-6);
    EXPECT_TRUE(found.converged) << found.reason;
    EXPECT_LE(found.violation, 1e-5);
    EXPECT_LT(found.loss, 1e-10 * first);
    EXPECT_NEAR(first, windows.problem->value(windows.problem->start()), 1e-12 * first);
    EXPECT_EQ(last, found.loss);
  }
}

TEST(multiple_shooting, has_the_priors_of_the_problem) {
  Search search(1.3);
  const bool is_first = rank_of(MPI_COMM_WORLD) == 0;
  search.problem->add_prior(
      0, make_normal_prior(MPI_COMM_WORLD, is_first ? Numbers{1.1} : Numbers{}, is_first ? Numbers{5.0} : Numbers{}));
  OptimiserOptions options{.method = Optimiser::newton_cg, .max_iterations = 50, .gradient_tolerance = 1e-7};
  options.gauss_newton = true;
  options.shooting = {.windows = 15, .tolerance = 1e-4, .rounds = 12, .duration = 2.0};
  Numbers first, last;
  search.problem->gradient(search.problem->start(), first);
  const OptimiserResult found = optimise(*search.problem, options);
  search.problem->gradient(found.u, last);
  EXPECT_LT(std::sqrt(dot(last, last)), 1e-6 * std::sqrt(dot(first, first)));
  EXPECT_NEAR(search.found(found), 1.0, 1e-4);
  EXPECT_NEAR(found.loss, 0.5 * 0.1 * 0.1 / 25.0, 1e-6);  // the prior, which prefers the stiffness 1.1
  EXPECT_EQ(search.model.parameters().find("window:1:positions"), nullptr);
}

// Each rank is a group of processes, so that one, two or three groups share the windows.
TEST(multiple_shooting, shares_the_windows_among_groups) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  OptimiserOptions options{.method = Optimiser::newton_cg, .max_iterations = 50, .gradient_tolerance = 1e-8};
  options.gauss_newton = true;
  options.shooting = {.windows = 15, .tolerance = 1e-5, .rounds = 12, .duration = 2.0};
  Search alone(1.3, MPI_COMM_SELF), shared(1.3, MPI_COMM_SELF);
  shared.problem->share_windows(MPI_COMM_WORLD, rank);
  EXPECT_FALSE(shared.problem->has_experiments());
  const Numbers start = alone.problem->start();
  Numbers slope, expected_slope;
  EXPECT_EQ(shared.problem->gradient(start, slope), alone.problem->gradient(start, expected_slope));
  EXPECT_EQ(slope, expected_slope);
  EXPECT_EQ(shared.problem->losses(), alone.problem->losses());
  const OptimiserResult expected = optimise(*alone.problem, options), found = optimise(*shared.problem, options);
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(shared.found(found), 1.0, 1e-6);
  EXPECT_NEAR(shared.found(found), alone.found(expected), 1e-9);
  EXPECT_LE(found.violation, 1e-5);
  Numbers of_first = found.u;
  MPI_Bcast(of_first.data(), static_cast<int>(of_first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(found.u, of_first);
  // Groups after the first compute steps of their own windows only.
  if (rank > 0) {
    EXPECT_LT(shared.model.num_steps, 1.2 * alone.model.num_steps / ranks);
  }
}

TEST(multiple_shooting, reports_an_error_of_one_group_on_all) {
  const int rank = rank_of(MPI_COMM_WORLD), last = num_ranks(MPI_COMM_WORLD) - 1;
  Search search(1.3, MPI_COMM_SELF);
  search.problem->share_windows(MPI_COMM_WORLD, rank);
  // The derivative of the last group's loss throws.
  class Thrower final : public ForwardingModel {
   public:
    using ForwardingModel::ForwardingModel;
    void step(int n, State& state, Record* record) override { model_.step(n, state, record); }
    void step_tangent(int, const Record&, const ParameterSet&, State&) override { throw Error("no tangent"); }
    void step_adjoint(int, const Record&, State&, ParameterSet&) override {
      throw Error("this group fails", ErrorKind::run);
    }
  } thrower(search.model);
  Model& model = rank == last ? static_cast<Model&>(thrower) : search.model;
  const auto own = search.problem->with_model(model, *search.loss, {});
  Numbers g;
  try {
    own->gradient(own->start(), g);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "this group fails");
  }
}

TEST(multiple_shooting, says_if_the_windows_do_not_join) {
  Search search(1.3);
  OptimiserOptions options{.method = Optimiser::newton_cg, .max_iterations = 2};
  options.gauss_newton = true;
  options.shooting = {.windows = 15, .tolerance = 1e-12, .rounds = 1, .duration = 2.0};
  const OptimiserResult found = optimise(*search.problem, options);
  EXPECT_FALSE(found.converged);
  EXPECT_NE(found.reason.find("the windows do not join"), std::string::npos) << found.reason;
  EXPECT_GT(found.violation, 1e-12);
}

TEST(multiple_shooting, stores_snapshots_in_subdirectories) {
  DoubleWell model(MPI_COMM_WORLD);
  PathLoss loss(Numbers(4, 0.0));
  CheckpointOptions options{.store = CheckpointStore::tiered, .directory = "shooting"};
  options.levels = {{1, 0.0, 0.0, ""}, {1, 0.0, 0.0, "shooting_level"}};
  InverseProblem problem(model, model.make_state(), 3, loss, std::vector<Unknown>{{.parameter = "stiffness"}}, options);
  const auto windows = problem.with_model(model, loss, {});
  EXPECT_TRUE(std::filesystem::exists("shooting_level/windows"));
  MPI_Barrier(MPI_COMM_WORLD);  // the destructor removes the directory
}

TEST(multiple_shooting, refuses_bad_input) {
  Search search(1.3);
  const auto refused = [&](const ShootingOptions& shooting, Optimiser method = Optimiser::newton_cg) {
    OptimiserOptions options{.method = method};
    options.shooting = shooting;
    try {
      optimise(*search.problem, options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::input;
    }
    return false;
  };
  EXPECT_TRUE(refused({.windows = 1}));
  EXPECT_TRUE(refused({.windows = num_steps + 1}));
  EXPECT_TRUE(refused({.windows = 4, .tolerance = 0.0}));
  EXPECT_TRUE(refused({.windows = 4, .rounds = 0}));
  EXPECT_TRUE(refused({.windows = 4, .duration = 0.0}));
  EXPECT_TRUE(refused({.windows = 4}, Optimiser::lbfgs));
  Search grouped(1.3, MPI_COMM_SELF);
  EXPECT_THROW(grouped.problem->share_windows(MPI_COMM_WORLD, 1 + rank_of(MPI_COMM_WORLD)), Error);
  Search other(1.2);
  search.problem->add(*other.problem);
  EXPECT_TRUE(refused({.windows = 4}));
  EXPECT_THROW(search.problem->share_windows(MPI_COMM_WORLD, 0), Error);
}

/// Compares the slope of the loss along v at u with a sixth-order difference. `gradient`: gradient of the loss at u.
void expect_slope(InverseProblem& problem, const Numbers& u, const Numbers& v, const Numbers& gradient) {
  constexpr double h = 1e-2;
  const auto at = [&](double factor) {
    Numbers moved = u;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += factor * h * v[i];
    return problem.value(moved);
  };
  const double slope = (45.0 * (at(1) - at(-1)) - 9.0 * (at(2) - at(-2)) + at(3) - at(-3)) / (60.0 * h);
  EXPECT_NEAR(dot(gradient, v), slope, 1e-8 * std::abs(slope));
}

/// Bar that swings from a support.
struct Bar {
  explicit Bar(const std::string& integrator, bool has_feedback = false) : scene(make_scene(integrator)) {
    scene.fix("x_min");
    if (has_feedback) add_feedback();
    loss = std::make_unique<SensorLoss>(
        scene.sensor({.quantity = SensorQuantity::displacement, .place = {.region = "x_max"}}),
        std::map<int, Numbers>{{2, {0.0, -0.01, 0.0}}, {6, {0.01, -0.05, 0.02}}});
  }
  static DifferentiableScene make_scene(const std::string& integrator) {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.3, 0.1, 0.1}, {3, 1, 1});
    DifferentiableSolver options{.dt = 0.01, .integrator = integrator_named(integrator)};
    options.implicit.newton.tolerance = 1e-12;
    return {mesh,
            {{"neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}},
            options};
  }
  /// A linear controller, whose weights are not zero, pulls the right end.
  void add_feedback() {
    scene.add_traction("x_max", {0.0, 0.0, 0.0});
    Feedback hand{.name = "hand", .controls = {"traction:x_max"}};
    for (const SensorQuantity quantity : {SensorQuantity::displacement, SensorQuantity::velocity})
      hand.sensors.push_back(scene.sensor({.quantity = quantity, .place = {.region = "x_max"}}));
    hand.scales = {0.02, 0.02, 0.02, 0.5, 0.5, 0.5};
    hand.policy = make_perceptron(6, 3);
    scene.add_feedback(hand);
    Field& weights = scene.parameters().at("policy:hand").field;
    Numbers theta(weights.size());
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = 200.0 * std::cos(1.7 * static_cast<double>(i) + 0.3);
    weights.from_host(theta);
  }
  DifferentiableScene scene;
  std::unique_ptr<Loss> loss;
};

class Windows : public testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(Windows, have_the_derivatives_that_differences_have) {
  const auto& [integrator, has_feedback] = GetParam();
  Bar bar(integrator, has_feedback);
  InverseProblem problem(
      bar.scene.model(), bar.scene.initial_state(), 6, *bar.loss,
      {{.parameter = "youngs_modulus"}, {.parameter = has_feedback ? "policy:hand" : "initial_velocities"}});
  ShootingModel model(bar.scene.model(), {2, 5});
  ShootingLoss loss(*bar.loss, model,
                    {{"positions", 3.0},
                     {"velocities", 0.02},
                     {"previous_positions", 2.0},
                     {"previous_velocities", 0.01},
                     {"accelerations", 1e-4}});
  loss.set_penalty(7.0);
  std::vector<Unknown> states;
  for (std::size_t window = 0; window < model.num_starts(); ++window)
    for (const std::string& field : model.fields())
      states.push_back({.parameter = ShootingModel::parameter_of(field, window)});
  const auto windows = problem.with_model(model, loss, states);
  Numbers u = windows->start(), v(u.size());
  const State initial = bar.scene.initial_state();
  for (std::size_t k = 2; k < windows->unknowns().size(); ++k) {
    const Numbers values = initial[model.fields()[(k - 2) % model.fields().size()]].to_host();
    std::copy_n(values.begin(), windows->count(k), u.begin() + static_cast<std::ptrdiff_t>(windows->offset(k)));
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double x = static_cast<double>(i + 100 * static_cast<std::size_t>(rank_of(MPI_COMM_WORLD)));
    v[i] = std::cos(7.0 * x) * (i < windows->count(0) ? 1e4 : 0.002);
    if (i >= windows->count(0)) u[i] += 0.002 * std::sin(3.0 * x);
  }
  // Each update adds μ Σ c |d|² to the loss.
  double before = windows->value(u);
  const double jumps = loss.squared_defects();
  EXPECT_GT(jumps, 0.0);
  for (int update = 0; update < 2; ++update) {
    loss.update_multipliers();
    const double after = windows->value(u);
    EXPECT_NEAR(after - before, 7.0 * jumps, 1e-10 * after);
    before = after;
  }
  loss.set_penalty(11.0);
  Numbers g;
  windows->gradient(u, g);
  expect_slope(*windows, u, v, g);
  const HessianCheck check = check_hessian(*windows, u);
  EXPECT_TRUE(check.passed) << check.symmetry << " " << check.product << " " << check.difference;
}

// Two groups of consecutive windows have the loss and the derivatives of all windows. The start states include the
// origin of a prescribed motion.
TEST(multiple_shooting, windows_of_groups_add_up) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.3, 0.1, 0.1}, {3, 1, 1});
  DifferentiableScene scene(
      mesh, {{"neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}},
      {.dt = 0.01, .substeps = 20, .integrator = Integrator::velocity_verlet});
  scene.move("x_min", {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}, {3.0}, {0.2, 0.1, 0.0});
  SensorLoss observed(scene.sensor({.quantity = SensorQuantity::displacement, .place = {.region = "x_max"}}),
                      std::map<int, Numbers>{{2, {0.0, -0.01, 0.0}}, {6, {0.01, -0.05, 0.02}}});
  const std::vector<int> starts{2, 4, 5};
  const std::map<std::string, double> weights{{"positions", 3.0}, {"velocities", 0.02}, {"origin:x_min", 5.0}};
  struct Part {
    double loss;
    Numbers gradient, product;
  };
  // Returns the loss of the steps `first` to `end` - 1, and its derivatives.
  const auto part = [&](int first, int end) {
    Unknown velocity{.parameter = "velocity:x_min"};
    velocity.start = {0.2, 0.1, 0.0};
    InverseProblem problem(scene.model(), scene.initial_state(), 6, observed, {velocity});
    ShootingModel model(scene.model(), starts, first);
    ShootingLoss loss(observed, model, weights);
    loss.set_penalty(7.0);
    std::vector<Unknown> states;
    for (std::size_t window = 0; window < starts.size(); ++window)
      for (const std::string& field : model.fields())
        states.push_back({.parameter = ShootingModel::parameter_of(field, window)});
    EXPECT_EQ(model.fields().size(), 3u);
    const auto windows = problem.with_model(model, loss, states, end - first);
    Numbers u = windows->start(), v(u.size());
    const State initial = scene.initial_state();
    for (std::size_t k = 1; k < windows->unknowns().size(); ++k) {
      const Numbers values = initial[model.fields()[(k - 1) % model.fields().size()]].to_host();
      std::copy_n(values.begin(), windows->count(k), u.begin() + static_cast<std::ptrdiff_t>(windows->offset(k)));
    }
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double x = static_cast<double>(i + 100 * static_cast<std::size_t>(rank_of(MPI_COMM_WORLD)));
      v[i] = std::cos(7.0 * x) * 0.002;
      u[i] += 0.002 * std::sin(3.0 * x);
    }
    Part found{windows->value(u), {}, windows->hessian_product(u, v)};
    windows->gradient(u, found.gradient);
    if (first == 0 && end == 6) expect_slope(*windows, u, v, found.gradient);
    return found;
  };
  const Part all = part(0, 6), one = part(0, 4), other = part(4, 6);
  EXPECT_GT(other.loss, 0.0);
  EXPECT_NEAR(one.loss + other.loss, all.loss, 1e-13 * all.loss);
  const double scale = std::sqrt(dot(all.gradient, all.gradient)), curvature = std::sqrt(dot(all.product, all.product));
  for (std::size_t i = 0; i < all.gradient.size(); ++i) {
    EXPECT_NEAR(one.gradient[i] + other.gradient[i], all.gradient[i], 1e-12 * scale);
    EXPECT_NEAR(one.product[i] + other.product[i], all.product[i], 1e-12 * curvature);
  }
}

INSTANTIATE_TEST_SUITE_P(inverse, Windows,
                         testing::Values(std::pair("symplectic_euler", false), std::pair("newmark", false),
                                         std::pair("bdf2", false), std::pair("symplectic_euler", true),
                                         std::pair("implicit_euler", true)));

}  // namespace
}  // namespace diffsim::multiple_shooting_test
