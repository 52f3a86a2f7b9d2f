// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/acceleration.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/add_to_entries.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/support.hpp"
#include "mesh/bodies.hpp"
#include "sensor/place.hpp"

namespace diffsim::sensor {
namespace {

using Numbers = std::vector<double>;

/// Free component of an owned vertex, and the weight of the vertex. `at` = 3 vertex + component.
struct FreeComponent {
  std::size_t at;
  double weight;
  std::size_t vertex() const { return at / 3; }
  std::size_t component() const { return at % 3; }
};

/// Sensor y_c = Σ_e w_e (f_e/m_e + g_c) over the free components e with the component number c.
class Acceleration final : public Sensor {
 public:
  Acceleration(const Site& site, const SensorPlace& place) : site_(site), place_(name_of(place)) {
    System& system = *site_.system;
    system.prepare_if_changed();
    const std::vector<std::uint8_t> masks = dynamics::fixed_on_host(system);
    const std::vector<VertexWeight> weights = weights_of(system.mesh(), place);
    collectively(comm(), [&] {
      for (const auto& [vertex, weight] : weights) require_own_motion(vertex, masks[static_cast<std::size_t>(vertex)]);
    });
    for (const auto& [vertex, weight] : weights)
      for (std::size_t c = 0; c < 3; ++c)
        if ((masks[static_cast<std::size_t>(vertex)] >> c & 1) == 0)
          entries_.push_back({3 * static_cast<std::size_t>(vertex) + c, weight});
  }

  std::string name() const override { return "acceleration of " + place_; }
  std::string unit() const override { return "m/s²"; }
  std::vector<std::string> components() const override { return {"x", "y", "z"}; }
  MPI_Comm comm() const override { return site_.system->comm(); }

  Numbers value(int n, const State& state) override {
    site_.system->prepare_if_changed();
    const Evaluation here(site_, n, state);
    const Numbers f = forces(here.at), m = site_.system->mass().to_host();
    const Vec3<double> g = gravity_at(here.at, site_.system->parameters());
    return sum([&](const FreeComponent& e) { return f[e.at] / m[e.vertex()] + g[static_cast<int>(e.component())]; });
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) override {
    const Evaluation here(site_, n, state);
    const Numbers f = forces(here.at), df = force_tangents(here.at, tangent, direction);
    const Numbers m = site_.system->mass().to_host(), dm = mass_tangents(direction);
    const Vec3<double> dg = gravity_at(here.at, direction);
    return sum([&](const FreeComponent& e) {
      const std::size_t v = e.vertex();
      return (df[e.at] - f[e.at] * dm[v] / m[v]) / m[v] + dg[static_cast<int>(e.component())];
    });
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override;

 private:
  /// Throws Error (input) if the motion of an owned vertex is not given by the vertex's force and constraints. `mask`:
  /// mask of the vertex (`System::fixed`).
  void require_own_motion(int vertex, std::uint8_t mask) const {
    const System& system = *site_.system;
    const char* const advice = "; measure other vertices, or differences of velocities";
    if (system.has_motions() && (mask & 7) != 0)
      throw Error("the " + name() + " includes fixed or moved vertices, whose accelerations are not known" + advice,
                  ErrorKind::input);
    const std::vector<MeshBody>& bodies = system.mesh().bodies();
    if (!system.constraints() || bodies.empty()) return;
    const std::int64_t number = system.mesh().vertex_order().file_index()[static_cast<std::size_t>(vertex)];
    if (bodies[static_cast<std::size_t>(body_of_vertex(bodies, number))].affine)
      throw Error("the " + name() + " includes vertices of affine bodies in a system with rigid bodies, whose " +
                      "accelerations depend on the forces of constraints" + advice,
                  ErrorKind::input);
  }
  /// Returns the forces at the local vertices.
  Numbers forces(const Configuration& at) const {
    Field force = site_.system->scratch_field("sensor::force");
    site_.system->compute_force(at, force);
    return force.to_host();
  }
  Numbers force_tangents(const Configuration& at, const State& tangent, const ParameterSet& direction) const {
    System& system = *site_.system;
    const Field velocities = on_local_vertices(system, tangent["velocities"]);
    Field force = system.scratch_field("sensor::force");
    system.compute_force_tangent(at, {tangent["positions"], &velocities}, direction, force);
    return force.to_host();
  }
  Numbers mass_tangents(const ParameterSet& direction) const {
    const System& system = *site_.system;
    if (system.changes_mass(direction)) return system.mass_tangent().to_host();
    return Numbers(static_cast<std::size_t>(system.mesh().num_owned_vertices()), 0.0);
  }
  /// Returns Σ_e w_e of(e) for each component, over all ranks. Collective.
  template <class Of>
  Numbers sum(const Of& of) const {
    Numbers sums(3, 0.0);
    for (const FreeComponent& e : entries_) sums[e.component()] += e.weight * of(e);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, comm()));
    return sums;
  }
  /// Returns a field with the values of(e) at the free components e, with zeros elsewhere and with ghost values up to
  /// date. Collective.
  template <class Of>
  Field seed(const Of& of) const {
    Field field = site_.system->scratch_field("sensor::seed");
    Numbers values(field.size(), 0.0);
    for (const FreeComponent& e : entries_) values[e.at] += of(e);
    field.from_host(values);
    site_.system->mesh().vertex_exchange().copy_to_ghosts(field);
    return field;
  }
  /// Adds of(e) to the entries of `mass_adjoint` [owned vertices, 3] at the free components e.
  template <class Of>
  void add_to_masses(Field& mass_adjoint, const Of& of) const {
    Numbers values = mass_adjoint.to_host();
    for (const FreeComponent& e : entries_) values[e.at] += of(e);
    mass_adjoint.from_host(values);
  }
  /// Adds this rank's contribution to the adjoint of gravity, for the weights w of the components.
  void add_to_gravity(const Configuration& at, const Numbers& w, ParameterSet& gradient) const {
    Parameter* const gravity = gradient.find("gravity");
    if (!gravity) return;
    Numbers sums(3, 0.0);
    for (const FreeComponent& e : entries_) sums[e.component()] += at.factor_of(*gravity) * e.weight * w[e.component()];
    add_to_entries(gravity->field, 3 * gravity->offset(at.step), sums);
  }

