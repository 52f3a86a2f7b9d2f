// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/point_map.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/place.hpp"

namespace diffsim {
namespace {

using Numbers = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Half the mean squared distance of material points to observed positions.
class PointTrackLoss final : public Loss {
 public:
  PointTrackLoss(const TetrahedralMesh& mesh, const std::vector<ObservedPoints>& observed) : comm_(mesh.comm()) {
    std::vector<PointStencil> stencils;
    std::int64_t count = 0;
    for (const ObservedPoints& one : observed) {
      for (const auto& [step, positions] : one.positions) {
        if (step < 0) throw Error(fmt::format("step {} is negative; the first step is 0", step), ErrorKind::input);
        if (std::any_of(positions.begin(), positions.end(), [](double x) { return std::isinf(x); }))
          throw Error("an observed position is infinite; use NaN for coordinates that were not observed",
                      ErrorKind::input);
        if (positions.size() != 3 * one.points.size())
          throw Error(fmt::format("{} coordinates are observed at step {} for {} points", positions.size(), step,
                                  one.points.size()),
                      ErrorKind::input);
        for (std::size_t i = 0; i < positions.size(); i += 3)
          count += std::isnan(positions[i]) && std::isnan(positions[i + 1]) && std::isnan(positions[i + 2]) ? 0 : 1;
      }
      const std::size_t before = stencils.size();
      const std::vector<contact::LocatedPoint> located =
          sensor::locate_inside(mesh, one.body, one.points, [&](std::size_t i) {
            const std::array<double, 3>& X = one.points[i];
            return fmt::format("observed point {} at ({:g}, {:g}, {:g})", i, X[0], X[1], X[2]);
          });
      for (const contact::LocatedPoint& point : located) stencils.push_back(point.stencil);
      for (auto& [step, positions] : observed_) positions.resize(3 * stencils.size(), nan);
      for (const auto& [step, positions] : one.positions) {
        Numbers& own = observed_[step];
        own.resize(3 * stencils.size(), nan);
        for (std::size_t i = 0; i < located.size(); ++i)
          std::copy_n(&positions[3 * located[i].point], 3, &own[3 * (before + i)]);
      }
    }
    if (count == 0) throw Error("no position of a point is observed", ErrorKind::input);
    count_ = static_cast<double>(count);
    points_ = std::make_shared<const Entities>("points", comm_, stencils.size());
    map_ = std::make_unique<PointMap>(mesh.owned_vertex_entities(), points_, std::move(stencils));
  }

  std::string unit() const override { return "m²"; }
  double num_observations() const override { return count_; }
  bool observes(int n) const override { return observed_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet&) override {
    const Numbers r = residual(n, state);
    return 0.5 * dot(r, r) / count_;
  }
  double tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) override {
    return dot(residual(n, state), changes(n, tangent)) / count_;
  }
  void add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    add(residual(n, state), adjoint);
  }
  void add_gradient_tangent(int n, const State&, const ParameterSet&, const State& tangent, const ParameterSet&,
                            State& adjoint_tangent, ParameterSet&) override {
    add(changes(n, tangent), adjoint_tangent);
  }
  void add_gauss_newton(int n, const State&, const ParameterSet&, const State& tangent, const ParameterSet&,
                        State& adjoint, ParameterSet&) override {
    add(changes(n, tangent), adjoint);
  }

 private:
  static double dot(const Numbers& a, const Numbers& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  /// Returns the values W q at this rank's points for a field q on vertices. Collective.
  Numbers at_points(const Field& q) const {
    Field x("point_positions", points_, 3);
    map_->apply(q, x);
    return x.to_host();
  }
  /// Returns W x - x̂, with zeros in the components that are not observed.
  Numbers residual(int n, const State& state) const {
    const Numbers& observed = observed_.at(n);
    Numbers r = at_points(state["positions"]);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::isnan(observed[i]) ? 0.0 : r[i] - observed[i];
    return r;
  }
  /// Returns the derivative of the residual along `tangent`.
  Numbers changes(int n, const State& tangent) const {
    const Numbers& observed = observed_.at(n);
    Numbers dr = at_points(tangent["positions"]);
    for (std::size_t i = 0; i < dr.size(); ++i)
      if (std::isnan(observed[i])) dr[i] = 0.0;
    return dr;
  }
  /// Adds Wᵀ r, divided by the number of observations, to the adjoint of the positions. Collective.
  void add(Numbers r, State& adjoint) const {
    for (double& value : r) value /= count_;
    Field x_bar("point_adjoint", points_, 3);
    x_bar.from_host(r);
    map_->add_transpose(x_bar, adjoint["positions"]);
  }

  MPI_Comm comm_;
  std::shared_ptr<const Entities> points_;  // this rank's points
  std::unique_ptr<PointMap> map_;
  std::map<int, Numbers> observed_;  // by step: [points of this rank, 3]
  double count_ = 0.0;               // number of pairs of point and step with an observed coordinate
};

}  // namespace

std::unique_ptr<Loss> make_point_track_loss(const TetrahedralMesh& mesh, const std::vector<ObservedPoints>& observed) {
  return std::make_unique<PointTrackLoss>(mesh, observed);
}

}  // namespace diffsim
