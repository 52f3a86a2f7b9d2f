// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/linear_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "dynamics/linear/vec_copy.hpp"

namespace diffsim::dynamics {
namespace {

/// Replaces each value y by 1 - y.
void flip(Field& field) {
  double* const y = field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::flip", Range(0, static_cast<int>(field.size())), KOKKOS_LAMBDA(int i) { y[i] = 1.0 - y[i]; });
  Kokkos::fence();
}

/// Returns the preconditioner that factors the matrix: `pc`, or for PCREDUNDANT the preconditioner of each rank's copy
/// of the matrix.
PC factoring(PC pc) {
  PetscBool is = PETSC_FALSE;
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCREDUNDANT, &is));
  if (!is) return pc;
  KSP of_copy = nullptr;
  DIFFSIM_PETSC(PCRedundantGetKSP(pc, &of_copy));
  PC inner = nullptr;
  DIFFSIM_PETSC(KSPGetPC(of_copy, &inner));
  return inner;
}

bool is_factorisation(PC pc) {
  PetscBool is = PETSC_FALSE;
  DIFFSIM_PETSC(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(factoring(pc)), &is, PCLU, PCCHOLESKY, ""));
  return is == PETSC_TRUE;
}

/// Returns true if PETSc's options contain `name`. `prefix`: prefix of the option, or nullptr.
bool has_option(const char* prefix, const char* name) {
  PetscBool is = PETSC_FALSE;
  DIFFSIM_PETSC(PetscOptionsHasName(nullptr, prefix, name, &is));
  return is == PETSC_TRUE;
}

/// Returns the number of negative eigenvalues of the factored matrix, which equals the number of negative pivots of
/// L D Lᵀ (Sylvester's law of inertia).
PetscInt count_negative(PC pc) {
  Mat factor = nullptr;
  MatSolverType package = nullptr;
  PetscInt negative = 0;
  DIFFSIM_PETSC(PCFactorGetMatrix(pc, &factor));
  DIFFSIM_PETSC(PCFactorGetMatSolverType(pc, &package));
  if (!package || std::string(package) != MATSOLVERPETSC)
    return MatGetInertia(factor, &negative, nullptr, nullptr) == 0 ? negative : 0;
  PetscHandle<Vec, VecDestroy> pivots;
  const double* values = nullptr;
  PetscInt size = 0;
  DIFFSIM_PETSC(MatCreateVecs(factor, pivots.out(), nullptr));
  DIFFSIM_PETSC(MatGetDiagonal(factor, pivots));
  DIFFSIM_PETSC(VecGetLocalSize(pivots, &size));
  DIFFSIM_PETSC(VecGetArrayRead(pivots, &values));
  negative = static_cast<PetscInt>(std::count_if(values, values + size, [](double d) { return d < 0.0; }));
  DIFFSIM_PETSC(VecRestoreArrayRead(pivots, &values));
  return negative;
}

/// Returns true if the set-up of the preconditioner takes as much time as many iterations of the Krylov method.
bool is_expensive(KSP ksp) {
  PC pc = nullptr;
  PetscBool is = PETSC_FALSE;
  DIFFSIM_PETSC(KSPGetPC(ksp, &pc));
  DIFFSIM_PETSC(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &is, PCGAMG, PCHYPRE, PCML, ""));
  return is == PETSC_TRUE;
}
constexpr PetscInt most_unsmoothed = 300000;  // largest number of unknowns for aggregation without smoothing

