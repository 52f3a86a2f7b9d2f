// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/plane_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "diffsim/contact/barrier.hpp"
#include "diffsim/contact/friction.hpp"
#include "diffsim/contact/surface_areas.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/small_tensor.hpp"
#include "pair_kernels.hpp"

namespace diffsim {
namespace {

/// What the force on a vertex depends on.
constexpr int num_inputs = 17;
enum Input {
  position = 0,
  velocity = 3,
  obstacle_position = 6,
  obstacle_velocity = 9,
  stiffness = 12,
  range,
  mu,
  epsilon,
  area
};

/// The parameters in that order from `obstacle_position` to `epsilon`: device addresses, nullptr where there is none
/// (zero).
struct Globals {
  const double* of[6];

  KOKKOS_INLINE_FUNCTION double input(int k) const {
    if (k < stiffness) {
      const double* const vector = of[(k - obstacle_position) / 3];
      return vector ? vector[k % 3] : 0.0;
    }
    const double* const number = of[2 + k - stiffness];
    return number ? *number : 0.0;
  }
};

/// One vertex and the plane.
struct Point {
  Vec3<double> normal;
  double time;
  bool friction;

  template <class T>
  KOKKOS_INLINE_FUNCTION T height(const T* in) const {
    T h = T(0.0);
    for (int c = 0; c < 3; ++c)
      h = h + normal[c] * (in[position + c] - in[obstacle_position + c] - time * in[obstacle_velocity + c]);
    return h;
  }
  /// The force; zero at d̂ and beyond.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> force(const T* in) const {
    const T h = height(in);
    // N = -κ w ∂ψ/∂φ = -2 κ w φ b'(y)/d̂
    const T y = h * h / (in[range] * in[range]);
    const T push = -2.0 * in[area] * in[stiffness] * h * contact::barrier_gradient(y) / in[range];
    Vec3<T> f;
    for (int c = 0; c < 3; ++c) f[c] = normal[c] * push;
    if (!friction) return f;
    Vec3<T> u;
    T along = T(0.0), squared = T(0.0);
    for (int c = 0; c < 3; ++c) {
      u[c] = in[velocity + c] - in[obstacle_velocity + c];
      along = along + normal[c] * u[c];
    }
    for (int c = 0; c < 3; ++c) {
      u[c] = u[c] - normal[c] * along;
      squared = squared + u[c] * u[c];
    }
    const T factor = in[mu] * push * contact::friction_factor(squared, in[epsilon]);
    for (int c = 0; c < 3; ++c) f[c] = f[c] - factor * u[c];
    return f;
  }
};

/// Sums over vertices of the adjoints of the global inputs.
constexpr int num_globals = area - obstacle_position;
struct GlobalSums {
  double of[num_globals] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const GlobalSums& other) {
    for (int k = 0; k < num_globals; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile GlobalSums& other) volatile {
    for (int k = 0; k < num_globals; ++k) of[k] = of[k] + other.of[k];
  }
};

/// What kernels over the surface's vertices need.
struct Sweep {
  DeviceArray<int> vertices;
  DeviceArray<double> areas;
  Vec3<double> normal;
  double time;
  bool friction;
  const double* x;
  const double* v;
  Globals globals;

  KOKKOS_INLINE_FUNCTION Point point() const { return {normal, time, friction && v != nullptr}; }
  KOKKOS_INLINE_FUNCTION void read(int i, double* in) const {
    for (int c = 0; c < 3; ++c) {
      in[position + c] = x[3 * vertices(i) + c];
      in[velocity + c] = v ? v[3 * vertices(i) + c] : 0.0;
    }
    for (int k = obstacle_position; k < area; ++k) in[k] = globals.input(k);
    in[area] = areas(i);
  }
  /// Whether vertex i is pushed; `in` is read.
  KOKKOS_INLINE_FUNCTION bool active(int i, double* in) const {
    read(i, in);
    const double h = point().height(in);
    return h > 0.0 && h < in[range];
  }
  Range all() const { return Range(0, static_cast<int>(vertices.size())); }
};

double sum_energy(const Sweep& sweep) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::contact::plane_energy", sweep.all(),
      KOKKOS_LAMBDA(int i, double& s) {
        double in[num_inputs];
        if (!sweep.active(i, in)) return;
        const double h = sweep.point().height(in);
        s += in[stiffness] * in[area] * contact::Barrier(h * h, in[range]).value;
      },
      sum);
  return sum;
}

