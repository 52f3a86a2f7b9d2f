// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "body/parameters.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/fields.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Entries, on this rank, of a parameter of the Model or of a field of the initial state x[0].
struct Entries {
  std::vector<double> values;  // [count, components]
  std::size_t count = 0;
  int components = 1;
  int steps = 1;
};

Entries entries_of(const ParameterEntry& entry, const std::string& parameter, DifferentiableScene& solver) {
  if (entry.name == "initial_positions" || entry.name == "initial_velocities") {
    const State state = solver.initial_state();
    const Field& field = state[entry.name == "initial_positions" ? "positions" : "velocities"];
    std::vector<double> values = field.to_host();
    values.resize(field.owned_size());
    return {std::move(values), field.owned(), field.components(), 1};
  }
  if (!solver.parameters().find(parameter))
    entry.place.fail("the scene has no parameter '" + parameter + "'; check the name of the joint");
  const Parameter& source = solver.parameters().at(parameter);
  if (source.is_global())
    return {source.field.to_host(), source.field.extent(), source.field.components(), source.steps()};
  std::vector<double> values = source.field.to_host();
  values.resize(source.field.owned_size());
  return {std::move(values), source.field.owned(), source.field.components(), source.steps()};
}

/// Returns true if the scene gives the material a value of the parameter, or if the material's CellModel has the
/// parameter.
bool has_parameter(const MaterialEntry& material, const std::string& name) {
  return material.values.count(name) > 0 || (material.cells && material.cells->has_parameter(name));
}

/// Kind of the cells on which a material's parameter has values; no value for a parameter of vertices.
std::optional<CellKind> kind_of(const std::string& parameter) {
  switch (spec_of(parameter).home) {
    case ParameterHome::segments:
      return CellKind::segment;
    case ParameterHome::triangles:
      return CellKind::triangle;
    case ParameterHome::vertices:
      return {};
    default:
      return CellKind::tetrahedron;
  }
}

/// Cells, or owned vertices, of a region on which a material's parameter has values.
std::vector<int> entities_in(const TetrahedralMesh& mesh, const std::string& region, const std::string& parameter) {
  const Region& of = mesh.region(region);
  if (const auto kind = kind_of(parameter)) return of.cells_of(*kind);
  std::vector<int> owned = of.vertices;
  std::erase_if(owned, [&](int vertex) { return vertex >= mesh.num_owned_vertices(); });
  return owned;
}

/// Flags of the local cells, or owned vertices: 1 if the material there has the parameter, otherwise 0.
std::vector<char> entities_with(const Scene& scene, const TetrahedralMesh& mesh, const std::string& parameter) {
  const auto kind = kind_of(parameter);
  std::vector<char> has(kind ? mesh.cell_entities(*kind)->local() : static_cast<std::size_t>(mesh.num_owned_vertices()),
                        0);
  for (const MaterialEntry& material : scene.materials)
    if (has_parameter(material, parameter))
      for (const int entity : entities_in(mesh, material.region_name(), parameter))
        has[static_cast<std::size_t>(entity)] = 1;
  return has;
}

/// Name, for messages, of the entities on which a material's parameter has values, such as "cells".
std::string plural_of(const std::string& parameter) {
  const auto kind = kind_of(parameter);
  return !kind ? "vertices" : *kind == CellKind::tetrahedron ? "cells" : name_of(*kind);
}

/// Names of the regions for an unknown with `per: region`. The regions are those in the list of materials or, without a
/// list, the mesh's volume groups. Regions without entities that have the parameter are left out.
std::vector<std::string> region_names(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry,
                                      const std::vector<char>& has) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    std::int64_t members = 0;
    for (const int entity : entities_in(mesh, name, entry.name)) members += has[static_cast<std::size_t>(entity)];
    if (sum_over_ranks(members, mesh.comm()) > 0 && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  if (scene.material_list)
    for (const MaterialEntry& material : scene.materials) add(material.region_name());
  else
    for (const RegionInfo& info : mesh.region_infos())
      if (info.dimension == 3) add(info.name);
  if (names.empty())
    entry.place.fail(
        "the mesh has no volume groups for `per: region`; use per: global or cell, or list materials by region");
  return names;
}