/// Replaces point Jacobi in the smoother of the finest level by the inverses of the vertices' 3×3 diagonal blocks,
/// unless PETSc's options choose the smoother. On a nearly incompressible body, the blocks reduce the number of
/// iterations by a fifth. Coarser levels keep point Jacobi: aggregates of one or two vertices have fewer than six rigid
/// motions, which leaves zeros on the diagonal. Point Jacobi skips these zeros; inverses of blocks and SOR do not.
void smooth_by_blocks(PC pc, FastPaths& fast_paths) {
  PetscBool is_gamg = PETSC_FALSE, is_jacobi = PETSC_FALSE, is_chebyshev = PETSC_FALSE;
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCGAMG, &is_gamg));
  if (!is_gamg || has_option(nullptr, "-mg_levels_pc_type")) return;
  PetscInt levels = 0, block = 1;
  DIFFSIM_PETSC(PCMGGetLevels(pc, &levels));
  if (levels < 2) return;
  KSP smoother = nullptr;
  PC smoother_pc = nullptr;
  Mat matrix = nullptr;
  DIFFSIM_PETSC(PCMGGetSmoother(pc, levels - 1, &smoother));
  DIFFSIM_PETSC(KSPGetPC(smoother, &smoother_pc));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(smoother_pc), PCJACOBI, &is_jacobi));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(smoother), KSPCHEBYSHEV, &is_chebyshev));
  DIFFSIM_PETSC(KSPGetOperators(smoother, nullptr, &matrix));
  DIFFSIM_PETSC(MatGetBlockSize(matrix, &block));
  if (!is_jacobi || !is_chebyshev || block != 3) return;
  DIFFSIM_PETSC(PCSetType(smoother_pc, PCPBJACOBI));
  // Requests a new estimate of the eigenvalue bounds, because the present bounds apply to point Jacobi.
  DIFFSIM_PETSC(KSPChebyshevEstEigSet(smoother, 0.0, 0.1, 0.0, 1.1));
  fast_paths.use_products(matrix);
  DIFFSIM_PETSC(KSPSetOperators(smoother, matrix, matrix));
  DIFFSIM_PETSC(KSPSetUp(smoother));
}

std::string name_of(KSPConvergedReason reason) { return std::string("KSP_") + KSPConvergedReasons[reason]; }

double norm_of(Vec vec) {
  PetscReal norm = 0.0;
  DIFFSIM_PETSC(VecNorm(vec, NORM_2, &norm));
  return norm;
}

}  // namespace

LinearSystem::LinearSystem(const TetrahedralMesh& mesh, const LinearOptions& options)
    : mesh_(&mesh),
      options_(options),
      fast_paths_(options.fast_paths ? make_host_fast_paths() : make_no_fast_paths()),
      count_(3 * mesh.num_owned_vertices()),
      fixed_("fixed", static_cast<std::size_t>(mesh.num_owned_vertices()), 3) {
  DIFFSIM_PETSC(VecCreateMPI(mesh.comm(), count_, PETSC_DETERMINE, b_.out()));
  DIFFSIM_PETSC(VecSetBlockSize(b_, 3));
  for (auto* vec : {&x_, &r_, &d_}) DIFFSIM_PETSC(VecDuplicate(b_, vec->out()));

  Field rest("rest", mesh.vertex_entities(), 3);
  rest.from_host(mesh.rest_positions());
  put(rest, x_);
  if (mesh.num_global_directors() == 0)
    DIFFSIM_PETSC(MatNullSpaceCreateRigidBody(x_, rigid_motions_.out()));
  else
    make_rigid_motions();
}

/// Computes the rigid motions of a mesh with directors, which rotate but do not translate.
void LinearSystem::make_rigid_motions() {
  const std::vector<double>& X = mesh_->rest_positions();
  const auto owned = static_cast<std::size_t>(mesh_->num_owned_vertices());
  std::array<VecHandle, 6> motions;
  for (std::size_t k = 0; k < 6; ++k) {
    DIFFSIM_PETSC(VecDuplicate(b_, motions[k].out()));
    double* values = nullptr;
    DIFFSIM_PETSC(VecGetArrayWrite(motions[k], &values));
    std::fill(values, values + 3 * owned, 0.0);
    const std::size_t a = (k + 1) % 3, b = (k + 2) % 3;
    for (std::size_t v = 0; v < owned; ++v) {
      if (k < 3) values[3 * v + k] = mesh_->is_director()[v] != 0 ? 0.0 : 1.0;
      if (k >= 3) values[3 * v + a] = -X[3 * v + b];
      if (k >= 3) values[3 * v + b] = X[3 * v + a];
    }
    DIFFSIM_PETSC(VecRestoreArrayWrite(motions[k], &values));
  }
  // Orthonormal basis by two passes of Gram-Schmidt. Motions without displacements, and motions that depend linearly on
  // previous motions, are omitted.
  std::vector<Vec> basis;
  for (VecHandle& motion : motions) {
    PetscReal before = 0.0, after = 0.0;
    DIFFSIM_PETSC(VecNorm(motion, NORM_2, &before));
    for (int pass = 0; pass < 2; ++pass)
      for (const Vec other : basis) {
        PetscScalar part = 0.0;
        DIFFSIM_PETSC(VecDot(motion, other, &part));
        DIFFSIM_PETSC(VecAXPY(motion, -part, other));
      }
    DIFFSIM_PETSC(VecNorm(motion, NORM_2, &after));
    if (!(after > 1e-10 * before)) continue;
    DIFFSIM_PETSC(VecScale(motion, 1.0 / after));
    basis.push_back(motion);
  }
  DIFFSIM_PETSC(MatNullSpaceCreate(mesh_->comm(), PETSC_FALSE, static_cast<PetscInt>(basis.size()), basis.data(),
                                   rigid_motions_.out()));
}

