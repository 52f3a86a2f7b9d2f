// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/constraint_rows.hpp"
#include "inverse/minimise.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim::inverse {
namespace {

/// Data of the callbacks. TAO minimises the loss times `loss_scale`; the rows of constraints are multiplied by their
/// scales, too, so that all gradients have the norm 1 at the start.
struct AlmmContext {
  TaoContext tao;
  ConstraintRows rows;
  double loss_scale = 1.0;
  double constraint_tolerance = 0.0;  // for relative violations
  double first_norm = 0.0;            // norm of the gradient of the loss at the start
  std::vector<double> inequality_scales = {}, equation_scales = {};

  void move_to(const std::vector<double>& u) {
    const bool is_start = tao.evaluations == 0;
    tao.move_to(u);
    // If the rollout fails at a point, the values of the constraints remain those of the previous point.
    if (tao.failed) return;
    try {
      rows.move_to(u);
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::run || is_start) throw;
      tao.set_failed();
    }
  }
};

/// Rows of one kind, as TAO needs them. TAO's inequalities are c(x) ≥ 0, so `sign` is -1 for inequalities.
struct Part {
  AlmmContext& context;
  const std::vector<ConstraintRows::Row>& rows;
  const std::vector<double>& scales;
  double sign;
  PetscHandle<Mat, MatDestroy> jacobian = {};
  VecHandle values = {};
  std::vector<double> u = {};  // point of the Jacobian
  double jacobian_factor = 1.0;

  /// Factor of row i of the constraints in TAO's values.
  double factor(std::size_t i) const { return sign * scales[i]; }
};

/// Calls `function`. Stores an exception in the context and returns an error code.
PetscErrorCode guarded(TaoContext& context, const std::function<void()>& function) {
  try {
    function();
  } catch (...) {
    context.error = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

PetscErrorCode evaluate_loss(Tao, Vec point, PetscReal* loss, Vec gradient, void* pointer) {
  auto& context = *static_cast<AlmmContext*>(pointer);
  return guarded(context.tao, [&] {
    context.move_to(values_of(point));
    *loss = context.loss_scale * context.tao.loss;
    std::vector<double> g = context.tao.g;
    for (double& value : g) value *= context.loss_scale;
    set_values(gradient, g);
  });
}

PetscErrorCode evaluate_rows(Tao, Vec point, Vec values, void* pointer) {
  auto& part = *static_cast<Part*>(pointer);
  return guarded(part.context.tao, [&] {
    part.context.move_to(values_of(point));
    std::vector<double> all;
    if (rank_of(part.context.tao.problem.comm()) == 0)
      for (std::size_t i = 0; i < part.rows.size(); ++i)
        all.push_back(part.factor(i) * part.context.rows.value(part.rows[i]));
    set_values(values, all);
  });
}

PetscErrorCode move_jacobian(Tao, Vec point, Mat, Mat, void* pointer) {
  auto& part = *static_cast<Part*>(pointer);
  return guarded(part.context.tao, [&] {
    part.u = values_of(point);
    part.jacobian_factor = 1.0;
  });
}

Part& part_of(Mat jacobian) {
  void* pointer = nullptr;
  DIFFSIM_PETSC(MatShellGetContext(jacobian, &pointer));
  return *static_cast<Part*>(pointer);
}

/// Multiplies the Jacobian by a number until the next call of `move_jacobian`. TAO changes the sign of the
/// inequalities' Jacobian after each evaluation.
PetscErrorCode scale(Mat jacobian, PetscScalar factor) {
  part_of(jacobian).jacobian_factor *= factor;
  return 0;
}

PetscErrorCode multiply(Mat jacobian, Vec v, Vec product) {
  Part& part = part_of(jacobian);
  return guarded(part.context.tao, [&] {
    part.context.move_to(part.u);
    const std::vector<double> direction = values_of(v);
    std::vector<double> sums(part.rows.size(), 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::vector<double> gradient = part.context.rows.gradient(part.rows[i]);
      for (std::size_t j = 0; j < gradient.size(); ++j)
        sums[i] += part.jacobian_factor * part.factor(i) * gradient[j] * direction[j];
    }
    const MPI_Comm comm = part.context.tao.problem.comm();
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm));
    if (rank_of(comm) != 0) sums.clear();
    set_values(product, sums);
  });
}

