// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/affine_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "core/on_all_ranks.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/closed_surface.hpp"

namespace diffsim {
namespace {

/// Computes the Cholesky factor of C: sets L to the lower triangular matrix with C = L Lᵀ. Returns false if a pivot is
/// not above `least` times the largest diagonal entry of C.
bool factor(const double (&C)[3][3], double least, double (&L)[3][3]) {
  const double largest = std::max({C[0][0], C[1][1], C[2][2]});
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = C[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      if (i < j)
        L[i][j] = 0.0;
      else if (i > j)
        L[i][j] = sum / L[j][j];
      else if (sum > least * largest)
        L[j][j] = std::sqrt(sum);
      else
        return false;
    }
  return true;
}

/// Smallest permitted ratio of the smallest extent of a body to the largest extent.
constexpr double flat = 1e-6;

/// Returns the mesh of an affine body with the given volume (m³), centre of mass and covariance C = L Lᵀ.
MeshData inertial_tetrahedron(MPI_Comm comm, const std::array<double, 3>& centre, const double (&L)[3][3],
                              double volume, TriangleMesh surface) {
  // x_i = c + √3 L s_i, where s_i are the corners of a regular tetrahedron on the unit sphere: Σ s_i = 0 and
  // Σ s_i s_iᵀ = 4/3 I, so Σ ¼ (x_i - c)(x_i - c)ᵀ = L Lᵀ. The components of √3 s_i are ±1.
  constexpr double corners[4][3] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};
  double x[4][3];
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t i = 0; i < 3; ++i) {
      x[a][i] = centre[i];
      for (std::size_t j = 0; j <= i; ++j) x[a][i] += L[i][j] * corners[a][j];
    }
  AffineBody body;
  // The tetrahedron with the corners √3 s_i has the volume 8/3.
  body.volume_factor = volume / (8.0 / 3.0 * L[0][0] * L[1][1] * L[2][2]);
  body.volume = volume;
  body.surface = std::move(surface);
  MeshData data;
  data.num_vertices = 4;
  data.num_cells = 1;
  if (is_first_rank(comm)) {
    for (const auto& corner : x) data.coordinates.insert(data.coordinates.end(), corner, corner + 3);
    data.cells = {0, 1, 2, 3};
  } else {
    data.first_vertex = 4;
    data.first_cell = 1;
  }
  data.affine = std::make_shared<const AffineBody>(std::move(body));
  return data;
}

}  // namespace

MeshData affine_body(MPI_Comm comm, TriangleMesh surface) {
  if (surface.triangles.empty()) throw InputError("an affine body needs triangles; there are none");
  if (const std::string fault = volume_error(surface); !fault.empty())
    throw InputError("an affine body needs a surface that encloses a volume, for its mass: " + fault +
                     "; repair the surface");
  const VolumeMoments moments = volume_moments(surface);
  if (!(moments.volume > 0.0))
    throw InputError("the triangles of an affine body have inward normals (volume " + std::to_string(moments.volume) +
                     " m³); reverse their orientation");
  double L[3][3];
  if (!factor(moments.covariance, flat * flat, L))
    throw InputError("an affine body is too flat to turn about each of its axes; make it thicker, or a shell of it");
  return inertial_tetrahedron(comm, moments.centre, L, moments.volume, std::move(surface));
}

MeshData affine_body(MPI_Comm comm, const MassProperties& mass, TriangleMesh surface) {
  double L[3][3];
  if (!factor(mass.covariance, flat * flat, L))
    throw InputError(
        "the moments of inertia are impossible, or those of a flat body: each principal moment must be less than the "
        "sum of the two others, and none may be zero");
  return inertial_tetrahedron(comm, mass.centre, L, mass.mass / MassProperties::density, std::move(surface));
}

TriangleMesh gather_triangles(MPI_Comm comm, const MeshData& data) {
  const std::vector<double> x = on_all_ranks(comm, data.coordinates);
  const std::vector<std::int64_t> nodes = on_all_ranks(comm, data.lower(CellKind::triangle).nodes);
  std::vector<int> number(x.size() / 3, -1);
  for (const std::int64_t v : nodes) number[static_cast<std::size_t>(v)] = 0;
  TriangleMesh surface;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = static_cast<int>(surface.vertices.size());
    surface.vertices.push_back({x[3 * v], x[3 * v + 1], x[3 * v + 2]});
  }
  for (std::size_t i = 0; i < nodes.size(); i += 3)
    surface.triangles.push_back({number[static_cast<std::size_t>(nodes[i])],
                                 number[static_cast<std::size_t>(nodes[i + 1])],
                                 number[static_cast<std::size_t>(nodes[i + 2])]});
  return surface;
}

bool has_affine_bodies(const std::vector<MeshBody>& bodies) {
  return std::any_of(bodies.begin(), bodies.end(), [](const MeshBody& body) { return body.affine != nullptr; });
}

void add_rigid_velocity(const TetrahedralMesh& mesh, const std::string& body, const std::array<double, 3>& v,
                        const std::array<double, 3>& w, std::vector<double>& velocities) {
  std::vector<std::size_t> owned;
  for (const int vertex : mesh.region(body + "/all").vertices)
    if (vertex < mesh.num_owned_vertices()) owned.push_back(3 * static_cast<std::size_t>(vertex));
  const std::vector<double>& X = mesh.rest_positions();
  double centre[3] = {};
  for (const std::size_t i : owned)
    for (std::size_t c = 0; c < 3; ++c) centre[c] += 0.25 * X[i + c];
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, centre, 3, MPI_DOUBLE, MPI_SUM, mesh.comm()));
  velocities.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()), 0.0);
  for (const std::size_t i : owned)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
      velocities[i + c] += v[c] + w[a] * (X[i + b] - centre[b]) - w[b] * (X[i + a] - centre[a]);
    }
}

AffineMap::AffineMap(const AffineBody& body, const double* rest, std::int64_t begin, std::int64_t end) {
  Mat3<double> edges;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) edges(i, k) = rest[3 * (k + 1) + i] - rest[i];
  const Mat3<double> to_weights = inverse(edges);
  for (std::int64_t v = begin; v < end; ++v) {
    const std::array<double, 3>& vertex = body.surface.vertices[static_cast<std::size_t>(v)];
    const Vec3<double> w = to_weights * Vec3<double>{{vertex[0] - rest[0], vertex[1] - rest[1], vertex[2] - rest[2]}};
    weights_.push_back({1.0 - w[0] - w[1] - w[2], w[0], w[1], w[2]});
  }
}

std::vector<double> AffineMap::operator()(const double* corners) const {
  std::vector<double> values;
  for (const std::array<double, 4>& w : weights_)
    for (std::size_t c = 0; c < 3; ++c)
      values.push_back(w[0] * corners[c] + w[1] * corners[3 + c] + w[2] * corners[6 + c] + w[3] * corners[9 + c]);
  return values;
}

}  // namespace diffsim
