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

/// Search of fields and gradients for the first NaN or infinite value on this rank. The mesh must outlive the
/// Diagnosis.
class Diagnosis {
 public:
  explicit Diagnosis(const TetrahedralMesh& mesh) : mesh_(mesh) {}

  /// Searches a field [local or owned vertices, components] for a value that is not finite. `where`: origin of the
  /// field, such as "the term 'elastic'". A Diagnosis stores only the location of the first value that is not finite.
  void look(const std::string& where, const Field& field);
  /// Searches `gradient`, derivatives with respect to parameters, for a value that is not finite. `where`: text that
  /// names the origin of the gradient, at the beginning of the reported location.
  void look(const std::string& where, const ParameterSet& gradient);
  /// Location of the first value that is not finite, such as "the term 'elastic' at vertex 17, tetrahedron 4".
  /// `NotFinite::operation` is the number of the call of `look` that found the value.
  const NotFinite& finding() const { return finding_; }

 private:
  /// Returns the kind and the number in the mesh file of the first cell whose vertices all have a value that is not
  /// finite, such as ", tetrahedron 4". Returns an empty string if there is no such cell.
  std::string cell_text(const std::vector<double>& values, std::size_t components) const;

  const TetrahedralMesh& mesh_;
  NotFinite finding_;
  std::int64_t calls_ = 0;
};

}  // namespace diffsim::dynamics
