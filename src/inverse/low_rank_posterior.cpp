// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#ifdef DIFFSIM_USES_SLEPC
#include <slepceps.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "inverse/check_tools.hpp"
#include "inverse/normal_numbers.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim {

using namespace inverse;

namespace {

void add(double factor, const std::vector<double>& x, std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
}

#ifdef DIFFSIM_USES_SLEPC

/// Linear operator on the unknowns, as a matrix and as a preconditioner of PETSc.
class Operator {
 public:
  using Function = std::function<std::vector<double>(const std::vector<double>& v)>;
  Operator(MPI_Comm comm, std::size_t size, Function function) : function_(std::move(function)) {
    const auto count = static_cast<PetscInt>(size);
    DIFFSIM_PETSC(MatCreateShell(comm, count, count, PETSC_DETERMINE, PETSC_DETERMINE, this, matrix_.out()));
    DIFFSIM_PETSC(MatShellSetOperation(matrix_, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply)));
    DIFFSIM_PETSC(MatShellSetOperation(matrix_, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)(void)>(multiply)));
    DIFFSIM_PETSC(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  Mat matrix() const { return matrix_; }
  /// Makes this operator the preconditioner `pc`.
  void precondition(PC pc) {
    DIFFSIM_PETSC(PCSetType(pc, PCSHELL));
    DIFFSIM_PETSC(PCShellSetContext(pc, this));
    DIFFSIM_PETSC(PCShellSetApply(pc, apply));
  }
  /// Rethrows the exception that a callback has caught, if any. Exceptions cannot propagate through PETSc's C code.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  PetscErrorCode evaluate(Vec v, Vec product) {
    try {
      set_values(product, function_(values_of(v)));
    } catch (...) {
      error_ = std::current_exception();
      return PETSC_ERR_USER;
    }
    return 0;
  }
  static PetscErrorCode multiply(Mat matrix, Vec v, Vec product) {
    void* pointer = nullptr;
    if (const PetscErrorCode code = MatShellGetContext(matrix, &pointer)) return code;
    return static_cast<Operator*>(pointer)->evaluate(v, product);
  }
  static PetscErrorCode apply(PC pc, Vec v, Vec product) {
    void* pointer = nullptr;
    if (const PetscErrorCode code = PCShellGetContext(pc, &pointer)) return code;
    return static_cast<Operator*>(pointer)->evaluate(v, product);
  }

  Function function_;
  PetscHandle<Mat, MatDestroy> matrix_;
  std::exception_ptr error_;
};

/// Error of an eigenvalue λ relative to 1 + |λ|, for SLEPc. `residual`: norm of the residual.
PetscErrorCode relative_error(EPS /*solver*/, PetscScalar lambda, PetscScalar /*imaginary*/, PetscReal residual,
                              PetscReal* error, void* /*context*/) {
  *error = residual / (1.0 + std::abs(lambda));
  return 0;
}

/// Calls `solve`, a function of SLEPc. If `solve` fails because an operator has thrown an exception, rethrows this
/// exception instead of the error of PETSc.
template <class Solve>
void run(const Solve& solve, const std::initializer_list<const Operator*>& operators) {
  try {
    solve();
  } catch (const Error&) {
    for (const Operator* const one : operators) one->rethrow();
    throw;
  }
}

/// Initialises SLEPc, unless SLEPc has been initialised already. SLEPc is finalised by PetscFinalize.
void initialise_slepc() {
  PetscBool is_initialised = PETSC_FALSE;
  DIFFSIM_PETSC(SlepcInitialized(&is_initialised));
  if (is_initialised) return;
  DIFFSIM_PETSC(SlepcInitializeNoArguments());
  DIFFSIM_PETSC(PetscRegisterFinalize(SlepcFinalize));
}

using EpsHandle = PetscHandle<EPS, EPSDestroy>;

/// Creates the eigenvalue solver for H v = λ C⁻¹ v, with the matrices `hessian` and `precision` and the product
/// `covariance` with C.
EpsHandle make_solver(MPI_Comm comm, const Operator& hessian, const Operator& precision, Operator& covariance, int rank,
                      double tolerance) {
  initialise_slepc();
  EpsHandle solver;
  DIFFSIM_PETSC(EPSCreate(comm, solver.out()));
  DIFFSIM_PETSC(EPSSetOptionsPrefix(solver, "posterior_"));
  DIFFSIM_PETSC(EPSSetOperators(solver, hessian.matrix(), precision.matrix()));
  DIFFSIM_PETSC(EPSSetProblemType(solver, EPS_GHEP));
  DIFFSIM_PETSC(EPSSetType(solver, EPSKRYLOVSCHUR));
  DIFFSIM_PETSC(EPSSetWhichEigenpairs(solver, EPS_LARGEST_REAL));
  DIFFSIM_PETSC(EPSSetDimensions(solver, rank, PETSC_DEFAULT, PETSC_DEFAULT));
  DIFFSIM_PETSC(EPSSetTolerances(solver, tolerance, PETSC_DEFAULT));
  DIFFSIM_PETSC(EPSSetConvergenceTestFunction(solver, relative_error, nullptr, nullptr));
  ST transformation = nullptr;
  KSP linear = nullptr;
  PC preconditioner = nullptr;
  DIFFSIM_PETSC(EPSGetST(solver, &transformation));
  DIFFSIM_PETSC(STGetKSP(transformation, &linear));
  DIFFSIM_PETSC(KSPSetType(linear, KSPPREONLY));
  DIFFSIM_PETSC(KSPGetPC(linear, &preconditioner));
  covariance.precondition(preconditioner);
  DIFFSIM_PETSC(EPSSetFromOptions(solver));
  return solver;
}

