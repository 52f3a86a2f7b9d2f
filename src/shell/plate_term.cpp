// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/plate_term.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/sums_impl.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/manifold.hpp"
#include "shell/parameters.hpp"
#include "shell/plate_jacobian.hpp"
#include "shell/plate_topology.hpp"

namespace diffsim {
namespace {

using namespace shell;

constexpr int rest_size = PlateRest<double>::size, num_moduli = PlateModuli<double>::size;

DeviceArray<double> zeros(int count, int width) {
  return make_zeroed_device_array<double>("diffsim::shell::plate_work",
                                          static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
}

/// Intermediate results in the computation of forces: changes of the hinges' angles, and moments.
template <class T>
struct Work {
  DeviceArray<T> change;  // [hinges]
  DeviceArray<T> moment;  // [triangles, 9]
};

class PlateTerm : public ForceTerm {
 public:
  PlateTerm(const TetrahedralMesh& mesh, std::vector<int> triangles)
      : takes_("bending of shells",
               {PointParameter::of(ShellParameters::youngs_modulus), PointParameter::of(ShellParameters::poisson_ratio),
                PointParameter::of(ShellParameters::thickness), PointParameter::of(ShellParameters::rest_curvature)}),
        mesh_(mesh),
        triangles_(std::move(triangles)) {}

  std::string name() const override { return takes_.term(); }
  bool holds_body() const override { return is_clamped_; }

  void set_constraints(const VertexConstraints& held) override {
    const auto clamped = std::count_if(held.clamped.begin(), held.clamped.end(), [](char axes) { return axes != 0; });
    is_clamped_ = sum_over_ranks(static_cast<std::int64_t>(clamped), mesh_.comm()) > 0;
    set_topology(wall_vertices(mesh_, triangles_, held), held.clamped);
  }

  void prepare(const ParameterSet& parameters) override {
    parameters_ = &parameters;
    if (!has_topology_) set_topology({}, {});
    takes_.check(
        parameters, [&](const Entities& on) { return static_cast<int>(on.local()) == num_entities(); },
        "each of " + std::to_string(num_entities()) + " triangles");
    set_rest(RestPositions<double>{rest_positions(parameters), nullptr}, rest_, angle_);
  }
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    const Parameter* const dX = direction.find("rest_positions");
    if (!dX) return;
    if (rest_tangent_.size() == 0) {
      rest_tangent_ = zeros(data_.num_triangles, rest_size);
      angle_tangent_ = zeros(data_.num_hinges, 1);
    }
    set_rest(RestPositions<First>{rest_positions(parameters), dX->field.data()}, rest_tangent_, angle_tangent_);
  }
  void begin_adjoint(const ParameterSet& gradient) override {
    const bool by_rest = gradient.find("rest_positions") != nullptr;
    rest_sums_ = zeros(by_rest ? data_.num_triangles : 0, rest_size);
    hinge_sums_ = zeros(by_rest ? data_.num_hinges : 0, hinge_rest_size);
  }
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override {
    Parameter* const rest = gradient.find("rest_positions");
    if (!rest) return;
    const RestPositions<double> from{rest_positions(parameters), nullptr};
    const DeviceArray<double> vectors = zeros(data_.num_triangles, 3 * num_plate_nodes);
    Kokkos::parallel_for("diffsim::shell::plate_rest_vectors", Range(0, data_.num_triangles),
                         SetRestVectors{data_, from, rest_sums_.data(), vectors.data()});
    stencil::add_vectors(by_node_, vectors.data(), rest->field.data());
    Kokkos::parallel_for("diffsim::shell::hinge_rest_vectors", Range(0, data_.num_hinges),
                         SetHingeRestVectors{data_, from, hinge_sums_.data(), vectors_.data()});
    stencil::add_vectors(by_hinge_node_, vectors_.data(), rest->field.data());
  }
  /// Does nothing, because no sums need to be set to zero. Second derivatives with respect to `rest_positions` are not
  /// available.
  void begin_adjoint_tangent(const ParameterSet&, const ParameterSet&) override {}

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    const PlateInputs in = inputs(at, parameters);
    const Work<double>& work = this->work<double>();
    Kokkos::parallel_for("diffsim::shell::plate_changes", Range(0, data_.num_hinges),
                         SetChanges<double>{data_, in, work.change});
    return sum_over("diffsim::shell::plate_energy", data_.num_triangles, PlateEnergies{data_, in, work.change});
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    const PlateInputs in = inputs(at, parameters);
    const Work<double>& work = moments<double>(in);
    add_vectors(in, work, nullptr, force);
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    PlateInputs in = inputs(at, *parameters_);
    in.x[1] = tangent.positions.data();
    add_direction(at, direction, in);
    add_vectors(in, moments<First>(in), nullptr, force_tangent);
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    PlateInputs in = inputs(at, *parameters_);
    in.x[1] = w.data();
    add_derivatives<First>(at, in, adjoint, gradient);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    PlateInputs in = inputs(at, *parameters_);
    in.x[1] = tangent.positions.data();
    in.x[2] = w ? w->data() : nullptr;
    in.x[3] = dw ? dw->data() : nullptr;
    add_direction(at, direction, in);
    add_derivatives<Second>(at, in, adjoint_tangent, gradient_tangent);
  }

