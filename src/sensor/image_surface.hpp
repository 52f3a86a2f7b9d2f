// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/point_map.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "sensor/camera_view.hpp"

namespace diffsim::sensor {

/// Triangles of a region's surface, for the images of cameras. The positions of the triangles' corners are functions of
/// the state.
class ImageSurface {
 public:
  /// Throws Error (input) for a region that has neither faces nor triangles. In a mesh with affine bodies, also throws
  /// Error (input) unless the region is `all`, BODY/all, or a region of one body that is not affine. Collective.
  ImageSurface(const TetrahedralMesh& mesh, const std::string& region);

  /// Number of triangles on this rank.
  std::size_t size() const { return triangles_.size(); }
  /// Returns true if triangle t is visible in an image in which the triangle has the signed area `area`: the faces of a
  /// solid body are visible from outside only.
  bool shows(std::size_t t, double area) const { return area > 0.0 || (area < 0.0 && !is_one_sided_[t]); }
  /// Returns the positions of the local vertices of the surface, [vertices, 3]. Collective.
  std::vector<double> positions(const State& state) const;
  /// Adds `bar`, this rank's contributions to the adjoint of the result of `positions`, to the adjoint of the state.
  void add_adjoint(const std::vector<double>& bar, State& adjoint) const;
  /// Returns the corners of triangle t; with T = Dual, also their derivatives dx.
  template <class T>
  std::array<SpacePoint<T>, 3> corners(std::size_t t, const std::vector<double>& x,
                                       const std::vector<double>& dx) const {
    std::array<SpacePoint<T>, 3> result;
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t i = index(t, k, c);
        if constexpr (std::is_same_v<T, double>) {
          result[k][c] = x[i];
        } else {
          result[k][c].value = x[i];
          result[k][c].derivative[0] = dx[i];
        }
      }
    return result;
  }
  /// Returns the location, in an array [vertices, 3], of component c of corner k of triangle t.
  std::size_t index(std::size_t t, std::size_t k, std::size_t c) const {
    return 3 * static_cast<std::size_t>(triangles_[t][k]) + c;
  }

 private:
  std::shared_ptr<const PointMap> map_;  // nullptr if the surface consists of faces of the mesh
  std::shared_ptr<const Entities> vertices_;
  std::vector<contact::SurfacePiece> triangles_;
  std::vector<bool> is_one_sided_;  // [triangles]
};

/// Throws Error (run) for a vertex whose position is not finite, and for a vertex behind the camera. `what`: the image,
/// for the message, for example "a silhouette".
void require_in_front(const CameraView& view, const SpacePoint<double>& vertex, const char* what);

}  // namespace diffsim::sensor
