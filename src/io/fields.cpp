// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "io/body_rows.hpp"

namespace diffsim {
namespace {

using Kind = DatasetInfo::Kind;

/// Throws the same InputError on every rank if one of the `values` on any rank is not finite. `values` are this rank's
/// rows, which begin at row `first`. Collective.
void require_finite(const Hdf5File& file, const std::string& dataset, const std::vector<double>& values,
                    std::int64_t first, int components, const std::string& what) {
  collectively(file.comm(), [&] {
    const auto bad = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    if (bad != values.end())
      throw InputError(file.path(), 0, dataset,
                       "the value of " + what + " " + std::to_string(first + (bad - values.begin()) / components) +
                           " is " + std::to_string(*bad) + "; it must be finite");
  });
}

Shape with_components(Shape shape, int components) {
  if (components > 1) shape.push_back(components);
  return shape;
}

/// Returns the rows to be read: the rows of all bodies if `body` is empty, otherwise only the rows of `body`, with an
/// empty group name. Throws InputError if `body` has no rows in `all`.
std::vector<BodyRows> rows_to_read(const std::vector<BodyRows>& all, const TetrahedralMesh& mesh,
                                   const std::string& body, const std::string& thing) {
  if (body.empty()) return all;
  const std::size_t wanted = mesh.find_body(body);
  const auto found = std::find_if(all.begin(), all.end(), [&](const BodyRows& rows) { return rows.body == wanted; });
  if (found == all.end()) throw InputError("body '" + body + "' has no such values (one per " + thing + ")");
  BodyRows one = *found;
  one.group.clear();
  return {one};
}

/// Owner of a dataset's rows, for messages: "mesh" or "body 'gripper'".
std::string owner_of(const BodyRows& rows, const std::string& body) {
  if (!body.empty()) return "body '" + body + "'";
  return rows.group.empty() ? "mesh" : "body '" + rows.group.substr(rows.group.rfind('/') + 1) + "'";
}

/// Rows of a field in files: the rows of each body, the file order, and the word for one entity ("vertex").
struct Rows {
  std::vector<BodyRows> bodies;
  const FileOrder& order;
  std::string thing;
};

std::string name_of_one(CellKind kind) { return kind == CellKind::tetrahedron ? "cell" : singular_of(kind); }

std::vector<double> unset_block(const FileOrder& order, int components) {
  return std::vector<double>(static_cast<std::size_t>(order.block_size()) * static_cast<std::size_t>(components),
                             std::numeric_limits<double>::quiet_NaN());
}

StepValues read_steps(const TetrahedralMesh& mesh, const Rows& of, const std::string& path, const std::string& dataset,
                      int components, const std::string& body) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const std::vector<BodyRows> bodies = rows_to_read(of.bodies, mesh, body, of.thing);
  StepValues result;
  bool by_step = false;
  for (const BodyRows& rows : bodies) {
    const std::string name = rows.group + dataset;
    const Shape one = with_components({rows.total}, components),
                several = with_components({-1, rows.total}, components);
    const bool has_steps = file.info(name).shape.size() == several.size();
    const std::string list =
        std::to_string(rows.total) + (components > 1 ? ", " + std::to_string(components) : "") + "]";
    const DatasetInfo info = file.require(name, Kind::real, has_steps ? several : one,
                                          "[" + list + " or [steps, " + list + " for this " + owner_of(rows, body));
    const std::int64_t steps = has_steps ? info.shape[0] : 1;
    if (&rows != &bodies[0] && (has_steps != by_step || steps != result.steps))
      throw InputError(path, 0, name,
                       "has values for " + std::to_string(steps) +
                           " steps where the first body's dataset has them for " + std::to_string(result.steps));
    by_step = has_steps;
    result.steps = steps;
  }
  for (std::int64_t step = 0; step < result.steps; ++step) {
    std::vector<double> block = unset_block(of.order, components);
    for (const BodyRows& rows : bodies) {
      const std::string name = rows.group + dataset;
      const std::vector<double> part = by_step ? file.read_frame<double>(name, step, rows.num_local())
                                               : file.read_rows<double>(name, rows.num_local());
      require_finite(file, name, part, rows.first_local, components,
                     (by_step ? "step " + std::to_string(step) + ", " : "") + of.thing);
      std::copy(part.begin(), part.end(),
                block.begin() + static_cast<std::ptrdiff_t>(rows.begin) * static_cast<std::ptrdiff_t>(components));
    }
    const std::vector<double> local = of.order.from_file(block, components);
    result.values.insert(result.values.end(), local.begin(), local.end());
  }
  return result;
}

void write_steps(Hdf5File& file, const Rows& of, const std::string& dataset, const std::vector<double>& local,
                 int components, const std::string& units, std::size_t count) {
  const std::size_t a_step = local.size() / count;
  std::vector<double> block;
  if (count == 1) {
    of.order.to_file(local, components, block);
    for_each_body(of.bodies, block, components, [&](const BodyRows& body, const std::vector<double>& values) {
      file.write_rows(body.group + dataset, values, with_components({}, components), units);
    });
    return;
  }
  for (const BodyRows& body : of.bodies)
    file.create_series<double>(body.group + dataset, with_components({body.total}, components), units);
  for (std::size_t step = 0; step < count; ++step) {
    const auto begin = local.begin() + static_cast<std::ptrdiff_t>(step * a_step);
    of.order.to_file({begin, begin + static_cast<std::ptrdiff_t>(a_step)}, components, block);
    for_each_body(of.bodies, block, components, [&](const BodyRows& body, const std::vector<double>& values) {
      file.append(body.group + dataset, values);
    });
  }
}

}  // namespace

