// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/symplectic_euler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/dynamics/parameters.hpp"
#include "dynamics/symplectic_parts.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

/// Of components `begin` to `end`.
void update_state(const Update& update, int begin, int end, const Field& force, Field& velocities, Field& positions,
                  std::int32_t* invalid_vertex) {
  const double* const f = force.data();
  double* const v = velocities.data();
  double* const x = positions.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::update", Range(begin, end), KOKKOS_LAMBDA(int i) {
        const double new_v = update.mask(i) * *update.damping * update.undamped(i, v[i], f[i]);
        const double new_x = x[i] + update.h * new_v;
        v[i] = new_v;
        x[i] = new_x;
        if (!(new_x - new_x == 0.0)) Kokkos::atomic_fetch_min(invalid_vertex, i / 3);
      });
}

/// Optional arrays are nullptr where their direction is zero.
struct UpdateDirection {
  const double* df;
  const double* f;         // needed for dm and dd
  const double* v;         // needed for dd
  const double* dmass;     // [owned vertices]
  const double* dgravity;  // [3]
  const double* ddamping;  // [1]
};

void update_tangent(const Update& update, const UpdateDirection& d, Field& velocities, Field& positions) {
  double* const dv = velocities.data();
  double* const dx = positions.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::update_tangent", Range(0, static_cast<int>(velocities.size())), KOKKOS_LAMBDA(int i) {
        const double m = update.mass[i / 3];
        double da = d.df[i] / m;
        if (d.dmass) da -= d.f[i] / m * (d.dmass[i / 3] / m);
        if (d.dgravity) da += d.dgravity[i % 3];
        double new_dv = *update.damping * (dv[i] + update.h * da);
        if (d.ddamping) new_dv += *d.ddamping * update.undamped(i, d.v[i], d.f[i]);
        dv[i] = update.mask(i) * new_dv;
        dx[i] += update.h * dv[i];
      });
}

/// f̄ = h d m M⁻¹ (v̄ + h x̄), and v̄ ← d m (v̄ + h x̄).
void update_adjoint(const Update& update, const Field& position_adjoint, Field& velocity_adjoint,
                    Field& force_adjoint) {
  const double* const x_bar = position_adjoint.data();
  double* const v_bar = velocity_adjoint.data();
  double* const f_bar = force_adjoint.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::update_adjoint", Range(0, static_cast<int>(velocity_adjoint.size())), KOKKOS_LAMBDA(int i) {
        const double u_bar = *update.damping * update.mask(i) * (v_bar[i] + update.h * x_bar[i]);
        v_bar[i] = u_bar;
        f_bar[i] = update.h * u_bar / update.mass[i / 3];
      });
}

/// Σ_i m (v̄ + h x̄) u: the derivative by damping, before `update_adjoint` changes v̄.
double damping_gradient(const Update& update, const Field& position_adjoint, const Field& velocity_adjoint,
                        const Field& velocities, const Field& force) {
  const double* const x_bar = position_adjoint.data();
  const double* const v_bar = velocity_adjoint.data();
  const double* const v = velocities.data();
  const double* const f = force.data();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::damping_gradient", Range(0, static_cast<int>(velocities.size())),
      KOKKOS_LAMBDA(int i, double& s) {
        s += update.mask(i) * (v_bar[i] + update.h * x_bar[i]) * update.undamped(i, v[i], f[i]);
      },
      sum);
  return sum;
}

/// m̄ -= f̄ f / m, the derivative of f/m by the mass, with f̄ the adjoint of the force.
void add_mass_gradient(const Update& update, const Field& force_adjoint, const Field& force, Field& mass_gradient) {
  const double* const f_bar = force_adjoint.data();
  const double* const f = force.data();
  double* const m_bar = mass_gradient.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::mass_gradient", Range(0, static_cast<int>(mass_gradient.size())),
      KOKKOS_LAMBDA(int i) { m_bar[i] -= f_bar[i] * f[i] / update.mass[i / 3]; });
}

}  // namespace

