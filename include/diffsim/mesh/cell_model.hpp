// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/inertia.hpp"
#include "diffsim/core/parameter_spec.hpp"
#include "diffsim/mesh/cell_kind.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Cells of a rank that a model makes terms of, local and ascending.
struct ModelCells {
  std::vector<int> all;
  std::map<std::string, std::vector<int>> of_law;  ///< by their material's law, of each law that a material has
  /// Whether a user gave some parameter of that name: a term whose strength nobody gives can be left out.
  std::function<bool(std::string_view)> given;
};

/// Mechanics of bodies whose cells are of one kind below tetrahedra. The folder of a physics defines its model; the
/// runner's keys and checks, the parameters of a simulation and its terms follow from that.
struct CellModel {
  std::string name;  ///< in scenes: `kind: NAME`
  CellKind cells;
  std::vector<ParameterSpec> parameters;  ///< on the cells, or on their vertices

  /// Parameters of cells that have a value of the mesh at rest where a user gives none, such as lengths, and functions
  /// that give it: [cells of the rank].
  std::map<std::string, std::function<std::vector<double>(const TetrahedralMesh& mesh)>> values_at_rest;
  /// Terms of forces in the cells given. Collective.
  std::function<std::vector<std::unique_ptr<ForceTerm>>(const TetrahedralMesh& mesh, const ModelCells& cells)>
      make_terms;
  std::function<std::unique_ptr<Inertia>(const TetrahedralMesh& mesh)> make_inertia;
  /// Keys of parameters in a body's `material`, where these are not the parameters' names.
  std::map<std::string, std::string> keys = {};
  /// Parameters whose keys stand beside `material`.
  std::vector<std::string> beside_material = {};
  /// Laws that a material may name as its `model`, the first by default; none: materials have no such key.
  std::vector<std::string> laws = {};
  /// Whether each cell, a segment, has a director (directors.hpp), which a mesh is given before it is partitioned.
  bool has_directors = false;
  /// Throws Error (input) where parameters of the cells given, local and ascending, do not fit the mesh at rest: called
  /// once with the values that a user gives, on each rank by itself. May be empty.
  std::function<void(const TetrahedralMesh& mesh, const std::vector<int>& cells, const ParameterSet& parameters)>
      check = {};

  std::string key_of(const std::string& parameter) const {
    const auto found = keys.find(parameter);
    return found == keys.end() ? parameter : found->second;
  }
  bool is_beside_material(const std::string& parameter) const {
    return std::find(beside_material.begin(), beside_material.end(), parameter) != beside_material.end();
  }
  bool has_value_at_rest(const std::string& parameter) const { return values_at_rest.count(parameter) > 0; }
  bool has_parameter(std::string_view parameter) const {
    for (const ParameterSpec& spec : parameters)
      if (spec.name == parameter) return true;
    return false;
  }
};

}  // namespace diffsim
