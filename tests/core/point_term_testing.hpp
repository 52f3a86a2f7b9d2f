// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/point_term_impl.hpp"

/// Forces at points, and a rig that presents all inputs of a term with one of these forces as a single vector.
namespace diffsim::testing_points {

using Numbers = std::vector<double>;

/// Stiffening spring between a vertex and a fixed position, defined by an energy.
struct Spring {
  static constexpr int num_values = 5;
  static std::vector<PointParameter> parameters() { return {{"place", 3}, {"stiffness"}, {"local_stiffening"}}; }
  template <class T>
  DIFFSIM_FUNCTION T energy(const PointValues<T, 5>& at) const {
    const Vec3<T> way = at.x - at.vector(0);
    const T squared = dot(way, way);
    return at.weight * (at.p[3] * squared + at.p[4] * (1.0 + at.time) * squared * squared);
  }
};

/// Force without an energy that depends on position, velocity and time and acts on vertices above a height.
struct Gust {
  static constexpr int num_values = 4;
  static constexpr bool uses_velocities = true;
  static std::vector<PointParameter> parameters() { return {{"signal_wind", 3}, {"drag"}}; }
  template <class T>
  DIFFSIM_FUNCTION Vec3<T> force(const PointValues<T, 4>& at) const {
    Vec3<T> f;
    for (int c = 0; c < 3; ++c) {
      const T u = at.p[c] * (1.0 + at.x[(c + 1) % 3] * at.time) - at.v[c];
      f[c] = at.weight * at.p[3] * (u + u * u * u);
    }
    return f;
  }
  DIFFSIM_FUNCTION bool active(const PointValues<double, 4>& at) const { return at.x[1] > 0.0; }
};

/// Dead load on each vertex, with a hand-written energy.
struct Load {
  static constexpr int num_values = 4;
  static constexpr bool uses_positions = false;
  static std::vector<PointParameter> parameters() { return {{"local_load", 3, true}, {"pressure", 1, true}}; }
  template <class T>
  DIFFSIM_FUNCTION Vec3<T> force(const PointValues<T, 4>& at) const {
    return {{at.p[0], at.p[1] + at.weight * at.p[3], at.p[2]}};
  }
  DIFFSIM_FUNCTION double energy(const PointValues<double, 4>& at) const {
    return -dot(at.vector(0), at.x) - at.weight * at.p[3] * at.x[1];
  }
};

/// Drag without parameters, proportional to the weight of a vertex.
struct Drag {
  static constexpr int num_values = 0;
  static constexpr bool uses_positions = false, uses_velocities = true;
  static std::vector<PointParameter> parameters() { return {}; }
  template <class T>
  DIFFSIM_FUNCTION Vec3<T> force(const PointValues<T, 0>& at) const {
    return {{-at.weight * at.v[0], -at.weight * at.v[1], -at.weight * at.v[2]}};
  }
};

inline bool begins_with(const std::string& name, const char* start) { return name.rfind(start, 0) == 0; }

/// A term on some of eight vertices. All inputs of the force form one vector with named parts: "x", "v", "weights", the
/// parameters and "time". Parameters "local_…" have one value per vertex, parameters "signal_…" one value for each of
/// two steps, other parameters a single value.
template <class F>
class Rig {
 public:
  struct Part {
    std::string name;
    std::size_t first, size;
  };
  class Term : public PointTerm<F> {
   public:
    using PointTerm<F>::PointTerm;
    using PointTerm<F>::weights;
  };

  Rig() : term_("rig", F(), F::parameters(), {6, 1, 3, 2, 7}) {
    add("x", 24);
    add("v", 24);
    add("weights", 5);
    for (const PointParameter& takes : F::parameters()) {
      const bool local = begins_with(takes.name, "local_");
      const auto& parameter = parameters_.add(takes.name, local ? vertices_ : one_, takes.components,
                                              begins_with(takes.name, "signal_") + 1);
      add(takes.name, parameter.field.size());
    }
    add("time", 1);
  }

  Term& term() { return term_; }
  const ParameterSet& parameters() const { return parameters_; }
  const std::vector<Part>& parts() const { return parts_; }
  Numbers random(unsigned seed) const {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> one(0.2, 1.0);
    Numbers result(parts_.back().first + 1);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = i % 4 == 2 ? -one(engine) : one(engine);
    return result;
  }
  /// Returns the entries of one part; entries of other parts are zero.
  static Numbers only(const Part& part, const Numbers& all) {
    Numbers result(all.size(), 0.0);
    for (std::size_t i = part.first; i < part.first + part.size; ++i) result[i] = all[i];
    return result;
  }

