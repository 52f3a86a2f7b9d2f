// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/gmsh_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/validate.hpp"
#include "gmsh_sections.hpp"

namespace diffsim {
namespace {

using gmsh::Contents;
using gmsh::Document;
using gmsh::RawMesh;

/// From node tags, positive and in any order, to 0-based numbers in file order.
class NodeNumbers {
 public:
  /// Sets `repeated` to the number of a node whose tag an earlier one has, or to -1.
  NodeNumbers(const std::vector<std::int64_t>& tags, std::int64_t& repeated) {
    repeated = -1;
    if (tags.empty()) return;
    const auto [least, greatest] = std::minmax_element(tags.begin(), tags.end());
    least_ = *least;
    // A table where it costs no more than a few words a node, else a sorted list.
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

  /// -1 for a tag that no node has.
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

/// Turns what the file says into MeshData.
class Assembly {
 public:
  Assembly(const Document& document, const Contents& contents, RawMesh&& raw, CellKind kind)
      : document_(document), contents_(contents), raw_(std::move(raw)), kind_(kind) {}

  MeshData run(bool allow_coincident_vertices) {
    number_vertices();
    validate(allow_coincident_vertices);
    add_regions();
    find_faces();
    sort_regions();
    return std::move(mesh_);
  }

 private:
  /// A triangle of a group by its vertices in ascending order, and where it stands in the raw elements.
  struct Triangle {
    std::array<std::int64_t, 3> vertices;
    std::size_t element;
  };

  void number_vertices();
  void refuse_for_want_of_cells() const;
  std::int64_t num_elements() const {
    return std::accumulate(raw_.num_elements.begin(), raw_.num_elements.end(), std::int64_t{0});
  }
  void resolve(std::int64_t* tags, std::size_t count, const NodeNumbers& numbers, std::size_t offset) const;
  void validate(bool allow_coincident_vertices);
  void add_regions();
  void find_faces();
  void sort_regions();
  std::vector<Triangle> sorted_triangles() const;
  void check_middles(const RawMesh::GroupElement& triangle, const std::int64_t* cell) const;
  int group_dimension(const RawMesh::GroupElement& element) const {
    return raw_.groups[static_cast<std::size_t>(element.group)].first;
  }
  std::size_t num_nodes(const RawMesh::GroupElement& element) const {
    const auto dimension = static_cast<std::size_t>(group_dimension(element));
    return dimension + 1 + (element.second_order ? dimension * (dimension + 1) / 2 : 0);
  }

  const Document& document_;
  const Contents& contents_;
  RawMesh raw_;
  CellKind kind_;
  MeshData mesh_;
  std::vector<std::int32_t> region_of_group_;
};

void Assembly::resolve(std::int64_t* tags, std::size_t count, const NodeNumbers& numbers, std::size_t offset) const {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t vertex = numbers.find(tags[i]);
    if (vertex < 0)
      document_.fail(contents_.elements, offset,
                     "the element has node " + std::to_string(tags[i]) +
                         ", which $Nodes does not; correct the number or add the node");
    tags[i] = vertex;
  }
}

/// Moves nodes and cells over, with tags replaced by vertex numbers.
void Assembly::number_vertices() {
  std::int64_t repeated = -1;
  const NodeNumbers numbers(raw_.node_tags, repeated);
  if (repeated >= 0)
    document_.fail(contents_.nodes, raw_.node_offsets[static_cast<std::size_t>(repeated)],
                   "node " + std::to_string(raw_.node_tags[static_cast<std::size_t>(repeated)]) +
                       " is given twice; remove or renumber one");
  mesh_.num_vertices = static_cast<std::int64_t>(raw_.node_tags.size());
  const bool solid = kind_ == CellKind::tetrahedron;
  (solid ? mesh_.num_cells : mesh_.lower(kind_).num) = static_cast<std::int64_t>(raw_.cell_offsets.size());
  mesh_.order = raw_.nodes_per_cell == 10 ? 2 : 1;
  mesh_.coordinates = std::move(raw_.coordinates);
  std::vector<std::int64_t>& cells = solid ? mesh_.cells : mesh_.lower(kind_).nodes;
  cells = std::move(raw_.cells);
  const auto width = static_cast<std::size_t>(raw_.nodes_per_cell);
  for (std::size_t c = 0; c < raw_.cell_offsets.size(); ++c)
    resolve(&cells[width * c], width, numbers, raw_.cell_offsets[c]);
  for (auto& element : raw_.group_elements) {
    element.second_order = element.second_order && mesh_.order == 2;
    resolve(element.nodes.data(), num_nodes(element), numbers, element.offset);
  }
}

/// Says which cells the file has.
void Assembly::refuse_for_want_of_cells() const {
  std::string has;
  for (std::size_t d = raw_.num_elements.size(); d-- > 0;)
    if (raw_.num_elements[d] > 0)
      has +=
          (has.empty() ? "" : " and ") + std::to_string(raw_.num_elements[d]) + " " + name_of(static_cast<CellKind>(d));
  throw InputError(document_.name, 0, "",
                   std::string("no ") + name_of(kind_) + ", but " + (has.empty() ? "no cells at all" : has) +
                       "; mesh the " + (kind_ == CellKind::tetrahedron ? "volume (in Gmsh: `gmsh -3`)" : "body") +
                       ", and if there are physical groups, put it into one too (Gmsh saves only what is in a group)");
}

void Assembly::validate(bool allow_coincident_vertices) {
  ValidateOptions options;
  options.allow_coincident_vertices = allow_coincident_vertices;
  options.cell_place = [this](std::int64_t cell) {
    return document_.place(contents_.elements, raw_.cell_offsets[static_cast<std::size_t>(cell)]);
  };
  options.vertex_place = [this](std::int64_t vertex) {
    return document_.place(contents_.nodes, raw_.node_offsets[static_cast<std::size_t>(vertex)]);
  };
  if (raw_.cell_offsets.empty() && (kind_ != CellKind::tetrahedron || num_elements() > 0)) refuse_for_want_of_cells();
  mesh_.num_unused_vertices = kind_ == CellKind::tetrahedron
                                  ? validate_cells(mesh_, document_.name, options)
                                  : validate_lower_cells(mesh_, kind_, document_.name, options);
}

/// The regions, those of cells, and those of the vertices of curves and points.
void Assembly::add_regions() {
  std::vector<std::size_t> order(raw_.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(-raw_.groups[a].first, raw_.groups[a].second) <
           std::pair(-raw_.groups[b].first, raw_.groups[b].second);
  });
  region_of_group_.resize(order.size());
  std::set<std::pair<int, std::string>> taken;
  for (const std::size_t group : order) {
    const auto [dimension, tag] = raw_.groups[group];
    std::string name(raw_.group_names[group]);
    if (name.empty()) name = std::to_string(tag);
    if (!taken.emplace(dimension, name).second)
      throw InputError(document_.name, 0, "",
                       "two physical groups of dimension " + std::to_string(dimension) + " are both called " +
                           gmsh::quoted(name) + ", one of them for want of a name; name it in $PhysicalNames");
    region_of_group_[group] = static_cast<std::int32_t>(mesh_.regions.size());
    mesh_.regions.push_back({name, dimension, tag});
  }
  auto& cell_regions = kind_ == CellKind::tetrahedron ? mesh_.cell_regions : mesh_.lower(kind_).regions;
  for (const auto& entry : raw_.cell_groups)
    cell_regions.push_back({entry.cell, region_of_group_[static_cast<std::size_t>(entry.group)]});
  for (const auto& element : raw_.group_elements)
    for (std::size_t i = 0; group_dimension(element) < 2 && i < num_nodes(element); ++i)
      mesh_.vertex_regions.push_back({element.nodes[i], region_of_group_[static_cast<std::size_t>(element.group)]});
}

std::vector<Assembly::Triangle> Assembly::sorted_triangles() const {
  std::vector<Triangle> triangles;
  for (std::size_t e = 0; e < raw_.group_elements.size(); ++e) {
    if (group_dimension(raw_.group_elements[e]) != 2) continue;
    const auto& nodes = raw_.group_elements[e].nodes;
    triangles.push_back({{nodes[0], nodes[1], nodes[2]}, e});
    std::sort(triangles.back().vertices.begin(), triangles.back().vertices.end());
  }
  std::sort(triangles.begin(), triangles.end(), [](const Triangle& a, const Triangle& b) {
    return std::tie(a.vertices, a.element) < std::tie(b.vertices, b.element);
  });
  return triangles;
}

/// A second-order triangle has the nodes of the cell that it is a face of.
void Assembly::check_middles(const RawMesh::GroupElement& triangle, const std::int64_t* cell) const {
  if (!triangle.second_order) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t a = triangle.nodes[i], b = triangle.nodes[(i + 1) % 3], middle = triangle.nodes[3 + i];
    for (int e = 0; e < 6; ++e) {
      if (std::minmax(cell[edge_corners[e][0]], cell[edge_corners[e][1]]) != std::minmax(a, b)) continue;
      if (cell[4 + e] == middle) continue;
      document_.fail(contents_.elements, triangle.offset,
                     "this triangle has vertex " + std::to_string(middle) + " on the edge of vertices " +
                         std::to_string(a) + " and " + std::to_string(b) + ", where its tetrahedron has vertex " +
                         std::to_string(cell[4 + e]) + "; mesh surface and volume together");
    }
  }
}

/// Finds, for each triangle of a group, the first cell that has it as a face.
void Assembly::find_faces() {
  const std::vector<Triangle> triangles = sorted_triangles();
  if (triangles.empty()) return;
  std::vector<bool> on_triangle(static_cast<std::size_t>(mesh_.num_vertices), false);
  for (const Triangle& triangle : triangles)
    for (const std::int64_t vertex : triangle.vertices) on_triangle[static_cast<std::size_t>(vertex)] = true;

  std::vector<bool> found(triangles.size(), false);
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const std::int64_t* v = &mesh_.cells[static_cast<std::size_t>(mesh_.nodes_per_cell() * c)];
    const auto marked =
        std::count_if(v, v + 4, [&](std::int64_t vertex) { return on_triangle[static_cast<std::size_t>(vertex)]; });
    if (marked < 3) continue;
    for (int face = 0; face < 4; ++face) {
      std::array<std::int64_t, 3> vertices = {v[(face + 1) % 4], v[(face + 2) % 4], v[(face + 3) % 4]};
      std::sort(vertices.begin(), vertices.end());
      auto triangle = std::lower_bound(triangles.begin(), triangles.end(), vertices,
                                       [](const Triangle& a, const auto& b) { return a.vertices < b; });
      for (; triangle != triangles.end() && triangle->vertices == vertices; ++triangle) {
        const auto index = static_cast<std::size_t>(triangle - triangles.begin());
        if (found[index]) continue;
        found[index] = true;
        check_middles(raw_.group_elements[triangle->element], v);
        const std::int32_t group = raw_.group_elements[triangle->element].group;
        mesh_.face_regions.push_back({c, face, region_of_group_[static_cast<std::size_t>(group)]});
      }
    }
  }

