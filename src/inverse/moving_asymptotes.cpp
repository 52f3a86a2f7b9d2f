// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/moving_asymptotes.hpp"

#include <petsctao.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim::inverse {
namespace {

constexpr double violation_cost = 1000.0;  // c

/// Coefficients p and q of the approximation of a function on this rank.
struct Approximation {
  std::vector<double> p, q;
};

/// Subproblem of one iteration, as a function of the multipliers λ.
class Subproblem {
 public:
  std::vector<double> low, high, alpha, beta;  // L, U, bounds of the trial point
  Approximation objective;
  std::vector<Approximation> rows;  // of the inequalities
  std::vector<double> b;  // right-hand sides: g̃_i(x) ≤ 0 reads Σ_j (p_ij/(U_j - x_j) + q_ij/(x_j - L_j)) ≤ b_i
  MPI_Comm comm = MPI_COMM_NULL;

  /// Value, gradient and Hessian of the negative dual function at λ.
  struct Dual {
    double value = 0.0;
    std::vector<double> gradient, hessian;
  };
  Dual dual(const std::vector<double>& lambda) const;
  /// Returns the minimiser of the Lagrangian function at λ.
  std::vector<double> minimiser(const std::vector<double>& lambda) const;
  /// Returns Σ_j (p_j/(U_j - x_j) + q_j/(x_j - L_j)) of the objective and of each inequality. Collective.
  std::vector<double> values(const std::vector<double>& x) const;
  /// Returns the multipliers that maximise the dual function. Collective.
  std::vector<double> solve() const;

 private:
  /// p and q of the Lagrangian function, for entry j.
  std::pair<double, double> coefficients(const std::vector<double>& lambda, std::size_t j) const {
    double p = objective.p[j], q = objective.q[j];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      p += lambda[i] * rows[i].p[j];
      q += lambda[i] * rows[i].q[j];
    }
    return {p, q};
  }
  /// Minimiser of p/(U - x) + q/(x - L) between the bounds.
  double minimiser(double p, double q, std::size_t j) const {
    const double a = std::sqrt(p), c = std::sqrt(q);
    return std::clamp((a * low[j] + c * high[j]) / (a + c), alpha[j], beta[j]);
  }
};

std::vector<double> Subproblem::minimiser(const std::vector<double>& lambda) const {
  std::vector<double> next(low.size());
  for (std::size_t j = 0; j < next.size(); ++j) {
    const auto [p, q] = coefficients(lambda, j);
    next[j] = minimiser(p, q, j);
  }
  return next;
}

std::vector<double> Subproblem::values(const std::vector<double>& x) const {
  std::vector<double> sums(1 + rows.size(), 0.0);
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double up = high[j] - x[j], down = x[j] - low[j];
    sums[0] += objective.p[j] / up + objective.q[j] / down;
    for (std::size_t i = 0; i < rows.size(); ++i) sums[1 + i] += rows[i].p[j] / up + rows[i].q[j] / down;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm));
  return sums;
}

Subproblem::Dual Subproblem::dual(const std::vector<double>& lambda) const {
  const std::size_t m = rows.size();
  std::vector<double> sums(1 + m + m * m, 0.0);  // value, gradient, Hessian
  std::vector<double> slopes(m);
  for (std::size_t j = 0; j < low.size(); ++j) {
    const auto [p, q] = coefficients(lambda, j);
    const double at = minimiser(p, q, j), up = high[j] - at, down = at - low[j];
    sums[0] += p / up + q / down;
    for (std::size_t i = 0; i < m; ++i) {
      sums[1 + i] += rows[i].p[j] / up + rows[i].q[j] / down;
      slopes[i] = rows[i].p[j] / (up * up) - rows[i].q[j] / (down * down);
    }
    if (at <= alpha[j] || at >= beta[j]) continue;
    const double curvature = 2.0 * (p / (up * up * up) + q / (down * down * down));
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t k = 0; k < m; ++k) sums[1 + m + i * m + k] += slopes[i] * slopes[k] / curvature;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm));
  Dual result{-sums[0], std::vector<double>(m),
              std::vector<double>(sums.begin() + 1 + static_cast<std::ptrdiff_t>(m), sums.end())};
  for (std::size_t i = 0; i < m; ++i) {
    const double y = std::max(0.0, lambda[i] - violation_cost);
    result.value += lambda[i] * b[i] + 0.5 * y * y;
    result.gradient[i] = -(sums[1 + i] - b[i] - y);
    if (y > 0.0) result.hessian[i * m + i] += 1.0;
  }
  return result;
}

/// Data of TAO's callbacks for a Subproblem.
struct DualContext {
  const Subproblem& problem;
  std::exception_ptr error;
};

