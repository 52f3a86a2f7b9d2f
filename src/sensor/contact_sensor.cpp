// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/contact_sensor.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::sensor {
namespace {

using Numbers = std::vector<double>;

/// Sensor of the contact forces f between two sides. A derived class defines the measured function of f.
class ContactSensor : public Sensor {
 public:
  ContactSensor(const Site& site, ContactBetween contact, std::string name)
      : site_(site), contact_(std::move(contact)), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  MPI_Comm comm() const override { return site_.system->comm(); }

 protected:
  System& system() const { return *site_.system; }
  /// Prepares the terms if a parameter may have changed since the last call. Collective.
  void prepare() {
    if (is_prepared_ && !system().changed_since(prepared_)) return;
    for (const auto& term : contact_.terms) term->prepare(system().parameters());
    prepared_ = system().revision();
    is_prepared_ = true;
  }
  /// Returns the forces at the measured vertices, [local vertices, 3]; zeros at all other vertices and at copies of
  /// other ranks' vertices. Collective.
  Numbers forces(const Evaluation& here) const {
    Field f = system().scratch_field("sensor::force");
    for (const auto& term : contact_.terms) term->add_force(here.at, system().parameters(), f);
    return summed(f);
  }
  /// Returns the derivatives of the results of `forces`. Collective.
  Numbers force_tangents(const Evaluation& here, const State& tangent, const ParameterSet& direction) const {
    const Field velocities = on_local_vertices(system(), tangent["velocities"]);
    Field df = system().scratch_field("sensor::force");
    for (const auto& term : contact_.terms) {
      term->prepare_tangent(system().parameters(), direction);
      term->add_force_tangent(here.at, {tangent["positions"], &velocities}, direction, df);
    }
    return summed(df);
  }
  /// Adds (∂f/∂x)ᵀ f̄, (∂f/∂v)ᵀ f̄ and (∂f/∂p)ᵀ f̄ to `adjoint` and `gradient`. f̄ = `f_bar` [local vertices, 3] is the
  /// adjoint of the result of `forces`. Collective.
  void add_force_adjoint(const Evaluation& here, const Numbers& f_bar, State& adjoint, ParameterSet& gradient) const {
    const Field seed = seed_of(f_bar);
    Field x_bar = system().scratch_field("sensor::positions"), v_bar = system().scratch_field("sensor::velocities");
    for (const auto& term : contact_.terms) {
      term->begin_adjoint(gradient);
      term->add_force_adjoint(here.at, seed, {x_bar, &v_bar}, gradient);
      term->prepare_adjoint(system().parameters(), gradient);
    }
    add_state_adjoint(x_bar, v_bar, adjoint);
  }
  /// Adds the derivatives of the values that `add_force_adjoint` adds, along `tangent`, `direction` and `df_bar`.
  void add_force_adjoint_tangent(const Evaluation& here, const State& tangent, const ParameterSet& direction,
                                 const Numbers& f_bar, const Numbers& df_bar, State& adjoint_tangent,
                                 ParameterSet& gradient_tangent) const {
    const Field seed = seed_of(f_bar), dseed = seed_of(df_bar);
    const Field velocities = on_local_vertices(system(), tangent["velocities"]);
    Field x_bar = system().scratch_field("sensor::positions"), v_bar = system().scratch_field("sensor::velocities");
    for (const auto& term : contact_.terms) {
      term->begin_adjoint_tangent(gradient_tangent, direction);
      term->prepare_tangent(system().parameters(), direction);
      term->add_force_adjoint_tangent(here.at, {tangent["positions"], &velocities}, direction, &seed, &dseed,
                                      {x_bar, &v_bar}, gradient_tangent);
      term->prepare_adjoint_tangent(system().parameters(), direction, gradient_tangent);
    }
    add_state_adjoint(x_bar, v_bar, adjoint_tangent);
  }
  /// Returns Σ `values` over all ranks. Collective.
  Numbers total(Numbers values) const {
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm()));
    return values;
  }

  Site site_;
  ContactBetween contact_;

 private:
  /// Sums the contributions of all ranks to the owned vertices, and sets the values at vertices that are not measured,
  /// and at copies, to zero.
  Numbers summed(Field& f) const {
    system().mesh().vertex_exchange().add_to_owners(f);
    Numbers values = f.to_host();
    const auto owned = static_cast<std::size_t>(system().mesh().num_owned_vertices());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (i / 3 >= owned || contact_.vertices[i / 3] == 0) values[i] = 0.0;
    return values;
  }
  /// Returns a field with the values at owned vertices and with ghost values up to date.
  Field seed_of(const Numbers& values) const {
    Field seed = system().scratch_field("sensor::seed");
    seed.from_host(values);
    system().mesh().vertex_exchange().copy_to_ghosts(seed);
    return seed;
  }
  void add_state_adjoint(const Field& x_bar, const Field& v_bar, State& adjoint) const {
    add_summed(system(), x_bar.to_host(), adjoint["positions"]);
    add_summed(system(), v_bar.to_host(), adjoint["velocities"]);
  }

  std::string name_;
  bool is_prepared_ = false;
  std::uint64_t prepared_ = 0;  // `System::revision` at the last preparation
};

