// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/reaction.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/add_to_entries.hpp"
#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/support.hpp"

namespace diffsim::sensor {
namespace {

using Vector = Vec3<double>;

Vector vector_of(const std::vector<double>& values) { return {{values.at(0), values.at(1), values.at(2)}}; }

/// Fixed or moved component c of an owned vertex of the region. `at` = 3 vertex + c; `weighs`: true if gravity acts on
/// the vertex.
struct HeldComponent {
  int at;
  bool weighs;
  int component() const { return at % 3; }
  std::size_t vertex() const { return static_cast<std::size_t>(at / 3); }
};

/// Returns the fixed and moved components of the owned vertices among `vertices` (local indices). Calls
/// `System::prepare_if_changed`. Collective.
std::vector<HeldComponent> held_components(System& system, const std::vector<int>& vertices) {
  system.prepare_if_changed();
  const std::vector<std::uint8_t> masks = dynamics::fixed_on_host(system);
  const std::size_t owned = masks.size();
  std::vector<HeldComponent> entries;
  for (const int v : vertices) {
    if (static_cast<std::size_t>(v) >= owned) continue;
    const std::uint8_t mask = masks[static_cast<std::size_t>(v)];
    for (int c = 0; c < 3; ++c)
      if ((mask >> c & 1) != 0) entries.push_back({3 * v + c, (mask & (System::weightless | System::massless)) == 0});
  }
  return entries;
}

/// Returns R_e = -(f + m g) for each entry.
std::vector<double> reactions_of(System& system, const Configuration& at, const std::vector<HeldComponent>& entries) {
  Field force = system.scratch_field("sensor::force");
  system.compute_force(at, force);
  const std::vector<double> f = force.to_host(), m = system.mass().to_host();
  const Vector g = gravity_at(at, system.parameters());
  std::vector<double> R;
  for (const HeldComponent& entry : entries)
    R.push_back(-f[static_cast<std::size_t>(entry.at)] -
                (entry.weighs ? m[entry.vertex()] * g[entry.component()] : 0.0));
  return R;
}

/// Reaction or moment. Both are Σ_e B_e(x) R_e over the entries e, where R_e is the reaction of one component of one
/// vertex. B_e is the unit vector of the component, or for moments the cross product of the lever arm with this vector.
class Reaction final : public Sensor {
 public:
  Reaction(const Site& site, const Region& region, std::optional<std::array<double, 3>> about);

  std::string name() const override { return (about_ ? "moment of region '" : "reaction of region '") + region_ + "'"; }
  std::string unit() const override { return about_ ? "N m" : "N"; }
  std::vector<std::string> components() const override { return {"x", "y", "z"}; }
  MPI_Comm comm() const override { return site_.system->comm(); }

  std::vector<double> value(int n, const State& state) override;
  std::vector<double> tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) override;
  void add_adjoint(int n, const State& state, const std::vector<double>& w, State& adjoint,
                   ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const std::vector<double>& w, const std::vector<double>& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override;

 private:
  using Numbers = std::vector<double>;

  Numbers reactions(const Configuration& at) const { return reactions_of(*site_.system, at, entries_); }
  Numbers reaction_tangents(const Configuration& at, const State& tangent, const ParameterSet& direction) const;
  Numbers sum(const Numbers& x, const Numbers& R) const;
  Numbers weights(const Numbers& x, const Vector& w, bool of_change = false) const;
  Field seed(const Numbers& u) const;
  void add_to_gravity(const Configuration& at, const Numbers& u, const Numbers& m, ParameterSet& gradient) const;
  void add_to_masses(const Numbers& u, const Vector& g, Field& mass_adjoint) const;
  void add_lever_adjoint(const Numbers& R, const Vector& w, State& adjoint) const;
  Vector lever(const Numbers& x, std::size_t vertex) const {
    return Vector{{x[3 * vertex], x[3 * vertex + 1], x[3 * vertex + 2]}} - *about_;
  }

  Site site_;
  std::string region_;
  std::optional<Vector> about_;
  std::vector<HeldComponent> entries_;
};

Reaction::Reaction(const Site& site, const Region& region, std::optional<std::array<double, 3>> about)
    : site_(site), region_(region.name) {
  if (about) about_ = Vector{{(*about)[0], (*about)[1], (*about)[2]}};
  entries_ = held_components(*site.system, region.vertices);
  if (sum_over_ranks(static_cast<std::int64_t>(entries_.size()), comm()) == 0)
    throw Error("region '" + region_ + "' has no reaction, because none of its vertices is fixed or moved",
                ErrorKind::input);
}

/// Returns the derivative of R_e along `tangent` and `direction` for each entry.
std::vector<double> Reaction::reaction_tangents(const Configuration& at, const State& tangent,
                                                const ParameterSet& direction) const {
  System& system = *site_.system;
  const Field velocities = on_local_vertices(system, tangent["velocities"]);
  Field force = system.scratch_field("sensor::force");
  system.compute_force_tangent(at, {tangent["positions"], &velocities}, direction, force);
  const Numbers df = force.to_host(), m = system.mass().to_host();
  const Numbers dm = system.changes_mass(direction) ? system.mass_tangent().to_host() : Numbers(m.size(), 0.0);
  const Vector g = gravity_at(at, system.parameters()), dg = gravity_at(at, direction);
  Numbers dR;
  for (const HeldComponent& entry : entries_) {
    const int c = entry.component();
    const std::size_t v = entry.vertex();
    dR.push_back(-df[static_cast<std::size_t>(entry.at)] - (entry.weighs ? dm[v] * g[c] + m[v] * dg[c] : 0.0));
  }
  return dR;
}

/// Returns Σ_e B_e R_e over all ranks. `x`: positions of the local vertices.
std::vector<double> Reaction::sum(const Numbers& x, const Numbers& R) const {
  Numbers sum(3, 0.0);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    Vector along{};
    along[entries_[e].component()] = R[e];
    const Vector part = about_ ? cross(lever(x, entries_[e].vertex()), along) : along;
    for (int c = 0; c < 3; ++c) sum[static_cast<std::size_t>(c)] += part[c];
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, comm()));
  return sum;
}

