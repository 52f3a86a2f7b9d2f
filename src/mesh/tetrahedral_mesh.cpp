// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/tetrahedral_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/mesh/box.hpp"
#include "hilbert.hpp"
#include "partition.hpp"

namespace diffsim {
namespace {

/// Local vertices of the face opposite to vertex a, seen from outside in positive order.
constexpr int face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/// For each local entity, whether it is in each region: 62 regions a 64-bit word, sent from the file's blocks.
/// `entries`: (place in this rank's block, region). `visit(entity, region)` is called for each membership.
template <class Visit>
void distribute_memberships(const FileOrder& blocks, int places, std::size_t num_regions,
                            const std::vector<std::pair<std::int64_t, int>>& entries, Visit&& visit) {
  constexpr int word = 62;
  for (int first = 0; first < static_cast<int>(num_regions); first += word) {
    std::vector<std::int64_t> masks(static_cast<std::size_t>(blocks.block_size()) * static_cast<std::size_t>(places), 0);
    for (const auto& [place, region] : entries)
      if (region >= first && region < first + word)
        masks[static_cast<std::size_t>(place)] |= std::int64_t{1} << (region - first);
    const std::vector<std::int64_t> local = blocks.from_file(masks, places);
    for (std::size_t i = 0; i < local.size(); ++i)
      for (std::uint64_t mask = static_cast<std::uint64_t>(local[i]); mask != 0; mask &= mask - 1)
        visit(static_cast<int>(i), first + __builtin_ctzll(mask));
  }
}

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<int>& order) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[static_cast<std::size_t>(order[i])];
  return result;
}

