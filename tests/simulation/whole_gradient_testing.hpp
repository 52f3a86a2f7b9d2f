// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulation/contact_blocks.hpp"
#include "simulation/stored_slopes.hpp"

/// Gradients of whole rollouts with respect to each parameter separately. On one rank the gradients are compared with
/// eighth-order finite differences and with stored slopes, on several ranks with the gradient on one rank.
namespace diffsim::testing_gradient {

/// Function that makes the same scene on the ranks of a communicator.
using MakeSolver = std::function<DifferentiableScene(MPI_Comm)>;
/// Function that makes the loss of a scene.
using MakeLoss = std::function<std::unique_ptr<Loss>(DifferentiableScene&)>;

/// Limits the iterations of an implicit step and the number of times that its load is halved. Rollouts with parameters
/// far from the given ones may fail, and should fail quickly.
inline void fail_soon(DifferentiableSolver& options) {
  options.implicit.newton.max_iterations = 50;
  options.implicit.newton.max_cuts = 1;
}

/// Sets the tolerances of implicit steps and of their linear systems near rounding errors. Steps that fail do so
/// quickly.
inline void solve_to_rounding(DifferentiableSolver& options) {
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.newton.linear_tolerance = 1e-13;
  fail_soon(options);
}

/// Options with gravity along no axis, some damping, and implicit steps solved nearly to rounding errors.
inline DifferentiableSolver tight_options(const std::string& integrator, double explicit_dt, double implicit_dt,
                                          int substeps) {
  DifferentiableSolver options{.dt = is_explicit(integrator_named(integrator)) ? explicit_dt : implicit_dt,
                               .substeps = substeps,
                               .damping = 0.98,
                               .gravity = {0.7, -9.8, 1.1},
                               .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-13;
  fail_soon(options);
  options.implicit.linear.tolerance = 1e-13;
  return options;
}

/// Options of `tight_options` for scenes with rigid bodies and joints. The accelerations of generalised-α contain the
/// rounding errors of constrained positions, divided by β h². The products with the Jacobian and with its transpose
/// therefore agree less well than with other integrators.
inline DifferentiableSolver constrained_options(const std::string& integrator, double explicit_dt, double implicit_dt,
                                                int substeps) {
  DifferentiableSolver options = tight_options(integrator, explicit_dt, implicit_dt, substeps);
  if (options.integrator == Integrator::generalised_alpha) options.implicit.linear.tolerance = 1e-11;
  return options;
}

/// Loss Σₙ Σᵢ wᵢ (d + 2 d²) over the steps n > 0 and the components i, where d = x - X and w is a wave over the body.
/// The wave prevents cancellation, and the values are as small as displacements.
class Wave : public Loss {
 public:
  explicit Wave(const TetrahedralMesh& mesh)
      : rest_(mesh.rest_positions().begin(), mesh.rest_positions().begin() + 3 * mesh.num_owned_vertices()) {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const double* X = &rest_[3 * (i / 3)];
      weight_.push_back(std::cos(19.0 * X[0] + 27.0 * X[1] - 14.0 * X[2] + 1.1 * static_cast<double>(i % 3)));
    }
  }
  bool observes(int n) const override { return n > 0; }
  double value(int, const State& state, const ParameterSet&) override {
    const std::vector<double> x = state["positions"].to_host();
    double sum = 0.0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const double d = x[i] - rest_[i];
      sum += weight_[i] * (d + 2.0 * d * d);
    }
    return sum;
  }
  double tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) override {
    throw Error("not needed here");
  }
  void add_gradient(int, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    const std::vector<double> x = state["positions"].to_host();
    std::vector<double> sum = adjoint["positions"].to_host();
    for (std::size_t i = 0; i < rest_.size(); ++i) sum[i] += weight_[i] * (1.0 + 4.0 * (x[i] - rest_[i]));
    adjoint["positions"].from_host(sum);
  }

 private:
  std::vector<double> rest_, weight_;
};

inline std::unique_ptr<Loss> make_wave(DifferentiableScene& solver) { return std::make_unique<Wave>(*solver.mesh()); }

