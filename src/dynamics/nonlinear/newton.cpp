// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/nonlinear/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace diffsim::dynamics {
namespace {

constexpr double shortest_step = 1e-9;
constexpr double sufficient_decrease = 1e-4;  // Armijo's constant
constexpr double turned_slope = 0.5;          // largest accepted -R(trial)·d / R·d (Matthies & Strang 1979)
constexpr double patient_step = 1.0 / 64.0;   // least step length along a descent direction of the exact Jacobian
constexpr double nearly_whole = 0.75;         // least step length along an ascent direction of the exact Jacobian
constexpr double much_less = 0.25;            // largest accepted residual ratio in `refine` and along ascent directions
constexpr double refining_tolerance = 1e-3;   // tolerance of linear systems in `refine`
constexpr std::size_t window = 10;        // number of iterates whose largest residual bounds the residual of a trial
constexpr int patience = 10;              // iterations without progress before step lengths vary
constexpr double mostly_cut = 0.5;        // step length below which the next iterations move free components only
constexpr int most_holds = 4;             // maximum number of successive iterations that move free components only
constexpr double worth_closing = 1.5;     // least fraction that `close_gap` tries, relative to the step length
constexpr double least_closing = 0.1;     // least fraction of the gap that `close_gap` tries
constexpr double still_descending = 0.4;  // ratio of slopes, end to start of a step, above which a step is doubled
constexpr double least_fall = 1e-4;       // relative fall of the potential that counts as progress

/// Tolerance of the next linear system (Eisenstat & Walker 1996, eq. 2.6 with its safeguard).
class ForcingTerm {
 public:
  double next(double residual, double goal) {
    double eta = first;
    if (previous_ > 0.0) {
      const double ratio = residual / previous_;
      eta = 0.9 * ratio * ratio;
      const double guard = 0.9 * eta_ * eta_;
      if (guard > 0.1) eta = std::max(eta, guard);
    }
    // A tolerance below 0.25 goal/residual would be tighter than needed to reach `goal`.
    if (residual > 0.0) eta = std::max(eta, 0.25 * goal / residual);
    eta_ = std::clamp(eta, 1e-10, first);
    previous_ = residual;
    return eta_;
  }
  /// Tolerance of the next linear system if matrices are factored. Exact steps reduce the residual to about ρ² of its
  /// value, where ρ is the reduction by the last step. A hundredth of ρ² changes neither the number of iterations nor
  /// the last residual.
  double next_with_factors(double residual) {
    const double ratio = previous_ > 0.0 ? residual / previous_ : 1.0;
    previous_ = residual;
    return std::clamp(1e-2 * ratio * ratio, 1e-12, 1e-3);
  }

 private:
  static constexpr double first = 0.05;
  double previous_ = 0.0, eta_ = first;
};

class Newton {
 public:
  Newton(NewtonProblem& problem, const NewtonOptions& options, Field& y, NewtonTrace* trace)
      : problem_(problem),
        options_(options),
        trace_(trace),
        y_(y),
        residual_(y.like("residual")),
        gap_(y.like("gap")),
        direction_(y.like("direction")),
        trial_(y.like("trial")),
        trial_residual_(y.like("trial_residual")) {}

  NewtonReport run() {
    now_ = problem_.evaluate(y_, residual_);
    if (!now_.valid)
      return ended(
          "SNES_DIVERGED_FUNCTION_DOMAIN: a cell is inverted, or a value is not finite, at the start of the step");
    first_gap_ = largest_gap_ = problem_.find_gap(y_, gap_);
    note_residual();
    note_progress();
    while (!reached()) {
      const bool stalled = report_.iterations - progressed_at_ >= options_.max_stalled;
      report_.exhausted = stalled || report_.iterations >= options_.max_iterations;
      if (stalled) return ended("SNES_DIVERGED_MAX_IT: the iterations make no progress");
      if (report_.exhausted) return ended("SNES_DIVERGED_MAX_IT: the maximum number of iterations is reached");
      if (!iterate()) return report_;
    }
    report_.converged = true;
    refine();
    return ended("the residual is below the tolerance or the rounding error");
  }

