// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/nodal_damping.hpp"

#include <initializer_list>

#include "diffsim/core/point_term_impl.hpp"
#include "mesh/lumping.hpp"

namespace diffsim {
namespace {

/// Force -d v on a point. PointValues::weight is the damping coefficient d in N s/m.
struct Drag {
  static constexpr int num_values = 0;
  static constexpr bool uses_positions = false, uses_velocities = true;

  template <class T>
  DIFFSIM_FUNCTION Vec3<T> force(const PointValues<T, num_values>& at) const {
    return {{-at.weight * at.v[0], -at.weight * at.v[1], -at.weight * at.v[2]}};
  }
  DIFFSIM_FUNCTION Drag projected() const { return *this; }
};

constexpr const char* on_what[] = {"rayleigh_damping", "drag", "density", "rest_positions"};

bool any_of(const ParameterSet& set) {
  for (const char* name : on_what)
    if (set.find(name)) return true;
  return false;
}

/// Adds the product s a b to y, entry by entry.
void add_product(double s, const Field& a, const Field& b, Field& y) {
  const double* const x = a.data();
  const double* const z = b.data();
  double* const out = y.data();
  Kokkos::parallel_for(
      "diffsim::load::nodal_damping", Range(0, static_cast<int>(y.size())),
      KOKKOS_LAMBDA(int i) { out[i] += s * x[i] * z[i]; });
  Kokkos::fence();
}

/// Sets `sums` [cells] to α ρ + c, the damping coefficient per rest volume.
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

/// Adds the gradients with respect to α, ρ and c to `gradient`. `per_volume` [cells]: gradient with respect to the
/// damping coefficient α ρ + c of each cell.
void add_parameter_gradient(const Field& per_volume, const ParameterSet& parameters, ParameterSet& gradient) {
  if (Parameter* alpha = gradient.find("rayleigh_damping"))
    add_product(1.0, per_volume, parameters.at("density").field, alpha->field);
  if (Parameter* rho = gradient.find("density"))
    add_product(1.0, per_volume, parameters.at("rayleigh_damping").field, rho->field);
  if (Parameter* drag = gradient.find("drag")) axpy(1.0, per_volume, drag->field);
}

/// Sets `sums` [cells] to the directional derivative dα ρ + α dρ + dc. The direction of a parameter that is missing in
/// `direction` is zero.
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

/// Force term -d_i v_i. The point weights are the coefficients d_i. Each rank stores its contribution to d_i at all its
/// local vertices, including ghosts.
class NodalDamping : public PointTerm<Drag> {
 public:
  explicit NodalDamping(const TetrahedralMesh& mesh)
      : PointTerm("nodal_damping", Drag(), {}, mesh.num_vertices()),
        lumping_(mesh),
        per_volume_("damping_per_volume", static_cast<std::size_t>(mesh.num_cells())),
        coefficients_("damping_coefficients", mesh.vertex_entities(), 3) {}

  bool has_symmetric_jacobian() const override { return true; }
  void prepare(const ParameterSet& parameters) override;
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                               ParameterSet& gradient_tangent) override;
  void add_damping_bound(const ParameterSet&, Field& damping) override { axpy(1.0, coefficients_, damping); }

 private:
  Lumping lumping_;
  Field per_volume_;                             // α ρ + c, [cells]
  Field coefficients_;                           // d, [local vertices, 3], three equal components
  Field tangent_, gradient_, gradient_tangent_;  // tangent of d; gradients with respect to d, in the first component
};

void NodalDamping::prepare(const ParameterSet& parameters) {
  PointTerm::prepare(parameters);
  set_per_volume(parameters, per_volume_);
  coefficients_.fill(0.0);
  lumping_.add_sums(per_volume_, parameters.at("rest_positions").field, coefficients_);
  weights().values = coefficients_.data();
  weights().stride = 3;
}

void NodalDamping::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  weights().tangent = nullptr;
  if (!any_of(direction)) return;
  Field per_volume = per_volume_.like("damping_per_volume_tangent");
  set_per_volume_tangent(parameters, direction, per_volume);
  tangent_ = coefficients_.like("damping_tangent");
  const Parameter* const rest = direction.find("rest_positions");
  lumping_.add_sums_tangent(per_volume_, parameters.at("rest_positions").field, &per_volume,
                            rest ? &rest->field : nullptr, tangent_);
  weights().tangent = tangent_.data();
}

void NodalDamping::begin_adjoint(const ParameterSet& gradient) {
  gradient_ = any_of(gradient) ? coefficients_.like("damping_gradient") : Field();
  weights().gradient = gradient_.size() > 0 ? gradient_.data() : nullptr;
}

void NodalDamping::prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) {
  if (gradient_.size() == 0) return;
  Field per_volume = per_volume_.like("damping_per_volume_gradient");
  Parameter* const rest = gradient.find("rest_positions");
  lumping_.add_sums_adjoint(per_volume_, parameters.at("rest_positions").field, gradient_, &per_volume,
                            rest ? &rest->field : nullptr);
  add_parameter_gradient(per_volume, parameters, gradient);
}

void NodalDamping::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (gradient.find("rest_positions") || direction.find("rest_positions"))
    throw Error("there is no second derivative with respect to 'rest_positions'", ErrorKind::input);
  gradient_tangent_ = any_of(gradient) ? coefficients_.like("damping_gradient_tangent") : Field();
  weights().gradient_tangent = gradient_tangent_.size() > 0 ? gradient_tangent_.data() : nullptr;
}

void NodalDamping::prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                           ParameterSet& gradient_tangent) {
  if (gradient_tangent_.size() == 0) return;
  const Field& rest = parameters.at("rest_positions").field;
  Field per_volume = per_volume_.like("damping_per_volume_gradient"), change = per_volume.like("change");
  lumping_.add_sums_adjoint(per_volume_, rest, gradient_tangent_, &change, nullptr);
  add_parameter_gradient(change, parameters, gradient_tangent);
  // Cross terms of the bilinear product α ρ.
  lumping_.add_sums_adjoint(per_volume_, rest, gradient_, &per_volume, nullptr);
  const auto add_cross = [&](const char* one, const char* other) {
    Parameter* const target = gradient_tangent.find(one);
    const Parameter* const along = direction.find(other);
    if (target && along) add_product(1.0, per_volume, along->field, target->field);
  };
  add_cross("rayleigh_damping", "density");
  add_cross("density", "rayleigh_damping");
}

}  // namespace

std::unique_ptr<ForceTerm> make_nodal_damping(const TetrahedralMesh& mesh) {
  return std::make_unique<NodalDamping>(mesh);
}

}  // namespace diffsim
