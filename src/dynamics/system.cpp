// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "body/constraint_set.hpp"
#include "body/parameters.hpp"
#include "body/placement.hpp"
#include "body/rotor.hpp"
#include "core/exchange.hpp"
#include "core/field_pool.hpp"
#include "core/file_order.hpp"
#include "core/impact.hpp"
#include "core/inertia.hpp"
#include "core/kinematics.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/diagnosis.hpp"
#include "dynamics/parameters.hpp"
#include "dynamics/rigid_motion.hpp"
#include "dynamics/vector_kernels.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

/// Masks of the owned vertices. Bits 0 to 2: component fixed or moved; bit 3: no mass; bit 4: fixed only because there
/// is no mass; bit 5: `weightless`.
struct System::Mask {
  DeviceArray<std::uint8_t> fixed;
  std::vector<char> clamped;  // masks of VertexConstraints::clamped, [owned vertices]; empty if no vertex is clamped
  bool changed = true;        // true if masks changed since the last `update_constraints`; equal on all ranks
};

namespace {

/// Zeroes the ghost values.
void clear_copies(Field& field) {
  double* const x = field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::clear_copies", Range(static_cast<int>(field.owned_size()), static_cast<int>(field.size())),
      KOKKOS_LAMBDA(int i) { x[i] = 0.0; });
  Kokkos::fence();
}

constexpr std::uint8_t all_fixed = 7, held = 16, massless = System::massless;

/// Marks the vertices without mass, and fixes each marked vertex whose motion is not prescribed. Sets the masses of
/// marked vertices to 1 kg, so that the forces on these vertices, which have no effect, can be divided by the mass.
void hold_massless(const DeviceArray<std::uint8_t>& fixed, Field& mass) {
  double* const m = mass.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::hold_massless", Range(0, static_cast<int>(mass.size())), KOKKOS_LAMBDA(int i) {
        if (m[i] != 0.0) return;
        m[i] = 1.0;
        fixed(i) |= massless;
        if ((fixed(i) & all_fixed) != all_fixed) fixed(i) |= all_fixed | held;
      });
  Kokkos::fence();
}

/// Copies the first component of each vector to `numbers`. The three components of a vector are equal.
void take_first_components(const Field& vectors, Field& numbers) {
  const double* const from = vectors.data();
  double* const to = numbers.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::masses", Range(0, static_cast<int>(numbers.size())),
      KOKKOS_LAMBDA(int i) { to[i] = from[3 * i]; });
  Kokkos::fence();
}

}  // namespace

System::System(std::shared_ptr<const TetrahedralMesh> mesh)
    : mesh_(std::move(mesh)),
      scratch_(FieldPool::make()),
      mass_("mass", static_cast<std::size_t>(mesh_->num_owned_vertices())),
      mask_(std::make_unique<Mask>()) {
  mask_->fixed = make_zeroed_device_array<std::uint8_t>("diffsim::dynamics::fixed",
                                                        static_cast<std::size_t>(mesh_->num_owned_vertices()));
  if (!mesh_->is_director().empty()) {
    const auto bits = host_view(mask_->fixed);
    for (std::size_t v = 0; v < bits.size(); ++v)
      if (mesh_->is_director()[v] != 0) bits(v) |= weightless;
    Kokkos::deep_copy(mask_->fixed, bits);
  }
  parameters_.add(DynamicsParameters::gravity, Entities::one_for_all(comm())).field.from_host({0.0, -9.8, 0.0});
  parameters_.add(DynamicsParameters::rest_positions, mesh_->vertex_entities())
      .field.from_host(mesh_->rest_positions());
}

System::~System() = default;

void System::add_inertia(std::unique_ptr<Inertia> inertia) {
  inertias_.push_back(std::move(inertia));
  ++changes_;
}

void System::add_impact(std::unique_ptr<Impact> impact) {
  impacts_.push_back(std::move(impact));
  ++changes_;
}

void System::add_term(std::unique_ptr<ForceTerm> term) {
  terms_.push_back(std::move(term));
  mask_->changed = true;  // the next `prepare` passes the constraints to the term
  ++changes_;
}

void System::add_term(std::unique_ptr<ForceTerm> term, MakeTerms make_parts) {
  splits_.push_back({terms_.size(), std::move(make_parts), {}, nullptr});
  add_term(std::move(term));
}

bool System::others_have_energy() const {
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const bool has_parts = std::any_of(splits_.begin(), splits_.end(), [&](const Split& s) { return s.place == i; });
    if (!has_parts && !terms_[i]->has_energy()) return false;
  }
  return true;
}