/// Sensor of the sum of the contact forces.
class ContactForceSensor final : public ContactSensor {
 public:
  using ContactSensor::ContactSensor;
  std::string unit() const override { return "N"; }
  std::vector<std::string> components() const override { return {"x", "y", "z"}; }

  Numbers value(int n, const State& state) override {
    prepare();
    const Evaluation here(site_, n, state);
    return sum(forces(here));
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) override {
    prepare();
    const Evaluation here(site_, n, state);
    return sum(force_tangents(here, tangent, direction));
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    prepare();
    const Evaluation here(site_, n, state);
    add_force_adjoint(here, seed(w), adjoint, gradient);
  }
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    prepare();
    const Evaluation here(site_, n, state);
    add_force_adjoint_tangent(here, tangent, direction, seed(w), seed(dw), adjoint_tangent, gradient_tangent);
  }

 private:
  Numbers sum(const Numbers& f) const {
    Numbers sums(3, 0.0);
    for (std::size_t i = 0; i < f.size(); ++i) sums[i % 3] += contact_.sign * f[i];
    return total(std::move(sums));
  }
  Numbers seed(const Numbers& w) const {
    Numbers values(3 * contact_.vertices.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (contact_.vertices[i / 3] != 0) values[i] = contact_.sign * w[i % 3];
    return values;
  }
};

/// Sensor of the pressure p = B/S with S = Σ_v F_v and B = Σ_v F_v²/A_v, where F_v = |f_v| is the length of the force
/// at vertex v, and A_v is the rest area of the vertex.
class ContactPressureSensor final : public ContactSensor {
 public:
  ContactPressureSensor(const Site& site, ContactBetween contact, std::string name)
      : ContactSensor(site, std::move(contact), std::move(name)), rest_areas_(site.mesh()) {
    const TetrahedralMesh& mesh = site_.mesh();
    collectively(mesh.comm(), [&] {
      if (contact_.is_embedded)
        throw Error("the " + this->name() +
                        " is not available in a scene with affine bodies or separate surfaces; measure contact_force",
                    ErrorKind::input);
      for (std::size_t v = 0; v < contact_.vertices.size(); ++v)
        if (contact_.vertices[v] != 0 && contact::surface_dimension(mesh, mesh.vertex_order().file_index()[v]) < 2)
          throw Error("the " + this->name() +
                          " needs a surface of triangles, not segments or points; measure "
                          "contact_force",
                      ErrorKind::input);
    });
  }
  std::string unit() const override { return "Pa"; }
  std::vector<std::string> components() const override { return {"pressure"}; }

