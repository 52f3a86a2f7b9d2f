// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/elastic/viscous_term.hpp"

#include "diffsim/elastic/element_blocks_impl.hpp"

namespace diffsim {
namespace {

/// η and ζ of a pack's cells from fields [cells]; 0 for the copies in the last pack, and where there is no field.
struct Viscosities {
  const double* shear;
  const double* bulk;
  int num_cells;

  DIFFSIM_FUNCTION Pack eta(int pack) const { return gather_cells(shear, pack, num_cells); }
  DIFFSIM_FUNCTION Pack zeta(int pack) const { return gather_cells(bulk, pack, num_cells); }
};

/// sym(Aᵀ B).
template <class T>
DIFFSIM_FUNCTION Mat3<T> symmetric_product(const Mat3<T>& A, const Mat3<T>& B) {
  const Mat3<T> C = transpose(A) * B;
  return T(0.5) * (C + transpose(C));
}

/// 2 η E + ζ tr E I.
template <class T>
DIFFSIM_FUNCTION Mat3<T> newtonian(const T& eta, const T& zeta, const Mat3<T>& E) {
  Mat3<T> S = (2.0 * eta) * E;
  const T pressure = zeta * trace(E);
  for (int i = 0; i < 3; ++i) S(i, i) += pressure;
  return S;
}

template <class E>
struct ViscousForce {
  CellGeometry<E> geometry;
  Viscosities viscosities;
  const double* x;
  const double* v;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> positions[E::nodes], velocities[E::nodes];
    gather_nodes(vertices, x, positions);
    gather_nodes(vertices, v, velocities);
    const Pack eta = viscosities.eta(pack), zeta = viscosities.zeta(pack);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = geometry.at(pack, q);
      const Mat3<Pack> F = elastic::gradient_at<E>(positions, geometry.rule, q, inverse);
      const Mat3<Pack> rate = elastic::gradient_at<E>(velocities, geometry.rule, q, inverse);
      const Mat3<Pack> S = newtonian(eta, zeta, symmetric_product(F, rate));
      elastic::add_node_forces<E>(F * S, inverse, volume, geometry.rule, q, value);
    }
  }
};

template <class E>
struct ViscousTangent {
  CellGeometry<E> geometry;
  Viscosities viscosities, directions;
  const double* x;
  const double* v;
  const double* dx;
  const double* dv;
  const double* dX;  // or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> positions[E::nodes], velocities[E::nodes], d_positions[E::nodes], d_velocities[E::nodes],
        d_rest[E::nodes];
    gather_nodes(vertices, x, positions);
    gather_nodes(vertices, v, velocities);
    gather_nodes(vertices, dx, d_positions);
    gather_nodes(vertices, dv, d_velocities);
    if (dX) gather_nodes(vertices, dX, d_rest);
    const Pack eta = viscosities.eta(pack), zeta = viscosities.zeta(pack);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = geometry.at(pack, q);
      const Mat3<Pack> F = elastic::gradient_at<E>(positions, geometry.rule, q, inverse);
      const Mat3<Pack> rate = elastic::gradient_at<E>(velocities, geometry.rule, q, inverse);
      Mat3<Pack> dF = elastic::gradient_at<E>(d_positions, geometry.rule, q, inverse);
      Mat3<Pack> d_rate = elastic::gradient_at<E>(d_velocities, geometry.rule, q, inverse);
      const Mat3<Pack> strain_rate = symmetric_product(F, rate);
      const Mat3<Pack> S = newtonian(eta, zeta, strain_rate);
      Mat3<Pack> dP = Mat3<Pack>::zero();
      if (dX) {
        const Mat3<Pack> W = shape_change<E>(d_rest, geometry.rule, q, inverse);
        const Mat3<Pack> P = F * S;
        dF = dF - F * W;
        d_rate = d_rate - rate * W;
        dP = trace(W) * P - times_transpose(P, W);
      }
      const Mat3<Pack> dS = newtonian(eta, zeta, symmetric_product(dF, rate) + symmetric_product(F, d_rate)) +
                            newtonian(directions.eta(pack), directions.zeta(pack), strain_rate);
      dP = dP + dF * S + F * dS;
      elastic::add_node_forces<E>(dP, inverse, volume, geometry.rule, q, value);
    }
  }
};

