// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/support.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/symmetric_eigen.hpp"

namespace diffsim::dynamics {
namespace {

constexpr std::array<const char*, 6> motion_names{"translation along x", "translation along y", "translation along z",
                                                  "rotation about x",    "rotation about y",    "rotation about z"};
using Matrix6 = std::array<std::array<double, 6>, 6>;

/// Returns the eigenvalues of a symmetric matrix, and sets the rows of `vectors` to the eigenvectors.
std::array<double, 6> eigenvectors(const Matrix6& matrix, Matrix6& vectors) {
  double a[6][6], q[6][6];  // the eigenvectors are the columns of q
  for (std::size_t i = 0; i < 6; ++i) std::copy_n(matrix[i].begin(), 6, a[i]);
  diagonalise(a, q);
  std::array<double, 6> values{};
  for (std::size_t k = 0; k < 6; ++k) {
    values[k] = a[k][k];
    for (std::size_t i = 0; i < 6; ++i) vectors[k][i] = q[i][k];
  }
  return values;
}

/// Relative tolerance of eigenvalues: an eigenvalue up to this fraction of the largest eigenvalue counts as zero.
constexpr double negligible = 1e-10;

double largest_of(const std::array<double, 6>& values) { return *std::max_element(values.begin(), values.end()); }

/// Adds m mᵀ to `gram` for each rigid motion m that moves no vertex, such as the rotation of a straight line about the
/// line's own axis. Such a motion needs no support. `all`: Σ r rᵀ over all components of all vertices, where the vector
/// r [6] contains the displacements of a component by the six rigid motions.
void add_idle_motions(const Matrix6& all, Matrix6& gram) {
  Matrix6 motions;
  const std::array<double, 6> values = eigenvectors(all, motions);
  for (std::size_t k = 0; k < 6; ++k) {
    if (values[k] > negligible * largest_of(values)) continue;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) gram[i][j] += motions[k][i] * motions[k][j];
  }
}

/// Returns a description of a rigid motion, for example "translation along x with rotation about z".
std::string describe(const std::array<double, 6>& motion) {
  const double largest = std::abs(
      *std::max_element(motion.begin(), motion.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  std::string text;
  for (std::size_t i = 0; i < 6; ++i)
    if (std::abs(motion[i]) > 1e-6 * largest) text += (text.empty() ? "" : " with ") + std::string(motion_names[i]);
  return text;
}

}  // namespace

std::vector<std::uint8_t> fixed_on_host(const System& system) {
  const auto owned = static_cast<std::size_t>(system.mesh().num_owned_vertices());
  std::vector<std::uint8_t> masks(owned);
  Kokkos::deep_copy(HostSpan<std::uint8_t>(masks.data(), owned), DeviceSpan<const std::uint8_t>(system.fixed(), owned));
  return masks;
}

void require_support(const TetrahedralMesh& mesh, const std::uint8_t* fixed) {
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  std::vector<std::uint8_t> bits(owned);
  Kokkos::deep_copy(
      Kokkos::View<std::uint8_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(bits.data(), owned),
      DeviceSpan<const std::uint8_t>(fixed, owned));
  const std::vector<double>& X = mesh.rest_positions();
  // Coordinates relative to the mesh's centre, in units of the mesh's size, give all six motions similar magnitudes.
  double sums[4] = {}, size = 0.0;
  const auto is_place = [&](std::size_t v) { return mesh.is_director().empty() || mesh.is_director()[v] == 0; };
  for (std::size_t v = 0; v < owned; ++v) {
    if (!is_place(v)) continue;
    for (std::size_t c = 0; c < 3; ++c) sums[c] += X[3 * v + c];
    sums[3] += 1.0;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, mesh.comm()));
  for (std::size_t i = 0; i < 3 * owned; ++i)
    if (is_place(i / 3)) size = std::max(size, std::abs(X[i] - sums[i % 3] / sums[3]));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, mesh.comm()));
  // Σ r rᵀ over fixed components (grams[0]) and over all components (grams[1]), where the vector r [6] contains the
  // displacements of a component by the six rigid motions.
  std::array<Matrix6, 2> grams{};
  for (std::size_t v = 0; v < owned; ++v) {
    if (!is_place(v)) continue;
    double x[3];
    for (std::size_t c = 0; c < 3; ++c) x[c] = (X[3 * v + c] - sums[c] / sums[3]) / size;
    for (std::size_t c = 0; c < 3; ++c) {
      std::array<double, 6> r{};
      r[c] = 1.0;
      const std::size_t c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      r[3 + c1] = x[c2];
      r[3 + c2] = -x[c1];
      for (const std::size_t of : {std::size_t{0}, std::size_t{1}}) {
        if (of == 0 && !((bits[v] >> c) & 1)) continue;
        for (std::size_t i = 0; i < 6; ++i)
          for (std::size_t j = 0; j < 6; ++j) grams[of][i][j] += r[i] * r[j];
      }
    }
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, grams.data(), 72, MPI_DOUBLE, MPI_SUM, mesh.comm()));
  Matrix6& gram = grams[0];
  add_idle_motions(grams[1], gram);
  Matrix6 vectors;
  const std::array<double, 6> values = eigenvectors(gram, vectors);
  const double largest = largest_of(values);
  std::string free;
  for (std::size_t i = 0; i < 6; ++i)
    if (!(values[i] > negligible * largest)) free += (free.empty() ? "" : "; ") + describe(vectors[i]);
  if (!free.empty())
    throw Error(
        "the body is not supported: free motions: " + free + "; fix more components, or use a dynamic integrator",
        ErrorKind::input);
}

}  // namespace diffsim::dynamics
