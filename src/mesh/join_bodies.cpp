// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/construction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "core/even_share.hpp"
#include "core/free_elements.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

struct VertexItem {
  std::int64_t number;
  std::array<double, 3> x;
};
template <std::size_t N>
struct CellItem {
  std::int64_t number;
  std::array<std::int64_t, N> nodes;
};
/// Region entry of a cell or vertex (`place` = -1), or of a face (`place` = corner opposite to the face).
struct RegionItem {
  std::int64_t number;
  std::int32_t place, region;
};

void check(const std::vector<NamedMesh>& bodies) {
  if (bodies.empty()) throw InputError("there is no body; give at least one");
  const MeshData* solid = nullptr;
  std::string name_of_solid;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const std::string& name = bodies[k].name;
    if (name.empty() || name == "all" || name.find_first_of("/|:") != std::string::npos)
      throw InputError("a body cannot be called '" + name + "'; choose a name without /, | and :, other than all");
    for (std::size_t other = 0; other < k; ++other)
      if (bodies[other].name == name) throw InputError("two bodies are called '" + name + "'; rename one");
    if (bodies[k].data.num_cells == 0) continue;
    if (!solid) {
      solid = &bodies[k].data;
      name_of_solid = name;
    }
    if (bodies[k].data.order != solid->order)
      throw InputError("the bodies '" + name_of_solid + "' and '" + name + "' have cells of orders " +
                       std::to_string(solid->order) + " and " + std::to_string(bodies[k].data.order) +
                       "; all bodies of a scene need the same");
  }
}

/// This rank's block of a body's cells, and the number of the block's first cell in the joint mesh.
struct BodyCells {
  std::vector<std::int64_t>* nodes;
  std::int64_t first;
};

/// Redistributes the cells of all bodies in blocks of nearly equal size of the joint mesh. Returns this rank's block of
/// nodes, as vertex numbers of the joint mesh.
template <std::size_t N>
std::vector<std::int64_t> move_cells(MPI_Comm comm, const std::vector<BodyCells>& bodies, const MeshData& joint,
                                     const EvenShare& share) {
  std::vector<CellItem<N>> items;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    std::vector<std::int64_t>& nodes = *bodies[k].nodes;
    for (std::size_t c = 0; c < nodes.size() / N; ++c) {
      CellItem<N> item{bodies[k].first + static_cast<std::int64_t>(c), {}};
      for (std::size_t a = 0; a < N; ++a) item.nodes[a] = nodes[N * c + a] + joint.bodies[k].first_vertex;
      items.push_back(item);
    }
    free_elements(nodes);
  }
  items = redistribute(comm, items, [&](const auto& item) { return share.owner(item.number); });
  std::vector<std::int64_t> cells(N * static_cast<std::size_t>(share.size));
  for (const CellItem<N>& item : items)
    std::copy(item.nodes.begin(), item.nodes.end(),
              cells.begin() + static_cast<std::ptrdiff_t>(N) * (item.number - share.first));
  return cells;
}

std::vector<double> move_vertices(MPI_Comm comm, std::vector<NamedMesh>& bodies, const MeshData& joint,
                                  const EvenShare& share) {
  std::vector<VertexItem> items;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    MeshData& data = bodies[k].data;
    const std::int64_t first = joint.bodies[k].first_vertex + data.first_vertex;
    for (std::int64_t v = 0; v < data.block_vertices(); ++v) {
      const double* const x = &data.coordinates[3 * static_cast<std::size_t>(v)];
      items.push_back({first + v, {x[0], x[1], x[2]}});
    }
    free_elements(data.coordinates);
  }
  items = redistribute(comm, items, [&](const VertexItem& item) { return share.owner(item.number); });
  std::vector<double> coordinates(3 * static_cast<std::size_t>(share.size));
  for (const VertexItem& item : items)
    std::copy(item.x.begin(), item.x.end(), coordinates.begin() + 3 * (item.number - share.first));
  return coordinates;
}

/// Sends the region entries of one entity type to the ranks that own the entities. Returns the entries received by this
/// rank, sorted by `number`, `place` and `region`. `collect(k, first_region, items)` appends the entries of body k.
template <class Collect>
std::vector<RegionItem> move_entries(MPI_Comm comm, const std::vector<NamedMesh>& bodies, const EvenShare& share,
                                     const Collect& collect) {
  std::vector<RegionItem> items;
  std::int32_t first_region = 0;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    collect(k, first_region, items);
    first_region += static_cast<std::int32_t>(bodies[k].data.regions.size());
  }
  items = redistribute(comm, items, [&](const RegionItem& item) { return share.owner(item.number); });
  std::sort(items.begin(), items.end(), [](const RegionItem& a, const RegionItem& b) {
    return std::tie(a.number, a.place, a.region) < std::tie(b.number, b.place, b.region);
  });
  return items;
}