void System::split(bool wanted) {
  if (wanted == is_split_) return;
  is_split_ = wanted;
  // The parts of terms that are split are appended to the other terms, in the order of `splits_`.
  for (Split& split : splits_) {
    if (!wanted) continue;
    if (split.parts.empty()) split.parts = split.make();
    for (const auto& part : split.parts) part->prepare(parameters_);
    split.whole = std::move(terms_[split.place]);
  }
  if (wanted) {
    std::erase(terms_, nullptr);
    for (Split& split : splits_)
      for (auto& part : split.parts) terms_.push_back(std::move(part));
    return;
  }
  std::size_t next = terms_.size();
  for (const Split& split : splits_) next -= split.parts.size();
  const std::size_t first = next;
  for (Split& split : splits_)
    for (auto& part : split.parts) part = std::move(terms_[next++]);
  terms_.resize(first);
  for (Split& split : splits_)
    terms_.insert(terms_.begin() + static_cast<std::ptrdiff_t>(split.place), std::move(split.whole));
}

std::vector<int> System::directors_between(const std::vector<int>& vertices) const {
  const LowerCellSet& segments = mesh_->lower_cells(CellKind::segment);
  if (segments.directors.empty()) return {};
  std::vector<char> is_given(static_cast<std::size_t>(mesh_->num_vertices()), 0);
  for (const int v : vertices) is_given[static_cast<std::size_t>(v)] = 1;
  std::vector<int> directors;
  for (std::size_t s = 0; s < segments.directors.size(); ++s)
    if (segments.directors[s] >= 0 && is_given[static_cast<std::size_t>(segments.vertices[2 * s])] != 0 &&
        is_given[static_cast<std::size_t>(segments.vertices[2 * s + 1])] != 0)
      directors.push_back(segments.directors[s]);
  return directors;
}

void System::fix(const std::vector<int>& vertices, std::array<bool, 3> axes) {
  fix_components(vertices, axes);
  if (axes == std::array{true, true, true}) fix_components(directors_between(vertices), axes);
}

void System::fix_components(const std::vector<int>& vertices, std::array<bool, 3> axes) {
  const auto host = host_view(mask_->fixed);
  for (const int v : vertices) {
    if (v >= mesh_->num_owned_vertices()) continue;
    for (std::size_t c = 0; c < 3; ++c)
      if (axes[c]) host(static_cast<std::size_t>(v)) |= static_cast<std::uint8_t>(1u << c);
    host(static_cast<std::size_t>(v)) &= static_cast<std::uint8_t>(~held);
  }
  Kokkos::deep_copy(mask_->fixed, host);
  mask_->changed = true;
  ++changes_;
}

void System::clamp(const std::vector<int>& vertices, std::array<bool, 3> axes) {
  fix(vertices, axes);
  char mark = VertexConstraints::in_wall;
  for (std::size_t c = 0; c < 3; ++c)
    if (axes == std::array{c == 0, c == 1, c == 2}) mark = static_cast<char>(1u << c);
  const auto owned = static_cast<std::size_t>(mesh_->num_owned_vertices());
  mask_->clamped.resize(owned, 0);
  for (const int v : vertices)
    if (static_cast<std::size_t>(v) < owned) mask_->clamped[static_cast<std::size_t>(v)] |= mark;
  mask_->changed = true;
  if (mark == VertexConstraints::in_wall) return;
  // A rod in a plane of symmetry does not twist: its directors remain in the plane, or normal to the plane.
  const std::size_t axis = axes[0] ? 0 : axes[1] ? 1 : 2;
  for (const int v : directors_between(vertices)) {
    const double* const D = &mesh_->rest_positions()[3 * static_cast<std::size_t>(v)];
    const bool is_across = std::abs(D[axis]) > 0.5 * std::hypot(D[0], D[1], D[2]);
    fix_components({v}, is_across ? std::array{true, true, true} : axes);
  }
}

/// Passes the fixed, moved and clamped local vertices, including ghosts, to all terms. Collective.
void System::update_constraints() {
  Field flags = local_field("held");
  std::vector<double> values(flags.size(), 0.0);
  const auto fixed = host_view(mask_->fixed);
  for (std::size_t v = 0; v < fixed.size(); ++v) {
    values[3 * v] = (fixed(v) & all_fixed) == all_fixed && (fixed(v) & held) == 0 ? 1.0 : 0.0;
    if (!mask_->clamped.empty()) values[3 * v + 1] = mask_->clamped[v];
  }
  flags.from_host(values);
  mesh_->vertex_exchange().copy_to_ghosts(flags);
  values = flags.to_host();
  VertexConstraints vertices;
  for (std::size_t i = 0; i < values.size(); i += 3) {
    vertices.positions.push_back(values[i] > 0.0 ? 1 : 0);
    vertices.clamped.push_back(static_cast<char>(values[i + 1]));
  }
  for (const auto& term : terms_) term->set_constraints(vertices);
}

