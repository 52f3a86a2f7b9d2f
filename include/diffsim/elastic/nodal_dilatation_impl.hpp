// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/dilated_point.hpp"
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "diffsim/elastic/nodal_average.hpp"

namespace diffsim {
namespace elastic {

/// Nodal values of a NodalAverage summed over a cell's corners: the values, and their derivatives.
DIFFSIM_FUNCTION void sum_corners(const int* vertices, const double* nodal, Pack& value, Pack& derivative) {
  Vec3<Pack> corners[4];
  gather_nodes(vertices, nodal, corners);
  value = corners[0][0] + corners[1][0] + corners[2][0] + corners[3][0];
  derivative = corners[0][1] + corners[1][1] + corners[2][1] + corners[3][1];
}

/// A pack's cells at positions x with dilatations θ = ¼ Σ_corners J_a, and along a direction.
template <Law L>
struct DilatedCells {
  ForceTangent<L, Tet4> cells;  // dx: nullptr for no direction
  const double* dilatations;    // [local vertices, 3], as NodalAverage has them

  struct Point {
    Mat3<Pack> inverse, F, W;
    Pack volume, theta, dtheta;
    Pack moduli[L::num_moduli];
  };
  DIFFSIM_FUNCTION void gather(int pack, const int* vertices, Point& point) const {
    const auto [inverse, volume] = cells.elements.geometry.at(pack, 0);
    point.inverse = inverse;
    point.volume = volume;
    Vec3<Pack> nodes[4];
    gather_nodes(vertices, cells.x, nodes);
    point.F = gradient_at<Tet4>(nodes, 0, inverse);
    sum_corners(vertices, dilatations, point.theta, point.dtheta);
    point.theta = 0.25 * point.theta;
    point.dtheta = 0.25 * point.dtheta;
    cells.elements.moduli_at(pack, point.moduli);
  }
  /// ∂(dx)/∂X, and W of the rest shape's direction, if there is one.
  DIFFSIM_FUNCTION Mat3<Pack> gradient(const int* vertices, Point& point) const {
    Vec3<Pack> nodes[4];
    gather_nodes(vertices, cells.dx, nodes);
    const Mat3<Pack> G = gradient_at<Tet4>(nodes, 0, point.inverse);
    if (!cells.dX) return G;
    gather_nodes(vertices, cells.dX, nodes);
    point.W = shape_change<Tet4>(nodes, 0, point.inverse);
    return G - point.F * point.W;
  }
  /// dP̄ along dF̄ and the moduli's direction.
  DIFFSIM_FUNCTION Mat3<Pack> stress_change(int pack, const Point& point, const DilatedTangent<L, Pack>& along) const {
    Mat3<Pack> dP = stress_tangent_of<L>(along.at.F_bar, along.dF_bar, point.moduli);
    if (cells.dmoduli || cells.dsignal) {
      Mat3<Pack> A[L::num_moduli];
      stress_moduli_of<L>(along.at.F_bar, point.moduli, A);
      for (int k = 0; k < L::num_moduli; ++k) dP = dP + cells.modulus_tangent(pack, k) * A[k];
    }
    return dP;
  }
};

/// Each cell's share of ∂E/∂J_a, ¼ V ∂w/∂θ, and its derivative.
template <Law L>
struct NodalPressures {
  DilatedCells<L> dilated;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    typename DilatedCells<L>::Point point;
    dilated.gather(pack, vertices, point);
    const DilatedPoint<L, Pack> at(point.F, point.theta, point.moduli);
    const Pack quarter = 0.25 * point.volume;
    Pack change = 0.0;
    if (dilated.cells.dx) {
      DilatedTangent<L, Pack> along(at, dilated.gradient(vertices, point), point.dtheta);
      along.set_stress(dilated.stress_change(pack, point, along));
      change = quarter * along.by_theta();
      if (dilated.cells.dX) change += quarter * trace(point.W) * at.by_theta();
    }
    const Pack share = quarter * at.by_theta();
    for (int a = 0; a < 4; ++a) value[a] = {{share, change, Pack(0.0)}};
  }
};

/// f = -∂E/∂x, with the stress ∂w/∂F + Q cof F, Q = Σ_corners (∂E/∂J_a)/d_a.
template <Law L>
struct NodalForce {
  DilatedCells<L> dilated;
  const double* pressures;  // as NodalAverage has them, divided
  std::int32_t* invalid_cell;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    typename DilatedCells<L>::Point point;
    dilated.gather(pack, vertices, point);
    const DilatedPoint<L, Pack> at(point.F, point.theta, point.moduli);
    Pack Q, dQ;
    sum_corners(vertices, pressures, Q, dQ);
    if (invalid_cell)
      for (int i = 0; i < pack_width; ++i)
        if (!(lane(at.J, i) > 0.0) || !(lane(at.theta, i) > 0.0))
          Kokkos::atomic_fetch_min(invalid_cell, dilated.cells.elements.cell_at(pack, i));
    add_node_forces<Tet4>(at.by_F() + Q * at.cof, point.inverse, point.volume, 0, value);
  }
};