void group_entities(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry, Unknown& unknown) {
  const std::vector<char> has = entities_with(scene, mesh, entry.name);
  unknown.group.assign(has.size(), -1);
  unknown.group_names = {""};
  std::vector<std::string> regions{entry.region ? entry.region->name : "all"};
  if (entry.per == Per::region) unknown.group_names = regions = region_names(scene, mesh, entry, has);
  std::int64_t twice = 0, members = 0;
  for (std::size_t r = 0; r < regions.size(); ++r)
    for (const int entity : entities_in(mesh, regions[r], entry.name)) {
      if (!has[static_cast<std::size_t>(entity)]) continue;
      int& group = unknown.group[static_cast<std::size_t>(entity)];
      if (group >= 0) ++twice;
      group = static_cast<int>(r);
      ++members;
    }
  if (sum_over_ranks(members, mesh.comm()) == 0)
    entry.place.fail("the materials of '" + regions.front() + "' have no " + entry.name +
                     "; choose a parameter of these materials");
  twice = sum_over_ranks(twice, mesh.comm());
  if (twice > 0)
    entry.place.fail(fmt::format("{} {} are in two of the regions {}; regions of one parameter may not overlap", twice,
                                 plural_of(entry.name), join(regions)));
}

void require_in_all(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry) {
  const std::vector<char> has = entities_with(scene, mesh, entry.name);
  if (sum_over_ranks(std::count(has.begin(), has.end(), 0), mesh.comm()) > 0)
    entry.place.fail(
        "not all " + plural_of(entry.name) + " have a material with " + entry.name +
        (entry.distribution ? "; give all tetrahedra a material with this parameter" : "; use per: region or global"));
}

/// Common value of all entries of each group, per component. Throws InputError if the values differ.
std::vector<double> common_values(MPI_Comm comm, const ParameterEntry& entry, const Unknown& unknown,
                                  const Entries& entries) {
  const auto width = static_cast<std::size_t>(entries.components);
  const std::size_t numbers = unknown.group_names.size() * width;
  std::vector<double> low(numbers, infinity), high(numbers, -infinity);
  for (std::size_t e = 0; e < entries.count; ++e) {
    if (unknown.group[e] < 0) continue;
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t i = static_cast<std::size_t>(unknown.group[e]) * width + c;
      low[i] = std::min(low[i], entries.values[width * e + c]);
      high[i] = std::max(high[i], entries.values[width * e + c]);
    }
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, low.data(), static_cast<int>(numbers), MPI_DOUBLE, MPI_MIN, comm));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, high.data(), static_cast<int>(numbers), MPI_DOUBLE, MPI_MAX, comm));
  for (std::size_t i = 0; i < numbers; ++i)
    if (low[i] != high[i])
      entry.place.fail(
          fmt::format("needs one value, but the scene has different values, from {} to {}; give `initial`, or use per: "
                      "region, cell, vertex or step",
                      low[i], high[i]));
  return low;
}

void expect_steps(const ParameterEntry& entry, const Scene& scene, const Entries& entries) {
  const bool each_step = entry.is_by_step();
  if (each_step && scene.solver.steps < 1)
    entry.place.fail("`per: " + to_string(entry.per) + "` needs solver.steps >= 1");
  if (entry.per == Per::vertex && entries.steps > 1)
    entry.place.fail("the scene's load has values for each step; use `per: vertex_step`");
  if (is_of_material(entry.spec) && !each_step && entries.steps > 1)
    entry.place.fail("the scene has values for each step; use `per: segment_step`");
}

}  // namespace

void require_finite(MPI_Comm comm, const std::vector<double>& values, const ParameterEntry& entry, const Place& place) {
  collectively(comm, [&] {
    for (const double value : values)
      if (!std::isfinite(value))
        place.fail("has no finite value for some of the values of '" + entry.label + "'; give a value for each");
  });
}