/// Returns the field of the initial state to which a parameter of this name belongs, or nullptr for other parameters.
inline const char* field_of_start(const std::string& name) {
  return name == "initial_positions" ? "positions" : name == "initial_velocities" ? "velocities" : nullptr;
}

/// Direction of change of one parameter, the same on any number of ranks: a wave over the positions of the entries,
/// times the largest magnitude of the parameter's values.
inline std::vector<double> direction_of(DifferentiableScene& solver, const std::string& name) {
  const TetrahedralMesh& mesh = *solver.mesh();
  const char* const in_start = field_of_start(name);
  const State start = solver.initial_state();
  const Field& field = in_start ? start[in_start] : solver.parameters().at(name).field;
  const auto components = static_cast<std::size_t>(field.components());
  const std::vector<double> values = field.to_host();
  double size = 0.0;
  for (const double value : values) size = std::max(size, std::abs(value));
  MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, mesh.comm());
  if (size == 0.0) size = 0.1;
  std::vector<double> direction(values.size());
  const auto stride = static_cast<std::size_t>(mesh.nodes_per_cell());
  for (std::size_t i = 0; i < direction.size(); ++i) {
    const std::size_t entry = i / components;
    double place[3] = {0.0, 0.0, 0.0};
    if (field.on().name() == "cells") {
      for (std::size_t corner = 0; corner < 4; ++corner)
        for (std::size_t c = 0; c < 3; ++c)
          place[c] +=
              0.25 * mesh.rest_positions()[3 * static_cast<std::size_t>(mesh.cells()[stride * entry + corner]) + c];
    } else if (const auto kind = cell_kind(field.on().name())) {
      const auto corners = static_cast<std::size_t>(corners_of(*kind));
      const std::vector<int>& vertices = mesh.lower_cells(*kind).vertices;
      for (std::size_t k = 0; k < corners; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          place[c] += mesh.rest_positions()[3 * static_cast<std::size_t>(vertices[corners * entry + k]) + c] /
                      static_cast<double>(corners);
    } else if (!field.on().is_one_for_all()) {
      for (std::size_t c = 0; c < 3; ++c) place[c] = mesh.rest_positions()[3 * entry + c];
    }
    direction[i] = size * (1.0 + 0.5 * std::sin(29.0 * place[0] - 13.0 * place[1] + 37.0 * place[2] +
                                                1.7 * static_cast<double>(i % components)));
  }
  return direction;
}

/// Restores the values of a field on destruction.
class Restored {
 public:
  explicit Restored(Field& field) : field_(field), values_(field.to_host()) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { field_.from_host(values_); }

 private:
  Field& field_;
  std::vector<double> values_;
};

/// Losses of rollouts of one scene with one parameter changed.
class Rollouts {
 public:
  Rollouts(DifferentiableScene solver, int steps, const MakeLoss& make_loss)
      : solver_(std::move(solver)), steps_(steps), loss_(make_loss(solver_)) {}

  double loss(const std::string& name, const std::vector<double>& direction, double h) {
    State state = solver_.initial_state();
    const char* const in_start = field_of_start(name);
    Field& field = in_start ? state[in_start] : solver_.parameters().at(name).field;
    const Restored restored(field);
    std::vector<double> moved = field.to_host();
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * direction[i];
    field.from_host(moved);
    solver_.model().prepare();
    double sum = 0.0;
    for (int n = 0; n < steps_; ++n) {
      solver_.model().step(n, state, nullptr);
      if (loss_->observes(n + 1)) sum += loss_->value(n + 1, state, solver_.parameters());
    }
    return sum;
  }
  DifferentiableScene& solver() { return solver_; }

 private:
  DifferentiableScene solver_;
  int steps_;
  std::unique_ptr<Loss> loss_;
};

struct Difference {
  double value = 0.0;
  double error = std::numeric_limits<double>::infinity();
};

