// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/fields.hpp"

#include <algorithm>
#include <cmath>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

using Kind = DatasetInfo::Kind;

/// `values`: this rank's rows from `first` on.
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

}  // namespace

std::vector<double> read_cell_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const FileOrder& order = mesh.cell_order();
  file.require(dataset, Kind::real, {order.num_global()}, "one value for each of the mesh's cells");
  const std::vector<double> block = file.read_rows<double>(dataset, order.block_size());
  require_finite(file, dataset, block, order.block_begin(), 1, "cell");
  return order.from_file(block, 1);
}

CellModes read_cell_modes(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const FileOrder& order = mesh.cell_order();
  const DatasetInfo info =
      file.require(dataset, Kind::real, {-1, order.num_global()}, "rows with one value for each of the mesh's cells");
  CellModes result;
  result.modes = info.shape[0];
  for (std::int64_t mode = 0; mode < result.modes; ++mode) {
    const std::vector<double> block = file.read_frame<double>(dataset, mode, order.block_size());
    require_finite(file, dataset, block, order.block_begin(), 1, "row " + std::to_string(mode) + ", cell");
    const std::vector<double> local = order.from_file(block, 1);
    result.values.insert(result.values.end(), local.begin(), local.end());
  }
  return result;
}

VertexValues read_vertex_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                               int components) {
  const Hdf5File file = Hdf5File::open(mesh.comm(), path);
  const FileOrder& order = mesh.vertex_order();
  const std::int64_t vertices = order.num_global();
  const Shape one = with_components({vertices}, components), several = with_components({-1, vertices}, components);
  const bool by_step = file.info(dataset).shape.size() == several.size();
  const std::string list = std::to_string(vertices) + (components > 1 ? ", " + std::to_string(components) : "") + "]";
  const DatasetInfo info =
      file.require(dataset, Kind::real, by_step ? several : one, "[" + list + " or [steps, " + list + " for this mesh");
  VertexValues result;
  result.steps = by_step ? info.shape[0] : 1;
  for (std::int64_t step = 0; step < result.steps; ++step) {
    const std::vector<double> block = by_step ? file.read_frame<double>(dataset, step, order.block_size())
                                              : file.read_rows<double>(dataset, order.block_size());
    require_finite(file, dataset, block, order.block_begin(), components,
                   (by_step ? "step " + std::to_string(step) + ", " : "") + "vertex");
    const std::vector<double> local = order.from_file(block, components);
    result.values.insert(result.values.end(), local.begin(), local.end());
  }
  return result;
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
  file.write_rows(dataset, block, {}, units);
}

void write_vertex_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                        const std::vector<double>& local, int components, const std::string& units,
                        std::int64_t steps) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(steps, 1));
  const std::size_t a_step = local.size() / count;
  collectively(mesh.comm(), [&] {
    const auto fits = [&](int vertices) {
      return local.size() == count * static_cast<std::size_t>(vertices) * static_cast<std::size_t>(components);
    };
    if (!fits(mesh.num_owned_vertices()) && !fits(mesh.num_vertices()))
      throw Error(dataset + ": " + std::to_string(local.size()) + " values are not " + std::to_string(count) + " x " +
                  std::to_string(mesh.num_owned_vertices()) + " vertices x " + std::to_string(components));
  });
  const FileOrder& order = mesh.vertex_order();
  std::vector<double> block;
  if (count == 1) {
    order.to_file(local, components, block);
    file.write_rows(dataset, block, with_components({}, components), units);
    return;
  }
  file.create_series<double>(dataset, with_components({order.num_global()}, components), units);
  for (std::size_t step = 0; step < count; ++step) {
    const auto begin = local.begin() + static_cast<std::ptrdiff_t>(step * a_step);
    order.to_file({begin, begin + static_cast<std::ptrdiff_t>(a_step)}, components, block);
    file.append(dataset, block);
  }
}

}  // namespace diffsim
