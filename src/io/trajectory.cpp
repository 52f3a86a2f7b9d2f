// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/trajectory.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "core/even_share.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/body_rows.hpp"
#include "io/hdf5_file.hpp"
#include "io/mesh_identity.hpp"
#include "io/publish.hpp"
#include "io/xdmf.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

/// Minimum time (s) between two flushes of the file. A run that is killed loses only the frames written after the last
/// flush.
constexpr double flush_interval = 60.0;

constexpr CellKind all_kinds[] = {CellKind::tetrahedron, CellKind::triangle, CellKind::segment, CellKind::point};

int nodes_of(const TetrahedralMesh& mesh, CellKind kind) {
  return kind == CellKind::tetrahedron ? mesh.nodes_per_cell() : corners_of(kind);
}

/// Returns the nodes of the cells of `kind` in this rank's block of the file, as file numbers of vertices: [cells,
/// nodes per cell].
std::vector<std::int64_t> file_cells(const TetrahedralMesh& mesh, CellKind kind) {
  const bool solid = kind == CellKind::tetrahedron;
  const std::span<const int> cells = solid ? mesh.cells() : std::span<const int>(mesh.lower_cells(kind).vertices);
  std::vector<std::int64_t> local(cells.size()), block;
  for (std::size_t i = 0; i < local.size(); ++i)
    local[i] = mesh.vertex_order().file_index()[static_cast<std::size_t>(cells[i])];
  (solid ? mesh.cell_order() : *mesh.lower_cells(kind).order).to_file(local, nodes_of(mesh, kind), block);
  return block;
}

std::string units_of(const std::string& field) {
  if (field == "positions" || field == "previous_positions") return "m";
  if (field == "velocities" || field == "previous_velocities") return "m/s";
  if (field.ends_with("accelerations")) return "m/s²";
  return "SI";
}

}  // namespace

/// Surface of an affine body in the file. The vertices of the surface are distributed evenly over the ranks.
struct TrajectoryWriter::Surface {
  std::string group;
  std::size_t body = 0, affine = 0;  // index of the body among all bodies and among the affine bodies
  std::int64_t num_vertices = 0, num_triangles = 0;
  AffineMap map;  // from the corners of the body's cell to this rank's vertices of the surface
};

TrajectoryWriter::TrajectoryWriter(const TetrahedralMesh& mesh, const std::string& path,
                                   std::vector<std::string> fields, std::int64_t expected_frames)
    : mesh_(mesh),
      file_(std::make_unique<Hdf5File>(Hdf5File::create(mesh.comm(), path, "diffsim trajectory", 1))),
      expected_frames_(expected_frames) {
  for (std::string& name : fields) outputs_.push_back({std::move(name), 0, {}});
  file_->write_attribute("/", fingerprint_attribute, fingerprint_text(mesh_));
  file_->write_attribute("/", "complete", 0);
  for_each_body(vertex_rows(mesh_), mesh_.file_positions(), 3, [&](const BodyRows& body, const std::vector<double>& x) {
    file_->write_rows(body.group + "/mesh/vertices", x, {3}, "m");
  });
  for (const CellKind kind : all_kinds) {
    if (mesh_.num_global(kind) == 0) continue;
    const int nodes = nodes_of(mesh_, kind);
    for_each_body(cell_rows(mesh_, kind), file_cells(mesh_, kind), nodes,
                  [&](const BodyRows& body, std::vector<std::int64_t> numbers) {
                    const std::int64_t first = mesh_.bodies().empty() ? 0 : mesh_.bodies()[body.body].first_vertex;
                    for (std::int64_t& number : numbers) number -= first;
                    file_->write_rows(body.group + "/mesh/cells", numbers, {nodes});
                  });
  }
  create_surfaces();
  file_->create_series<double>("/time", {}, "s");
  file_->create_series<std::int64_t>("/step", {});
  last_flush_ = MPI_Wtime();
}

TrajectoryWriter::~TrajectoryWriter() = default;