LinearSystem::~LinearSystem() = default;
void LinearSystem::set_matrix(const std::vector<MatrixShare*>& shares, bool symmetric, Product product) {
  const ProfilingRegion region("diffsim::dynamics::set_matrix");
  fill(shares, symmetric);
  make_operator(std::move(product));
  for (Solver* solver : {&reference_, &main_}) {
    if (!solver->configured || solver->direct) continue;
    Mat of = nullptr;
    PC pc = nullptr;
    DIFFSIM_PETSC(KSPGetOperators(solver->ksp, nullptr, &of));
    DIFFSIM_PETSC(KSPGetPC(solver->ksp, &pc));
    if (of == matrix_) fast_paths_->update_finest_level(pc, matrix_, solve_policy_.is_careful());
  }
  if (reference_.configured) {
    DIFFSIM_PETSC(KSPSetOperators(reference_.ksp, matrix_, matrix_));
    DIFFSIM_PETSC(KSPSetReusePreconditioner(reference_.ksp, PETSC_TRUE));
  }
  for (Solver* solver : {&main_, &fallback_}) {
    solver->inertia_known = false;
    solver->earlier.begin_matrix();
    if (!solver->configured) continue;
    const bool reuse = solver == &main_ && !solver->direct && !policy_.renews();
    Mat of = nullptr;  // matrix from which the preconditioner was computed, perhaps with another sparsity pattern
    DIFFSIM_PETSC(KSPGetOperators(solver->ksp, nullptr, &of));
    if (of != matrix_ && !reuse) {
      *solver = {};
      continue;
    }
    DIFFSIM_PETSC(KSPSetOperators(solver->ksp, matrix_, of));
    DIFFSIM_PETSC(KSPSetReusePreconditioner(solver->ksp, reuse ? PETSC_TRUE : PETSC_FALSE));
  }
}

void LinearSystem::configure(Solver& solver, bool direct, const char* prefix) {
  if (solver.configured) return;
  solver.prefix = prefix;
  DIFFSIM_PETSC(KSPCreate(mesh_->comm(), solver.ksp.out()));
  DIFFSIM_PETSC(KSPSetOptionsPrefix(solver.ksp, prefix));
  DIFFSIM_PETSC(KSPSetOperators(solver.ksp, matrix_, matrix_));
  PC pc = nullptr;
  DIFFSIM_PETSC(KSPGetPC(solver.ksp, &pc));
  const auto iterate = [&] {
    DIFFSIM_PETSC(KSPSetType(solver.ksp, symmetric_ ? KSPCG : KSPGMRES));
    if (symmetric_) DIFFSIM_PETSC(KSPSetNormType(solver.ksp, KSP_NORM_UNPRECONDITIONED));
  };
  if (direct) {
    factor(solver);
  } else {
    iterate();
    DIFFSIM_PETSC(PCSetType(pc, PCGAMG));
    // If contact varies the sparsity pattern, preconditioners are set up many times per time step. Smoothing the
    // interpolation would take half of the set-up time, so the interpolation is not smoothed.
    PetscInt size = 0;
    DIFFSIM_PETSC(VecGetSize(b_, &size));
    if (patterns_.size() > 1 && size <= most_unsmoothed) DIFFSIM_PETSC(PCGAMGSetNSmooths(pc, 0));
  }
  DIFFSIM_PETSC(KSPSetFromOptions(solver.ksp));
  DIFFSIM_PETSC(KSPGetPC(solver.ksp, &pc));
  solver.direct = is_factorisation(pc);
  // PETSc's options may have chosen a preconditioner that does not factor the matrix. Such a preconditioner needs the
  // iterations of a Krylov method.
  if (direct && !solver.direct && !has_option(prefix, "-ksp_type")) {
    iterate();
    DIFFSIM_PETSC(KSPSetFromOptions(solver.ksp));
  }
#if defined(PETSC_HAVE_MUMPS)
  if (solver.direct) {
    MatSolverType package = nullptr;
    pc = factoring(pc);
    DIFFSIM_PETSC(PCFactorGetMatSolverType(pc, &package));
    if (package && std::string(package) == MATSOLVERMUMPS) {
      DIFFSIM_PETSC(PCFactorSetUpMatSolverType(pc));
      Mat factor = nullptr;
      DIFFSIM_PETSC(PCFactorGetMatrix(pc, &factor));
      DIFFSIM_PETSC(MatMumpsSetIcntl(factor, 13, 1));  // no parallel root node, so that MUMPS counts negative pivots
      // Workspace in addition to the estimate for a rank, in per cent. The default of 20 may be too small.
      DIFFSIM_PETSC(MatMumpsSetIcntl(factor, 14, 100));
    }
  }
#endif
  solver.configured = true;
}

