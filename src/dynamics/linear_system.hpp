// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/field_pool.hpp"
#include "diffsim/core/petsc_handle.hpp"
#include "diffsim/dynamics/implicit_options.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "dynamics/matrix_share.hpp"

namespace diffsim::dynamics {

/// How a linear solve ended.
struct LinearReport {
  bool converged = false;
  bool indefinite = false;  ///< the matrix is known to have negative eigenvalues, whether that was in the way or not
  int iterations = 0;
  double residual = 0.0;  ///< relative to the right hand side
  std::string reason;     ///< PETSc's name
};

/// The linear systems J x = b of implicit steps, over all ranks, by PETSc. Unknowns are the components of the owned
/// vertices; those that are fixed are eliminated: their rows and columns hold the diagonal only.
///
/// Every method is collective.
class LinearSystem {
 public:
  /// y = J x at owned vertices, for x that is zero where fixed; [local vertices, 3], x without copies of others'.
  using Product = std::function<void(const Field& x, Field& y)>;

  LinearSystem(const TetrahedralMesh& mesh, const LinearOptions& options);
  ~LinearSystem();

  /// A rollout begins. Bits of the owned vertices' fixed components, device address.
  void set_fixed(const std::uint8_t* fixed);
  /// J = the sum of the ranks' shares of all parts, which are changed: fixed components are eliminated from them.
  /// `product`: what Krylov methods multiply by instead, if given; symmetric then.
  void set_matrix(const std::vector<MatrixShare*>& shares, bool symmetric, Product product = nullptr);
  /// Whether `set_reference` would do any good: there is none, and setting a preconditioner up is dear.
  bool wants_reference() const;
  /// Makes a preconditioner of a matrix that should be positive definite, near those to come, that the rollout's
  /// systems share. It must depend on nothing but the parameters. The present matrix is lost. False where conjugate
  /// gradients do not converge with it.
  bool set_reference(const std::vector<MatrixShare*>& shares, bool symmetric);
  /// A step begins: what it computes shall depend on nothing that was before it. Its matrices share the reference
  /// preconditioner until the iterations which one of their own would have saved make up for setting that up, or
  /// without a reference at once. Then the next matrix gets one of its own, and those that follow share that one while
  /// it serves them well: iterations stay below twice those it took at first.
  void renew_preconditioner();
  /// Derivatives of a step follow: they depend on a preconditioner within their tolerance only, so the one at hand will
  /// do, whichever step it is of and whatever that step's pattern, until it has cost as many iterations as setting
  /// another up.
  void keep_preconditioner();
  /// Solves J x = b, or Jᵀ x = b, to a residual of `tolerance` relative to b. `x`, `b`: [owned or local vertices, 3],
  /// zero where fixed; x is overwritten from zero.
  /// `definite`: J was made positive definite, so that what says otherwise is the preconditioner's fault. Of a step
  /// where that is at fault, another is made, whose smoother follows barriers as they come up; if that fails as well,
  /// factors are taken for this and the step's further systems.
  LinearReport solve(const Field& b, Field& x, double tolerance, bool transposed = false, bool definite = false);
  /// Solves by factors, whatever the size: for systems that conjugate gradients cannot solve.
  LinearReport solve_by_factors(const Field& b, Field& x, double tolerance, bool transposed = false);
  /// The present matrix; nullptr before the first.
  Mat matrix() const { return matrix_; }
  /// Operator that Krylov methods multiply with: the matrix, a copy of it in another format, or products by themselves.
  Mat product() const { return operator_ ? operator_ : matrix_; }
  /// How many steps went over to factors.
  long changes_to_factors() const { return changes_to_factors_; }
  /// Whether `solve` works by factors.
  bool factors();

