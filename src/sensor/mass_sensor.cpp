// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/mass_sensor.hpp"

#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/along.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"
#include "sensor/place.hpp"

namespace diffsim::sensor {
namespace {

using Numbers = std::vector<double>;
using D = Dual<double, 1>;

/// Mass, position and velocity of a vertex, or the adjoints of these values. T is double, or D for the values with
/// their derivatives along a direction.
template <class T>
struct Particle {
  T m;
  Vec3<T> x, v;
};

template <class T>
Vec3<T> constant(const std::array<double, 3>& a) {
  return {{T(a[0]), T(a[1]), T(a[2])}};
}

/// Returns the contribution of a particle to the sums Σ m x, Σ m v, Σ m (x - o) × v, or ½ Σ m |v|². Scalars are in the
/// first component.
template <class T>
Vec3<T> contribution(MassQuantity quantity, const Particle<T>& p, const Vec3<T>& o) {
  switch (quantity) {
    case MassQuantity::center_of_mass:
      return p.m * p.x;
    case MassQuantity::momentum:
      return p.m * p.v;
    case MassQuantity::angular_momentum:
      return p.m * cross(p.x - o, p.v);
    default:
      return {{T(0.5) * p.m * dot(p.v, p.v), T(0.0), T(0.0)}};
  }
}

/// Returns the derivatives of w · y with respect to m, x and v of a particle. M is the total mass, and y the centre of
/// mass.
template <class T>
Particle<T> adjoint_of(MassQuantity quantity, const Particle<T>& p, const Vec3<T>& o, const Vec3<T>& w, const T& M,
                       const Vec3<T>& y) {
  const Vec3<T> zero{{T(0.0), T(0.0), T(0.0)}}, r = p.x - o;
  switch (quantity) {
    case MassQuantity::center_of_mass:
      return {dot(w, p.x - y) / M, (p.m / M) * w, zero};
    case MassQuantity::momentum:
      return {dot(w, p.v), zero, p.m * w};
    case MassQuantity::angular_momentum:
      return {dot(w, cross(r, p.v)), p.m * cross(p.v, w), p.m * cross(w, r)};
    default:
      return {T(0.5) * w[0] * dot(p.v, p.v), zero, (w[0] * p.m) * p.v};
  }
}

/// Returns `number`, or the derivative of `number` if it is a D.
double value_or_derivative(double number) { return number; }
double value_or_derivative(const D& number) { return number.derivative[0]; }

class MassSensor final : public Sensor {
 public:
  MassSensor(const Site& site, MassQuantity quantity, const Region& region, std::array<double, 3> about)
      : site_(site),
        quantity_(quantity),
        region_(region.name),
        about_(about),
        vertices_(owned_vertices(site.mesh(), region)) {
    site_.system->prepare_if_changed();
    if (quantity_ == MassQuantity::center_of_mass && !(total_mass() > 0.0))
      throw Error("region '" + region_ + "' has no mass", ErrorKind::input);
  }

  std::string name() const override {
    static const char* const names[] = {"centre of mass", "momentum", "angular momentum", "kinetic energy"};
    return names[static_cast<int>(quantity_)] + (" of region '" + region_ + "'");
  }
  std::string unit() const override {
    static const char* const units[] = {"m", "kg m/s", "kg m²/s", "J"};
    return units[static_cast<int>(quantity_)];
  }
  std::vector<std::string> components() const override {
    if (is_scalar()) return {"energy"};
    return {"x", "y", "z"};
  }
  MPI_Comm comm() const override { return site_.system->comm(); }

  std::vector<double> value(int, const State& state) override {
    site_.system->prepare_if_changed();
    const Values values(*this, state);
    Numbers y = sum<double>([&](std::size_t v) { return values.particle(v); });
    if (quantity_ == MassQuantity::center_of_mass) scale(1.0 / total_mass(), y);
    return y;
  }
  std::vector<double> tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) override {
    const Values values(*this, state), changes(*this, tangent, direction);
    Numbers dy = sum<D>([&](std::size_t v) { return joined(values.particle(v), changes.particle(v)); });
    if (quantity_ != MassQuantity::center_of_mass) return dy;
    const Numbers y = value(n, state);
    const double M = total_mass(), dM = changes.total_mass();
    for (std::size_t c = 0; c < 3; ++c) dy[c] = (dy[c] - y[c] * dM) / M;
    return dy;
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    System& system = *site_.system;
    const Values values(*this, state);
    const double M = total_mass();
    const Vec3<double> y = vector_of(value(n, state)), by = vector_of(w);
    add<double>([&](std::size_t v) { return adjoint_of(quantity_, values.particle(v), origin<double>(), by, M, y); },
                adjoint, system.changes_mass(gradient) ? &system.mass_gradient() : nullptr);
  }
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    System& system = *site_.system;
    const Values values(*this, state), changes(*this, tangent, direction);
    const D M = along(total_mass(), changes.total_mass());
    const Vec3<D> y = joined(vector_of(value(n, state)), vector_of(this->tangent(n, state, tangent, direction)));
    const Vec3<D> by = joined(vector_of(w), vector_of(dw));
    add<D>(
        [&](std::size_t v) {
          return adjoint_of(quantity_, joined(values.particle(v), changes.particle(v)), origin<D>(), by, M, y);
        },
        adjoint_tangent, system.changes_mass(gradient_tangent) ? &system.mass_gradient_tangent() : nullptr);
  }

