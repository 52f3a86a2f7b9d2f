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
  mma,        ///< globally convergent method of moving asymptotes (Svanberg 2002), with inequalities
  almm        ///< TAO's augmented Lagrangian method, with equations and inequalities
};
/// Names of the methods in scenes, in the order of the enumeration.
inline constexpr std::array<const char*, 5> optimisers = {"lbfgs", "newton_cg", "adam", "mma", "almm"};

/// Function c(u) of the unknowns u of an InverseProblem, for a Constraint.
class ConstraintFunction {
 public:
  virtual ~ConstraintFunction() = default;
  /// Returns a name for messages and reports, for example "mean of youngs_modulus".
  virtual std::string name() const = 0;
  /// Returns c(u) on every rank, and sets `gradient` to this rank's part of ∂c/∂u. Collective.
  virtual double gradient(const std::vector<double>& u, std::vector<double>& gradient) = 0;
};

/// Returns c(u) = L(u)^(1/root), where L is the loss of `problem`, for example with a root p for the mean of |y|^p.
/// `problem` must have the same unknowns as the problem that is optimised, and may have the same Model
/// (`InverseProblem::with_loss`). `problem` must outlive the function. Throws Error (input) for a root less than 1.
std::shared_ptr<ConstraintFunction> make_loss_function(InverseProblem& problem, std::string name, double root = 1.0);
/// Returns the weighted mean c(u) = Σ_i w_i p_i / Σ_i w_i of the physical values p of unknown k. `weights`: w for the
/// values in this rank's part of u, for example the volumes of the rank's cells. `problem` must outlive the function.
/// Throws Error (input) for a wrong number of weights, a negative weight, or if all weights are zero. Collective.
std::shared_ptr<ConstraintFunction> make_mean_function(const InverseProblem& problem, std::size_t k,
                                                       std::vector<double> weights);
/// Returns the ratio of the volume of the rest shape to the volume of the mesh's rest positions. Unknown k must be one
/// of `rest_positions`, and `mesh` the mesh of its Model. `problem` must outlive the function. Throws Error (input) for
/// another parameter or mesh. Collective.
std::shared_ptr<ConstraintFunction> make_relative_volume_function(InverseProblem& problem, std::size_t k,
                                                                  std::shared_ptr<const TetrahedralMesh> mesh);
/// Returns the distortion of the rest shape, D = (∫ η^P dV / ∫ dV)^(1/P), with the inverse mean ratio η = |J|²/(3 (det
/// J)^⅔) of the derivative J of the rest positions with respect to the mesh's rest positions (Knupp 2001). η ≥ 1, and η
/// tends to infinity if a tetrahedron degenerates; η = 1 for changes of size without change of form. The integral is
/// over the mesh's rest positions, and P = `power` ≥ 1. If a tetrahedron is inverted, `gradient` throws Error (run).
/// Other conditions as for `make_relative_volume_function`. Collective.
std::shared_ptr<ConstraintFunction> make_distortion_function(InverseProblem& problem, std::size_t k,
                                                             std::shared_ptr<const TetrahedralMesh> mesh,
                                                             double power = 16.0);

/// Constraint lower ≤ c(u) ≤ upper. If `lower` equals `upper`, the constraint is the equation c(u) = upper.
struct Constraint {
  std::shared_ptr<ConstraintFunction> function;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// Multiple shooting (Bock & Plitt 1984). A rollout is divided into windows, and the states z at the starts of the
/// windows after the first are further unknowns. The method minimises the augmented Lagrangian of the loss and of the
/// continuity conditions: the state at the end of a window equals the state at the start of the next. The loss of short
/// windows is a smooth function of the unknowns also for chaotic motions, for which the loss of one long rollout has
/// many minima. The start values of z are states of a single rollout at the start values of the other unknowns.
struct ShootingOptions {
  int windows = 0;  ///< number of windows, at least 2, with about the same number of steps; 0: one rollout
  /// Largest allowed root mean square of the jumps between windows, relative to the distance between the states z at
  /// the start of the optimisation and x[0].
  double tolerance = 1e-4;
  int rounds = 10;  ///< largest number of minimisations, each with `OptimiserOptions::max_iterations`
  /// Time T (s), about the duration of a window. Jumps of velocities are multiplied by T, jumps of accelerations by T².
  double duration = 1.0;
};

struct OptimiserOptions {
  Optimiser method = Optimiser::lbfgs;
  int max_iterations = 50;
  double gradient_tolerance = 1e-8;  ///< largest allowed ratio of Iterate::gradient_norm to its value at the start
  double learning_rate = 0.05;       ///< step size of Adam
  /// True: newton_cg uses the Gauss–Newton matrix instead of the Hessian (InverseProblem::use_gauss_newton).
  bool gauss_newton = false;
  std::vector<Constraint> constraints = {};  ///< for mma and almm
  /// Largest allowed violation of a constraint, relative to the largest magnitude of the constraint's finite bounds. If
  /// this magnitude is zero, the violation is relative to |c| at the start, or absolute if c is zero at the start.
  double constraint_tolerance = 1e-6;
  /// Largest change of an unknown in an iteration of mma, relative to the range from its lower to its upper bound.
  double move_limit = 0.5;
  /// Multiple shooting, for newton_cg. At the end, the loss of one rollout is minimised from the result.
  ShootingOptions shooting = {};
  /// This rank's part of u at the start; the default is `InverseProblem::start`.
  std::optional<std::vector<double>> start = {};
};

/// State of an optimisation after an iteration; iteration 0 is the start.
struct Iterate {
  int iteration = 0;
  double loss = 0.0;
  /// Norm of the projected gradient ∂L/∂u. For mma and almm, the norm of ∂L/∂u at the start, without projection, and
  /// later the norm of the projected gradient of the Lagrangian function.
  double gradient_norm = 0.0;
  /// Largest relative violation of a constraint (OptimiserOptions::constraint_tolerance); with multiple shooting, root
  /// mean square of the jumps between windows, relative to the motion.
  double violation = 0.0;
  long evaluations = 0;  ///< number of evaluations of loss and gradient so far
  const std::vector<double>* u = nullptr;
};
using IterateObserver = std::function<void(const Iterate&)>;

struct OptimiserResult {
  std::vector<double> u;
  double loss = 0.0;
  double gradient_norm = 0.0;
  double violation = 0.0;                ///< as in Iterate
  std::vector<double> constraints = {};  ///< values of the constraints' functions at u
  int iterations = 0;
  long evaluations = 0;
  long hessian_products = 0;  ///< number of Hessian-vector products of newton_cg
  bool converged = false;
  std::string reason;  ///< why the optimisation ended; for TAO's methods, the name of the TaoConvergedReason
};

/// Minimises the problem's loss within the bounds of the unknowns and subject to the constraints. Returns the last
/// iterate. If the rollout fails at a trial point, the optimiser shortens its step. Throws Error if the rollout fails
/// at the start point. Collective. Throws Error (input) in the following cases:
/// - A constraint has no finite bound, or `lower` is above `upper`.
/// - There are constraints, and the method is neither mma nor almm.
/// - The method is almm, and there are no constraints.
/// - The method is mma, and a constraint is an equation, or an unknown has no finite lower or upper bound.
/// - Multiple shooting is used with a method other than newton_cg, with fewer than 2 windows, with more windows than
///   steps, or with added experiments.
OptimiserResult optimise(InverseProblem& problem, const OptimiserOptions& options,
                         const IterateObserver& observer = {});

}  // namespace diffsim
