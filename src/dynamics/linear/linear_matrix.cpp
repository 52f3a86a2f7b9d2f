// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Matrix of a LinearSystem, and operators that replace the matrix in products.

#include <string>
#include <string_view>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/linear/linear_system.hpp"
#include "dynamics/linear/vec_copy.hpp"

namespace diffsim::dynamics {
namespace {

/// Sets fixed[3 v + c] to bit c of bits[v].
void spread_bits(const std::uint8_t* bits, int count, Field& fixed) {
  double* const y = fixed.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::spread_bits", Range(0, count),
      KOKKOS_LAMBDA(int i) { y[i] = (bits[i / 3] >> (i % 3)) & 1 ? 1.0 : 0.0; });
  Kokkos::fence();
}

/// Zeroes the fixed components.
void keep(Field& field, const Field& fixed_field) {
  double* const y = field.data();
  const double* const fixed = fixed_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::keep_unfixed", Range(0, static_cast<int>(fixed_field.size())),
      KOKKOS_LAMBDA(int i) { y[i] *= 1.0 - fixed[i]; });
  Kokkos::fence();
}

/// Returns the diagonal value of an eliminated component in a vertex's 3×3 block: |K_cc| if not zero, otherwise
/// max_i |K_ii| of the block if not zero, otherwise 1.
DIFFSIM_FUNCTION double kept_on_diagonal(const double* block, int component) {
  const auto size = [&](int c) { return block[4 * c] < 0.0 ? -block[4 * c] : block[4 * c]; };
  if (size(component) > 0.0) return size(component);
  double largest = 0.0;
  for (int c = 0; c < 3; ++c) largest = size(c) > largest ? size(c) : largest;
  return largest > 0.0 ? largest : 1.0;
}

/// Zeroes the rows and columns of fixed components except for the diagonal, which becomes |K_cc|. In the first
/// MatrixShare of a matrix (`is_first`), the diagonal becomes the value of `kept_on_diagonal`, so that the diagonal of
/// the sum is not zero.
void eliminate(const BlockMatrix::Data& data, const Field& fixed_field, bool is_first) {
  const DeviceArray<double> values = data.values;
  const DeviceArray<int> row_begin = data.row_begin, columns = data.columns;
  const double* const fixed = fixed_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::eliminate", Range(0, static_cast<int>(row_begin.size()) - 1), KOKKOS_LAMBDA(int row) {
        for (int k = row_begin(row); k < row_begin(row + 1); ++k)
          for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) {
              if (fixed[3 * row + r] == 0.0 && fixed[3 * columns(k) + c] == 0.0) continue;
              double* const block = &values(9 * static_cast<std::ptrdiff_t>(k));
              double& value = block[3 * r + c];
              if (columns(k) != row || r != c)
                value = 0.0;
              else
                value = is_first ? kept_on_diagonal(block, r) : (value < 0.0 ? -value : value);
            }
      });
  Kokkos::fence();
}

/// Returns true if a matrix has a type that accepts values in device memory.
bool takes_device_values(Mat matrix) {
  MatType type = nullptr;
  DIFFSIM_PETSC(MatGetType(matrix, &type));
  const std::string_view name = type;
  return name.ends_with("aijkokkos") || name.ends_with("aijcusparse") || name.ends_with("aijhipsparse");
}

/// Returns baij or sbaij if -mat_type requests one of these types, otherwise an empty string. Throws Error (input) for
/// a type that implicit steps cannot use.
std::string block_type_of_options() {
  char text[64] = {};
  PetscBool given = PETSC_FALSE;
  DIFFSIM_PETSC(PetscOptionsGetString(nullptr, nullptr, "-mat_type", text, sizeof(text), &given));
  const std::string type = text;
  if (!given) return {};
  if (type.ends_with("sbaij")) return MATSBAIJ;
  if (type.ends_with("baij")) return MATBAIJ;
  if (type.find("aij") != std::string::npos) return {};
  throw Error(
      "petsc: mat_type: implicit steps cannot use '" + type + "'; use aij, one of its device types, baij or sbaij",
      ErrorKind::input);
}

}  // namespace