 private:
  NewtonReport ended(const std::string& reason) {
    report_.reason = reason;
    return report_;
  }
  void note_residual() {
    scale_ = std::max(scale_, now_.scale);
    report_.residuals.push_back(scale_ > 0.0 ? now_.residual / scale_ : 0.0);
  }
  /// Records whether the last iteration made progress: the fraction of the gap and of the obstacles' motion that
  /// remains has halved; or, if nothing remains, the least residual has halved or the potential has fallen.
  void note_progress() {
    const double of_gap = first_gap_ > 0.0 ? largest_gap_ / first_gap_ : 0.0;
    const double gap = at_rest() ? 0.0 : std::max(of_gap, problem_.progress_goal() - problem_.progress());
    bool progress = false;
    if (gap > 0.0 || least_gap_ > 0.0) {
      progress = gap <= 0.5 * least_gap_;
      if (gap == 0.0) first_potential_ = least_potential_ = now_.potential, least_residual_ = now_.residual;
      if (progress) least_gap_ = gap;
    } else {
      const double fall = least_potential_ - now_.potential, before = first_potential_ - least_potential_;
      const bool fallen =
          problem_.has_potential() && fall > std::max(least_fall * before, 1e-12 * std::abs(now_.potential));
      progress = now_.residual <= 0.5 * least_residual_ || fallen;
      if (fallen) least_potential_ = now_.potential;
      if (now_.residual <= 0.5 * least_residual_) least_residual_ = now_.residual;
    }
    if (progress) progressed_at_ = report_.iterations;
  }
  bool at_rest() const { return largest_gap_ <= 0.0 && problem_.progress() >= problem_.progress_goal(); }
  double goal() const { return std::max(options_.tolerance * scale_, problem_.rounding()); }
  bool reached() const { return at_rest() && now_.residual <= goal(); }
  double next_tolerance() {
    if (options_.linear_tolerance > 0.0) return options_.linear_tolerance;
    return problem_.uses_factors() ? forcing_.next_with_factors(now_.residual) : forcing_.next(now_.residual, goal());
  }

  /// Takes further full Newton steps while the residual is above the tolerance and each step reduces the residual to at
  /// most a quarter. The bound `rounding` of the rounding error is computed from the matrices of earlier iterates.
  /// These matrices may be much stiffer than the matrix at the solution, and the bound may then be much larger than the
  /// rounding error at the solution. If the iteration stopped at a residual as large as the bound, the solution would
  /// have an error that derivatives do not take into account. Does nothing if iterations are differentiated as
  /// executed.
  void refine() {
    const double progress = problem_.progress();
    while (!options_.try_exact && now_.residual > options_.tolerance * scale_) {
      const bool is_loose = options_.linear_tolerance <= 0.0 && !problem_.uses_factors();
      const double tolerance = is_loose ? refining_tolerance : next_tolerance();
      const LinearReport solve =
          problem_.find_direction(y_, residual_, nullptr, tolerance, Projection::none, direction_);
      report_.linear_iterations += solve.iterations;
      if (solve.indefinite || !solve.converged) return;
      if (!problem_.move(y_, 1.0, direction_, trial_)) return;
      if (problem_.max_step(y_, progress, trial_, progress) < 1.0) return;
      const Evaluation trial = problem_.evaluate(trial_, trial_residual_);
      if (!trial.valid || trial.residual > much_less * now_.residual) return;
      ++report_.iterations;
      std::swap(y_, trial_);
      std::swap(residual_, trial_residual_);
      now_ = trial;
      note_residual();
    }
  }

  bool iterate() {
    if (holds_ > 0) {
      --holds_;
      ++progressed_at_;  // this iteration does not count as an iteration without progress
      if (now_.residual > goal() && take_step(true)) return true;
      holds_ = 0;
    }
    return take_step(false);
  }

  /// Takes one Newton step. `hold`: true if prescribed components and moving obstacles must not move. Returns false if
  /// no step was found.
  bool take_step(bool hold) {
    const bool free_of_gap = hold || at_rest();
    const double tolerance = next_tolerance();
    const int before = report_.iterations;
    for (const Projection projection : {Projection::none, Projection::contact, Projection::all}) {
      const bool exact = projection == Projection::none, last = projection == Projection::all;
      if (exact && curved_down_ && !options_.try_exact) continue;
      if (projection == Projection::contact && !(problem_.has_contact() && problem_.has_potential())) continue;
      const LinearReport solve =
          problem_.find_direction(y_, residual_, hold ? nullptr : &gap_, tolerance, projection, direction_);
      report_.linear_iterations += solve.iterations;
      if (reached()) return true;  // `find_direction` has updated the bound of the rounding error
      if (!last && (solve.indefinite || !solve.converged)) continue;
      if (!solve.converged) {
        report_.linear_failure = true;
        ended("SNES_DIVERGED_LINEAR_SOLVE: the linear solve failed, " + solve.reason + " after " +
              std::to_string(solve.iterations) + " iterations");
        return false;
      }
      slope_ = problem_.dot(residual_, direction_);
      // The potential may rise while a gap is being closed.
      if (free_of_gap && problem_.has_potential() && slope_ >= 0.0) {
        ended("SNES_DIVERGED_LOCAL_MIN: there is no descent direction");
        continue;
      }
      projected_ = !exact;
      report_.iterations = before + 1;
      report_.projections += projected_;
      if (problem_.has_potential() || !free_of_gap) return search(shortest_step, hold);
      if (projected_) {
        if (search(shortest_step, hold)) return true;
        may_rise_ = true;  // for the next search only: along each descent path, the residual norm passes a maximum
        const bool found = search(shortest_step, hold);
        may_rise_ = false;
        return found;
      }
      if (search(slope_ < 0.0 ? patient_step : nearly_whole, hold)) return true;
      if (slope_ >= 0.0) continue;
      // If the last switch to the projected Jacobian has not halved the residual, another switch would lead to a cycle.
      // Shorter steps along the direction of the exact Jacobian are attempted first.
      if (now_.residual > 0.5 * left_at_ && search(shortest_step, hold)) return true;
      left_at_ = now_.residual;
    }
    return false;
  }

