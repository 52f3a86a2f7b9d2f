// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <variant>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/elastic/impl/dissipation_kernels_impl.hpp"

namespace diffsim {

/// Force term of viscous forces in tetrahedral cells of type E with the viscous law L. The term acts in addition to the
/// force term of a law of elasticity. With the deformation gradient F and its rate Ḟ, the first Piola stress is P = F
/// S, where S = ∂ψ/∂Ė is the second Piola stress, ψ(Ė) the dissipation potential of the law, and Ė = ½ (Fᵀ Ḟ + Ḟᵀ F)
/// the Green strain rate. The dissipated power per rest volume is S : Ė.
///
/// The author of the law `L` writes only ψ or S. Automatic differentiation (AD) computes the tangent, the adjoint, the
/// derivative of the adjoint, the Jacobian, and the bound of the damping matrix from which the stable time step is
/// computed (`add_damping_bound`). The law `L` is a struct with the members `name`, `parameters`, `num_moduli` and
/// `energy`; the function `energy` returns ψ in W/m³ as a function of Ė = `rate`:
///
///     static constexpr const char* name;
///     static constexpr std::array<ParameterSpec, K> parameters;   // per cell
///     static constexpr int num_moduli = K;
///     template <class T> static T energy(const Mat3<T>& rate, const T (&parameters)[K]);
///
/// The law `L` may define the functions `stress`, `stress_tangent` and `stress_moduli` of a law of elasticity
/// (law.hpp), with `rate` in place of F. `stress` returns S; if `L` defines `stress`, the function `energy` is not
/// needed. `stress_tangent` returns ∂S/∂Ė : dE for a change dE of Ė, which the adjoint, the Jacobian and the bound
/// need. `stress_moduli` computes the derivatives of S with respect to the parameters; kernels call this function only
/// if `L` does not define `stress`. ψ must be convex. If S is linear in Ė, `L` may define `static constexpr bool
/// is_linear = true`; kernels then call `stress` in place of `stress_tangent`.
template <class L, class E>
class DissipationTerm : public ForceTerm {
  static constexpr int K = L::num_moduli;
  template <class T>
  using Cells = elastic::DissipativeCells<L, E, T>;

 public:
  /// Constructs the force term on all cells of `mesh`. `mesh` must outlive the force term.
  explicit DissipationTerm(const TetrahedralMesh& mesh) : mesh_(&mesh), scatter_(mesh.scatter()) {}

  std::string name() const override { return L::name; }  ///< name of L
  bool uses_velocities() const override { return true; }
  bool has_symmetric_jacobian() const override { return false; }

  void prepare(const ParameterSet& parameters) override {
    compute_geometry<E>(*mesh_, scatter_, {}, parameters.at("rest_positions").field, geometry_);
    numbers_ = numbers(parameters);
  }
  void begin_adjoint(const ParameterSet& gradient) override {
    shape_sums_ = {};
    if (gradient.find("rest_positions"))
      shape_sums_ = make_zeroed_device_array<double>("diffsim::elastic::dissipation_shape", geometry_.inverses.size());
  }
  void prepare_adjoint(const ParameterSet&, ParameterSet& gradient) override {
    if (shape_sums_.size() > 0) add_shape_gradient<E>(scatter_, shape_sums_, gradient.at("rest_positions").field);
  }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    if (gradient.find("rest_positions") || direction.find("rest_positions"))
      throw Error("there is no second derivative with respect to 'rest_positions'", ErrorKind::input);
  }

  double energy(const Configuration&, const ParameterSet&) override { return 0.0; }
  void add_force(const Configuration& at, const ParameterSet&, Field& force) override {
    for_each_cell<E::nodes>(
        "diffsim::elastic::dissipation_force", scatter_, force.data(),
        elastic::DissipationForce<L, E>{cells<Pack>(numbers_), at.positions.data(), at.velocities->data()});
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    for_each_cell<E::nodes>(
        "diffsim::elastic::dissipation_tangent", scatter_, force_tangent.data(),
        elastic::DissipationTangent<L, E>{cells<elastic::PackDual>(numbers(direction)), at.positions.data(),
                                          at.velocities->data(), tangent.positions.data(), tangent.velocities->data(),
                                          direction.data("rest_positions")});
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    elastic::DissipationAdjoint<L, E, Pack> kernel{cells<Pack>(numbers_), at.positions.data(), at.velocities->data(),
                                                   w.data()};
    kernel.shape_sums = shape_sums_.data();
    sweep_adjoint(kernel, adjoint, gradient);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    if (!w) {
      if (dw) add_force_adjoint(at, *dw, adjoint_tangent, gradient_tangent);
      return;
    }
    elastic::DissipationAdjoint<L, E, elastic::PackDual> kernel{cells<elastic::PackDual>(numbers(direction)),
                                                                at.positions.data(),
                                                                at.velocities->data(),
                                                                w->data(),
                                                                tangent.positions.data(),
                                                                tangent.velocities->data(),
                                                                dw ? dw->data() : nullptr};
    sweep_adjoint(kernel, adjoint_tangent, gradient_tangent);
  }

