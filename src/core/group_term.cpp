// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/group_term.hpp"

#include <petscsys.h>

#include <petscblaslapack.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/add_to_entries.hpp"
#include "core/to_index.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim {
namespace {

using Numbers = std::vector<double>;

/// Adds A x to `y` for each of `count` matrices A, [count, rows, columns], or Aᵀ x if `transposed`. If `is_shared` is
/// true, all matrices have the same x, or with `transposed` the same y.
void add_products(const Numbers& A, std::size_t rows, std::size_t columns, const Numbers& x, bool transposed,
                  bool is_shared, Numbers& y) {
  for (std::size_t e = 0; e * rows * columns < A.size(); ++e)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const double a = A[(e * rows + i) * columns + j];
        const std::size_t row = e * rows + i, column = is_shared ? j : e * columns + j;
        if (transposed)
          y[column] += a * x[row];
        else
          y[row] += a * x[column];
      }
}

/// Replaces a matrix A, [n, n], by its symmetric part with zeros in place of the negative eigenvalues.
void project(double* A, std::size_t size) {
  Numbers Q(size * size), values(size), work(3 * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) Q[size * i + j] = 0.5 * (A[size * i + j] + A[size * j + i]);
  const auto n = static_cast<PetscBLASInt>(size), length = static_cast<PetscBLASInt>(work.size());
  PetscBLASInt info = 0;
  LAPACKsyev_("V", "L", &n, Q.data(), &n, values.data(), work.data(), &length, &info);
  if (info != 0) throw Error("the eigenvalues of the Jacobian of a force are not finite", ErrorKind::run);
  std::fill_n(A, size * size, 0.0);
  for (std::size_t k = 0; k < size; ++k)  // row k of Q is an eigenvector
    for (std::size_t i = 0; values[k] > 0.0 && i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) A[size * i + j] += values[k] * Q[size * k + i] * Q[size * k + j];
}

}  // namespace

std::vector<std::string> GroupForce::parameters() const { return {}; }

double GroupForce::energy(const GroupValues& /*at*/) { return 0.0; }

GroupValues GroupForce::pullback_tangent(const GroupValues& /*at*/, const GroupValues& /*change*/, const Numbers& /*w*/,
                                         const Numbers& /*dw*/) {
  throw Error("the force '" + name() + "' has no second derivatives", ErrorKind::input);
}

GroupTerm::GroupTerm(std::unique_ptr<GroupForce> force, std::vector<int> vertices, int k)
    : force_(std::move(force)), vertices_(std::move(vertices)), k_(k) {}

GroupTerm::~GroupTerm() = default;

void GroupTerm::prepare(const ParameterSet& parameters) {
  for (const std::string& name : force_->parameters()) {
    const Parameter& parameter = parameters.at(name);
    if (!parameter.is_global() || parameter.steps() > 1)
      throw Error(
          "the force '" + force_->name() + "' needs one value of '" + name + "' for the whole model and all steps",
          ErrorKind::input);
  }
  parameters_ = &parameters;
}

void GroupTerm::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (!force_->has_second_derivatives()) ForceTerm::begin_adjoint_tangent(gradient, direction);
}

Numbers GroupTerm::gather(const Field& field) const {
  const Numbers all = field.to_host();
  Numbers values;
  for (const int vertex : vertices_)
    for (std::size_t c = 0; c < 3; ++c) values.push_back(all[3 * to_index(vertex) + c]);
  return values;
}

void GroupTerm::scatter(const Numbers& values, Field& field) const {
  Numbers all = field.to_host();
  for (std::size_t i = 0; i < vertices_.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) all[3 * to_index(vertices_[i]) + c] += values[3 * i + c];
  field.from_host(all);
}

std::vector<Numbers> GroupTerm::parameters_in(const ParameterSet& set) const {
  std::vector<Numbers> all;
  for (const std::string& name : force_->parameters()) {
    const Parameter* const found = set.find(name);
    all.push_back(found ? found->field.to_host() : Numbers(parameters_->at(name).field.size(), 0.0));
  }
  return all;
}

GroupValues GroupTerm::values(const Configuration& at, const ParameterSet& parameters) const {
  return {gather(at.positions), uses_velocities() && at.velocities ? gather(*at.velocities) : Numbers(),
          parameters_in(parameters)};
}

GroupValues GroupTerm::change(const ConfigurationTangent& tangent, const ParameterSet& direction) const {
  Numbers v;
  if (uses_velocities()) v = tangent.velocities ? gather(*tangent.velocities) : Numbers(3 * vertices_.size(), 0.0);
  return {gather(tangent.positions), std::move(v), parameters_in(direction)};
}

double GroupTerm::energy(const Configuration& at, const ParameterSet& parameters) {
  return has_energy() ? force_->energy(values(at, parameters)) : 0.0;
}

void GroupTerm::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  scatter(force_->force(values(at, parameters)), force);
}