  /// Backtracks along the direction, with step lengths above `least`, until a trial is valid and, if there is no gap,
  /// accepted by `is_better`. Returns false if no trial is accepted.
  bool search(double least, bool hold) {
    const bool free_of_gap = hold || at_rest();
    const double progress = problem_.progress(), goal = hold ? progress : problem_.progress_goal();
    const auto reached = [&](double closed) { return closed == 1.0 ? goal : progress + closed * (goal - progress); };
    const bool path_varies = progress < goal || problem_.has_constraints();
    double t = 1.0;
    while (t > least && !problem_.move(y_, t, direction_, trial_)) t *= 0.5;
    if (t <= least) {
      ended("SNES_DIVERGED_LINE_SEARCH: no step length satisfies the constraints of rigid bodies and joints");
      return false;
    }
    double allowed = std::min(1.0, problem_.max_step(y_, progress, trial_, reached(t)));
    report_.obstructions += allowed < 1.0;
    // The path of a rotating obstacle or body depends on t, so the loop below checks the path again for each t. The
    // reduction of t by 10 % lets this check succeed for small changes of the path.
    if (path_varies && allowed < 1.0) allowed *= 0.9;
    t *= allowed;
    const double admissible = t;
    if (free_of_gap) t *= variation();
    bool further = !free_of_gap && allowed < 1.0 && !options_.try_exact;
    for (; t > least; t *= std::exchange(further, false) ? 1.0 : 0.5) {
      double closed = t;
      if (!problem_.move(y_, t, direction_, trial_)) continue;
      if (path_varies && t < 1.0 && problem_.max_step(y_, progress, trial_, reached(t)) < 1.0) continue;
      if (further) closed = close_gap(t);
      problem_.set_progress(reached(closed));
      Evaluation trial = problem_.evaluate(trial_, trial_residual_);
      if (!trial.valid || (free_of_gap && !is_better(trial, t))) continue;
      report_.reductions += t < admissible;
      if (hold && t >= mostly_cut) holds_ = 0;
      if (!free_of_gap && !options_.try_exact) holds_ = t < mostly_cut ? most_holds : 0;
      if (free_of_gap && t == 1.0 && projected_ && problem_.has_potential()) t = lengthen(trial);
      curved_down_ = free_of_gap && problem_.has_potential() && problem_.dot(trial_residual_, direction_) < slope_;
      if (trace_) trace_->add(y_, t, projected_);
      std::swap(y_, trial_);
      std::swap(residual_, trial_residual_);
      now_ = trial;
      if (!hold && !free_of_gap && closed < 1.0)
        largest_gap_ = problem_.find_gap(y_, gap_);
      else if (!hold)  // rounding must not reopen a closed gap
        largest_gap_ = 0.0, gap_.fill(0.0);
      note_residual();
      note_progress();
      return true;
    }
    problem_.set_progress(progress);
    ended("SNES_DIVERGED_LINE_SEARCH: the line search found no " +
          std::string(free_of_gap ? "decrease" : "valid configuration"));
    return false;
  }

  /// Moves the prescribed components of the trial from the fraction t of the gap to a larger fraction s = 1, ½, ¼, …,
  /// as far as the terms that limit step lengths allow. Contact pairs at small distances reduce the step length.
  /// Prescribed components can often move further than free components, because the motion of prescribed components
  /// does not reduce the distance of most of these pairs, for example if surfaces slide along each other. While there
  /// is a gap, the potential need not decrease. Returns the fraction of the gap that the trial has closed.
  double close_gap(double t) {
    const double progress = problem_.progress(), missing = problem_.progress_goal() - progress;
    Field further = y_.like("further");
    for (double s = 1.0; s > std::max(worth_closing * t, least_closing); s *= 0.5) {
      if (!problem_.move(trial_, s - t, gap_, further)) continue;
      if (problem_.max_step(y_, progress, further, progress + s * missing) < 1.0) continue;
      std::swap(trial_, further);
      return s;
    }
    return t;
  }