  std::size_t first_stray = raw_.group_elements.size();
  for (std::size_t i = 0; i < triangles.size(); ++i)
    if (!found[i]) first_stray = std::min(first_stray, triangles[i].element);
  if (first_stray == raw_.group_elements.size()) return;
  const auto& stray = raw_.group_elements[first_stray];
  const auto& region = mesh_.regions[static_cast<std::size_t>(region_of_group_[static_cast<std::size_t>(stray.group)])];
  document_.fail(
      contents_.elements, stray.offset,
      "this triangle of physical group " + gmsh::quoted(region.name) +
          " is not a face of any tetrahedron; remove it from the group, or mesh surface and volume together");
}

/// By region, then entity, each entry once.
void Assembly::sort_regions() {
  const auto sort_unique = [](auto& entries, const auto& key) {
    std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    entries.erase(
        std::unique(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
        entries.end());
  };
  for (auto* const cells : {&mesh_.cell_regions, &mesh_.lower_cells[0].regions, &mesh_.lower_cells[1].regions,
                            &mesh_.lower_cells[2].regions})
    sort_unique(*cells, [](const auto& entry) { return std::tie(entry.region, entry.cell); });
  sort_unique(mesh_.face_regions, [](const auto& entry) { return std::tie(entry.region, entry.cell, entry.face); });
  sort_unique(mesh_.vertex_regions, [](const auto& entry) { return std::tie(entry.region, entry.vertex); });
}

std::string read_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    throw InputError(path, 0, "", "no such file; check the path (relative paths start at the working directory)");
  if (fs::is_directory(status)) throw InputError(path, 0, "", "is a directory; give a mesh file in it");
  if (!code && !fs::is_regular_file(status))
    throw InputError(path, 0, "", "is not a regular file; save the mesh to one and give that");

  errno = 0;
  std::ifstream file(path, std::ios::binary);
  const std::uintmax_t size = file ? fs::file_size(path, code) : 0;
  if (!file || code) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    throw InputError(path, 0, "", "cannot be opened (" + reason + "); check its permissions");
  }
  std::string content(static_cast<std::size_t>(size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(file.gcount()) != size)
    throw InputError(path, 0, "", "cannot be read to its end; check the disk, or get the whole file again");
  return content;
}

}  // namespace

MeshData parse_gmsh(std::string_view content, const std::string& name_for_errors, double scale,
                    bool allow_coincident_vertices, int order, CellKind kind) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw InputError("mesh scale " + std::to_string(scale) + " is not a positive number; give metres per file unit");
  Document document{content, name_for_errors};
  const Contents contents = gmsh::find_sections(document);
  return Assembly(document, contents, gmsh::read_sections(document, contents, scale, order, kind), kind)
      .run(allow_coincident_vertices);
}

MeshData read_gmsh(const std::string& path, double scale, bool allow_coincident_vertices, int order, CellKind kind) {
  return parse_gmsh(read_file(path), path, scale, allow_coincident_vertices, order, kind);
}

}  // namespace diffsim