PetscErrorCode evaluate(Tao, Vec point, PetscReal* value, Vec gradient, void* pointer) {
  auto& context = *static_cast<DualContext*>(pointer);
  try {
    const Subproblem::Dual dual = context.problem.dual(values_of(point));
    *value = dual.value;
    set_values(gradient, dual.gradient);
  } catch (...) {
    context.error = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

PetscErrorCode evaluate_hessian(Tao, Vec point, Mat hessian, Mat, void* pointer) {
  auto& context = *static_cast<DualContext*>(pointer);
  try {
    const Subproblem::Dual dual = context.problem.dual(values_of(point));
    const auto m = static_cast<PetscInt>(dual.gradient.size());
    for (PetscInt i = 0; i < m; ++i)
      for (PetscInt k = 0; k < m; ++k)
        DIFFSIM_PETSC(MatSetValue(hessian, i, k, dual.hessian[static_cast<std::size_t>(i * m + k)], INSERT_VALUES));
    DIFFSIM_PETSC(MatAssemblyBegin(hessian, MAT_FINAL_ASSEMBLY));
    DIFFSIM_PETSC(MatAssemblyEnd(hessian, MAT_FINAL_ASSEMBLY));
  } catch (...) {
    context.error = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

std::vector<double> Subproblem::solve() const {
  const std::size_t m = rows.size();
  if (m == 0) return {};
  DualContext context{*this, {}};
  const auto size = static_cast<PetscInt>(m);
  // Every rank solves the same dual problem; only the sums over x are distributed.
  PetscHandle<Tao, TaoDestroy> tao;
  PetscHandle<Mat, MatDestroy> hessian;
  const VecHandle lambda = make_vec(PETSC_COMM_SELF, std::vector<double>(m, 1.0)),
                  zero = make_vec(PETSC_COMM_SELF, std::vector<double>(m, 0.0)),
                  highest = make_vec(PETSC_COMM_SELF, std::vector<double>(m, 1e12));
  DIFFSIM_PETSC(MatCreateSeqDense(PETSC_COMM_SELF, size, size, nullptr, hessian.out()));
  DIFFSIM_PETSC(TaoCreate(PETSC_COMM_SELF, tao.out()));
  DIFFSIM_PETSC(TaoSetType(tao, TAOBNLS));
  DIFFSIM_PETSC(TaoSetOptionsPrefix(tao, "mma_"));
  DIFFSIM_PETSC(TaoSetSolution(tao, lambda));
  DIFFSIM_PETSC(TaoSetVariableBounds(tao, zero, highest));
  DIFFSIM_PETSC(TaoSetObjectiveAndGradient(tao, nullptr, evaluate, &context));
  DIFFSIM_PETSC(TaoSetHessian(tao, hessian, hessian, evaluate_hessian, &context));
  DIFFSIM_PETSC(TaoSetMaximumIterations(tao, 200));
  DIFFSIM_PETSC(TaoSetTolerances(tao, 1e-300, 0.0, 1e-12));
  DIFFSIM_PETSC(TaoSetFromOptions(tao));
  // The rounding errors of the sums may prevent convergence to the tolerance; the best point is then good enough.
  const PetscErrorCode code = TaoSolve(tao);
  if (context.error) std::rethrow_exception(context.error);
  DIFFSIM_PETSC(code);
  return values_of(lambda);
}

}  // namespace

MovingAsymptotes::MovingAsymptotes(MPI_Comm comm, std::vector<double> lower, std::vector<double> upper,
                                   double move_limit)
    : comm_(comm), lower_(std::move(lower)), upper_(std::move(upper)), move_limit_(move_limit) {}

void MovingAsymptotes::move_asymptotes(const std::vector<double>& x) {
  low_.resize(x.size());
  high_.resize(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double range = this->range(j);
    if (iteration_ < 2) {
      low_[j] = x[j] - 0.5 * range;
      high_[j] = x[j] + 0.5 * range;
      continue;
    }
    const double turn = (x[j] - last_[j]) * (last_[j] - before_last_[j]);
    const double factor = turn > 0.0 ? 1.2 : turn < 0.0 ? 0.7 : 1.0;
    low_[j] = std::clamp(x[j] - factor * (last_[j] - low_[j]), x[j] - 10.0 * range, x[j] - 0.01 * range);
    high_[j] = std::clamp(x[j] + factor * (high_[j] - last_[j]), x[j] + 0.01 * range, x[j] + 10.0 * range);
  }
}

std::vector<double> MovingAsymptotes::mean_changes(const Linearisation& at) const {
  std::vector<double> sums(1 + at.gradients.size(), 0.0);
  sums[0] = static_cast<double>(at.x.size());
  for (std::size_t i = 0; i < at.gradients.size(); ++i)
    for (std::size_t j = 0; j < at.x.size(); ++j) sums[1 + i] += std::abs(at.gradients[i][j]) * range(j);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm_));
  std::vector<double> means(sums.begin() + 1, sums.end());
  for (double& mean : means) mean /= sums[0];
  return means;
}

void MovingAsymptotes::begin(const Linearisation& at) {
  const std::vector<double> changes = mean_changes(at);
  if (scales_.empty()) {
    scales_.assign(changes.size(), 1.0);
    curvatures_.assign(changes.size(), 0.0);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    // With this scale, the mean change of the function over the range of an unknown is 1.
    const double scale = changes[i] > 0.0 ? 1.0 / changes[i] : scales_[i];
    // Svanberg 2002: the curvatures decrease from iteration to iteration, as far as the functions permit.
    curvatures_[i] = iteration_ == 0 ? 0.1 : std::max(0.1 * curvatures_[i] * scale / scales_[i], 1e-6);
    scales_[i] = scale;
  }
  if (iteration_ > 0) {
    before_last_ = std::move(last_);
    last_ = std::move(at_.x);
  }
  at_ = at;
  move_asymptotes(at_.x);
  ++iteration_;
}

std::vector<double> MovingAsymptotes::trial() {
  Subproblem problem;
  problem.comm = comm_;
  problem.low = low_;
  problem.high = high_;
  const std::vector<double>& x = at_.x;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double move = move_limit_ * range(j);
    problem.alpha.push_back(std::max({lower_[j], x[j] - 0.9 * (x[j] - low_[j]), x[j] - move}));
    problem.beta.push_back(std::min({upper_[j], x[j] + 0.9 * (high_[j] - x[j]), x[j] + move}));
  }
  // Sums of p/(U - x) + q/(x - L) at the current point, by function.
  std::vector<double> sums(at_.gradients.size(), 0.0);
  std::vector<Approximation> functions;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Approximation& made = functions.emplace_back();
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double up = high_[j] - x[j], down = x[j] - low_[j], slope = scales_[i] * at_.gradients[i][j];
      const double rise = std::max(slope, 0.0), fall = std::max(-slope, 0.0), bend = curvatures_[i] / range(j);
      made.p.push_back(up * up * (1.001 * rise + 0.001 * fall + bend));
      made.q.push_back(down * down * (0.001 * rise + 1.001 * fall + bend));
      sums[i] += made.p.back() / up + made.q.back() / down;
    }
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm_));
  for (std::size_t i = 1; i < sums.size(); ++i) problem.b.push_back(sums[i] - scales_[i] * at_.values[i]);
  problem.objective = std::move(functions.front());
  problem.rows.assign(std::make_move_iterator(functions.begin() + 1), std::make_move_iterator(functions.end()));
  multipliers_ = problem.solve();
  x_ = problem.minimiser(multipliers_);
  approximated_ = problem.values(x_);
  magnitudes_ = approximated_;
  for (std::size_t i = 0; i < sums.size(); ++i) approximated_[i] += scales_[i] * at_.values[i] - sums[i];
  for (std::size_t i = 0; i < multipliers_.size(); ++i) multipliers_[i] *= scales_[1 + i] / scales_[0];
  return x_;
}

bool MovingAsymptotes::accepts(const std::vector<double>& values) {
  // Svanberg 2002: the term of ρ_i in the approximation is ρ_i times this distance.
  double distance = 0.0;
  for (std::size_t j = 0; j < x_.size(); ++j) {
    const double step = x_[j] - at_.x[j];
    distance += (high_[j] - low_[j]) * step * step / ((high_[j] - x_[j]) * (x_[j] - low_[j]) * range(j));
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &distance, 1, MPI_DOUBLE, MPI_SUM, comm_));
  bool accepted = true;
  for (std::size_t i = 0; i < values.size() && distance > 0.0; ++i) {
    const double value = scales_[i] * values[i];
    const double rounding = 1e-10 * std::max(1.0, std::abs(value)) + 1e-14 * magnitudes_[i];
    if (value <= approximated_[i] + rounding) continue;
    accepted = false;
    const double excess = (value - approximated_[i]) / distance;
    curvatures_[i] = std::min(1.1 * (curvatures_[i] + excess), 10.0 * curvatures_[i]);
  }
  return accepted;
}

void MovingAsymptotes::shorten() {
  for (double& curvature : curvatures_) curvature *= 10.0;
}

}  // namespace diffsim::inverse
