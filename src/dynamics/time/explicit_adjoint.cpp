// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Chain rule of explicit steps: the adjoint, and the derivative of the adjoint along a direction (forward over
// reverse). The same templates compute the adjoint, with doubles, and the derivative of the adjoint, with Dual numbers.

#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/add_to_entries.hpp"
#include "core/exchange.hpp"
#include "core/field_pool.hpp"
#include "core/kinematics.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "dynamics/system_model.hpp"
#include "dynamics/time/explicit_parts.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

/// Field and its derivative along a direction. `derivative` is nullptr if no derivative is computed.
using Pair = FieldPairToChange;

template <class T>
Out<T> out(const Pair& pair) {
  if constexpr (std::is_same_v<T, double>)
    return {pair.value->data()};
  else
    return {pair.value->data(), pair.derivative->data()};
}

KOKKOS_INLINE_FUNCTION double derivative_of(const Along& x) { return x.derivative[0]; }

/// Returns Σ_{i < count} f(i) and the derivative of this sum. The derivative is 0 if T has no derivatives.
template <class T, class Function>
std::array<double, 2> sum(const char* label, int count, const Function& f) {
  std::array<double, 2> sums{};
  Kokkos::parallel_reduce(
      label, Range(0, count), KOKKOS_LAMBDA(int i, double& s) { s += value_of(f(i)); }, sums[0]);
  if constexpr (!std::is_same_v<T, double>)
    Kokkos::parallel_reduce(
        label, Range(0, count), KOKKOS_LAMBDA(int i, double& s) { s += derivative_of(f(i)); }, sums[1]);
  return sums;
}

/// Contribution of component i to ∂L/∂(damping):
///
///   m (v̄' + h β' x̄') (v + h Σ b_i A_i),   m: mask of `ExplicitUpdate`
///
/// Must be evaluated before `EndAdjoint`, which overwrites v̄'.
template <class T>
struct DampingShare {
  EndAdjoint<T, 0> reverse;  // rules with damping have one stage
  EndUpdate<T, 0> forward;
  In<T> v;
  KOKKOS_INLINE_FUNCTION T operator()(int i) const { return reverse.masked(i) * forward.undamped(i, v(i)); }
};

/// Contribution of component c of a vertex to ∂L/∂(gravity): m f̄, or 0 at weightless vertices.
template <class T>
struct GravityShare {
  In<T> mass, f_bar;
  const std::uint8_t* fixed;
  std::ptrdiff_t c;  // as wide as the other members, to avoid padding
  KOKKOS_INLINE_FUNCTION T operator()(int vertex) const {
    if ((fixed[vertex] & System::weightless) != 0) return T(0.0);
    return mass(vertex) * f_bar(3 * vertex + static_cast<int>(c));
  }
};

/// Subtracts f̄ f / m from m̄, which is the contribution of the quotient A = f/m; f̄ = Ā/m.
template <class T>
struct MassAdjoint {
  In<T> mass, f, f_bar;
  Out<T> mass_bar;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { mass_bar.set(i, mass_bar(i) - f_bar(i) * f(i) / mass(i / 3)); }
};

/// Computes f̄ = Ā/m.
template <class T>
struct ForceAdjoint {
  In<T> mass, acceleration_bar;
  Out<T> f_bar;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { f_bar.set(i, acceleration_bar(i) / mass(i / 3)); }
};

}  // namespace

void ExplicitModel::begin_adjoint(const ParameterSet& gradient) {
  SystemModel::begin_adjoint(gradient);
  records_velocities_ = gradient.find("damping") != nullptr || system_->any_term_uses_velocities();
  records_forces_ = gradient.find("damping") != nullptr || system_->changes_mass(gradient);
}

void ExplicitModel::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  SystemModel::begin_adjoint_tangent(gradient, direction);
  records_velocities_ = records_velocities_ || direction.find("damping") != nullptr;
  records_forces_ = false;  // forces are recomputed together with their derivatives
}

