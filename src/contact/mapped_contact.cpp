// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <utility>

#include "contact/embedded_surface.hpp"
#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Contact term of nodes q with the force Wᵀ f(W q), where f(x) is the force of a contact term of points x = W q. If
/// surfaces have scales s, the matrix W(s) of the surface's points depends on s, with the derivative D
/// (SurfaceScaling).
class MappedContact final : public ContactTerm {
 public:
  MappedContact(std::unique_ptr<ContactTerm> term, const EmbeddedSurface& surface)
      : term_(std::move(term)), map_(surface.map), scaling_(surface.scaling) {
    set_forces(term_->forces());
  }

  std::string name() const override { return term_->name(); }
  bool uses_velocities() const override { return term_->uses_velocities(); }
  bool has_energy() const override { return term_->has_energy(); }
  bool has_symmetric_jacobian() const override { return term_->has_symmetric_jacobian(); }
  bool holds_body() const override { return term_->holds_body(); }
  bool couplings_vary() const override { return true; }
  bool moves(int n, const ParameterSet& parameters) const override { return term_->moves(n, parameters); }
  std::string limiting() const override { return term_->limiting(); }
  std::string intersecting() const override { return term_->intersecting(); }

  void prepare(const ParameterSet& parameters) override {
    set_scales(parameters);
    parameters_ = on_points(parameters);
    term_->prepare(parameters_);
  }
  void prepare_tangent(const ParameterSet&, const ParameterSet& direction) override {
    direction_ = on_points(direction);
    if (scaling_) change_of_scales_ = scaling_->values(direction);
    if (scales_in(direction)) {
      Field& rest = rest_of(direction_);
      Field change = rest_change_.clone();
      scaling_->multiply(change_of_scales_, change);
      axpy(1.0, change, rest);
    }
    term_->prepare_tangent(parameters_, direction_);
  }
  void begin_adjoint(const ParameterSet& gradient) override {
    gradient_ = zeros_on_points(gradient);
    term_->begin_adjoint(gradient_);
  }
  void prepare_adjoint(const ParameterSet&, ParameterSet& gradient) override {
    term_->prepare_adjoint(parameters_, gradient_);
    hand_back(gradient_, gradient);
  }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    for (const ParameterSet* const set : {&gradient, &direction})
      if (scales_in(*set))
        throw Error("no second derivative with respect to 'surface_scale'; use an optimiser that needs gradients only",
                    ErrorKind::input);
    gradient_tangent_ = zeros_on_points(gradient);
    term_->begin_adjoint_tangent(gradient_tangent_, zeros_on_points(direction));
  }
  void prepare_adjoint_tangent(const ParameterSet&, const ParameterSet& direction,
                               ParameterSet& gradient_tangent) override {
    term_->prepare_adjoint_tangent(parameters_, direction.empty() ? none_ : direction_, gradient_tangent_);
    hand_back(gradient_tangent_, gradient_tangent);
  }

  double energy(const Configuration& at, const ParameterSet&) override {
    return term_->energy(Here(*this, at).at, parameters_);
  }
  double dissipation(const Configuration& at, const ParameterSet&) override {
    return term_->dissipation(Here(*this, at).at, parameters_);
  }
  void add_force(const Configuration& at, const ParameterSet&, Field& force) override {
    const Here here(*this, at);
    Field on_points = take("force");
    term_->add_force(here.at, parameters_, on_points);
    map_->add_transpose(on_points, force);
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    const Here here(*this, at);
    TangentHere along(*this, tangent);
    const bool by_scales = scales_in(direction);
    if (by_scales) {
      add_change_by_scales(at.positions, along.x);
      if (along.v) add_change_by_scales(*at.velocities, *along.v);
    }
    Field on_points = take("force_tangent");
    term_->add_force_tangent(here.at, along.tangent, direction.empty() ? none_ : direction_, on_points);
    map_->add_transpose(on_points, force_tangent);
    if (!by_scales) return;
    Field f = force_on_points(here.at);
    scaling_->multiply(change_of_scales_, f);
    scaling_->change().add_transpose(f, force_tangent);
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    const Here here(*this, at);
    AdjointHere bar(*this, adjoint);
    term_->add_force_adjoint(here.at, mapped(w), bar.adjoint, gradient.empty() ? none_ : gradient_);
    if (scales_in(gradient)) {
      scaling_->add_products(bar.x, changed(at.positions), gradient);
      if (bar.adjoint.velocities && here.v) scaling_->add_products(bar.v, changed(*at.velocities), gradient);
      scaling_->add_products(force_on_points(here.at), changed(w), gradient);
    }
    bar.hand_back(*this, adjoint);
    hand_back(gradient_, gradient);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const Here here(*this, at);
    const TangentHere along(*this, tangent);
    AdjointHere bar(*this, adjoint_tangent);
    const auto mapped_or_none = [&](const Field* field) {
      return field ? std::optional<Field>(mapped(*field)) : std::nullopt;
    };
    const std::optional<Field> w_here = mapped_or_none(w), dw_here = mapped_or_none(dw);
    term_->add_force_adjoint_tangent(here.at, along.tangent, direction.empty() ? none_ : direction_,
                                     w_here ? &*w_here : nullptr, dw_here ? &*dw_here : nullptr, bar.adjoint,
                                     gradient_tangent.empty() ? none_ : gradient_tangent_);
    bar.hand_back(*this, adjoint_tangent);
    hand_back(gradient_tangent_, gradient_tangent);
  }

  void add_couplings(const Configuration& at, Couplings& couplings) override;
  bool pattern_covers(const Configuration& at) override {
    return !term_->couplings_vary() || term_->pattern_covers(Here(*this, at).at);
  }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override;

  double max_step(const Configuration& from, const Configuration& to, const ParameterSet&) override {
    return term_->max_step(Here(*this, from).at, Here(*this, to).at, parameters_);
  }
  ContactState state(const Configuration& at, const ParameterSet&) override {
    return term_->state(Here(*this, at).at, parameters_);
  }
  void add_forces_between(const Configuration& at, const ParameterSet&, ForcesBetween& sums) override {
    term_->add_forces_between(Here(*this, at).at, parameters_, sums);
  }
  std::string enclosed(const Configuration& at, const ParameterSet&) override {
    return term_->enclosed(Here(*this, at).at, parameters_);
  }

 private:
  Field take(const char* name) const { return pool_->take(name, map_->points(), 3); }
  Field mapped(const Field& nodes) const {
    Field points = take("mapped");
    map_->apply(nodes, points);
    return points;
  }
  /// Returns true if `set` contains a scale of a surface.
  bool scales_in(const ParameterSet& set) const { return scaling_ && scaling_->is_in(set); }
  /// Computes the map for the scales in `parameters`, and the derivative of the points' rest positions by the scales.
  void set_scales(const ParameterSet& parameters) {
    if (!scaling_) return;
    rest_change_ = changed(parameters.at("rest_positions").field);
    std::vector<double> scales = scaling_->values(parameters);
    if (scales == scales_) return;
    scales_ = std::move(scales);
    map_ = scaling_->map(scales_);
    matrix_.reset();  // `stencils_` contains the weights of the old map
  }
  /// Returns D q, the derivative of the positions of the points by the scales of their surfaces.
  Field changed(const Field& nodes) const {
    Field points("changed", map_->points(), 3);
    scaling_->change().apply(nodes, points);
    return points;
  }
  void add_change_by_scales(const Field& nodes, Field& points) const {
    Field change = changed(nodes);
    scaling_->multiply(change_of_scales_, change);
    axpy(1.0, change, points);
  }
  /// Returns this rank's contributions to the forces on the points.
  Field force_on_points(const Configuration& points) {
    Field f = take("force");
    term_->add_force(points, parameters_, f);
    return f;
  }
  /// Returns the rest positions in `points`, a set of parameters of the points; adds zeros if there are none.
  Field& rest_of(ParameterSet& points) const {
    if (Parameter* const rest = points.find("rest_positions")) return rest->field;
    points.add({Field("rest_positions", map_->points(), 3), parameters_.at("rest_positions").spec});
    return points.at("rest_positions").field;
  }
  /// Returns the velocities of the points if the term uses velocities and `velocities` is given, else nullopt.
  std::optional<Field> mapped_velocities(const Field* velocities) const {
    if (!velocities || !uses_velocities()) return std::nullopt;
    return mapped(*velocities);
  }

  /// Configuration of the points, computed from the configuration of the nodes.
  struct Here {
    Field x;
    std::optional<Field> v;
    Configuration at;
    Here(const MappedContact& term, const Configuration& nodes)
        : x(term.mapped(nodes.positions)),
          v(term.mapped_velocities(nodes.velocities)),
          at{x, nodes.step, nodes.invalid_cell, v ? &*v : nullptr, nodes.time, nodes.load_factor} {}
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;
  };
  struct TangentHere {
    Field x;
    std::optional<Field> v;
    ConfigurationTangent tangent;
    TangentHere(const MappedContact& term, const ConfigurationTangent& nodes)
        : x(term.mapped(nodes.positions)),
          v(term.mapped_velocities(nodes.velocities)),
          tangent{x, v ? &*v : nullptr, nodes.time} {}
    TangentHere(const TangentHere&) = delete;
    TangentHere& operator=(const TangentHere&) = delete;
  };
  struct AdjointHere {
    Field x, v;
    ConfigurationAdjoint adjoint;
    AdjointHere(const MappedContact& term, const ConfigurationAdjoint& nodes)
        : x(term.take("x_bar")), v(term.take("v_bar")), adjoint{x, nodes.velocities ? &v : nullptr} {}
    AdjointHere(const AdjointHere&) = delete;
    AdjointHere& operator=(const AdjointHere&) = delete;
    void hand_back(const MappedContact& term, const ConfigurationAdjoint& nodes) {
      term.map_->add_transpose(x, nodes.positions);
      if (nodes.velocities && term.uses_velocities()) term.map_->add_transpose(v, *nodes.velocities);
    }
  };

  // Parameters of the contact term of points: the global parameters, which all ranks share, and the rest shape X = W Q.
  static bool is_rest(const Parameter& parameter) { return parameter.name() == "rest_positions"; }
  ParameterSet on_points(const ParameterSet& nodes) const {
    ParameterSet points;
    for (const Parameter& parameter : nodes) {
      if (is_rest(parameter)) {
        Field field("rest_positions", map_->points(), 3);
        map_->apply(parameter.field, field);
        points.add({std::move(field), parameter.spec});
      } else if (parameter.is_global()) {
        points.add({parameter.field.clone(), parameter.spec});
      }
    }
    return points;
  }
  ParameterSet zeros_on_points(const ParameterSet& nodes) const {
    ParameterSet points;
    for (const Parameter& parameter : nodes)
      if (is_rest(parameter))
        points.add({Field("rest_positions", map_->points(), 3), parameter.spec});
      else if (parameter.is_global())
        points.add({parameter.field.like(parameter.name()), parameter.spec});
    if (scales_in(nodes)) rest_of(points);  // areas depend on the rest positions of the points
    return points;
  }
  /// Adds `points`, the gradient with respect to the parameters of the points, to `nodes`, the gradient with respect to
  /// the parameters of the nodes. Then sets `points` to zero.
  void hand_back(ParameterSet& points, ParameterSet& nodes) const {
    if (nodes.empty()) return;
    for (Parameter& parameter : points) {
      if (is_rest(parameter) && scales_in(nodes)) scaling_->add_products(parameter.field, rest_change_, nodes);
      Parameter* const target = nodes.find(parameter.name());
      if (is_rest(parameter) && target)
        map_->add_transpose(parameter.field, target->field);
      else if (target)
        axpy(1.0, parameter.field, target->field);
    }
    points.fill(0.0);
  }

  std::unique_ptr<ContactTerm> term_;
  std::shared_ptr<const PointMap> map_;
  std::shared_ptr<const SurfaceScaling> scaling_;  // nullptr if no surface has a scale
  std::vector<double> scales_, change_of_scales_;  // s of `map_`, ds of `direction_`
  Field rest_change_;                              // derivative of the points' rest positions by the scales
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
  ParameterSet parameters_, direction_, gradient_, gradient_tangent_, none_;
  Couplings couplings_;                       // sparsity pattern of points, from the last `add_couplings`
  Couplings couplings_of_nodes_;              // sparsity pattern of nodes that `couplings_` requires
  Couplings next_couplings_;                  // temporary array; a member so that its memory is reused
  std::optional<BlockMatrix> matrix_;         // Jacobian of points, with the sparsity pattern `couplings_`
  std::optional<NumberedStencils> stencils_;  // stencils of the rows of `matrix_`
  std::optional<PointMatrixMap> matrix_map_;
};