void LinearSystem::factor(Solver& solver) {
  PetscInt size = 0;
  PetscMPIInt ranks = 1;
  PetscBool is_aij = PETSC_FALSE;
  PC pc = nullptr;
  DIFFSIM_PETSC(VecGetSize(b_, &size));
  MPI_Comm_size(mesh_->comm(), &ranks);
  DIFFSIM_PETSC(KSPSetType(solver.ksp, KSPPREONLY));
  DIFFSIM_PETSC(KSPGetPC(solver.ksp, &pc));
  const auto is_given = [&](const char* name) { return has_option(solver.prefix, name); };
  const bool by_options = is_given("-pc_type") || is_given("-ksp_type") || is_given("-pc_factor_mat_solver_type");
  DIFFSIM_PETSC(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(static_cast<Mat>(matrix_)), &is_aij, MATSEQAIJ,
                                          MATMPIAIJ, ""));
  const FactorChoice choice = choose_factors(size, ranks, by_options, is_aij == PETSC_TRUE, needs_pivoting_);
  if (choice.copies) {
    KSP of_copy = nullptr;
    DIFFSIM_PETSC(PCSetType(pc, PCREDUNDANT));
    DIFFSIM_PETSC(PCRedundantGetKSP(pc, &of_copy));
    DIFFSIM_PETSC(KSPSetOptionsPrefix(of_copy, solver.prefix));  // applies options of factorisations to the copies
    DIFFSIM_PETSC(KSPSetType(of_copy, KSPPREONLY));
    DIFFSIM_PETSC(PCSetType(factoring(pc), PCNONE));
    DIFFSIM_PETSC(PCSetUp(pc));  // creates the copies, for which MUMPS options are set later
  }
  pc = factoring(pc);
  DIFFSIM_PETSC(PCSetType(pc, symmetric_ ? PCCHOLESKY : PCLU));
#if defined(PETSC_HAVE_MUMPS)
  // For a small matrix, the overhead of MUMPS exceeds the time of the factorisation.
  solver.without_pivoting = choice.without_pivoting;
  DIFFSIM_PETSC(PCFactorSetMatSolverType(pc, solver.without_pivoting ? MATSOLVERPETSC : MATSOLVERMUMPS));
#endif
}

std::int64_t LinearSystem::num_unknowns() const {
  if (unknowns_ >= 0) return unknowns_;
  PetscInt size = 0;
  DIFFSIM_PETSC(VecGetSize(b_, &size));
  return size;
}

bool LinearSystem::wants_reference() const { return !reference_tried_ && num_unknowns() > options_.direct_below; }

bool LinearSystem::set_reference(const std::vector<MatrixShare*>& shares, bool symmetric) {
  const ProfilingRegion region("diffsim::dynamics::set_reference");
  fill(shares, symmetric);
  make_operator(nullptr);
  reference_tried_ = true;
  configure(reference_, false, nullptr);
  if (!is_expensive(reference_.ksp)) {
    reference_ = {};
    return true;
  }
  DIFFSIM_PETSC(KSPSetOperators(reference_.ksp, matrix_, matrix_));
  DIFFSIM_PETSC(KSPSetReusePreconditioner(reference_.ksp, PETSC_FALSE));
  // Solves a system with a unit force on all free components, to measure the convergence for the matrix from which the
  // preconditioner was computed.
  Field b = fixed_.clone(), x = fixed_.like("x");
  flip(b);
  const LinearReport report = solve_with(reference_, b, x, 1e-3, false);
  policy_.set_reference_iterations(report.iterations);
  if (!report.converged) reference_ = {};
  renew_preconditioner();
  return report.converged;
}