/// Returns u_e = B_e · w for each entry. With `of_change`, `x` is a change of the positions, and the result is the
/// change of u_e.
std::vector<double> Reaction::weights(const Numbers& x, const Vector& w, bool of_change) const {
  Numbers u;
  for (const HeldComponent& entry : entries_) {
    Vector by = w;
    if (about_) {
      const std::size_t v = 3 * entry.vertex();
      by = cross(w, of_change ? Vector{{x[v], x[v + 1], x[v + 2]}} : lever(x, entry.vertex()));
    } else if (of_change) {
      by = {};
    }
    u.push_back(by[entry.component()]);
  }
  return u;
}

/// Returns (∂R/∂f)ᵀ u on local vertices, with ghost values up to date.
Field Reaction::seed(const Numbers& u) const {
  Field seed = site_.system->scratch_field("sensor::seed");
  Numbers values(seed.size(), 0.0);
  for (std::size_t e = 0; e < entries_.size(); ++e) values[static_cast<std::size_t>(entries_[e].at)] = -u[e];
  seed.from_host(values);
  site_.mesh().vertex_exchange().copy_to_ghosts(seed);
  return seed;
}

/// Subtracts Σ_e u_e m_e, times the load factor, from the gradient with respect to gravity, if `gradient` contains
/// gravity.
void Reaction::add_to_gravity(const Configuration& at, const Numbers& u, const Numbers& m,
                              ParameterSet& gradient) const {
  Parameter* const gravity = gradient.find("gravity");
  if (!gravity) return;
  Numbers sums(3, 0.0);
  for (std::size_t e = 0; e < entries_.size(); ++e)
    if (entries_[e].weighs)
      sums[static_cast<std::size_t>(entries_[e].component())] -=
          at.factor_of(*gravity) * u[e] * m[entries_[e].vertex()];
  add_to_entries(gravity->field, 3 * gravity->offset(at.step), sums);
}

/// Subtracts u_e g_e from the adjoint of the masses [owned vertices, 3] at the entries on which gravity acts.
void Reaction::add_to_masses(const Numbers& u, const Vector& g, Field& mass_adjoint) const {
  Numbers values = mass_adjoint.to_host();
  for (std::size_t e = 0; e < entries_.size(); ++e)
    if (entries_[e].weighs) values[static_cast<std::size_t>(entries_[e].at)] -= u[e] * g[entries_[e].component()];
  mass_adjoint.from_host(values);
}

/// Adds R_v × w to the adjoint of the positions: the derivative of w · M with respect to the lever arm of vertex v,
/// where M is the moment and R_v the reaction at the vertex.
void Reaction::add_lever_adjoint(const Numbers& R, const Vector& w, State& adjoint) const {
  if (!about_) return;
  Numbers x_bar = adjoint["positions"].to_host();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    Vector along{};
    along[entries_[e].component()] = R[e];
    const Vector by = cross(along, w);
    for (int c = 0; c < 3; ++c) x_bar[3 * entries_[e].vertex() + static_cast<std::size_t>(c)] += by[c];
  }
  adjoint["positions"].from_host(x_bar);
}

