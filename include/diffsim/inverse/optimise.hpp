// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Optimisation method.
enum class Optimiser {
  lbfgs,      ///< TAO's bounded limited-memory BFGS
  newton_cg,  ///< TAO's bounded Newton-Krylov method with trust regions, with Hessian-vector products
  adam,       ///< Kingma & Ba 2015
  mma,        ///< globally convergent method of moving asymptotes (Svanberg 2002), with inequality constraints
  almm        ///< TAO's augmented Lagrangian method, with equality and inequality constraints
};
/// Names of the optimisation methods in scene files, in the order of the enumerators of Optimiser.
inline constexpr std::array<const char*, 5> optimisers = {"lbfgs", "newton_cg", "adam", "mma", "almm"};

/// Function c(u) of the unknowns u of an InverseProblem, for a Constraint.
class ConstraintFunction {
 public:
  virtual ~ConstraintFunction() = default;
  /// Returns the function's name in messages and reports, for example "mean of youngs_modulus".
  virtual std::string name() const = 0;
  /// Returns the function's value c(u) on every rank, and sets `gradient` to this rank's part of ∂c/∂u. Collective.
  virtual double gradient(const std::vector<double>& u, std::vector<double>& gradient) = 0;
};

/// Returns the function c(u) = L(u)^(1/root), where L is the loss of `problem`. If L is the mean of |y|^p for a value y
/// of a sensor (SensorValueLoss), c(u) = L(u)^(1/p) with `root` = p has the unit of y. `problem` must have the same
/// unknowns as the problem that is optimised, and may have the same Model (`InverseProblem::with_loss`). `problem` must
/// outlive the returned ConstraintFunction. Throws Error (input) if `root` is less than 1.
std::shared_ptr<ConstraintFunction> make_loss_function(InverseProblem& problem, std::string name, double root = 1.0);
/// Returns the function c(u) = Σ_i w_i p_i / Σ_i w_i, the weighted mean of the physical values p of unknown k
/// (`InverseProblem::physical`). `weights`: w_i for the physical values p_i of this rank, for example the volumes of
/// the rank's cells. `problem` must outlive the returned ConstraintFunction. Throws Error (input) if the number of
/// weights is wrong, a weight is negative, or all weights are zero. Collective.
std::shared_ptr<ConstraintFunction> make_mean_function(const InverseProblem& problem, std::size_t k,
                                                       std::vector<double> weights);
/// Returns the function c(u) = V(u)/V₀, where V is the volume of the rest shape (parameter `rest_positions`) and V₀ is
/// the volume of `mesh` (`TetrahedralMesh::rest_positions`). `mesh` must be the mesh of the problem's Model. `problem`
/// must outlive the returned ConstraintFunction. Throws Error (input) if unknown k does not refer to the parameter
/// `rest_positions`, or if `mesh` and the Model's mesh differ in the number of vertices. Collective.
std::shared_ptr<ConstraintFunction> make_relative_volume_function(InverseProblem& problem, std::size_t k,
                                                                  std::shared_ptr<const TetrahedralMesh> mesh);
/// Returns the function c(u) = (∫ η^P dV / ∫ dV)^(1/P), the distortion of the rest shape, with P = `power` ≥ 1 and
/// integrals over the rest shape of `mesh`. η = |J|²/(3 (det J)^⅔) is the inverse mean ratio (Knupp 2001) of J =
/// ∂X/∂X₀, where X are the rest positions for the unknowns u and X₀ are the rest positions of `mesh`. η is 1 if J is a
/// rotation times a factor, otherwise larger, and tends to ∞ if a tetrahedron degenerates. If a tetrahedron is
/// inverted, `ConstraintFunction::gradient` throws Error (run). Throws Error (input) if `power` is less than 1. The
/// conditions on `problem`, `k` and `mesh`, and the corresponding Errors, are those of `make_relative_volume_function`.
/// Collective.
std::shared_ptr<ConstraintFunction> make_distortion_function(InverseProblem& problem, std::size_t k,
                                                             std::shared_ptr<const TetrahedralMesh> mesh,
                                                             double power = 16.0);

/// Constraint lower ≤ c(u) ≤ upper on a function c(u) of the unknowns; an equation if the bounds are equal.
struct Constraint {
  std::shared_ptr<ConstraintFunction> function;             ///< c
  double lower = -std::numeric_limits<double>::infinity();  ///< lower bound of the function c(u); -∞: no lower bound
  double upper = std::numeric_limits<double>::infinity();   ///< upper bound of the function c(u); ∞: no upper bound
};

