// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inputs.hpp"

#include <algorithm>
#include <limits>

#include "app/scene_sections.hpp"
#include "app/text_file.hpp"

namespace diffsim::app {
namespace {

Hdf5File open_dataset(MPI_Comm comm, const Numbers& numbers) {
  require_readable(comm, numbers.dataset()->path, numbers.place);
  return Hdf5File::open(comm, numbers.dataset()->path);
}

/// [owned, 3] out of [local, 3].
std::vector<double> owned_part(const TetrahedralMesh& mesh, std::vector<double> local) {
  local.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
  return local;
}

bool has_regions(const Hdf5File& file, const std::string& dataset, const Shape& shape) {
  return shape.size() == 1 && file.has(dataset + ".regions");
}

}  // namespace

void at_place(const Place& place, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    const std::string what = error.what();
    // One that knows its place in the scene already keeps it.
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

Array load_array(MPI_Comm comm, const Numbers& numbers, const std::vector<std::vector<std::int64_t>>& shapes,
                 const std::string& expected) {
  Numbers loaded = numbers;
  if (const Dataset* dataset = numbers.dataset())
    at_place(numbers.place, [&] {
      const Hdf5File file = open_dataset(comm, numbers);
      Array array;
      array.shape = file.require(dataset->name, DatasetInfo::Kind::real, file.info(dataset->name).shape).shape;
      loaded.source = std::move(array);
      expect_shape(loaded, shapes, expected);
      std::get<Array>(loaded.source).values = file.read_array<double>(dataset->name);
    });
  expect_shape(loaded, shapes, expected);
  return *loaded.array();
}

std::vector<double> load_cells(const TetrahedralMesh& mesh, const Numbers& numbers) {
  const auto num_cells = static_cast<std::size_t>(mesh.num_cells());
  if (const Array* array = numbers.array()) return std::vector<double>(num_cells, array->values.at(0));
  std::vector<double> cells;
  at_place(numbers.place, [&] {
    const Hdf5File file = open_dataset(mesh.comm(), numbers);
    const std::string& dataset = numbers.dataset()->name;
    const Shape shape = file.info(dataset).shape;
    if (shape.empty()) {
      cells.assign(num_cells, file.read_array<double>(dataset).at(0));
    } else if (has_regions(file, dataset, shape)) {
      const std::vector<double> values = file.read_array<double>(dataset);
      const std::vector<std::string> names = file.read_strings(dataset + ".regions");
      cells.assign(num_cells, std::numeric_limits<double>::quiet_NaN());
      for (std::size_t r = 0; r < std::min(values.size(), names.size()); ++r)
        for (const int cell : mesh.region(names[r]).cells) cells[static_cast<std::size_t>(cell)] = values[r];
    } else {
      file.require(dataset, DatasetInfo::Kind::real, {mesh.num_global_cells()}, "[cells]");
      cells = mesh.cell_order().from_file(file.read_rows<double>(dataset, mesh.cell_order().block_size()), 1);
    }
  });
  return cells;
}

VertexVectors load_vertices(const TetrahedralMesh& mesh, const Numbers& numbers, int steps) {
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  const FileOrder& order = mesh.vertex_order();
  VertexVectors vectors;
  const auto spread = [&](const Array& array) {
    vectors.steps = array.shape.size() == 2 ? static_cast<int>(array.shape[0]) : 0;
    for (std::size_t row = 0; row < array.values.size(); row += 3)
      for (std::size_t v = 0; v < owned; ++v)
        vectors.values.insert(vectors.values.end(), array.values.begin() + static_cast<std::ptrdiff_t>(row),
                              array.values.begin() + static_cast<std::ptrdiff_t>(row + 3));
  };
  if (const Array* array = numbers.array()) {
    spread(*array);
    return vectors;
  }
  at_place(numbers.place, [&] {
    const Hdf5File file = open_dataset(mesh.comm(), numbers);
    const std::string& dataset = numbers.dataset()->name;
    const Shape shape = file.info(dataset).shape;
    const std::int64_t vertices = mesh.num_global_vertices();
    if (shape == Shape{3} && vertices != 3) {
      spread({{3}, file.read_array<double>(dataset)});
    } else if (shape.size() == 3 && steps > 0) {
      file.require(dataset, DatasetInfo::Kind::real, {steps, vertices, 3}, "[steps, vertices, 3]");
      vectors.steps = steps;
      for (int n = 0; n < steps; ++n) {
        const std::vector<double> frame =
            owned_part(mesh, order.from_file(file.read_frame<double>(dataset, n, order.block_size()), 3));
        vectors.values.insert(vectors.values.end(), frame.begin(), frame.end());
      }
    } else {
      file.require(dataset, DatasetInfo::Kind::real, {vertices, 3}, "[vertices, 3]");
      vectors.values = owned_part(mesh, order.from_file(file.read_rows<double>(dataset, order.block_size()), 3));
    }
  });
  return vectors;
}

std::vector<double> load_regions(MPI_Comm comm, const Numbers& numbers, const std::vector<std::string>& regions) {
  const auto count = static_cast<std::int64_t>(regions.size());
  const std::string expected = "a number, or one for each of: " + join(regions);
  Array array = load_array(comm, numbers, {{}, {count}}, expected);
  if (array.shape.empty()) return std::vector<double>(regions.size(), array.values.at(0));
  if (!numbers.dataset()) return array.values;
  std::vector<double> values = array.values;
  at_place(numbers.place, [&] {
    const Hdf5File file = open_dataset(comm, numbers);
    const std::string names_of = numbers.dataset()->name + ".regions";
    if (!file.has(names_of)) return;
    const std::vector<std::string> names = file.read_strings(names_of);
    for (std::size_t r = 0; r < regions.size(); ++r) {
      const auto found = std::find(names.begin(), names.end(), regions[r]);
      if (found == names.end() || static_cast<std::size_t>(found - names.begin()) >= array.values.size())
        throw Error(names_of + " has no '" + regions[r] + "'", ErrorKind::input);
      values[r] = array.values[static_cast<std::size_t>(found - names.begin())];
    }
  });
  return values;
}

}  // namespace diffsim::app
