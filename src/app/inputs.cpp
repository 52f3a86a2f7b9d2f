// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inputs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "app/scene_sections.hpp"
#include "app/text_file.hpp"
#include "io/fields.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {
namespace {

Shape shape_of(MPI_Comm comm, const Dataset& dataset) {
  return Hdf5File::open(comm, dataset.path).info(dataset.name).shape;
}

/// Returns true if the mesh has several bodies and the file stores the dataset separately for each body, in the groups
/// of the bodies.
bool is_by_body(const TetrahedralMesh& mesh, const Dataset& dataset, const std::string& body) {
  return body.empty() && !mesh.bodies().empty() && !Hdf5File::open(mesh.comm(), dataset.path).has(dataset.name);
}

/// Returns the regions to which a dataset's entries belong; empty if the file does not list regions.
std::vector<std::string> regions_of(MPI_Comm comm, const Dataset& dataset) {
  const Hdf5File file = Hdf5File::open(comm, dataset.path);
  if (!file.has(dataset.name + ".regions")) return {};
  std::vector<std::string> regions = file.read_strings(dataset.name + ".regions");
  if (num_values(file.info(dataset.name).shape) != static_cast<std::int64_t>(regions.size()))
    throw Error(fmt::format("{} must have one value for each of the regions in {}.regions, whose number is {}",
                            dataset.name, dataset.name, regions.size()),
                ErrorKind::input);
  return regions;
}

/// Returns the values of owned vertices, an array [steps, owned vertices, components], from `local`, an array [steps,
/// local vertices, components].
std::vector<double> owned_part(const TetrahedralMesh& mesh, const StepValues& local, int components) {
  const std::ptrdiff_t row = components * static_cast<std::ptrdiff_t>(mesh.num_vertices());
  const std::ptrdiff_t owned_row = components * static_cast<std::ptrdiff_t>(mesh.num_owned_vertices());
  std::vector<double> owned;
  for (std::ptrdiff_t n = 0; n < local.steps; ++n)
    owned.insert(owned.end(), local.values.begin() + n * row, local.values.begin() + n * row + owned_row);
  return owned;
}

}  // namespace

void at_place(const Place& place, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    const std::string what = error.what();
    // An error that already names a position in the scene is rethrown unchanged.
    const bool placed = place.file && what.starts_with(*place.file + ":");
    if (error.kind() != ErrorKind::input || placed) throw;
    place.fail(what);
  }
}

const Region& find_region(const TetrahedralMesh& mesh, const RegionName& name) {
  const Region* region = nullptr;
  at_place(name.place, [&] { region = &mesh.region(name.name); });
  if (region->num_vertices == 0)
    name.place.fail("region '" + name.name + "' is empty; name one that has elements in the mesh");
  return *region;
}

Array load_array(MPI_Comm comm, const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected) {
  Numbers loaded = numbers;
  if (const Dataset* dataset = numbers.dataset()) {
    require_readable(comm, dataset->path, numbers.place);
    at_place(numbers.place, [&] {
      loaded.source = Array{shape_of(comm, *dataset), {}};
      expect_shape(loaded, shapes, expected);
      loaded.source = read_array(comm, dataset->path, dataset->name);
    });
  }
  expect_shape(loaded, shapes, expected);
  return *loaded.array();
}

std::vector<double> load_cells(const TetrahedralMesh& mesh, const Numbers& numbers, const std::string& body) {
  const auto num_cells = static_cast<std::size_t>(mesh.num_cells());
  if (const Array* array = numbers.array()) return std::vector<double>(num_cells, array->values.at(0));
  const Dataset& dataset = *numbers.dataset();
  require_readable(mesh.comm(), dataset.path, numbers.place);
  std::vector<double> cells(num_cells, std::numeric_limits<double>::quiet_NaN());
  at_place(numbers.place, [&] {
    const bool by_body = is_by_body(mesh, dataset, body);
    const Shape shape = by_body ? Shape{-1} : shape_of(mesh.comm(), dataset);
    const std::vector<std::string> regions = regions_of(mesh.comm(), dataset);
    if (by_body || (!shape.empty() && regions.empty())) {
      cells = read_cell_field(mesh, dataset.path, dataset.name, body);
      return;
    }
    const std::vector<double> values = read_array(mesh.comm(), dataset.path, dataset.name).values;
    if (shape.empty()) cells.assign(num_cells, values.at(0));
    for (std::size_t r = 0; r < regions.size(); ++r)
      for (const int cell : mesh.region(regions[r]).cells) cells[static_cast<std::size_t>(cell)] = values[r];
  });
  return cells;
}