  Site site_;
  std::string place_;
  std::vector<FreeComponent> entries_;
};

void Acceleration::add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) {
  System& system = *site_.system;
  const Evaluation here(site_, n, state);
  const Numbers m = system.mass().to_host();
  const auto by_force = [&](const FreeComponent& e) { return e.weight * w[e.component()] / m[e.vertex()]; };
  Field x = system.scratch_field("sensor::positions"), v = system.scratch_field("sensor::velocities");
  system.compute_force_adjoint(here.at, seed(by_force), {x, &v}, gradient);
  add_owned(x, adjoint["positions"]);
  add_owned(v, adjoint["velocities"]);
  add_to_gravity(here.at, w, gradient);
  if (!system.changes_mass(gradient)) return;
  const Numbers f = forces(here.at);
  add_to_masses(system.mass_gradient(), [&](const FreeComponent& e) { return -by_force(e) * f[e.at] / m[e.vertex()]; });
}

void Acceleration::add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                                       const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                                       ParameterSet& gradient_tangent) {
  System& system = *site_.system;
  const Evaluation here(site_, n, state);
  const Numbers m = system.mass().to_host(), dm = mass_tangents(direction);
  const auto ratio = [&](const FreeComponent& e) { return dm[e.vertex()] / m[e.vertex()]; };
  const auto by_force = [&](const FreeComponent& e) { return e.weight * w[e.component()] / m[e.vertex()]; };
  const auto change = [&](const FreeComponent& e) {
    return e.weight * dw[e.component()] / m[e.vertex()] - by_force(e) * ratio(e);
  };
  const Field velocities = on_local_vertices(system, tangent["velocities"]);
  Field x = system.scratch_field("sensor::positions"), v = system.scratch_field("sensor::velocities");
  const Field along = seed(by_force), along_change = seed(change);
  system.compute_force_adjoint_tangent(here.at, {tangent["positions"], &velocities}, direction, &along, &along_change,
                                       {x, &v}, gradient_tangent);
  add_owned(x, adjoint_tangent["positions"]);
  add_owned(v, adjoint_tangent["velocities"]);
  add_to_gravity(here.at, dw, gradient_tangent);
  if (!system.changes_mass(gradient_tangent)) return;
  const Numbers f = forces(here.at), df = force_tangents(here.at, tangent, direction);
  add_to_masses(system.mass_gradient_tangent(), [&](const FreeComponent& e) {
    const double fm = f[e.at] / m[e.vertex()], dfm = df[e.at] / m[e.vertex()] - fm * ratio(e);
    return -change(e) * fm - by_force(e) * dfm;
  });
}

}  // namespace

std::unique_ptr<Sensor> make_acceleration(const Site& site, const SensorPlace& place) {
  return std::make_unique<Acceleration>(site, place);
}

}  // namespace diffsim::sensor