void System::add_rigid_bodies(const std::vector<int>& cells) {
  require_no_constraints("add_rigid_bodies");
  has_rigid_bodies_ = true;
  rigid_cells_.insert(rigid_cells_.end(), cells.begin(), cells.end());
}

void System::join(Joint joint) {
  require_no_constraints("join");
  if (std::any_of(joints_.begin(), joints_.end(), [&](const Joint& other) { return other.name == joint.name; }))
    throw Error("there is already a joint '" + joint.name + "'; give each joint a name of its own", ErrorKind::input);
  if (joint.armature != 0.0) {
    std::unique_ptr<Inertia> inertia = body::make_rotor_inertia(*mesh_, joint);
    const ParameterSpec spec = JointParameters::of_kind(JointParameters::armature, joint.kind);
    parameters_.add(spec, Entities::one_for_all(comm()), 1, joint.name).field.fill(joint.armature);
    add_inertia(std::move(inertia));
  }
  const auto add = [&](const ParameterSpec& spec, const std::array<double, 3>& values) {
    parameters_.add(spec, Entities::one_for_all(comm()), 1, joint.name).field.from_host({values.begin(), values.end()});
  };
  if (joint.kind != JointKind::fixed) add(JointParameters::point, joint.point);
  if (joint.kind != JointKind::fixed && joint.kind != JointKind::spherical) add(JointParameters::axis, joint.axis);
  if (!joint.follows.empty())
    parameters_.add(JointParameters::ratio, Entities::one_for_all(comm()), 1, joint.name).field.fill(joint.ratio);
  has_rigid_bodies_ = true;
  joints_.push_back(std::move(joint));
  body::set_units_of_ratios(joints_, parameters_);
}

std::vector<Joint> System::joints() const {
  std::vector<Joint> joints = joints_;
  for (Joint& joint : joints) joint.ratio = body::read_ratio(parameters_, joint, joint.ratio);
  return joints;
}

void System::require_no_constraints(const char* function) const {
  if (constraints_ || (is_prepared_ && !has_rigid_bodies_))
    throw Error(
        std::string(function) +
            ": the system is already prepared; add rigid bodies and joints before contact with adaptive stiffness "
            "and before the first step",
        ErrorKind::input);
}

void System::make_rigid() {
  if (!constraints_) constraints_ = std::make_unique<body::ConstraintSet>(*mesh_, rigid_cells_, joints_);
  const auto fixed = host_view(mask_->fixed);
  collectively(comm(), [&] {
    for (const int v : constraints_->vertices())
      if ((fixed(static_cast<std::size_t>(v)) & all_fixed) != 0)
        throw Error("vertex " +
                        vertex_name(mesh_->bodies(), mesh_->vertex_order().file_index()[static_cast<std::size_t>(v)]) +
                        " of a rigid body is fixed or moved; connect the body with the world by a joint instead, or "
                        "make the body an obstacle",
                    ErrorKind::input);
  });
}

void System::add_kinematics(std::unique_ptr<Kinematics> motion, const std::vector<int>& vertices) {
  const auto host = host_view(mask_->fixed);
  const auto is_taken = [](std::uint8_t bits) { return (bits & all_fixed) != 0 && (bits & held) == 0; };
  collectively(comm(), [&] {
    for (const int v : vertices)
      if (v < mesh_->num_owned_vertices() && is_taken(host(static_cast<std::size_t>(v))))
        throw Error("vertex " +
                        vertex_name(mesh_->bodies(), mesh_->vertex_order().file_index()[static_cast<std::size_t>(v)]) +
                        " is already fixed or moved; each vertex can have only one prescribed motion",
                    ErrorKind::input);
  });
  motions_.push_back(std::move(motion));
  fix(vertices, {true, true, true});
}