std::uint64_t mix(std::uint64_t x) {
  // The finaliser of splitmix64 (Steele, Lea & Flood 2014).
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

struct TetrahedralMesh::Topology {
  Partition partition;
  std::vector<int> cell_of_plex;    // DMPlex cell → local cell
  std::vector<int> vertex_of_plex;  // DMPlex vertex → local vertex
  std::vector<int> plex_of_vertex;
};

std::shared_ptr<TetrahedralMesh> TetrahedralMesh::box(MPI_Comm comm, std::array<double, 3> size,
                                                      std::array<int, 3> cells) {
  int rank = 0, ranks = 1;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  MeshData data;
  collectively(comm, [&] { data = box_mesh(size, cells, rank, ranks); });
  return std::make_shared<TetrahedralMesh>(comm, data);
}

TetrahedralMesh::TetrahedralMesh(MPI_Comm comm, const MeshData& data)
    : comm_(comm), num_unused_(data.num_unused_vertices), infos_(data.regions) {
  const ProfilingRegion region("diffsim::mesh::build");
  number(data);
}

TetrahedralMesh::~TetrahedralMesh() = default;

void TetrahedralMesh::number(const MeshData& data) {
  topology_ = std::make_unique<Topology>();
  Topology& t = *topology_;
  t.partition = partition_cells(comm_, data);
  const std::size_t num_cells = t.partition.cell_file_index.size();
  const std::size_t num_vertices = t.partition.vertex_file_index.size();

  const FileOrder plex_cells(comm_, data.num_cells, t.partition.cell_file_index, static_cast<int>(num_cells),
                             static_cast<int>(data.cells.size() / 4));
  const FileOrder plex_vertices(comm_, data.num_vertices, t.partition.vertex_file_index, 0,
                                static_cast<int>(data.coordinates.size() / 3));
  const std::vector<std::int64_t> file_cells = plex_cells.from_file(data.cells, 4);
  const std::vector<double> plex_positions = plex_vertices.from_file(data.coordinates, 3);

  // Connectivity in DMPlex's numbering of this rank's vertices.
  std::vector<std::pair<std::int64_t, int>> lookup(num_vertices);
  for (std::size_t v = 0; v < num_vertices; ++v)
    lookup[v] = {t.partition.vertex_file_index[v], static_cast<int>(v)};
  std::sort(lookup.begin(), lookup.end());
  std::vector<int> plex_connectivity(4 * num_cells);
  for (std::size_t i = 0; i < plex_connectivity.size(); ++i)
    plex_connectivity[i] =
        std::lower_bound(lookup.begin(), lookup.end(), std::pair<std::int64_t, int>(file_cells[i], 0))->second;

  // Cells along a Hilbert curve, vertices as cells first touch them, owned before ghosts.
  std::vector<double> centroids(3 * num_cells, 0.0);
  for (std::size_t i = 0; i < plex_connectivity.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      centroids[3 * (i / 4) + c] += 0.25 * plex_positions[3 * static_cast<std::size_t>(plex_connectivity[i]) + c];
  const std::vector<int> cell_order = hilbert_order(centroids);
  t.cell_of_plex.resize(num_cells);
  for (std::size_t c = 0; c < num_cells; ++c)
    t.cell_of_plex[static_cast<std::size_t>(cell_order[c])] = static_cast<int>(c);
  t.vertex_of_plex.assign(num_vertices, -1);
  int next_owned = 0;
  for (const int cell : cell_order)
    for (std::size_t a = 0; a < 4; ++a) {
      const auto v = static_cast<std::size_t>(plex_connectivity[4 * static_cast<std::size_t>(cell) + a]);
      if (!t.partition.vertex_is_ghost[v] && t.vertex_of_plex[v] < 0) t.vertex_of_plex[v] = next_owned++;
    }
  // A vertex may be owned by a rank whose cells all lost it only through DMPlex; number such ones, then ghosts.
  for (std::size_t v = 0; v < num_vertices; ++v)
    if (!t.partition.vertex_is_ghost[v] && t.vertex_of_plex[v] < 0) t.vertex_of_plex[v] = next_owned++;
  int next_ghost = next_owned;
  for (std::size_t v = 0; v < num_vertices; ++v)
    if (t.partition.vertex_is_ghost[v]) t.vertex_of_plex[v] = next_ghost++;
  t.plex_of_vertex.resize(num_vertices);
  for (std::size_t v = 0; v < num_vertices; ++v)
    t.plex_of_vertex[static_cast<std::size_t>(t.vertex_of_plex[v])] = static_cast<int>(v);

  cells_.resize(4 * num_cells);
  for (std::size_t c = 0; c < num_cells; ++c)
    for (std::size_t a = 0; a < 4; ++a)
      cells_[4 * c + a] = t.vertex_of_plex[static_cast<std::size_t>(
          plex_connectivity[4 * static_cast<std::size_t>(cell_order[c]) + a])];
  positions_.resize(3 * num_vertices);
  for (std::size_t v = 0; v < num_vertices; ++v)
    for (std::size_t c = 0; c < 3; ++c)
      positions_[3 * v + c] = plex_positions[3 * static_cast<std::size_t>(t.plex_of_vertex[v]) + c];

  std::vector<PetscInt> owner, index;
  ghost_owners(t.partition, t.vertex_of_plex, owner, index);
  halo_ = std::make_unique<Halo>(comm_, next_owned, owner, index);
  const std::vector<std::int64_t> cell_file_index = permuted(t.partition.cell_file_index, cell_order);
  const std::vector<std::int64_t> vertex_file_index = permuted(t.partition.vertex_file_index, t.plex_of_vertex);
  cell_order_ = std::make_unique<FileOrder>(comm_, data.num_cells, cell_file_index, static_cast<int>(num_cells));
  vertex_order_ = std::make_unique<FileOrder>(comm_, data.num_vertices, vertex_file_index, next_owned);

  const FileOrder cell_blocks(comm_, data.num_cells, cell_file_index, static_cast<int>(num_cells),
                              static_cast<int>(data.cells.size() / 4));
  const FileOrder vertex_blocks(comm_, data.num_vertices, vertex_file_index, next_owned,
                                static_cast<int>(data.coordinates.size() / 3));
  read_groups(data, cell_blocks, vertex_blocks);

  // The even blocks of file positions come straight from the reader's blocks.
  std::vector<std::int64_t> block(static_cast<std::size_t>(vertex_order_->block_size()));
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = vertex_order_->block_begin() + static_cast<std::int64_t>(i);
  const FileOrder even(comm_, data.num_vertices, block, static_cast<int>(block.size()),
                       static_cast<int>(data.coordinates.size() / 3));
  file_positions_ = even.from_file(data.coordinates, 3);
}

Face TetrahedralMesh::face(int cell, int opposite) const {
  Face result{cell, {}};
  for (std::size_t i = 0; i < 3; ++i)
    result.vertices[i] = cells_[static_cast<std::size_t>(4 * cell + face_corners[opposite][i])];
  return result;
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
    for (int a = 0; a < 4; ++a) mark(region, cells_[static_cast<std::size_t>(4 * cell + a)]);
  });
  entries.clear();
  for (const auto& entry : data.face_regions)
    entries.emplace_back(4 * (entry.cell - data.first_cell) + entry.face, entry.region);
  distribute_memberships(cell_blocks, 4, infos_.size(), entries, [&](int place, int region) {
    const Face on_cell = face(place / 4, place % 4);
    group_faces_[static_cast<std::size_t>(region)].push_back(on_cell);
    for (const int vertex : on_cell.vertices) mark(region, vertex);
  });
  entries.clear();
  for (const auto& entry : data.vertex_regions) entries.emplace_back(entry.vertex - data.first_vertex, entry.region);
  distribute_memberships(vertex_blocks, 1, infos_.size(), entries, [&](int vertex, int region) { mark(region, vertex); });
  for (std::size_t r = 0; r < groups_.size(); ++r) {
    groups_[r].name = infos_[r].name;
    finish(groups_[r], std::move(marks[r]));
  }
}