/// Options of optimisation by multiple shooting (Bock & Plitt 1984), which divides a rollout into windows; the states z
/// at the starts of all windows except the first are additional unknowns. Multiple shooting minimises the augmented
/// Lagrangian of the loss and of the continuity conditions: the state at the end of a window equals the state at the
/// start of the next window. The loss of short windows is a smooth function of the unknowns also for chaotic motions,
/// for which the loss of one long rollout has many minima. The start values of z are the states of one rollout with the
/// start values of the other unknowns.
struct ShootingOptions {
  int windows = 0;  ///< number of windows, at least 2, with about equal numbers of steps; 0: no shooting
  /// Largest allowed root mean square of the jumps x - z between windows, where z is the state at the start of a
  /// window, and x is the state at the end of the window before. The root mean square of the jumps is relative to that
  /// of z - x[0] at the start of the optimisation, where x[0] is the initial state.
  double tolerance = 1e-4;
  int rounds = 10;  ///< largest number of minimisations, each of at most `OptimiserOptions::max_iterations` iterations
  /// Time T (s), about the duration of a window. Jumps of velocities are multiplied by T and jumps of accelerations by
  /// T², so that all jumps are lengths.
  double duration = 1.0;
};

/// Options of `optimise`.
struct OptimiserOptions {
  Optimiser method = Optimiser::lbfgs;  ///< method of minimisation
  int max_iterations = 50;              ///< maximum number of iterations of the optimisation method
  /// Largest allowed ratio of the final to the initial `Iterate::gradient_norm` of an optimisation.
  double gradient_tolerance = 1e-8;
  double learning_rate = 0.05;  ///< step size of Adam: about the change of each entry of u per iteration
  /// True if newton_cg uses the Gauss–Newton matrix instead of the Hessian (InverseProblem::use_gauss_newton).
  bool gauss_newton = false;
  std::vector<Constraint> constraints = {};  ///< for mma and almm
  /// Largest allowed violation of a constraint, relative to the largest magnitude of the constraint's finite bounds. If
  /// all finite bounds of a constraint are zero, the violation is relative to |c| at the start of the optimisation,
  /// where c is the function of the constraint. If c is zero at the start, the violation is absolute.
  double constraint_tolerance = 1e-6;
  /// Largest change of an unknown in an iteration of mma, divided by the difference of the unknown's bounds; a value in
  /// (0, 1].
  double move_limit = 0.5;
  /// Options of multiple shooting, which only newton_cg supports. After multiple shooting, the loss of a single rollout
  /// is minimised, starting from the result of multiple shooting.
  ShootingOptions shooting = {};
  /// This rank's part of the start values of the unknowns u; the default is `InverseProblem::start`.
  std::optional<std::vector<double>> start = {};
};

/// State of an optimisation after an iteration; iteration 0 is the start. In minimisations by multiple shooting, the
/// members `loss` and `gradient_norm` of Iterate refer to the augmented Lagrangian (ShootingOptions).
struct Iterate {
  int iteration = 0;  ///< number of iterations of the optimisation method so far
  double loss = 0.0;  ///< loss L(u), priors included
  /// Norm of the projected gradient ∂L/∂u of the loss L. For mma and almm, `gradient_norm` is the norm of ∂L/∂u without
  /// projection in iteration 0, and the norm of the projected gradient of the Lagrangian function in later iterations.
  double gradient_norm = 0.0;
  /// Largest relative violation of a constraint (OptimiserOptions::constraint_tolerance); with multiple shooting,
  /// relative root mean square of the jumps between windows (ShootingOptions::tolerance).
  double violation = 0.0;
  long evaluations = 0;                    ///< number of evaluations of loss and gradient so far
  const std::vector<double>* u = nullptr;  ///< this rank's part of the unknowns, valid only during the observer's call
};
/// Callback that receives each iterate, beginning with the start, on every rank.
using IterateObserver = std::function<void(const Iterate&)>;

/// Result of `optimise`: the last iterate.
struct OptimiserResult {
  std::vector<double> u;                 ///< this rank's part of the unknowns u
  double loss = 0.0;                     ///< loss L(u), priors included
  double gradient_norm = 0.0;            ///< as in Iterate
  double violation = 0.0;                ///< as in Iterate
  std::vector<double> constraints = {};  ///< values c(u) of the constraints' functions
  int iterations = 0;                    ///< number of iterations, without the evaluation at the start
  long evaluations = 0;                  ///< number of evaluations of loss and gradient
  long hessian_products = 0;             ///< number of Hessian-vector products of newton_cg
  bool converged = false;                ///< true if the tolerances of OptimiserOptions were met
  std::string reason;  ///< reason of termination; for TAO's methods, the name of the TaoConvergedReason
};

/// Minimises the problem's loss within the bounds of the unknowns and subject to the constraints. Returns the last
/// iterate. If the rollout fails at a trial point, the optimiser shortens the step. Throws Error if the rollout fails
/// at the start point. Collective. Throws Error (input) in the following cases:
/// - A constraint has no finite bound, or `lower` is above `upper`.
/// - There are constraints, and the method is neither mma nor almm.
/// - The method is almm, and there are no constraints.
/// - The method is mma, and a constraint is an equation, an unknown has no finite lower or upper bound, or `move_limit`
///   is not in (0, 1].
/// - Multiple shooting is used with a method other than newton_cg, fewer than 2 windows, more windows than steps,
///   experiments added by `InverseProblem::add`, or a tolerance, duration or number of rounds that is not positive.
OptimiserResult optimise(InverseProblem& problem, const OptimiserOptions& options,
                         const IterateObserver& observer = {});

}  // namespace diffsim