PetscErrorCode multiply_transposed(Mat jacobian, Vec weights, Vec product) {
  Part& part = part_of(jacobian);
  return guarded(part.context.tao, [&] {
    part.context.move_to(part.u);
    const MPI_Comm comm = part.context.tao.problem.comm();
    std::vector<double> w = values_of(weights);
    w.resize(part.rows.size());
    DIFFSIM_MPI(MPI_Bcast(w.data(), static_cast<int>(w.size()), MPI_DOUBLE, 0, comm));
    std::vector<double> sum(part.u.size(), 0.0);
    for (std::size_t i = 0; i < w.size(); ++i)
      part.context.rows.add_gradient(part.rows[i], part.jacobian_factor * part.factor(i) * w[i], sum);
    set_values(product, sum);
  });
}

/// Creates the Jacobian and the vector of values. The first rank has all rows.
void prepare(Part& part, MPI_Comm comm) {
  const auto rows = static_cast<PetscInt>(rank_of(comm) == 0 ? part.rows.size() : 0);
  const auto columns = static_cast<PetscInt>(part.context.tao.problem.size());
  part.values = make_vec(comm, std::vector<double>(static_cast<std::size_t>(rows), 0.0));
  DIFFSIM_PETSC(MatCreateShell(comm, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, &part, part.jacobian.out()));
  DIFFSIM_PETSC(MatShellSetManageScalingShifts(part.jacobian));
  DIFFSIM_PETSC(MatShellSetOperation(part.jacobian, MATOP_SCALE, reinterpret_cast<void (*)(void)>(scale)));
  DIFFSIM_PETSC(MatShellSetOperation(part.jacobian, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply)));
  DIFFSIM_PETSC(
      MatShellSetOperation(part.jacobian, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)(void)>(multiply_transposed)));
}

/// Sets all scales from the gradients at the start.
void set_scales(AlmmContext& context, const std::vector<double>& start) {
  const MPI_Comm comm = context.tao.problem.comm();
  context.move_to(start);
  const auto scale = [&](const std::vector<double>& gradient) {
    const double norm = norm_of(gradient, comm);
    return norm > 0.0 ? 1.0 / norm : 1.0;
  };
  context.loss_scale = scale(context.tao.g);
  context.first_norm = norm_of(context.tao.g, comm);
  for (const ConstraintRows::Row& row : context.rows.inequalities())
    context.inequality_scales.push_back(scale(context.rows.gradient(row)));
  for (const ConstraintRows::Row& row : context.rows.equations())
    context.equation_scales.push_back(scale(context.rows.gradient(row)));
}

/// Smallest value of a row, as TAO scales it, that the tolerance of relative violations allows.
double scaled_tolerance(const AlmmContext& context) {
  double least = 1.0;
  const auto include = [&](const std::vector<ConstraintRows::Row>& rows, const std::vector<double>& scales) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      least = std::min(least, context.constraint_tolerance * context.rows.scale(rows[i]) * scales[i]);
  };
  include(context.rows.inequalities(), context.inequality_scales);
  include(context.rows.equations(), context.equation_scales);
  return least;
}

/// Norm of the projected gradient of the Lagrangian function, as TAO scales it. TAO reports the maximum norm instead.
double lagrangian_norm(Tao tao) {
  Vec gradient = nullptr;
  PetscReal norm = 0.0;
  DIFFSIM_PETSC(TaoGetGradient(tao, &gradient, nullptr, nullptr));
  DIFFSIM_PETSC(VecNorm(gradient, NORM_2, &norm));
  return norm;
}

/// Ends the iteration if the gradient of the Lagrangian function and the constraints meet the tolerances. TAO's own
/// test has the same tolerance for both.
PetscErrorCode test_convergence(Tao tao, void* pointer) {
  auto& context = *static_cast<AlmmContext*>(pointer);
  return guarded(context.tao, [&] {
    PetscInt iteration = 0, most = 0;
    PetscReal constraints = 0.0, tolerance = 0.0;
    DIFFSIM_PETSC(TaoGetSolutionStatus(tao, &iteration, nullptr, nullptr, &constraints, nullptr, nullptr));
    const double gradient = lagrangian_norm(tao);
    DIFFSIM_PETSC(TaoGetMaximumIterations(tao, &most));
    DIFFSIM_PETSC(TaoGetTolerances(tao, &tolerance, nullptr, nullptr));
    // `constraints` also contains the products of multipliers and inactive inequalities.
    const double allowed = scaled_tolerance(context);
    TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
    if (gradient <= tolerance && constraints <= allowed && context.rows.violation() <= context.constraint_tolerance)
      reason = TAO_CONVERGED_GATOL;
    else if (iteration >= most)
      reason = TAO_DIVERGED_MAXITS;
    DIFFSIM_PETSC(TaoSetConvergedReason(tao, reason));
  });
}

