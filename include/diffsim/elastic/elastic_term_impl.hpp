// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <variant>

#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/impl/sums_impl.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "diffsim/elastic/impl/elastic_term_base_impl.hpp"
#include "diffsim/elastic/impl/element_stiffness_impl.hpp"
#include "diffsim/elastic/impl/force_kernels_impl.hpp"
#include "diffsim/elastic/impl/moduli_impl.hpp"
#include "diffsim/elastic/impl/second_derivatives_impl.hpp"

namespace diffsim {

/// Force term of the law of elasticity L on tetrahedral cells of type E. The energy of the term is Σ_cells Σ_q V_q
/// W(F_q) (Sifakis & Barbič 2012), where q are the quadrature points of a cell, V_q is the rest volume of point q, and
/// W is the law's energy per rest volume. F = (∂x/∂ξ) (∂X/∂ξ)⁻¹ is the deformation gradient, with the positions x, the
/// rest positions X and the reference coordinates ξ of the cell. The inputs of the term are the law's parameters, the
/// law's control signal if the law has one (a factor on one modulus, see law.hpp), and the rest positions
/// (`rest_positions`).
template <Law L, class E = Tet4>
class ElasticTerm : public elastic::ElasticTermBase {
 public:
  static constexpr int K = L::num_moduli;  ///< number of moduli of the material law

  /// Constructs the force term on the given cells of `mesh`. `cells`: local indices of cells, ascending. `mesh` must
  /// outlive the force term.
  ElasticTerm(const TetrahedralMesh& mesh, const std::vector<int>& cells)
      : ElasticTermBase(mesh, cells, E::nodes, K, L::parameters, elastic::signal_name<L>()) {
    static_cast<elastic::TermCells&>(elements_) = term_cells_;
  }

  std::string name() const override { return L::name; }  ///< name of the law

  /// @name ForceTerm operations
  /// @{

  /// Override of the function of the same name in the base class ForceTerm.
  void prepare(const ParameterSet& parameters) override {
    compute_geometry<E>(*mesh_, scatter_, cells_, parameters.at("rest_positions").field, elements_.geometry);
    signal_ = signal_in(parameters);
    const int lanes = allocate_moduli(parameters, elements_.moduli, elements_.moduli_stride);
    if (elements_.num_cells > 0) elastic::compute_moduli<L>(elements_, parameters, lanes, elements_.moduli);
    Kokkos::fence();
    require_moduli(elements_.moduli, elements_.moduli_stride);
  }

  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    has_moduli_tangent_ = any_modulus(direction);
    if (!has_moduli_tangent_) return;
    allocate(moduli_tangent_, K);
    if (elements_.num_cells > 0)
      elastic::compute_moduli_tangent<L>(elements_, parameters, direction, pack_width * scatter_.num_packs(),
                                         moduli_tangent_);
    Kokkos::fence();
  }