/// Reverse sweep over the stages of a step. T = double computes the adjoint; T = Along computes the adjoint and the
/// derivative of the adjoint along a direction.
template <class T>
class ExplicitModel::Reverse {
 public:
  /// `moving`: tangents dX_i and dV_i of the stages, if T has derivatives.
  Reverse(ExplicitModel& model, int n, const ExplicitRecord& recorded, const ParameterSet* direction,
          const ExplicitRecord* moving, State& adjoint, State* adjoint_tangent, ParameterSet& gradient,
          ParameterSet* gradient_tangent)
      : model_(model),
        work_(*model.work_),
        n_(n),
        count_(static_cast<int>(adjoint["velocities"].size())),
        last_(static_cast<int>(model.rule_.stages.size()) - 1),
        recorded_(recorded),
        direction_(direction),
        moving_(moving),
        adjoint_(adjoint),
        adjoint_tangent_(adjoint_tangent),
        gradient_(gradient),
        gradient_tangent_(gradient_tangent),
        update_(work_.update<T>(model, n, direction)),
        to_damping_(gradient.find("damping") != nullptr),
        to_mass_(model.system_->changes_mass(gradient)),
        rated_(model.system_->any_term_uses_velocities()) {
    x_bar_.value = &adjoint["positions"];
    v_bar_.value = &adjoint["velocities"];
    if constexpr (is_second) {
      x_bar_.derivative = &(*adjoint_tangent)["positions"];
      v_bar_.derivative = &(*adjoint_tangent)["velocities"];
    }
    make_scratch();
  }

  void run() {
    model_.system_->advance_motions_adjoint(n_, model_.dt(), adjoint_, gradient_);
    if constexpr (is_second)
      model_.system_->advance_motions_adjoint(n_, model_.dt(), *adjoint_tangent_, *gradient_tangent_);
    for (int s = model_.substeps_ - 1; s >= 0; --s) {
      reverse_impacts(s);
      reverse_motions(s, model_.h(), x_bar_, v_bar_);
      start_constraints(s);
      for (int i = last_; i >= 0; --i) stage(s, i);
      if (work_.impacts) work_.impacts->finish_adjoint(*v_bar_.value, v_bar_.derivative);
    }
    model_.system_->sum_motion_adjoints(adjoint_);
    if constexpr (is_second) model_.system_->sum_motion_adjoints(*adjoint_tangent_);
    for (int k = 0; k < (is_second ? 2 : 1); ++k) {
      ParameterSet& set = k == 0 ? gradient_ : *gradient_tangent_;
      const auto component = static_cast<std::size_t>(k);
      if (Parameter* const damping = set.find("damping"))
        add_to_entries(damping->field, damping->offset(n_), {damping_sums_[component]});
      if (Parameter* const gravity = set.find("gravity"))
        add_to_entries(gravity->field, 3 * gravity->offset(n_),
                       {gravity_sums_[0][component], gravity_sums_[1][component], gravity_sums_[2][component]});
    }
  }

 private:
  static constexpr bool is_second = !std::is_same_v<T, double>;

  /// Sets the temporary fields. First derivatives use fields of the model's workspace; second derivatives also use new
  /// fields.
  void make_scratch() {
    f_bar_.value = &work_.local(work_.force_derivative, "force_adjoint");
    if constexpr (is_second) {
      gained_ = {make("gained"), make("gained_tangent")};
      force_tangent_ = make("force_tangent");
      f_bar_.derivative = make("force_adjoint_tangent");
    } else {
      gained_.value = &work_.force;  // `gained_` is computed after the last use of the force
    }
    if (rated_ || (model_.system_->has_motions() && last_ > 0)) {
      gained_v_.value = &work_.local(work_.velocity_derivative, "velocity_adjoint");
      if constexpr (is_second) gained_v_ = {make("gained_v"), make("gained_v_tangent")};
    }
    for (int i = 0; i < last_; ++i) {
      acceleration_bars_[i].value = &work_.accelerations[static_cast<std::size_t>(i)];
      if constexpr (is_second) acceleration_bars_[i].derivative = make("acceleration_adjoint_tangent");
      bars_.of[i] = out<T>(acceleration_bars_[i]);
    }
    if (!model_.reuses_forces()) return;
    pending_.value = &work_.local(work_.pending, "pending_adjoint");
    if constexpr (is_second) pending_.derivative = make("pending_adjoint_tangent");
  }

