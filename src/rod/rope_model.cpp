// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "rod/rope_model.hpp"

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/cell_mass.hpp"
#include "mesh/manifold.hpp"
#include "rod/parameters.hpp"
#include "rod/rope_energies.hpp"

namespace diffsim {
namespace {

using Rope = RopeParameters;

std::unique_ptr<ForceTerm> make_stretching(const TetrahedralMesh& mesh, const std::vector<int>& segments) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  std::vector<int> vertices;
  for (const int segment : segments)
    for (std::size_t end = 0; end < 2; ++end)
      vertices.push_back(all.vertices[2 * static_cast<std::size_t>(segment) + end]);
  return std::make_unique<StencilTerm<RopeStretch>>("stretching of ropes", RopeStretch(),
                                                    std::vector{PointParameter::of(Rope::stiffness)},
                                                    std::move(vertices), segments, all.num());
}

std::unique_ptr<ForceTerm> make_bending(const TetrahedralMesh& mesh, const std::vector<int>& segments) {
  require_manifold(mesh, CellKind::segment, segments, "a rope with rope_bending", "rope_bending");
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  std::vector<int> vertices, of_segment;
  for (const int segment : segments)
    for (std::size_t end = 0; end < 2; ++end) {
      const std::size_t first = 2 * static_cast<std::size_t>(segment);
      const int across = all.across[first + end];
      if (across == no_vertex_across) continue;
      vertices.insert(vertices.end(), {all.vertices[first + end], all.vertices[first + 1 - end], across});
      of_segment.push_back(segment);
    }
  return std::make_unique<StencilTerm<RopeBending>>("bending of ropes", RopeBending(),
                                                    std::vector{PointParameter::of(Rope::bending)}, std::move(vertices),
                                                    of_segment, all.num());
}

std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const ModelCells& cells) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(make_stretching(mesh, cells.all));
  if (cells.given(Rope::bending.name)) terms.push_back(make_bending(mesh, cells.all));
  return terms;
}

}  // namespace

const CellModel& rope_model() {
  static const CellModel model{
      "rope",
      CellKind::segment,
      12.0,
      {Rope::stiffness, Rope::bending, Rope::density},
      {},
      make_terms,
      [](const TetrahedralMesh& mesh) { return make_cell_mass(mesh, CellKind::segment, Rope::density.name); }};
  return model;
}

}  // namespace diffsim