/// With G = ∂w/∂X, E_G = sym(FᵀG) and S_G = 2 η E_G + ζ tr E_G I, w · f = -V S : E_G, symmetric in Ḟ and G, so that its
/// derivatives are -V by Ḟ: F S_G, by F: Ḟ S_G + G S, by G: F S.
template <class E>
struct ViscousAdjoint {
  CellGeometry<E> geometry;
  Viscosities viscosities;
  const double* x;
  const double* v;
  const double* w;
  bool to_velocities;      // which derivative goes to the vertices: by velocities or by positions
  double* shear_gradient;  // [cells], added to with the positions' derivative; or nullptr
  double* bulk_gradient;
  double* shape_sums;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> positions[E::nodes], velocities[E::nodes], adjoints[E::nodes];
    gather_nodes(vertices, x, positions);
    gather_nodes(vertices, v, velocities);
    gather_nodes(vertices, w, adjoints);
    const Pack eta = viscosities.eta(pack), zeta = viscosities.zeta(pack);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = geometry.at(pack, q);
      const Mat3<Pack> F = elastic::gradient_at<E>(positions, geometry.rule, q, inverse);
      const Mat3<Pack> G = elastic::gradient_at<E>(adjoints, geometry.rule, q, inverse);
      const Mat3<Pack> E_G = symmetric_product(F, G);
      const Mat3<Pack> S_G = newtonian(eta, zeta, E_G);
      const Mat3<Pack> by_rate = F * S_G;
      if (to_velocities) {
        elastic::add_node_forces<E>(by_rate, inverse, volume, geometry.rule, q, value);
        continue;
      }
      const Mat3<Pack> rate = elastic::gradient_at<E>(velocities, geometry.rule, q, inverse);
      const Mat3<Pack> strain_rate = symmetric_product(F, rate);
      const Mat3<Pack> S = newtonian(eta, zeta, strain_rate);
      const Mat3<Pack> by_F = rate * S_G + G * S;
      elastic::add_node_forces<E>(by_F, inverse, volume, geometry.rule, q, value);
      const int cells = viscosities.num_cells;
      if (shear_gradient) add_to_cells(-2.0 * volume * inner(strain_rate, E_G), pack, cells, shear_gradient);
      if (bulk_gradient) add_to_cells(-volume * trace(strain_rate) * trace(E_G), pack, cells, bulk_gradient);
      if (!shape_sums) continue;
      Mat3<Pack> Z = transpose(F) * by_F + transpose(rate) * by_rate + transpose(G) * (F * S);
      const Pack power = inner(S, E_G);
      for (int i = 0; i < 3; ++i) Z(i, i) -= power;
      add_shape_derivative(Z, volume, inverse, geometry.row(pack, q), shape_sums);
    }
  }
};

/// The derivative of `ViscousAdjoint` along dx, dv, dw and directions of the viscosities.
template <class E>
struct ViscousAdjointTangent {
  CellGeometry<E> geometry;
  Viscosities viscosities, directions;
  const double *x, *v, *w;
  const double *dx, *dv, *dw;  // dw: or nullptr
  bool to_velocities;
  double* shear_gradient;
  double* bulk_gradient;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> nodes[6][E::nodes];
    const double* const fields[6] = {x, v, w, dx, dv, dw};
    for (int k = 0; k < (dw ? 6 : 5); ++k) gather_nodes(vertices, fields[k], nodes[k]);
    const PackDual eta = dual(viscosities.eta(pack), directions.eta(pack));
    const PackDual zeta = dual(viscosities.zeta(pack), directions.zeta(pack));
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const Mat3<Pack> inverse = geometry.inverse(pack, q);
      const Pack volume = geometry.volume(pack, q);
      Mat3<PackDual> gradients[3];  // F, Ḟ, G
      for (int k = 0; k < 3; ++k) {
        const Mat3<Pack> a = elastic::gradient_at<E>(nodes[k], geometry.rule, q, inverse);
        const Mat3<Pack> da =
            k == 2 && !dw ? Mat3<Pack>::zero() : elastic::gradient_at<E>(nodes[k + 3], geometry.rule, q, inverse);
        for (int i = 0; i < 9; ++i) gradients[k](i / 3, i % 3) = dual(a(i / 3, i % 3), da(i / 3, i % 3));
      }
      const Mat3<PackDual>&F = gradients[0], &rate = gradients[1], &G = gradients[2];
      const Mat3<PackDual> E_G = symmetric_product(F, G), S_G = newtonian(eta, zeta, E_G);
      if (to_velocities) {
        elastic::add_node_forces<E>(derivative(F * S_G), inverse, volume, geometry.rule, q, value);
        continue;
      }
      const Mat3<PackDual> strain_rate = symmetric_product(F, rate), S = newtonian(eta, zeta, strain_rate);
      elastic::add_node_forces<E>(derivative(rate * S_G + G * S), inverse, volume, geometry.rule, q, value);
      const int cells = viscosities.num_cells;
      if (shear_gradient)
        add_to_cells(-2.0 * volume * inner(strain_rate, E_G).derivative[0], pack, cells, shear_gradient);
      if (bulk_gradient)
        add_to_cells(-volume * (trace(strain_rate) * trace(E_G)).derivative[0], pack, cells, bulk_gradient);
    }
  }

  using PackDual = Dual<Pack, 1>;
  static KOKKOS_INLINE_FUNCTION PackDual dual(const Pack& a, const Pack& da) {
    PackDual c;
    c.value = a;
    c.derivative[0] = da;
    return c;
  }
  static KOKKOS_INLINE_FUNCTION Mat3<Pack> derivative(const Mat3<PackDual>& a) {
    Mat3<Pack> c;
    for (int i = 0; i < 9; ++i) c(i / 3, i % 3) = a(i / 3, i % 3).derivative[0];
    return c;
  }
};