/// Standard deviation of the rounding errors of f near zero, from third- to fifth-order differences of values that are
/// so close together that f is linear up to rounding. Source: J. Moré and S. Wild, Estimating computational noise, SIAM
/// J. Sci. Comput. 33 (2011).
template <class Function>
double rounding_of(const Function& f) {
  std::vector<double> differences;
  for (int i = 0; i < 9; ++i) differences.push_back(f(1e-9 * i));
  double largest = std::numeric_limits<double>::epsilon() / 2.0 * std::abs(differences.front());
  double gamma = 1.0;  // (k!)²/(2k)!
  for (int k = 1; k <= 5; ++k) {
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < differences.size(); ++i) {
      differences[i] = differences[i + 1] - differences[i];
      sum += differences[i] * differences[i];
    }
    differences.pop_back();
    gamma *= k / (2.0 * (2.0 * k - 1.0));
    if (k >= 3) largest = std::max(largest, std::sqrt(gamma * sum / static_cast<double>(differences.size())));
  }
  return largest;
}

/// Central differences of f with the steps h/2^i, each evaluated once, and their extrapolations.
template <class Function>
class CentralDifferences {
 public:
  CentralDifferences(const Function& f, double h) : f_(f), h_(h) {}

  /// Returns the differences at i, i + 1, i + 2 and i + 3 extrapolated to eighth order (Romberg). The error is the
  /// largest distance from the two sixth-order values, with and without the largest step, and from the extrapolation at
  /// i - 1 if this one has been computed.
  Difference extrapolated(int i) {
    double table[4][4];
    for (int j = 0; j < 4; ++j) {
      table[j][0] = at(i + j);
      for (int k = 1; k <= j; ++k)
        table[j][k] = table[j][k - 1] + (table[j][k - 1] - table[j - 1][k - 1]) / (std::pow(4.0, k) - 1.0);
    }
    Difference made{table[3][3], std::max(std::abs(table[3][3] - table[3][2]), std::abs(table[3][3] - table[2][2]))};
    if (const auto larger = extrapolated_.find(i - 1); larger != extrapolated_.end() && std::isfinite(larger->second))
      made.error = std::max(made.error, std::abs(made.value - larger->second));
    extrapolated_[i] = made.value;
    return made;
  }

  /// Two standard deviations of the rounding error of extrapolated(i). The difference with the smallest step dominates,
  /// with the factor 64/63·16/15·4/3.
  double error_of_rounding(double rounding, int i) const {
    return 2.0 * 1.45 / std::sqrt(2.0) * rounding / step(i + 3);
  }

 private:
  double step(int i) const { return std::ldexp(h_, -i); }
  double at(int i) {
    const auto [found, is_new] = central_.try_emplace(i);
    if (is_new) found->second = (f_(step(i)) - f_(-step(i))) / (2.0 * step(i));
    return found->second;
  }

  const Function& f_;
  double h_;
  std::map<int, double> central_, extrapolated_;
};

/// Mean of 5 to 20 extrapolations: `at_first`, with the largest step 0.05/2^i, and others with slightly smaller steps,
/// as many as a relative error of `wanted` takes. The error is two standard deviations of the mean, from the spread of
/// the values or from the rounding errors of f, whichever is larger.
template <class Function>
Difference mean_of_extrapolations(const Function& f, double rounding, int i, double at_first, double wanted) {
  constexpr int least = 5, most = 20;
  Difference mean;
  double sum = at_first, sum_of_squares = 0.0;  // of the values' distances from at_first
  for (int n = 2; n <= most && !(n > least && mean.error <= wanted * std::abs(mean.value)); ++n) {
    CentralDifferences<Function> central(f, 0.05 - 0.001 * (n - 1));
    const double value = central.extrapolated(i).value;
    sum += value;
    sum_of_squares += (value - at_first) * (value - at_first);
    const double count = n, shift = sum / count - at_first;
    const double variance = (sum_of_squares - count * shift * shift) / (count - 1.0);
    mean = {sum / count, std::max(2.0 * std::sqrt(std::max(variance, 0.0) / count),
                                  central.error_of_rounding(rounding, i) / std::sqrt(count))};
  }
  return mean;
}