  void reverse_impacts(int s) {
    if (!work_.impacts) return;
    const ExplicitImpacts::End end{n_, model_.time_of(n_, s + 1)};
    const ExplicitImpacts::Adjoint bar{*x_bar_.value, *v_bar_.value, gradient_};
    if constexpr (is_second)
      work_.impacts->apply_adjoint_tangent(end, recorded_.before_impacts(s), moving_->before_impacts(s), *direction_,
                                           bar, {*x_bar_.derivative, *v_bar_.derivative, *gradient_tangent_});
    else
      work_.impacts->apply_adjoint(end, recorded_.before_impacts(s), bar);
  }

  void start_constraints(int s) {
    constraints_.clear();
    for (int i = 0; work_.constraints && i <= last_; ++i)
      constraints_.emplace_back(*work_.constraints, i, positions(s, i), recorded_.constraints(s, i),
                                is_second ? &moving_->constraints(s, i) : nullptr, work_.masses(model_, direction_),
                                update_);
  }
  /// Positions of a stage, with their tangent if T has derivatives.
  FieldPair positions(int s, int i) const {
    return {&recorded_.positions(s, i), is_second ? &moving_->positions(s, i) : nullptr};
  }

  Field* make(const char* name) {
    own_.push_back(std::make_unique<Field>(model_.system_->local_field(name)));
    return own_.back().get();
  }

  /// Adds the contributions of stage i of substep s to x̄, v̄, the adjoints of earlier accelerations, and the gradient.
  void stage(int s, int i) {
    const Configuration at = model_.configuration(n_, s, i, recorded_);
    const bool shares_force = pending_.value && i == 0 && s > 0;
    if ((to_mass_ || to_damping_ || along_mass()) && !shares_force) find_force(at, s, i);
    if (i == last_)
      reverse_end(s);
    else
      for_components("diffsim::dynamics::force_adjoint", 0, count_,
                     ForceAdjoint<T>{update_.mass, out<T>(acceleration_bars_[i]).in(), out<T>(f_bar_)});
    if (shares_force) {
      // The last stage of the previous substep has the same force. The adjoint of the force is stored until the reverse
      // sweep reaches this last stage.
      each(pending_, f_bar_, [](Field& pending, const Field& f_bar) { pending.copy_from(f_bar); });
      return;
    }
    if (pending_.value && i == last_ && s + 1 < model_.substeps_)
      each(f_bar_, pending_, [&](Field& f_bar, const Field& pending) { add_scaled(count_, 1.0, pending, f_bar); });
    gather_sums();
    reverse_force(at, s, i);
    reverse_stage(s, i);
  }

  bool along_mass() const { return is_second && model_.system_->changes_mass(*direction_); }

  /// Sets `force_` to the recorded or recomputed force of the stage, with the tangent of the force if T has
  /// derivatives.
  void find_force(const Configuration& at, int s, int i) {
    force_ = {};
    if constexpr (!is_second)
      if (const Field* const force = recorded_.force(s, i)) {
        force_.value = force->data();
        return;
      }
    model_.system_->compute_force(at, work_.force);
    if constexpr (is_second) {
      const Field* const dv = work_.complete(model_, moving_->velocities(s, i), work_.velocity_derivative);
      model_.system_->compute_force_tangent(at, {moving_->positions(s, i), dv}, *direction_, *force_tangent_);
    }
    if (work_.constraints)
      work_.constraints->add_recorded_force<T>(positions(s, i), recorded_.constraints(s, i),
                                               is_second ? &moving_->constraints(s, i) : nullptr,
                                               {&work_.force, force_tangent_});
    force_.value = work_.force.data();
    if constexpr (is_second) force_.derivative = force_tangent_->data();
  }