std::vector<double> TrajectoryWriter::corners_of(const std::vector<double>& block) const {
  std::vector<double> corners;
  for (const BodyRows& rows : vertex_rows(mesh_)) {
    if (mesh_.bodies().empty() || !mesh_.bodies()[rows.body].affine) continue;
    const std::size_t first = corners.size() + 3 * static_cast<std::size_t>(rows.first_local);
    corners.resize(corners.size() + 12, 0.0);
    std::copy(block.begin() + static_cast<std::ptrdiff_t>(3 * rows.begin),
              block.begin() + static_cast<std::ptrdiff_t>(3 * rows.end),
              corners.begin() + static_cast<std::ptrdiff_t>(first));
  }
  DIFFSIM_MPI(
      MPI_Allreduce(MPI_IN_PLACE, corners.data(), static_cast<int>(corners.size()), MPI_DOUBLE, MPI_SUM, mesh_.comm()));
  return corners;
}

void TrajectoryWriter::create_surfaces() {
  if (!has_affine_bodies(mesh_.bodies())) return;
  const std::vector<double> rest = corners_of(mesh_.file_positions());
  std::size_t number = 0;  // index among the affine bodies
  for (const BodyRows& body : vertex_rows(mesh_)) {
    const AffineBody* const affine = mesh_.bodies()[body.body].affine.get();
    if (!affine) continue;
    if (affine->surface.triangles.empty()) {
      ++number;
      continue;
    }
    const auto& [vertices, triangles] = affine->surface;
    const auto num_vertices = static_cast<std::int64_t>(vertices.size()),
               num_triangles = static_cast<std::int64_t>(triangles.size());
    const EvenShare mine(mesh_.comm(), num_vertices), cells(mesh_.comm(), num_triangles);
    const std::string group = body.group + "/surface";
    const AffineMap map(*affine, &rest[12 * number], mine.first, mine.first + mine.size);
    std::vector<double> X;
    for (std::int64_t v = mine.first; v < mine.first + mine.size; ++v)
      X.insert(X.end(), vertices[static_cast<std::size_t>(v)].begin(), vertices[static_cast<std::size_t>(v)].end());
    file_->write_rows(group + "/mesh/vertices", X, {3}, "m");
    std::vector<std::int64_t> corners;
    for (std::int64_t t = cells.first; t < cells.first + cells.size; ++t)
      for (const int v : triangles[static_cast<std::size_t>(t)]) corners.push_back(v);
    file_->write_rows(group + "/mesh/cells", corners, {3});
    surfaces_.push_back({group, body.body, number++, num_vertices, num_triangles, map});
  }
}

std::vector<TrajectoryWriter::Series> TrajectoryWriter::series_of(const Output& output) const {
  std::vector<Series> series;
  for (const BodyRows& body : vertex_and_director_rows(mesh_))
    series.push_back({body.group + "/" + output.name, body.total});
  if (output.components == 3)
    for (const Surface& surface : surfaces_)
      series.push_back({surface.group + "/" + output.name, surface.num_vertices});
  return series;
}

void TrajectoryWriter::create_outputs(const State& state) {
  double bytes_per_frame = 0.0;
  collectively(mesh_.comm(), [&] {
    for (Output& output : outputs_) {
      const Field& field = state[output.name];
      if (field.extent() < static_cast<std::size_t>(mesh_.num_owned_vertices()))
        throw Error("field '" + output.name + "' cannot be written: it does not have one entry per vertex",
                    ErrorKind::input);
      output.components = field.components();
      output.block.resize(static_cast<std::size_t>(mesh_.vertex_order().block_size()) *
                          static_cast<std::size_t>(output.components));
      for (const Series& series : series_of(output))
        bytes_per_frame += 8.0 * static_cast<double>(series.rows) * output.components;
    }
  });
  for (Output& output : outputs_)
    if (output.name == "positions") output.block = mesh_.file_positions();
  if (expected_frames_ > 0) file_->require_space(bytes_per_frame * static_cast<double>(expected_frames_));
  for (const Output& output : outputs_)
    for (const Series& series : series_of(output)) {
      Shape shape{series.rows};
      if (output.components > 1) shape.push_back(output.components);
      file_->create_series<double>(series.name, shape, units_of(output.name));
    }
}

