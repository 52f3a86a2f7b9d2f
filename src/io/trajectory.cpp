// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/trajectory.hpp"

#include <filesystem>
#include <span>
#include <utility>

#include "body_rows.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/even_share.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/io/publish.hpp"
#include "mesh_identity.hpp"
#include "xdmf.hpp"

namespace diffsim {
namespace {

/// How much of a run a killed program may take with it: frames are handed to the disk at least so often, s.
constexpr double flush_interval = 60.0;

constexpr CellKind all_kinds[] = {CellKind::tetrahedron, CellKind::triangle, CellKind::segment, CellKind::point};

int nodes_of(const TetrahedralMesh& mesh, CellKind kind) {
  return kind == CellKind::tetrahedron ? mesh.nodes_per_cell() : corners_of(kind);
}

/// The file's vertex numbers of this rank's even block of the file's cells of a kind: [block, nodes of a cell].
std::vector<std::int64_t> file_cells(const TetrahedralMesh& mesh, CellKind kind) {
  const bool solid = kind == CellKind::tetrahedron;
  const std::span<const int> cells = solid ? mesh.cells() : std::span<const int>(mesh.lower_cells(kind).vertices);
  std::vector<std::int64_t> local(cells.size()), block;
  for (std::size_t i = 0; i < local.size(); ++i)
    local[i] = mesh.vertex_order().file_index()[static_cast<std::size_t>(cells[i])];
  (solid ? mesh.cell_order() : *mesh.lower_cells(kind).order).to_file(local, nodes_of(mesh, kind), block);
  return block;
}

/// Values [4, 3] of the corners of an affine body's cell.
struct Corners {
  double x[4][3] = {};
};

/// From this rank's block of a field with three components. The cell's corners are the body's vertices in their order.
/// Collective.
Corners corners_of(const BodyRows& rows, const std::vector<double>& block, MPI_Comm comm) {
  Corners corners;
  for (std::size_t v = rows.begin; v < rows.end; ++v)
    for (std::size_t c = 0; c < 3; ++c)
      corners.x[static_cast<std::size_t>(rows.first_local) + v - rows.begin][c] = block[3 * v + c];
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, corners.x, 12, MPI_DOUBLE, MPI_SUM, comm));
  return corners;
}

std::string units_of(const std::string& field) {
  if (field == "positions" || field == "previous_positions") return "m";
  if (field == "velocities" || field == "previous_velocities") return "m/s";
  if (field == "accelerations") return "m/s²";
  return "SI";
}

}  // namespace

TrajectoryWriter::TrajectoryWriter(const TetrahedralMesh& mesh, const std::string& path,
                                   std::vector<std::string> fields, std::int64_t expected_frames)
    : mesh_(mesh),
      file_(Hdf5File::create(mesh.comm(), path, "diffsim trajectory", 1)),
      expected_frames_(expected_frames) {
  for (std::string& name : fields) outputs_.push_back({std::move(name), 0, {}});
  file_.write_attribute("/", fingerprint_attribute, fingerprint_text(mesh_));
  file_.write_attribute("/", "complete", 0);
  const std::vector<BodyRows> vertices = vertex_rows(mesh_);
  for_each_body(vertices, mesh_.file_positions(), 3, [&](const BodyRows& body, const std::vector<double>& x) {
    file_.write_rows(body.group + "/mesh/vertices", x, {3}, "m");
  });
  for (const CellKind kind : all_kinds) {
    if (mesh_.num_global(kind) == 0) continue;
    const int nodes = nodes_of(mesh_, kind);
    for_each_body(cell_rows(mesh_, kind), file_cells(mesh_, kind), nodes,
                  [&](const BodyRows& body, std::vector<std::int64_t> numbers) {
                    for (std::int64_t& number : numbers) number -= vertices[body.body].first;
                    file_.write_rows(body.group + "/mesh/cells", numbers, {nodes});
                  });
  }
  create_surfaces();
  file_.create_series<double>("/time", {}, "s");
  file_.create_series<std::int64_t>("/step", {});
  last_flush_ = MPI_Wtime();
}

void TrajectoryWriter::create_surfaces() {
  const std::vector<BodyRows> rows = vertex_rows(mesh_);
  const std::vector<MeshBody>& bodies = mesh_.bodies();
  if (!has_affine_bodies(bodies)) return;
  const std::vector<double> positions = mesh_.file_positions();
  for (const BodyRows& body : rows) {
    const AffineBody* const affine = bodies[body.body].affine.get();
    if (!affine) continue;
    const TriangleMesh& surface = affine->surface;
    const Corners rest = corners_of(body, positions, mesh_.comm());
    const auto vertices = static_cast<std::int64_t>(surface.vertices.size());
    const auto triangles = static_cast<std::int64_t>(surface.triangles.size());
    const EvenShare share(mesh_.comm(), vertices), cells(mesh_.comm(), triangles);
    surfaces_.push_back({body.group + "/surface", body.body, vertices, triangles, static_cast<std::size_t>(share.first),
                         static_cast<std::size_t>(share.first + share.size), AffineMap(*affine, rest.x)});
    std::vector<double> X;
    for (std::size_t v = surfaces_.back().begin; v < surfaces_.back().end; ++v)
      X.insert(X.end(), surface.vertices[v].begin(), surface.vertices[v].end());
    file_.write_rows(surfaces_.back().group + "/mesh/vertices", X, {3}, "m");
    std::vector<std::int64_t> corners;
    for (std::int64_t t = cells.first; t < cells.first + cells.size; ++t)
      for (const int v : surface.triangles[static_cast<std::size_t>(t)]) corners.push_back(v);
    file_.write_rows(surfaces_.back().group + "/mesh/cells", corners, {3});
  }
}