void System::move(const std::string& name, const std::vector<int>& vertices, std::array<double, 3> axis,
                  std::array<double, 3> origin, const std::vector<double>& angular_velocity,
                  const std::vector<double>& velocity) {
  const auto steps_of = [](const std::vector<double>& values, std::size_t a_step) {
    if (values.empty() || values.size() % a_step != 0)
      throw Error("a motion's rates need " + std::to_string(a_step) + " values, or as many values per step",
                  ErrorKind::input);
    return static_cast<int>(values.size() / a_step);
  };
  const int angular_steps = steps_of(angular_velocity, 1), steps = steps_of(velocity, 3);
  const auto owned_of = [&](std::vector<int> of) {
    std::erase_if(of, [&](int v) { return v >= mesh_->num_owned_vertices(); });
    return of;
  };
  add_kinematics(std::make_unique<dynamics::RigidMotion>(name, axis, origin, comm(), owned_of(vertices),
                                                         owned_of(directors_between(vertices))),
                 vertices);
  const auto one = Entities::one_for_all(comm());
  parameters_.add(DynamicsParameters::angular_velocity, one, angular_steps, name).field.from_host(angular_velocity);
  parameters_.add(DynamicsParameters::velocity, one, steps, name).field.from_host(velocity);
}

void System::apply_motions(const MotionSpan& span, const State& start, const Field& x, Field& y, Field& v) const {
  for (const auto& motion : motions_) motion->apply(parameters_, span, start, x, y, v);
}

void System::apply_motions_tangent(const ParameterSet& direction, const MotionSpan& span, const State& start,
                                   const State& start_tangent, const Field& x, const Field& dx, Field& dy,
                                   Field& dv) const {
  for (const auto& motion : motions_)
    motion->apply_tangent(parameters_, direction, span, start, start_tangent, x, dx, dy, dv);
}

void System::apply_motions_adjoint(const MotionSpan& span, const State& start, const Field& x, Field& y_bar,
                                   Field& v_bar, State& start_adjoint, ParameterSet& gradient) const {
  for (const auto& motion : motions_)
    motion->apply_adjoint(parameters_, span, start, x, y_bar, v_bar, start_adjoint, gradient);
}

void System::advance_motions(int n, double dt, State& state) const {
  for (const auto& motion : motions_) motion->advance(parameters_, n, dt, state);
}

void System::advance_motions_tangent(const ParameterSet& direction, int n, double dt, State& tangent) const {
  for (const auto& motion : motions_) motion->advance_tangent(parameters_, direction, n, dt, tangent);
}

void System::advance_motions_adjoint(int n, double dt, State& adjoint, ParameterSet& gradient) const {
  if (motions_.empty()) return;
  // Adjoints of later steps are equal on all ranks. Below, each rank adds its own contribution, and
  // `sum_motion_adjoints` sums over the ranks. Therefore all ranks except the first start from zero.
  if (!is_first_rank(comm()))
    for (Field& field : adjoint.fields())
      if (field.on().is_one_for_all()) field.fill(0.0);
  for (const auto& motion : motions_) motion->advance_adjoint(parameters_, n, dt, adjoint, gradient);
}

void System::sum_motion_adjoints(State& adjoint) const {
  if (motions_.empty()) return;
  for (Field& field : adjoint.fields()) {
    if (!field.on().is_one_for_all()) continue;
    std::vector<double> sums = field.to_host();
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm()));
    field.from_host(sums);
  }
}

const std::uint8_t* System::fixed() const { return mask_->fixed.data(); }

Field System::local_field(const char* name) const { return {name, mesh_->vertex_entities(), 3}; }
Field System::scratch_field(const char* name) const { return scratch_->take(name, mesh_->vertex_entities(), 3); }

State System::make_state(const std::vector<std::string>& rates) const {
  State state;
  state.add(local_field("positions"));
  state.add(Field("velocities", mesh_->owned_vertex_entities(), 3));
  for (const std::string& name : rates)
    if (!state.has(name)) state.add(Field(name, mesh_->owned_vertex_entities(), 3));
  for (const auto& motion : motions_) motion->add_state(state);
  return state;
}

bool System::any_term_uses_velocities() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->uses_velocities(); });
}

bool System::any_term_lags() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->lags(); });
}

std::vector<double> System::vertex_masses() const {
  std::vector<double> masses = mass_.to_host();
  const auto masks = host_view(mask_->fixed);
  for (std::size_t v = 0; v < masses.size(); ++v)
    if ((masks(v) & massless) != 0) masses[v] = 0.0;
  return masses;
}

bool System::changes_mass(const ParameterSet& set) const {
  return std::any_of(inertias_.begin(), inertias_.end(), [&](const auto& inertia) { return inertia->depends_on(set); });
}