/// Returns the best of several differences. First, smaller steps are attempted while the error is too large and larger
/// than the rounding error: higher derivatives may have kinks nearby, as with contact, and rollouts with larger changes
/// may fail. Then larger steps are attempted, which reduce the rounding error, and finally the mean of several
/// extrapolations. `rounding` may be the rounding error of the loss measured with another parameter; it is used if the
/// resulting error is negligible, otherwise the rounding error of f is measured.
template <class Function>
Difference differentiate(const Function& f, double rounding = std::numeric_limits<double>::infinity()) {
  CentralDifferences<Function> central(f, 0.05);
  Difference best;
  int best_level = 0;
  const auto is_within = [&](double error) { return best.error <= error * std::abs(best.value); };
  const auto try_from = [&](int i) {
    Difference next = central.extrapolated(i);
    next.error = std::max(next.error, central.error_of_rounding(rounding, i));
    if (next.error < best.error) {  // false if a rollout failed, since the error is NaN
      best = next;
      best_level = i;
    }
  };
  if (!(central.error_of_rounding(rounding, 0) < 1e-10 * std::abs(central.extrapolated(0).value)))
    rounding = rounding_of(f);
  for (int i = 0; i <= 14 && !is_within(1e-9) && central.error_of_rounding(rounding, i) < best.error; ++i) try_from(i);
  for (int i = -1; i >= -2 && !is_within(1e-9); --i) try_from(i);
  if (!is_within(2e-9)) {
    const Difference mean = mean_of_extrapolations(f, rounding, best_level, best.value, 2e-9);
    if (mean.error < best.error) best = mean;
  }
  return best;
}

/// Differences of the loss on one rank with respect to each parameter.
inline std::vector<Difference> differences(const MakeSolver& make, int steps, const std::vector<std::string>& names,
                                           const MakeLoss& make_loss) {
  Rollouts alone(make(MPI_COMM_SELF), steps, make_loss);
  std::vector<Difference> all;
  double rounding = 0.0;
  for (const std::string& name : names) {
    const std::vector<double> direction = direction_of(alone.solver(), name);
    const auto loss = [&](double h) {
      try {
        return alone.loss(name, direction, h);
      } catch (const Error&) {
        return std::numeric_limits<double>::quiet_NaN();
      }
    };
    if (all.empty()) rounding = rounding_of(loss);
    all.push_back(differentiate(loss, rounding));
  }
  return all;
}

/// Largest number of active contact pairs in the states at the ends of the steps.
inline std::int64_t most_active_pairs(DifferentiableScene& solver, int steps) {
  solver.model().prepare();
  State state = solver.initial_state();
  std::int64_t most = 0;
  for (int n = 0; n < steps; ++n) {
    solver.model().step(n, state, nullptr);
    most = std::max(most, solver.contact_state(n + 1, state).active_pairs);
  }
  return most;
}

/// Slopes ⟨gradient, direction⟩ of the loss of a rollout with respect to each parameter, from one reverse sweep.
inline std::vector<double> slopes_of_gradient(DifferentiableScene solver, int steps,
                                              const std::vector<std::string>& names,
                                              const MakeLoss& make_loss = make_wave) {
  const std::unique_ptr<Loss> loss = make_loss(solver);
  DifferentiableSimulator simulator(solver);
  std::vector<std::string> of_model = names;
  std::erase_if(of_model, [](const std::string& name) { return field_of_start(name) != nullptr; });
  simulator.require_gradient(of_model);
  simulator.rollout(steps, 2, *loss);
  simulator.backward();

  std::vector<double> slopes;
  for (const std::string& name : names) {
    const char* const in_start = field_of_start(name);
    const Field& gradient = in_start ? simulator.initial_gradient()[in_start] : simulator.gradient(name);
    const std::vector<double> g = gradient.to_host(), d = direction_of(solver, name);
    double slope = 0.0;
    for (std::size_t i = 0; i < gradient.owned_size(); ++i) slope += g[i] * d[i];
    MPI_Allreduce(MPI_IN_PLACE, &slope, 1, MPI_DOUBLE, MPI_SUM, solver.mesh()->comm());
    slopes.push_back(slope);
  }
  return slopes;
}

