// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Integrals of a density over cells, lumped to their vertices: s_i = Σ_{cells at i} share_i ρ V, with the shares of
/// mesh/element_kernels.hpp (a quarter each for linear cells), and their derivatives by density and rest shape.
///
/// Density fields are [cells]; rest positions and results are [local vertices, 3], sums repeated in each component.
/// Every verb adds this rank's share.
class Lumping {
 public:
  explicit Lumping(const TetrahedralMesh& mesh);
  ~Lumping();
  Lumping(Lumping&&) noexcept;

  void add_sums(const Field& density, const Field& rest, Field& sums) const;
  /// Along directions of density and rest positions, either of which may be nullptr.
  void add_sums_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                        const Field* rest_tangent, Field& sums_tangent) const;
  /// The transpose, with w given on all local vertices; either gradient may be nullptr.
  void add_sums_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                        Field* rest_gradient) const;

  struct Implementation;

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diffsim
