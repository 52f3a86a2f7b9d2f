// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/gmsh/gmsh_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "mesh/readers/gmsh/gmsh_sections.hpp"

namespace diffsim {
namespace {

using gmsh::Contents;
using gmsh::Document;
using gmsh::TaggedMesh;

/// Map from node tags, which are positive and in any order, to 0-based numbers in file order.
class NodeNumbers {
 public:
  /// Builds the map. Sets `repeated` to the number of the first node whose tag equals the tag of an earlier node, or to
  /// -1 if all tags differ.
  NodeNumbers(const std::vector<std::int64_t>& tags, std::int64_t& repeated) {
    repeated = -1;
    if (tags.empty()) return;
    const auto [least, greatest] = std::minmax_element(tags.begin(), tags.end());
    least_ = *least;
    // Use a lookup table if the tag range is at most about 4 entries per node, otherwise a sorted list.
    if ((*greatest - least_) / 4 <= static_cast<std::int64_t>(tags.size())) {
      table_.assign(static_cast<std::size_t>(*greatest - least_) + 1, -1);
      for (std::size_t i = 0; i < tags.size(); ++i) {
        auto& entry = table_[static_cast<std::size_t>(tags[i] - least_)];
        if (entry >= 0 && repeated < 0) repeated = static_cast<std::int64_t>(i);
        entry = static_cast<std::int64_t>(i);
      }
      return;
    }
    for (std::size_t i = 0; i < tags.size(); ++i) sorted_.emplace_back(tags[i], static_cast<std::int64_t>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (sorted_[i].first == sorted_[i - 1].first && (repeated < 0 || sorted_[i].second < repeated))
        repeated = sorted_[i].second;
  }

  /// Returns the number of the node with this tag, or -1 if no node has the tag.
  std::int64_t find(std::int64_t tag) const {
    if (!table_.empty()) {
      if (tag < least_ || tag - least_ >= static_cast<std::int64_t>(table_.size())) return -1;
      return table_[static_cast<std::size_t>(tag - least_)];
    }
    const auto entry = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<std::int64_t, std::int64_t>(tag, 0));
    return entry != sorted_.end() && entry->first == tag ? entry->second : -1;
  }

 private:
  std::int64_t least_ = 0;
  std::vector<std::int64_t> table_;
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted_;
};

/// Replaces node tags by vertex numbers.
void number_vertices(const Document& document, const Contents& contents, TaggedMesh& raw) {
  std::int64_t repeated = -1;
  const NodeNumbers numbers(raw.node_tags, repeated);
  if (repeated >= 0)
    document.fail(contents.nodes, raw.node_offsets[static_cast<std::size_t>(repeated)],
                  "node " + std::to_string(raw.node_tags[static_cast<std::size_t>(repeated)]) +
                      " is given twice; remove or renumber one");
  const auto resolve = [&](std::int64_t* tags, std::size_t count, std::size_t offset) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t vertex = numbers.find(tags[i]);
      if (vertex < 0)
        document.fail(contents.elements, offset,
                      "the element has node " + std::to_string(tags[i]) +
                          ", which $Nodes does not; correct the number or add the node");
      tags[i] = vertex;
    }
  };
  const auto width = static_cast<std::size_t>(raw.nodes_per_cell);
  for (std::size_t c = 0; c < raw.cell_offsets.size(); ++c) resolve(&raw.cells[width * c], width, raw.cell_offsets[c]);
  for (auto& element : raw.group_elements) {
    // In a linear mesh, keep only the corners of group elements.
    if (raw.nodes_per_cell != 10) element.num_nodes = element.dimension + 1;
    resolve(element.nodes.data(), static_cast<std::size_t>(element.num_nodes), element.offset);
  }
}

/// Sets the name of each group without a name to the group's tag. Throws InputError if two groups of one dimension then
/// have the same name.
void name_groups(const Document& document, TaggedMesh& raw) {
  std::set<std::pair<int, std::string>> taken;
  for (RegionInfo& group : raw.groups) {
    if (group.name.empty()) group.name = std::to_string(group.tag);
    if (!taken.emplace(group.dimension, group.name).second)
      throw InputError(document.name, 0, "",
                       "two physical groups of dimension " + std::to_string(group.dimension) + " are both called " +
                           in_quotes(group.name) +
                           ", one of them because it has no name; give it a name in $PhysicalNames");
  }
}

std::string how_to_mesh(CellKind kind) {
  return std::string("mesh the ") + (kind == CellKind::tetrahedron ? "volume (in Gmsh: `gmsh -3`)" : "body") +
         ", and if there are physical groups, put it into one too (Gmsh saves only what is in a group)";
}

}  // namespace

MeshData parse_gmsh(std::string_view content, const std::string& name_for_errors, double scale,
                    bool allow_coincident_vertices, int order, CellKind kind) {
  check_scale(scale);
  Document document{content, name_for_errors};
  const Contents contents = gmsh::find_sections(document);
  TaggedMesh raw = gmsh::read_sections(document, contents, scale, order, kind);
  number_vertices(document, contents, raw);
  name_groups(document, raw);
  const RawPlaces places{document.name, [&](std::size_t offset) { return document.place(contents.elements, offset); },
                         [&](std::int64_t vertex) {
                           return document.place(contents.nodes, raw.node_offsets[static_cast<std::size_t>(vertex)]);
                         },
                         "physical group", how_to_mesh};
  return assemble_mesh(std::move(raw), kind, allow_coincident_vertices, places);
}

MeshData read_gmsh(const std::string& path, double scale, bool allow_coincident_vertices, int order, CellKind kind) {
  return parse_gmsh(read_whole_file(path), path, scale, allow_coincident_vertices, order, kind);
}

}  // namespace diffsim