  void add_couplings(const Configuration&, Couplings& couplings) override {
    couplings.add(nodes_, num_plate_nodes);
    couplings.add(hinge_vertices_, 4);
  }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    if (data_.num_triangles == 0) return;
    if (!blocks_ || !blocks_->fits(matrix)) {
      blocks_ = std::make_unique<BlockScatter>(matrix, nodes_, num_plate_nodes);
      hinge_blocks_ = std::make_unique<BlockScatter>(matrix, hinge_vertices_, 4);
    }
    const PlateInputs in = inputs(at, parameters);
    for_each_element("diffsim::shell::plate_jacobian", *blocks_, matrix, PlateJacobian{{data_, in}, weights.position});
    const Work<double>& work = moments<double>(in);
    for_each_element("diffsim::shell::hinge_jacobian", *hinge_blocks_, matrix,
                     HingeJacobian{data_, in, work.moment, weights.position, weights.project ? 1 : 0});
  }
  void add_stiffness_bound(const ParameterSet& parameters, Field& stiffness) override {
    const Field& rest = parameters.at("rest_positions").field;
    const DeviceArray<double> vectors = zeros(data_.num_triangles, 3 * num_plate_nodes);
    Kokkos::parallel_for("diffsim::shell::plate_norms", Range(0, data_.num_triangles),
                         PlateNorms{{data_, inputs({rest}, parameters)}, vectors.data()});
    stencil::add_vectors(by_node_, vectors.data(), stiffness.data());
  }

 private:
  int num_entities() const { return mesh_.lower_cells(CellKind::triangle).num(); }

  void set_topology(const std::vector<char>& walls, const std::vector<char>& clamped) {
    const PlateTopology topology = plate_topology(mesh_.lower_cells(CellKind::triangle), triangles_, walls, clamped);
    has_topology_ = true;
    nodes_ = topology.nodes;
    hinge_vertices_ = topology.hinge_nodes;
    for (std::size_t i = 0; i < hinge_vertices_.size(); ++i)
      if (hinge_vertices_[i] < 0) hinge_vertices_[i] = hinge_vertices_[i / 4 * 4];
    by_node_ = stencil::grouped(nodes_);
    by_hinge_node_ = stencil::grouped(hinge_vertices_);
    data_.num_triangles = topology.num_triangles();
    data_.num_hinges = topology.num_hinges();
    data_.nodes = to_device("diffsim::shell::nodes", topology.nodes);
    data_.hinges = to_device("diffsim::shell::hinges", topology.hinges);
    data_.states = to_device("diffsim::shell::states", topology.states);
    data_.hinge_nodes = to_device("diffsim::shell::hinge_nodes", topology.hinge_nodes);
    data_.entities = to_device("diffsim::shell::entities", triangles_);
    std::vector<int> hinge_of_place;
    for (const int code : topology.hinges) hinge_of_place.push_back(code < 0 ? topology.num_hinges() : code / 2);
    data_.slots = stencil::grouped(hinge_of_place);
    rest_ = zeros(data_.num_triangles, rest_size);
    angle_ = zeros(data_.num_hinges, 1);
    vectors_ = zeros(data_.num_hinges, 12);
    rest_tangent_ = angle_tangent_ = rest_sums_ = hinge_sums_ = {};
    work_ = {};
    blocks_.reset();
    hinge_blocks_.reset();
  }
  static const double* rest_positions(const ParameterSet& parameters) {
    return parameters.at("rest_positions").field.data();
  }

  template <class T>
  void set_rest(const RestPositions<T>& from, const DeviceArray<double>& rest, const DeviceArray<double>& angle) const {
    Kokkos::parallel_for("diffsim::shell::plate_rest", Range(0, data_.num_triangles),
                         SetPlateRest<T>{data_, from, rest.data()});
    Kokkos::parallel_for("diffsim::shell::rest_angles", Range(0, data_.num_hinges),
                         SetRestAngles<T>{data_, from, angle.data()});
  }

