// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Regions of a TetrahedralMesh.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "core/exchange.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/bodies.hpp"
#include "mesh/memberships.hpp"

namespace diffsim {
namespace {

/// Returns the name of the body BODY if `name` is BODY/all, otherwise an empty optional.
std::optional<std::string> body_called_all(const std::vector<MeshBody>& bodies, const std::string& name) {
  for (const MeshBody& body : bodies)
    if (name == body.name + "/all") return body.name;
  return {};
}

/// Numbers of a VertexList, which are relative to the vertex `first` of the mesh; valid numbers are less than `count`.
struct ListedVertices {
  std::int64_t first, count;
  std::string owner;  ///< name of the body, or "the mesh", for messages
};

/// Throws Error (input) if a number of `list` is not valid or is the number of a director. `num_vertices`: number of
/// vertices of the mesh.
void check_list(const VertexList& list, const ListedVertices& valid, const std::string& region,
                const std::vector<MeshBody>& bodies, std::int64_t num_vertices) {
  for (const std::int64_t v : list.vertices) {
    const std::string vertex = "region '" + region + "': vertex " + std::to_string(v);
    if (v < 0 || v >= valid.count)
      throw Error(vertex + " is not one of " + valid.owner + "'s 0 … " + std::to_string(valid.count - 1),
                  ErrorKind::input);
    const auto body = static_cast<std::size_t>(body_of_vertex(bodies, valid.first + v));
    if (valid.first + v >= first_director(bodies, body, num_vertices))
      throw Error(
          vertex + " is a director of '" + bodies[body].name + "', which has no position; remove it from the list",
          ErrorKind::input);
  }
}

/// Removes each face that is listed a second time, with the same cell.
void remove_duplicates(std::vector<Face>& faces) {
  std::set<std::array<int, 4>> known;
  const auto is_listed = [&](const Face& face) {
    std::array<int, 4> key{face.vertices[0], face.vertices[1], face.vertices[2], face.cell};
    std::sort(key.begin(), key.begin() + 3);
    return !known.insert(key).second;
  };
  faces.erase(std::remove_if(faces.begin(), faces.end(), is_listed), faces.end());
}

}  // namespace

std::size_t TetrahedralMesh::find_body(const std::string& name) const {
  const std::vector<std::string> names = bodies_.empty() ? std::vector<std::string>() : body_names(bodies_);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
  const std::string near = nearest(name, names);
  throw Error("unknown body '" + name + "'; " + (near.empty() ? "" : "did you mean '" + near + "'? ") +
                  (names.empty() ? "the mesh is one body without a name" : "known bodies: " + known),
              ErrorKind::input);
}

std::vector<char> TetrahedralMesh::vertices_of_body(std::size_t body) const {
  std::vector<char> marks(static_cast<std::size_t>(num_vertices()));
  for (std::size_t v = 0; v < marks.size(); ++v)
    marks[v] = body_of_vertex(bodies_, vertex_order_->file_index()[v]) == static_cast<int>(body) ? 1 : 0;
  for (std::size_t v = 0; v < is_director_.size(); ++v) marks[v] &= is_director_[v] == 0;
  return marks;
}

void TetrahedralMesh::add_cells_within(const std::vector<char>& marks, Region& region) const {
  const auto add = [&](std::span<const int> vertices, int width, std::vector<int>& cells) {
    const auto n = static_cast<std::size_t>(width);
    for (std::size_t c = 0; n * c < vertices.size(); ++c) {
      const auto of_cell = vertices.subspan(n * c, n);
      if (std::all_of(of_cell.begin(), of_cell.end(), [&](int v) { return marks[static_cast<std::size_t>(v)] != 0; }))
        cells.push_back(static_cast<int>(c));
    }
  };
  add(cells(), nodes_per_cell(), region.cells);
  for (const CellKind kind : lower_kinds)
    add(lower_cells(kind).vertices, corners_of(kind), region.lower_cells[index_of(kind)]);
}

void TetrahedralMesh::read_groups(const MeshData& data, const FileOrder& cell_blocks, const FileOrder& vertex_blocks) {
  groups_.resize(infos_.size());
  group_faces_.resize(infos_.size());
  std::vector<std::vector<char>> marks(infos_.size(), std::vector<char>(static_cast<std::size_t>(num_vertices()), 0));
  const auto mark = [&](int region, int vertex) {
    marks[static_cast<std::size_t>(region)][static_cast<std::size_t>(vertex)] = 1;
  };
  std::vector<std::pair<std::int64_t, int>> entries;
  for (const auto& entry : data.cell_regions) entries.emplace_back(entry.cell - data.first_cell, entry.region);
  distribute_memberships(cell_blocks, 1, infos_.size(), entries, [&](int cell, int region) {
    groups_[static_cast<std::size_t>(region)].cells.push_back(cell);
    for (int a = 0; a < nodes_per_cell(); ++a)
      mark(region, cells_[static_cast<std::size_t>(nodes_per_cell() * cell + a)]);
  });
  entries.clear();
  for (const auto& entry : data.face_regions)
    entries.emplace_back(4 * (entry.cell - data.first_cell) + entry.face, entry.region);
  distribute_memberships(cell_blocks, 4, infos_.size(), entries, [&](int place, int region) {
    const Face on_cell = face(place / 4, place % 4);
    group_faces_[static_cast<std::size_t>(region)].push_back(on_cell);
    for (int i = 0; i < on_cell.num_nodes(); ++i) mark(region, on_cell.node(i));
  });
  for (const CellKind kind : lower_kinds) read_lower_groups(data, kind, marks);
  entries.clear();
  for (const auto& entry : data.vertex_regions) entries.emplace_back(entry.vertex - data.first_vertex, entry.region);
  distribute_memberships(vertex_blocks, 1, infos_.size(), entries,
                         [&](int vertex, int region) { mark(region, vertex); });
  for (std::size_t r = 0; r < groups_.size(); ++r) {
    groups_[r].name = infos_[r].name;
    finish(groups_[r], std::move(marks[r]));
  }
}

/// Reads the groups of the cells of `kind`, which is one of `lower_kinds`. Marks the vertices of these cells in
/// `marks`. Collective.
void TetrahedralMesh::read_lower_groups(const MeshData& data, CellKind kind, std::vector<std::vector<char>>& marks) {
  const MeshData::LowerCells& block = data.lower(kind);
  if (block.num == 0) return;
  const LowerCellSet& set = lower_[index_of(kind)];
  const auto corners = static_cast<std::size_t>(corners_of(kind));
  std::vector<std::pair<std::int64_t, int>> entries;
  for (const auto& entry : block.regions) entries.emplace_back(entry.cell - block.first, entry.region);
  const std::vector<PetscInt>& places = set.order->file_index();
  const FileOrder blocks(comm_, block.num, {places.begin(), places.end()}, static_cast<int>(places.size()),
                         static_cast<int>(data.block_of(kind)));
  distribute_memberships(blocks, 1, infos_.size(), entries, [&](int cell, int region) {
    groups_[static_cast<std::size_t>(region)].lower_cells[index_of(kind)].push_back(cell);
    for (std::size_t a = 0; a < corners; ++a)
      marks[static_cast<std::size_t>(region)]
           [static_cast<std::size_t>(set.vertices[corners * static_cast<std::size_t>(cell) + a])] = 1;
  });
}

void TetrahedralMesh::finish(Region& region, std::vector<char> marks) const {
  std::vector<PetscInt> counts_of(marks.begin(), marks.end());
  vertex_exchange_->add_to_owners(counts_of);
  vertex_exchange_->copy_to_ghosts(counts_of);
  region.vertices.clear();
  std::int64_t counts[2] = {0, static_cast<std::int64_t>(region.cells.size())};
  for (int v = 0; v < num_vertices(); ++v) {
    if (counts_of[static_cast<std::size_t>(v)] == 0) continue;
    region.vertices.push_back(v);
    if (v < num_owned_vertices()) ++counts[0];
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, comm_));
  region.num_vertices = counts[0];
  region.num_cells = counts[1];
}