void MappedContact::add_couplings(const Configuration& at, Couplings& couplings) {
  next_couplings_.clear();
  term_->add_couplings(Here(*this, at).at, next_couplings_);
  const Entities& points = *map_->points();
  int same = matrix_ && next_couplings_ == couplings_;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, points.comm()));
  if (!same) {
    std::swap(couplings_, next_couplings_);
    std::vector<PointStencil> rows = map_->stencils();
    if (term_->couplings_vary()) {
      const std::shared_ptr<const Entities> all = with_copies(points, couplings_.copies());
      rows.resize(points.owned());
      rows.resize(all->local());
      all->exchange()->copy_to_ghosts(rows);
    }
    stencils_.emplace(rows, rank_of(points.comm()), static_cast<int>(map_->nodes()->owned()));
    matrix_.emplace(stencils_->num_points(), couplings_);
    matrix_map_.reset();
    couplings_of_nodes_.clear();
    add_couplings_of_points(couplings_, *stencils_, couplings_of_nodes_);
  }
  for (const Couplings::Group& group : couplings_of_nodes_.groups()) couplings.add(group.vertices, group.nodes);
  couplings.set_copies(couplings_of_nodes_.copies());
}

void MappedContact::add_jacobian(const Configuration& at, const ParameterSet&, const JacobianWeights& weights,
                                 BlockMatrix& matrix) {
  const ProfilingRegion region("diffsim::contact::mapped_jacobian");
  matrix_->zero();
  term_->add_jacobian(Here(*this, at).at, parameters_, weights, *matrix_);
  if (!matrix_map_ || !matrix_map_->fits(*matrix_, matrix)) matrix_map_.emplace(*matrix_, *stencils_, matrix);
  matrix_map_->add(*matrix_, matrix);
}

}  // namespace

std::unique_ptr<ContactTerm> make_mapped_contact(std::unique_ptr<ContactTerm> on_surface,
                                                 const EmbeddedSurface& surface) {
  return std::make_unique<MappedContact>(std::move(on_surface), surface);
}

}  // namespace diffsim