void TrajectoryWriter::write_surfaces(const Output& output) {
  if (surfaces_.empty() || output.components != 3) return;
  const std::vector<BodyRows> rows = vertex_rows(mesh_);
  for (const Surface& surface : surfaces_) {
    const Corners corners = corners_of(rows[surface.body], output.block, mesh_.comm());
    file_.append(surface.group + "/" + output.name, surface.map.at(corners.x, surface.begin, surface.end));
  }
}

void TrajectoryWriter::create_outputs(const State& state) {
  double bytes_per_frame = 0.0;
  collectively(mesh_.comm(), [&] {
    for (Output& output : outputs_) {
      const Field& field = state[output.name];
      if (field.extent() < static_cast<std::size_t>(mesh_.num_owned_vertices()))
        throw Error("field '" + output.name + "' cannot be written: it does not have one entry a vertex",
                    ErrorKind::input);
      output.components = field.components();
      output.block.resize(static_cast<std::size_t>(mesh_.vertex_order().block_size()) *
                          static_cast<std::size_t>(output.components));
      bytes_per_frame += 8.0 * static_cast<double>(mesh_.num_global_vertices()) * output.components;
    }
  });
  for (Output& output : outputs_)
    if (output.name == "positions") output.block = mesh_.file_positions();
  if (expected_frames_ > 0) file_.require_space(bytes_per_frame * static_cast<double>(expected_frames_));
  for (const Output& output : outputs_)
    for (const BodyRows& body : vertex_and_director_rows(mesh_)) {
      Shape shape{body.total};
      if (output.components > 1) shape.push_back(output.components);
      file_.create_series<double>(body.group + "/" + output.name, shape, units_of(output.name));
    }
  for (const Output& output : outputs_)
    for (const Surface& surface : surfaces_)
      if (output.components == 3)
        file_.create_series<double>(surface.group + "/" + output.name, {surface.num_vertices, 3},
                                    units_of(output.name));
}

void TrajectoryWriter::write(int step, double time, const State& state) {
  const ProfilingRegion region("diffsim::io::trajectory");
  if (!std::exchange(has_outputs_, true)) create_outputs(state);
  const std::vector<BodyRows> bodies = vertex_and_director_rows(mesh_);
  try {
    for (Output& output : outputs_) {
      mesh_.vertex_order().to_file(state[output.name].to_host(), output.components, output.block);
      for_each_body(bodies, output.block, output.components,
                    [&](const BodyRows& body, const std::vector<double>& values) {
                      file_.append(body.group + "/" + output.name, values);
                    });
      write_surfaces(output);
    }
  } catch (const Error&) {
    for (const Output& output : outputs_)
      for (const BodyRows& body : bodies) file_.shrink_series(body.group + "/" + output.name, num_frames());
    for (const Output& output : outputs_)
      for (const Surface& surface : surfaces_)
        if (output.components == 3) file_.shrink_series(surface.group + "/" + output.name, num_frames());
    throw;
  }
  times_.push_back(time);
  steps_.push_back(step);
  // One clock decides for all.
  int is_due = MPI_Wtime() - last_flush_ > flush_interval ? 1 : 0;
  DIFFSIM_MPI(MPI_Bcast(&is_due, 1, MPI_INT, 0, mesh_.comm()));
  if (!is_due) return;
  hand_over();
  file_.flush();
  last_flush_ = MPI_Wtime();
}

void TrajectoryWriter::hand_over() {
  const std::vector<double> times(times_.begin() + handed_over_, times_.end());
  const std::vector<std::int64_t> steps(steps_.begin() + handed_over_, steps_.end());
  file_.shrink_series("/time", handed_over_);  // what an earlier attempt that failed has left
  file_.append("/time", times);
  file_.append("/step", steps);
  handed_over_ = num_frames();
}

void TrajectoryWriter::finish(bool complete) {
  if (num_frames() == 0) return;
  hand_over();
  if (complete) file_.write_attribute("/", "complete", 1);
  file_.publish();

  const std::filesystem::path path(file_.path());
  XdmfTrajectory description{path.filename().string(), {}, steps_, times_, {}};
  for (const BodyRows& vertices : vertex_rows(mesh_))
    description.bodies.push_back({vertices.group, vertices.total, 0, 1, {}});
  for (const CellKind kind : all_kinds)
    for (const BodyRows& cells : cell_rows(mesh_, kind)) {
      description.bodies[cells.body].num_cells = cells.total;
      description.bodies[cells.body].nodes_per_cell = nodes_of(mesh_, kind);
    }
  for (const Surface& surface : surfaces_)
    description.bodies[surface.body] = {surface.group, surface.num_vertices, surface.num_triangles, 3,
                                        mesh_.bodies()[surface.body].name};
  for (const Output& output : outputs_) description.fields.push_back({output.name, output.components});
  collectively(mesh_.comm(), [&] {
    if (is_first_rank(mesh_.comm()))
      publish_text(std::filesystem::path(path).replace_extension(".xdmf").string(), xdmf_text(description));
  });
}

}  // namespace diffsim