void LinearSystem::renew_preconditioner() {
  policy_.begin_step(reference_.configured);
  begin_solvers();
}

void LinearSystem::begin_solvers() {
  solve_policy_.begin_step();
  for (Solver* solver : {&main_, &fallback_}) solver->earlier.discard();
  if (needs_pivoting_) {
    needs_pivoting_ = false;
    main_ = {};
    fallback_ = {};
  }
}

void LinearSystem::keep_preconditioner() {
  policy_.begin_derivatives(reference_.configured, main_.configured && !main_.direct && is_expensive(main_.ksp));
  if (!policy_.keeps()) begin_solvers();
}

LinearReport LinearSystem::solve_by_another(Solver& solver, const Field& b, Field& x, double tolerance,
                                            bool transposed) {
  PetscInt all = 0;
  DIFFSIM_PETSC(KSPGetTolerances(solver.ksp, nullptr, nullptr, nullptr, &all));
  const PetscInt most = std::min(all, static_cast<PetscInt>(policy_.most(tolerance)));
  DIFFSIM_PETSC(KSPSetTolerances(solver.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most));
  const LinearReport report = solve_with(solver, b, x, tolerance, transposed);
  DIFFSIM_PETSC(KSPSetTolerances(solver.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, all));
  policy_.record_shared(report.converged, report.iterations, tolerance);
  return report;
}

bool LinearSystem::factors() {
  configure(main_, num_unknowns() <= options_.direct_below, nullptr);
  return main_.direct;
}

LinearReport LinearSystem::solve(const Field& b, Field& x, double tolerance, bool transposed, bool definite) {
  while (!solve_policy_.factors()) {
    LinearReport report = solve_as_chosen(b, x, tolerance, transposed);
    PetscInt size = 0;
    DIFFSIM_PETSC(VecGetSize(b_, &size));
    const SolvePolicy::Next next = solve_policy_.record(outcome_of(report, definite), size);
    if (next == SolvePolicy::Next::accept) return report;
    if (next == SolvePolicy::Next::factor) break;
    policy_.renew();
    main_ = {};
  }
  return solve_by_factors(b, x, tolerance, transposed);
}

SolvePolicy::Outcome LinearSystem::outcome_of(const LinearReport& report, bool definite) const {
  SolvePolicy::Outcome outcome;
  outcome.converged = report.converged;
  outcome.indefinite_preconditioner = report.reason == name_of(KSP_DIVERGED_INDEFINITE_PC);
  outcome.indefinite_matrix = report.reason == name_of(KSP_DIVERGED_INDEFINITE_MAT);
  outcome.definite = definite;
  outcome.may_be_outdated =
      !report.converged && !main_.direct && symmetric_ && patterns_.size() > 1 && is_expensive(main_.ksp);
  return outcome;
}

LinearReport LinearSystem::solve_as_chosen(const Field& b, Field& x, double tolerance, bool transposed) {
  const auto is_final = [](const LinearReport& report) {
    return report.converged || report.reason == name_of(KSP_DIVERGED_INDEFINITE_MAT);
  };
  const bool direct = factors();
  if (policy_.on_reference()) {
    const LinearReport report = solve_by_another(reference_, b, x, tolerance, transposed);
    if (is_final(report)) return report;
  } else if (direct && main_.earlier.may_serve() && !has_option(main_.prefix, "-ksp_type")) {
    const LinearReport report = solve_by_earlier_factors(b, x, tolerance, transposed);
    if (report.converged) return report;
  } else if (!direct && policy_.keeps()) {
    const LinearReport report = solve_by_another(main_, b, x, tolerance, transposed);
    if (is_final(report)) return report;
    main_ = {};
    factors();
  }
  return solve_by_main(b, x, tolerance, transposed);
}