  void add_couplings(const Configuration&, Couplings& couplings) override { couplings.add(connectivity(), E::nodes); }
  void add_jacobian(const Configuration& at, const ParameterSet&, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    if (scatter_.num_cells() == 0) return;
    if (!blocks_ || !blocks_->fits(matrix)) blocks_ = std::make_unique<BlockScatter>(matrix, connectivity(), E::nodes);
    for_each_element(
        "diffsim::elastic::dissipation_jacobian", *blocks_, matrix,
        elastic::DissipationJacobian<L, E>{cells<Pack>(numbers_), at.positions.data(), at.velocities->data(),
                                           weights.position, weights.velocity, weights.project});
  }
  void add_damping_bound(const ParameterSet&, Field& damping) override {
    const auto bounds = make_device_array<double>("diffsim::elastic::damping_bounds",
                                                  static_cast<std::size_t>(pack_width * scatter_.num_packs()));
    Kokkos::parallel_for("diffsim::elastic::damping_bound", Range(0, scatter_.num_packs()),
                         elastic::DampingBound<L, E>{cells<Pack>(numbers_), bounds});
    Kokkos::fence();
    std::array<double, E::nodes> ones;
    ones.fill(1.0);
    add_cell_values<E::nodes>("diffsim::elastic::damping_bound_sums", scatter_, bounds, ones, damping.data());
  }

 private:
  std::vector<int> connectivity() const { return {mesh_->cells().begin(), mesh_->cells().end()}; }
  /// Returns the device addresses of the viscous law's parameters in `set`. The address of a parameter that `set` does
  /// not contain is nullptr.
  elastic::CellNumbers<K> numbers(const ParameterSet& set) const {
    elastic::CellNumbers<K> result{{}, scatter_.num_cells()};
    for (int k = 0; k < K; ++k) result.of[k] = set.data(L::parameters[static_cast<std::size_t>(k)].name);
    return result;
  }
  /// Returns the geometry of the cells and the parameters of the viscous law. The scalar type T is Pack, or PackDual
  /// for derivatives along a direction. `direction`: derivatives of the parameters along a direction, not used if T is
  /// Pack.
  template <class T>
  Cells<T> cells(const elastic::CellNumbers<K>& direction) const {
    return {geometry_, numbers_, direction};
  }
  /// Adds the derivatives of w · f to `adjoint` and `gradient`, where f are the nodal forces of the force term and w
  /// are given vectors at the vertices. The adjoint kernel runs twice: first for the derivatives with respect to
  /// velocities, then for the derivatives with respect to positions, parameters and the rest shape.
  template <class Kernel>
  void sweep_adjoint(Kernel& kernel, const ConfigurationAdjoint& adjoint, ParameterSet& gradient) {
    kernel.to_velocities = true;
    for_each_cell<E::nodes>("diffsim::elastic::dissipation_adjoint_velocities", scatter_, adjoint.velocities->data(),
                            kernel);
    kernel.to_velocities = false;
    for (int k = 0; k < K; ++k) {
      Parameter* const found = gradient.find(L::parameters[static_cast<std::size_t>(k)].name);
      kernel.parameter_gradient[k] = found ? found->field.data() : nullptr;
    }
    for_each_cell<E::nodes>("diffsim::elastic::dissipation_adjoint_positions", scatter_, adjoint.positions.data(),
                            kernel);
  }

  const TetrahedralMesh* mesh_;
  const CellScatter& scatter_;
  std::unique_ptr<BlockScatter> blocks_;  // created by `add_jacobian`
  CellGeometry<E> geometry_;
  elastic::CellNumbers<K> numbers_{};
  DeviceArray<double> shape_sums_;
};

/// Returns the force term DissipationTerm<L, E> of the viscous law L on all cells of `mesh`. E is the cell type of the
/// mesh: Tet4, Tet10 or FineTet10.
template <class L>
std::unique_ptr<ForceTerm> make_dissipation_term(const TetrahedralMesh& mesh) {
  return std::visit(
      [&](auto kind) -> std::unique_ptr<ForceTerm> {
        return std::make_unique<DissipationTerm<L, decltype(kind)>>(mesh);
      },
      element_of(mesh));
}

}  // namespace diffsim