void TetrahedralMesh::finish(Region& region, std::vector<char> marks) const {
  Field field("region", static_cast<std::size_t>(num_vertices()), 3, num_owned_vertices());
  std::vector<double> values(3 * marks.size(), 0.0);
  for (std::size_t v = 0; v < marks.size(); ++v) values[3 * v] = marks[v];
  field.from_host(values);
  halo_->add_to_owners(field);
  halo_->copy_to_ghosts(field);
  values = field.to_host();
  region.vertices.clear();
  std::int64_t counts[2] = {0, static_cast<std::int64_t>(region.cells.size())};
  for (int v = 0; v < num_vertices(); ++v) {
    if (values[3 * static_cast<std::size_t>(v)] == 0.0) continue;
    region.vertices.push_back(v);
    if (v < num_owned_vertices()) ++counts[0];
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, comm_));
  region.num_vertices = counts[0];
  region.num_cells = counts[1];
}

const std::vector<Face>& TetrahedralMesh::boundary() const {
  if (boundary_) return *boundary_;
  const Topology& t = *topology_;
  std::vector<int> plex_cells(cells_.size());
  for (std::size_t p = 0; p < t.cell_of_plex.size(); ++p)
    for (std::size_t a = 0; a < 4; ++a)
      plex_cells[4 * p + a] =
          t.plex_of_vertex[static_cast<std::size_t>(cells_[4 * static_cast<std::size_t>(t.cell_of_plex[p]) + a])];
  std::vector<std::pair<int, int>> found = boundary_faces(t.partition, plex_cells);
  for (auto& [cell, opposite] : found) cell = t.cell_of_plex[static_cast<std::size_t>(cell)];
  std::sort(found.begin(), found.end());
  boundary_ = std::make_unique<std::vector<Face>>();
  for (const auto& [cell, opposite] : found) boundary_->push_back(face(cell, opposite));
  return *boundary_;
}

std::vector<std::size_t> TetrahedralMesh::groups(const std::string& name) const {
  std::vector<std::size_t> by_name, by_tag;
  for (std::size_t r = 0; r < infos_.size(); ++r) {
    if (infos_[r].name == name) by_name.push_back(r);
    if (std::to_string(infos_[r].tag) == name) by_tag.push_back(r);
  }
  return by_name.empty() ? by_tag : by_name;
}

bool TetrahedralMesh::has_region(const std::string& name) const {
  return name == "all" || regions_.count(name) > 0 || !groups(name).empty();
}

std::vector<std::string> TetrahedralMesh::region_names() const {
  std::vector<std::string> names{"all"};
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
    throw Error("unknown region '" + name + "'; the mesh and the scene have: " + known, ErrorKind::input);
  }
  Region region;
  region.name = name;
  std::vector<char> marks(static_cast<std::size_t>(num_vertices()), name == "all" ? 1 : 0);
  if (name == "all") {
    region.cells.resize(static_cast<std::size_t>(num_cells()));
    for (int c = 0; c < num_cells(); ++c) region.cells[static_cast<std::size_t>(c)] = c;
  } else {
    for (const std::size_t r : groups(name)) {
      region.cells.insert(region.cells.end(), groups_[r].cells.begin(), groups_[r].cells.end());
      for (const int v : groups_[r].vertices) marks[static_cast<std::size_t>(v)] = 1;
    }
    std::sort(region.cells.begin(), region.cells.end());
    region.cells.erase(std::unique(region.cells.begin(), region.cells.end()), region.cells.end());
  }
  finish(region, std::move(marks));
  return regions_.emplace(name, std::move(region)).first->second;
}

