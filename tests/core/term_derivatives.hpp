// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

/// Tests of all derivatives of a force term with respect to each of its inputs, on any number of ranks.
namespace diffsim::testing_term {

using Numbers = std::vector<double>;

/// Values of all inputs, a direction or a gradient, by name: "x", "v", "time" and the names of parameters.
using Point = std::map<std::string, Numbers>;

inline Point combination(Point a, double h, const Point& b) {
  for (const auto& [name, values] : b)
    for (std::size_t i = 0; i < values.size(); ++i) a[name][i] += h * values[i];
  return a;
}

class TermRig {
 public:
  /// Takes the values of `parameters` as the point at which derivatives are tested. The rig changes `parameters`.
  TermRig(std::shared_ptr<const TetrahedralMesh> mesh, ForceTerm& term, ParameterSet& parameters)
      : mesh_(std::move(mesh)), term_(&term), parameters_(&parameters) {
    here_["x"] = combination({{"", mesh_->rest_positions()}}, 0.04, {{"", noise(mesh_->vertex_entities(), 3, 1)}})[""];
    here_["v"] = noise(mesh_->vertex_entities(), 3, 2);
    here_["time"] = {0.3};
    for (const Parameter& parameter : parameters) here_[parameter.name()] = parameter.field.to_host();
  }

  /// Checks all first and second derivatives. `without_second` names the inputs without second derivatives.
  void expect_all_derivatives(const std::set<std::string>& without_second = {}) {
    const Point w{{"w", noise(mesh_->vertex_entities(), 3, 3)}}, dw{{"w", noise(mesh_->vertex_entities(), 3, 4)}};
    int curved = 0;
    for (const auto& [name, unused] : here_) {
      SCOPED_TRACE(name);
      const Point d = direction(name, 5);
      const auto work = [&](double h) { return this->work(combination(here_, h, d), w.at("w")); };
      const double slope = tangent(d, w.at("w")), size = std::abs(slope);
      EXPECT_NEAR(slope, difference(work), 1e-9 * size);
      curved += expect_second_order(work, slope);
      if (name == "time") continue;
      EXPECT_NEAR(inner(adjoint(here_, w.at("w")), d), slope, 1e-12 * size);
      if (without_second.count(name)) continue;
      for (const auto& [other, also_unused] : here_) {
        if (other == "time" || without_second.count(other)) continue;
        SCOPED_TRACE("and " + other);
        const Point e = direction(other, 6);
        const double expected = difference([&](double h) {
          return inner(adjoint(combination(here_, h, d), combination(w, h, dw).at("w"), without_second), e);
        });
        EXPECT_NEAR(inner(adjoint_tangent(d, w.at("w"), dw.at("w"), without_second), e), expected,
                    1e-9 * std::max(1.0, std::abs(expected)));
      }
    }
    EXPECT_GT(curved, 0);
    expect_jacobian(w.at("w"));
    if (term_->has_energy()) {
      const auto energy = [&](double h) { return this->energy(combination(here_, h, {{"x", w.at("w")}})); };
      const double power = work(here_, w.at("w"));
      EXPECT_NEAR(-difference(energy), power, 1e-9 * std::abs(power));
    }
  }

  void expect_jacobian(const Numbers& w) {
    const Numbers u = noise(mesh_->vertex_entities(), 3, 7);
    const auto scaled = [&](double a) { return combination({{"", Numbers(u.size())}}, a, {{"", u}})[""]; };
    const JacobianWeights weights{-0.3, -0.6};
    const double expected = tangent({{"x", scaled(weights.position)}, {"v", scaled(weights.velocity)}}, w);
    EXPECT_NEAR(jacobian(weights, u, w), expected, 1e-12 * std::abs(expected));
    for (unsigned seed = 20; seed < 25; ++seed) {
      const Numbers some = noise(mesh_->vertex_entities(), 3, seed);
      EXPECT_GE(jacobian({-0.3, -0.6, true}, some, some), 0.0);
    }
  }

  double energy(const Point& at) { return over_ranks(term_->energy(set(at), *parameters_)); }
  double work(const Point& at, const Numbers& w) {
    Field f = field({});
    term_->add_force(set(at), *parameters_, f);
    return over_ranks(dot(f.to_host(), w));
  }
  Point& here() { return here_; }
  Numbers noise(const std::shared_ptr<const Entities>& on, int components, unsigned seed) const {
    // Copies of vertices have the same values as the owned vertices.
    Numbers result(on->local() * static_cast<std::size_t>(components));
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto entity = i / static_cast<std::size_t>(components);
      const double place = on->order() ? static_cast<double>(on->order()->file_index()[entity]) : double(entity);
      // Each component has a different frequency; otherwise all vectors would lie in one plane.
      const auto component = static_cast<double>(i % static_cast<std::size_t>(components));
      result[i] = std::sin(2.1 * seed + (5.7 + 0.9 * component) * place + 1.9 * component);
    }
    return result;
  }

