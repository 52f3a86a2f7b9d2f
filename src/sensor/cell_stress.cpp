// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/cell_stress.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim::sensor {
namespace {

const int* vertices_of(const TetrahedralMesh& mesh, int cell) {
  return &mesh.cells()[static_cast<std::size_t>(cell) * static_cast<std::size_t>(mesh.nodes_per_cell())];
}

/// Divides tetrahedra of this rank into sets without common vertices. All ranks receive the same number of sets; some
/// sets may be empty. Collective.
std::vector<std::vector<int>> disjoint_sets(const TetrahedralMesh& mesh, std::vector<int> rest) {
  std::vector<std::vector<int>> sets;
  std::vector<int> last(static_cast<std::size_t>(mesh.num_vertices()), -1);
  while (!rest.empty()) {
    const auto number = static_cast<int>(sets.size());
    std::vector<int>& taken = sets.emplace_back();
    std::vector<int> left;
    for (const int cell : rest) {
      const int *const begin = vertices_of(mesh, cell), *const end = begin + mesh.nodes_per_cell();
      if (std::any_of(begin, end, [&](int v) { return last[static_cast<std::size_t>(v)] == number; })) {
        left.push_back(cell);
        continue;
      }
      for (const int* v = begin; v != end; ++v) last[static_cast<std::size_t>(*v)] = number;
      taken.push_back(cell);
    }
    rest = std::move(left);
  }
  auto most = static_cast<int>(sets.size());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, mesh.comm()));
  sets.resize(static_cast<std::size_t>(most));
  return sets;
}

}  // namespace

CellStresses::CellStresses(const Site& site, const Region& region, const MakeElasticTerms& elastic_terms)
    : site_(site) {
  for (std::vector<int>& cells : disjoint_sets(site.mesh(), region.cells)) {
    std::sort(cells.begin(), cells.end());
    Region part;
    part.name = region.name;
    part.cells = cells;
    part.num_cells = region.num_cells;
    std::vector<std::unique_ptr<ForceTerm>> terms = elastic_terms(part);
    has_law_ = has_law_ || !terms.empty();
    sets_.push_back({std::move(cells), ElasticForces(site, std::move(terms))});
  }
}

SymmetricTensor CellStresses::virial(int cell, const std::vector<double>& f, const std::vector<double>& x) const {
  const TetrahedralMesh& mesh = site_.mesh();
  SymmetricTensor sum{};
  for (int a = 0; a < mesh.nodes_per_cell(); ++a) {
    const std::size_t i = 3 * static_cast<std::size_t>(vertices_of(mesh, cell)[a]);
    for (std::size_t k = 0; k < 6; ++k)
      sum[k] +=
          0.5 * (f[i + tensor_rows[k]] * x[i + tensor_columns[k]] + f[i + tensor_columns[k]] * x[i + tensor_rows[k]]);
  }
  return sum;
}

std::vector<CellStress> CellStresses::values(const Evaluation& here, const CellPositions& at) const {
  std::vector<CellStress> all;
  for (const Set& set : sets_) {
    set.forces.prepare();
    const std::vector<double> f = set.forces.values(here.at);
    for (const int cell : set.cells) {
      CellStress stress{virial(cell, f, at.x), cell_sums(site_.mesh(), {cell}, at).volume};
      for (double& value : stress.sigma) value /= -stress.v;
      all.push_back(stress);
    }
  }
  return all;
}

}  // namespace diffsim::sensor
