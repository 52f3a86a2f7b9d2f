// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/set_values.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <vector>

#include "app/inputs.hpp"
#include "app/scene_sections.hpp"
#include "app/text_file.hpp"
#include "core/file_order.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/parameters.hpp"
#include "io/fields.hpp"

namespace diffsim::app {
namespace {

/// Returns the displacement d for which `rest` + d, rounded to a double, is `position`, if there is such a
/// displacement; otherwise, the difference of the two.
double displacement_to(double position, double rest) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const double d = position - rest;
  for (const double near : {d, std::nextafter(d, -infinite), std::nextafter(d, infinite)})
    if (rest + near == position) return near;
  return d;
}

/// Returns the values of a parameter with one value for the whole model, [steps, components].
StepValues load_global(const Scene& scene, const Parameter& parameter, const ValueEntry& entry, MPI_Comm comm) {
  const std::int64_t width = parameter.field.components(), steps = scene.solver.steps;
  const std::vector<Shape> shapes =
      width == 1 ? std::vector<Shape>{{}, {steps}} : std::vector<Shape>{{width}, {steps, width}};
  const std::string one = width == 1 ? "a number" : fmt::format("[{}]", width);
  Array array = load_array(comm, entry.numbers, shapes, one + ", or one for each of solver.steps");
  const bool by_step = array.shape.size() == shapes[1].size();
  return {by_step ? array.shape[0] : 1, std::move(array.values)};
}

/// Returns values on the local cells of the kind `kind`, [steps, local cells].
StepValues load_on_cells(const TetrahedralMesh& mesh, const Parameter& parameter, const ValueEntry& entry,
                         CellKind kind) {
  if (parameter.field.components() != 1)
    entry.place.fail("has several components per cell, which the section `values` does not support");
  const Dataset* const dataset = entry.numbers.dataset();
  if (!dataset) {
    expect_shape(entry.numbers, {{}},
                 "a number, or {file:, dataset:} with one value per " + std::string(singular_of(kind)));
    return {1, std::vector<double>(parameter.on().local(), entry.numbers.array()->values.at(0))};
  }
  require_readable(mesh.comm(), dataset->path, entry.place);
  StepValues values;
  at_place(entry.place, [&] { values = read_cell_steps(mesh, dataset->path, dataset->name, kind); });
  return values;
}

/// Returns values on vertices. The values at directors, which have no rows in files, stay as they are.
StepValues load_on_vertices(const TetrahedralMesh& mesh, const Parameter& parameter, const ValueEntry& entry) {
  const int width = parameter.field.components();
  const std::size_t count = parameter.on().local(), row = count * static_cast<std::size_t>(width);
  const Shape one = width == 1 ? Shape{} : Shape{width};
  StepValues values;
  if (const Array* const array = entry.numbers.array()) {
    expect_shape(entry.numbers, {one}, shape_text(one) + ", or {file:, dataset:} with one value per vertex");
    for (std::size_t i = 0; i < count; ++i)
      values.values.insert(values.values.end(), array->values.begin(), array->values.end());
  } else {
    const Dataset& dataset = *entry.numbers.dataset();
    require_readable(mesh.comm(), dataset.path, entry.place);
    at_place(entry.place, [&] {
      const StepValues read = read_vertex_field(mesh, dataset.path, dataset.name, width);
      const std::size_t local = read.values.size() / static_cast<std::size_t>(read.steps);
      values.steps = read.steps;
      for (std::size_t n = 0; n < static_cast<std::size_t>(read.steps); ++n) {
        const auto begin = read.values.begin() + static_cast<std::ptrdiff_t>(n * local);
        values.values.insert(values.values.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
      }
    });
  }
  if (mesh.is_director().empty()) return values;
  const std::vector<double> old = parameter.field.to_host();
  for (std::size_t i = 0; i < values.values.size(); ++i)
    if (mesh.is_director()[i % row / static_cast<std::size_t>(width)] != 0) values.values[i] = old[i % old.size()];
  return values;
}

/// Throws InputError on all ranks if a new value is outside the range of the parameter. Values that are equal to those
/// which the parameter already has are allowed, because a parameter also has values on cells whose law does not use the
/// parameter. Collective.
void require_range(const Parameter& parameter, const StepValues& values, const ValueEntry& entry, MPI_Comm comm) {
  if (parameter.spec.name.empty()) return;
  const std::vector<double> old = parameter.field.to_host();
  const bool is_same_size = old.size() == values.values.size();
  collectively(comm, [&] {
    for (std::size_t i = 0; i < values.values.size(); ++i) {
      if (is_same_size && old[i] == values.values[i]) continue;
      if (const std::string fault = range_error(parameter.spec, values.values[i]); !fault.empty())
        entry.place.fail(fault);
    }
  });
}

StepValues load_values(const Scene& scene, const TetrahedralMesh& mesh, const Parameter& parameter,
                       const ValueEntry& entry) {
  if (parameter.is_global()) return load_global(scene, parameter, entry, mesh.comm());
  if (const std::optional<CellKind> kind = cells_of(mesh, parameter))
    return load_on_cells(mesh, parameter, entry, *kind);
  if (is_on_vertices(mesh, parameter)) return load_on_vertices(mesh, parameter, entry);
  entry.place.fail("has values on other entities than cells and vertices, which the section `values` does not support");
}

void set_parameter(const Scene& scene, DifferentiableScene& solver, const ValueEntry& entry) {
  Parameter* const parameter = solver.parameters().find(entry.name);
  if (!parameter) {
    const std::string likely = nearest(entry.name, solver.parameters().names());
    entry.place.fail("the scene has no parameter '" + entry.name + "'" +
                     (likely.empty() ? "; remove the entry" : "; did you mean '" + likely + "'?"));
  }
  if (parameter->is_control) entry.place.fail("is computed by a feedback, so its values cannot be given; remove it");
  const TetrahedralMesh& mesh = *solver.mesh();
  StepValues values = load_values(scene, mesh, *parameter, entry);
  if (values.steps > 1 && scene.solver.steps >= 0 && values.steps != scene.solver.steps)
    entry.place.fail(fmt::format("has values for {} steps, but solver.steps is {}", values.steps, scene.solver.steps));
  require_range(*parameter, values, entry, mesh.comm());
  if (values.steps == 1 && parameter->steps() > 1)
    values = {parameter->steps(), repeated(values.values, parameter->steps())};
  if (values.steps > 1 && !parameter->spec.by_step)
    entry.place.fail("cannot have a value for each step; give values that are constant in time");
  if (values.steps != parameter->steps())
    parameter->field = Field(parameter->name(), parameter->field.shared_on(), parameter->field.components(),
                             static_cast<int>(values.steps));
  parameter->field.from_host(values.values);
}

void set_initial_positions(const TetrahedralMesh& mesh, DifferentiableScene& solver, const ValueEntry& entry) {
  if (!entry.numbers.dataset())
    entry.place.fail("give {file:, dataset:} with the position of each vertex, [vertices, 3]");
  std::vector<double> values = load_vertices(mesh, entry.numbers, 0).values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_place = mesh.is_director().empty() || mesh.is_director()[i / 3] == 0;
    values[i] = is_place ? displacement_to(values[i], mesh.rest_positions()[i]) : 0.0;
  }
  solver.set_initial_displacement(values);
}

void set_initial_velocities(const TetrahedralMesh& mesh, DifferentiableScene& solver, const ValueEntry& entry) {
  expect_shape(entry.numbers, {{3}}, "[x, y, z], or {file:, dataset:} of shape [vertices, 3]");
  solver.set_initial_velocity(load_vertices(mesh, entry.numbers, 0).values);
}

}  // namespace

std::optional<CellKind> cells_of(const TetrahedralMesh& mesh, const Parameter& parameter) {
  for (const CellKind kind : {CellKind::tetrahedron, CellKind::triangle, CellKind::segment, CellKind::point})
    if (parameter.on().order() == &mesh.cell_order(kind)) return kind;
  return {};
}

bool is_on_vertices(const TetrahedralMesh& mesh, const Parameter& parameter) {
  return parameter.on().order() == &mesh.vertex_order();
}

void set_values(const Scene& scene, DifferentiableScene& solver) {
  const TetrahedralMesh& mesh = *solver.mesh();
  for (const ValueEntry& entry : scene.values) {
    if (entry.name == DynamicsParameters::initial_positions.name)
      set_initial_positions(mesh, solver, entry);
    else if (entry.name == DynamicsParameters::initial_velocities.name)
      set_initial_velocities(mesh, solver, entry);
    else
      set_parameter(scene, solver, entry);
  }
  if (!scene.values.empty()) synchronise(solver.parameters());
}

}  // namespace diffsim::app