std::vector<double> Reaction::value(int n, const State& state) {
  site_.system->prepare_if_changed();
  const Evaluation here(site_, n, state);
  return sum(state["positions"].to_host(), reactions(here.at));
}

std::vector<double> Reaction::tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) {
  const Evaluation here(site_, n, state);
  Numbers dy = sum(state["positions"].to_host(), reaction_tangents(here.at, tangent, direction));
  if (!about_) return dy;
  const Numbers R = reactions(here.at), dx = tangent["positions"].to_host();
  Numbers more(3, 0.0);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const std::size_t v = 3 * entries_[e].vertex();
    Vector along{};
    along[entries_[e].component()] = R[e];
    const Vector part = cross(Vector{{dx[v], dx[v + 1], dx[v + 2]}}, along);
    for (int c = 0; c < 3; ++c) more[static_cast<std::size_t>(c)] += part[c];
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, more.data(), 3, MPI_DOUBLE, MPI_SUM, comm()));
  for (std::size_t c = 0; c < 3; ++c) dy[c] += more[c];
  return dy;
}

void Reaction::add_adjoint(int n, const State& state, const std::vector<double>& w, State& adjoint,
                           ParameterSet& gradient) {
  System& system = *site_.system;
  const Evaluation here(site_, n, state);
  const Numbers u = weights(state["positions"].to_host(), vector_of(w));
  Field x = system.scratch_field("sensor::positions"), v = system.scratch_field("sensor::velocities");
  system.compute_force_adjoint(here.at, seed(u), {x, &v}, gradient);
  add_owned(x, adjoint["positions"]);
  add_owned(v, adjoint["velocities"]);
  if (about_) add_lever_adjoint(reactions(here.at), vector_of(w), adjoint);
  add_to_gravity(here.at, u, system.mass().to_host(), gradient);
  if (system.changes_mass(gradient)) add_to_masses(u, gravity_at(here.at, system.parameters()), system.mass_gradient());
}

void Reaction::add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                                   const std::vector<double>& w, const std::vector<double>& dw, State& adjoint_tangent,
                                   ParameterSet& gradient_tangent) {
  System& system = *site_.system;
  const Evaluation here(site_, n, state);
  const Numbers positions = state["positions"].to_host(), dx = tangent["positions"].to_host();
  const Numbers u = weights(positions, vector_of(w)), by_x = weights(dx, vector_of(w), true);
  Numbers du = weights(positions, vector_of(dw));
  for (std::size_t e = 0; e < du.size(); ++e) du[e] += by_x[e];
  const Field velocities = on_local_vertices(system, tangent["velocities"]);
  Field x = system.scratch_field("sensor::positions"), v = system.scratch_field("sensor::velocities");
  const Field along_u = seed(u), along_du = seed(du);
  system.compute_force_adjoint_tangent(here.at, {tangent["positions"], &velocities}, direction, &along_u, &along_du,
                                       {x, &v}, gradient_tangent);
  add_owned(x, adjoint_tangent["positions"]);
  add_owned(v, adjoint_tangent["velocities"]);
  if (about_) {
    add_lever_adjoint(reaction_tangents(here.at, tangent, direction), vector_of(w), adjoint_tangent);
    add_lever_adjoint(reactions(here.at), vector_of(dw), adjoint_tangent);
  }
  // Derivatives of the products u m and u g that `add_adjoint` adds to the adjoints of gravity and masses.
  add_to_gravity(here.at, du, system.mass().to_host(), gradient_tangent);
  if (system.changes_mass(direction)) add_to_gravity(here.at, u, system.mass_tangent().to_host(), gradient_tangent);
  if (!system.changes_mass(gradient_tangent)) return;
  add_to_masses(du, gravity_at(here.at, system.parameters()), system.mass_gradient_tangent());
  add_to_masses(u, gravity_at(here.at, direction), system.mass_gradient_tangent());
}

}  // namespace

std::unique_ptr<Sensor> make_reaction(const Site& site, const Region& region,
                                      std::optional<std::array<double, 3>> about) {
  return std::make_unique<Reaction>(site, region, about);
}

std::vector<double> vertex_reactions(const Site& site, int n, const State& state) {
  std::vector<int> vertices(static_cast<std::size_t>(site.mesh().num_owned_vertices()));
  std::iota(vertices.begin(), vertices.end(), 0);
  const std::vector<HeldComponent> entries = held_components(*site.system, vertices);
  const Evaluation here(site, n, state);
  const std::vector<double> R = reactions_of(*site.system, here.at, entries);
  std::vector<double> result(3 * vertices.size(), 0.0);
  for (std::size_t e = 0; e < entries.size(); ++e) result[static_cast<std::size_t>(entries[e].at)] = R[e];
  return result;
}

}  // namespace diffsim::sensor
