// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/vtu_cells.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>

namespace diffsim::vtu {
namespace {

struct CellType {
  int number;
  ElementShape shape;
};

// Cell types of VTK's vtkCellType.h. Mid-edge nodes of simplices are in the order of element.hpp. The value `num_nodes`
// = 0 means that a cell can have any number of nodes. If a simplex type has `num_nodes` = 0, such as the polyline, a
// cell represents several simplices.
constexpr CellType cell_types[] = {{1, {0, 1, 1, "vertex"}},
                                   {2, {0, 0, 1, "set of vertices"}},
                                   {3, {1, 2, 2, "line"}},
                                   {4, {1, 0, 2, "polyline"}},
                                   {5, {2, 3, 3, "triangle"}},
                                   {6, {2, 0, 0, "triangle strip"}},
                                   {7, {2, 0, 0, "polygon"}},
                                   {8, {2, 4, 0, "pixel"}},
                                   {9, {2, 4, 0, "quadrilateral"}},
                                   {10, {3, 4, 4, "tetrahedron"}},
                                   {11, {3, 8, 0, "voxel"}},
                                   {12, {3, 8, 0, "hexahedron"}},
                                   {13, {3, 6, 0, "wedge"}},
                                   {14, {3, 5, 0, "pyramid"}},
                                   {21, {1, 3, 2, "quadratic edge"}},
                                   {22, {2, 6, 3, "quadratic triangle"}},
                                   {23, {2, 8, 0, "quadratic quadrilateral"}},
                                   {24, {3, 10, 4, "quadratic tetrahedron"}},
                                   {25, {3, 20, 0, "quadratic hexahedron"}},
                                   {26, {3, 15, 0, "quadratic wedge"}},
                                   {27, {3, 13, 0, "quadratic pyramid"}},
                                   {28, {2, 9, 0, "biquadratic quadrilateral"}},
                                   {29, {3, 27, 0, "triquadratic hexahedron"}},
                                   {34, {2, 7, 0, "biquadratic triangle"}},
                                   {41, {3, 0, 0, "convex point set"}},
                                   {42, {3, 0, 0, "polyhedron"}},
                                   {68, {1, 3, 2, "Lagrange curve"}},
                                   {69, {2, 6, 3, "Lagrange triangle"}},
                                   {70, {2, 0, 0, "Lagrange quadrilateral"}},
                                   {71, {3, 10, 4, "Lagrange tetrahedron"}},
                                   {72, {3, 0, 0, "Lagrange hexahedron"}},
                                   {73, {3, 0, 0, "Lagrange wedge"}}};

/// Names that common programs use for arrays of regions. The first of these names that exists as a cell array gives
/// regions named VALUE instead of ARRAY=VALUE.
constexpr const char* main_arrays[] = {"region",    "CellEntityIds", "gmsh:physical",
                                       "cell_tags", "medit:ref",     "nastran:ref"};
constexpr std::size_t most_regions = 1000;

/// Returns the distinct values of an array that defines regions. An array defines no regions, and the result is empty,
/// if the name begins with `vtk`, if a value exceeds 32 bits, or if there are more than `most_regions` distinct values.
std::set<std::int64_t> region_values(const std::string& name, const std::vector<std::int64_t>& array) {
  std::set<std::int64_t> values;
  if (name.rfind("vtk", 0) == 0) return values;
  for (const std::int64_t value : array) {
    if (value == Grid::no_value || (!values.empty() && *values.rbegin() == value)) continue;
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) return {};
    values.insert(value);
    if (values.size() > most_regions) return {};
  }
  return values;
}

class Chooser {
 public:
  Chooser(const Grid& grid, RawMeshBuilder& builder) : grid_(grid), builder_(builder) {}

  void run() {
    std::string main;
    for (const char* name : main_arrays)
      if (main.empty() && grid_.cell_arrays.count(name) > 0) main = name;
    cell_regions_ = region_arrays(grid_.cell_arrays, main);
    for (std::size_t c = 0; c < grid_.types.size(); ++c)
      if (grid_.types[c] != 0) add(c);  // type 0 is an empty cell
    // The points with the same value of an array form a region of vertices.
    for (RegionArray& array : region_arrays(grid_.point_arrays, ""))
      for (std::size_t v = 0; v < array.values->size(); ++v)
        if (const std::int64_t value = (*array.values)[v]; value != Grid::no_value)
          builder_.add_vertex(static_cast<std::int64_t>(v), group_of(array, 0, value));
  }