/// -f·u of friction: its force is the difference that velocities make.
double sum_friction_power(const Sweep& sweep) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::contact::plane_friction_power", sweep.all(),
      KOKKOS_LAMBDA(int i, double& s) {
        double in[num_inputs];
        if (!sweep.active(i, in)) return;
        Point smooth = sweep.point();
        const Vec3<double> with = smooth.force(in);
        smooth.friction = false;
        const Vec3<double> without = smooth.force(in);
        for (int c = 0; c < 3; ++c) s -= (with[c] - without[c]) * (in[velocity + c] - in[obstacle_velocity + c]);
      },
      sum);
  return sum;
}

void add_forces(const Sweep& sweep, double* f) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_force", sweep.all(), KOKKOS_LAMBDA(int i) {
        double in[num_inputs];
        if (!sweep.active(i, in)) return;
        const Vec3<double> force = sweep.point().force(in);
        for (int c = 0; c < 3; ++c) f[3 * sweep.vertices(i) + c] += force[c];
      });
}

/// `areas`: the tangents of the vertices' areas, or empty.
void add_tangents(const Sweep& sweep, const double* dx, const double* dv, const Globals& direction, double dt,
                  const DeviceArray<double>& areas, double* df) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_tangent", sweep.all(), KOKKOS_LAMBDA(int i) {
        double in[num_inputs];
        if (!sweep.active(i, in)) return;
        Dual<double, 1> seeded[num_inputs];
        const int at = 3 * sweep.vertices(i);
        for (int k = 0; k < num_inputs; ++k) {
          seeded[k].value = in[k];
          if (k < velocity)
            seeded[k].derivative[0] = dx[at + k];
          else if (k < obstacle_position)
            seeded[k].derivative[0] = dv ? dv[at + k - velocity] : 0.0;
          else
            seeded[k].derivative[0] = k == area ? (areas.size() > 0 ? areas(i) : 0.0) : direction.input(k);
        }
        // While the time goes on by dt the plane does by dt V.
        for (int c = 0; c < 3; ++c) seeded[obstacle_position + c].derivative[0] += dt * in[obstacle_velocity + c];
        const Vec3<Dual<double, 1>> force = sweep.point().force(seeded);
        for (int c = 0; c < 3; ++c) df[at + c] += force[c].derivative[0];
      });
}

/// Gradients of w·f by all inputs; those of the global ones are summed, those of areas go to the first components of
/// vertices if they are asked for.
GlobalSums add_adjoints(const Sweep& sweep, const double* w, double* x_bar, double* v_bar, double* area_bar) {
  GlobalSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::plane_adjoint", sweep.all(),
      KOKKOS_LAMBDA(int i, GlobalSums& s) {
        using Scalar = Dual<double, num_inputs>;
        double in[num_inputs];
        if (!sweep.active(i, in)) return;
        Scalar seeded[num_inputs];
        for (int k = 0; k < num_inputs; ++k) seeded[k] = Scalar::variable(in[k], k);
        const Vec3<Scalar> force = sweep.point().force(seeded);
        const int at = 3 * sweep.vertices(i);
        const Scalar product = w[at] * force[0] + w[at + 1] * force[1] + w[at + 2] * force[2];
        for (int c = 0; c < 3; ++c) {
          x_bar[at + c] += product.derivative[position + c];
          if (v_bar) v_bar[at + c] += product.derivative[velocity + c];
        }
        if (area_bar) area_bar[at] += product.derivative[area];
        for (int k = obstacle_position; k < area; ++k) s.of[k - obstacle_position] += product.derivative[k];
      },
      sums);
  return sums;
}

/// a ∂f/∂x + b ∂f/∂v at each vertex's diagonal block. Projected, the derivative of friction by the position, which is
/// not symmetric, is left out; the rest is semidefinite, the barrier being convex in the height.
void add_blocks(const Sweep& sweep, const JacobianWeights& weights, const DeviceArray<int>& blocks, double* values) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_jacobian", sweep.all(), KOKKOS_LAMBDA(int i) {
        using Scalar = Dual<double, 6>;
        double in[num_inputs];
        if (!sweep.active(i, in)) return;
        Scalar seeded[num_inputs];
        for (int k = 0; k < num_inputs; ++k) seeded[k] = k < 6 ? Scalar::variable(in[k], k) : Scalar(in[k]);
        const Point point = sweep.point();
        Point smooth = point;
        smooth.friction = point.friction && !weights.project;
        const Vec3<Scalar> by_position = smooth.force(seeded), by_velocity = point.force(seeded);
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c)
            values[9 * blocks(i) + 3 * r + c] += weights.position * by_position[r].derivative[position + c] +
                                                 weights.velocity * by_velocity[r].derivative[velocity + c];
      });
}

}  // namespace

