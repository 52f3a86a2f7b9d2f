// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/observations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/even_share.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "io/body_rows.hpp"
#include "io/hdf5_file.hpp"
#include "io/mesh_identity.hpp"

namespace diffsim {
namespace {

using Kind = DatasetInfo::Kind;

/// Map from each step to the index of its frame, read from `/step` of a file with `num_frames` frames.
std::map<int, std::int64_t> frames_of_steps(const Hdf5File& file, std::int64_t num_frames) {
  const auto fail = [&](const std::string& what) { throw InputError(file.path(), 0, "/step", what); };
  file.require("/step", Kind::integer, {num_frames}, "one step for each frame");
  const std::vector<std::int64_t> steps = file.read_array<std::int64_t>("/step");
  std::map<int, std::int64_t> frames;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] < 0 || steps[k] > std::numeric_limits<int>::max())
      fail("entry " + std::to_string(k) + " is " + std::to_string(steps[k]) + "; steps are counted from 0");
    if (!frames.emplace(static_cast<int>(steps[k]), static_cast<std::int64_t>(k)).second)
      fail("step " + std::to_string(steps[k]) + " occurs twice");
  }
  return frames;
}

/// Index of the frame of step `step`. Throws InputError if the file does not have this step.
std::int64_t frame_of(const Hdf5File& file, const std::map<int, std::int64_t>& frames, int step) {
  const auto frame = frames.find(step);
  if (frame == frames.end())
    throw InputError(file.path(), 0, "/step",
                     "there is no step " + std::to_string(step) + "; the file has " + std::to_string(frames.size()) +
                         " steps from " + std::to_string(frames.begin()->first) + " to " +
                         std::to_string(frames.rbegin()->first));
  return frame->second;
}

/// Reader of the observations of one body.
class Reader {
 public:
  Reader(const TetrahedralMesh& mesh, const Hdf5File& file, const BodyRows& body)
      : mesh_(mesh),
        file_(file),
        body_(body),
        positions_(body.group + "/positions"),
        vertices_(body.group + "/vertices") {}

  Observations run(std::vector<int> wanted) {
    const DatasetInfo positions = file_.require(positions_, Kind::real, {-1, -1, 3}, "[steps, vertices, 3]");
    num_frames_ = positions.shape[0];
    num_rows_ = positions.shape[1];
    has_vertices_ = file_.has(vertices_);
    require_same_mesh();
    if (has_vertices_)
      find_rows();
    else if (!body_.group.empty())
      take_all_rows();

    const std::map<int, std::int64_t> frames = frames_of_steps(file_, num_frames_);
    if (wanted.empty())
      for (const auto& [step, frame] : frames) wanted.push_back(step);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    Observations result;
    for (const int step : wanted) {
      result.positions.emplace(step, read_frame(frame_of(file_, frames, step)));
    }
    result.steps = std::move(wanted);
    return result;
  }

 private:
  /// Throws InputError for the dataset `dataset`. Must be called on every rank, or inside `collectively`.
  [[noreturn]] void fail(const std::string& dataset, const std::string& what) const {
    throw InputError(file_.path(), 0, dataset, what);
  }

  void require_same_mesh() const;
  void find_rows();
  void take_all_rows();
  std::vector<double> read_frame(std::int64_t frame) const;

  const TetrahedralMesh& mesh_;
  const Hdf5File& file_;
  BodyRows body_;
  std::string positions_, vertices_;  // names of datasets
  std::int64_t num_frames_ = 0;
  std::int64_t num_rows_ = 0;
  bool has_vertices_ = false;
  std::vector<int> observed_;        // owned vertices that have a row in the dataset
  std::unique_ptr<FileOrder> rows_;  // rows of `observed_`; nullptr if the dataset has all vertices in file order
};

void Reader::require_same_mesh() const {
  if (num_frames_ == 0) fail(positions_, "has no steps");
  if (!has_vertices_ && num_rows_ != body_.total)
    fail(positions_, "observations of another mesh: the file has " + std::to_string(num_rows_) + " vertices, the " +
                         (body_.group.empty() ? "mesh" : "body") + " has " + std::to_string(body_.total) +
                         " (name those observed in " + vertices_ + " if they are not all)");
  if (has_vertices_) file_.require(vertices_, Kind::integer, {num_rows_}, "one number for each row of /positions");
  const auto fingerprint = file_.attribute("/", fingerprint_attribute);
  if (fingerprint && *fingerprint != AttributeValue(fingerprint_text(mesh_)))
    throw InputError(file_.path(), 0, "",
                     "observations of another mesh: its positions or cells differ (attribute `mesh_fingerprint`); give "
                     "the mesh, and the scale, that they were made with");
}