void move_regions(MPI_Comm comm, const std::vector<NamedMesh>& bodies, const EvenShare& cells,
                  const EvenShare& vertices, MeshData& joint) {
  for (const NamedMesh& body : bodies)
    for (const RegionInfo& info : body.data.regions)
      joint.regions.push_back({body.name + "/" + info.name, info.dimension, info.tag, body.name});
  const auto of_cells = [&](std::size_t k, std::int32_t region, std::vector<RegionItem>& items) {
    for (const auto& entry : bodies[k].data.cell_regions)
      items.push_back({joint.bodies[k].first_cell + entry.cell, -1, region + entry.region});
  };
  const auto of_faces = [&](std::size_t k, std::int32_t region, std::vector<RegionItem>& items) {
    for (const auto& entry : bodies[k].data.face_regions)
      items.push_back({joint.bodies[k].first_cell + entry.cell, entry.face, region + entry.region});
  };
  const auto of_vertices = [&](std::size_t k, std::int32_t region, std::vector<RegionItem>& items) {
    for (const auto& entry : bodies[k].data.vertex_regions)
      items.push_back({joint.bodies[k].first_vertex + entry.vertex, -1, region + entry.region});
  };
  for (const RegionItem& item : move_entries(comm, bodies, cells, of_cells))
    joint.cell_regions.push_back({item.number, item.region});
  for (const RegionItem& item : move_entries(comm, bodies, cells, of_faces))
    joint.face_regions.push_back({item.number, item.place, item.region});
  for (const RegionItem& item : move_entries(comm, bodies, vertices, of_vertices))
    joint.vertex_regions.push_back({item.number, item.region});
}

/// Redistributes the cells of one of `lower_kinds`, their regions and their directors.
template <CellKind kind>
void move_lower(MPI_Comm comm, std::vector<NamedMesh>& bodies, MeshData& joint) {
  MeshData::LowerCells& all = joint.lower(kind);
  if (all.num == 0) return;
  const EvenShare share(comm, all.num);
  all.first = share.first;
  const auto first_of = [&](std::size_t k) { return joint.bodies[k].first_lower_cell[index_of(kind)]; };
  const auto collect = [&](std::size_t k, std::int32_t region, std::vector<RegionItem>& items) {
    for (const auto& entry : bodies[k].data.lower(kind).regions)
      items.push_back({first_of(k) + entry.cell, -1, region + entry.region});
  };
  for (const RegionItem& item : move_entries(comm, bodies, share, collect))
    all.regions.push_back({item.number, item.region});
  std::vector<BodyCells> blocks;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    MeshData::LowerCells& cells = bodies[k].data.lower(kind);
    blocks.push_back({&cells.nodes, first_of(k) + cells.first});
  }
  all.nodes = move_cells<static_cast<std::size_t>(corners_of(kind))>(comm, blocks, joint, share);
  if (all.num_directors == 0) return;
  std::vector<CellItem<1>> items;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const std::vector<std::int64_t>& directors = bodies[k].data.lower(kind).directors;
    for (std::size_t c = 0; c < directors.size(); ++c)
      items.push_back({blocks[k].first + static_cast<std::int64_t>(c), {directors[c] + joint.bodies[k].first_vertex}});
  }
  all.directors.assign(static_cast<std::size_t>(share.size), -1);
  items = redistribute(comm, items, [&](const CellItem<1>& item) { return share.owner(item.number); });
  for (const CellItem<1>& item : items)
    all.directors[static_cast<std::size_t>(item.number - share.first)] = item.nodes[0];
}

}  // namespace

MeshData join_bodies(MPI_Comm comm, std::vector<NamedMesh> bodies) {
  check(bodies);
  MeshData joint;
  for (const NamedMesh& body : bodies) {
    MeshBody& added = joint.bodies.emplace_back();
    added.name = body.name;
    added.first_vertex = joint.num_vertices;
    added.first_cell = joint.num_cells;
    added.kind = body.data.kind();
    added.affine = body.data.affine;
    added.work = body.data.work;
    if (added.kind == CellKind::tetrahedron) joint.order = body.data.order;
    for (const CellKind kind : lower_kinds) {
      added.first_lower_cell[index_of(kind)] = joint.lower(kind).num;
      joint.lower(kind).num += body.data.lower(kind).num;
      added.num_directors += body.data.lower(kind).num_directors;
      joint.lower(kind).num_directors += body.data.lower(kind).num_directors;
    }
    joint.num_vertices += body.data.num_vertices;
    joint.num_cells += body.data.num_cells;
    joint.num_unused_vertices += body.data.num_unused_vertices;
  }
  const EvenShare vertices(comm, joint.num_vertices), cells(comm, joint.num_cells);
  joint.first_vertex = vertices.first;
  joint.first_cell = cells.first;
  move_regions(comm, bodies, cells, vertices, joint);
  std::vector<BodyCells> blocks;
  for (std::size_t k = 0; k < bodies.size(); ++k)
    blocks.push_back({&bodies[k].data.cells, joint.bodies[k].first_cell + bodies[k].data.first_cell});
  joint.cells =
      joint.order == 1 ? move_cells<4>(comm, blocks, joint, cells) : move_cells<10>(comm, blocks, joint, cells);
  move_lower<CellKind::point>(comm, bodies, joint);
  move_lower<CellKind::segment>(comm, bodies, joint);
  move_lower<CellKind::triangle>(comm, bodies, joint);
  joint.coordinates = move_vertices(comm, bodies, joint, vertices);
  return joint;
}

}  // namespace diffsim