PetscErrorCode monitor(Tao tao, void* pointer) {
  auto& context = *static_cast<AlmmContext*>(pointer);
  if (!context.tao.observer) return 0;
  return guarded(context.tao, [&] {
    PetscInt iteration = 0;
    DIFFSIM_PETSC(TaoGetSolutionStatus(tao, &iteration, nullptr, nullptr, nullptr, nullptr, nullptr));
    if (iteration <= context.tao.told) return;
    const double norm = iteration > 0 ? lagrangian_norm(tao) / context.loss_scale : context.first_norm;
    context.tao.told = static_cast<int>(iteration);
    Vec solution = nullptr;
    DIFFSIM_PETSC(TaoGetSolution(tao, &solution));
    const std::vector<double> u = values_of(solution);
    context.move_to(u);
    context.tao.observer(
        {static_cast<int>(iteration), context.tao.loss, norm, context.rows.violation(), context.tao.evaluations, &u});
  });
}

}  // namespace

OptimiserResult minimise_by_almm(InverseProblem& problem, const OptimiserOptions& options,
                                 const IterateObserver& observer) {
  const MPI_Comm comm = problem.comm();
  AlmmContext context{TaoContext(problem, observer), ConstraintRows(options.constraints, comm)};
  context.constraint_tolerance = options.constraint_tolerance;
  set_scales(context, start_of(problem, options));
  Part inequalities{context, context.rows.inequalities(), context.inequality_scales, -1.0};
  Part equations{context, context.rows.equations(), context.equation_scales, 1.0};
  TaoHandle tao;
  DIFFSIM_PETSC(TaoCreate(comm, tao.out()));
  DIFFSIM_PETSC(TaoSetType(tao, TAOALMM));
  DIFFSIM_PETSC(TaoALMMSetType(tao, TAO_ALMM_PHR));  // without slack variables
  const VecHandle solution = make_vec(comm, start_of(problem, options));
  const VecHandle low = make_vec(comm, problem.lower_bounds()), high = make_vec(comm, problem.upper_bounds());
  DIFFSIM_PETSC(TaoSetSolution(tao, solution));
  DIFFSIM_PETSC(TaoSetVariableBounds(tao, low, high));
  DIFFSIM_PETSC(TaoSetObjectiveAndGradient(tao, nullptr, evaluate_loss, &context));
  if (!inequalities.rows.empty()) {
    prepare(inequalities, comm);
    DIFFSIM_PETSC(TaoSetInequalityConstraintsRoutine(tao, inequalities.values, evaluate_rows, &inequalities));
    DIFFSIM_PETSC(TaoSetJacobianInequalityRoutine(tao, inequalities.jacobian, inequalities.jacobian, move_jacobian,
                                                  &inequalities));
  }
  if (!equations.rows.empty()) {
    prepare(equations, comm);
    DIFFSIM_PETSC(TaoSetEqualityConstraintsRoutine(tao, equations.values, evaluate_rows, &equations));
    DIFFSIM_PETSC(
        TaoSetJacobianEqualityRoutine(tao, equations.jacobian, equations.jacobian, move_jacobian, &equations));
  }
  DIFFSIM_PETSC(TaoSetMaximumIterations(tao, options.max_iterations));
  DIFFSIM_PETSC(TaoSetTolerances(tao, options.gradient_tolerance * context.first_norm * context.loss_scale, 0.0, 0.0));
  DIFFSIM_PETSC(TaoSetConvergenceTest(tao, test_convergence, &context));
  DIFFSIM_PETSC(TaoSetFromOptions(tao));
  // TaoSetFromOptions (PETSc 3.18) gives the monitors that exist to the solver of the subproblems, and requires that
  // the contexts of these monitors are PETSc objects. This monitor is therefore set later.
  DIFFSIM_PETSC(TaoSetMonitor(tao, monitor, &context, nullptr));
  const PetscErrorCode code = TaoSolve(tao);
  if (context.tao.error) std::rethrow_exception(context.tao.error);
  DIFFSIM_PETSC(code);

  OptimiserResult result;
  PetscInt iterations = 0;
  TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
  DIFFSIM_PETSC(TaoGetSolutionStatus(tao, &iterations, nullptr, nullptr, nullptr, nullptr, &reason));
  result.u = values_of(solution);
  context.move_to(result.u);
  result.loss = context.tao.loss;
  result.gradient_norm = lagrangian_norm(tao) / context.loss_scale;
  result.violation = context.rows.violation();
  result.constraints = context.rows.values();
  result.iterations = static_cast<int>(iterations);
  result.evaluations = context.tao.evaluations;
  result.converged = reason > 0;
  result.reason = TaoConvergedReasons[reason];
  return result;
}

}  // namespace diffsim::inverse