/// Finds the rows of this rank's owned vertices with the dataset `/vertices`, which lists the observed vertices.
void Reader::find_rows() {
  const std::int64_t vertices = body_.total;
  if (num_rows_ > vertices)
    fail(vertices_, "names " + std::to_string(num_rows_) + " vertices, the mesh has " + std::to_string(vertices));
  const EvenShare share(mesh_.comm(), num_rows_);
  std::vector<std::int64_t> named = file_.read_rows<std::int64_t>(vertices_, share.size);
  collectively(mesh_.comm(), [&] {
    for (std::size_t i = 0; i < named.size(); ++i)
      if (named[i] < 0 || named[i] >= vertices)
        fail(vertices_, "entry " + std::to_string(share.first + static_cast<std::int64_t>(i)) + " is " +
                            std::to_string(named[i]) + "; the mesh's vertices are 0 to " +
                            std::to_string(vertices - 1));
  });

  // The row number of each listed vertex is sent to the rank whose block of the mesh file contains the vertex, and from
  // there to the vertex's owner.
  for (std::int64_t& vertex : named) vertex += body_.first;
  const FileOrder by_vertex(mesh_.comm(), mesh_.num_global_vertices(), named, static_cast<int>(named.size()));
  std::vector<double> row_numbers(named.size());
  for (std::size_t i = 0; i < named.size(); ++i)
    row_numbers[i] = static_cast<double>(share.first) + static_cast<double>(i);
  std::vector<double> row_of_vertex(static_cast<std::size_t>(by_vertex.block_size()), -1.0);
  by_vertex.to_file(row_numbers, 1, row_of_vertex);
  const std::vector<double> kept = by_vertex.from_file(row_of_vertex, 1);
  collectively(mesh_.comm(), [&] {
    for (std::size_t i = 0; i < named.size(); ++i)
      if (kept[i] != row_numbers[i])
        fail(vertices_, "vertex " + std::to_string(named[i] - body_.first) + " is named twice");
  });

  const std::vector<double> local = mesh_.vertex_order().from_file(row_of_vertex, 1);
  std::vector<std::int64_t> rows;
  for (int v = 0; v < mesh_.num_owned_vertices(); ++v) {
    const double row = local[static_cast<std::size_t>(v)];
    if (row < 0) continue;
    observed_.push_back(v);
    rows.push_back(static_cast<std::int64_t>(row));
  }
  const int count = static_cast<int>(rows.size());
  rows_ = std::make_unique<FileOrder>(mesh_.comm(), num_rows_, std::move(rows), count);
}

/// Finds the rows of this rank's owned vertices in a dataset with all vertices of the body.
void Reader::take_all_rows() {
  std::vector<std::int64_t> rows;
  for (int v = 0; v < mesh_.num_owned_vertices(); ++v) {
    const std::int64_t row = mesh_.vertex_order().file_index()[static_cast<std::size_t>(v)] - body_.first;
    if (row < 0 || row >= body_.total) continue;
    observed_.push_back(v);
    rows.push_back(row);
  }
  const int count = static_cast<int>(rows.size());
  rows_ = std::make_unique<FileOrder>(mesh_.comm(), num_rows_, std::move(rows), count);
}

std::vector<double> Reader::read_frame(std::int64_t frame) const {
  const FileOrder& order = rows_ ? *rows_ : mesh_.vertex_order();
  const std::vector<double> block = file_.read_frame<double>(positions_, frame, order.block_size());
  collectively(mesh_.comm(), [&] {
    const auto bad = std::find_if(block.begin(), block.end(), [](double x) { return std::isinf(x); });
    if (bad != block.end())
      fail(positions_, "frame " + std::to_string(frame) + ", row " +
                           std::to_string(order.block_begin() + (bad - block.begin()) / 3) +
                           " is infinite; write NaN for what was not observed");
  });
  std::vector<double> values = order.from_file(block, 3);
  const auto owned = 3 * static_cast<std::size_t>(mesh_.num_owned_vertices());
  if (!rows_) {
    values.resize(owned);
    return values;
  }
  std::vector<double> result(owned, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < observed_.size(); ++i)
    std::copy_n(&values[3 * i], 3, &result[3 * static_cast<std::size_t>(observed_[i])]);
  return result;
}

/// Reads the rows of a dataset with `columns` values per step. `/step` gives the step of each row; without `/step`, row
/// n belongs to step n. Throws InputError if the dataset has no rows, if a value is infinite, if a step occurs twice,
/// and if one of `steps` is missing. If `steps` is empty, returns all steps.
std::map<int, std::vector<double>> rows_by_step(const Hdf5File& file, const std::string& dataset, std::size_t columns,
                                                const std::vector<int>& steps) {
  const std::vector<double> values = file.read_array<double>(dataset);
  const auto rows = static_cast<std::int64_t>(values.size() / columns);
  if (rows == 0) throw InputError(file.path(), 0, dataset, "has no steps");
  if (const auto bad = std::find_if(values.begin(), values.end(), [](double x) { return std::isinf(x); });
      bad != values.end())
    throw InputError(file.path(), 0, dataset,
                     "row " + std::to_string(static_cast<std::size_t>(bad - values.begin()) / columns) +
                         " is infinite; write NaN for components that were not observed");
  std::map<int, std::int64_t> frames;
  if (file.has("/step"))
    frames = frames_of_steps(file, rows);
  else
    for (std::int64_t row = 0; row < rows; ++row) frames[static_cast<int>(row)] = row;
  std::map<int, std::vector<double>> result;
  const auto take = [&](int step, std::int64_t row) {
    const double* const first = &values[columns * static_cast<std::size_t>(row)];
    result[step].assign(first, first + columns);
  };
  for (const int step : steps) take(step, frame_of(file, frames, step));
  if (steps.empty())
    for (const auto& [step, row] : frames) take(step, row);
  return result;
}

}  // namespace

