// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// A law by its name, and how to make its force term for some of a mesh's cells.
struct ElasticLaw {
  std::string name;
  std::vector<ParameterSpec> parameters;  ///< per cell, as in the ParameterSet that terms are given
  std::optional<ParameterSpec> signal;    ///< a number, constant or a step, that scales one of its moduli

  std::vector<std::string> parameter_names() const;
  /// Name of the signal; empty where there is none.
  std::string signal_name() const { return std::string(signal ? signal->name : std::string_view()); }

  /// `cells`: the term's local cells, ascending.
  using MakeTerm = std::function<std::unique_ptr<ForceTerm>(const TetrahedralMesh&, const std::vector<int>& cells)>;
  MakeTerm make_term;
  MakeTerm make_nodal_term;  ///< linear cells that share their change of volume: `dilatation: nodal`; may be empty
};

/// The laws there are, the library's and those added by `register_law` (elastic_term_impl.hpp).
const std::vector<ElasticLaw>& elastic_laws();
/// Throws Error (input), naming those there are.
const ElasticLaw& elastic_law(const std::string& name);
/// Adds a law; one of the same name is replaced.
void add_elastic_law(ElasticLaw law);

}  // namespace diffsim