 private:
  static double dot(const Numbers& a, const Numbers& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  double over_ranks(double share) const {
    MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm());
    return share;
  }
  double inner(const Point& gradient, const Point& d) const {
    double sum = 0.0;
    for (const auto& [name, values] : d) sum += dot(gradient.at(name), values);
    return over_ranks(sum);
  }
  /// Returns the derivative at 0 by central differences of order eight.
  static double difference(const std::function<double(double)>& function) {
    constexpr double h = 0.002, factors[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) sum += factors[k] / h * (function((k + 1) * h) - function(-(k + 1) * h));
    return sum;
  }
  /// Checks that the remainder f(h) - f(0) - h f'(0) is of order h². Returns false if the remainder is zero up to
  /// rounding.
  static bool expect_second_order(const std::function<double(double)>& function, double slope) {
    const double start = function(0.0);
    const auto remainder = [&](double h) { return std::abs(function(h) - start - h * slope); };
    const double first = remainder(1e-3), second = remainder(5e-4);
    if (first < 1e-9 * (std::abs(start) + std::abs(slope))) return false;
    EXPECT_NEAR(std::log2(first / second), 2.0, 0.1);
    return true;
  }

  Point direction(const std::string& name, unsigned seed) {
    if (name == "time") return {{name, {1.0}}};
    const Parameter* const found = parameters_->find(name);
    if (!found) return {{name, noise(mesh_->vertex_entities(), 3, seed)}};
    Numbers d = noise(found->field.shared_on(), found->field.components(), seed);
    if (name == "rest_positions")
      for (double& value : d) value *= 0.1;
    return {{name, d}};
  }
  Field field(const Numbers& values) const {
    Field result("field", mesh_->vertex_entities(), 3);
    if (!values.empty()) result.from_host(values);
    return result;
  }
  Configuration set(const Point& at) {
    x_ = field(at.at("x"));
    v_ = field(at.at("v"));
    for (Parameter& parameter : *parameters_) parameter.field.from_host(at.at(parameter.name()));
    term_->prepare(*parameters_);
    return {x_, 0, nullptr, term_->uses_velocities() ? &v_ : nullptr, at.at("time")[0]};
  }
  /// Components of a direction: changes of positions, velocities, parameters and time.
  struct Changes {
    Field x, v;
    ParameterSet parameters;
    double time = 0.0;
    ConfigurationTangent tangent() const { return {x, &v, time}; }
  };
  Changes changes(const Point& d) {
    std::vector<std::string> names;
    for (const auto& [name, values] : d)
      if (parameters_->find(name)) names.push_back(name);
    Changes result{field({}), field({}), parameters_->zero_like(names)};
    for (const auto& [name, values] : d) {
      if (Parameter* found = result.parameters.find(name)) found->field.from_host(values);
      if (name == "x") result.x.from_host(values);
      if (name == "v") result.v.from_host(values);
      if (name == "time") result.time = values[0];
    }
    return result;
  }
  double tangent(const Point& d, const Numbers& w) {
    const Configuration at = set(here_);
    const Changes along = changes(d);
    Field f = field({});
    term_->prepare_tangent(*parameters_, along.parameters);
    term_->add_force_tangent(at, along.tangent(), along.parameters, f);
    return over_ranks(dot(f.to_host(), w));
  }
  std::vector<std::string> parameters_but(const std::set<std::string>& left_out) const {
    std::vector<std::string> names;
    for (const std::string& name : parameters_->names())
      if (!left_out.count(name)) names.push_back(name);
    return names;
  }
  static Point gathered(const Field& x, const Field& v, const ParameterSet& gradient) {
    Point result{{"x", x.to_host()}, {"v", v.to_host()}};
    for (const Parameter& parameter : gradient) result[parameter.name()] = parameter.field.to_host();
    return result;
  }
  Point adjoint(const Point& where, const Numbers& w, const std::set<std::string>& left_out = {}) {
    const Configuration at = set(where);
    ParameterSet gradient = parameters_->zero_like(parameters_but(left_out));
    Field x = field({}), v = field({});
    term_->begin_adjoint(gradient);
    term_->add_force_adjoint(at, field(w), {x, &v}, gradient);
    term_->prepare_adjoint(*parameters_, gradient);
    return gathered(x, v, gradient);
  }
  Point adjoint_tangent(const Point& d, const Numbers& w, const Numbers& dw, const std::set<std::string>& left_out) {
    const Configuration at = set(here_);
    const Changes along = changes(d);
    ParameterSet gradient = parameters_->zero_like(parameters_but(left_out));
    Field x = field({}), v = field({}), by_force = field(w), change = field(dw);
    term_->prepare_tangent(*parameters_, along.parameters);
    term_->begin_adjoint_tangent(gradient, along.parameters);
    term_->add_force_adjoint_tangent(at, along.tangent(), along.parameters, &by_force, &change, {x, &v}, gradient);
    return gathered(x, v, gradient);
  }
  double jacobian(const JacobianWeights& weights, const Numbers& u, const Numbers& w) {
    const Configuration at = set(here_);
    Couplings couplings;
    term_->add_couplings(at, couplings);
    BlockMatrix matrix(mesh_->num_vertices(), couplings);
    term_->add_jacobian(at, *parameters_, weights, matrix);
    Field product = field({});
    matrix.multiply(field(u), product);
    return over_ranks(dot(product.to_host(), w));
  }

  std::shared_ptr<const TetrahedralMesh> mesh_;
  ForceTerm* term_;
  ParameterSet* parameters_;
  Point here_;
  Field x_, v_;
};

}  // namespace diffsim::testing_term
