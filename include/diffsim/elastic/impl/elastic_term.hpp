// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Law of elasticity: name, parameters, and functions that create the law's force term on given cells of a mesh.
struct ElasticLaw {
  std::string name;
  std::vector<ParameterSpec> parameters;  ///< parameters of the law, with one value per cell
  /// Control signal: a factor on one modulus in all cells, with one value for all time steps or one value per time
  /// step; empty if the ElasticLaw has no control signal.
  std::optional<ParameterSpec> signal;

  std::vector<std::string> parameter_names() const;
  /// Returns the name of the control signal; empty if the ElasticLaw has no control signal.
  std::string signal_name() const { return std::string(signal ? signal->name : std::string_view()); }

  /// Function that creates the law's force term on the given cells of a mesh. `cells`: local indices of the cells,
  /// ascending.
  using MakeTerm = std::function<std::unique_ptr<ForceTerm>(const TetrahedralMesh&, const std::vector<int>& cells)>;
  MakeTerm make_term;
  /// Function that creates the law's force term for the material option `dilatation: nodal`; empty if the law does not
  /// support this option.
  MakeTerm make_nodal_term;

  /// Function that checks the parameters of one cell, given in the order of the member `parameters`. Each value must
  /// already be within the range of its ParameterSpec. The function returns an error message if the law is not defined
  /// for this combination of values, and otherwise an empty text. `parameters_error` is an empty std::function if the
  /// law is defined for all values within the ranges.
  std::function<std::string(std::span<const double> parameters)> parameters_error;
};

/// Returns all laws of elasticity: the library's laws and the laws added by `register_law` (elastic_term_impl.hpp).
const std::vector<ElasticLaw>& elastic_laws();
/// Returns the law of elasticity with the given name. Throws Error (input) if the name is unknown; the message lists
/// the known names.
const ElasticLaw& elastic_law(const std::string& name);
/// Adds a law to `elastic_laws`, or replaces an existing law of the same name.
void add_elastic_law(ElasticLaw law);

}  // namespace diffsim
