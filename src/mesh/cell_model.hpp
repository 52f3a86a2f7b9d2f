// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/inertia.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Cells of this rank for which a CellModel creates its force terms, as local numbers in ascending order.
struct ModelCells {
  std::vector<int> all;
  std::map<std::string, std::vector<int>> of_law;  ///< map from the name of a material law to the cells with this law
  /// Returns true if the user gave a value for the parameter with the given name. A CellModel can omit a force term if
  /// the user gave no value for the coefficient of the force term.
  std::function<bool(std::string_view)> given;
};

/// Mechanical model of bodies whose cells are all triangles, all segments or all points. Each of the folders `shell`,
/// `rod` and `spring` defines its own CellModels. The CellModel of a body determines the keys that a scene file may
/// contain for the body, the checks of these keys, and the parameters and force terms of the simulation.
struct CellModel {
  std::string name;  ///< value of the key `kind` of a body in scene files
  CellKind cells;
  /// Computational work of an explicit time step per cell, as measured by benchmarks/thin_bench. The unit of `work` is
  /// the work for one linear tetrahedron (see CellWork).
  double work;
  std::vector<ParameterSpec> parameters;  ///< parameters of the model, given per cell or at the cells' vertices

  /// Map from the names of cell parameters to functions that compute the default values of these parameters, for
  /// example of rest lengths, from the rest shape. Each function returns one value per cell of the rank.
  std::map<std::string, std::function<std::vector<double>(const TetrahedralMesh& mesh)>> values_at_rest;
  /// Returns the force terms of the given cells. Collective.
  std::function<std::vector<std::unique_ptr<ForceTerm>>(const TetrahedralMesh& mesh, const ModelCells& cells)>
      make_terms;
  std::function<std::unique_ptr<Inertia>(const TetrahedralMesh& mesh)> make_inertia;
  /// Map from names of parameters to the keys of these parameters in the section `material` of a body in scene files.
  /// The key of a parameter that is not in the map `keys` is the parameter's name.
  std::map<std::string, std::string> keys = {};
  /// Names of the parameters that a scene file gives as keys of the body itself, next to the key `material`, and not as
  /// keys inside the section `material`.
  std::vector<std::string> beside_material = {};
  /// Names of the laws that a material in a scene file can select by the key `model`; the first law is the default. If
  /// the list `laws` is empty, materials have no key `model`.
  std::vector<std::string> laws = {};
  /// True if each cell is a segment with a director, a vector that defines the orientation of the segment's
  /// cross-section (directors.hpp). Directors are added before the mesh is partitioned.
  bool has_directors = false;
  /// Throws Error of kind `input` if the parameters of the given cells (local numbers, ascending) do not fit the rest
  /// shape. The function `check` is called once on each rank, with the initial values of the parameters, and does not
  /// communicate. If the function `check` is empty, the parameters are not checked.
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
