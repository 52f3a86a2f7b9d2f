// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/cell_sums.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

using Numbers = std::vector<double>;

/// Returns the names xx, yy, zz, xy, yz and xz of the components of a symmetric tensor.
inline const std::vector<std::string>& tensor_components() {
  static const std::vector<std::string> names{"xx", "yy", "zz", "xy", "yz", "xz"};
  return names;
}

inline double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// Base class of sensors that measure a quantity of a region's tetrahedra.
class CellSensor : public Sensor {
 public:
  CellSensor(const Site& site, const Region& region) : site_(site), region_(region.name), cells_(region.cells) {
    if (region.num_cells == 0) throw Error("region '" + region_ + "' has no tetrahedra", ErrorKind::input);
  }
  MPI_Comm comm() const override { return site_.system->comm(); }

 protected:
  CellPositions positions(const State& state) const {
    return {state["positions"].to_host(), site_.system->parameters().at("rest_positions").field.to_host()};
  }
  CellPositions direction(const State& tangent, const ParameterSet& set) const {
    const Parameter* const rest = set.find("rest_positions");
    return {tangent["positions"].to_host(), rest ? rest->field.to_host() : Numbers()};
  }
  CellPositions zeros() const {
    const auto count = 3 * static_cast<std::size_t>(site_.mesh().num_vertices());
    return {Numbers(count, 0.0), Numbers(count, 0.0)};
  }
  /// Returns the integrals `sums`, summed over all ranks. Collective.
  CellSums total(CellSums sums) const {
    Numbers values;
    for (const double* entry : sums.entries()) values.push_back(*entry);
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm()));
    for (std::size_t k = 0; k < values.size(); ++k) *sums.entries()[k] = values[k];
    return sums;
  }
  CellSums sums(const CellPositions& at) const { return total(cell_sums(site_.mesh(), cells_, at)); }
  CellSums sums_tangent(const CellPositions& at, const CellPositions& along) const {
    return total(cell_sums_tangent(site_.mesh(), cells_, at, along));
  }
  /// Sums `bar.x`, the contribution of each rank to the adjoint of the positions x, over the ranks, and adds the sum to
  /// `adjoint`. Adds `bar.X`, this rank's contribution to the adjoint of the rest positions X, to `gradient`.
  /// Collective.
  void add(const CellPositions& bar, State& adjoint, ParameterSet& gradient) const {
    add_summed(*site_.system, bar.x, adjoint["positions"]);
    Parameter* const rest = gradient.find("rest_positions");
    if (!rest) return;
    Numbers values = rest->field.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += bar.X[i];
    rest->field.from_host(values);
  }

  Site site_;
  std::string region_;
  std::vector<int> cells_;
};

}  // namespace diffsim::sensor