StepValues load_numbers(const TetrahedralMesh& mesh, const Numbers& numbers, std::optional<CellKind> kind, int steps,
                        const std::string& body) {
  const std::size_t count =
      kind ? mesh.cell_entities(*kind)->local() : static_cast<std::size_t>(mesh.num_owned_vertices());
  if (const Array* array = numbers.array()) return {1, std::vector<double>(count, array->values.at(0))};
  const Dataset& dataset = *numbers.dataset();
  require_readable(mesh.comm(), dataset.path, numbers.place);
  StepValues result{1, std::vector<double>(count, std::numeric_limits<double>::quiet_NaN())};
  at_place(numbers.place, [&] {
    const bool by_body = is_by_body(mesh, dataset, body);
    const std::vector<std::string> regions = regions_of(mesh.comm(), dataset);
    if (by_body || (regions.empty() && !shape_of(mesh.comm(), dataset).empty())) {
      result = kind ? read_cell_steps(mesh, dataset.path, dataset.name, *kind, body)
                    : read_vertex_field(mesh, dataset.path, dataset.name, 1, body);
      if (!kind) result.values = owned_part(mesh, result, 1);
      if (result.steps > 1 && result.steps != steps)
        throw Error(fmt::format("{} has values for {} steps, but values for {} are required", dataset.name,
                                result.steps, std::max(steps, 1)),
                    ErrorKind::input);
      return;
    }
    const std::vector<double> values = read_array(mesh.comm(), dataset.path, dataset.name).values;
    if (regions.empty()) result.values.assign(count, values.at(0));
    for (std::size_t r = 0; r < regions.size(); ++r) {
      const Region& region = mesh.region(regions[r]);
      for (const int entity : kind ? region.cells_of(*kind) : region.vertices)
        if (const auto e = static_cast<std::size_t>(entity); e < count) result.values[e] = values[r];
    }
  });
  return result;
}

VertexVectors load_vertices(const TetrahedralMesh& mesh, const Numbers& numbers, int steps, const std::string& body) {
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  VertexVectors vectors;
  const auto spread = [&](const Array& array) {
    vectors.steps = array.shape.size() == 2 ? static_cast<int>(array.shape[0]) : 0;
    for (std::size_t row = 0; row < array.values.size(); row += 3)
      for (std::size_t v = 0; v < owned; ++v)
        for (std::size_t c = 0; c < 3; ++c) {
          const bool is_place = mesh.is_director().empty() || mesh.is_director()[v] == 0;
          vectors.values.push_back(is_place ? array.values[row + c] : 0.0);
        }
  };
  if (const Array* array = numbers.array()) {
    spread(*array);
    return vectors;
  }
  const Dataset& dataset = *numbers.dataset();
  require_readable(mesh.comm(), dataset.path, numbers.place);
  at_place(numbers.place, [&] {
    if (!is_by_body(mesh, dataset, body) && shape_of(mesh.comm(), dataset) == Shape{3}) {
      spread(read_array(mesh.comm(), dataset.path, dataset.name));
      return;
    }
    const StepValues read = read_vertex_field(mesh, dataset.path, dataset.name, 3, body);
    if (read.steps > 1 && read.steps != steps)
      throw Error(fmt::format("{} has values for {} steps, but values for {} are required", dataset.name, read.steps,
                              std::max(steps, 1)),
                  ErrorKind::input);
    vectors.steps = read.steps > 1 ? steps : 0;
    vectors.values = owned_part(mesh, read, 3);
  });
  return vectors;
}

std::vector<double> load_regions(MPI_Comm comm, const Numbers& numbers, const std::vector<std::string>& regions) {
  const auto count = static_cast<std::int64_t>(regions.size());
  const Array array = load_array(comm, numbers, {{}, {count}}, "a number, or one for each of: " + join(regions));
  if (array.shape.empty()) return std::vector<double>(regions.size(), array.values.at(0));
  std::vector<double> values = array.values;
  if (!numbers.dataset()) return values;
  at_place(numbers.place, [&] {
    const std::vector<std::string> names = regions_of(comm, *numbers.dataset());
    for (std::size_t r = 0; r < regions.size() && !names.empty(); ++r) {
      const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), regions[r]) - names.begin());
      if (place >= array.values.size())
        throw Error(numbers.dataset()->name + ".regions has no '" + regions[r] + "'", ErrorKind::input);
      values[r] = array.values[place];
    }
  });
  return values;
}

std::vector<double> repeated(const std::vector<double>& values, int steps) {
  std::vector<double> all;
  all.reserve(values.size() * static_cast<std::size_t>(steps));
  for (int n = 0; n < steps; ++n) all.insert(all.end(), values.begin(), values.end());
  return all;
}

}  // namespace diffsim::app