  void reverse_end(int s) {
    const StageWeights weights = StageWeights::of_end(model_.rule_, update_.h);
    if (!constraints_.empty()) constraints_.back().correct_end(x_bar_, v_bar_);
    if (to_damping_) add_damping_share(s, weights);
    with_earlier(model_.rule_, [&](auto earlier) {
      for_components("diffsim::dynamics::update_adjoint", 0, count_,
                     EndAdjoint<T, decltype(earlier)::value>{update_, weights, out<T>(x_bar_).in(), out<T>(v_bar_),
                                                             bars_, out<T>(f_bar_)});
    });
  }

  void add_damping_share(int s, const StageWeights& weights) {
    In<T> v{recorded_.velocities(s, 0).data()};
    if constexpr (is_second) v.derivative = moving_->velocities(s, 0).data();
    const EndAdjoint<T, 0> reverse{update_, weights, out<T>(x_bar_).in(), out<T>(v_bar_), bars_, out<T>(f_bar_)};
    const EndUpdate<T, 0> forward{update_, weights, {}, force_};
    const auto sums = sum<T>("diffsim::dynamics::damping_gradient", count_, DampingShare<T>{reverse, forward, v});
    for (std::size_t k = 0; k < 2; ++k) damping_sums_[k] += sums[k];
  }

  void gather_sums() {
    const In<T> f_bar = out<T>(f_bar_).in();
    if (gradient_.find("gravity"))
      for (int c = 0; c < 3; ++c) {
        const auto sums = sum<T>("diffsim::dynamics::gravity_gradient", count_ / 3,
                                 GravityShare<T>{update_.mass, f_bar, update_.fixed, c});
        for (std::size_t k = 0; k < 2; ++k) gravity_sums_[static_cast<std::size_t>(c)][k] += sums[k];
      }
    if (!to_mass_) return;
    Out<T> mass_bar{model_.system_->mass_gradient().data()};
    if constexpr (is_second) mass_bar.derivative = model_.system_->mass_gradient_tangent().data();
    for_components("diffsim::dynamics::mass_gradient", 0, count_,
                   MassAdjoint<T>{update_.mass, force_, f_bar, mass_bar});
  }

  void reverse_force(const Configuration& at, int s, int i) {
    model_.system_->mesh().vertex_exchange().copy_to_ghosts(*f_bar_.value);
    model_.system_->compute_force_adjoint(at, *f_bar_.value, {*gained_.value, rated_ ? gained_v_.value : nullptr},
                                          gradient_);
    if constexpr (is_second) {
      model_.system_->mesh().vertex_exchange().copy_to_ghosts(*f_bar_.derivative);
      const Field* const dv = work_.complete(model_, moving_->velocities(s, i), work_.velocity_derivative);
      model_.system_->compute_force_adjoint_tangent(
          at, {moving_->positions(s, i), dv}, *direction_, f_bar_.value, f_bar_.derivative,
          {*gained_.derivative, rated_ ? gained_v_.derivative : nullptr}, *gradient_tangent_);
    }
    if (!constraints_.empty())
      constraints_[static_cast<std::size_t>(i)].add_to_positions({f_bar_.value, f_bar_.derivative}, gained_);
  }

