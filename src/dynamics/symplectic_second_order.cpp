// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The derivative of SymplecticEuler's reverse step along a direction.

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/dual.hpp"
#include "diffsim/core/profiling.hpp"
#include "dynamics/symplectic_parts.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

using Along = Dual<double, 1>;

KOKKOS_INLINE_FUNCTION Along along(const double* value, const double* derivative, int i) {
  Along a(value[i]);
  if (derivative) a.derivative[0] = derivative[i];
  return a;
}

/// The reverse update of a vertex component with its derivative. What is not needed, or zero, may be nullptr.
struct AdjointUpdate {
  Update update;
  const double *f, *df;    // [local vertices, 3]
  const double *v, *dv;    // [owned vertices, 3]
  const double* dmass;     // [owned vertices]
  const double* dgravity;  // [3]
  const double* ddamping;  // [1]
  const double *x_bar, *dx_bar;
  double *v_bar, *dv_bar;
  double *f_bar, *df_bar;
  double *mass_bar, *dmass_bar;

  KOKKOS_INLINE_FUNCTION Along mass(int i) const { return along(update.mass, dmass, i / 3); }
  /// v + h (f/m + g).
  KOKKOS_INLINE_FUNCTION Along undamped(int i) const {
    return along(v, dv, i) + update.h * (along(f, df, i) / mass(i) + along(update.gravity, dgravity, i % 3));
  }
  /// The adjoint of the velocity before damping and mask, m (v̄ + h x̄).
  KOKKOS_INLINE_FUNCTION Along masked(int i) const {
    return update.mask(i) * (along(v_bar, dv_bar, i) + update.h * along(x_bar, dx_bar, i));
  }

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    const Along u_bar = along(update.damping, ddamping, 0) * masked(i);
    const Along force_bar = update.h * u_bar / mass(i);
    v_bar[i] = u_bar.value;
    dv_bar[i] = u_bar.derivative[0];
    f_bar[i] = force_bar.value;
    df_bar[i] = force_bar.derivative[0];
    if (!mass_bar) return;
    const Along by_mass = force_bar * along(f, df, i) / mass(i);
    mass_bar[i] -= by_mass.value;
    dmass_bar[i] -= by_mass.derivative[0];
  }
};

void update_adjoint(const AdjointUpdate& update, int count) {
  Kokkos::parallel_for("diffsim::dynamics::update_adjoint_tangent", Range(0, count), update);
  Kokkos::fence();
}

/// Σ m (v̄ + h x̄) (v + h (f/m + g)), or its derivative: the gradient by damping, before the update.
double damping_gradient(const AdjointUpdate& update, int count, bool derivative) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::damping_gradient_tangent", Range(0, count),
      KOKKOS_LAMBDA(int i, double& s) {
        const Along share = update.masked(i) * update.undamped(i);
        s += derivative ? share.derivative[0] : share.value;
      },
      sum);
  return sum;
}

void add_scaled_sum(double factor, const Field& field, std::vector<double>& sum) {
  const std::vector<double> share = local_sum(field);
  for (std::size_t c = 0; c < 3; ++c) sum[c] += factor * share[c];
}

}  // namespace

void SymplecticEuler::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  MeshModel::begin_adjoint_tangent(gradient, direction);
  records_velocities_ = records_velocities_ || direction.find("damping") != nullptr;
}

