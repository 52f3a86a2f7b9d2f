// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/file_order.hpp"

namespace diffsim::dynamics {
namespace {

/// Returns the index of the first entity with a value that is not finite, or the number of entities if all values are
/// finite.
std::size_t first_not_finite(const std::vector<double>& values, std::size_t components) {
  const auto found = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  return static_cast<std::size_t>(found - values.begin()) / components;
}

}  // namespace

void Diagnosis::look(const std::string& where, const Field& field) {
  ++calls_;
  if (!finding_.where.empty()) return;
  const std::vector<double> values = field.to_host();
  const auto components = static_cast<std::size_t>(field.components());
  const std::size_t vertex = first_not_finite(values, components);
  if (vertex >= field.extent()) return;
  finding_ = {
      where + " at vertex " + std::to_string(mesh_.vertex_order().file_index()[vertex]) + cell_text(values, components),
      calls_};
}

void Diagnosis::look(const std::string& where, const ParameterSet& gradient) {
  ++calls_;
  for (const Parameter& parameter : gradient) {
    if (!finding_.where.empty()) return;
    const std::vector<double> values = parameter.field.to_host();
    const std::size_t entry = first_not_finite(values, static_cast<std::size_t>(parameter.field.components()));
    if (entry >= parameter.field.extent()) continue;
    finding_ = {where + ", in the derivative with respect to '" + parameter.name() + "'", calls_};
    const FileOrder* const order = parameter.on().order();
    if (order && parameter.steps() == 1)
      finding_.where += " of number " + std::to_string(order->file_index()[entry]) + " of the " + parameter.on().name();
  }
}

std::string Diagnosis::cell_text(const std::vector<double>& values, std::size_t components) const {
  const auto is_bad = [&](int vertex) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(components) * vertex;
    return begin < values.end() && std::any_of(begin, begin + static_cast<std::ptrdiff_t>(components),
                                               [](double value) { return !std::isfinite(value); });
  };
  const auto first_bad = [&](std::span<const int> vertices, std::size_t corners) {
    std::size_t cell = 0;
    while (corners * cell < vertices.size() &&
           !std::all_of(vertices.begin() + static_cast<std::ptrdiff_t>(corners * cell),
                        vertices.begin() + static_cast<std::ptrdiff_t>(corners * (cell + 1)), is_bad))
      ++cell;
    return cell;
  };
  const auto per_cell = static_cast<std::size_t>(mesh_.nodes_per_cell());
  if (const std::size_t cell = first_bad(mesh_.cells(), per_cell); cell < static_cast<std::size_t>(mesh_.num_cells()))
    return ", tetrahedron " + std::to_string(mesh_.cell_order().file_index()[cell]);
  for (const CellKind kind : {CellKind::triangle, CellKind::segment}) {
    const LowerCellSet& cells = mesh_.lower_cells(kind);
    const std::size_t corners = kind == CellKind::triangle ? 3 : 2, cell = first_bad(cells.vertices, corners);
    if (cell < static_cast<std::size_t>(cells.num()))
      return (kind == CellKind::triangle ? ", triangle " : ", segment ") +
             std::to_string(cells.order->file_index()[cell]);
  }
  return {};
}

}  // namespace diffsim::dynamics
