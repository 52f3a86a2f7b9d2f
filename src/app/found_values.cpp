// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/found_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/scene_document.hpp"
#include "app/unknown_files.hpp"
#include "diffsim/core/error.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;

/// Returns true if the values of the unknown are part of the scene document, not of an HDF5 file.
bool is_in_document(const ParameterEntry& entry) {
  return entry.map || entry.per == Per::global || entry.per == Per::region || entry.per == Per::step;
}

/// List of `count` numbers, from `first` on.
Value list_of_numbers(const double* first, std::size_t count) {
  Value list;
  list.kind = Value::Kind::list;
  for (std::size_t i = 0; i < count; ++i) list.items.push_back(scalar_with(first[i]));
  return list;
}

/// Value of the key `initial` with `found`, the values of an unknown with `width` components.
Value value_in_document(const ParameterEntry& entry, const Unknown& unknown, const std::vector<double>& found,
                        std::size_t width) {
  if (!entry.map && entry.per == Per::region) {
    Value regions;
    regions.kind = Value::Kind::mapping;
    regions.keys = unknown.group_names;
    for (const double value : found) regions.items.push_back(scalar_with(value));
    return regions;
  }
  if (!entry.map && entry.joints.empty() && entry.per == Per::global && width == 1) return scalar_with(found.at(0));
  if (entry.map || entry.per == Per::global || width == 1) return list_of_numbers(found.data(), found.size());
  Value rows;
  rows.kind = Value::Kind::list;
  for (std::size_t i = 0; i < found.size(); i += width) rows.items.push_back(list_of_numbers(found.data() + i, width));
  return rows;
}

/// Value {file:, dataset:}.
Value value_of_dataset(const std::string& path, const std::string& dataset) {
  Value value;
  value.kind = Value::Kind::mapping;
  value.keys = {"file", "dataset"};
  value.items = {scalar_with(path), scalar_with(dataset)};
  return value;
}

}  // namespace

std::vector<Value> found_values(const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                                const std::vector<double>& u, const std::string& path, const std::string& folder) {
  const auto values = [&](std::size_t k) {
    const ParameterEntry& entry = scene.parameters[k];
    std::vector<double> found = problem.physical(k, u);
    const auto& distribution = problem.unknowns()[k].distribution;
    const bool has_prescribed = distribution && !distribution->prescribed.empty();
    for (std::size_t i = 0; !entry.map && i < found.size(); ++i)
      if (!has_prescribed || std::isnan(distribution->prescribed[i]))
        found[i] = std::clamp(found[i], entry.lower, entry.upper);
    return found;
  };
  std::vector<Value> found;
  bool has_fields = false;
  for (std::size_t k = 0; k < scene.parameters.size(); ++k) {
    const ParameterEntry& entry = scene.parameters[k];
    const Unknown& unknown = problem.unknowns()[k];
    if (is_in_document(entry)) {
      found.push_back(value_in_document(entry, unknown, values(k), static_cast<std::size_t>(problem.components(k))));
      continue;
    }
    if (path.empty())
      throw InputError("'" + unknown.name() + "' has values per " + to_string(entry.per) +
                       "; give the path of an HDF5 file for the values");
    has_fields = true;
    found.push_back(value_of_dataset(path_from(path, folder), "/parameters/" + unknown.name()));
  }
  if (!has_fields) return found;
  Hdf5File file = Hdf5File::create(mesh.comm(), path, "diffsim parameters", 1);
  write_unknowns(file, "parameters", scene, mesh, problem, values, false);
  file.publish();
  return found;
}

}  // namespace diffsim::app