 private:
  /// Masses, positions and velocities on the host, or their derivatives along a direction.
  class Values {
   public:
    Values(const MassSensor& of, const State& state) : Values(of, state, of.site_.system->vertex_masses()) {}
    Values(const MassSensor& of, const State& tangent, const ParameterSet& direction)
        : Values(of, tangent,
                 of.site_.system->changes_mass(direction)
                     ? of.site_.system->mass_tangent().to_host()
                     : Numbers(static_cast<std::size_t>(of.site_.mesh().num_owned_vertices()), 0.0)) {}
    Particle<double> particle(std::size_t v) const {
      return {m_[v], {{x_[3 * v], x_[3 * v + 1], x_[3 * v + 2]}}, {{v_[3 * v], v_[3 * v + 1], v_[3 * v + 2]}}};
    }
    /// Returns the sum of the masses over the region's vertices on all ranks.
    double total_mass() const { return of_.total(m_); }

   private:
    Values(const MassSensor& of, const State& state, Numbers masses)
        : of_(of), m_(std::move(masses)), x_(state["positions"].to_host()), v_(state["velocities"].to_host()) {}
    const MassSensor& of_;
    Numbers m_, x_, v_;
  };

  bool is_scalar() const { return quantity_ == MassQuantity::kinetic_energy; }
  template <class T>
  Vec3<T> origin() const {
    return constant<T>(about_);
  }
  static void scale(double factor, Numbers& values) {
    for (double& value : values) value *= factor;
  }
  static Vec3<double> vector_of(const Numbers& y) {
    return {{y[0], y.size() > 1 ? y[1] : 0.0, y.size() > 1 ? y[2] : 0.0}};
  }
  static Vec3<D> joined(const Vec3<double>& a, const Vec3<double>& da) {
    return {{along(a[0], da[0]), along(a[1], da[1]), along(a[2], da[2])}};
  }
  static Particle<D> joined(const Particle<double>& p, const Particle<double>& dp) {
    return {along(p.m, dp.m), joined(p.x, dp.x), joined(p.v, dp.v)};
  }
  double total_mass() const { return total(site_.system->vertex_masses()); }
  /// Returns the sum over the region's vertices on all ranks of values on owned vertices. Collective.
  double total(const Numbers& m) const {
    double sum = 0.0;
    for (const int v : vertices_) sum += m[static_cast<std::size_t>(v)];
    return sum_over_ranks(sum, comm());
  }

  /// Returns the sum of the contributions of all particles over all ranks, or the derivative of the sum if T is D.
  template <class T, class At>
  Numbers sum(const At& at) const {
    Numbers y(is_scalar() ? 1 : 3, 0.0);
    for (const int v : vertices_) {
      const Vec3<T> part = contribution(quantity_, at(static_cast<std::size_t>(v)), origin<T>());
      for (std::size_t c = 0; c < y.size(); ++c) y[c] += value_or_derivative(part[static_cast<int>(c)]);
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, y.data(), static_cast<int>(y.size()), MPI_DOUBLE, MPI_SUM, comm()));
    return y;
  }
  /// Adds the adjoints of all particles, or their derivatives if T is D, to `adjoint` and, unless `masses` is nullptr,
  /// to the first component of `masses`.
  template <class T, class At>
  void add(const At& at, State& adjoint, Field* masses) const {
    Numbers x = adjoint["positions"].to_host(), u = adjoint["velocities"].to_host();
    Numbers m = masses ? masses->to_host() : Numbers();
    for (const int vertex : vertices_) {
      const auto v = static_cast<std::size_t>(vertex);
      const Particle<T> bar = at(v);
      for (int c = 0; c < 3; ++c) {
        x[3 * v + static_cast<std::size_t>(c)] += value_or_derivative(bar.x[c]);
        u[3 * v + static_cast<std::size_t>(c)] += value_or_derivative(bar.v[c]);
      }
      if (masses) m[3 * v] += value_or_derivative(bar.m);
    }
    adjoint["positions"].from_host(x);
    adjoint["velocities"].from_host(u);
    if (masses) masses->from_host(m);
  }

  Site site_;
  MassQuantity quantity_;
  std::string region_;
  std::array<double, 3> about_;
  std::vector<int> vertices_;
};

}  // namespace

std::unique_ptr<Sensor> make_mass_sensor(const Site& site, MassQuantity quantity, const Region& region,
                                         std::array<double, 3> about) {
  return std::make_unique<MassSensor>(site, quantity, region, about);
}

}  // namespace diffsim::sensor