void TrajectoryWriter::label(const std::string& name, const std::string& text) {
  file_->write_attribute("/", name, text);
}

void TrajectoryWriter::add_values(Values values) {
  file_->write_strings("/" + values.name + ".names", values.labels);
  file_->create_series<double>("/" + values.name, {static_cast<std::int64_t>(values.labels.size())}, values.units);
  values_.push_back(std::move(values));
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
                      file_->append(body.group + "/" + output.name, values);
                    });
      if (surfaces_.empty() || output.components != 3) continue;
      const std::vector<double> corners = corners_of(output.block);
      for (std::size_t k = 0; k < surfaces_.size(); ++k)
        file_->append(surfaces_[k].group + "/" + output.name, surfaces_[k].map(&corners[12 * surfaces_[k].affine]));
    }
    for (const Values& values : values_) {
      const std::vector<double> row = values.of(step, state);  // only the first rank writes values
      file_->append("/" + values.name, is_first_rank(mesh_.comm()) ? row : std::vector<double>());
    }
  } catch (const Error&) {
    for (const Values& values : values_) file_->shrink_series("/" + values.name, num_frames());
    for (const Output& output : outputs_)
      for (const Series& series : series_of(output)) file_->shrink_series(series.name, num_frames());
    throw;
  }
  times_.push_back(time);
  steps_.push_back(step);
  // The first rank's clock decides for all ranks.
  int is_due = MPI_Wtime() - last_flush_ > flush_interval ? 1 : 0;
  DIFFSIM_MPI(MPI_Bcast(&is_due, 1, MPI_INT, 0, mesh_.comm()));
  if (!is_due) return;
  hand_over();
  file_->flush();
  last_flush_ = MPI_Wtime();
}

void TrajectoryWriter::hand_over() {
  const std::vector<double> times(times_.begin() + handed_over_, times_.end());
  const std::vector<std::int64_t> steps(steps_.begin() + handed_over_, steps_.end());
  file_->shrink_series("/time", handed_over_);  // removes values from an earlier attempt that failed
  file_->append("/time", times);
  file_->append("/step", steps);
  handed_over_ = num_frames();
}

void TrajectoryWriter::finish(bool complete) {
  if (num_frames() == 0) return;
  hand_over();
  if (complete) file_->write_attribute("/", "complete", 1);
  file_->publish();

  const std::filesystem::path path(file_->path());
  XdmfTrajectory description{path.filename().string(), {}, steps_, times_, {}};
  const std::vector<std::string> names = body_names(mesh_.bodies());
  description.bodies.resize(names.size());
  for (const BodyRows& vertices : vertex_rows(mesh_))
    description.bodies[vertices.body] = {names[vertices.body], vertices.group, vertices.total, 0, 1};
  for (const CellKind kind : all_kinds)
    for (const BodyRows& cells : cell_rows(mesh_, kind)) {
      description.bodies[cells.body].num_cells = cells.total;
      description.bodies[cells.body].nodes_per_cell = nodes_of(mesh_, kind);
    }
  for (const Surface& surface : surfaces_)
    description.bodies[surface.body] = {names[surface.body], surface.group, surface.num_vertices, surface.num_triangles,
                                        3};
  std::erase_if(description.bodies, [](const auto& body) { return body.num_vertices == 0; });  // rotors of joints
  for (const Output& output : outputs_) description.fields.push_back({output.name, output.components});
  collectively(mesh_.comm(), [&] {
    if (is_first_rank(mesh_.comm()))
      publish_text(std::filesystem::path(path).replace_extension(".xdmf").string(), xdmf_text(description));
  });
}

}  // namespace diffsim