void SymplecticEuler::step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent,
                                           const ParameterSet& direction, const AdjointPair& pair) {
  const ProfilingRegion region("diffsim::dynamics::step_adjoint_tangent");
  const auto& recorded = static_cast<const EulerRecord&>(record);
  std::vector<State> moving;  // at the beginnings of the substeps
  for (int s = 0; s < substeps_; ++s) {
    moving.push_back(s == 0 ? tangent.before.clone() : moving.back().clone());
    if (s == 0)
      mesh().vertex_exchange().copy_to_ghosts(moving[0]["positions"]);
    else
      substep_tangent(n, s - 1, record, direction, moving.back());
  }

  const Update update = work_->update(*this, n);
  const bool to_mass = changes_mass(pair.gradient), along_mass = changes_mass(direction);
  const auto place = [n](auto* parameter, std::size_t width) {
    return parameter ? parameter->field.data() + width * parameter->offset(n) : nullptr;
  };
  Parameter* const damping = pair.gradient.find("damping");
  Parameter* const gravity = pair.gradient.find("gravity");
  const Parameter* const along_damping = direction.find("damping");
  const bool with_force = to_mass || along_mass || damping;
  Field& x_bar = pair.adjoint["positions"];
  Field& v_bar = pair.adjoint["velocities"];
  Field& dx_bar = pair.adjoint_tangent["positions"];
  Field& dv_bar = pair.adjoint_tangent["velocities"];
  const int count = static_cast<int>(v_bar.size());
  Field force = local_field("force"), force_tangent = force.like("force_tangent"), f_bar = force.like("force_adjoint"),
        df_bar = force.like("force_adjoint_tangent"), gained = force.like("gained"), d_gained = force.like("d_gained"),
        gained_v = force.like("gained_v"), d_gained_v = force.like("d_gained_v");
  const bool rates = any_term_uses_velocities();
  double damping_sums[2] = {0.0, 0.0};
  std::vector<double> gravity_sum(3, 0.0), gravity_sum_tangent(3, 0.0);
  for (int s = substeps_ - 1; s >= 0; --s) {
    State& change = moving[static_cast<std::size_t>(s)];
    const Field& dx = change["positions"];
    const Field& dv = change["velocities"];
    apply_motions_adjoint(n, s * update.h, update.h, recorded.positions(s), x_bar, v_bar, pair.gradient);
    apply_motions_adjoint(n, s * update.h, update.h, recorded.positions(s), dx_bar, dv_bar, pair.gradient_tangent);
    const Field* const v = records_velocities_ ? &recorded.velocities(s) : nullptr;
    const Configuration at{recorded.positions(s), n, nullptr,
                           v ? work_->complete(*this, *v, work_->velocities) : nullptr, time_of(n, s)};
    const ConfigurationTangent along_at{dx, work_->complete(*this, dv, work_->velocity_derivative)};
    if (with_force) {
      compute_force(at, force);
      compute_force_tangent(at, along_at, direction, force_tangent);
    }
    const AdjointUpdate reverse{update,
                                force.data(),
                                force_tangent.data(),
                                v ? v->data() : nullptr,
                                dv.data(),
                                along_mass ? lumped_mass().mass_tangent().data() : nullptr,
                                place(direction.find("gravity"), 3),
                                place(along_damping, 1),
                                x_bar.data(),
                                dx_bar.data(),
                                v_bar.data(),
                                dv_bar.data(),
                                f_bar.data(),
                                df_bar.data(),
                                to_mass ? mass_gradient().data() : nullptr,
                                to_mass ? mass_gradient_tangent().data() : nullptr};
    if (damping)
      for (int k = 0; k < 2; ++k) damping_sums[k] += damping_gradient(reverse, count, k == 1);
    update_adjoint(reverse, count);
    if (gravity) {
      add_scaled_sum(update.h, v_bar, gravity_sum);
      add_scaled_sum(update.h, dv_bar, gravity_sum_tangent);
    }
    mesh().vertex_exchange().copy_to_ghosts(f_bar);
    mesh().vertex_exchange().copy_to_ghosts(df_bar);
    compute_force_adjoint(at, f_bar, {gained, rates ? &gained_v : nullptr}, pair.gradient);
    compute_force_adjoint_tangent(at, along_at, direction, &f_bar, &df_bar, {d_gained, rates ? &d_gained_v : nullptr},
                                  pair.gradient_tangent);
    axpy(1.0, gained, x_bar);
    axpy(1.0, d_gained, dx_bar);
    if (!rates) continue;
    add_scaled(count, 1.0, gained_v, v_bar);
    add_scaled(count, 1.0, d_gained_v, dv_bar);
  }
  if (damping) {
    add_to_entries(damping->field, damping->offset(n), {damping_sums[0]});
    add_to_entries(pair.gradient_tangent.at("damping").field, damping->offset(n), {damping_sums[1]});
  }
  if (gravity) {
    add_to_entries(gravity->field, 3 * gravity->offset(n), gravity_sum);
    add_to_entries(pair.gradient_tangent.at("gravity").field, 3 * gravity->offset(n), gravity_sum_tangent);
  }
}

}  // namespace diffsim