void System::sum_masses(Field& sums, Field& owned) const {
  mesh_->vertex_exchange().add_to_owners(sums);
  if (owned.size() != mass_.size()) owned = mass_.like("mass_tangent");
  take_first_components(sums, owned);
}

Field System::on_local_vertices(const Field& owned) const {
  Field w = local_field("mass_adjoint");
  dynamics::copy_values(static_cast<int>(owned.size()), owned, w);
  mesh_->vertex_exchange().copy_to_ghosts(w);
  return w;
}

std::uint64_t System::revision() const {
  return (parameters_.revision() ^ changes_) * 1099511628211u;  // a further step of FNV-1a
}

bool System::changed_since(std::uint64_t earlier) const {
  int changed = revision() != earlier;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, mesh_->comm()));
  return changed != 0;
}

void System::prepare_if_changed() {
  if (changed_since(prepared_)) prepare();
}

void System::prepare() {
  is_prepared_ = true;
  prepared_ = 0;  // an Error below leaves the system unprepared
  if (mask_->changed && has_rigid_bodies_) make_rigid();
  if (constraints_) constraints_->set_values(parameters_);
  if (mask_->changed) update_constraints();
  mask_->changed = false;
  Field sums = local_field("mass");
  for (const auto& inertia : inertias_) inertia->add_mass(parameters_, sums);
  sum_masses(sums, mass_);
  hold_massless(mask_->fixed, mass_);
  for (const auto& term : terms_) term->prepare(parameters_);
  for (const auto& impact : impacts_) impact->prepare(parameters_);
  prepared_ = revision();
}

void System::require_constant_shape(const ParameterSet& set) const {
  if (constraints_ && set.find("rest_positions"))
    throw Error("no derivative with respect to 'rest_positions' in scenes with rigid bodies; remove this parameter",
                ErrorKind::input);
}

void System::prepare_tangent(const ParameterSet& direction) {
  require_constant_shape(direction);
  if (constraints_) constraints_->set_direction(direction);
  if (changes_mass(direction)) {
    Field sums = local_field("mass_tangent");
    for (const auto& inertia : inertias_) inertia->add_mass_tangent(parameters_, direction, sums);
    sum_masses(sums, mass_tangent_);
  }
  for (const auto& term : terms_) term->prepare_tangent(parameters_, direction);
}

void System::begin_adjoint(const ParameterSet& gradient) {
  require_constant_shape(gradient);
  if (constraints_) constraints_->placed_joints().begin_gradient(gradient);
  for (const auto& term : terms_) term->begin_adjoint(gradient);
  if (changes_mass(gradient)) mass_gradient_ = Field("mass_gradient", mesh_->owned_vertex_entities(), 3);
}

void System::prepare_adjoint(ParameterSet& gradient) {
  if (constraints_) constraints_->placed_joints().move_to(gradient);
  for (const auto& term : terms_) {
    term->prepare_adjoint(parameters_, gradient);
    if (diagnosis_) diagnosis_->look("the term '" + term->name() + "'", gradient);
  }
  if (changes_mass(gradient)) {
    const Field mass_adjoint = on_local_vertices(mass_gradient_);
    for (const auto& inertia : inertias_) inertia->add_mass_adjoint(parameters_, mass_adjoint, gradient);
  }
  // Contributions at ghost vertices are added to their owners and zeroed, so that the next call does not add these
  // contributions again.
  Parameter* const rest = gradient.find("rest_positions");
  if (!rest) return;
  mesh_->vertex_exchange().add_to_owners(rest->field);
  clear_copies(rest->field);
}

void System::begin_terms_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (gradient.find("rest_positions") || direction.find("rest_positions"))
    throw Error("no second derivative with respect to 'rest_positions'; use an optimiser that needs gradients only",
                ErrorKind::input);
  if (constraints_) constraints_->set_direction(direction);
  for (const auto& term : terms_) term->begin_adjoint_tangent(gradient, direction);
}

void System::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  for (const ParameterSet* set : {&gradient, &direction})
    for (const Parameter& parameter : *set)
      if (!parameter.spec.has_second_derivative)
        throw Error("no second derivative with respect to '" + parameter.name() +
                        "'; use an optimiser that needs gradients only",
                    ErrorKind::input);
  begin_terms_adjoint_tangent(gradient, direction);
  if (changes_mass(gradient)) mass_gradient_tangent_ = mass_gradient_.like("mass_gradient_tangent");
}