SymplecticEuler::SymplecticEuler(std::shared_ptr<const TetrahedralMesh> mesh, double dt, int substeps)
    : MeshModel(std::move(mesh), dt), substeps_(substeps) {
  if (substeps_ < 1)
    throw Error("substeps is " + std::to_string(substeps_) + "; it must be at least 1", ErrorKind::input);
  work_ = std::make_unique<Workspace>(this->mesh(), substeps_);
  parameters().add(DynamicsParameters::damping, Entities::one_for_all(comm()));
}

SymplecticEuler::~SymplecticEuler() = default;

void SymplecticEuler::prepare_tangent(const ParameterSet& direction) {
  MeshModel::prepare_tangent(direction);
  records_velocities_ = direction.find("damping") != nullptr || any_term_uses_velocities();
}

void SymplecticEuler::begin_adjoint(const ParameterSet& gradient) {
  MeshModel::begin_adjoint(gradient);
  records_velocities_ = gradient.find("damping") != nullptr || any_term_uses_velocities();
}

void SymplecticEuler::prepare() {
  MeshModel::prepare();
  if (reversible_) require_reversible();
}

void SymplecticEuler::set_reversible(bool wanted) {
  reversible_ = wanted;
  if (!wanted) return;
  require_reversible();
  double extent = 0.0;
  for (const double x : mesh().rest_positions()) extent = std::max(extent, std::abs(x));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &extent, 1, MPI_DOUBLE, MPI_MAX, comm()));
  work_->grid = dynamics::ReversibleGrid::of(extent, dt() / substeps_);
}

void SymplecticEuler::require_reversible() const {
  std::string reason;
  for (const auto& term : terms()) {
    if (term->limits_steps()) reason = "contact ('" + term->name() + "')";
    if (term->uses_velocities()) reason = "forces that depend on velocities ('" + term->name() + "')";
  }
  if (has_motions()) reason = "prescribed motions";
  for (const double d : parameters().at("damping").field.to_host())
    if (d != 1.0) {
      char text[80];
      std::snprintf(text, sizeof(text), "damping (%g; 1 is none)", d);
      reason = text;
    }
  if (reason.empty()) return;
  throw Error("steps with " + reason +
                  " cannot be undone bit for bit; leave that out, or use another checkpoint schedule than reversible",
              ErrorKind::input);
}

std::unique_ptr<Record> SymplecticEuler::make_record() const {
  return std::make_unique<EulerRecord>(make_state(), substeps_, records_velocities_);
}

std::size_t SymplecticEuler::record_bytes() const {
  const auto x = 24 * static_cast<std::size_t>(mesh().num_vertices());
  const auto v = 24 * static_cast<std::size_t>(mesh().num_owned_vertices());
  const auto substeps = static_cast<std::size_t>(substeps_);
  return substeps * x + (records_velocities_ ? substeps : 1) * v;
}

void SymplecticEuler::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::dynamics::step");
  const Update update = work_->update(*this, n);
  Field& positions = state["positions"];
  Field& velocities = state["velocities"];
  const bool limited =
      std::any_of(terms().begin(), terms().end(), [](const auto& term) { return term->limits_steps(); });
  if (reversible_) dynamics::put_on_grid(update, work_->grid, velocities, positions);
  // What other ranks wait for comes first, and the rest while it travels, where nothing is done to all after that.
  const int all = static_cast<int>(velocities.size());
  const int first = reversible_ || has_motions() ? all : 3 * mesh().shared_vertices_end();
  for (int s = 0; s < substeps_; ++s) {
    if (record) static_cast<EulerRecord*>(record)->save(s, state);
    const Field* const v = work_->complete(*this, velocities, work_->velocities);
    const double time = time_of(n, s);
    compute_force({positions, n, work_->invalid_cell.data() + s, v, time}, work_->force);
    if (limited) work_->local(work_->start, "start").copy_from(positions);
    if (reversible_)
      dynamics::update_on_grid(update, work_->grid, work_->force, velocities, positions,
                               work_->invalid_vertex.data() + s, work_->far_vertex.data());
    else
      update_state(update, 0, first, work_->force, velocities, positions, work_->invalid_vertex.data() + s);
    Kokkos::fence();
    apply_motions(n, s * update.h, update.h, positions, positions, velocities);
    mesh().vertex_exchange().begin_copy_to_ghosts(positions);
    update_state(update, first, all, work_->force, velocities, positions, work_->invalid_vertex.data() + s);
    Kokkos::fence();
    mesh().vertex_exchange().end_copy_to_ghosts(positions);
    if (limited)
      require_free({work_->start, n, nullptr, nullptr, time}, {positions, n, nullptr, nullptr, time_of(n, s + 1)}, s);
  }
  // Contact promises that a step that is done has no inverted cell; else the next force finds it.
  if (limited)
    for (const auto& term : terms())
      if (!term->limits_steps() && !term->uses_velocities())
        term->add_force({positions, n, work_->invalid_cell.data() + substeps_, nullptr, time_of(n, substeps_)},
                        parameters(), work_->force);
  require_valid(n);
  if (reversible_) require_on_grid(n);
}

