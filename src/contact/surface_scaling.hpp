// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/point_map.hpp"
#include "diffsim/core/parameters.hpp"

namespace diffsim {

/// Stencil of a surface point, and the change of the stencil's weights with the scale of the body's surface.
struct ScaledStencil {
  PointStencil stencil;   ///< weights w_k for the scale s = 1
  PointStencil change{};  ///< weights w_k - c_k, where c_k are the weights of the centre; no nodes if there is no scale
  int scale = -1;         ///< index of the scale; -1 if the surface of the point has no scale
};

/// Scales of the surfaces of single bodies (SurfaceScale). The position of a point on a surface with the scale s is
///   x = Σ_k [c_k + s (w_k - c_k)] q_k
/// with the positions q_k of the body's nodes, the weights w_k of the point for s = 1 and the weights c_k of the
/// centre. With the matrix W of the weights w_k and the matrix D of the changes w_k - c_k, all points have the
/// positions x = (W + S D) q, where S is the diagonal matrix of s - 1, or 0 for points of surfaces without a scale.
class SurfaceScaling {
 public:
  /// `names`: names of the parameters that are the scales. `nodes`, `points`: as for PointMap. `stencils`: one for each
  /// local point. Collective.
  SurfaceScaling(std::vector<std::string> names, std::shared_ptr<const Entities> nodes,
                 std::shared_ptr<const Entities> points, const std::vector<ScaledStencil>& stencils);

  /// Returns the values of all scales in `set`; 0 for a scale that is not in `set`.
  std::vector<double> values(const ParameterSet& set) const;
  /// Returns true if `set` contains a scale.
  bool is_in(const ParameterSet& set) const;
  /// Returns the map x = (W + S D) q for the given scales s. Collective.
  std::shared_ptr<const PointMap> map(const std::vector<double>& scales) const;
  /// Map from q to D q.
  const PointMap& change() const { return change_; }

  /// Multiplies the values of `field`, [local points, 3], at each point by the entry of `factors` for the scale of the
  /// point, or by 0 at points without a scale. `factors`: one entry for each scale.
  void multiply(const std::vector<double>& factors, Field& field) const;
  /// Adds the sums Σ_p a_p·b_p over the local points p of each scale to the derivatives of this rank with respect to
  /// the scales in `gradient`. `a`, `b`: [local points, 3].
  void add_products(const Field& a, const Field& b, ParameterSet& gradient) const;

 private:
  std::vector<std::string> names_;
  std::vector<ScaledStencil> stencils_;
  std::shared_ptr<const Entities> nodes_, points_;
  PointMap change_;
};

}  // namespace diffsim