void LinearSystem::set_fixed(const std::uint8_t* fixed) {
  spread_bits(fixed, count_, fixed_);
  const double* const marks = fixed_.data();
  std::int64_t free = 0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::count_free", Range(0, static_cast<int>(fixed_.size())),
      KOKKOS_LAMBDA(int i, std::int64_t& sum) { sum += marks[i] == 0.0; }, free);
  unknowns_ = sum_over_ranks(free, mesh_->comm());
  reference_tried_ = false;
  policy_.begin_rollout();
  reference_ = {};
}

void LinearSystem::set_constraints(const body::ConstraintSet& constraints) {
  if (!projected_) projected_ = std::make_unique<ProjectedMatrix>(constraints, count_);
}

void LinearSystem::set_tangent_space(const body::TangentSpace& space, const body::Multipliers* multipliers) {
  projected_->set(space, multipliers);
}

void LinearSystem::make_matrix(const std::vector<MatrixShare*>& shares) {
  const ProfilingRegion region("diffsim::dynamics::make_matrix");
  const MPI_Comm comm = mesh_->comm();
  auto& made = projected_ ? unprojected_ : matrix_;
  DIFFSIM_PETSC(MatCreate(comm, made.out()));
  DIFFSIM_PETSC(MatSetSizes(made, count_, count_, PETSC_DETERMINE, PETSC_DETERMINE));
  DIFFSIM_PETSC(MatSetBlockSize(made, 3));
  DIFFSIM_PETSC(MatSetType(made, MATAIJ));
  // PETSc 3.18 fills, multiplies and coarsens matrices in block formats only by conversion to AIJ, or not at all.
  // Matrices in block formats are therefore copies, which are used for products only.
  block_type_ = block_type_of_options();
  operator_ = {};
  if (block_type_.empty()) DIFFSIM_PETSC(MatSetFromOptions(made));
  std::size_t entries = 0, entry = 0;
  for (const MatrixShare* share : shares) entries += 9 * static_cast<std::size_t>(share->blocks().num_blocks());
  std::vector<PetscInt> rows(entries), columns(entries);
  patterns_.clear();
  for (const MatrixShare* share : shares) {
    const BlockMatrix& blocks = share->blocks();
    const std::vector<PetscInt>& numbers = share->numbers();
    for (std::size_t v = 0; v < numbers.size(); ++v)
      for (int k = blocks.row_begin()[v]; k < blocks.row_begin()[v + 1]; ++k) {
        const PetscInt column = numbers[static_cast<std::size_t>(blocks.columns()[static_cast<std::size_t>(k)])];
        for (PetscInt i = 0; i < 9; ++i, ++entry) {
          rows[entry] = 3 * numbers[v] + i / 3;
          columns[entry] = 3 * column + i % 3;
        }
      }
    patterns_.push_back(blocks.pattern());
  }
  DIFFSIM_PETSC(MatSetPreallocationCOO(made, static_cast<PetscCount>(entries), rows.data(), columns.data()));
  if (!projected_) adopt_matrix();
}

void LinearSystem::adopt_matrix() {
  // PETSc 3.18 does not set the block size of the rank's sequential part; PCPBJACOBI would then use the block size 1.
  PetscBool parallel = PETSC_FALSE;
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(static_cast<Mat>(matrix_)), MATMPIAIJ, &parallel));
  if (parallel) {
    Mat own = nullptr;
    DIFFSIM_PETSC(MatMPIAIJGetSeqAIJ(matrix_, &own, nullptr, nullptr));
    DIFFSIM_PETSC(MatSetBlockSize(own, 3));
  }
  DIFFSIM_PETSC(MatSetNearNullSpace(matrix_, rigid_motions_));
  if (takes_device_values(matrix_))
    for (auto* vec : {&b_, &x_, &r_, &d_, &diagonal_}) DIFFSIM_PETSC(MatCreateVecs(matrix_, vec->out(), nullptr));
}

const double* LinearSystem::join(const std::vector<MatrixShare*>& shares) {
  if (shares.size() == 1) return shares[0]->blocks().values();
  std::size_t blocks = 0, first = 0;
  for (const MatrixShare* share : shares) blocks += static_cast<std::size_t>(share->blocks().num_blocks());
  if (joined_.extent() != blocks) joined_ = Field("matrix_values", blocks, 9);
  for (const MatrixShare* share : shares) {
    const std::size_t size = 9 * static_cast<std::size_t>(share->blocks().num_blocks());
    Kokkos::deep_copy(DeviceSpan<double>(joined_.data() + first, size),
                      DeviceSpan<const double>(share->blocks().values(), size));
    first += size;
  }
  return joined_.data();
}

