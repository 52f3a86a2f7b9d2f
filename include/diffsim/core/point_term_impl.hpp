// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/impl/point_kernels_impl.hpp"

namespace diffsim {

/// Device addresses of the weights of the points of a PointTerm, and of derivatives with respect to these weights. The
/// weight of point i is `values[stride * i]`; the arrays of derivatives have the same layout as `values`. PointWeights
/// does not own the arrays of weights and derivatives. If the address `values` is nullptr, all weights are 1. If the
/// address `tangent` is nullptr, the derivative of the weights along the direction of differentiation is zero. If
/// `gradient` or `gradient_tangent` is nullptr, the derivatives that would be added to this array are not requested.
struct PointWeights {
  const double* values = nullptr;      ///< weights
  const double* tangent = nullptr;     ///< derivatives of the weights along the direction of differentiation
  double* gradient = nullptr;          ///< array to which derivatives with respect to the weights are added
  double* gradient_tangent = nullptr;  ///< array to which derivatives of `gradient` along a direction are added
  int stride = 1;                      ///< number of doubles from the weight of a point to the weight of the next point
};

/// Force term of a force F that acts on each point independently. A point is a local vertex, and the force depends on
/// the PointValues of the vertex. The author of a force term writes the struct F only; automatic differentiation with
/// Dual numbers computes the tangent, the adjoint, the derivative of the adjoint and the Jacobian. The force F is a
/// struct of plain values, which kernels copy. The struct F must define `num_values` and at least one of `force` and
/// `energy`; all other members are optional.
///
/// - `static constexpr int num_values` is the total number of parameter values p per point.
///
/// - `Vec3<T> force(const PointValues<T, num_values>&) const`, a template of the scalar type T, returns the force in N.
///   If F does not define `force`, the force is -∂E/∂x with the energy E.
///
/// - `T energy(const PointValues<T, num_values>&) const`, a template of the scalar type T, returns the energy E in J.
///   If F defines `force`, the function `energy` is optional, and T = double is sufficient.
///
/// - `bool uses_velocities`, a static constexpr or a data member, is true if the force depends on velocities; the
///   default is false.
///
/// - `static constexpr bool uses_positions` is true if the force depends on positions; the default is true.
///
/// - `bool active(const PointValues<double, num_values>&) const` returns false where the force is zero by definition;
///   the default is true.
///
/// - `F projected() const` returns a force f for which -∂f/∂x is positive semidefinite. If F does not define
///   `projected`, the projection of the Jacobian sets negative eigenvalues of each point's block to 0.
///
/// All functions of F must be marked DIFFSIM_FUNCTION. If several ranks have the same point, the point's weights on
/// these ranks must add up to the total weight of the point. If a parameter has one value per vertex, each point must
/// be a vertex that the rank owns. The bounds of stiffness and damping for the stable time step are zero, unless a
/// derived class overrides `add_stiffness_bound` and `add_damping_bound`. The class `Base` is ForceTerm or a class
/// derived from ForceTerm.
template <class F, class Base = ForceTerm>
class PointTerm : public Base {
 public:
  static constexpr int P = F::num_values;  ///< number of parameter values p per point

  /// Constructs a term whose points are the local vertices in `vertices`, in which no vertex occurs twice.
  PointTerm(std::string name, const F& force, std::vector<PointParameter> parameters, const std::vector<int>& vertices)
      : PointTerm(std::move(name), force, std::move(parameters), static_cast<int>(vertices.size())) {
    vertices_ = to_device("diffsim::core::point_vertices", vertices);
  }
  /// Constructs a term whose points are the first `count` local vertices, for example the owned vertices.
  PointTerm(std::string name, const F& force, std::vector<PointParameter> parameters, int count)
      : force_(force), takes_(std::move(name), std::move(parameters)), count_(count) {}

  std::string name() const override { return takes_.term(); }  ///< name of the force term, as passed to the constructor
  bool uses_velocities() const override {
    if constexpr (point::may_use_velocities<F>())
      return force_.uses_velocities;
    else
      return false;
  }
  bool has_energy() const override { return point::HasEnergy<F> && !uses_velocities(); }
  bool has_symmetric_jacobian() const override { return has_energy(); }

  /// Checks the parameters. Throws Error if a required parameter is missing, or if a parameter has a wrong number of
  /// components, or has neither one value for all vertices nor one value per vertex.
  void prepare(const ParameterSet& parameters) override {
    parameters_ = &parameters;
    takes_.check(
        parameters, [](const Entities& on) { return on.name() == "vertices"; }, "each vertex");
  }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    if constexpr (!std::is_same_v<Base, ForceTerm>) Base::begin_adjoint_tangent(gradient, direction);
  }

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    if constexpr (!point::HasEnergy<F>) return 0.0;
    return point::sum_over("diffsim::core::point_energy", sweep(at, parameters), point::Energy());
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    point::add_forces(sweep(at, parameters), force.data());
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    point::add_tangents(sweep(at, *parameters_), along(at, tangent, direction), force_tangent.data());
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    const auto to = targets(at, adjoint, gradient, weights_.gradient);
    takes_.add_sums(point::add_adjoints(sweep(at, *parameters_), w.data(), to), at, gradient);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const auto to = targets(at, adjoint_tangent, gradient_tangent, weights_.gradient_tangent);
    takes_.add_sums(point::add_adjoint_tangents(sweep(at, *parameters_), along(at, tangent, direction), data_of(w),
                                                data_of(dw), to),
                    at, gradient_tangent);
  }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    if constexpr (point::Inputs<F>::first_value > 0)
      point::add_jacobians(sweep(at, parameters), weights, matrix.data());
  }

 protected:
  /// Returns the points, and the inputs of the force at the configuration `at`, for additional kernels of a derived
  /// class.
  point::Sweep<F> sweep(const Configuration& at, const ParameterSet& set) const {
    return {force_,
            count_,
            vertices_,
            {at.positions.data(), uses_velocities() ? data_of(at.velocities) : nullptr, weights_.values,
             weights_.stride, takes_.template numbers<const double>(set, at)},
            at.time};
  }
  const F& force() const { return force_; }  ///< force F that was passed to the constructor
  /// Returns the local vertex of each point; if the returned array is empty, point i is vertex i.
  const DeviceArray<int>& vertices() const { return vertices_; }
  /// Returns the addresses of the weights of the points. A derived class sets the addresses of the weights in
  /// `prepare`, `prepare_tangent`, `begin_adjoint` and `begin_adjoint_tangent`.
  PointWeights& weights() { return weights_; }

 private:
  template <class SomeField>
  static auto data_of(SomeField* field) -> decltype(field->data()) {
    return field ? field->data() : nullptr;
  }

  point::Direction<F> along(const Configuration& at, const ConfigurationTangent& tangent,
                            const ParameterSet& direction) const {
    return {{tangent.positions.data(), uses_velocities() ? data_of(tangent.velocities) : nullptr, weights_.tangent,
             weights_.stride, takes_.template numbers<const double>(direction, at)},
            tangent.time};
  }

  point::Addresses<P, double> targets(const Configuration& at, const ConfigurationAdjoint& adjoint,
                                      ParameterSet& gradient, double* weight) const {
    return {adjoint.positions.data(), uses_velocities() ? data_of(adjoint.velocities) : nullptr, weight,
            weights_.stride, takes_.template numbers<double>(gradient, at)};
  }

  F force_;
  point::Parameters<P> takes_;
  int count_;
  DeviceArray<int> vertices_;
  PointWeights weights_;
  const ParameterSet* parameters_ = nullptr;  // ParameterSet of the last `prepare`
};

}  // namespace diffsim
