// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/elastic_term_impl.hpp"
#include "diffsim/elastic/impl/dilated_point.hpp"
#include "diffsim/elastic/impl/nodal_average.hpp"

namespace diffsim {
namespace elastic {

/// Sums a field of `NodalAverage` over the corners of each cell of a pack: sets `value` to the sum of component 0, and
/// `derivative` to the sum of component 1.
DIFFSIM_FUNCTION void sum_corners(const int* vertices, const double* nodal, Pack& value, Pack& derivative) {
  Vec3<Pack> corners[4];
  gather_nodes(vertices, nodal, corners);
  value = corners[0][0] + corners[1][0] + corners[2][0] + corners[3][0];
  derivative = corners[0][1] + corners[1][1] + corners[2][1] + corners[3][1];
}

/// Cells of a pack at positions x, one cell per SIMD lane, with the averaged volume ratio θ = ¼ Σ_a J_a of each cell
/// and the derivative dθ of θ along a direction, where J_a is the average volume ratio around corner a of the cell
/// (NodalAverage).
struct DilatedCell {
  Mat3<Pack> inverse, W;
  Pack volume, dtheta;
  DilatedPoint at;

  /// Sets the members from the rest shape, the positions x and the average volume ratios J_a = `dilatations` of the
  /// vertices.
  DIFFSIM_SHARED_FUNCTION void gather(const CellGeometry<Tet4>& geometry, int pack, const int* vertices,
                                      const double* x, const double* dilatations) {
    const auto [inverted, rest_volume] = geometry.at(pack, 0);
    inverse = inverted;
    volume = rest_volume;
    W = Mat3<Pack>::zero();
    Vec3<Pack> nodes[4];
    gather_nodes(vertices, x, nodes);
    Pack theta;
    sum_corners(vertices, dilatations, theta, dtheta);
    dtheta = 0.25 * dtheta;
    at.set(gradient_at<Tet4>(nodes, {}, 0, inverse), 0.25 * theta);
  }
  /// Sets `along` to the derivatives of the DilatedPoint along a direction dx of the positions and, if dX is not
  /// nullptr, a direction dX of the rest positions X. If dX is not nullptr, also sets W = ∂dX/∂X.
  DIFFSIM_SHARED_FUNCTION void gather_tangent(const int* vertices, const double* dx, const double* dX,
                                              DilatedTangent& along) {
    Vec3<Pack> nodes[4];
    gather_nodes(vertices, dx, nodes);
    Mat3<Pack> G = gradient_at<Tet4>(nodes, {}, 0, inverse);
    if (dX) {
      gather_nodes(vertices, dX, nodes);
      W = shape_change<Tet4>(nodes, {}, 0, inverse);
      G = G - at.F * W;
    }
    along.set(at, G, dtheta);
  }
  /// Sets component 0 of `value` at each corner a to the cell's contribution to ∂E/∂J_a: ¼ V ∂w/∂θ. E is the elastic
  /// energy, J_a the average volume ratio around corner a, V the rest volume of the cell, and w(F, θ) the energy per
  /// rest volume at the averaged volume ratio θ (DilatedPoint).
  DIFFSIM_SHARED_FUNCTION void pressures(Vec3<Pack> (&value)[4]) const {
    const Pack share = 0.25 * volume * at.by_theta();
    for (int a = 0; a < 4; ++a) value[a] = {{share, Pack(0.0), Pack(0.0)}};
  }
  /// Sets component 1 of `value` at each corner a to the derivative of the cell's contribution to ∂E/∂J_a along the
  /// direction of the derivatives in `along`, where E is the elastic energy and J_a the average volume ratio around
  /// corner a.
  DIFFSIM_SHARED_FUNCTION void pressure_changes(const DilatedTangent& along, Vec3<Pack> (&value)[4]) const {
    const Pack quarter = 0.25 * volume;
    const Pack change = quarter * along.by_theta(at) + quarter * trace(W) * at.by_theta();
    for (int a = 0; a < 4; ++a) value[a][1] = change;
  }
  /// Computes the nodal forces f = -∂E/∂x from the first Piola stress ∂w/∂F + Q cof F. E is the elastic energy, F the
  /// deformation gradient, w(F, θ) the energy per rest volume at the averaged volume ratio θ (DilatedPoint), and Q the
  /// sum of the quotients (∂E/∂J_a)/d_a (NodalAverage) in `pressures` over the corners a of the cell.
  DIFFSIM_SHARED_FUNCTION void forces(const int* vertices, const double* pressures, Vec3<Pack> (&value)[4]) const {
    Pack Q, dQ;
    sum_corners(vertices, pressures, Q, dQ);
    add_node_forces<Tet4>(at.by_F() + Q * at.cof, inverse, volume, {}, 0, value);
  }
  /// Sets `value` to the derivatives of the nodal forces along the direction of the derivatives in `along` and in
  /// component 1 of `pressures`. If `with_rest` is true, the direction includes a change dX of the rest positions X
  /// with the gradient W = ∂dX/∂X.
  DIFFSIM_SHARED_FUNCTION void force_changes(const int* vertices, const double* pressures, const DilatedTangent& along,
                                             bool with_rest, Vec3<Pack> (&value)[4]) const {
    Pack Q, dQ;
    sum_corners(vertices, pressures, Q, dQ);
    Mat3<Pack> dP = along.by_F(at) + dQ * at.cof + Q * cofactor_derivative(at.F, along.dF);
    if (with_rest) {
      const Mat3<Pack> P = at.by_F() + Q * at.cof;
      dP = dP + trace(W) * P - times_transpose(P, W);
    }
    add_node_forces<Tet4>(dP, inverse, volume, {}, 0, value);
  }
  /// Adds the derivative of w · f = -Σ V φ with respect to ∂X/∂ξ to `shape_sums` (add_shape_derivative()), where X are
  /// the rest positions, ξ the reference coordinates, f the nodal forces, w is a vector at the vertices, and V the rest
  /// volume of a cell. φ = P̄ : dF̄, with the stress P̄ and the deformation gradient F̄ of DilatedPoint, and the derivative
  /// dF̄ of F̄ along w.
  ///
  /// Each cell contributes V (-(φ + D) I + Fᵀ ∂φ/∂F + Gᵀ P) : W to the derivative along a direction dX of the rest
  /// positions, with the deformation gradient F, the stress P of `DilatedPoint::by_F`, G = ∂w/∂X and W = ∂dX/∂X. The
  /// term D = -Σ_a (dq_a J_a + q_a dJ_a) is due to changes of the sums d_a of rest volumes around the corners a of the
  /// cell (NodalAverage). J_a is the average volume ratio around corner a, q_a = (∂E/∂J_a)/d_a with the elastic energy
  /// E, and dJ_a and dq_a are the derivatives of J_a and q_a along w.
  DIFFSIM_SHARED_FUNCTION void add_shape(int pack, const int* vertices, const double* dilatations,
                                         const double* pressures, const DilatedTangent& along,
                                         double* shape_sums) const {
    Vec3<Pack> J[4], q[4];
    gather_nodes(vertices, dilatations, J);
    gather_nodes(vertices, pressures, q);
    Pack diagonal = inner(at.P_bar, along.dF_bar);
    for (int a = 0; a < 4; ++a) diagonal -= q[a][1] * J[a][0] + q[a][0] * J[a][1];
    Mat3<Pack> Z = transpose(at.F) * along.by_F(at) + transpose(along.dF) * at.by_F();
    for (int i = 0; i < 3; ++i) Z(i, i) -= diagonal;
    add_shape_derivative(Z, volume, inverse, pack, shape_sums);
  }
};

/// Inputs of the kernels of NodalDilatationTerm for the law L.
template <Law L>
struct DilatedCells {
  ForceTangent<L, Tet4> cells;  // `cells.dx` is nullptr if there is no direction
  const double* dilatations;    // [local vertices, 3], from `NodalAverage::dilatations`