void GroupTerm::add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                  const ParameterSet& direction, Field& force_tangent) {
  const GroupForce::Jacobians by = force_->jacobians(values(at, *parameters_));
  const GroupValues along = change(tangent, direction);
  const std::size_t n = 3 * to_index(k_);
  Numbers df(3 * vertices_.size(), 0.0);
  add_products(by.by_positions, n, n, along.x, false, false, df);
  if (uses_velocities()) add_products(by.by_velocities, n, n, along.v, false, false, df);
  for (std::size_t m = 0; m < along.p.size(); ++m)
    add_products(by.by_parameters.at(m), n, along.p[m].size(), along.p[m], false, true, df);
  scatter(df, force_tangent);
}

void GroupTerm::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                  ParameterSet& gradient) {
  const GroupForce::Jacobians by = force_->jacobians(values(at, *parameters_));
  const Numbers f_bar = gather(w);
  const std::size_t n = 3 * to_index(k_);
  Numbers x_bar(f_bar.size(), 0.0), v_bar(f_bar.size(), 0.0);
  add_products(by.by_positions, n, n, f_bar, true, false, x_bar);
  scatter(x_bar, adjoint.positions);
  if (uses_velocities() && adjoint.velocities) {
    add_products(by.by_velocities, n, n, f_bar, true, false, v_bar);
    scatter(v_bar, *adjoint.velocities);
  }
  const std::vector<std::string> names = force_->parameters();
  for (std::size_t m = 0; m < names.size(); ++m) {
    Parameter* const parameter = gradient.find(names[m]);
    if (!parameter) continue;
    Numbers p_bar(parameter->field.size(), 0.0);
    add_products(by.by_parameters.at(m), n, p_bar.size(), f_bar, true, true, p_bar);
    add_to_entries(parameter->field, 0, p_bar);
  }
}

void GroupTerm::add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                          const ParameterSet& direction, const Field* w, const Field* dw,
                                          const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) {
  const auto gathered = [&](const Field* field) { return field ? gather(*field) : Numbers(3 * vertices_.size(), 0.0); };
  const GroupValues changes =
      force_->pullback_tangent(values(at, *parameters_), change(tangent, direction), gathered(w), gathered(dw));
  scatter(changes.x, adjoint_tangent.positions);
  if (uses_velocities() && adjoint_tangent.velocities) scatter(changes.v, *adjoint_tangent.velocities);
  const std::vector<std::string> names = force_->parameters();
  for (std::size_t m = 0; m < names.size(); ++m)
    if (Parameter* const parameter = gradient_tangent.find(names[m]))
      add_to_entries(parameter->field, 0, changes.p.at(m));
}

void GroupTerm::add_couplings(const Configuration& /*at*/, Couplings& couplings) { couplings.add(vertices_, k_); }

void GroupTerm::add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                             BlockMatrix& matrix) {
  const GroupForce::Jacobians by = force_->jacobians(values(at, parameters));
  const std::size_t k = to_index(k_), n = 3 * k;
  Numbers sums(9 * to_index(matrix.num_blocks()), 0.0);
  Numbers A(n * n);
  for (std::size_t e = 0; e < num_groups(); ++e) {
    for (std::size_t i = 0; i < n * n; ++i) {
      A[i] = weights.position * by.by_positions[e * n * n + i];
      if (uses_velocities()) A[i] += weights.velocity * by.by_velocities[e * n * n + i];
    }
    if (weights.project) project(A.data(), n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const int block = matrix.find(vertices_[e * k + i / 3], vertices_[e * k + j / 3]);
        sums[9 * to_index(block) + 3 * (i % 3) + j % 3] += A[n * i + j];
      }
  }
  const auto added = to_device("diffsim::core::group_jacobian", sums);
  double* const to = matrix.values();
  Kokkos::parallel_for(
      "diffsim::core::add_group_jacobian", Range(0, static_cast<int>(sums.size())),
      KOKKOS_LAMBDA(int i) { to[i] += added(i); });
  Kokkos::fence();
}

void GroupTerm::add_bound(const ParameterSet& parameters, Numbers GroupForce::Jacobians::*jacobian, Field& bound) {
  const Configuration rest{parameters.at("rest_positions").field};
  GroupValues at = values(rest, parameters);
  if (uses_velocities()) at.v.assign(at.x.size(), 0.0);
  const GroupForce::Jacobians by = force_->jacobians(at);
  const Numbers& matrices = by.*jacobian;
  const std::size_t of_group = 3 * to_index(k_), entries = of_group * of_group;
  Numbers norms;
  for (std::size_t e = 0; e < num_groups() && !matrices.empty(); ++e) {
    double square = 0.0;
    for (std::size_t i = e * entries; i < (e + 1) * entries; ++i) square += matrices[i] * matrices[i];
    norms.insert(norms.end(), of_group, std::sqrt(square));
  }
  if (!norms.empty()) scatter(norms, bound);
}

void GroupTerm::add_stiffness_bound(const ParameterSet& parameters, Field& stiffness) {
  add_bound(parameters, &GroupForce::Jacobians::by_positions, stiffness);
}

void GroupTerm::add_damping_bound(const ParameterSet& parameters, Field& damping) {
  add_bound(parameters, &GroupForce::Jacobians::by_velocities, damping);
}

}  // namespace diffsim