  PlateInputs inputs(const Configuration& at, const ParameterSet& parameters) const {
    PlateInputs in;
    in.x[0] = at.positions.data();
    in.X[0] = rest_positions(parameters);
    in.rest[0] = rest_.data();
    in.angle[0] = angle_.data();
    in.moduli[0] = takes_.numbers<const double>(parameters, at);
    return in;
  }
  void add_direction(const Configuration& at, const ParameterSet& direction, PlateInputs& in) const {
    in.moduli[1] = takes_.numbers<const double>(direction, at);
    const Parameter* const dX = direction.find("rest_positions");
    if (!dX) return;
    in.X[1] = dX->field.data();
    in.rest[1] = rest_tangent_.data();
    in.angle[1] = angle_tangent_.data();
  }

  template <class T>
  const Work<T>& work() {
    Work<T>& of = std::get<Work<T>>(work_);
    if (of.moment.size() == 0 && data_.num_triangles > 0) {
      of.change = make_device_array<T>("diffsim::shell::changes", static_cast<std::size_t>(data_.num_hinges));
      of.moment = make_device_array<T>("diffsim::shell::moments", static_cast<std::size_t>(data_.num_triangles) *
                                                                      static_cast<std::size_t>(num_plate_hinges));
    }
    return of;
  }
  template <class T>
  const Work<T>& moments(const PlateInputs& in) {
    const Work<T>& work = this->work<T>();
    Kokkos::parallel_for("diffsim::shell::plate_changes", Range(0, data_.num_hinges),
                         SetChanges<T>{data_, in, work.change});
    Kokkos::parallel_for("diffsim::shell::plate_moments", Range(0, data_.num_triangles),
                         SetMoments<T>{data_, in, work.change, work.moment});
    return work;
  }
  template <class T>
  void add_vectors(const PlateInputs& in, const Work<T>& work, double* by_rest, Field& to) {
    Kokkos::parallel_for("diffsim::shell::plate_vectors", Range(0, data_.num_hinges),
                         SetVectors<T>{data_, in, work.moment, vectors_.data(), by_rest});
    stencil::add_vectors(by_hinge_node_, vectors_.data(), to.data());
  }
  template <class T>
  void add_derivatives(const Configuration& at, const PlateInputs& in, const ConfigurationAdjoint& adjoint,
                       ParameterSet& gradient) {
    const Work<T>& work = this->work<T>();
    Kokkos::parallel_for("diffsim::shell::plate_changes", Range(0, data_.num_hinges),
                         SetChanges<T>{data_, in, work.change});
    const bool by_rest = gradient.find("rest_positions") != nullptr;
    point::Sums<num_moduli> of_moduli;
    Kokkos::parallel_reduce("diffsim::shell::plate_derivatives", Range(0, data_.num_triangles),
                            SetMomentsAndDerivatives<T>{{data_, in, work.change, work.moment},
                                                        takes_.numbers<double>(gradient, at),
                                                        by_rest ? rest_sums_.data() : nullptr},
                            of_moduli);
    takes_.add_sums(of_moduli, at, gradient);
    add_vectors(in, work, by_rest ? hinge_sums_.data() : nullptr, adjoint.positions);
  }

  point::Parameters<num_moduli> takes_;
  const TetrahedralMesh& mesh_;
  std::vector<int> triangles_;
  bool is_clamped_ = false;  // true if vertices are clamped on any rank
  bool has_topology_ = false;
  std::vector<int> nodes_;           // [triangles, 12]
  std::vector<int> hinge_vertices_;  // [hinges, 4]; the first vertex replaces a missing fourth vertex
  PlateData data_;
  stencil::Grouped by_node_, by_hinge_node_;
  DeviceArray<double> rest_, rest_tangent_;     // [triangles, rest_size]
  DeviceArray<double> angle_, angle_tangent_;   // [hinges], rest angles and their derivatives
  DeviceArray<double> vectors_;                 // [hinges, 4, 3]
  DeviceArray<double> rest_sums_, hinge_sums_;  // sums over steps; empty unless the rest shape has a gradient
  std::tuple<Work<double>, Work<First>, Work<Second>> work_;  // one for each scalar type; allocated at first use
  std::unique_ptr<BlockScatter> blocks_, hinge_blocks_;       // created at the first assembly
  const ParameterSet* parameters_ = nullptr;                  // argument of the last `prepare`
};

}  // namespace

std::unique_ptr<ForceTerm> make_plate_term(const TetrahedralMesh& mesh, const std::vector<int>& triangles) {
  require_manifold(mesh, CellKind::triangle, triangles, "a shell", "");
  return std::make_unique<PlateTerm>(mesh, triangles);
}

}  // namespace diffsim
