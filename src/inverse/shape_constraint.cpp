// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/mesh/impl/cell_geometry_impl.hpp"
#include "diffsim/mesh/impl/element_kernels.hpp"

namespace diffsim {
namespace {

using Matrix = Mat3<double>;

/// Calls visit(point, weight, B, B0) for each quadrature point of this rank's tetrahedra, with the number of the point,
/// its weight, and the derivatives B = ∂X/∂ξ of the rest positions `X` and B0 of the mesh's rest positions.
template <class Visit>
void for_each_point(const TetrahedralMesh& mesh, const std::vector<double>& X, const Visit& visit) {
  const auto visit_points = [&](auto kind) {
    using E = decltype(kind);
    const typename E::Rule rule;
    std::size_t point = 0;
    for (int cell = 0; cell < mesh.num_cells(); ++cell) {
      const auto derivative = [&](const std::vector<double>& positions, int q) {
        Vec3<double> nodes[E::nodes], y[4];
        for (int a = 0; a < E::nodes; ++a) {
          const int vertex = mesh.cells()[static_cast<std::size_t>(E::nodes * cell + a)];
          for (int c = 0; c < 3; ++c)
            nodes[a][c] = positions[3 * static_cast<std::size_t>(vertex) + static_cast<std::size_t>(c)];
        }
        E::corners(rule, q, nodes, y);
        return edges_of(y);
      };
      for (int q = 0; q < E::Rule::num_points; ++q)
        visit(point++, rule.weight(q), derivative(X, q), derivative(mesh.rest_positions(), q));
    }
  };
  std::visit(visit_points, element_of(mesh));
}

/// Adds the product of the derivatives B_bar, with respect to B at each quadrature point of this rank's tetrahedra,
/// with the derivative of B with respect to the rest positions, to `X_bar`.
void add_point_adjoints(const TetrahedralMesh& mesh, const std::vector<Matrix>& B_bar, std::vector<double>& X_bar) {
  const auto add_points = [&](auto kind) {
    using E = decltype(kind);
    const typename E::Rule rule;
    std::size_t point = 0;
    for (int cell = 0; cell < mesh.num_cells(); ++cell) {
      Vec3<double> bar[E::nodes];
      for (int a = 0; a < E::nodes; ++a)
        for (int c = 0; c < 3; ++c) bar[a][c] = 0.0;
      for (int q = 0; q < E::Rule::num_points; ++q) {
        Vec3<double> y[4];
        edges_adjoint(B_bar[point++], y);
        E::add_corners_adjoint(rule, q, y, bar);
      }
      for (int a = 0; a < E::nodes; ++a) {
        const int vertex = mesh.cells()[static_cast<std::size_t>(E::nodes * cell + a)];
        for (int c = 0; c < 3; ++c)
          X_bar[3 * static_cast<std::size_t>(vertex) + static_cast<std::size_t>(c)] += bar[a][c];
      }
    }
  };
  std::visit(add_points, element_of(mesh));
}

/// Returns the sums of `values` over the ranks.
template <std::size_t count>
std::array<double, count> sums_over_ranks(std::array<double, count> values, MPI_Comm comm) {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm));
  return values;
}

/// Function of the rest shape.
class ShapeFunction : public ConstraintFunction {
 public:
  ShapeFunction(InverseProblem& problem, std::size_t k, std::shared_ptr<const TetrahedralMesh> mesh)
      : problem_(problem), k_(k), mesh_(std::move(mesh)) {
    collectively(problem_.comm(), [&] {
      if (k_ >= problem_.unknowns().size() || problem_.unknowns()[k_].parameter != "rest_positions")
        throw Error("a constraint of a shape needs an unknown of rest_positions", ErrorKind::input);
      if (std::as_const(problem_).field(k_).extent() != static_cast<std::size_t>(mesh_->num_vertices()))
        throw Error("a constraint of a shape was given another mesh than that of the unknown", ErrorKind::input);
    });
  }
  double gradient(const std::vector<double>& u, std::vector<double>& gradient) override {
    problem_.set(u);
    const std::vector<double> X = std::as_const(problem_).field(k_).to_host();
    std::vector<Matrix> B_bar;
    const double c = value(X, B_bar);
    std::vector<double> X_bar(X.size(), 0.0);
    add_point_adjoints(*mesh_, B_bar, X_bar);
    Field sums("shape", mesh_->vertex_entities(), 3);
    sums.from_host(X_bar);
    mesh_->vertex_exchange().add_to_owners(sums);
    const std::vector<double> part = problem_.unknown_gradient(k_, u, sums.to_host());
    gradient.assign(u.size(), 0.0);
    std::copy(part.begin(), part.end(), gradient.begin() + static_cast<std::ptrdiff_t>(problem_.offset(k_)));
    return c;
  }

