// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"
#include "sensor/cell_sums.hpp"
#include "sensor/elastic_forces.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Function that makes elastic force terms of a region's tetrahedra alone, one term for each material, without adding
/// the force terms to the System. Collective.
using MakeElasticTerms = std::function<std::vector<std::unique_ptr<ForceTerm>>(const Region&)>;

/// Row and column of each entry of SymmetricTensor in the matrix of the tensor.
inline constexpr std::size_t tensor_rows[6] = {0, 1, 2, 0, 1, 0}, tensor_columns[6] = {0, 1, 2, 1, 2, 2};

/// Mean Cauchy stress σ (Pa) and current volume v (m³) of a tetrahedron, or derivatives of σ and v.
struct CellStress {
  SymmetricTensor sigma{};
  double v = 0.0;
};

/// Mean Cauchy stresses σ = -(1/v) Σ_a sym(f_a ⊗ x_a) of single tetrahedra, where v is the current volume of a
/// tetrahedron, f_a are the elastic forces of this tetrahedron alone at its vertices a, and x_a are the positions of
/// the vertices. The tetrahedra are divided into sets of tetrahedra without common vertices, and the forces of each set
/// are computed separately.
class CellStresses {
 public:
  /// Tetrahedra without common vertices (local indices, ascending), and the elastic forces of these tetrahedra alone.
  struct Set {
    std::vector<int> cells;
    ElasticForces forces;
  };

  /// `region`: tetrahedra whose stresses are computed. Collective.
  CellStresses(const Site& site, const Region& region, const MakeElasticTerms& elastic_terms);

  /// Returns true if at least one tetrahedron of the region, on any rank, has an elastic law.
  bool has_law() const { return has_law_; }
  /// Sets of tetrahedra. All ranks have the same number of sets; some sets may be empty.
  const std::vector<Set>& sets() const { return sets_; }
  /// Returns Σ_a sym(f_a ⊗ x_a) over the nodes a of a tetrahedron. `f`, `x`: [local vertices, 3].
  SymmetricTensor virial(int cell, const std::vector<double>& f, const std::vector<double>& x) const;
  /// Returns the stresses and volumes of this rank's tetrahedra, in the order of the sets. Calls
  /// `ForceTerm::prepare`. Collective.
  std::vector<CellStress> values(const Evaluation& here, const CellPositions& at) const;

 private:
  Site site_;
  std::vector<Set> sets_;
  bool has_law_ = false;
};

}  // namespace diffsim::sensor
