// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/field_pool.hpp"
#include "core/petsc_handle.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "dynamics/linear/earlier_factors.hpp"
#include "dynamics/linear/fast_paths.hpp"
#include "dynamics/linear/matrix_share.hpp"
#include "dynamics/linear/preconditioner_policy.hpp"
#include "dynamics/linear/projected_matrix.hpp"
#include "dynamics/linear/solve_policy.hpp"

namespace diffsim::dynamics {

/// Outcome of a linear solve.
struct LinearReport {
  bool converged = false;
  /// True if the solve found that the matrix has negative eigenvalues or that the preconditioner is indefinite. The
  /// members `indefinite` and `converged` may both be true.
  bool indefinite = false;
  int iterations = 0;
  double residual = 0.0;  ///< norm of the residual, relative to the norm of the right-hand side
  /// Reason why the solve ended: name of the KSPConvergedReason, or a text if a factorisation failed.
  std::string reason;
};

/// Linear systems J x = b with the Jacobian J of an implicit step, distributed over all ranks and solved by PETSc. The
/// unknowns of a linear system are three vector components for each owned vertex. Fixed components are eliminated: the
/// rows and columns of fixed components contain the diagonal only.
///
/// All methods are collective.
class LinearSystem {
 public:
  /// Function that computes y = J x at owned vertices, with the Jacobian J, for an x that is zero in fixed components.
  /// x and y are [local vertices, 3]; ghost values of x are not up to date.
  using Product = std::function<void(const Field& x, Field& y)>;

  LinearSystem(const TetrahedralMesh& mesh, const LinearOptions& options);
  ~LinearSystem();

