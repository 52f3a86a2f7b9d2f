// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "diffsim/core/device.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/elastic/elastic_term.hpp"
#include "diffsim/elastic/element_stiffness_impl.hpp"
#include "diffsim/elastic/force_kernels_impl.hpp"
#include "diffsim/elastic/moduli_impl.hpp"
#include "diffsim/elastic/second_derivatives_impl.hpp"

namespace diffsim {

/// The force term of a law on cells of kind E: E = Σ_cells Σ_points V W(F), F = (∂x/∂ξ) (∂X/∂ξ)⁻¹ (Sifakis & Barbič
/// 2012). It takes the law's parameters, its signal if it has one, and `rest_positions`.
template <Law L, class E = Tet4>
class ElasticTerm : public ForceTerm {
 public:
  static constexpr int K = L::num_moduli;

  ElasticTerm(const TetrahedralMesh& mesh, const std::vector<int>& cells)
      : mesh_(&mesh),
        some_(cells.size() == static_cast<std::size_t>(mesh.num_cells())
                  ? nullptr
                  : std::make_unique<CellScatter>(connectivity(mesh, cells), num_shared(mesh, cells), E::nodes,
                                                  mesh.num_vertices())),
        scatter_(some_ ? *some_ : mesh.scatter()) {
    elements_.num_cells = scatter_.num_cells();
    if (!some_) return;
    cells_ = cells;
    elements_.cells = to_device("diffsim::elastic::cells", cells);
  }

  std::string name() const override { return L::name; }

  void prepare(const ParameterSet& parameters) override {
    compute_geometry<E>(*mesh_, scatter_, cells_, parameters.at("rest_positions").field, elements_.geometry);
    signal_ = has_signal() ? parameters.find(signal_name()) : nullptr;
    const bool uniform = is_uniform(parameters);
    const int lanes = uniform ? pack_width : pack_width * scatter_.num_packs();
    elements_.moduli_stride = uniform ? 0 : K * pack_width;
    const std::size_t size = static_cast<std::size_t>(K) * static_cast<std::size_t>(lanes);
    if (elements_.moduli.size() != size) elements_.moduli = make_device_array<double>("diffsim::elastic::moduli", size);
    if (elements_.num_cells > 0) elastic::compute_moduli<L>(elements_, pointers(parameters), lanes, elements_.moduli);
    Kokkos::fence();
    require_moduli();
  }

  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    has_moduli_tangent_ = any_modulus(direction);
    if (!has_moduli_tangent_) return;
    allocate(moduli_tangent_, K);
    if (elements_.num_cells > 0)
      elastic::compute_moduli_tangent<L>(elements_, pointers(parameters), pointers(direction),
                                         pack_width * scatter_.num_packs(), moduli_tangent_);
    Kokkos::fence();
  }