void System::prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent) {
  if (constraints_) constraints_->placed_joints().move_tangent_to(gradient_tangent);
  for (const auto& term : terms_) term->prepare_adjoint_tangent(parameters_, direction, gradient_tangent);
  if (!changes_mass(gradient_tangent)) return;
  const Field mass_adjoint = on_local_vertices(mass_gradient_), tangent = on_local_vertices(mass_gradient_tangent_);
  for (const auto& inertia : inertias_)
    inertia->add_mass_adjoint_tangent(parameters_, direction, mass_adjoint, tangent, gradient_tangent);
}

void System::compute_force(const Configuration& at, Field& force) {
  force.fill(0.0);
  if (mesh_->vertex_exchange().is_alone()) {
    for (const auto& term : terms_) term->add_force(at, parameters_, force);
    return;
  }
  for (const auto& term : terms_) term->add_force_of(CellPart::shared, at, parameters_, force);
  mesh_->vertex_exchange().begin_add_to_owners(force);
  for (const auto& term : terms_) term->add_force_of(CellPart::inner, at, parameters_, force);
  mesh_->vertex_exchange().end_add_to_owners(force);
}

void System::compute_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                   const ParameterSet& direction, Field& force_tangent) {
  force_tangent.fill(0.0);
  for (const auto& term : terms_) term->add_force_tangent(at, tangent, direction, force_tangent);
  mesh_->vertex_exchange().add_to_owners(force_tangent);
}

void System::compute_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                   ParameterSet& gradient) {
  adjoint.positions.fill(0.0);
  if (adjoint.velocities) adjoint.velocities->fill(0.0);
  if (adjoint.start_positions) adjoint.start_positions->fill(0.0);
  if (diagnosis_) return diagnose_force_adjoint(at, w, adjoint, gradient);
  if (mesh_->vertex_exchange().is_alone()) {
    for (const auto& term : terms_) term->add_force_adjoint(at, w, adjoint, gradient);
    return;
  }
  for (const auto& term : terms_) term->add_force_adjoint_of(CellPart::shared, at, w, adjoint, gradient);
  mesh_->vertex_exchange().begin_add_to_owners(adjoint.positions);
  for (const auto& term : terms_) term->add_force_adjoint_of(CellPart::inner, at, w, adjoint, gradient);
  mesh_->vertex_exchange().end_add_to_owners(adjoint.positions);
  if (adjoint.velocities) mesh_->vertex_exchange().add_to_owners(*adjoint.velocities);
  if (adjoint.start_positions) mesh_->vertex_exchange().add_to_owners(*adjoint.start_positions);
}

void System::diagnose_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                    ParameterSet& gradient) {
  diagnosis_->look("the adjoint of the forces", w);
  diagnosis_->look("the loss, the masses or the motions", gradient);
  for (const auto& term : terms_) {
    term->add_force_adjoint(at, w, adjoint, gradient);
    const std::string where = "the term '" + term->name() + "'";
    for (const Field* field : {&adjoint.positions, adjoint.velocities, adjoint.start_positions})
      if (field) diagnosis_->look(where, *field);
    diagnosis_->look(where, gradient);
  }
  for (Field* field : {&adjoint.positions, adjoint.velocities, adjoint.start_positions})
    if (field) mesh_->vertex_exchange().add_to_owners(*field);
}

void System::set_diagnosis(bool on) { diagnosis_ = on ? std::make_unique<dynamics::Diagnosis>(*mesh_) : nullptr; }

NotFinite System::diagnosis() const { return diagnosis_ ? diagnosis_->finding() : NotFinite{}; }

void System::compute_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                           const ParameterSet& direction, const Field* w, const Field* dw,
                                           const ConfigurationAdjoint& adjoint_tangent,
                                           ParameterSet& gradient_tangent) {
  adjoint_tangent.positions.fill(0.0);
  if (adjoint_tangent.velocities) adjoint_tangent.velocities->fill(0.0);
  if (adjoint_tangent.start_positions) adjoint_tangent.start_positions->fill(0.0);
  for (const auto& term : terms_)
    term->add_force_adjoint_tangent(at, tangent, direction, w, dw, adjoint_tangent, gradient_tangent);
  mesh_->vertex_exchange().add_to_owners(adjoint_tangent.positions);
  if (adjoint_tangent.velocities) mesh_->vertex_exchange().add_to_owners(*adjoint_tangent.velocities);
  if (adjoint_tangent.start_positions) mesh_->vertex_exchange().add_to_owners(*adjoint_tangent.start_positions);
}

}  // namespace diffsim