std::vector<double> load_unknown(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry,
                                 const Numbers& initial, const Unknown& unknown, int components) {
  if (unknown.map_numbers > 0)
    return load_array(mesh.comm(), initial, {{}, {unknown.map_numbers}}, "a number, or one number per mode").values;
  const std::int64_t steps = scene.solver.steps;
  const bool vector = components == 3;
  using Shapes = std::vector<Shape>;
  switch (entry.per) {
    case Per::cell:
      return load_cells(mesh, initial);
    case Per::segment:
      return load_numbers(mesh, initial, CellKind::segment, 0).values;
    case Per::triangle:
      return load_numbers(mesh, initial, CellKind::triangle, 0).values;
    case Per::segment_step: {
      const StepValues values = load_numbers(mesh, initial, CellKind::segment, static_cast<int>(steps));
      return values.steps > 1 ? values.values : repeated(values.values, static_cast<int>(steps));
    }
    case Per::region:
      return load_regions(mesh.comm(), initial, unknown.group_names);
    case Per::global: {
      if (components == 1) return load_array(mesh.comm(), initial, Shapes{{}}, "a number").values;
      // A policy may also have three weights.
      const bool is_vector = entry.spec.components == 3;
      const Shapes shapes = is_vector ? Shapes{{3}} : Shapes{{}, {components}};
      const Array array = load_array(mesh.comm(), initial, shapes, fmt::format("[{}]", components));
      return array.shape.empty() ? repeated(array.values, components) : array.values;
    }
    case Per::step: {
      const Array array = load_array(mesh.comm(), initial, vector ? Shapes{{3}, {steps, 3}} : Shapes{{}, {steps}},
                                     vector ? "[3] or [steps, 3]" : "a number or [steps]");
      const bool constant = array.shape.size() == (vector ? 1 : 0);
      return constant ? repeated(array.values, static_cast<int>(steps)) : array.values;
    }
    case Per::vertex:
      if (components == 1) return load_numbers(mesh, initial, {}, 0).values;
      return load_vertices(mesh, initial, 0).values;
    case Per::vertex_step: {
      const VertexVectors vectors = load_vertices(mesh, initial, static_cast<int>(steps));
      return vectors.steps > 0 ? vectors.values : repeated(vectors.values, static_cast<int>(steps));
    }
  }
  return {};
}

namespace {

std::vector<double> start_by_region(const ParameterEntry& entry, const Unknown& unknown) {
  std::vector<double> start(unknown.group_names.size());
  std::vector<bool> given(start.size(), false);
  for (const auto& [region, value] : entry.initial_by_region) {
    const auto found = std::find(unknown.group_names.begin(), unknown.group_names.end(), region.name);
    if (found == unknown.group_names.end())
      region.place.fail("'" + region.name +
                        "' is not one of the parameter's regions; give one of: " + join(unknown.group_names));
    const auto r = static_cast<std::size_t>(found - unknown.group_names.begin());
    start[r] = value;
    given[r] = true;
  }
  for (std::size_t r = 0; r < start.size(); ++r)
    if (!given[r]) entry.place.fail("`initial` has no value for the region '" + unknown.group_names[r] + "'; add one");
  return start;
}

void check_start(const TetrahedralMesh& mesh, const ParameterEntry& entry, const Unknown& unknown,
                 const std::vector<double>& start) {
  const Place& place = entry.initial ? entry.initial->place : entry.place;
  if (entry.per == Per::cell) check_cells(mesh, mesh.region("all").cells, start, entry.name, place);
  const ParameterSpec spec = entry.spec;
  collectively(mesh.comm(), [&] {
    for (const double value : start) {
      if (const std::string fault = range_error(spec, value); !fault.empty()) place.fail("the initial value " + fault);
      if (value < entry.lower || value > entry.upper)
        place.fail(fmt::format(
            "the initial value {} is outside the bounds [{}, {}]; widen the bounds or give another `initial`", value,
            entry.lower, entry.upper));
      if (unknown.logarithmic && !(value > 0.0))
        place.fail(fmt::format("the initial value {} has no logarithm; start above 0 or use search: linear", value));
    }
  });
}

bool asks_for(const Scene& scene, const std::string& name) {
  return std::any_of(scene.parameters.begin(), scene.parameters.end(),
                     [&](const ParameterEntry& entry) { return entry.name == name; });
}

/// Reads the modes of a map and sets this rank's rows of the map's matrix, [rows, modes].
void load_map(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry, Unknown& unknown) {
  const Dataset& dataset = *entry.map->dataset();
  const bool of_material = is_of_material(entry.spec);
  const auto kind = of_material ? kind_of(entry.name) : std::nullopt;
  if (of_material) require_in_all(scene, mesh, entry);
  std::size_t modes = 0, rows = 0, stride = 0;
  std::vector<double> values;
  require_readable(mesh.comm(), dataset.path, entry.map->place);
  at_place(entry.map->place, [&] {
    if (kind) {
      CellModes read = read_cell_modes(mesh, dataset.path, dataset.name, *kind);
      modes = static_cast<std::size_t>(read.modes);
      rows = stride = mesh.cell_entities(*kind)->local();
      values = std::move(read.values);
    } else {
      const int components = entry.spec.components;
      StepValues read = read_vertex_field(mesh, dataset.path, dataset.name, components);
      modes = static_cast<std::size_t>(read.steps);
      rows = static_cast<std::size_t>(components) * static_cast<std::size_t>(mesh.num_owned_vertices());
      stride = static_cast<std::size_t>(components) * static_cast<std::size_t>(mesh.num_vertices());
      values = std::move(read.values);
    }
  });
  unknown.map_numbers = static_cast<int>(modes);
  unknown.map.resize(rows * modes);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t m = 0; m < modes; ++m) unknown.map[i * modes + m] = values[m * stride + i];
  if (entry.initial) unknown.start = load_unknown(scene, mesh, entry, *entry.initial, unknown, 1);
}