  /// Sets `cell` to the DilatedCell, and `moduli` to the material law's moduli, for the cells of a pack, one cell per
  /// SIMD lane.
  DIFFSIM_FUNCTION void gather(int pack, const int* vertices, DilatedCell& cell, Pack (&moduli)[L::num_moduli]) const {
    cell.gather(cells.elements.geometry, pack, vertices, cells.x, dilatations);
    cells.elements.moduli_at(pack, moduli);
  }
  /// Sets the stress P̄ of the DilatedPoint `at` to the material law's first Piola stress at the deformation gradient F̄
  /// of `at`.
  DIFFSIM_FUNCTION void set_stress(const Pack (&moduli)[L::num_moduli], DilatedPoint& at) const {
    at.set_stress(shared_stress<L>(at.F_bar, moduli));
  }
  /// Sets `along` to the derivatives of the DilatedPoint along the direction in `cells`. The derivative dP̄ of the
  /// stress P̄ includes the effects of the changes of F̄, of the moduli and of the material law's control signal.
  DIFFSIM_SHARED_FUNCTION void gather_tangent(int pack, const int* vertices, const Pack (&moduli)[L::num_moduli],
                                              DilatedCell& cell, DilatedTangent& along) const {
    cell.gather_tangent(vertices, cells.dx, cells.dX, along);
    Mat3<Pack> dP = shared_stress_tangent<L>(cell.at.F_bar, along.dF_bar, moduli);
    if (cells.dmoduli || cells.dsignal) {
      Mat3<Pack> A[L::num_moduli];
      shared_stress_moduli<L>(cell.at.F_bar, moduli, A);
      for (int k = 0; k < L::num_moduli; ++k) dP = dP + cells.modulus_tangent(pack, k) * A[k];
    }
    along.set_stress(cell.at, dP);
  }
};

/// Kernel that computes the contribution of each cell to ∂E/∂J_a at the cell's corners a, and the derivative of this
/// contribution along a direction, where E is the elastic energy and J_a is the average volume ratio around corner a
/// (NodalAverage).
template <Law L>
struct NodalPressures {
  DilatedCells<L> dilated;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    DilatedCell cell;
    Pack moduli[L::num_moduli];
    dilated.gather(pack, vertices, cell, moduli);
    dilated.set_stress(moduli, cell.at);
    cell.pressures(value);
    if (!dilated.cells.dx) return;
    DilatedTangent along;
    dilated.gather_tangent(pack, vertices, moduli, cell, along);
    cell.pressure_changes(along, value);
  }
};

/// Kernel that computes the nodal forces of each cell. A cell is reported as invalid unless its volume ratio J and the
/// averaged volume ratio θ that replaces J are both positive.
template <Law L>
struct NodalForce {
  DilatedCells<L> dilated;
  const double* pressures;  // (∂E/∂J_a)/d_a, from `NodalAverage::finish_pressures`
  std::int32_t* invalid_cell;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    DilatedCell cell;
    Pack moduli[L::num_moduli];
    dilated.gather(pack, vertices, cell, moduli);
    dilated.set_stress(moduli, cell.at);
    if (invalid_cell)
      for (int i = 0; i < pack_width; ++i)
        if (!(lane(cell.at.J, i) > 0.0) || !(lane(cell.at.theta, i) > 0.0))
          Kokkos::atomic_fetch_min(invalid_cell, dilated.cells.elements.cell_at(pack, i));
    cell.forces(vertices, pressures, value);
  }
};