  void begin_adjoint(const ParameterSet& gradient) override {
    start_sums(moduli_gradient_, any_modulus(gradient), K);
    start_sums(shape_sums_, gradient.find("rest_positions") != nullptr, 9 * E::Rule::num_points);
  }

  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet&) override {
    start_sums(moduli_gradient_tangent_, any_modulus(gradient), K);
  }

  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override {
    if (shape_sums_.size() > 0) add_shape_gradient<E>(scatter_, shape_sums_, gradient.at("rest_positions").field);
    if (moduli_gradient_.size() == 0) return;
    elastic::add_parameter_gradient<L>(elements_, parameters, moduli_gradient_, gradient);
    Kokkos::fence();
  }

  void prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                               ParameterSet& gradient_tangent) override {
    if (moduli_gradient_tangent_.size() == 0) return;
    elastic::add_parameter_gradient_tangent<L>(elements_, parameters, direction, moduli_gradient_,
                                               moduli_gradient_tangent_, gradient_tangent);
    Kokkos::fence();
  }

  double energy(const Configuration& at, const ParameterSet&) override {
    return sum_over("diffsim::elastic::energy", scatter_.num_packs(),
                    elastic::Energy<L, E>{elements(at.step), scatter_.data().vertices, at.positions.data()});
  }

  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    add_force_of(CellPart::all, at, parameters, force);
  }
  void add_force_of(CellPart part, const Configuration& at, const ParameterSet&, Field& force) override {
    const ProfilingRegion region("diffsim::elastic::force");
    for_each_cell<E::nodes>("diffsim::elastic::force", scatter_, force.data(),
                            elastic::Force<L, E>{elements(at.step), at.positions.data(), at.invalid_cell}, part);
  }

  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    const ProfilingRegion region("diffsim::elastic::force_tangent");
    for_each_cell<E::nodes>("diffsim::elastic::force_tangent", scatter_, force_tangent.data(),
                            tangent_cells(at, tangent, direction));
  }

  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    add_force_adjoint_of(CellPart::all, at, w, adjoint, gradient);
  }
  void add_force_adjoint_of(CellPart part, const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                            ParameterSet& gradient) override {
    const ProfilingRegion region("diffsim::elastic::force_adjoint");
    add_adjoint(at, w, adjoint.positions, moduli_gradient_.data(), shape_sums_.data(), gradient, part);
  }

  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const ProfilingRegion region("diffsim::elastic::force_adjoint_tangent");
    if (!w) {
      if (dw)
        add_adjoint(at, *dw, adjoint_tangent.positions, moduli_gradient_tangent_.data(), nullptr, gradient_tangent,
                    CellPart::all);
      return;
    }
    Parameter* const signal = start_signal(gradient_tangent);
    for_each_cell<E::nodes>(
        "diffsim::elastic::force_adjoint_tangent", scatter_, adjoint_tangent.positions.data(),
        elastic::ForceAdjointTangent<L, E>{
            elements(at.step), at.positions.data(), tangent.positions.data(), w->data(), dw ? dw->data() : nullptr,
            any_modulus(direction) ? moduli_tangent_.data() : nullptr, value_of(signal_in(direction), at.step),
            moduli_gradient_tangent_.data(), signal ? signal_gradient_.data() : nullptr});
    add_signal_gradient(at.step, signal);
  }

  void add_jacobian(const Configuration& at, const ParameterSet&, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    const ProfilingRegion region("diffsim::elastic::jacobian");
    if (elements_.num_cells == 0) return;
    for_each_element(
        "diffsim::elastic::jacobian", blocks_for(matrix), matrix,
        elastic::Stiffness<L, E>{elements(at.step), at.positions.data(), weights.position, weights.project});
  }

  void add_stiffness_bound(const ParameterSet&, Field& stiffness) override {
    const auto bounds = make_device_array<double>("diffsim::elastic::stiffness_bounds",
                                                  static_cast<std::size_t>(pack_width * scatter_.num_packs()));
    Kokkos::parallel_for("diffsim::elastic::stiffness_bound", Range(0, scatter_.num_packs()),
                         elastic::StiffnessBound<L, E>{elements_, bounds});
    Kokkos::fence();
    std::array<double, E::nodes> ones;
    ones.fill(1.0);
    add_cell_values<E::nodes>("diffsim::elastic::stiffness_bound_sums", scatter_, bounds, ones, stiffness.data());
  }

  /// @}

 protected:
  /// Returns the kernel that `add_force_tangent` runs on the cells.
  elastic::ForceTangent<L, E> tangent_cells(const Configuration& at, const ConfigurationTangent& tangent,
                                            const ParameterSet& direction) const {
    return {elements(at.step),
            at.positions.data(),
            tangent.positions.data(),
            has_moduli_tangent_ ? moduli_tangent_.data() : nullptr,
            value_of(signal_in(direction), at.step),
            direction.data("rest_positions")};
  }

  /// Returns the force term's cells, with the value of the material law's control signal in time step `step`.
  elastic::Elements<L, E> elements(int step) const {
    elastic::Elements<L, E> result = elements_;
    result.signal = value_of(signal_, step);
    return result;
  }

  /// Adds the derivatives of the work w·f of the nodal forces f with given nodal vectors w. The derivatives with
  /// respect to the positions are added to the field `positions`; the derivatives with respect to the moduli, to
  /// `moduli_gradient`; the derivatives with respect to ∂X/∂ξ, to `shape_sums` (see add_shape_derivative()), where X
  /// are the rest positions and ξ the reference coordinates. Derivatives with respect to the moduli or ∂X/∂ξ are not
  /// computed if `moduli_gradient` or `shape_sums`, respectively, is nullptr. If `gradient` contains the material law's
  /// control signal, a call of `add_adjoint` with `CellPart::inner` or `CellPart::all` adds the derivative with respect
  /// to the signal, summed over all cells of the force term, to `gradient`; a call with `CellPart::shared` must precede
  /// the call with `CellPart::inner`.
  void add_adjoint(const Configuration& at, const Field& w, Field& positions, double* moduli_gradient,
                   double* shape_sums, ParameterSet& gradient, CellPart part) {
    Parameter* const signal = start_signal(gradient);
    for_each_cell<E::nodes>(
        "diffsim::elastic::force_adjoint", scatter_, positions.data(),
        elastic::ForceAdjoint<L, E>{elements(at.step), at.positions.data(), w.data(), moduli_gradient,
                                    signal ? signal_gradient_.data() : nullptr, shape_sums},
        part);
    if (part != CellPart::shared) add_signal_gradient(at.step, signal);
  }

  elastic::Elements<L, E> elements_;  ///< cells with the geometry and the moduli that `prepare` computes
};

/// Returns the force term of the law L with a volume ratio that is averaged around each vertex (NodalDilatationTerm).
/// Scenes request NodalDilatationTerm by the material option `dilatation: nodal`. Throws Error (input) if the cells of
/// the mesh are not linear (Tet4).
template <Law L>
std::unique_ptr<ForceTerm> make_nodal_dilatation(const TetrahedralMesh& mesh, const std::vector<int>& cells);

/// Returns the ElasticLaw that describes the law L, as an entry for the list `elastic_laws`.
template <Law L>
ElasticLaw describe_law() {
  ElasticLaw law;
  law.name = L::name;
  law.parameters = {L::parameters.begin(), L::parameters.end()};
  if constexpr (elastic::has_signal<L>) law.signal = L::signal;
  if constexpr (requires { &L::parameters_error; }) law.parameters_error = &L::parameters_error;
  law.make_term = [](const TetrahedralMesh& mesh, const std::vector<int>& cells) -> std::unique_ptr<ForceTerm> {
    return std::visit(
        [&](auto kind) -> std::unique_ptr<ForceTerm> {
          return std::make_unique<ElasticTerm<L, decltype(kind)>>(mesh, cells);
        },
        element_of(mesh));
  };
  law.make_nodal_term = &make_nodal_dilatation<L>;
  return law;
}

/// Registers a law of elasticity, so that `DifferentiableMaterial` and scenes can refer to the law by name. A user's
/// program calls `register_law` once for each law that the program defines.
template <Law L>
void register_law() {
  add_elastic_law(describe_law<L>());
}

}  // namespace diffsim

#include "diffsim/elastic/impl/nodal_dilatation_impl.hpp"  // defines `make_nodal_dilatation`; uses `ElasticTerm` above