struct PlaneContact::Data {
  explicit Data(const TetrahedralMesh& mesh) : rest_areas(mesh) {}
  contact::RestAreas rest_areas;
  std::vector<int> surface;  // vertices, on the host
  DeviceArray<int> vertices;
  DeviceArray<double> areas, area_tangent;  // [vertices]; the tangent is empty where it is not asked for
  Field area_gradient;                      // [local vertices, 3], in the first component; likewise
  Vec3<double> normal;
  std::string names[6];
  std::uint64_t pattern = 0;  // of the matrix that `blocks` is for
  DeviceArray<int> blocks;    // the diagonal block of each vertex

  /// Of the surface's vertices, from those of all owned ones.
  DeviceArray<double> on_surface(const std::vector<double>& all) const {
    std::vector<double> some;
    for (const int v : surface) some.push_back(all[static_cast<std::size_t>(v)]);
    return to_device("diffsim::contact::plane_areas", some);
  }
  /// Finds the diagonal blocks in a matrix of another pattern.
  void fit(const BlockMatrix& matrix) {
    if (blocks.size() == vertices.size() && pattern == matrix.pattern()) return;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vertices);
    std::vector<int> found(host.size());
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = matrix.find(host(i), host(i));
    blocks = to_device("diffsim::contact::plane_blocks", found);
    pattern = matrix.pattern();
  }
  Globals globals(const ParameterSet& set, int n) const {
    Globals result{};
    for (int k = 0; k < 6; ++k)
      if (const Parameter* p = set.find(names[k]))
        result.of[k] = p->field.data() + p->offset(n) * static_cast<std::size_t>(p->field.components());
    return result;
  }
  Sweep sweep(const Configuration& at, const ParameterSet& set, bool friction) const {
    const Field* v = at.velocities;
    return {vertices,
            areas,
            normal,
            at.time,
            friction,
            at.positions.data(),
            v ? v->data() : nullptr,
            globals(set, at.step)};
  }
  /// " near (0.1, 0, 2)"
  std::string place_of(std::size_t i, const Field& positions) const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vertices);
    const std::vector<double> x = positions.to_host();
    const std::size_t first = 3 * static_cast<std::size_t>(host(i));
    return " near " + contact::text_of({x[first], x[first + 1], x[first + 2]});
  }
  /// Heights of all vertices above the plane, on the host.
  std::vector<double> heights(const Configuration& at, const ParameterSet& set) const;
};

namespace {

void measure(const Sweep& sweep, const DeviceArray<double>& heights) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_heights", sweep.all(), KOKKOS_LAMBDA(int i) {
        double in[num_inputs];
        sweep.read(i, in);
        heights(i) = sweep.point().height(in);
      });
}

}  // namespace

std::vector<double> PlaneContact::Data::heights(const Configuration& at, const ParameterSet& set) const {
  const auto device = make_device_array<double>("diffsim::contact::heights", vertices.size());
  measure(sweep(at, set, false), device);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  return {host.data(), host.data() + host.size()};
}

PlaneContact::PlaneContact(std::shared_ptr<const TetrahedralMesh> mesh, std::string label, std::array<double, 3> normal,
                           bool with_friction)
    : mesh_(std::move(mesh)),
      label_(std::move(label)),
      with_friction_(with_friction),
      data_(std::make_unique<Data>(*mesh_)) {
  const double length = std::hypot(normal[0], normal[1], normal[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("the normal of plane '" + label_ + "' has no direction; give one that points to the body",
                ErrorKind::input);
  data_->normal = {{normal[0] / length, normal[1] / length, normal[2] / length}};
  const contact::SurfaceAreas areas = contact::surface_areas(*mesh_);
  data_->surface = areas.vertices;
  data_->vertices = to_device("diffsim::contact::plane_vertices", areas.vertices);
  data_->areas = to_device("diffsim::contact::plane_areas", areas.areas);
  const std::string names[6] = {"obstacle_position:" + label_,
                                "obstacle_velocity:" + label_,
                                "barrier_stiffness",
                                "barrier_distance",
                                "friction",
                                "friction_velocity"};
  for (int k = 0; k < 6; ++k) data_->names[k] = names[k];
}

PlaneContact::~PlaneContact() = default;

void PlaneContact::prepare(const ParameterSet& parameters) {
  parameters_ = &parameters;
  data_->areas = data_->on_surface(data_->rest_areas.areas(parameters.at("rest_positions").field));
}

void PlaneContact::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  require_derivatives(direction, with_friction_);
  const Parameter* const rest = direction.find("rest_positions");
  data_->area_tangent = {};
  if (rest)
    data_->area_tangent =
        data_->on_surface(data_->rest_areas.tangent(parameters.at("rest_positions").field, rest->field));
}

void PlaneContact::begin_adjoint(const ParameterSet& gradient) {
  require_derivatives(gradient, with_friction_);
  data_->area_gradient = {};
  if (gradient.find("rest_positions"))
    data_->area_gradient =
        Field("area_gradient", static_cast<std::size_t>(mesh_->num_vertices()), 3, mesh_->num_owned_vertices());
}

void PlaneContact::prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) {
  if (!gradient.find("rest_positions")) return;
  data_->rest_areas.add_gradient(parameters.at("rest_positions").field, data_->area_gradient,
                                 gradient.at("rest_positions").field);
}