/// Kernel that computes the derivative of the nodal forces f along a direction of the positions x, the rest positions,
/// the moduli and the material law's control signal. Because ∂f/∂x is symmetric, the derivative (∂f/∂x) w of f along a
/// direction w of the positions alone is also (∂f/∂x)ᵀ w, the derivative of w · f with respect to x.
/// NodalForceDerivative also computes the derivatives of w · f with respect to the moduli, the control signal and the
/// rest positions, if the member `adjoint` contains addresses for these derivatives.
template <Law L>
struct NodalForceDerivative {
  DilatedCells<L> dilated;
  const double* pressures;
  ForceAdjoint<L, Tet4> adjoint;  // addresses of the requested gradients; all nullptr for a tangent

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    DilatedCell cell;
    Pack moduli[L::num_moduli];
    dilated.gather(pack, vertices, cell, moduli);
    dilated.set_stress(moduli, cell.at);
    DilatedTangent along;
    dilated.gather_tangent(pack, vertices, moduli, cell, along);
    cell.force_changes(vertices, pressures, along, dilated.cells.dX != nullptr, value);
    if constexpr (has_signal<L>)
      if (adjoint.signal_gradient) adjoint.signal_gradient[pack] = 0.0;
    if (adjoint.moduli_gradient || adjoint.signal_gradient)
      adjoint.add_moduli_gradient(pack, cell.volume, cell.at.F_bar, along.dF_bar, moduli);
    if (adjoint.shape_sums) cell.add_shape(pack, vertices, dilated.dilatations, pressures, along, adjoint.shape_sums);
  }
};

