// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/load/nodal_damping.hpp"

#include <initializer_list>

#include "diffsim/core/device.hpp"

namespace diffsim {
namespace {

constexpr const char* on_what[] = {"rayleigh_damping", "drag", "density", "rest_positions"};

bool any_of(const ParameterSet& set) {
  for (const char* name : on_what)
    if (set.find(name)) return true;
  return false;
}

/// y += s a b over the entries of y.
void add_product(double s, const Field& a, const Field& b, Field& y) {
  const double* const x = a.data();
  const double* const z = b.data();
  double* const out = y.data();
  Kokkos::parallel_for(
      "diffsim::load::nodal_damping", Range(0, static_cast<int>(y.size())),
      KOKKOS_LAMBDA(int i) { out[i] += s * x[i] * z[i]; });
  Kokkos::fence();
}

/// α ρ + c, or its derivative along directions of the three, where given.
void set_per_volume(const ParameterSet& parameters, Field& sums) {
  const double* const alpha = parameters.data("rayleigh_damping");
  const double* const rho = parameters.data("density");
  const double* const drag = parameters.data("drag");
  double* const sum = sums.data();
  Kokkos::parallel_for(
      "diffsim::load::damping_per_volume", Range(0, static_cast<int>(sums.size())),
      KOKKOS_LAMBDA(int i) { sum[i] = alpha[i] * rho[i] + drag[i]; });
  Kokkos::fence();
}

/// Gradients by α, ρ and c from that by their sum over the volume.
void add_parameter_gradient(const Field& per_volume, const ParameterSet& parameters, ParameterSet& gradient) {
  if (Parameter* alpha = gradient.find("rayleigh_damping"))
    add_product(1.0, per_volume, parameters.at("density").field, alpha->field);
  if (Parameter* rho = gradient.find("density"))
    add_product(1.0, per_volume, parameters.at("rayleigh_damping").field, rho->field);
  if (Parameter* drag = gradient.find("drag")) axpy(1.0, per_volume, drag->field);
}

void set_per_volume_tangent(const ParameterSet& parameters, const ParameterSet& direction, Field& sums) {
  const double* const alpha = parameters.data("rayleigh_damping");
  const double* const rho = parameters.data("density");
  const double* const d_alpha = direction.data("rayleigh_damping");
  const double* const d_rho = direction.data("density");
  const double* const d_drag = direction.data("drag");
  double* const sum = sums.data();
  Kokkos::parallel_for(
      "diffsim::load::damping_per_volume_tangent", Range(0, static_cast<int>(sums.size())), KOKKOS_LAMBDA(int i) {
        sum[i] =
            (d_alpha ? d_alpha[i] * rho[i] : 0.0) + (d_rho ? alpha[i] * d_rho[i] : 0.0) + (d_drag ? d_drag[i] : 0.0);
      });
  Kokkos::fence();
}

}  // namespace

NodalDamping::NodalDamping(const TetrahedralMesh& mesh)
    : lumping_(mesh),
      per_volume_("damping_per_volume", static_cast<std::size_t>(mesh.num_cells())),
      coefficients_("damping_coefficients", mesh.vertex_entities(), 3) {}

NodalDamping::~NodalDamping() = default;

void NodalDamping::prepare(const ParameterSet& parameters) {
  set_per_volume(parameters, per_volume_);
  coefficients_.fill(0.0);
  lumping_.add_sums(per_volume_, parameters.at("rest_positions").field, coefficients_);
}

void NodalDamping::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  has_tangent_ = any_of(direction);
  if (!has_tangent_) return;
  Field per_volume = per_volume_.like("damping_per_volume_tangent");
  set_per_volume_tangent(parameters, direction, per_volume);
  tangent_ = coefficients_.like("damping_tangent");
  const Parameter* const rest = direction.find("rest_positions");
  lumping_.add_sums_tangent(per_volume_, parameters.at("rest_positions").field, &per_volume,
                            rest ? &rest->field : nullptr, tangent_);
}

void NodalDamping::begin_adjoint(const ParameterSet& gradient) {
  has_gradient_ = any_of(gradient);
  gradient_ = has_gradient_ ? coefficients_.like("damping_gradient") : Field();
}

void NodalDamping::prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) {
  if (!has_gradient_) return;
  Field per_volume = per_volume_.like("damping_per_volume_gradient");
  Parameter* const rest = gradient.find("rest_positions");
  lumping_.add_sums_adjoint(per_volume_, parameters.at("rest_positions").field, gradient_, &per_volume,
                            rest ? &rest->field : nullptr);
  add_parameter_gradient(per_volume, parameters, gradient);
}

void NodalDamping::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (gradient.find("rest_positions") || direction.find("rest_positions"))
    throw Error("no second derivative by 'rest_positions'", ErrorKind::input);
  gradient_tangent_ = any_of(gradient) ? coefficients_.like("damping_gradient_tangent") : Field();
}

void NodalDamping::prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                           ParameterSet& gradient_tangent) {
  if (gradient_tangent_.size() == 0) return;
  const Field& rest = parameters.at("rest_positions").field;
  Field per_volume = per_volume_.like("damping_per_volume_gradient"), change = per_volume.like("change");
  lumping_.add_sums_adjoint(per_volume_, rest, gradient_tangent_, &change, nullptr);
  add_parameter_gradient(change, parameters, gradient_tangent);
  // α ρ is bilinear.
  lumping_.add_sums_adjoint(per_volume_, rest, gradient_, &per_volume, nullptr);
  const auto add_cross = [&](const char* one, const char* other) {
    Parameter* const target = gradient_tangent.find(one);
    const Parameter* const along = direction.find(other);
    if (target && along) add_product(1.0, per_volume, along->field, target->field);
  };
  add_cross("rayleigh_damping", "density");
  add_cross("density", "rayleigh_damping");
}

double NodalDamping::energy(const Configuration&, const ParameterSet&) { return 0.0; }

void NodalDamping::add_force(const Configuration& at, const ParameterSet&, Field& force) {
  add_product(-1.0, coefficients_, *at.velocities, force);
}

void NodalDamping::add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet&,
                                     Field& force_tangent) {
  add_product(-1.0, coefficients_, *tangent.velocities, force_tangent);
  if (has_tangent_) add_product(-1.0, tangent_, *at.velocities, force_tangent);
}

void NodalDamping::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                     ParameterSet&) {
  add_product(-1.0, coefficients_, w, *adjoint.velocities);
  if (has_gradient_) add_product(-1.0, w, *at.velocities, gradient_);
}

void NodalDamping::add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                             const ParameterSet& direction, const Field* w, const Field* dw,
                                             const ConfigurationAdjoint& adjoint_tangent, ParameterSet&) {
  if (dw) add_product(-1.0, coefficients_, *dw, *adjoint_tangent.velocities);
  if (w && any_of(direction)) add_product(-1.0, tangent_, *w, *adjoint_tangent.velocities);
  if (gradient_tangent_.size() == 0) return;
  if (dw) add_product(-1.0, *dw, *at.velocities, gradient_tangent_);
  if (w) add_product(-1.0, *w, *tangent.velocities, gradient_tangent_);
}

void NodalDamping::add_jacobian(const Configuration&, const ParameterSet&, const JacobianWeights& weights,
                                BlockMatrix& matrix) {
  matrix.add_to_diagonal(-weights.velocity, coefficients_);
}

void NodalDamping::add_damping_bound(const ParameterSet&, Field& damping) { axpy(1.0, coefficients_, damping); }

}  // namespace diffsim
