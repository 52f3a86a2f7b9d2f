// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/save_scene.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "app/made_values.hpp"
#include "app/scene.hpp"
#include "app/scene_document.hpp"
#include "app/section_of_object.hpp"
#include "app/set_values.hpp"
#include "app/setup.hpp"
#include "app/unknown_files.hpp"
#include "core/file_order.hpp"
#include "core/impact.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/parameters.hpp"
#include "dynamics/support.hpp"
#include "io/fields.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {
namespace {

using std::filesystem::path;

constexpr std::size_t most_in_document = 24;  // numbers of a parameter that are part of the document

/// Removes a key of a mapping.
void remove_key(Value& mapping, const std::string& key) {
  const auto found = std::find(mapping.keys.begin(), mapping.keys.end(), key);
  if (found == mapping.keys.end()) return;
  mapping.items.erase(mapping.items.begin() + (found - mapping.keys.begin()));
  mapping.keys.erase(found);
}

/// Throws InputError if a path in `value`, the value of `key`, is the path of the file `written`.
void require_other_paths(const Value& value, const std::string& key, const path& folder, const path& written) {
  const auto same = [&](const path& other) {
    return std::filesystem::absolute(other).lexically_normal() == std::filesystem::absolute(written).lexically_normal();
  };
  if (value.is_scalar() && is_path_key(key) && same(folder / value.text))
    refuse_scene("the scene reads the file '" + value.text + "', which would be overwritten; give another path");
  for (std::size_t i = 0; i < value.items.size(); ++i)
    require_other_paths(value.items[i], value.is_mapping() ? value.keys[i] : std::string(), folder, written);
}

/// Order of the mesh's entities that does not depend on the partition. The entities are in the order of the mesh file,
/// and each rank has a contiguous part of nearly equal size.
class EvenOrder {
 public:
  EvenOrder(MPI_Comm comm, const FileOrder& order, std::size_t owned)
      : owned_(owned),
        order_(comm, order.num_global(), {order.file_index().begin(), order.file_index().end()},
               static_cast<int>(owned)) {}
  std::int64_t num_global() const { return order_.num_global(); }
  /// Returns this rank's part of the values. `local`: values at the local entities, [local entities, components].
  std::vector<double> operator()(const double* local, int components) const {
    std::vector<double> block;
    order_.to_file(std::vector<double>(local, local + owned_ * static_cast<std::size_t>(components)), components,
                   block);
    return block;
  }