 private:
  struct Solver {
    PetscHandle<KSP, KSPDestroy> ksp;
    bool configured = false;
    bool direct = false;
    bool without_pivoting = false;                   // factored by PETSc's own L D Lᵀ or L U
    const char* prefix = nullptr;                    // of PETSc's options
    bool inertia_known = false, indefinite = false;  // of the present matrix
  };
  void make_matrix(const std::vector<MatrixShare*>& shares);
  void configure(Solver& solver, bool direct, const char* prefix);
  /// Chooses factors, by MUMPS where PETSc has it: of each rank's copy of a small matrix, else shared by the ranks. Of
  /// the smallest ones each rank makes factors without pivoting, until those fail to solve one of the step's systems.
  void factor(Solver& solver);
  /// For a right hand side of this norm.
  void set_up(Solver& solver, double norm);
  void fill(const std::vector<MatrixShare*>& shares, bool symmetric);
  /// The parts' values one after the other, device address.
  const double* join(const std::vector<MatrixShare*>& shares);
  /// With a preconditioner that fits another matrix, of which so many iterations are expected: gives up where another
  /// would have been cheaper, and notes what was wasted.
  LinearReport solve_by_another(Solver& solver, double expected, const Field& b, Field& x, double tolerance,
                                bool transposed);
  /// `solve` by factors or Krylov's method, as was chosen.
  LinearReport solve_as_chosen(const Field& b, Field& x, double tolerance, bool transposed);
  /// Whether the preconditioner is why a solve failed, barriers having come up since it was made.
  bool is_at_fault(const LinearReport& report, bool definite) const;
  LinearReport solve_by_main(const Field& b, Field& x, double tolerance, bool transposed);
  LinearReport solve_with(Solver& solver, const Field& b, Field& x, double tolerance, bool transposed);
  /// Krylov's method on b_ and x_.
  LinearReport iterate(Solver& solver, double norm, double tolerance, bool transposed);
  LinearReport refine(Solver& solver, Vec b, Vec x, double tolerance, bool transposed);
  void find_inertia(Solver& solver);
  void make_operator(Product product);
  static PetscErrorCode apply_product(Mat shell, Vec x, Vec y);

  const TetrahedralMesh* mesh_;
  LinearOptions options_;
  int count_;  // 3 owned vertices
  std::shared_ptr<FieldPool> scratch_ = FieldPool::make();
  Field fixed_;                          // [owned vertices, 3], 1 where fixed
  std::vector<std::uint64_t> patterns_;  // of the present matrix's parts
  Field joined_;                         // values of several parts, one after the other: [blocks, 9]
  bool symmetric_ = true;
  PetscHandle<Mat, MatDestroy> matrix_;
  std::string block_type_;                 // baij or sbaij, where products are to be by those
  PetscHandle<Mat, MatDestroy> operator_;  // of Krylov methods, where it is not the matrix
  Product product_;
  PetscHandle<Vec, VecDestroy> diagonal_;  // where fixed, zero elsewhere
  using VecHandle = PetscHandle<Vec, VecDestroy>;

  void make_rigid_motions();

  VecHandle b_, x_, r_, d_;
  PetscHandle<MatNullSpace, MatNullSpaceDestroy> rigid_motions_;
  Solver main_, fallback_, reference_;
  bool reference_tried_ = false;
  bool on_reference_ = false;     // whether the present step's systems share the reference
  int reference_iterations_ = 0;  // that took off three digits of the reference's own system
  double wasted_ = 0.0;           // iterations that a preconditioner of their own might have saved
  bool renew_ = true;             // the next matrix gets a preconditioner of its own
  bool careful_ = false;          // the present step's smoother follows barriers
  bool gave_up_ = false;          // the present step's systems are factored
  bool needs_pivoting_ = false;   // factors without pivoting did not solve one of the present step's systems
  long changes_to_factors_ = 0;
  bool keeps_ = false;       // derivatives are at work, with what preconditioner there was
  double first_rate_ = 0.0;  // iterations a digit, of the first solve with the present preconditioner
};

}  // namespace diffsim::dynamics