void SymplecticEuler::step_back(int n, State& state, Record& record) {
  const ProfilingRegion region("diffsim::dynamics::step_back");
  if (!reversible_) Model::step_back(n, state, record);
  const Update update = work_->update(*this, n);
  Field& positions = state["positions"];
  Field& velocities = state["velocities"];
  for (int s = substeps_ - 1; s >= 0; --s) {
    dynamics::take_back_positions(update, work_->grid, velocities, positions);
    Kokkos::fence();
    mesh().vertex_exchange().copy_to_ghosts(positions);
    // As on the way forward, where cells are looked after: another way through a kernel may round otherwise.
    compute_force({positions, n, work_->invalid_cell.data() + s, nullptr, time_of(n, s)}, work_->force);
    dynamics::take_back_velocities(update, work_->grid, work_->force, velocities);
    Kokkos::fence();
    static_cast<EulerRecord&>(record).save(s, state);
  }
}

void SymplecticEuler::step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) {
  mesh().vertex_exchange().copy_to_ghosts(tangent["positions"]);
  for (int s = 0; s < substeps_; ++s) substep_tangent(n, s, record, direction, tangent);
}

void SymplecticEuler::substep_tangent(int n, int s, const Record& record, const ParameterSet& direction,
                                      State& tangent) {
  const auto& recorded = static_cast<const EulerRecord&>(record);
  const Update update = work_->update(*this, n);
  const bool mass_changes = changes_mass(direction);
  const Parameter* const damping = direction.find("damping");
  const Parameter* const gravity = direction.find("gravity");
  Field& dx = tangent["positions"];
  Field& dv = tangent["velocities"];
  Field& df = work_->local(work_->force_derivative, "force_tangent");
  const Field* const v = records_velocities_ ? &recorded.velocities(s) : nullptr;
  const Configuration at{recorded.positions(s), n, nullptr, v ? work_->complete(*this, *v, work_->velocities) : nullptr,
                         time_of(n, s)};
  if (mass_changes || damping) compute_force(at, work_->force);
  compute_force_tangent(at, {dx, work_->complete(*this, dv, work_->velocity_derivative)}, direction, df);
  update_tangent(update,
                 {df.data(), work_->force.data(), damping ? v->data() : nullptr,
                  mass_changes ? lumped_mass().mass_tangent().data() : nullptr,
                  gravity ? gravity->field.data() + 3 * gravity->offset(n) : nullptr,
                  damping ? damping->field.data() + damping->offset(n) : nullptr},
                 dv, dx);
  Kokkos::fence();
  apply_motions_tangent(n, s * update.h, update.h, recorded.positions(s), direction, dx, dx, dv);
  mesh().vertex_exchange().copy_to_ghosts(dx);
}