std::vector<std::size_t> TetrahedralMesh::groups(const std::string& name) const {
  std::vector<std::size_t> by_name, by_tag;
  for (std::size_t r = 0; r < infos_.size(); ++r) {
    if (infos_[r].name == name) by_name.push_back(r);
    const std::string tag = std::to_string(infos_[r].tag);
    if ((infos_[r].body.empty() ? tag : infos_[r].body + "/" + tag) == name) by_tag.push_back(r);
  }
  return by_name.empty() ? by_tag : by_name;
}

bool TetrahedralMesh::has_region(const std::string& name) const {
  return name == "all" || regions_.count(name) > 0 || body_called_all(bodies_, name) || !groups(name).empty();
}

std::vector<std::string> TetrahedralMesh::region_names() const {
  std::vector<std::string> names{"all"};
  for (const MeshBody& body : bodies_) names.push_back(body.name + "/all");
  for (const auto& [name, region] : regions_) names.push_back(name);
  for (const RegionInfo& info : infos_) names.push_back(info.name);
  std::sort(names.begin() + 1, names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const Region& TetrahedralMesh::region(const std::string& name) const {
  if (const auto found = regions_.find(name); found != regions_.end()) return found->second;
  if (!has_region(name)) {
    std::string known;
    for (const std::string& other : region_names()) known += (known.empty() ? "" : ", ") + other;
    // For a name similar to that of a body, suggest the region BODY/all.
    std::vector<std::string> candidates = region_names();
    for (const MeshBody& body : bodies_) candidates.push_back(body.name);
    std::string near = nearest(name, candidates);
    if (!near.empty() && !has_region(near)) near += "/all";
    throw Error("unknown region '" + name + "'; " + (near.empty() ? "" : "did you mean '" + near + "'? ") +
                    "the mesh and the scene have: " + known,
                ErrorKind::input);
  }
  Region region;
  region.name = name;
  std::vector<char> marks(static_cast<std::size_t>(num_vertices()), name == "all" ? 1 : 0);
  if (const std::optional<std::string> body = body_called_all(bodies_, name)) {
    marks = vertices_of_body(find_body(*body));
    add_cells_within(marks, region);
  } else if (name == "all") {
    for (std::size_t v = 0; v < is_director_.size(); ++v) marks[v] = is_director_[v] == 0;
    add_cells_within(marks, region);
  } else {
    const auto add = [](std::vector<int>& cells, const std::vector<int>& more) {
      cells.insert(cells.end(), more.begin(), more.end());
      std::sort(cells.begin(), cells.end());
      cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    };
    for (const std::size_t r : groups(name)) {
      add(region.cells, groups_[r].cells);
      for (std::size_t k = 0; k < lower_.size(); ++k) add(region.lower_cells[k], groups_[r].lower_cells[k]);
      for (const int v : groups_[r].vertices) marks[static_cast<std::size_t>(v)] = 1;
    }
  }
  finish(region, std::move(marks));
  return regions_.emplace(name, std::move(region)).first->second;
}

std::vector<Face> TetrahedralMesh::faces(const std::string& name) const {
  const Region& region = this->region(name);
  std::vector<Face> result;
  for (const std::size_t r : groups(name)) result.insert(result.end(), group_faces_[r].begin(), group_faces_[r].end());
  if (groups(name).size() > 1) remove_duplicates(result);  // groups of the same name may share faces
  auto in_groups = static_cast<std::int64_t>(result.size());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &in_groups, 1, MPI_INT64_T, MPI_SUM, comm_));
  if (in_groups > 0) return result;
  const bool by_cell = !groups(name).empty();
  const auto has = [](const std::vector<int>& sorted, int i) {
    return std::binary_search(sorted.begin(), sorted.end(), i);
  };
  const auto has_all_nodes = [&](const Face& face) {
    for (int i = 0; i < face.num_nodes(); ++i)
      if (!has(region.vertices, face.node(i))) return false;
    return true;
  };
  for (const Face& on_boundary : boundary())
    if (by_cell ? has(region.cells, on_boundary.cell) : has_all_nodes(on_boundary)) result.push_back(on_boundary);
  return result;
}

