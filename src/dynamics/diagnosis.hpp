// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/model.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::dynamics {

/// Search for the first value of this rank that is not finite. `mesh` must outlive the object.
class Diagnosis {
 public:
  explicit Diagnosis(const TetrahedralMesh& mesh) : mesh_(mesh) {}

  /// Looks for values of a field [local or owned vertices, components] that are not finite. `where`: origin of the
  /// field, such as "the term 'elastic'". Later findings than the first one are dropped.
  void look(const std::string& where, const Field& field);
  /// Looks for derivatives with respect to parameters that are not finite.
  void look(const std::string& where, const ParameterSet& gradient);
  /// First finding, such as "the term 'elastic' at vertex 17, tetrahedron 4". The calls of `look` are the operations.
  const NotFinite& finding() const { return finding_; }

 private:
  /// Number in the mesh file of a cell whose vertices all have a value that is not finite, with the kind of the cell,
  /// such as ", tetrahedron 4"; empty if there is none.
  std::string cell_text(const std::vector<double>& values, std::size_t components) const;

  const TetrahedralMesh& mesh_;
  NotFinite finding_;
  std::int64_t calls_ = 0;
};

}  // namespace diffsim::dynamics