void SymplecticEuler::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  const ProfilingRegion region("diffsim::dynamics::step_adjoint");
  const auto& recorded = static_cast<const EulerRecord&>(record);
  const Update update = work_->update(*this, n);
  const bool mass_changes = changes_mass(gradient);
  Parameter* const damping = gradient.find("damping");
  Parameter* const gravity = gradient.find("gravity");
  Field& x_bar = adjoint["positions"];
  Field& v_bar = adjoint["velocities"];
  Field& f_bar = work_->local(work_->force_derivative, "force_adjoint");
  Field& gained = work_->force;  // which is done with when this is
  Field* const gained_v =
      any_term_uses_velocities() ? &work_->local(work_->velocity_derivative, "velocity_adjoint") : nullptr;
  double damping_sum = 0.0;
  std::vector<double> gravity_sum(3, 0.0);
  for (int s = substeps_ - 1; s >= 0; --s) {
    apply_motions_adjoint(n, s * update.h, update.h, recorded.positions(s), x_bar, v_bar, gradient);
    const Field* const v = records_velocities_ ? &recorded.velocities(s) : nullptr;
    const Configuration at{recorded.positions(s), n, nullptr,
                           v ? work_->complete(*this, *v, work_->velocities) : nullptr, time_of(n, s)};
    if (mass_changes || damping) compute_force(at, work_->force);
    if (damping) damping_sum += damping_gradient(update, x_bar, v_bar, *v, work_->force);
    update_adjoint(update, x_bar, v_bar, f_bar);
    if (gravity) {
      // ḡ = Σ h ū, and v̄ is ū now.
      const std::vector<double> sum = local_sum(v_bar);
      for (std::size_t c = 0; c < 3; ++c) gravity_sum[c] += update.h * sum[c];
    }
    if (mass_changes) add_mass_gradient(update, f_bar, work_->force, mass_gradient());
    Kokkos::fence();
    mesh().vertex_exchange().copy_to_ghosts(f_bar);
    compute_force_adjoint(at, f_bar, {gained, gained_v}, gradient);
    axpy(1.0, gained, x_bar);
    if (gained_v) dynamics::add_scaled(static_cast<int>(v_bar.size()), 1.0, *gained_v, v_bar);
  }
  if (damping) add_to_entries(damping->field, damping->offset(n), {damping_sum});
  if (gravity) add_to_entries(gravity->field, 3 * gravity->offset(n), gravity_sum);
}

void SymplecticEuler::require_free(const Configuration& from, const Configuration& to, int s) {
  double step = 1.0;
  std::string what;
  for (const auto& term : terms()) {
    const double limit = term->limits_steps() ? term->max_step(from, to, parameters()) : 1.0;
    if (limit >= step) continue;
    step = limit;
    what = term->limiting();
  }
  double least = step;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm()));
  if (least >= 1.0) return;
  require_valid(from.step);  // what is unstable is so first of all
  const double stable = stable_substep();
  const bool is_unstable = dt() / substeps_ > stable;
  collectively(comm(), [&] {
    if (step > least) return;
    if (from.step == 0 && s == 0 && step == 0.0)
      throw Error("the body touches or intersects at the start: " + what + "; move them apart", ErrorKind::input);
    char text[100];
    std::snprintf(text, sizeof(text), "step %d, substep %d: ", from.step, s);
    std::string message = text;
    if (is_unstable) message += exceeds(stable) + ", and so ";
    std::snprintf(text, sizeof(text), "contact would be passed through after %.3g of the substep of %.3g s (", step,
                  dt() / substeps_);
    message += text + what + "); use ";
    throw Error(message + (is_unstable ? stable_choice(stable)
                                       : "a smaller dt or more substeps, or a larger barrier_stiffness or "
                                         "barrier_distance"));
  });
}

void SymplecticEuler::require_on_grid(int n) {
  const auto host = host_view(work_->far_vertex);
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first =
      host(0) == nothing_invalid ? none : mesh().vertex_order().file_index()[static_cast<std::size_t>(host(0))];
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, comm()));
  if (first == none) return;
  Kokkos::deep_copy(work_->far_vertex, nothing_invalid);
  const double most = dynamics::ReversibleGrid::most;
  char text[300];
  std::snprintf(text, sizeof(text),
                "step %d: vertex %lld is beyond what reversible steps can hold, %.3g m and %.3g m/s; use another "
                "checkpoint schedule",
                n, static_cast<long long>(first), most * work_->grid.position, most * work_->grid.velocity);
  throw Error(text, ErrorKind::run);
}