void TetrahedralMesh::define_region(const std::string& name, const RegionShape& shape, const std::string& body) {
  const std::size_t k = body.empty() ? 0 : find_body(body);
  const std::int64_t first = body.empty() ? 0 : bodies_[k].first_vertex;
  const std::size_t last = bodies_.empty() ? 0 : bodies_.size() - 1;
  const std::int64_t count = first_director(bodies_, body.empty() ? last : k, num_global_vertices()) - first;
  if (has_region(name)) throw Error("region '" + name + "' already exists; choose another name", ErrorKind::input);
  std::vector<char> marks(static_cast<std::size_t>(num_vertices()), 0);
  if (const auto* list = std::get_if<VertexList>(&shape)) {
    std::vector<std::int64_t> wanted = list->vertices;
    std::sort(wanted.begin(), wanted.end());
    collectively(comm_, [&] {
      check_list({wanted}, {first, count, body.empty() ? "the mesh" : body}, name, bodies_, num_global_vertices());
    });
    for (std::size_t v = 0; v < marks.size(); ++v)
      marks[v] = std::binary_search(wanted.begin(), wanted.end(), vertex_order_->file_index()[v] - first);
  } else {
    for (std::size_t v = 0; v < marks.size(); ++v) {
      const double* x = &positions_[3 * v];
      if (const auto* box = std::get_if<BoxShape>(&shape)) {
        marks[v] = 1;
        for (std::size_t c = 0; c < 3; ++c) marks[v] &= x[c] >= box->min[c] && x[c] <= box->max[c];
      } else {
        const auto& ball = std::get<SphereShape>(shape);
        marks[v] = std::hypot(x[0] - ball.center[0], x[1] - ball.center[1], x[2] - ball.center[2]) <= ball.radius;
      }
    }
  }
  for (std::size_t v = 0; v < is_director_.size(); ++v) marks[v] &= is_director_[v] == 0;
  if (!body.empty()) {
    const std::vector<char> of_body = vertices_of_body(k);
    for (std::size_t v = 0; v < marks.size(); ++v) marks[v] &= of_body[v];
  }
  Region region;
  region.name = name;
  add_cells_within(marks, region);
  finish(region, std::move(marks));
  if (region.num_vertices == 0)
    throw Error("region '" + name + "' has no vertex of " + (body.empty() ? "the mesh" : "'" + body + "'") +
                    " in it; check its position and the mesh's scale",
                ErrorKind::input);
  regions_.emplace(name, std::move(region));
}

}  // namespace diffsim