std::vector<Face> TetrahedralMesh::faces(const std::string& name) const {
  const Region& region = this->region(name);
  std::vector<Face> result;
  std::int64_t in_groups = 0;
  for (const std::size_t r : groups(name)) {
    result.insert(result.end(), group_faces_[r].begin(), group_faces_[r].end());
    in_groups += static_cast<std::int64_t>(group_faces_[r].size());
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &in_groups, 1, MPI_INT64_T, MPI_SUM, comm_));
  if (in_groups > 0) return result;
  const bool by_cell = !groups(name).empty();
  const auto has = [](const std::vector<int>& sorted, int i) {
    return std::binary_search(sorted.begin(), sorted.end(), i);
  };
  for (const Face& on_boundary : boundary()) {
    const auto& v = on_boundary.vertices;
    if (by_cell ? has(region.cells, on_boundary.cell)
                : has(region.vertices, v[0]) && has(region.vertices, v[1]) && has(region.vertices, v[2]))
      result.push_back(on_boundary);
  }
  return result;
}

void TetrahedralMesh::define_region(const std::string& name, const RegionShape& shape) {
  if (has_region(name))
    throw Error("region '" + name + "' is there already; choose another name", ErrorKind::input);
  std::vector<char> marks(static_cast<std::size_t>(num_vertices()), 0);
  if (const auto* list = std::get_if<VertexList>(&shape)) {
    std::vector<std::int64_t> wanted = list->vertices;
    std::sort(wanted.begin(), wanted.end());
    for (const std::int64_t v : wanted)
      if (v < 0 || v >= num_global_vertices())
        throw Error("region '" + name + "': vertex " + std::to_string(v) + " is not one of the mesh's 0 … " +
                        std::to_string(num_global_vertices() - 1),
                    ErrorKind::input);
    for (std::size_t v = 0; v < marks.size(); ++v)
      marks[v] = std::binary_search(wanted.begin(), wanted.end(), vertex_order_->file_index()[v]);
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
  Region region;
  region.name = name;
  for (int c = 0; c < num_cells(); ++c) {
    bool inside = true;
    for (int a = 0; a < 4; ++a)
      inside = inside && marks[static_cast<std::size_t>(cells_[static_cast<std::size_t>(4 * c + a)])];
    if (inside) region.cells.push_back(c);
  }
  finish(region, std::move(marks));
  if (region.num_vertices == 0)
    throw Error("region '" + name + "' has no vertex of the mesh in it; check its place and the mesh's scale",
                ErrorKind::input);
  regions_.emplace(name, std::move(region));
}

MeshQuality TetrahedralMesh::quality() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low[2] = {infinity, infinity};  // edge, mean ratio
  double high = 0.0;
  double sums[2] = {0.0, 0.0};  // volume, mean ratio
  for (std::size_t c = 0; c < cells_.size() / 4; ++c) {
    std::array<std::array<double, 3>, 4> x;
    for (std::size_t a = 0; a < 4; ++a)
      std::copy_n(&positions_[3 * static_cast<std::size_t>(cells_[4 * c + a])], 3, x[a].begin());
    double squares = 0.0;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = a + 1; b < 4; ++b) {
        const double length = std::hypot(x[a][0] - x[b][0], x[a][1] - x[b][1], x[a][2] - x[b][2]);
        squares += length * length;
        low[0] = std::min(low[0], length);
        high = std::max(high, length);
      }
    std::array<std::array<double, 3>, 3> e;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) e[i][k] = x[i + 1][k] - x[0][k];
    const double volume = (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
                           e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
                           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
                          6.0;
    const double ratio = 12.0 * std::cbrt(9.0 * volume * volume) / squares;
    low[1] = std::min(low[1], ratio);
    sums[0] += volume;
    sums[1] += ratio;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, low, 2, MPI_DOUBLE, MPI_MIN, comm_));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &high, 1, MPI_DOUBLE, MPI_MAX, comm_));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm_));
  return {sums[0], low[0], high, low[1], sums[1] / static_cast<double>(num_global_cells())};
}

std::uint64_t TetrahedralMesh::fingerprint() const {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < cells_.size() / 4; ++c) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(cell_order_->file_index()[c]));
    for (std::size_t a = 0; a < 4; ++a) {
      const auto v = static_cast<std::size_t>(cells_[4 * c + a]);
      hash = mix(hash ^ static_cast<std::uint64_t>(vertex_order_->file_index()[v]));
      for (std::size_t k = 0; k < 3; ++k) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &positions_[3 * v + k], sizeof(bits));
        hash = mix(hash ^ bits);
      }
    }
    sum += hash;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm_));
  return sum;
}

}  // namespace diffsim