 private:
  struct RegionArray {
    std::string prefix;  // prefix of the region names
    const std::vector<std::int64_t>* values;
    std::map<std::pair<int, std::int64_t>, std::int32_t> groups;  // (dimension, value) → group
  };

  static std::vector<RegionArray> region_arrays(const Grid::Arrays& arrays, const std::string& main);
  std::int32_t group_of(RegionArray& array, int dimension, std::int64_t value);
  std::vector<std::int32_t> groups_of(std::size_t cell, int dimension);
  const ElementShape& shape_of(std::size_t cell, std::size_t num_points) const;
  void add(std::size_t cell);

  const Grid& grid_;
  RawMeshBuilder& builder_;
  std::vector<RegionArray> cell_regions_;
};

std::vector<Chooser::RegionArray> Chooser::region_arrays(const Grid::Arrays& arrays, const std::string& main) {
  std::vector<RegionArray> chosen;
  for (const auto& [name, values] : arrays)
    if (!region_values(name, values).empty()) chosen.push_back({name == main ? "" : name + "=", &values, {}});
  return chosen;
}

std::int32_t Chooser::group_of(RegionArray& array, int dimension, std::int64_t value) {
  const auto [entry, is_new] = array.groups.try_emplace({dimension, value}, 0);
  if (is_new) entry->second = builder_.group(dimension, array.prefix + std::to_string(value), static_cast<int>(value));
  return entry->second;
}

/// Returns the groups to which the cell belongs, one for each array that defines regions.
std::vector<std::int32_t> Chooser::groups_of(std::size_t cell, int dimension) {
  std::vector<std::int32_t> groups;
  for (RegionArray& array : cell_regions_)
    if (const std::int64_t value = (*array.values)[cell]; value != Grid::no_value)
      groups.push_back(group_of(array, dimension, value));
  return groups;
}

const ElementShape& Chooser::shape_of(std::size_t cell, std::size_t num_points) const {
  const std::int64_t number = grid_.types[cell];
  const auto* type = std::find_if(std::begin(cell_types), std::end(cell_types),
                                  [number](const CellType& known) { return known.number == number; });
  if (type == std::end(cell_types)) builder_.fail(cell, "VTK's cell type " + std::to_string(number) + " is not known");
  const ElementShape& shape = type->shape;
  if (shape.num_nodes > 0 ? num_points != static_cast<std::size_t>(shape.num_nodes)
                          : num_points < static_cast<std::size_t>(shape.num_corners))
    builder_.fail(cell, "a " + std::string(shape.name) + " has " + std::to_string(num_points) +
                            " points, and should have " + (shape.num_nodes > 0 ? "" : "at least ") +
                            std::to_string(std::max(shape.num_nodes, shape.num_corners)) +
                            "; save the mesh first- or second-order");
  return shape;
}

void Chooser::add(std::size_t cell) {
  const std::int64_t begin = cell == 0 ? 0 : grid_.ends[cell - 1];
  const std::span<const std::int64_t> points(grid_.connectivity.data() + begin,
                                             static_cast<std::size_t>(grid_.ends[cell] - begin));
  const ElementShape& shape = shape_of(cell, points.size());
  const std::vector<std::int32_t> groups = groups_of(cell, shape.dimension);
  const auto corners = static_cast<std::size_t>(shape.num_corners);
  if (shape.num_nodes > 0 || corners == 0) return builder_.add(shape, points, groups, cell);
  for (std::size_t i = 0; i + corners <= points.size(); ++i)
    builder_.add(shape, points.subspan(i, corners), groups, cell);
}

}  // namespace

void choose_cells(const Grid& grid, RawMeshBuilder& builder) { Chooser(grid, builder).run(); }

}  // namespace diffsim::vtu