/// Adds `by_position` ∂f/∂x + `by_velocity` ∂f/∂v, from the columns of ∂P/∂F and ∂P/∂Ḟ. `project`: only the latter,
/// which is symmetric and semidefinite.
template <class E>
struct ViscousJacobian {
  CellGeometry<E> geometry;
  Viscosities viscosities;
  const double* x;
  const double* v;
  double by_position, by_velocity;
  bool project;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, const BlockSink& sink) const {
    Vec3<Pack> positions[E::nodes], velocities[E::nodes];
    gather_nodes(vertices, x, positions);
    gather_nodes(vertices, v, velocities);
    for (int first = 0; first < E::Rule::num_points; first += E::points_at_once)
      add_points(pack, first, positions, velocities, sink);
  }

  /// Of the points that are worked at once, from `first` on.
  KOKKOS_INLINE_FUNCTION void add_points(int pack, int first, const Vec3<Pack> (&positions)[E::nodes],
                                         const Vec3<Pack> (&velocities)[E::nodes], const BlockSink& sink) const {
    Vec3<Pack> g[E::points_at_once][E::nodes];
    Pack H[E::points_at_once][9][9];
    const Pack eta = viscosities.eta(pack), zeta = viscosities.zeta(pack);
    const int count = elastic::num_points_from<E>(first);
    for (int p = 0; p < count; ++p) {
      const int q = first + p;
      const auto [inverse, volume] = geometry.at(pack, q);
      const Mat3<Pack> F = elastic::gradient_at<E>(positions, geometry.rule, q, inverse);
      const Mat3<Pack> rate = elastic::gradient_at<E>(velocities, geometry.rule, q, inverse);
      const Mat3<Pack> S = newtonian(eta, zeta, symmetric_product(F, rate));
      for (int k = 0; k < 9; ++k) {
        Mat3<Pack> unit = Mat3<Pack>::zero();
        unit(k / 3, k % 3) = 1.0;
        Mat3<Pack> dP = Pack(by_velocity) * (F * newtonian(eta, zeta, symmetric_product(F, unit)));
        if (!project)
          dP = dP + Pack(by_position) * (unit * S + F * newtonian(eta, zeta, symmetric_product(unit, rate)));
        for (int i = 0; i < 9; ++i) H[p][i][k] = -(volume * dP(i / 3, i % 3));
      }
      elastic::shape_gradients<E>(geometry.rule, q, inverse, g[p]);
    }
    elastic::add_element_blocks<E, false>(H, g, count, sink);
  }
};

/// Largest eigenvalue of each element's damping at rest, at its nodes.
template <class E>
struct DampingBound {
  CellGeometry<E> geometry;
  Viscosities viscosities;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, Vec3<Pack> (&value)[E::nodes]) const {
    const Pack eta = viscosities.eta(pack), zeta = viscosities.zeta(pack);
    Pack H[9][9];
    for (int k = 0; k < 9; ++k) {
      Mat3<Pack> unit = Mat3<Pack>::zero();
      unit(k / 3, k % 3) = 1.0;
      const Mat3<Pack> stress = newtonian(eta, zeta, symmetric_product(Mat3<Pack>::identity(), unit));
      for (int i = 0; i < 9; ++i) H[i][k] = stress(i / 3, i % 3);
    }
    elastic::largest_eigenvalue<E>(geometry, pack, H, value);
  }
};

template <class E>
class ViscousTerm : public ForceTerm {
 public:
  explicit ViscousTerm(const TetrahedralMesh& mesh) : mesh_(&mesh), scatter_(mesh.scatter()) {}

  std::string name() const override { return "viscosity"; }
  bool uses_velocities() const override { return true; }

  void prepare(const ParameterSet& parameters) override {
    compute_geometry<E>(*mesh_, scatter_, {}, parameters.at("rest_positions").field, geometry_);
    viscosities_ = viscosities(parameters);
  }

  void begin_adjoint(const ParameterSet& gradient) override {
    shape_sums_ = {};
    if (gradient.find("rest_positions"))
      shape_sums_ = make_zeroed_device_array<double>("diffsim::elastic::viscous_shape", geometry_.inverses.size());
  }

  void prepare_adjoint(const ParameterSet&, ParameterSet& gradient) override {
    if (shape_sums_.size() > 0) add_shape_gradient<E>(scatter_, shape_sums_, gradient.at("rest_positions").field);
  }