  void begin_adjoint(const ParameterSet& gradient) override {
    start_sums(moduli_gradient_, any_modulus(gradient), K);
    start_sums(shape_sums_, gradient.find("rest_positions") != nullptr, 9 * E::points);
  }

  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet&) override {
    start_sums(moduli_gradient_tangent_, any_modulus(gradient), K);
  }

  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override {
    if (shape_sums_.size() > 0) add_shape_gradient<E>(scatter_, shape_sums_, gradient.at("rest_positions").field);
    if (moduli_gradient_.size() == 0) return;
    elastic::add_parameter_gradient<L>(elements_, pointers(parameters), moduli_gradient_, targets(gradient));
    Kokkos::fence();
  }

  void prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                               ParameterSet& gradient_tangent) override {
    if (moduli_gradient_tangent_.size() == 0) return;
    elastic::add_parameter_gradient_tangent<L>(elements_, pointers(parameters), pointers(direction), moduli_gradient_,
                                               moduli_gradient_tangent_, targets(gradient_tangent));
    Kokkos::fence();
  }

  double energy(const Configuration& at, const ParameterSet&) override {
    double sum = 0.0;
    Kokkos::parallel_reduce("diffsim::elastic::energy", Range(0, scatter_.num_packs()),
                            elastic::Energy<L, E>{elements(at.step), scatter_.data().vertices, at.positions.data()},
                            sum);
    return sum;
  }

  void add_force(const Configuration& at, const ParameterSet&, Field& force) override {
    add_cells(CellPart::all, at, force);
  }
  void add_force_of(CellPart part, const Configuration& at, const ParameterSet&, Field& force) override {
    add_cells(part, at, force);
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
        add_adjoint(at, *dw, adjoint_tangent.positions, moduli_gradient_tangent_.data(), nullptr, gradient_tangent);
      return;
    }
    Parameter* const signal = signal_in(gradient_tangent);
    for_each_cell<E::nodes>("diffsim::elastic::force_adjoint_tangent", scatter_, adjoint_tangent.positions.data(),
                            elastic::ForceAdjointTangent<L, E>{
                                elements(at.step), at.positions.data(), tangent.positions.data(), w->data(),
                                dw ? dw->data() : nullptr, any_modulus(direction) ? moduli_tangent_.data() : nullptr,
                                value_of(has_signal() ? direction.find(signal_name()) : nullptr, at.step),
                                moduli_gradient_tangent_.data(), signal ? signal_gradient_.data() : nullptr});
    add_signal_gradient(at.step, signal);
  }

  void add_couplings(const Configuration&, Couplings& couplings) override {
    if (elements_.num_cells > 0) couplings.add(connectivity(), E::nodes);
  }

  void add_jacobian(const Configuration& at, const ParameterSet&, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    const ProfilingRegion region("diffsim::elastic::jacobian");
    if (elements_.num_cells == 0) return;
    if (!blocks_ || !blocks_->fits(matrix)) blocks_ = std::make_unique<BlockScatter>(matrix, connectivity(), E::nodes);
    for_each_element(
        "diffsim::elastic::jacobian", *blocks_, matrix,
        elastic::Stiffness<L, E>{elements(at.step), at.positions.data(), weights.position, weights.project});
  }

  void add_stiffness_bound(const ParameterSet&, Field& stiffness) override {
    for_each_cell<E::nodes>("diffsim::elastic::stiffness_bound", scatter_, stiffness.data(),
                            elastic::StiffnessBound<L, E>{elements_});
  }

 protected:
  elastic::ForceTangent<L, E> tangent_cells(const Configuration& at, const ConfigurationTangent& tangent,
                                            const ParameterSet& direction) const {
    const Parameter* const rest = direction.find("rest_positions");
    return {elements(at.step),
            at.positions.data(),
            tangent.positions.data(),
            has_moduli_tangent_ ? moduli_tangent_.data() : nullptr,
            value_of(has_signal() ? direction.find(signal_name()) : nullptr, at.step),
            rest ? rest->field.data() : nullptr};
  }

  static constexpr bool has_signal() { return elastic::has_signal<L>; }
  static const char* signal_name() {
    if constexpr (elastic::has_signal<L>)
      return L::signal;
    else
      return "";
  }
  static const double* value_of(const Parameter* signal, int step) {
    return signal ? signal->field.data() + signal->offset(step) : nullptr;
  }
  static bool any_modulus(const ParameterSet& parameters) {
    return std::any_of(L::parameters.begin(), L::parameters.end(),
                       [&](const char* name) { return parameters.find(name) != nullptr; });
  }

  elastic::Elements<L, E> elements(int step) const {
    elastic::Elements<L, E> result = elements_;
    result.signal = value_of(signal_, step);
    return result;
  }

  void add_cells(CellPart part, const Configuration& at, Field& force) const {
    const ProfilingRegion region("diffsim::elastic::force");
    for_each_cell<E::nodes>("diffsim::elastic::force", scatter_, force.data(),
                            elastic::Force<L, E>{elements(at.step), at.positions.data(), at.invalid_cell}, part);
  }

  /// How many of some of the mesh's cells, ascending, are shared ones.
  static int num_shared(const TetrahedralMesh& mesh, const std::vector<int>& cells) {
    return static_cast<int>(std::lower_bound(cells.begin(), cells.end(), mesh.num_shared_cells()) - cells.begin());
  }
  static std::vector<int> connectivity(const TetrahedralMesh& mesh, const std::vector<int>& cells) {
    std::vector<int> result;
    result.reserve(E::nodes * cells.size());
    for (const int cell : cells)
      for (int a = 0; a < E::nodes; ++a) result.push_back(mesh.cells()[static_cast<std::size_t>(E::nodes * cell + a)]);
    return result;
  }
  std::vector<int> connectivity() const {
    return some_ ? connectivity(*mesh_, cells_) : std::vector<int>(mesh_->cells().begin(), mesh_->cells().end());
  }

  /// The signal's gradient, if it is asked for, with room for the sums over packs.
  Parameter* signal_in(ParameterSet& gradient) {
    Parameter* const signal = has_signal() ? gradient.find(signal_name()) : nullptr;
    if (signal && signal_gradient_.size() == 0)
      signal_gradient_ = make_device_array<double>("diffsim::elastic::signal_gradient",
                                                   static_cast<std::size_t>(scatter_.num_packs()));
    return signal;
  }
  void add_signal_gradient(int step, Parameter* signal) const {
    if constexpr (has_signal())
      if (signal) elastic::add_sum(signal_gradient_, signal->field.data() + signal->offset(step));
  }

  /// x̄ += (∂f/∂x)ᵀ w, and what is asked for of the parameters.
  void add_adjoint(const Configuration& at, const Field& w, Field& positions, double* moduli_gradient,
                   double* shape_sums, ParameterSet& gradient, CellPart part = CellPart::all) {
    Parameter* const signal = signal_in(gradient);
    for_each_cell<E::nodes>(
        "diffsim::elastic::force_adjoint", scatter_, positions.data(),
        elastic::ForceAdjoint<L, E>{elements(at.step), at.positions.data(), w.data(), moduli_gradient,
                                    signal ? signal_gradient_.data() : nullptr, shape_sums},
        part);
    if (part != CellPart::shared) add_signal_gradient(at.step, signal);
  }

  void start_sums(DeviceArray<double>& sums, bool wanted, int values) {
    if (!wanted) {
      sums = {};
      return;
    }
    allocate(sums, values);
    Kokkos::deep_copy(sums, 0.0);
  }

  static elastic::GradientPointers<L> targets(ParameterSet& gradient) {
    elastic::GradientPointers<L> result;
    for (std::size_t i = 0; i < L::parameters.size(); ++i)
      if (Parameter* found = gradient.find(L::parameters[i])) result.value[i] = found->field.data();
    return result;
  }

  void allocate(DeviceArray<double>& array, int values) {
    const std::size_t size =
        static_cast<std::size_t>(values * pack_width) * static_cast<std::size_t>(scatter_.num_packs());
    if (array.size() != size) array = make_device_array<double>("diffsim::elastic::derivative", size);
  }

  static elastic::ParameterPointers<L> pointers(const ParameterSet& parameters) {
    elastic::ParameterPointers<L> result;
    for (std::size_t i = 0; i < L::parameters.size(); ++i) result.value[i] = parameters.data(L::parameters[i]);
    return result;
  }

  /// Whether this rank's cells all have the same parameters.
  bool is_uniform(const ParameterSet& parameters) const {
    int differing = 0;
    for (const char* name : L::parameters) {
      const double* const value = parameters.at(name).field.data();
      int count = 0;
      Kokkos::parallel_reduce("diffsim::elastic::is_uniform", Range(0, elements_.num_cells),
                              elastic::DiffersFromFirst<L, E>{elements_, value}, count);
      differing += count;
    }
    return differing == 0;
  }

  /// Throws the same Error on every rank where the parameters of a cell give no finite moduli: a fibre without length,
  /// say.
  void require_moduli() const {
    int first = elements_.num_cells;
    Kokkos::parallel_reduce("diffsim::elastic::first_without_moduli", Range(0, elements_.num_cells),
                            elastic::FirstWithoutModuli<L, E>{elements_}, Kokkos::Min<int>(first));
    collectively(mesh_->comm(), [&] {
      if (first >= elements_.num_cells) return;
      const auto entry = static_cast<std::size_t>(first);
      const std::size_t cell = cells_.empty() ? entry : static_cast<std::size_t>(cells_[entry]);
      throw Error(std::string(L::name) + ": the parameters of cell " +
                      std::to_string(mesh_->cell_order().file_index()[cell]) +
                      " give no finite moduli; see the ranges in the law's table",
                  ErrorKind::input);
    });
  }

  const TetrahedralMesh* mesh_;
  std::vector<int> cells_;             // of the mesh; empty: all, or none
  std::unique_ptr<CellScatter> some_;  // nullptr: all of the mesh's cells
  const CellScatter& scatter_;
  std::unique_ptr<BlockScatter> blocks_;  // made when first assembled
  elastic::Elements<L, E> elements_;
  DeviceArray<double> moduli_tangent_, moduli_gradient_, moduli_gradient_tangent_, signal_gradient_, shape_sums_;
  const Parameter* signal_ = nullptr;  // of the parameters prepared with
  bool has_moduli_tangent_ = false;
};