/// Expects each slope to agree with the slope on one rank to a relative error of 1e-11.
inline void expect_slopes_of_one_rank(const MakeSolver& make, int steps, const std::vector<std::string>& names,
                                      const std::vector<double>& slopes, const MakeLoss& make_loss) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> alone(names.size(), 0.0);
  if (rank == 0) alone = slopes_of_gradient(make(MPI_COMM_SELF), steps, names, make_loss);
  MPI_Bcast(alone.data(), static_cast<int>(alone.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (std::size_t k = 0; k < names.size(); ++k) {
    EXPECT_GT(std::abs(alone[k]), 0.0) << names[k];
    EXPECT_NEAR(slopes[k], alone[k], 1e-11 * std::abs(alone[k])) << names[k];
    if (std::getenv("DIFFSIM_VERBOSE") && rank == 0)
      std::printf("%-28s slope %13.6e off one rank's by %8.1e of it\n", names[k].c_str(), slopes[k],
                  std::abs(slopes[k] - alone[k]) / std::abs(alone[k]));
  }
}

/// Indices k of the parameters whose slopes a run of the present test compares with differences. All parameters, if the
/// steps are explicit, if new slopes are stored (DIFFSIM_STORED_SLOPES) or with DIFFSIM_ALL_DIFFERENCES=1. Otherwise
/// every third parameter: differences of implicit rollouts take most of the time of these tests. The first index
/// depends on the name of the test, so that tests with other integrators or other contact compare other parameters.
inline std::vector<std::size_t> compared_with_differences(std::size_t count, bool is_implicit) {
  const bool all = !is_implicit || std::getenv("DIFFSIM_STORED_SLOPES") || std::getenv("DIFFSIM_ALL_DIFFERENCES");
  std::size_t first = 0;
  for (const char c : std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))
    first += static_cast<unsigned char>(c);
  std::vector<std::size_t> chosen;
  for (std::size_t k = all ? 0 : first % std::min<std::size_t>(3, count); k < count; k += all ? 1 : 3)
    chosen.push_back(k);
  return chosen;
}

/// Expects the gradient of a rollout with respect to each parameter to have the slope that was stored on another
/// processor, which the test compared with eighth-order differences when the slope was stored. Expects the slopes of
/// `compared_with_differences` to agree with the differences to a relative error of 1e-8 in this run, too. On several
/// ranks, expects the gradient on one rank instead. DIFFSIM_VERBOSE=1 prints the slopes and errors.
inline void expect_slopes(const MakeSolver& make, int steps, const std::vector<std::string>& names,
                          const MakeLoss& make_loss = make_wave) {
  DifferentiableScene solver = make(MPI_COMM_WORLD);
  const bool is_implicit = solver.is_implicit();
  const std::vector<double> slopes = slopes_of_gradient(std::move(solver), steps, names, make_loss);
  if (testing_contact::ranks() > 1) {
    expect_slopes_of_one_rank(make, steps, names, slopes, make_loss);
    return;
  }
  expect_stored(names, slopes);
  const std::vector<std::size_t> compared = compared_with_differences(names.size(), is_implicit);
  std::vector<std::string> chosen;
  for (const std::size_t k : compared) chosen.push_back(names[k]);
  const std::vector<Difference> expected = differences(make, steps, chosen, make_loss);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const double size = std::abs(expected[i].value), slope = slopes[compared[i]];
    EXPECT_GT(size, 0.0) << chosen[i];
    EXPECT_LE(expected[i].error, 1e-8 * size) << chosen[i];
    EXPECT_NEAR(slope, expected[i].value, 1e-8 * size) << chosen[i];
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%-28s slope %13.6e off %8.1e of it, differences show %8.1e\n", chosen[i].c_str(), slope,
                  std::abs(slope - expected[i].value) / size, expected[i].error / size);
  }
}

}  // namespace diffsim::testing_gradient