LinearReport LinearSystem::solve_by_earlier_factors(const Field& b, Field& x, double tolerance, bool transposed) {
  // Conjugate gradients and GMRES measure residuals by recurrences, so the residual is computed at the end, and the
  // Krylov method continues to a smaller residual than required.
  constexpr double reserve = 0.5;
  put(b, b_);
  const double norm = norm_of(b_);
  LinearReport report;
  if (norm == 0.0) return report;
  PC pc = nullptr;
  DIFFSIM_PETSC(KSPGetPC(main_.ksp, &pc));
  const EarlierFactors::Outcome outcome =
      main_.earlier.solve(pc, product(), matrix_, b_, x_, reserve * tolerance, symmetric_, transposed);
  report.iterations = outcome.iterations;
  if (!outcome.converged) return report;
  find_residual(x_, transposed);
  const double residual = norm_of(r_);
  report.residual = residual / norm;
  report.converged = is_small(residual, norm, tolerance, x_);
  if (report.converged) get(x_, x);
  return report;
}

LinearReport LinearSystem::solve_by_main(const Field& b, Field& x, double tolerance, bool transposed) {
  const LinearReport report = solve_with(main_, b, x, tolerance, transposed);
  if (main_.direct || !report.converged || report.iterations == 0) {
    // A solve that fails because the matrix is indefinite does not request a new preconditioner. If the preconditioner
    // was computed from this matrix, the policy renews the preconditioner in any case.
    if (!report.converged && report.reason != name_of(KSP_DIVERGED_INDEFINITE_MAT)) policy_.renew();
    return report;
  }
  policy_.record_main(report.iterations, tolerance);
  return report;
}

LinearReport LinearSystem::solve_by_factors(const Field& b, Field& x, double tolerance, bool transposed) {
  configure(fallback_, true, "direct_");
  return solve_with(fallback_, b, x, tolerance, transposed);
}

LinearReport LinearSystem::solve_with(Solver& solver, const Field& b, Field& x, double tolerance, bool transposed) {
  const ProfilingRegion region("diffsim::dynamics::linear_solve");
  put(b, b_);
  const double norm = norm_of(b_);
  if (norm == 0.0) {
    x.fill(0.0);
    return {true, false, 0, 0.0, "KSP_CONVERGED_ATOL"};
  }
  DIFFSIM_PETSC(KSPSetTolerances(solver.ksp, tolerance, 1e-300, 1e10, PETSC_DEFAULT));
  KSPType type = nullptr;
  DIFFSIM_PETSC(KSPGetType(solver.ksp, &type));
  LinearReport report;
  if (std::string(type) == KSPPREONLY) {
    report = refine(solver, tolerance, transposed);
    if (!report.converged && solver.without_pivoting) {
      needs_pivoting_ = true;
      const char* const prefix = solver.prefix;
      solver = {};
      configure(solver, true, prefix);
      DIFFSIM_PETSC(KSPSetTolerances(solver.ksp, tolerance, 1e-300, 1e10, PETSC_DEFAULT));
      report = refine(solver, tolerance, transposed);
    }
  } else {
    set_up(solver, norm);
    report = iterate(solver, norm, tolerance, transposed);
  }
  get(x_, x);
  return report;
}

LinearReport LinearSystem::iterate(Solver& solver, double norm, double tolerance, bool transposed) {
  Mat of_preconditioner = nullptr;
  DIFFSIM_PETSC(KSPGetOperators(solver.ksp, nullptr, &of_preconditioner));
  const auto run = [&](Mat product) {
    DIFFSIM_PETSC(KSPSetOperators(solver.ksp, product, of_preconditioner));
    DIFFSIM_PETSC(transposed && !symmetric_ ? KSPSolveTranspose(solver.ksp, b_, x_) : KSPSolve(solver.ksp, b_, x_));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    PetscReal residual = 0.0;
    DIFFSIM_PETSC(KSPGetConvergedReason(solver.ksp, &reason));
    DIFFSIM_PETSC(KSPGetIterationNumber(solver.ksp, &iterations));
    DIFFSIM_PETSC(KSPGetResidualNorm(solver.ksp, &residual));
    return LinearReport{reason > 0, reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC,
                        static_cast<int>(iterations), residual / norm, name_of(reason)};
  };
  PC pc = nullptr;
  PetscBool conjugate = PETSC_FALSE;
  DIFFSIM_PETSC(KSPGetPC(solver.ksp, &pc));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(static_cast<KSP>(solver.ksp)), KSPCG, &conjugate));
  const bool may_do =
      may_use_single_products(tolerance, conjugate == PETSC_TRUE, of_preconditioner == matrix_, operator_ != nullptr);
  const Mat single = may_do ? fast_paths_->single_precision_operator(pc) : nullptr;
  if (!single) return run(product());
  // Products in single precision suffice for a loose tolerance, if the residual in double precision confirms the
  // result. A failure may be due to rounding, so the solve is repeated in double precision.
  LinearReport first = run(single);
  if (first.converged) {
    DIFFSIM_PETSC(MatMult(matrix_, x_, r_));
    DIFFSIM_PETSC(VecAYPX(r_, -1.0, b_));
    first.residual = norm_of(r_) / norm;
    if (first.residual <= tolerance) return first;
    DIFFSIM_PETSC(KSPSetInitialGuessNonzero(solver.ksp, PETSC_TRUE));
  }
  LinearReport second = run(matrix_);
  DIFFSIM_PETSC(KSPSetInitialGuessNonzero(solver.ksp, PETSC_FALSE));
  second.iterations += first.iterations;
  return second;
}