  /// Begins a rollout: sets the fixed components and discards the preconditioner that `set_reference` has set up for
  /// the previous rollout. `fixed`: device address of the masks of fixed components of the owned vertices
  /// (System::fixed). Collective.
  void set_fixed(const std::uint8_t* fixed);
  /// Sets the constraints on the unknowns of the linear systems. The constraints must be the same in all rollouts.
  /// `set_constraints` must be called before the first call of `set_matrix` or `set_reference`.
  void set_constraints(const body::ConstraintSet& constraints);
  /// Sets the tangent space and the multipliers λ of the constraints. After a call of `set_tangent_space`, `set_matrix`
  /// computes the matrix A of `ProjectedMatrix` from the Jacobian J, and systems with the matrix A instead of J are
  /// solved. If `multipliers` is nullptr, the multipliers λ are zero. Right-hand sides must be in the tangent space of
  /// the constraints. Requires `set_constraints`.
  void set_tangent_space(const body::TangentSpace& space, const body::Multipliers* multipliers);
  /// Sets the Jacobian J to the sum of the contributions `shares` of all ranks. Modifies the contributions `shares`:
  /// the rows and columns of fixed components are zeroed, except for the diagonal. `product`: nullptr, or a function
  /// that computes J x for Krylov methods; if `product` is not nullptr, the Jacobian J must be symmetric.
  void set_matrix(const std::vector<MatrixShare*>& shares, bool symmetric, Product product = nullptr);
  /// Returns true if `set_reference` has not been called in this rollout and the system has more than
  /// `LinearOptions::direct_below` unknowns.
  bool wants_reference() const;
  /// Sets up the reference preconditioner, which the linear systems of a rollout share, from the sum of the
  /// contributions `shares` of all ranks. The sum of the contributions should be positive definite and close to the
  /// matrices of the rollout, and must depend on the parameters only. `set_reference` replaces the matrix that the last
  /// call of `set_matrix` has set. Returns false if the Krylov method does not converge with the reference
  /// preconditioner. If PETSc's options choose a preconditioner with a cheap set-up, `set_reference` sets up no
  /// preconditioner and returns true. The reference preconditioner is discarded if a later matrix has another sparsity
  /// pattern or another symmetry.
  bool set_reference(const std::vector<MatrixShare*>& shares, bool symmetric);
  /// Begins a time step, whose result must not depend on preconditioners, factors or failed solves of earlier time
  /// steps. If matrices are factored, later matrices of the step use the factors of an earlier matrix of the step as
  /// preconditioner as long as a few iterations of a Krylov method suffice (EarlierFactors). Otherwise, if
  /// `set_reference` has set up a preconditioner for the rollout, the matrices of the step share this preconditioner
  /// until a solve fails, or until iterations above the expected number have cost as much as the set-up of a new
  /// preconditioner (PreconditionerPolicy). Afterwards, or if the rollout has no preconditioner of `set_reference`, a
  /// new preconditioner is computed from the next matrix of the step. The new preconditioner is also used for later
  /// matrices of the step, until a solve fails or needs more than about twice as many iterations per decimal digit of
  /// the residual as the first solve with this preconditioner.
  void renew_preconditioner();
  /// Begins the computation of the derivatives of a step. A preconditioner changes derivatives only within the
  /// tolerance of the solver. The present preconditioner therefore remains in use, even if it was computed in another
  /// time step for another sparsity pattern, until a solve fails, or until iterations above the expected number have
  /// cost as much as a new set-up. `keep_preconditioner` acts as `renew_preconditioner` if the rollout has a
  /// preconditioner of `set_reference`, if matrices are factored, if the present preconditioner has a cheap set-up or
  /// does not exist, or if a new preconditioner is due. If matrices are factored, the matrix of the derivatives is
  /// factored in any case, so that derivatives do not depend on the order in which steps are recomputed.
  void keep_preconditioner();
  /// Solves J x = b, or Jᵀ x = b if `transposed`, until ‖b - J x‖ ≤ `tolerance` ‖b‖. `x` and `b`: [owned or local
  /// vertices, 3], zero in fixed components. The initial guess is zero, regardless of the values of x on entry.
  /// `definite`: true if the Jacobian J was projected to a positive definite matrix.
  ///
  /// If a solve of a system with contact fails because of the preconditioner (SolvePolicy) for the first time in a time
  /// step, the solve is repeated with a preconditioner that is computed from the present matrix. The diagonal blocks of
  /// the smoother of the finest multigrid level are then recomputed for every later matrix of the time step, because
  /// contact barriers may stiffen further. If a later solve of the time step fails because of the preconditioner,
  /// `definite` is true and J has at most 300 000 unknowns, the system of the failed solve and all later systems of the
  /// time step are solved by factorisation.
  LinearReport solve(const Field& b, Field& x, double tolerance, bool transposed = false, bool definite = false);
  /// Solves J x = b, or Jᵀ x = b if `transposed`, by factorisation, regardless of the number of unknowns. Use
  /// `solve_by_factors` for systems that conjugate gradients cannot solve.
  LinearReport solve_by_factors(const Field& b, Field& x, double tolerance, bool transposed = false);
  /// Matrix of the present linear system; nullptr before the first call of `set_matrix` or `set_reference`.
  Mat matrix() const { return matrix_; }
  /// Operator that Krylov methods apply: the matrix, a copy of the matrix in another format, or a PETSc shell matrix
  /// that calls a function of the type `Product`.
  Mat product() const { return operator_ ? operator_ : matrix_; }
  /// Number of time steps that switched from a Krylov method to factorisation.
  long changes_to_factors() const { return solve_policy_.changes_to_factors(); }
  /// Returns true if the preconditioner of the matrices is a factorisation: PETSc's options choose a factorisation, or
  /// they choose no preconditioner and the system has at most `LinearOptions::direct_below` unknowns. `solve` then
  /// factors the matrix, or uses the factors of an earlier matrix of the time step as preconditioner (EarlierFactors).
  bool factors();