double PlaneContact::energy(const Configuration& at, const ParameterSet& parameters) {
  return sum_energy(data_->sweep(at, parameters, false));
}

void PlaneContact::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  add_forces(data_->sweep(at, parameters, with_friction_), force.data());
  Kokkos::fence();
}

void PlaneContact::add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                     const ParameterSet& direction, Field& force_tangent) {
  add_tangents(data_->sweep(at, *parameters_, with_friction_), tangent.positions.data(),
               tangent.velocities ? tangent.velocities->data() : nullptr, data_->globals(direction, at.step),
               tangent.time, direction.find("rest_positions") ? data_->area_tangent : DeviceArray<double>(),
               force_tangent.data());
  Kokkos::fence();
}

void PlaneContact::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                     ParameterSet& gradient) {
  const GlobalSums sums =
      add_adjoints(data_->sweep(at, *parameters_, with_friction_), w.data(), adjoint.positions.data(),
                   adjoint.velocities ? adjoint.velocities->data() : nullptr,
                   data_->area_gradient.size() > 0 ? data_->area_gradient.data() : nullptr);
  for (int k = 0; k < 6; ++k) {
    Parameter* const parameter = gradient.find(data_->names[k]);
    if (!parameter) continue;
    const auto components = static_cast<std::size_t>(parameter->field.components());
    const std::size_t first = parameter->offset(at.step) * components;
    std::vector<double> all = parameter->field.to_host();
    for (std::size_t c = 0; c < components; ++c) all[first + c] += sums.of[k < 2 ? 3 * k + static_cast<int>(c) : 4 + k];
    parameter->field.from_host(all);
  }
}

void PlaneContact::add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                                BlockMatrix& matrix) {
  data_->fit(matrix);
  add_blocks(data_->sweep(at, parameters, with_friction_), weights, data_->blocks, matrix.values());
  Kokkos::fence();
}

bool PlaneContact::moves(int n, const ParameterSet& parameters) const {
  const Parameter* const velocity = parameters.find(data_->names[1]);
  if (!velocity) return false;
  const std::vector<double> all = velocity->field.to_host();
  const std::size_t first = 3 * velocity->offset(n);
  return all[first] != 0.0 || all[first + 1] != 0.0 || all[first + 2] != 0.0;
}

std::string PlaneContact::name_of(std::size_t i) const {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), data_->vertices);
  return "vertex " + std::to_string(mesh_->vertex_order().file_index()[static_cast<std::size_t>(host(i))]) +
         " and plane " + label_;
}

double PlaneContact::max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) {
  // The height is linear along the motion.
  limiting_.clear();
  const std::vector<double> begin = data_->heights(from, parameters), end = data_->heights(to, parameters);
  double step = 1.0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (end[i] > 0.0 && begin[i] > 0.0) continue;
    // Nine tenths of the way to the plane.
    const double limit = begin[i] > 0.0 && end[i] < begin[i] ? 0.9 * begin[i] / (begin[i] - end[i]) : 0.0;
    if (limit >= step) continue;
    step = limit;
    limiting_ = name_of(i);
  }
  return step;
}

ContactState PlaneContact::state(const Configuration& at, const ParameterSet& parameters) {
  const double range = parameters.at("barrier_distance").field.to_host().at(0);
  ContactState result;
  intersecting_.clear();
  const std::vector<double> heights = data_->heights(at, parameters);
  for (std::size_t i = 0; i < heights.size(); ++i) {
    result.min_distance = std::min(result.min_distance, heights[i]);
    result.active_pairs += heights[i] < range;
    if (heights[i] > 0.0) continue;
    if (result.intersections < 3)
      intersecting_ += (intersecting_.empty() ? "" : ", ") + name_of(i) + data_->place_of(i, at.positions);
    ++result.intersections;
  }
  if (with_friction_ && at.velocities) result.friction_power = sum_friction_power(data_->sweep(at, parameters, true));
  std::int64_t counts[2] = {result.active_pairs, result.intersections};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.min_distance, 1, MPI_DOUBLE, MPI_MIN, mesh_->comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, mesh_->comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.friction_power, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  result.active_pairs = counts[0];
  result.intersections = counts[1];
  return result;
}

}  // namespace diffsim