  /// Returns the fraction of the admissible step length that is attempted first. Without a potential, iterates may
  /// repeat after two or three iterations if friction alternates between sticking and sliding. Other step lengths leave
  /// such a cycle.
  double variation() const {
    constexpr double parts[] = {1.0, 0.75, 0.5, 0.3};
    const bool may_repeat = !problem_.has_potential() && report_.iterations - progressed_at_ > patience;
    return may_repeat ? parts[report_.iterations % 4] : 1.0;
  }

  /// Doubles a full step while R(trial)·d < 0.4 R·d < 0, that is, while the potential still falls steeply at the end of
  /// the step. For a body that buckles, the projected Jacobian is stiffer than the exact Jacobian, so that full steps
  /// are too short. Returns the final step length. Sets `trial` and the trial fields to the values at this step length.
  double lengthen(Evaluation& trial) {
    double t = 1.0;
    while (problem_.dot(trial_residual_, direction_) < still_descending * slope_) {
      Field further = y_.like("further"), further_residual = y_.like("further_residual");
      if (!problem_.move(y_, 2.0 * t, direction_, further)) break;
      if (problem_.max_step(trial_, problem_.progress(), further, problem_.progress()) < 1.0) break;
      const Evaluation next = problem_.evaluate(further, further_residual);
      if (!next.valid || next.potential >= trial.potential || !is_better(next, 2.0 * t)) break;
      t *= 2.0;
      trial = next;
      std::swap(trial_, further);
      std::swap(trial_residual_, further_residual);
    }
    return t;
  }

  /// Returns true if a trial at step length t is accepted.
  ///
  /// With a potential, a trial is accepted if Armijo's condition holds. Rounding may hide the change of the potential,
  /// so a trial is also accepted if the residual and |R·d| each fall to at most half of their values before the step,
  /// or if the residual ends the iterations. The direction d was computed with a positive definite matrix, so d is a
  /// descent direction of the potential.
  ///
  /// Without a potential, a trial is accepted if the residual decreases, or if R·d < 0 and R(trial)·d ≤ -½ R·d. Along a
  /// line every force has a potential, and the second condition bounds how far a trial overshoots the minimum of that
  /// potential. If the second condition holds, the residual may increase. Unless `may_rise_` is set, the residual may
  /// not exceed the largest residual of the last ten iterates (Grippo, Lampariello & Lucidi 1986). A direction of the
  /// exact Jacobian with R·d ≥ 0 leads to saddle points, around which iterates repeat. A step along such a direction
  /// must reduce the residual to at most a quarter.
  bool is_better(const Evaluation& trial, double t) const {
    if (!problem_.has_potential()) {
      if (slope_ >= 0.0 && !projected_) return trial.residual <= much_less * now_.residual;
      return trial.residual <= (1.0 - sufficient_decrease * t) * now_.residual ||
             (slope_ < 0.0 && (may_rise_ || trial.residual <= largest_of_late()) &&
              problem_.dot(trial_residual_, direction_) <= -turned_slope * slope_);
    }
    if (trial.potential <= now_.potential + sufficient_decrease * t * slope_ || trial.residual <= goal()) return true;
    return trial.residual <= 0.5 * now_.residual &&
           std::abs(problem_.dot(trial_residual_, direction_)) <= 0.5 * std::abs(slope_);
  }

  /// Returns the largest residual (N) of the last ten iterates.
  double largest_of_late() const {
    const std::vector<double>& all = report_.residuals;
    return scale_ * *std::max_element(all.end() - static_cast<std::ptrdiff_t>(std::min(window, all.size())), all.end());
  }

  NewtonProblem& problem_;
  const NewtonOptions& options_;
  NewtonTrace* trace_;
  Field& y_;
  Field residual_, gap_, direction_, trial_, trial_residual_;
  Evaluation now_;
  ForcingTerm forcing_;
  double first_gap_ = 0.0, largest_gap_ = 0.0, scale_ = 0.0, slope_ = 0.0;
  bool projected_ = false;    // true if the present direction was computed with a projected Jacobian
  bool curved_down_ = false;  // true if the potential was concave along the last direction
  bool may_rise_ = false;     // true if the residual may exceed the residuals of the last iterates
  int holds_ = 0;             // number of following iterations that move free components only
  int progressed_at_ = 0;     // number of the last iteration that made progress
  double least_gap_ = std::numeric_limits<double>::infinity(), least_residual_ = 0.0;
  double first_potential_ = 0.0, least_potential_ = 0.0;  // first and least since the gap was closed
  /// Residual (N) at the last switch from the exact to the projected Jacobian; used only without a potential.
  double left_at_ = std::numeric_limits<double>::infinity();
  NewtonReport report_;
};

}  // namespace

NewtonReport solve_by_newton(NewtonProblem& problem, const NewtonOptions& options, Field& y, NewtonTrace* trace) {
  return Newton(problem, options, y, trace).run();
}

}  // namespace diffsim::dynamics
