// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulation/contact_blocks.hpp"

/// Gradients of whole rollouts by parameters, each by itself: on one rank against differences of eighth order, on
/// several against the gradient of one rank.
namespace diffsim::testing_gradient {

/// Makes the same body on the ranks of a communicator.
using MakeSolver = std::function<DifferentiableSolver(MPI_Comm)>;

/// Limits the iterations of an implicit step and the cuts of its load: rollouts far from the given parameters may fail,
/// and should not take long.
inline void fail_soon(SolverOptions& options) {
  options.implicit.newton.max_iterations = 50;
  options.implicit.newton.max_cuts = 1;
}

/// Sets the tolerances of implicit steps and of their linear systems near rounding; steps that fail do so soon.
inline void solve_to_rounding(SolverOptions& options) {
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.newton.linear_tolerance = 1e-13;
  fail_soon(options);
}

/// Options with gravity along no axis, some damping, and implicit steps solved nearly to rounding.
inline SolverOptions tight_options(const std::string& integrator, double explicit_dt, double implicit_dt,
                                   int substeps) {
  SolverOptions options{.dt = is_explicit_integrator(integrator) ? explicit_dt : implicit_dt,
                        .substeps = substeps,
                        .damping = 0.98,
                        .gravity = {0.7, -9.8, 1.1},
                        .integrator = integrator};
  options.implicit.newton.tolerance = 1e-13;
  fail_soon(options);
  options.implicit.linear.tolerance = 1e-13;
  return options;
}

/// Σₙ Σᵢ wᵢ (d + 2 d²), d = x - X in each component at every step n, w a wave over the body: nothing cancels, and
/// values are as small as displacements.
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

/// Where the entries of x[0] named so are, or nullptr.
inline const char* field_of_start(const std::string& name) {
  return name == "initial_positions" ? "positions" : name == "initial_velocities" ? "velocities" : nullptr;
}

/// A direction in one parameter, the same on any number of ranks: waves over the places of its entries, of its size.
inline std::vector<double> direction_of(DifferentiableSolver& solver, const std::string& name) {
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
  for (std::size_t i = 0; i < direction.size(); ++i) {
    const std::size_t entry = i / components;
    double place[3] = {0.0, 0.0, 0.0};
    if (field.on().name() == "cells") {
      for (std::size_t corner = 0; corner < 4; ++corner)
        for (std::size_t c = 0; c < 3; ++c)
          place[c] += 0.25 * mesh.rest_positions()[3 * static_cast<std::size_t>(mesh.cells()[4 * entry + corner]) + c];
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

/// Gives a field its values back in the end.
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

/// The loss of rollouts of one solver with one parameter moved.
class Rollouts {
 public:
  Rollouts(DifferentiableSolver solver, int steps)
      : solver_(std::move(solver)), steps_(steps), loss_(*solver_.mesh()) {}

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
      solver_.step(n, state);
      sum += loss_.value(n + 1, state, solver_.parameters());
    }
    return sum;
  }
  DifferentiableSolver& solver() { return solver_; }

 private:
  DifferentiableSolver solver_;
  int steps_;
  Wave loss_;
};

struct Difference {
  double value = 0.0;
  double error = std::numeric_limits<double>::infinity();
};

/// Standard deviation of the rounding of f near zero: from differences of third to fifth order of values so near each
/// other that f is a line there but for rounding. Source: J. Moré and S. Wild, Estimating computational noise, SIAM J.
/// Sci. Comput. 33 (2011).
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

/// Central differences of f at the steps h/2^i, each evaluated once, and their extrapolations.
template <class Function>
class CentralDifferences {
 public:
  CentralDifferences(const Function& f, double h) : f_(f), h_(h) {}

  /// Differences at i, i + 1, i + 2 and i + 3 extrapolated to eighth order (Romberg). The error is the larger distance
  /// to sixth order, with and without the largest step, or to the extrapolation from i - 1 where that was made.
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

  /// Two standard deviations of extrapolated(i) by the rounding of f: the smallest step weighs most, 64/63·16/15·4/3.
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

/// Mean of `at_first`, the extrapolation from the step 0.05/2^i, and of those from four first steps near 0.05. The
/// error is two standard deviations of the mean, by the spread of the values or by the rounding of f, whichever is
/// larger.
template <class Function>
Difference mean_of_extrapolations(const Function& f, double rounding, int i, double at_first) {
  std::vector<double> values{at_first};
  double sum = at_first, of_rounding = 0.0;
  for (const double h : {0.045, 0.04, 0.035, 0.03}) {
    CentralDifferences<Function> central(f, h);
    values.push_back(central.extrapolated(i).value);
    sum += values.back();
    of_rounding = central.error_of_rounding(rounding, i);
  }
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  double variance = 0.0;
  for (const double value : values) variance += (value - mean) * (value - mean) / (count - 1.0);
  return {mean, std::max(2.0 * std::sqrt(variance / count), of_rounding / std::sqrt(count))};
}

/// The best of several differences. Smaller steps are tried while the error is too large and larger than that of
/// rounding: kinks of higher derivatives, as contact has them, may lie near, and rollouts fail farther out. Larger
/// steps are tried then, for their rounding is less, and last the mean of several. `rounding` may be that
/// of the loss by another parameter: it serves where it is far too small to matter; else f's own is measured.
template <class Function>
Difference differentiate(const Function& f, double rounding = std::numeric_limits<double>::infinity()) {
  CentralDifferences<Function> central(f, 0.05);
  Difference best;
  int best_level = 0;
  const auto is_within = [&](double error) { return best.error <= error * std::abs(best.value); };
  const auto try_from = [&](int i) {
    Difference next = central.extrapolated(i);
    next.error = std::max(next.error, central.error_of_rounding(rounding, i));
    if (next.error < best.error) {  // false where a rollout failed
      best = next;
      best_level = i;
    }
  };
  if (!(central.error_of_rounding(rounding, 0) < 1e-10 * std::abs(central.extrapolated(0).value)))
    rounding = rounding_of(f);
  for (int i = 0; i <= 14 && !is_within(1e-9) && central.error_of_rounding(rounding, i) < best.error; ++i) try_from(i);
  for (int i = -1; i >= -2 && !is_within(1e-9); --i) try_from(i);
  if (!is_within(2e-9)) {
    const Difference mean = mean_of_extrapolations(f, rounding, best_level, best.value);
    if (mean.error < best.error) best = mean;
  }
  return best;
}

/// Differences of the loss of one rank by every parameter.
inline std::vector<Difference> differences(const MakeSolver& make, int steps, const std::vector<std::string>& names) {
  Rollouts alone(make(MPI_COMM_SELF), steps);
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

/// Of the states that the steps end with.
inline std::int64_t most_active_pairs(DifferentiableSolver& solver, int steps) {
  solver.model().prepare();
  State state = solver.initial_state();
  std::int64_t most = 0;
  for (int n = 0; n < steps; ++n) {
    solver.step(n, state);
    most = std::max(most, solver.contact_state(n + 1, state).active_pairs);
  }
  return most;
}

/// Slopes ⟨gradient, direction⟩ of the loss of a rollout by each of the parameters, from one reverse sweep.
inline std::vector<double> slopes_of_gradient(DifferentiableSolver solver, int steps,
                                              const std::vector<std::string>& names) {
  Wave loss(*solver.mesh());
  DifferentiableSimulator simulator(solver);
  std::vector<std::string> of_model = names;
  std::erase_if(of_model, [](const std::string& name) { return field_of_start(name) != nullptr; });
  simulator.require_gradient(of_model);
  simulator.rollout(steps, 2, loss);
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

/// Expects each slope to be that of the gradient that one rank has alone, to 1e-11 of it.
inline void expect_slopes_of_one_rank(const MakeSolver& make, int steps, const std::vector<std::string>& names,
                                      const std::vector<double>& slopes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> alone(names.size(), 0.0);
  if (rank == 0) alone = slopes_of_gradient(make(MPI_COMM_SELF), steps, names);
  MPI_Bcast(alone.data(), static_cast<int>(alone.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (std::size_t k = 0; k < names.size(); ++k) {
    EXPECT_GT(std::abs(alone[k]), 0.0) << names[k];
    EXPECT_NEAR(slopes[k], alone[k], 1e-11 * std::abs(alone[k])) << names[k];
    if (std::getenv("DIFFSIM_VERBOSE") && rank == 0)
      std::printf("%-28s slope %13.6e off one rank's by %8.1e of it\n", names[k].c_str(), slopes[k],
                  std::abs(slopes[k] - alone[k]) / std::abs(alone[k]));
  }
}

/// Expects the gradient of a rollout by each of the parameters to have the slope that differences of eighth order have,
/// to 1e-8 of it; on several ranks, to be the gradient of one rank, of which the test on one rank expects that.
/// DIFFSIM_VERBOSE=1 prints the figures.
inline void expect_slopes(const MakeSolver& make, int steps, const std::vector<std::string>& names) {
  const std::vector<double> slopes = slopes_of_gradient(make(MPI_COMM_WORLD), steps, names);
  if (testing_contact::ranks() > 1) {
    expect_slopes_of_one_rank(make, steps, names, slopes);
    return;
  }
  const std::vector<Difference> expected = differences(make, steps, names);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double size = std::abs(expected[k].value);
    EXPECT_GT(size, 0.0) << names[k];
    EXPECT_LE(expected[k].error, 1e-8 * size) << names[k];
    EXPECT_NEAR(slopes[k], expected[k].value, 1e-8 * size) << names[k];
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%-28s slope %13.6e off %8.1e of it, differences show %8.1e\n", names[k].c_str(), slopes[k],
                  std::abs(slopes[k] - expected[k].value) / size, expected[k].error / size);
  }
}

}  // namespace diffsim::testing_gradient