 private:
  struct Solver {
    PetscHandle<KSP, KSPDestroy> ksp;
    bool configured = false;
    bool direct = false;
    bool without_pivoting = false;                   // PETSc's own L D Lᵀ or L U
    const char* prefix = nullptr;                    // prefix of PETSc's options
    bool inertia_known = false, indefinite = false;  // both for the present matrix
    EarlierFactors earlier;                          // solves without factors of the present matrix
  };
  /// Restores the solvers at the beginning of a time step, if failures in an earlier time step have changed the
  /// solvers.
  void begin_solvers();
  /// Creates a matrix with the sparsity pattern of the contributions `shares`: `unprojected_` if there are constraints,
  /// otherwise `matrix_`.
  void make_matrix(const std::vector<MatrixShare*>& shares);
  /// Completes the newly created matrix `matrix_`: sets the block size of this rank's part of the matrix and the near
  /// null space and, if the matrix accepts values in device memory, creates vectors of a matching type.
  void adopt_matrix();
  void configure(Solver& solver, bool direct, const char* prefix);
  /// Chooses the factorisation, by MUMPS if PETSc has MUMPS. Every rank factors a copy of a matrix with at most 1000
  /// unknowns; the ranks factor a larger matrix together. If PETSc has MUMPS, AIJ matrices with at most 600 unknowns
  /// are factored by PETSc without pivoting, until a factorisation without pivoting fails to solve one of the systems
  /// of the time step. If PETSc's options choose the solver, matrices are neither copied to every rank nor factored
  /// without pivoting.
  void factor(Solver& solver);
  /// Sets up the solver for a right-hand side with the norm `norm`.
  void set_up(Solver& solver, double norm);
  void fill(const std::vector<MatrixShare*>& shares, bool symmetric);
  /// Returns the device address of the values of all contributions `shares`, stored one after the other.
  const double* join(const std::vector<MatrixShare*>& shares);
  /// Solves the linear system with a preconditioner that was computed for another matrix, in at most
  /// `policy_.most(tolerance)` iterations, and reports the number of iterations to `policy_`.
  LinearReport solve_by_another(Solver& solver, const Field& b, Field& x, double tolerance, bool transposed);
  /// Solves the linear system with the factors of an earlier matrix as preconditioner (EarlierFactors). The member
  /// `converged` of the report is false if the present matrix must be factored.
  LinearReport solve_by_earlier_factors(const Field& b, Field& x, double tolerance, bool transposed);
  /// Returns true if `residual`, the norm of b - J x, is at most `tolerance` times `norm`, the norm of b, or differs
  /// from zero by rounding errors only.
  bool is_small(double residual, double norm, double tolerance, Vec x) const;
  /// Solves the linear system by the factorisation or the Krylov method of the configured solver. Repeats the solve
  /// with a new preconditioner only after a failure with a preconditioner that was computed for another matrix.
  LinearReport solve_as_chosen(const Field& b, Field& x, double tolerance, bool transposed);
  /// Converts `report`, the result of `solve_as_chosen`, to a SolvePolicy::Outcome.
  SolvePolicy::Outcome outcome_of(const LinearReport& report, bool definite) const;
  LinearReport solve_by_main(const Field& b, Field& x, double tolerance, bool transposed);
  LinearReport solve_with(Solver& solver, const Field& b, Field& x, double tolerance, bool transposed);
  /// Solves the linear system with the right-hand side `b_` by the Krylov method and stores the solution in `x_`.
  /// `norm`: norm of `b_`.
  LinearReport iterate(Solver& solver, double norm, double tolerance, bool transposed);
  /// Solves the linear system with the right-hand side `b_` by factorisation and iterative refinement, and stores the
  /// solution in `x_`.
  LinearReport refine(Solver& solver, double tolerance, bool transposed);
  /// Computes the residual `r_` = `b_` - J x, or `b_` - Jᵀ x if `transposed`.
  void find_residual(Vec x, bool transposed);
  void find_inertia(Solver& solver);
  /// Returns the number of components of all ranks that are not fixed.
  std::int64_t num_unknowns() const;
  void make_operator(Product product);
  static PetscErrorCode apply_product(Mat shell, Vec x, Vec y);

  const TetrahedralMesh* mesh_;
  LinearOptions options_;
  std::unique_ptr<FastPaths> fast_paths_;
  int count_;  // 3 × owned vertices
  std::shared_ptr<FieldPool> scratch_ = FieldPool::make();
  Field fixed_;                          // [owned vertices, 3], 1 where fixed
  std::int64_t unknowns_ = -1;           // number of components of all ranks that are not fixed; -1 before `set_fixed`
  std::vector<std::uint64_t> patterns_;  // identifiers (BlockMatrix::pattern) of the sparsity patterns of the shares
  Field joined_;                         // values of several shares, one after the other: [blocks, 9]
  bool symmetric_ = true;
  PetscHandle<Mat, MatDestroy> matrix_;
  std::unique_ptr<ProjectedMatrix> projected_;  // nullptr without constraints
  PetscHandle<Mat, MatDestroy> unprojected_;    // J, if there are constraints
  std::string block_type_;                      // baij or sbaij, if products use that format
  PetscHandle<Mat, MatDestroy> operator_;       // operator of Krylov methods, if other than `matrix_`
  Product product_;
  PetscHandle<Vec, VecDestroy> diagonal_;  // diagonal of matrix_ in fixed components; zero elsewhere
  using VecHandle = PetscHandle<Vec, VecDestroy>;

  void make_rigid_motions();

  VecHandle b_, x_, r_, d_;
  PetscHandle<MatNullSpace, MatNullSpaceDestroy> rigid_motions_;
  Solver main_, fallback_, reference_;
  PreconditionerPolicy policy_;
  SolvePolicy solve_policy_;
  bool reference_tried_ = false;
  bool needs_pivoting_ = false;  // true after factors without pivoting failed in the present step
};

}  // namespace diffsim::dynamics