/// Kernel that computes the elastic energy Σ V W(F̄), summed over the cells, where V is the rest volume of a cell, W
/// the law's energy per rest volume, and F̄ the deformation gradient with the averaged volume ratio (DilatedPoint).
template <Law L>
struct NodalEnergy {
  DilatedCells<L> dilated;
  DeviceArray<int> vertices;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, double& sum) const {
    DilatedCell cell;
    Pack moduli[L::num_moduli];
    dilated.gather(pack, &vertices(4 * pack_width * pack), cell, moduli);
    const Pack energy = cell.volume * shared_energy<L>(cell.at.F_bar, moduli);
    for (int i = 0; i < pack_width; ++i) sum += lane(energy, i);
  }
};

}  // namespace elastic

/// Force term of the law of elasticity L on linear cells with a volume ratio that is averaged around each vertex. The
/// elastic energy is E = Σ_cells V W((θ/J)^⅓ F), where V is the rest volume of a cell, F the deformation gradient, J =
/// det F, and W the law's energy per rest volume. θ is the mean of J_a over the corners a of the cell, where J_a = Σ V
/// J / Σ V is the average volume ratio over all cells that have vertex a as a corner (average nodal pressure, Bonet &
/// Burton 1998, doi:10.1002/(SICI)1099-0887(199805)14:5<437::AID-CNM162>3.0.CO;2-W). The forces f are the negative
/// gradient of the elastic energy, differentiated with θ as a function of the positions x, so ∂f/∂x is symmetric.
/// NodalDilatationTerm avoids the volumetric locking of linear cells of nearly incompressible materials. The energy is
/// defined only if J and θ are positive. ∂f/∂x couples two vertices, also across ranks, if a cell of the first vertex
/// and a cell of the second vertex both share a vertex with some cell e. NodalDilatationTerm cannot assemble ∂f/∂x, so
/// implicit steps with this term throw an Error.
template <Law L>
class NodalDilatationTerm : public ElasticTerm<L, Tet4> {
  using Base = ElasticTerm<L, Tet4>;

 public:
  NodalDilatationTerm(const TetrahedralMesh& mesh, const std::vector<int>& cells)
      : Base(mesh, cells), average_(mesh, this->scatter_) {}

  std::string name() const override { return std::string(L::name) + " with dilatation: nodal"; }