/// The law's term with `dilatation: nodal` (nodal_dilatation_impl.hpp).
template <Law L>
std::unique_ptr<ForceTerm> make_nodal_dilatation(const TetrahedralMesh& mesh, const std::vector<int>& cells);

/// A law as `elastic_laws` lists it.
template <Law L>
ElasticLaw describe_law() {
  ElasticLaw law;
  law.name = L::name;
  law.parameters = {L::parameters.begin(), L::parameters.end()};
  if constexpr (elastic::has_signal<L>) law.signal = L::signal;
  law.make_term = [](const TetrahedralMesh& mesh, const std::vector<int>& cells) -> std::unique_ptr<ForceTerm> {
    if (mesh.nodes_per_cell() == Tet10::nodes) return std::make_unique<ElasticTerm<L, Tet10>>(mesh, cells);
    return std::make_unique<ElasticTerm<L, Tet4>>(mesh, cells);
  };
  law.make_nodal_term = &make_nodal_dilatation<L>;
  return law;
}

/// Makes a law known by its name to `DifferentiableMaterial` and to scenes; one line in a user's program.
template <Law L>
void register_law() {
  add_elastic_law(describe_law<L>());
}

}  // namespace diffsim

#include "diffsim/elastic/nodal_dilatation_impl.hpp"  // what describe_law refers to; it builds on the term above