 protected:
  /// Returns the function's value for the rest positions X, [local vertices, 3], and the derivatives with respect to B
  /// at the quadrature points.
  virtual double value(const std::vector<double>& X, std::vector<Matrix>& B_bar) const = 0;

  InverseProblem& problem_;
  std::size_t k_;
  std::shared_ptr<const TetrahedralMesh> mesh_;
};

class RelativeVolume final : public ShapeFunction {
 public:
  using ShapeFunction::ShapeFunction;
  std::string name() const override { return "relative volume of the rest shape"; }

 protected:
  double value(const std::vector<double>& X, std::vector<Matrix>& B_bar) const override {
    std::array<double, 2> volumes{};
    for_each_point(*mesh_, X, [&](std::size_t, double weight, const Matrix& B, const Matrix& B0) {
      volumes[0] += weight * determinant(B);
      volumes[1] += weight * determinant(B0);
      B_bar.push_back(weight * cofactor(B));
    });
    volumes = sums_over_ranks(volumes, mesh_->comm());
    for (Matrix& bar : B_bar) bar = (1.0 / volumes[1]) * bar;
    return volumes[0] / volumes[1];
  }
};

class Distortion final : public ShapeFunction {
 public:
  Distortion(InverseProblem& problem, std::size_t k, std::shared_ptr<const TetrahedralMesh> mesh, double power)
      : ShapeFunction(problem, k, std::move(mesh)), power_(power) {
    if (!(power_ >= 1.0 && std::isfinite(power_)))
      throw Error("the power of a distortion is " + std::to_string(power_) + "; give a number of at least 1",
                  ErrorKind::input);
  }
  std::string name() const override { return "distortion of the rest shape"; }

 protected:
  // With J = B B0⁻¹ and d = det J: η = |J|²/(3 d^⅔), ∂η/∂J = 2 J/(3 d^⅔) - ⅔ η J⁻ᵀ, and ∂η/∂B = ∂η/∂J B0⁻ᵀ. With the
  // power mean D of η: ∂D/∂η = V0/V (η/D)^(P-1).
  double value(const std::vector<double>& X, std::vector<Matrix>& B_bar) const override {
    std::vector<double> eta, volume;
    bool is_inverted = false;
    double largest = 1.0;
    for_each_point(*mesh_, X, [&](std::size_t, double weight, const Matrix& B, const Matrix& B0) {
      const Matrix inverse0 = inverse(B0), J = B * inverse0;
      const double d = determinant(J);
      is_inverted = is_inverted || !(d > 0.0);
      if (is_inverted) return;
      const double scale = std::pow(d, -2.0 / 3.0) / 3.0;
      eta.push_back(scale * inner(J, J));
      volume.push_back(weight * determinant(B0));
      largest = std::max(largest, eta.back());
      const Matrix by_J = (2.0 * scale) * J - (2.0 / 3.0 * eta.back() / d) * cofactor(J);
      B_bar.push_back(times_transpose(by_J, inverse0));
    });
    collectively(mesh_->comm(), [&] {
      if (is_inverted)
        throw Error(
            "the change of the rest shape inverts a tetrahedron; start with smaller changes, or use a larger filter",
            ErrorKind::run);
    });
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, mesh_->comm()));
    std::array<double, 2> sums{};
    for (std::size_t q = 0; q < eta.size(); ++q) {
      sums[0] += volume[q] * std::pow(eta[q] / largest, power_);
      sums[1] += volume[q];
    }
    sums = sums_over_ranks(sums, mesh_->comm());
    const double D = largest * std::pow(sums[0] / sums[1], 1.0 / power_);
    for (std::size_t q = 0; q < eta.size(); ++q)
      B_bar[q] = (volume[q] / sums[1] * std::pow(eta[q] / D, power_ - 1.0)) * B_bar[q];
    return D;
  }

 private:
  double power_;
};

}  // namespace

std::shared_ptr<ConstraintFunction> make_relative_volume_function(InverseProblem& problem, std::size_t k,
                                                                  std::shared_ptr<const TetrahedralMesh> mesh) {
  return std::make_shared<RelativeVolume>(problem, k, std::move(mesh));
}

std::shared_ptr<ConstraintFunction> make_distortion_function(InverseProblem& problem, std::size_t k,
                                                             std::shared_ptr<const TetrahedralMesh> mesh,
                                                             double power) {
  return std::make_shared<Distortion>(problem, k, std::move(mesh), power);
}

}  // namespace diffsim