/// Its derivative along a direction; and with the direction w, the adjoint by positions, ∂²E/∂x² being symmetric, and
/// by moduli and the rest shape.
template <Law L>
struct NodalForceDerivative {
  DilatedCells<L> dilated;
  const double* pressures;
  ForceAdjoint<L, Tet4> adjoint;  // what to gather; nothing for a tangent

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[4]) const {
    typename DilatedCells<L>::Point point;
    dilated.gather(pack, vertices, point);
    const DilatedPoint<L, Pack> at(point.F, point.theta, point.moduli);
    const Mat3<Pack> G = dilated.gradient(vertices, point);
    DilatedTangent<L, Pack> along(at, G, point.dtheta);
    const Mat3<Pack> dP_bar = dilated.stress_change(pack, point, along);
    along.set_stress(dP_bar);
    Pack Q, dQ;
    sum_corners(vertices, pressures, Q, dQ);
    const Mat3<Pack> by_F = along.by_F(dP_bar);
    Mat3<Pack> dP = by_F + dQ * at.cof + Q * cofactor_derivative(at.F, G);
    if (dilated.cells.dX) {
      const Mat3<Pack> P = at.by_F() + Q * at.cof;
      dP = dP + trace(point.W) * P - times_transpose(P, point.W);
    }
    add_node_forces<Tet4>(dP, point.inverse, point.volume, 0, value);
    if constexpr (has_signal<L>)
      if (adjoint.signal_gradient) adjoint.signal_gradient[pack] = 0.0;
    if (adjoint.moduli_gradient || adjoint.signal_gradient)
      adjoint.add_moduli_gradient(pack, point.volume, at.F_bar, along.dF_bar, point.moduli);
    if (adjoint.shape_sums) add_shape(pack, vertices, point, at, along, by_F);
  }

  /// w · f = -Σ V φ, φ = P̄ : dF̄; along W it changes by V (-(φ + D) I + Fᵀ ∂φ/∂F + Gᵀ ∂w/∂F) : W, where D comes by the
  /// vertices' volumes, which divide: D = -Σ_corners (dq J + q dJ), q the divided pressures.
  KOKKOS_INLINE_FUNCTION void add_shape(int pack, const int* vertices, const typename DilatedCells<L>::Point& point,
                                        const DilatedPoint<L, Pack>& at, const DilatedTangent<L, Pack>& along,
                                        const Mat3<Pack>& by_F) const {
    Vec3<Pack> J[4], q[4];
    gather_nodes(vertices, dilated.dilatations, J);
    gather_nodes(vertices, pressures, q);
    Pack diagonal = inner(at.P_bar, along.dF_bar);
    for (int a = 0; a < 4; ++a) diagonal -= q[a][1] * J[a][0] + q[a][0] * J[a][1];
    Mat3<Pack> Z = transpose(at.F) * by_F + transpose(along.dF) * at.by_F();
    for (int i = 0; i < 3; ++i) Z(i, i) -= diagonal;
    add_shape_derivative<Tet4>(Z, point.volume, point.inverse, pack, 0, adjoint.shape_sums);
  }
};

template <Law L>
struct NodalEnergy {
  DilatedCells<L> dilated;
  DeviceArray<int> vertices;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, double& sum) const {
    using std::cbrt;
    typename DilatedCells<L>::Point point;
    dilated.gather(pack, &vertices(4 * pack_width * pack), point);
    const Pack scale = cbrt(Pack(point.theta / determinant(point.F)));
    const Pack energy = point.volume * L::energy(scale * point.F, point.moduli);
    for (int i = 0; i < pack_width; ++i) sum += lane(energy, i);
  }
};

}  // namespace elastic

/// A law on linear cells that share their change of volume around each vertex: E = Σ_cells V W((θ/J)^⅓ F), θ the mean
/// of the corners' J_a = Σ V J / Σ V (average nodal pressure, Bonet & Burton 1998,
/// doi:10.1002/(SICI)1099-0887(199805)14:5<437::AID-CNM162>3.0.CO;2-W, here by the energy, so that forces are its
/// gradient and their derivatives symmetric). Near incompressibility it bends where linear cells lock. J and θ > 0
/// only. A force couples vertices of cells that share one, on other ranks too: implicit steps, which assemble that,
/// refuse it.
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
    double sum = 0.0;
    Kokkos::parallel_reduce("diffsim::elastic::nodal_energy", Range(0, this->scatter_.num_packs()),
                            elastic::NodalEnergy<L>{dilated(at, {}), this->scatter_.data().vertices}, sum);
    return sum;
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
    Parameter* const signal = this->signal_in(gradient);
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
  /// Dilatations at a configuration, and along the direction that `cells` has.
  elastic::DilatedCells<L> dilated(const Configuration& at, elastic::ForceTangent<L, Tet4> cells) {
    cells.elements = this->elements(at.step);
    cells.x = at.positions.data();
    const Field& J = average_.dilatations(cells.elements.geometry, cells.x, cells.dx, cells.dX != nullptr);
    return {cells, J.data()};
  }
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
    throw Error("dilatation: nodal is for linear cells; second-order ones do not lock, leave it out", ErrorKind::input);
  return std::make_unique<NodalDilatationTerm<L>>(mesh, cells);
}

}  // namespace diffsim