void LinearSystem::set_up(Solver& solver, double norm) {
  DIFFSIM_PETSC(KSPSetUp(solver.ksp));
  PC pc = nullptr;
  DIFFSIM_PETSC(KSPGetPC(solver.ksp, &pc));
  if (symmetric_ && fast_paths_->use_smoothers(pc, solve_policy_.least_bound(), norm)) return;
  smooth_by_blocks(pc, *fast_paths_);
  fast_paths_->use_products(pc);
}

LinearReport LinearSystem::refine(Solver& solver, double tolerance, bool transposed) {
  // Iterative refinement x ← x + P⁻¹ (b - J x), until the residual meets the tolerance or does not halve.
  constexpr int most = 6;
  const double norm = norm_of(b_);
  LinearReport report;
  solver.earlier.discard();
  DIFFSIM_PETSC(VecSet(x_, 0.0));
  DIFFSIM_PETSC(VecCopy(b_, r_));
  double residual = norm;
  for (int k = 0; k < most; ++k) {
    DIFFSIM_PETSC(transposed && !symmetric_ ? KSPSolveTranspose(solver.ksp, r_, d_) : KSPSolve(solver.ksp, r_, d_));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    DIFFSIM_PETSC(KSPGetConvergedReason(solver.ksp, &reason));
    report.reason = name_of(reason);
    if (reason < 0) return report;
    ++report.iterations;
    DIFFSIM_PETSC(VecAXPY(x_, 1.0, d_));
    find_residual(x_, transposed);
    const double previous = residual;
    residual = norm_of(r_);
    if (!(residual > tolerance * norm) || residual > 0.5 * previous) break;
  }
  find_inertia(solver);
  report.indefinite = solver.indefinite;
  report.residual = residual / norm;
  report.converged = is_small(residual, norm, tolerance, x_);
  if (!report.converged)
    report.reason = "the factorisation leaves a relative residual of " + std::to_string(report.residual) +
                    "; the matrix is singular";
  solver.earlier.record_factors(report.converged && !(symmetric_ && report.indefinite));
  return report;
}

void LinearSystem::find_residual(Vec x, bool transposed) {
  DIFFSIM_PETSC(transposed && !symmetric_ ? MatMultTranspose(product(), x, r_) : MatMult(product(), x, r_));
  DIFFSIM_PETSC(VecAYPX(r_, -1.0, b_));
}

bool LinearSystem::is_small(double residual, double norm, double tolerance, Vec x) const {
  if (residual <= tolerance * norm) return true;
  // Rounding alone leaves a residual of about ε ‖J‖ ‖x‖, which may exceed the requested tolerance. A singular J leaves
  // a much larger residual.
  PetscReal size = 0.0;
  DIFFSIM_PETSC(MatNorm(matrix_, NORM_INFINITY, &size));
  return residual <= std::min(1e-14 * size * norm_of(x), 1e-6 * norm);
}

void LinearSystem::find_inertia(Solver& solver) {
  if (solver.inertia_known || !symmetric_) return;
  solver.inertia_known = true;
  solver.indefinite = false;
  PC pc = nullptr;
  PetscBool cholesky = PETSC_FALSE;
  DIFFSIM_PETSC(KSPGetPC(solver.ksp, &pc));
  pc = factoring(pc);
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCCHOLESKY, &cholesky));
  if (cholesky) solver.indefinite = count_negative(pc) > 0;
}

}  // namespace diffsim::dynamics