#endif

}  // namespace

#ifdef DIFFSIM_USES_SLEPC

bool LowRankPosterior::is_available() { return true; }

LowRankPosterior::LowRankPosterior(InverseProblem& problem, const std::vector<double>& u, int rank, double tolerance)
    : problem_(problem) {
  if (rank < 1)
    throw Error("the rank of a posterior is " + std::to_string(rank) + "; give at least 1", ErrorKind::input);
  if (!problem.has_prior_covariance())
    throw Error(
        "a posterior of low rank needs exactly one prior for each unknown, with a covariance matrix: a normal or a "
        "Matérn prior",
        ErrorKind::input);
  const MPI_Comm comm = problem.comm();
  const auto size = sum_over_ranks(static_cast<std::int64_t>(problem.size()), comm);
  const int number = static_cast<int>(std::min<std::int64_t>(rank, size));
  const auto precision_product = [&](const std::vector<double>& v) { return problem.prior_product(u, v); };
  Operator hessian(comm, problem.size(), [&](const std::vector<double>& v) {
    std::vector<double> product = problem.hessian_product(u, v);
    add(-1.0, precision_product(v), product);
    return product;
  });
  Operator precision(comm, problem.size(), precision_product);
  Operator covariance(comm, problem.size(),
                      [&](const std::vector<double>& b) { return problem.prior_covariance_product(b); });
  const EpsHandle solver = make_solver(comm, hessian, precision, covariance, number, tolerance);
  // The first vector is a sample of the prior, the same for every number of ranks.
  const VecHandle start =
      make_vec(comm, problem.prior_covariance_factor_product(normal_numbers(value_numbers(problem), 0)));
  Vec first = start;
  DIFFSIM_PETSC(EPSSetInitialSpace(solver, 1, &first));
  run([&] { DIFFSIM_PETSC(EPSSolve(solver)); }, {&hessian, &precision, &covariance});
  PetscInt converged = 0;
  DIFFSIM_PETSC(EPSGetConverged(solver, &converged));
  if (converged < number)
    throw Error("of the " + std::to_string(number) + " largest eigenvalues of the posterior, " +
                    std::to_string(converged) +
                    " converged; give a smaller rank, a larger tolerance, or more iterations (posterior_eps_max_it)",
                ErrorKind::run);
  const VecHandle vector = make_vec(comm, u);
  for (PetscInt i = 0; i < number; ++i) {
    PetscScalar lambda = 0.0;
    DIFFSIM_PETSC(EPSGetEigenpair(solver, i, &lambda, nullptr, vector, nullptr));
    std::vector<double> v = values_of(vector), r = precision_product(v);
    const double scale = 1.0 / std::sqrt(inner_product(v, r, comm));
    for (double& entry : v) entry *= scale;
    for (double& entry : r) entry *= scale;
    if (!(lambda > -1.0))
      throw Error(
          "the loss has a direction without positive curvature, so the result is not a minimum and has no covariance",
          ErrorKind::run);
    eigenvalues_.push_back(lambda);
    vectors_.push_back(std::move(v));
    precisions_.push_back(std::move(r));
  }
}

#else

bool LowRankPosterior::is_available() { return false; }

LowRankPosterior::LowRankPosterior(InverseProblem& problem, const std::vector<double>& /*u*/, int /*rank*/,
                                   double /*tolerance*/)
    : problem_(problem) {
  throw Error("a posterior of low rank needs the library SLEPc, without which this diffsim was built",
              ErrorKind::input);
}

#endif

std::vector<double> LowRankPosterior::covariance_product(const std::vector<double>& b) const {
  std::vector<double> product = problem_.prior_covariance_product(b);
  for (std::size_t i = 0; i < eigenvalues_.size(); ++i) {
    const double lambda = eigenvalues_[i];
    add(-lambda / (1.0 + lambda) * inner_product(vectors_[i], b, problem_.comm()), vectors_[i], product);
  }
  return product;
}

std::vector<double> LowRankPosterior::covariance_factor_product(const std::vector<double>& z) const {
  // With C_prior = G Gᵀ, F = (1 - Σ_i (1 - 1/√(1 + λ_i)) v_i v_iᵀ C_prior⁻¹) G.
  const std::vector<double> of_prior = problem_.prior_covariance_factor_product(z);
  std::vector<double> product = of_prior;
  for (std::size_t i = 0; i < eigenvalues_.size(); ++i)
    add((1.0 / std::sqrt(1.0 + eigenvalues_[i]) - 1.0) * inner_product(precisions_[i], of_prior, problem_.comm()),
        vectors_[i], product);
  return product;
}

std::vector<double> LowRankPosterior::deviation(int samples, unsigned seed) const {
  if (samples < 1)
    throw Error("the number of samples of a posterior is " + std::to_string(samples) + "; give at least 1",
                ErrorKind::input);
  const std::vector<std::uint64_t> numbers = value_numbers(problem_);
  std::vector<double> result(problem_.size(), 0.0);
  for (int sample = 0; sample < samples; ++sample) {
    const std::uint64_t key = (static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(sample);
    const std::vector<double> x = covariance_factor_product(normal_numbers(numbers, key));
    for (std::size_t i = 0; i < x.size(); ++i) result[i] += x[i] * x[i];
  }
  for (double& value : result) value = std::sqrt(value / samples);
  return result;
}

}  // namespace diffsim