void LinearSystem::fill(const std::vector<MatrixShare*>& shares, bool symmetric) {
  std::vector<std::uint64_t> patterns;
  for (MatrixShare* share : shares) {
    eliminate(share->blocks().data(), share->complete(fixed_), share == shares.front());
    patterns.push_back(share->blocks().pattern());
  }
  const bool other_pattern = !matrix_ || patterns_ != patterns, other_kind = symmetric != symmetric_;
  if (other_pattern) make_matrix(shares);
  symmetric_ = symmetric;
  if (other_pattern || other_kind) {
    fallback_ = {};
    reference_ = {};
    policy_.leave_reference();
    if (other_kind || !policy_.keeps()) {
      main_ = {};
      policy_.renew();
    }
  }
  const double* const values = join(shares);
  Mat J = projected_ ? unprojected_ : matrix_;
  if (kernels_on_host || takes_device_values(J)) {
    DIFFSIM_PETSC(MatSetValuesCOO(J, values, INSERT_VALUES));
  } else {
    const std::vector<double> host = shares.size() == 1 ? shares[0]->blocks().to_host() : joined_.to_host();
    DIFFSIM_PETSC(MatSetValuesCOO(J, host.data(), INSERT_VALUES));
  }
  if (projected_) {
    projected_->compute(J, !other_pattern, matrix_);
    if (other_pattern) adopt_matrix();
  }
  fast_paths_->use_products(matrix_);
  DIFFSIM_PETSC(MatSetOption(matrix_, MAT_SYMMETRIC, symmetric ? PETSC_TRUE : PETSC_FALSE));
}

void LinearSystem::make_operator(Product product) {
  product_ = std::move(product);
  if (product_) {
    if (!diagonal_) DIFFSIM_PETSC(VecDuplicate(b_, diagonal_.out()));
    DIFFSIM_PETSC(MatGetDiagonal(matrix_, d_));
    put(fixed_, r_);
    DIFFSIM_PETSC(VecPointwiseMult(diagonal_, d_, r_));
    DIFFSIM_PETSC(
        MatCreateShell(mesh_->comm(), count_, count_, PETSC_DETERMINE, PETSC_DETERMINE, this, operator_.out()));
    VecType kind = nullptr;
    DIFFSIM_PETSC(MatGetVecType(matrix_, &kind));
    DIFFSIM_PETSC(MatShellSetVecType(operator_, kind));
    DIFFSIM_PETSC(MatShellSetOperation(operator_, MATOP_MULT, reinterpret_cast<void (*)()>(apply_product)));
    DIFFSIM_PETSC(MatSetOption(operator_, MAT_SYMMETRIC, PETSC_TRUE));
    return;
  }
  operator_ = {};
  if (block_type_.empty()) return;
  if (block_type_ == MATSBAIJ && !symmetric_)
    throw Error(
        "petsc: mat_type: sbaij stores half of a symmetric matrix, but terms such as friction or viscosity make this "
        "matrix unsymmetric; use baij or aij",
        ErrorKind::input);
  DIFFSIM_PETSC(MatConvert(matrix_, block_type_.c_str(), MAT_INITIAL_MATRIX, operator_.out()));
}

PetscErrorCode LinearSystem::apply_product(Mat shell, Vec x, Vec y) {
  LinearSystem* system = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, static_cast<void*>(&system)));
  try {
    Field source = system->scratch_->take("x", system->mesh_->vertex_entities(), 3), target = source.like("y");
    get(x, source);
    keep(source, system->fixed_);
    system->product_(source, target);
    keep(target, system->fixed_);
    put(target, y);
  } catch (const std::exception& error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", error.what());
  }
  Vec share = nullptr;
  PetscCall(VecDuplicate(y, &share));
  PetscCall(VecPointwiseMult(share, system->diagonal_, x));
  PetscCall(VecAXPY(y, 1.0, share));
  PetscCall(VecDestroy(&share));
  PetscFunctionReturn(0);
}

}  // namespace diffsim::dynamics