std::vector<double> read_cell_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                                    const std::string& body) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  std::vector<double> block = unset_block(mesh.cell_order(), 1);
  for (const BodyRows& rows : rows_to_read(cell_rows(mesh), mesh, body, "tetrahedron")) {
    const std::string name = rows.group + dataset;
    file.require(name, Kind::real, {rows.total}, "one value for each cell of the " + owner_of(rows, body));
    const std::vector<double> part = file.read_rows<double>(name, rows.num_local());
    require_finite(file, name, part, rows.first_local, 1, "cell");
    std::copy(part.begin(), part.end(), block.begin() + static_cast<std::ptrdiff_t>(rows.begin));
  }
  return mesh.cell_order().from_file(block, 1);
}

CellModes read_cell_modes(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                          CellKind kind) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const std::vector<BodyRows> bodies = cell_rows(mesh, kind);
  CellModes result;
  for (const BodyRows& rows : bodies) {
    const std::string name = rows.group + dataset;
    const std::int64_t modes =
        file.require(name, Kind::real, {-1, rows.total},
                     "rows with one value for each " + name_of_one(kind) + " of the " + owner_of(rows, ""))
            .shape[0];
    if (&rows != &bodies[0] && modes != result.modes)
      throw InputError(
          path, 0, name,
          "has " + std::to_string(modes) + " rows where the first body's dataset has " + std::to_string(result.modes));
    result.modes = modes;
  }
  for (std::int64_t mode = 0; mode < result.modes; ++mode) {
    std::vector<double> block;
    for (const BodyRows& rows : bodies) {
      const std::vector<double> part = file.read_frame<double>(rows.group + dataset, mode, rows.num_local());
      require_finite(file, rows.group + dataset, part, rows.first_local, 1,
                     "row " + std::to_string(mode) + ", " + name_of_one(kind));
      block.insert(block.end(), part.begin(), part.end());
    }
    const std::vector<double> local = mesh.cell_order(kind).from_file(block, 1);
    result.values.insert(result.values.end(), local.begin(), local.end());
  }
  return result;
}

StepValues read_vertex_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                             int components, const std::string& body) {
  StepValues read =
      read_steps(mesh, {vertex_rows(mesh), mesh.vertex_order(), "vertex"}, path, dataset, components, body);
  // Directors have no rows in the file; their values are set to zero.
  const std::vector<char>& is_director = mesh.is_director();
  for (std::size_t i = 0; !is_director.empty() && i < read.values.size(); ++i)
    if (is_director[i / static_cast<std::size_t>(components) % is_director.size()] != 0) read.values[i] = 0.0;
  return read;
}

StepValues read_cell_steps(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                           CellKind kind, const std::string& body) {
  return read_steps(mesh, {cell_rows(mesh, kind), mesh.cell_order(kind), singular_of(kind)}, path, dataset, 1, body);
}

Array read_array(MPI_Comm comm, const std::string& path, const std::string& dataset) {
  const Hdf5File file = Hdf5File::open(comm, path);
  Array result{file.info(dataset).shape, file.read_array<double>(dataset)};
  require_finite(file, dataset, result.values, 0, 1, "entry");
  return result;
}

void write_cell_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                      const std::vector<double>& local, const std::string& units) {
  collectively(mesh.comm(), [&] {
    if (local.size() != static_cast<std::size_t>(mesh.num_cells()))
      throw Error(dataset + ": " + std::to_string(local.size()) + " values for " + std::to_string(mesh.num_cells()) +
                  " cells");
  });
  std::vector<double> block;
  mesh.cell_order().to_file(local, 1, block);
  for_each_body(cell_rows(mesh), block, 1, [&](const BodyRows& body, const std::vector<double>& values) {
    file.write_rows(body.group + dataset, values, {}, units);
  });
}

void write_vertex_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                        const std::vector<double>& local, int components, const std::string& units,
                        std::int64_t steps) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(steps, 1));
  collectively(mesh.comm(), [&] {
    const auto fits = [&](int vertices) {
      return local.size() == count * static_cast<std::size_t>(vertices) * static_cast<std::size_t>(components);
    };
    if (!fits(mesh.num_owned_vertices()) && !fits(mesh.num_vertices()))
      throw Error(dataset + ": " + std::to_string(local.size()) + " values are not " + std::to_string(count) + " x " +
                  std::to_string(mesh.num_owned_vertices()) + " vertices x " + std::to_string(components));
  });
  write_steps(file, {vertex_rows(mesh), mesh.vertex_order(), "vertex"}, dataset, local, components, units, count);
}

void write_cell_steps(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                      const std::vector<double>& local, CellKind kind, const std::string& units, std::int64_t steps) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(steps, 1));
  const std::size_t cells = mesh.cell_entities(kind)->local();
  collectively(mesh.comm(), [&] {
    if (local.size() != count * cells)
      throw Error(dataset + ": " + std::to_string(local.size()) + " values are not " + std::to_string(count) + " x " +
                  std::to_string(cells) + " " + name_of(kind));
  });
  write_steps(file, {cell_rows(mesh, kind), mesh.cell_order(kind), singular_of(kind)}, dataset, local, 1, units, count);
}

}  // namespace diffsim