  void prepare(const ParameterSet& parameters) override {
    Base::prepare(parameters);
    average_.prepare(this->elements_.geometry);
  }

  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    Base::prepare_tangent(parameters, direction);
    const Parameter* const rest = direction.find("rest_positions");
    average_.prepare_tangent(this->elements_.geometry, rest ? rest->field.data() : nullptr);
  }

  double energy(const Configuration& at, const ParameterSet&) override {
    return sum_over("diffsim::elastic::nodal_energy", this->scatter_.num_packs(),
                    elastic::NodalEnergy<L>{dilated(at, {}), this->scatter_.data().vertices});
  }

  void add_force(const Configuration& at, const ParameterSet&, Field& force) override {
    const ProfilingRegion region("diffsim::elastic::force");
    const elastic::DilatedCells<L> cells = dilated(at, {});
    for_each_cell<4>("diffsim::elastic::nodal_force", this->scatter_, force.data(),
                     elastic::NodalForce<L>{cells, pressures(cells), at.invalid_cell});
  }

  void add_force_of(CellPart part, const Configuration& at, const ParameterSet& parameters, Field& force) override {
    ForceTerm::add_force_of(part, at, parameters, force);
  }

  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    const ProfilingRegion region("diffsim::elastic::force_tangent");
    const elastic::DilatedCells<L> cells = dilated(at, this->tangent_cells(at, tangent, direction));
    for_each_cell<4>("diffsim::elastic::nodal_force_tangent", this->scatter_, force_tangent.data(),
                     elastic::NodalForceDerivative<L>{cells, pressures(cells), {}});
  }

  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    const ProfilingRegion region("diffsim::elastic::force_adjoint");
    Parameter* const signal = this->start_signal(gradient);
    const elastic::ForceAdjoint<L, Tet4> gathered{this->elements(at.step),
                                                  at.positions.data(),
                                                  w.data(),
                                                  this->moduli_gradient_.data(),
                                                  signal ? this->signal_gradient_.data() : nullptr,
                                                  this->shape_sums_.data()};
    const elastic::DilatedCells<L> cells =
        dilated(at, {gathered.elements, gathered.x, w.data(), nullptr, nullptr, nullptr});
    for_each_cell<4>("diffsim::elastic::nodal_force_adjoint", this->scatter_, adjoint.positions.data(),
                     elastic::NodalForceDerivative<L>{cells, pressures(cells), gathered});
    this->add_signal_gradient(at.step, signal);
  }

  void add_force_adjoint_of(CellPart part, const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                            ParameterSet& gradient) override {
    ForceTerm::add_force_adjoint_of(part, at, w, adjoint, gradient);
  }

  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    ForceTerm::begin_adjoint_tangent(gradient, direction);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    ForceTerm::add_force_adjoint_tangent(at, tangent, direction, w, dw, adjoint_tangent, gradient_tangent);
  }

  void add_couplings(const Configuration&, Couplings&) override {}
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    ForceTerm::add_jacobian(at, parameters, weights, matrix);
  }

 private:
  /// Computes the average volume ratios J_a around the vertices a (NodalAverage) at a configuration, and the
  /// derivatives of J_a along the direction in `cells`. Returns the inputs of the kernels of NodalDilatationTerm.
  /// Collective.
  elastic::DilatedCells<L> dilated(const Configuration& at, elastic::ForceTangent<L, Tet4> cells) {
    cells.elements = this->elements(at.step);
    cells.x = at.positions.data();
    const Field& J = average_.dilatations(cells.elements.geometry, cells.x, cells.dx, cells.dX != nullptr);
    return {cells, J.data()};
  }
  /// Computes the quotients (∂E/∂J_a)/d_a of NodalAverage for all vertices a, and the derivatives of these quotients
  /// along the direction in `cells`. Returns the device address of the result of `NodalAverage::finish_pressures`,
  /// [local vertices, 3]. Collective.
  const double* pressures(const elastic::DilatedCells<L>& cells) {
    for_each_cell<4>("diffsim::elastic::nodal_pressures", this->scatter_, average_.start_pressures().data(),
                     elastic::NodalPressures<L>{cells});
    return average_.finish_pressures(cells.cells.dX != nullptr).data();
  }

  elastic::NodalAverage average_;
};

template <Law L>
std::unique_ptr<ForceTerm> make_nodal_dilatation(const TetrahedralMesh& mesh, const std::vector<int>& cells) {
  if (mesh.nodes_per_cell() != Tet4::nodes)
    throw Error("'dilatation: nodal' requires linear cells; second-order cells do not lock, so remove the option",
                ErrorKind::input);
  return std::make_unique<NodalDilatationTerm<L>>(mesh, cells);
}

}  // namespace diffsim