/// Names of regions with prescribed densities. Throws InputError for a region without tetrahedra.
std::vector<std::string> names_with_cells(const TetrahedralMesh& mesh, const std::vector<RegionName>& regions) {
  std::vector<std::string> names;
  for (const RegionName& region : regions) {
    if (find_region(mesh, region).num_cells == 0)
      region.place.fail("region '" + region.name +
                        "' has no tetrahedra; name a volume group, or a shape that contains whole tetrahedra");
    names.push_back(region.name);
  }
  return names;
}

/// Sets the distribution of a material, and the densities at the start.
void load_distribution(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry, Unknown& unknown) {
  require_in_all(scene, mesh, entry);
  unknown.label += ".density";
  unknown.logarithmic = false;
  MaterialDistribution& made = unknown.distribution.emplace();
  made.penalty = entry.distribution->penalties.front();
  made.minimum = entry.distribution->minimum;
  if (entry.distribution->filter > 0.0) made.filter = std::make_shared<DensityFilter>(mesh, entry.distribution->filter);
  const std::vector<std::string> solid = names_with_cells(mesh, entry.distribution->solid),
                                 voids = names_with_cells(mesh, entry.distribution->voids);
  if (!solid.empty() || !voids.empty())
    at_place(entry.place, [&] { made.prescribed = prescribed_densities(mesh, solid, voids); });
  for (const DistributedEntry& also : entry.distribution->also) {
    ParameterEntry other = entry;
    other.name = also.name;
    other.spec = spec_of(also.name);
    other.place = also.place;
    require_in_all(scene, mesh, other);
    made.also.push_back({also.name, also.penalty, also.minimum});
  }
  if (!entry.initial) return;
  unknown.start = load_cells(mesh, *entry.initial);
  collectively(mesh.comm(), [&] {
    for (std::size_t i = 0; i < unknown.start.size(); ++i) {
      const double density = unknown.start[i];
      const bool is_free = made.prescribed.empty() || std::isnan(made.prescribed[i]);
      if (is_free && !(density >= entry.lower && density <= entry.upper))
        entry.initial->place.fail(fmt::format("the density {} is outside the bounds [{}, {}]; give another value",
                                              density, entry.lower, entry.upper));
    }
  });
}

/// Sets the filter of the changes of a shape, and the changes at the start.
void load_shape_filter(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry, Unknown& unknown) {
  std::vector<std::string> fixed;
  for (const RegionName& region : entry.filter->fixed) {
    find_region(mesh, region);
    fixed.push_back(region.name);
  }
  unknown.label += ".change";
  at_place(entry.place, [&] {
    unknown.shape_filter = std::make_shared<ShapeFilter>(mesh, entry.filter->radius, fixed, entry.filter->moves);
  });
  if (!entry.initial) return;
  unknown.start = load_unknown(scene, mesh, entry, *entry.initial, unknown, 3);
  collectively(mesh.comm(), [&] {
    for (const double change : unknown.start)
      if (!(change >= entry.lower && change <= entry.upper))
        entry.initial->place.fail(fmt::format("the change {} is outside the bounds [{}, {}]; give another value",
                                              change, entry.lower, entry.upper));
  });
}