  Numbers value(int n, const State& state) override {
    prepare();
    const Evaluation here(site_, n, state);
    return {of(forces(here), areas()).p};
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) override {
    prepare();
    const Evaluation here(site_, n, state);
    const Numbers f = forces(here), A = areas();
    return {change(f, force_tangents(here, tangent, direction), A, area_tangents(direction), of(f, A)).p};
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override;

 private:
  /// Pressure p and the sum S of the lengths of the forces over all ranks, or derivatives of p and S.
  struct Pressure {
    double p = 0.0, S = 0.0;
  };
  static double length(const Numbers& f, std::size_t v) { return std::hypot(f[3 * v], f[3 * v + 1], f[3 * v + 2]); }
  static double product(const Numbers& a, const Numbers& b, std::size_t v) {
    return a[3 * v] * b[3 * v] + a[3 * v + 1] * b[3 * v + 1] + a[3 * v + 2] * b[3 * v + 2];
  }
  const Field& rest() const { return site_.system->parameters().at("rest_positions").field; }
  /// Returns the rest areas A_v of the owned vertices, [owned vertices].
  Numbers areas() const { return rest_areas_.areas(rest()); }
  Numbers area_tangents(const ParameterSet& direction) const {
    const Parameter* const given = direction.find("rest_positions");
    if (given) return rest_areas_.tangent(rest(), given->field);
    return Numbers(static_cast<std::size_t>(site_.mesh().num_owned_vertices()), 0.0);
  }
  /// Returns the pressure of the forces f. Collective.
  Pressure of(const Numbers& f, const Numbers& A) const {
    Numbers sums(2, 0.0);  // B, S
    for (std::size_t v = 0; v < A.size(); ++v) {
      const double F = length(f, v);
      if (!(F > 0.0)) continue;
      sums[0] += F * F / A[v];
      sums[1] += F;
    }
    sums = total(std::move(sums));
    return {sums[1] > 0.0 ? sums[0] / sums[1] : 0.0, sums[1]};
  }
  /// Returns the derivative of `at`, the pressure of the forces f, along df and dA. Collective.
  Pressure change(const Numbers& f, const Numbers& df, const Numbers& A, const Numbers& dA, const Pressure& at) const {
    Numbers sums(2, 0.0);  // dB, dS
    for (std::size_t v = 0; v < A.size(); ++v) {
      const double F = length(f, v);
      if (!(F > 0.0)) continue;
      const double along = product(f, df, v);
      sums[0] += (2.0 * along - F * F * dA[v] / A[v]) / A[v];
      sums[1] += along / F;
    }
    sums = total(std::move(sums));
    return {at.S > 0.0 ? (sums[0] - at.p * sums[1]) / at.S : 0.0, sums[1]};
  }
  /// Returns g_v = S ∂p/∂f_v = 2 f_v/A_v - p f_v/F_v, [local vertices, 3].
  Numbers slopes(const Numbers& f, const Numbers& A, const Pressure& at) const {
    Numbers g(f.size(), 0.0);
    for (std::size_t i = 0; i < 3 * A.size(); ++i)
      if (const double F = length(f, i / 3); F > 0.0) g[i] = (2.0 / A[i / 3] - at.p / F) * f[i];
    return g;
  }
  /// Returns the derivative of the result of `slopes` along df and `by`, with constant rest areas.
  Numbers slope_changes(const Numbers& f, const Numbers& df, const Numbers& A, const Pressure& at,
                        const Pressure& by) const {
    Numbers dg(f.size(), 0.0);
    for (std::size_t i = 0; i < 3 * A.size(); ++i)
      if (const double F = length(f, i / 3); F > 0.0)
        dg[i] = (2.0 / A[i / 3] - at.p / F) * df[i] + (at.p * product(f, df, i / 3) / (F * F) - by.p) / F * f[i];
    return dg;
  }

  contact::RestAreas rest_areas_;
};

void ContactPressureSensor::add_adjoint(int n, const State& state, const Numbers& w, State& adjoint,
                                        ParameterSet& gradient) {
  prepare();
  const Evaluation here(site_, n, state);
  const Numbers f = forces(here), A = areas();
  const Pressure at = of(f, A);
  if (!(at.S > 0.0)) return;
  const double factor = w[0] / at.S;
  Numbers f_bar = slopes(f, A, at);
  for (double& value : f_bar) value *= factor;
  add_force_adjoint(here, f_bar, adjoint, gradient);
  Parameter* const rest_gradient = gradient.find("rest_positions");
  if (!rest_gradient) return;
  Numbers A_bar(f.size(), 0.0);
  for (std::size_t v = 0; v < A.size(); ++v)
    if (const double F = length(f, v); F > 0.0) A_bar[3 * v] = -factor * F * F / (A[v] * A[v]);
  Field by_areas("area_gradient", site_.mesh().vertex_entities(), 3);
  by_areas.from_host(A_bar);
  rest_areas_.add_gradient(rest(), by_areas, rest_gradient->field);
}

void ContactPressureSensor::add_adjoint_tangent(int n, const State& state, const State& tangent,
                                                const ParameterSet& direction, const Numbers& w, const Numbers& dw,
                                                State& adjoint_tangent, ParameterSet& gradient_tangent) {
  prepare();
  const Evaluation here(site_, n, state);
  const Numbers f = forces(here), A = areas();
  const Pressure at = of(f, A);
  if (!(at.S > 0.0)) return;
  const Numbers df = force_tangents(here, tangent, direction);
  const Pressure by = change(f, df, A, area_tangents(direction), at);
  const double factor = w[0] / at.S, dfactor = (dw[0] - factor * by.S) / at.S;
  Numbers f_bar = slopes(f, A, at), df_bar = slope_changes(f, df, A, at, by);
  for (std::size_t i = 0; i < f_bar.size(); ++i) {
    df_bar[i] = dfactor * f_bar[i] + factor * df_bar[i];
    f_bar[i] *= factor;
  }
  add_force_adjoint_tangent(here, tangent, direction, f_bar, df_bar, adjoint_tangent, gradient_tangent);
}

}  // namespace

std::unique_ptr<Sensor> make_contact_force_sensor(const Site& site, ContactBetween contact, std::string name) {
  return std::make_unique<ContactForceSensor>(site, std::move(contact), std::move(name));
}

std::unique_ptr<Sensor> make_contact_pressure_sensor(const Site& site, ContactBetween contact, std::string name) {
  return std::make_unique<ContactPressureSensor>(site, std::move(contact), std::move(name));
}

}  // namespace diffsim::sensor