  double energy(const Numbers& at) { return term_.energy(set(at), parameters_); }
  Numbers force(const Numbers& at) {
    Field f = field("f");
    term_.add_force(set(at), parameters_, f);
    return f.to_host();
  }
  Numbers tangent(const Numbers& at, const Numbers& d) {
    const Configuration here = set(at);
    const ParameterSet direction = set_direction(d);
    Field f = field("df");
    term_.add_force_tangent(here, {dx_, &dv_, d.back()}, direction, f);
    return f.to_host();
  }
  Numbers adjoint(const Numbers& at, const Numbers& w) {
    const Configuration here = set(at);
    const auto weights = make_zeroed_device_array<double>("weights", 5);
    term_.weights().gradient = weights.data();
    return gather(weights, [&](const ConfigurationAdjoint& bar, ParameterSet& gradient) {
      term_.add_force_adjoint(here, field("w", w), bar, gradient);
    });
  }
  Numbers adjoint_tangent(const Numbers& at, const Numbers& d, const Numbers* w, const Numbers* dw) {
    const Configuration here = set(at);
    const ParameterSet direction = set_direction(d);
    const auto weights = make_zeroed_device_array<double>("weights", 5);
    term_.weights().gradient_tangent = weights.data();
    const Field by_force = w ? field("w", *w) : field("w"), change = dw ? field("dw", *dw) : field("dw");
    return gather(weights, [&](const ConfigurationAdjoint& bar, ParameterSet& gradient) {
      term_.begin_adjoint_tangent(gradient, direction);
      term_.add_force_adjoint_tangent(here, {dx_, &dv_, d.back()}, direction, w ? &by_force : nullptr,
                                      dw ? &change : nullptr, bar, gradient);
    });
  }
  /// Returns K u with the assembled Jacobian K.
  Numbers jacobian_product(const Numbers& at, const JacobianWeights& weights, const Numbers& u) {
    BlockMatrix matrix(8, Couplings());
    term_.add_jacobian(set(at), parameters_, weights, matrix);
    Field product = field("Ku");
    matrix.multiply(field("u", u), product);
    return product.to_host();
  }

 private:
  void add(const std::string& name, std::size_t size) {
    parts_.push_back({name, parts_.empty() ? 0 : parts_.back().first + parts_.back().size, size});
  }
  Numbers part(const Numbers& all, const std::string& name) const {
    for (const Part& p : parts_)
      if (p.name == name) return {all.begin() + as_offset(p.first), all.begin() + as_offset(p.first + p.size)};
    return {};
  }
  static std::ptrdiff_t as_offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
  Field field(const char* name, const Numbers& values = {}) const {
    Field result(name, vertices_, 3);
    if (!values.empty()) result.from_host(values);
    return result;
  }
  Configuration set(const Numbers& at) {
    x_.from_host(part(at, "x"));
    v_.from_host(part(at, "v"));
    for (Parameter& parameter : parameters_) parameter.field.from_host(part(at, parameter.name()));
    weights_ = to_device("weights", part(at, "weights"));
    term_.weights() = {weights_.data()};
    term_.prepare(parameters_);
    return {x_, 1, nullptr, &v_, at.back(), 0.7};
  }
  /// Returns the components of d that belong to parameters, restricted to parameters with a non-zero change.
  ParameterSet set_direction(const Numbers& d) {
    dx_.from_host(part(d, "x"));
    dv_.from_host(part(d, "v"));
    weight_tangent_ = to_device("weight_tangent", part(d, "weights"));
    term_.weights().tangent = weight_tangent_.data();
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters_)
      for (const double change : part(d, parameter.name()))
        if (change != 0.0 && (names.empty() || names.back() != parameter.name())) names.push_back(parameter.name());
    ParameterSet direction = parameters_.zero_like(names);
    for (Parameter& parameter : direction) parameter.field.from_host(part(d, parameter.name()));
    return direction;
  }
  /// Returns the derivatives with respect to all parts that the operation adds. The derivative with respect to time is
  /// zero.
  template <class Verb>
  Numbers gather(const DeviceArray<double>& weights, const Verb& verb) {
    Field x = field("x_bar"), v = field("v_bar");
    ParameterSet gradient = parameters_.zero_like(parameters_.names());
    verb(ConfigurationAdjoint{x, &v}, gradient);
    Numbers result = x.to_host();
    const auto append = [&](const Numbers& more) { result.insert(result.end(), more.begin(), more.end()); };
    append(v.to_host());
    const auto host = host_view(weights);
    append({host.data(), host.data() + host.size()});
    for (const Parameter& parameter : gradient) append(parameter.field.to_host());
    append({0.0});
    return result;
  }

  std::shared_ptr<const Entities> vertices_ = std::make_shared<const Entities>("vertices", MPI_COMM_SELF, 8);
  std::shared_ptr<const Entities> one_ = Entities::one_for_all(MPI_COMM_SELF);
  std::vector<Part> parts_;
  ParameterSet parameters_;
  Field x_ = field("x"), v_ = field("v"), dx_ = field("dx"), dv_ = field("dv");
  DeviceArray<double> weights_, weight_tangent_;
  Term term_;
};

}  // namespace diffsim::testing_points