 private:
  std::size_t owned_;
  FileOrder order_;
};

/// Returns the rest positions of the vertices in an order that does not depend on the partition.
std::vector<double> rest_of(const TetrahedralMesh& mesh) {
  const EvenOrder order(mesh.comm(), mesh.vertex_order(), static_cast<std::size_t>(mesh.num_owned_vertices()));
  return order(mesh.rest_positions().data(), 3);
}

/// Returns the values of a parameter, [steps, entities, components], in an order that does not depend on the partition.
std::vector<double> values_of(const Parameter& parameter, MPI_Comm comm) {
  const std::vector<double> values = parameter.field.to_host();
  if (parameter.is_global()) return values;
  if (!parameter.on().order())
    refuse_scene("parameter '" + parameter.name() + "' has values on entities that no file contains");
  const EvenOrder order(comm, *parameter.on().order(), parameter.on().owned());
  const std::size_t row = parameter.on().local() * static_cast<std::size_t>(parameter.field.components());
  std::vector<double> all;
  for (int n = 0; n < parameter.steps(); ++n) {
    const std::vector<double> block =
        order(values.data() + static_cast<std::size_t>(n) * row, parameter.field.components());
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

/// Returns true if the values are equal on all ranks. Two values that are not numbers count as equal.
bool are_equal(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  const bool here = a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
  return sum_over_ranks(std::int64_t{here ? 0 : 1}, comm) == 0;
}

/// Returns a field of the initial state in an order that does not depend on the partition; empty if the state does not
/// have the field.
std::vector<double> start_of(const DifferentiableScene& scene, const char* field) {
  const TetrahedralMesh& mesh = *scene.mesh();
  const State state = scene.initial_state();
  if (!state.has(field)) return {};
  const std::vector<double> values = state[field].to_host();
  return EvenOrder(mesh.comm(), mesh.vertex_order(), static_cast<std::size_t>(mesh.num_owned_vertices()))(values.data(),
                                                                                                          3);
}

/// Returns the fixed components of the vertices (`System::fixed`) in an order that does not depend on the partition; -1
/// for vertices without mass, whose components are fixed by `prepare`.
std::vector<double> fixed_of(DifferentiableScene& scene) {
  const TetrahedralMesh& mesh = *scene.mesh();
  const std::vector<std::uint8_t> masks = dynamics::fixed_on_host(scene.system());
  const std::size_t owned = masks.size();
  std::vector<double> fixed(owned);
  for (std::size_t v = 0; v < owned; ++v) {
    const std::uint8_t mask = masks[v];
    fixed[v] = (mask & System::massless) != 0 ? -1.0 : mask & 7;
  }
  return EvenOrder(mesh.comm(), mesh.vertex_order(), owned)(fixed.data(), 1);
}

/// Returns the names of the force terms, sorted, because the order of the sections of a scene file may differ from the
/// order in which a program has added the terms.
std::vector<std::string> term_names(DifferentiableScene& scene) {
  std::vector<std::string> names;
  for (const auto& term : scene.system().terms()) names.push_back(term->name());
  std::sort(names.begin(), names.end());
  return names;
}

/// Throws InputError if the two scenes differ in more than the values of parameters and the initial state. `again`: the
/// scene of the document.
void require_same_parts(DifferentiableScene& scene, DifferentiableScene& again) {
  const MPI_Comm comm = scene.mesh()->comm();
  if (scene.mesh()->num_global_vertices() != again.mesh()->num_global_vertices() ||
      scene.mesh()->num_global_cells() != again.mesh()->num_global_cells() ||
      !are_equal(rest_of(*scene.mesh()), rest_of(*again.mesh()), comm))
    refuse_scene("its mesh is not the mesh that the document describes");
  for (const Parameter& parameter : scene.parameters()) {
    const Parameter* const other = again.parameters().find(parameter.name());
    if (!other) refuse_scene("no section of a scene file describes the parameter '" + parameter.name() + "'");
    if (other->is_control != parameter.is_control)
      refuse_scene("a link computes the parameter '" + parameter.name() + "'");
  }
  for (const Parameter& parameter : again.parameters())
    if (!scene.parameters().find(parameter.name()))
      refuse_scene("it has no parameter '" + parameter.name() + "', which the document describes");
  if (term_names(scene) != term_names(again))
    refuse_scene("its force terms are " + join(term_names(scene)) + ", but those of the document are " +
                 join(term_names(again)));
  if (scene.system().impacts().size() != again.system().impacts().size() ||
      scene.system().joints().size() != again.system().joints().size())
    refuse_scene("its joints or impacts differ from those of the document");
  std::vector<double> fixed = fixed_of(scene), fixed_again = fixed_of(again);
  for (std::size_t i = 0; i < std::min(fixed.size(), fixed_again.size()); ++i)
    if (fixed[i] < 0.0 || fixed_again[i] < 0.0) fixed[i] = fixed_again[i] = -1.0;
  if (!are_equal(fixed, fixed_again, comm)) refuse_scene("its fixed vertices differ from those of the document");
}

/// Writer of the section `values`. Values that are not part of the section are written to an HDF5 file, which is
/// created for the first of these values.
class ValuesWriter {
 public:
  ValuesWriter(const TetrahedralMesh& mesh, std::string path) : mesh_(mesh), path_(std::move(path)) {
    section_.kind = Value::Kind::mapping;
  }

  void add(const Parameter& parameter) {
    const std::vector<double> values = parameter.field.to_host();
    const int width = parameter.field.components();
    const std::string unit = in_ascii(std::string(parameter.spec.unit));
    require_finite(parameter.name(), values);
    if (parameter.is_global()) return add_global(parameter, values, unit);
    if (const std::optional<double> all = one_for_all(parameter, values))
      return add(parameter.name(), scalar_with(*all));
    const std::string dataset = add_dataset(parameter.name());
    if (const std::optional<CellKind> kind = width == 1 ? cells_of(mesh_, parameter) : std::nullopt)
      write_cell_steps(file(), mesh_, dataset, values, *kind, unit, parameter.steps());
    else if (is_on_vertices(mesh_, parameter))
      write_vertex_field(file(), mesh_, dataset, values, width, unit, parameter.steps());
    else
      refuse_scene("parameter '" + parameter.name() + "' has values on entities that no scene file describes");
  }
  /// Adds a field of the initial state, [owned or local vertices, 3].
  void add(const ParameterSpec& spec, const std::vector<double>& values) {
    const std::string name(spec.name);
    require_finite(name, values);
    write_vertex_field(file(), mesh_, add_dataset(name), values, 3, in_ascii(std::string(spec.unit)));
  }
  /// Completes the HDF5 file, and returns the section.
  Value finish() {
    if (file_) file_->publish();
    return std::move(section_);
  }

 private:
  void add(const std::string& name, Value value) {
    section_.keys.push_back(name);
    section_.items.push_back(std::move(value));
  }
  std::string add_dataset(const std::string& name) {
    const std::string dataset = "/values/" + name;
    Value value;
    value.kind = Value::Kind::mapping;
    value.keys = {"file", "dataset"};
    value.items = {scalar_with(path(path_).filename().string()), scalar_with(dataset)};
    add(name, std::move(value));
    return dataset;
  }
  void add_global(const Parameter& parameter, const std::vector<double>& values, const std::string& unit) {
    const int width = parameter.field.components(), steps = parameter.steps();
    if (values.size() > most_in_document) {
      Shape shape;
      if (steps > 1) shape.push_back(steps);
      if (width > 1) shape.push_back(width);
      file().write_array(add_dataset(parameter.name()), values, shape, unit);
      return;
    }
    const auto row = [&](int n) {
      if (width == 1) return scalar_with(values[static_cast<std::size_t>(n)]);
      Value list;
      list.kind = Value::Kind::list;
      for (int c = 0; c < width; ++c)
        list.items.push_back(scalar_with(values[static_cast<std::size_t>(n * width + c)]));
      return list;
    };
    if (steps == 1) return add(parameter.name(), row(0));
    Value rows;
    rows.kind = Value::Kind::list;
    for (int n = 0; n < steps; ++n) rows.items.push_back(row(n));
    add(parameter.name(), std::move(rows));
  }
  /// Returns the value of a parameter with one component that has the same value on all entities of all ranks.
  std::optional<double> one_for_all(const Parameter& parameter, const std::vector<double>& values) const {
    if (parameter.field.components() != 1 || parameter.steps() != 1) return {};
    if (!mesh_.is_director().empty() && is_on_vertices(mesh_, parameter)) return {};
    constexpr double infinite = std::numeric_limits<double>::infinity();
    double ends[2] = {infinite, infinite};  // the smallest value, and minus the largest value
    for (const double value : values) {
      ends[0] = std::min(ends[0], value);
      ends[1] = std::min(ends[1], -value);
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MIN, mesh_.comm()));
    return ends[0] == -ends[1] ? std::optional(ends[0]) : std::nullopt;
  }
  void require_finite(const std::string& name, const std::vector<double>& values) const {
    const bool here = std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
    if (sum_over_ranks(std::int64_t{here ? 0 : 1}, mesh_.comm()) > 0)
      refuse_scene("a value of '" + name + "' is not finite");
  }
  Hdf5File& file() {
    if (!file_) file_.emplace(Hdf5File::create(mesh_.comm(), path_, "diffsim values", 1));
    return *file_;
  }

  const TetrahedralMesh& mesh_;
  std::string path_;
  std::optional<Hdf5File> file_;
  Value section_;
};

/// Returns the names of parameters and of fields of the initial state whose values differ between the two scenes.
std::vector<std::string> differences(DifferentiableScene& scene, DifferentiableScene& again) {
  const MPI_Comm comm = scene.mesh()->comm();
  std::vector<std::string> names;
  for (const Parameter& parameter : scene.parameters()) {
    const Parameter& other = again.parameters().at(parameter.name());
    const bool is_same_shape =
        parameter.steps() == other.steps() && parameter.field.components() == other.field.components();
    if (parameter.is_control) continue;
    if (!is_same_shape || !are_equal(values_of(parameter, comm), values_of(other, comm), comm))
      names.push_back(parameter.name());
  }
  using Dynamics = DynamicsParameters;
  for (const auto& [field, spec] :
       {std::pair("positions", Dynamics::initial_positions), std::pair("velocities", Dynamics::initial_velocities)})
    if (!are_equal(start_of(scene, field), start_of(again, field), comm)) names.emplace_back(spec.name);
  return names;
}

/// Returns the section `values` for the parameters and fields in `names`. `path`: path of the HDF5 file for values that
/// are not part of the section.
Value section_of(DifferentiableScene& scene, const std::vector<std::string>& names, const std::string& path) {
  using Dynamics = DynamicsParameters;
  ValuesWriter writer(*scene.mesh(), path);
  const State start = scene.initial_state();
  for (const std::string& name : names)
    if (name == Dynamics::initial_positions.name)
      writer.add(Dynamics::initial_positions, start["positions"].to_host());
    else if (name == Dynamics::initial_velocities.name)
      writer.add(Dynamics::initial_velocities, start["velocities"].to_host());
    else
      writer.add(scene.parameters().at(name));
  return writer.finish();
}

}  // namespace

void save_scene(DifferentiableScene& scene, Value document, const std::string& folder, const std::string& to) {
  const MPI_Comm comm = scene.mesh()->comm();
  const path folder_of_scene = path(to).parent_path();
  const std::string values = (folder_of_scene / (path(to).stem().string() + "-values.h5")).string();
  remove_key(document, "values");
  for (const std::string& written : {values, to}) require_other_paths(document, "", folder, written);
  move_paths(document, folder, folder_of_scene.string());
  document = parse_yaml(to_yaml(document), to);  // with the locations of the file that will be written
  Scene parsed = parse_scene(document, to);
  load_robots(comm, parsed, parsed.contact.has_value());
  DifferentiableScene again = make_solver(parsed, make_mesh(comm, parsed), false);
  require_same_parts(scene, again);
  if (const std::vector<std::string> names = differences(scene, again); !names.empty()) {
    document.keys.emplace_back("values");
    document.items.push_back(section_of(scene, names, values));
    set_values(parse_scene(document, to), again);
    if (const std::vector<std::string> left = differences(scene, again); !left.empty())
      refuse_scene(
          "the values of '" + left.front() + "' cannot be written exactly" +
          (scene.mesh()->num_global_directors() > 0 ? ", because values at the directors of rods differ" : ""));
  }
  if (parsed.contact) again.require_apart();
  save_document(comm, std::move(document), folder_of_scene.string(), to);
}

}  // namespace diffsim::app