Observations read_observations(const TetrahedralMesh& mesh, const std::string& path, std::vector<int> steps) {
  const ProfilingRegion region("diffsim::io::observations");
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const std::vector<BodyRows> bodies = vertex_rows(mesh);
  if (mesh.bodies().empty()) return Reader(mesh, file, bodies[0]).run(std::move(steps));
  Observations result;
  for (const BodyRows& body : bodies) {
    if (!file.has(body.group + "/positions")) continue;
    Observations found = Reader(mesh, file, body).run(steps);
    if (result.steps.empty()) {
      result = std::move(found);
      continue;
    }
    for (auto& [step, positions] : result.positions) {
      const std::vector<double>& others = found.positions.at(step);
      for (std::size_t i = 0; i < positions.size(); ++i)
        if (!std::isnan(others[i])) positions[i] = others[i];
    }
  }
  if (result.steps.empty())
    throw InputError(path, 0, bodies[0].group + "/positions", "does not exist; give positions of at least one body");
  return result;
}

std::vector<ObservedPoints> read_observed_points(const TetrahedralMesh& mesh, const std::string& path,
                                                 const std::vector<int>& steps) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  std::vector<ObservedPoints> result;
  std::string without_points;  // positions of a body without points
  for (const BodyRows& body : vertex_rows(mesh)) {
    const std::string points = body.group + "/points", positions = body.group + "/positions";
    if (!file.has(points)) {
      if (without_points.empty() && file.has(positions)) without_points = positions;
      continue;
    }
    if (file.has(body.group + "/vertices"))
      throw InputError(path, 0, points,
                       "cannot be combined with the dataset " + body.group + "/vertices; remove one of them");
    const std::int64_t count = file.require(points, Kind::real, {-1, 3}, "[points, 3]").shape[0];
    if (count == 0) throw InputError(path, 0, points, "has no points");
    const std::vector<double> X = file.read_array<double>(points);
    file.require(positions, Kind::real, {-1, count, 3}, "[steps, points, 3]");
    ObservedPoints rows;
    if (!body.group.empty()) rows.body = mesh.bodies()[body.body].name;
    for (std::size_t i = 0; i < X.size(); i += 3) {
      if (!std::isfinite(X[i] + X[i + 1] + X[i + 2]))
        throw InputError(path, 0, points, "row " + std::to_string(i / 3) + " is not finite");
      rows.points.push_back({X[i], X[i + 1], X[i + 2]});
    }
    rows.positions = rows_by_step(file, positions, 3 * static_cast<std::size_t>(count), steps);
    result.push_back(std::move(rows));
  }
  if (!result.empty() && !without_points.empty())
    throw InputError(path, 0, without_points,
                     "has no points, but another body of the file has; give an objective and a file for each of them");
  return result;
}

std::map<int, std::vector<double>> read_observed_values(MPI_Comm comm, const std::string& path,
                                                        const std::vector<std::string>& datasets, std::size_t columns,
                                                        const std::vector<int>& steps) {
  const Hdf5File file = Hdf5File::open(comm, path);
  const auto dataset = std::find_if(datasets.begin(), datasets.end(), [&](const auto& name) { return file.has(name); });
  const std::string shape = columns == 1 ? "[K]" : "[K, " + std::to_string(columns) + "]";
  if (dataset == datasets.end())
    throw InputError(path, 0, datasets.front(),
                     "does not exist; give a dataset " + shape + ", and the steps in /step [K]");
  const bool is_list = columns == 1 && file.info(*dataset).shape.size() == 1;
  const Shape expected = is_list ? Shape{-1} : Shape{-1, static_cast<std::int64_t>(columns)};
  file.require(*dataset, Kind::real, expected, shape);
  return rows_by_step(file, *dataset, columns, steps);
}

std::map<int, std::vector<double>> read_observed_images(MPI_Comm comm, const std::string& path,
                                                        const std::string& dataset, std::size_t height,
                                                        std::size_t width, const std::vector<int>& steps) {
  const Hdf5File file = Hdf5File::open(comm, path);
  const std::string shape = "[K, " + std::to_string(height) + ", " + std::to_string(width) + "]";
  if (!file.has(dataset))
    throw InputError(path, 0, dataset, "does not exist; give a dataset " + shape + ", and the steps in /step [K]");
  file.require(dataset, Kind::real, {-1, static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)}, shape);
  return rows_by_step(file, dataset, height * width, steps);
}

}  // namespace diffsim
