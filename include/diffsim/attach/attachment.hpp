// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/attach/anchor.hpp"
#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Anchors of the vertices of a region that a rank owns.
struct Anchors {
  AnchorKind kind = AnchorKind::vertex;  ///< of all, the same on every rank
  std::vector<int> vertices;             ///< [anchors], owned
  std::vector<VertexPlace> nodes;        ///< [anchors, number of nodes of the kind]
  std::vector<double> places;            ///< [anchors, 3], ξ
};

/// Finds, in the shape at rest, the nearest of the cells of region `to`, those of its highest dimension, for each
/// vertex of `region`; vertices where the region has no cells. Throws Error (input) for a vertex of both regions, and
/// for one that is farther from the cells than their longest edge or, where these have no frame that keeps a distance,
/// not on one of them. Collective.
Anchors find_anchors(const TetrahedralMesh& mesh, const std::string& region, const std::string& to);

/// Makes the term of springs between vertices and their anchors. Parameters, of the names given: the stiffness, one
/// value for all, and the places ξ [owned vertices, 3]. Collective.
std::unique_ptr<ForceTerm> make_attachment(const TetrahedralMesh& mesh, const Anchors& anchors,
                                           const std::string& stiffness, const std::string& place);

}  // namespace diffsim