void SymplecticEuler::require_valid(int n) {
  // The first substep with a fault; of its faults, the lowest cell in the file's order, or the lowest vertex.
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t stride = std::int64_t{1} << 40;
  const auto cells = host_view(work_->invalid_cell);
  const auto vertices = host_view(work_->invalid_vertex);
  std::int64_t fault = none;
  for (int s = 0; s <= substeps_ && fault == none; ++s) {
    std::int32_t cell = cells(s);
    if (cell == nothing_invalid && vertices(s) != nothing_invalid) {
      // A vertex at fault is told by a cell that has it.
      const auto found = std::find(mesh().cells().begin(), mesh().cells().end(), vertices(s));
      cell = static_cast<std::int32_t>((found - mesh().cells().begin()) / mesh().nodes_per_cell());
    }
    if (cell != nothing_invalid)
      fault = stride * s +
              mesh().cell_order().file_index()[static_cast<std::size_t>(std::min(cell, mesh().num_cells() - 1))];
  }
  std::int64_t first = fault;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, mesh().comm()));
  if (first == none) return;
  Kokkos::deep_copy(work_->invalid_cell, nothing_invalid);
  Kokkos::deep_copy(work_->invalid_vertex, nothing_invalid);
  const int rank = rank_of(mesh().comm());
  int where = fault == first ? rank : std::numeric_limits<int>::max();
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &where, 1, MPI_INT, MPI_MIN, mesh().comm()));
  const double stable = stable_substep();
  char text[300];
  std::snprintf(text, sizeof(text), "step %d, substep %lld: cell %lld (rank %d) is inverted or not finite; ", n,
                static_cast<long long>(first / stride), static_cast<long long>(first % stride), where);
  if (dt() / substeps_ > stable) throw Error(text + exceeds(stable) + "; use " + stable_choice(stable), ErrorKind::run);
  const std::string message = text;
  std::snprintf(
      text, sizeof(text),
      "the substep, dt/substeps = %.3g s, is below %.3g s, where motions about rest are stable; look at loads, "
      "initial values and contact, or use a smaller dt or more substeps",
      dt() / substeps_, stable);
  throw Error(message + text, ErrorKind::run);
}

std::string SymplecticEuler::exceeds(double stable) const {
  char text[200];
  std::snprintf(text, sizeof(text),
                "the substep, dt/substeps = %.3g s, exceeds %.3g s, below which motions about rest are stable",
                dt() / substeps_, stable);
  return text;
}

std::string SymplecticEuler::stable_choice(double stable) const {
  // Rounded down, so that the advice is stable itself.
  const double digit = std::pow(10.0, std::floor(std::log10(stable * substeps_)) - 2.0);
  char text[100];
  std::snprintf(text, sizeof(text), "dt: %.3g, or substeps: %.0f", std::floor(stable * substeps_ / digit) * digit,
                std::ceil(dt() / stable));
  return text;
}

double SymplecticEuler::largest_rate(void (ForceTerm::*add_bound)(const ParameterSet&, Field&)) {
  Field bound = work_->force.like("bound");
  for (const auto& term : terms()) (term.get()->*add_bound)(parameters(), bound);
  mesh().vertex_exchange().add_to_owners(bound);
  const std::vector<double> b = bound.to_host();
  const std::vector<double> m = mass().to_host();
  double largest = 0.0;
  for (std::size_t v = 0; v < m.size(); ++v)
    for (std::size_t c = 0; c < 3; ++c) largest = std::max(largest, b[3 * v + c] / m[v]);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, mesh().comm()));
  return largest;
}

double SymplecticEuler::stable_substep(double safety) {
  const double stiffness = largest_rate(&ForceTerm::add_stiffness_bound);
  const double damping = largest_rate(&ForceTerm::add_damping_bound);
  if (stiffness == 0.0 && damping == 0.0) return std::numeric_limits<double>::infinity();
  return safety * 4.0 / (damping + std::sqrt(damping * damping + 4.0 * stiffness));
}

}  // namespace diffsim
