// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "attach/attachment.hpp"

#include <algorithm>
#include <utility>

#include "core/term_with_copies.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/core/stencil_term_impl.hpp"

namespace diffsim {

std::unique_ptr<ForceTerm> make_attachment(const TetrahedralMesh& mesh, const Anchors& anchors,
                                           const std::string& stiffness, const std::string& place) {
  const int rank = rank_of(mesh.comm()), owned = mesh.num_owned_vertices();
  const auto before = [](const VertexLocation& a, const VertexLocation& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.index < b.index;
  };
  std::vector<VertexLocation> copies;
  for (const VertexLocation& node : anchors.nodes)
    if (node.rank != rank) copies.push_back(node);
  std::sort(copies.begin(), copies.end(), before);
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());

  constexpr int N = AttachmentSpring::num_nodes;
  const auto width = anchors.vertices.empty() ? 0 : anchors.nodes.size() / anchors.vertices.size();
  std::vector<int> vertices;
  for (std::size_t i = 0; i < anchors.vertices.size(); ++i) {
    vertices.push_back(anchors.vertices[i]);
    for (std::size_t k = 0; k + 1 < N; ++k) {
      // The list of nodes is padded to four nodes with copies of the last node. The force on these copies is zero.
      const VertexLocation& node = anchors.nodes[i * width + std::min(k, width - 1)];
      const auto copy = std::lower_bound(copies.begin(), copies.end(), node, before);
      vertices.push_back(node.rank == rank ? node.index : owned + static_cast<int>(copy - copies.begin()));
    }
  }
  auto springs = std::make_unique<StencilTerm<AttachmentSpring>>(
      stiffness, AttachmentSpring{anchors.kind}, std::vector{PointParameter{stiffness, 1}, PointParameter{place, 3}},
      std::move(vertices), anchors.vertices, owned);
  return make_term_with_copies(std::move(springs), *mesh.owned_vertex_entities(), copies);
}

}  // namespace diffsim