/// Returns the unknown whose values are initial coordinates or rates of joints.
Unknown make_start_of_joints(const Scene& scene, DifferentiableScene& solver, const ParameterEntry& entry) {
  Unknown unknown;
  at_place(entry.place, [&] {
    const auto make = entry.name == JointParameters::initial_rates.name ? initial_rates : initial_coordinates;
    unknown = make(*solver.mesh(), solver.system().joints(), entry.joints, solver.initial_state());
  });
  unknown.label = entry.label;
  unknown.lower = entry.lower;
  unknown.upper = entry.upper;
  if (entry.initial) unknown.start = load_unknown(scene, *solver.mesh(), entry, *entry.initial, unknown, 1);
  require_finite(solver.mesh()->comm(), unknown.start, entry, entry.place);
  check_start(*solver.mesh(), entry, unknown, unknown.start);
  return unknown;
}

Unknown make_unknown(const Scene& scene, DifferentiableScene& solver, const ParameterEntry& entry) {
  if (!entry.joints.empty()) return make_start_of_joints(scene, solver, entry);
  const TetrahedralMesh& mesh = *solver.mesh();
  Unknown unknown;
  unknown.parameter = is_of_boundary(entry.name) ? entry.name + ":" + entry.region->name : entry.name;
  const auto same_name = std::count_if(scene.parameters.begin(), scene.parameters.end(),
                                       [&](const ParameterEntry& other) { return other.label == entry.label; });
  unknown.label = entry.label;
  if (same_name > 1) unknown.label += "_" + (entry.region ? entry.region->name : "all");
  unknown.lower = entry.lower;
  unknown.upper = entry.upper;
  unknown.logarithmic = entry.logarithmic.value_or(entry.spec.search() == Search::logarithmic);

  if (entry.name == "rest_positions" && !asks_for(scene, "initial_positions")) unknown.carries = "positions";
  const Entries entries = entries_of(entry, unknown.parameter, solver);
  expect_steps(entry, scene, entries);
  if (entry.map) {
    load_map(scene, mesh, entry, unknown);
    return unknown;
  }
  if (entry.distribution) {
    load_distribution(scene, mesh, entry, unknown);
    return unknown;
  }
  if (entry.filter) {
    load_shape_filter(scene, mesh, entry, unknown);
    return unknown;
  }
  const bool of_material = is_of_material(entry.spec);
  if (of_material && (entry.per == Per::global || entry.per == Per::region)) {
    group_entities(scene, mesh, entry, unknown);
  } else if (of_material) {
    require_in_all(scene, mesh, entry);
  } else if (entry.per == Per::global) {
    unknown.group.assign(entries.count, 0);
    unknown.group_names = {""};
    // Directors are excluded from the group of all vertices.
    const bool of_vertices = entry.spec.home == ParameterHome::vertices;
    for (std::size_t v = 0; of_vertices && !mesh.is_director().empty() && v < unknown.group.size(); ++v)
      if (mesh.is_director()[v] != 0) unknown.group[v] = -1;
  }
  if (entry.initial)
    unknown.start = load_unknown(scene, mesh, entry, *entry.initial, unknown, entries.components);
  else if (!entry.initial_by_region.empty())
    unknown.start = start_by_region(entry, unknown);
  else if (!unknown.group_names.empty())
    unknown.start = common_values(mesh.comm(), entry, unknown, entries);
  else
    unknown.start = entries.values;
  check_start(mesh, entry, unknown, unknown.start);
  return unknown;
}

void refuse_overlaps(const Scene& scene, MPI_Comm comm, const std::vector<Unknown>& unknowns) {
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    for (std::size_t other = 0; other < k; ++other) {
      if (unknowns[other].parameter != unknowns[k].parameter) continue;
      const auto has = [](const Unknown& unknown, std::size_t e) {
        return unknown.group.empty() || unknown.group[e] >= 0;
      };
      int both = unknowns[k].group.empty() && unknowns[other].group.empty();
      for (std::size_t e = 0; e < std::max(unknowns[k].group.size(), unknowns[other].group.size()); ++e)
        both = both || (has(unknowns[k], e) && has(unknowns[other], e));
      DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &both, 1, MPI_INT, MPI_MAX, comm));
      if (both)
        scene.parameters[k].place.fail("changes the same cells or vertices as another '" + scene.parameters[k].name +
                                       "'; use disjoint regions");
    }
}

}  // namespace

std::vector<Unknown> make_unknowns(const Scene& scene, DifferentiableScene& solver) {
  std::vector<Unknown> unknowns;
  for (const ParameterEntry& entry : scene.parameters) unknowns.push_back(make_unknown(scene, solver, entry));
  refuse_overlaps(scene, solver.mesh()->comm(), unknowns);
  return unknowns;
}

}  // namespace diffsim::app