  void reverse_stage(int s, int i) {
    const auto add = [&](Field& to, const Field& from) { add_scaled(count_, 1.0, from, to); };
    if (i == 0) {  // stage 0 is (x, v) itself, including fixed components
      each(x_bar_, gained_, add);
      if (rated_) each(v_bar_, gained_v_, add);
      return;
    }
    const StageWeights weights = StageWeights::of_stage(model_.rule_, static_cast<std::size_t>(i), update_.h);
    if (model_.system_->has_motions()) {
      if (!rated_) each(gained_v_, gained_v_, [](Field& field, const Field&) { field.fill(0.0); });
      reverse_motions(s, weights.drift, gained_, gained_v_);
    }
    if (!constraints_.empty()) {
      const Pair& a_bar = acceleration_bars_[i - 1];
      constraints_[static_cast<std::size_t>(i - 1)].correct_next(
          gained_, rated_ ? FieldPair{gained_v_.value, gained_v_.derivative} : FieldPair{},
          {a_bar.value, a_bar.derivative});
    }
    for_components(
        "diffsim::dynamics::stage_adjoint", 0, count_,
        StageAdjoint<T>{weights, update_.fixed, out<T>(gained_).in(), rated_ ? out<T>(gained_v_).in() : In<T>{}, rated_,
                        out<T>(x_bar_), out<T>(v_bar_), bars_});
  }

  /// Adjoint of the prescribed motions over `duration` from the beginning of substep s.
  void reverse_motions(int s, double duration, const Pair& y_bar, const Pair& v_bar) {
    const MotionSpan span{n_, s * update_.h, duration};
    const Field& x = recorded_.positions(s, 0);
    const State& start = recorded_.initial();
    model_.system_->apply_motions_adjoint(span, start, x, *y_bar.value, *v_bar.value, adjoint_, gradient_);
    if constexpr (is_second)
      model_.system_->apply_motions_adjoint(span, start, x, *y_bar.derivative, *v_bar.derivative, *adjoint_tangent_,
                                            *gradient_tangent_);
  }

  /// Calls act(to, from) for the values and, if T has derivatives, for the derivatives.
  template <class Act>
  static void each(const Pair& to, const Pair& from, const Act& act) {
    act(*to.value, *from.value);
    if constexpr (is_second) act(*to.derivative, *from.derivative);
  }

  ExplicitModel& model_;
  Workspace& work_;
  int n_, count_, last_;
  const ExplicitRecord& recorded_;
  const ParameterSet* direction_;
  const ExplicitRecord* moving_;
  State& adjoint_;
  State* adjoint_tangent_;
  Pair x_bar_, v_bar_;
  ParameterSet& gradient_;
  ParameterSet* gradient_tangent_;
  ExplicitUpdate<T> update_;
  bool to_damping_, to_mass_;
  bool rated_;  // true if some force depends on velocities
  std::vector<std::unique_ptr<Field>> own_;
  std::vector<ExplicitConstraints::Reverse<T>> constraints_;  // one for each stage, if the system has constraints
  Pair f_bar_, gained_, gained_v_, pending_;
  In<T> force_{};                   // force of the stage, if a gradient needs the force
  Field* force_tangent_ = nullptr;  // nullptr if T has no derivatives
  Pair acceleration_bars_[max_stages];
  EarlierAdjoints<T> bars_{};
  std::array<double, 2> damping_sums_{};
  std::array<std::array<double, 2>, 3> gravity_sums_{};
};

void ExplicitModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  const ProfilingRegion region("diffsim::dynamics::step_adjoint");
  if (rule_.stages.size() > 1) work_->make_stages(*this);
  Reverse<double>(*this, n, static_cast<const ExplicitRecord&>(record), nullptr, nullptr, adjoint, nullptr, gradient,
                  nullptr)
      .run();
}

void ExplicitModel::step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent,
                                         const ParameterSet& direction, const AdjointPair& pair) {
  const ProfilingRegion region("diffsim::dynamics::step_adjoint_tangent");
  const auto& recorded = static_cast<const ExplicitRecord&>(record);
  if (rule_.stages.size() > 1) work_->make_stages(*this);
  ExplicitRecord moving(make_state(), substeps_, rule_.stages.size(), true, false);
  State change = tangent.before.clone();
  synchronise(change);
  for (int s = 0; s < substeps_; ++s) substep_tangent(n, s, recorded, direction, change, &moving);
  Reverse<Along>(*this, n, recorded, &direction, &moving, pair.adjoint, &pair.adjoint_tangent, pair.gradient,
                 &pair.gradient_tangent)
      .run();
}

}  // namespace diffsim