  double energy(const Configuration&, const ParameterSet&) override { return 0.0; }

  void add_force(const Configuration& at, const ParameterSet&, Field& force) override {
    for_each_cell<E::nodes>("diffsim::elastic::viscous_force", scatter_, force.data(),
                            ViscousForce<E>{geometry_, viscosities_, at.positions.data(), at.velocities->data()});
  }

  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    for_each_cell<E::nodes>(
        "diffsim::elastic::viscous_tangent", scatter_, force_tangent.data(),
        ViscousTangent<E>{geometry_, viscosities_, viscosities(direction), at.positions.data(), at.velocities->data(),
                          tangent.positions.data(), tangent.velocities->data(), direction.data("rest_positions")});
  }

  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    const auto target = [&](const char* name) {
      Parameter* const found = gradient.find(name);
      return found ? found->field.data() : nullptr;
    };
    ViscousAdjoint<E> kernel{
        geometry_, viscosities_, at.positions.data(), at.velocities->data(), w.data(), true, nullptr, nullptr, nullptr};
    for_each_cell<E::nodes>("diffsim::elastic::viscous_adjoint_velocities", scatter_, adjoint.velocities->data(),
                            kernel);
    kernel.to_velocities = false;
    kernel.shear_gradient = target("viscosity");
    kernel.bulk_gradient = target("bulk_viscosity");
    kernel.shape_sums = shape_sums_.data();
    for_each_cell<E::nodes>("diffsim::elastic::viscous_adjoint_positions", scatter_, adjoint.positions.data(), kernel);
  }

  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    if (gradient.find("rest_positions") || direction.find("rest_positions"))
      throw Error("no second derivative by 'rest_positions'", ErrorKind::input);
  }

  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    if (!w) {
      if (dw) add_force_adjoint(at, *dw, adjoint_tangent, gradient_tangent);
      return;
    }
    const auto target = [&](const char* name) {
      Parameter* const found = gradient_tangent.find(name);
      return found ? found->field.data() : nullptr;
    };
    ViscousAdjointTangent<E> kernel{geometry_,
                                    viscosities_,
                                    viscosities(direction),
                                    at.positions.data(),
                                    at.velocities->data(),
                                    w->data(),
                                    tangent.positions.data(),
                                    tangent.velocities->data(),
                                    dw ? dw->data() : nullptr,
                                    true,
                                    nullptr,
                                    nullptr};
    for_each_cell<E::nodes>("diffsim::elastic::viscous_adjoint_tangent_velocities", scatter_,
                            adjoint_tangent.velocities->data(), kernel);
    kernel.to_velocities = false;
    kernel.shear_gradient = target("viscosity");
    kernel.bulk_gradient = target("bulk_viscosity");
    for_each_cell<E::nodes>("diffsim::elastic::viscous_adjoint_tangent_positions", scatter_,
                            adjoint_tangent.positions.data(), kernel);
  }

  bool has_symmetric_jacobian() const override { return false; }
  void add_couplings(const Configuration&, Couplings& couplings) override { couplings.add(connectivity(), E::nodes); }

  void add_jacobian(const Configuration& at, const ParameterSet&, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    if (scatter_.num_cells() == 0) return;
    if (!blocks_ || !blocks_->fits(matrix)) blocks_ = std::make_unique<BlockScatter>(matrix, connectivity(), E::nodes);
    for_each_element("diffsim::elastic::viscous_jacobian", *blocks_, matrix,
                     ViscousJacobian<E>{geometry_, viscosities_, at.positions.data(), at.velocities->data(),
                                        weights.position, weights.velocity, weights.project});
  }

  void add_damping_bound(const ParameterSet&, Field& damping) override {
    for_each_cell<E::nodes>("diffsim::elastic::damping_bound", scatter_, damping.data(),
                            DampingBound<E>{geometry_, viscosities_});
  }

 private:
  std::vector<int> connectivity() const { return {mesh_->cells().begin(), mesh_->cells().end()}; }
  Viscosities viscosities(const ParameterSet& set) const {
    return {set.data("viscosity"), set.data("bulk_viscosity"), scatter_.num_cells()};
  }

  const TetrahedralMesh* mesh_;
  const CellScatter& scatter_;
  std::unique_ptr<BlockScatter> blocks_;  // made when first assembled
  CellGeometry<E> geometry_;
  Viscosities viscosities_{};
  DeviceArray<double> shape_sums_;
};

}  // namespace

std::unique_ptr<ForceTerm> make_viscous_term(const TetrahedralMesh& mesh) {
  return with_element(mesh, [&](auto kind) -> std::unique_ptr<ForceTerm> {
    return std::make_unique<ViscousTerm<decltype(kind)>>(mesh);
  });
}

}  // namespace diffsim
