// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace diffsim::dynamics {
namespace {

constexpr double shortest_step = 1e-9;
constexpr double sufficient_decrease = 1e-4;  // Armijo's constant
constexpr double turned_slope = 0.5;          // Matthies & Strang 1979
constexpr double patient_step = 1.0 / 64.0;   // shorter ones are not looked for with the exact Jacobian's direction
constexpr double nearly_whole = 0.75;         // nor with one that does not descend
constexpr double much_less = 0.25;            // residual after such a step, of that before
constexpr double refining_tolerance = 1e-3;   // of linear systems, where the residual is below the bound of rounding
constexpr std::size_t window = 10;            // iterations whose largest residual a step may come back to
constexpr int patience = 10;                  // iterations without progress, after which steps vary in length
constexpr double mostly_cut = 0.5;            // part of a step with a gap, below which the next steps hold
constexpr int most_holds = 4;                 // steps that hold one after the other
constexpr double worth_closing = 1.5;         // part of the gap, of the part of the step, that is looked for
constexpr double least_closing = 0.1;         // part of the gap that is looked for
constexpr double still_descending = 0.4;      // of the slope, at the end of a step that is made longer
constexpr double least_fall = 1e-4;           // of the potential, of what it has fallen by, that counts as progress

/// The tolerance of the next linear system (Eisenstat & Walker 1996, eq. 2.6 with its safeguard).
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
    // No more than what the last iteration needs.
    if (residual > 0.0) eta = std::max(eta, 0.25 * goal / residual);
    eta_ = std::clamp(eta, 1e-10, first);
    previous_ = residual;
    return eta_;
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
      return ended("SNES_DIVERGED_FUNCTION_DOMAIN: a cell is inverted, or something not finite, where the step begins");
    largest_gap_ = problem_.find_gap(y_, gap_);
    note_residual();
    note_progress();
    while (!reached()) {
      const bool stalled = report_.iterations - progressed_at_ >= options_.max_stalled;
      report_.exhausted = stalled || report_.iterations >= options_.max_iterations;
      if (stalled) return ended("SNES_DIVERGED_MAX_IT: the iterations make no progress");
      if (report_.exhausted) return ended("SNES_DIVERGED_MAX_IT: the iterations are used up");
      if (!iterate()) return report_;
    }
    report_.converged = true;
    refine();
    return ended("the residual is below the tolerance, or rounding");
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
  /// Progress: the gap, or with none left the residual, is half of the least before; or the potential has fallen.
  void note_progress() {
    const double gap = at_rest() ? 0.0 : std::max(largest_gap_, problem_.progress_goal() - problem_.progress());
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

  /// Takes further whole steps while these quarter a residual above the tolerance: `rounding` is an upper bound, from
  /// the stiffest configuration on the way, and what it leaves of the residual would be an error of the solution, of
  /// which derivatives know nothing. Not where iterations are differentiated as they ran.
  void refine() {
    const double progress = problem_.progress();
    while (!options_.try_exact && now_.residual > options_.tolerance * scale_) {
      const double tolerance = options_.linear_tolerance > 0.0 ? options_.linear_tolerance : refining_tolerance;
      const LinearReport solve =
          problem_.find_direction(y_, residual_, nullptr, tolerance, Projection::none, direction_);
      report_.linear_iterations += solve.iterations;
      if (solve.indefinite || !solve.converged) return;
      problem_.move(y_, 1.0, direction_, trial_);
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
      ++progressed_at_;  // does not count as an iteration without progress
      if (now_.residual > goal() && take_step(true)) return true;
      holds_ = 0;
    }
    return take_step(false);
  }

  /// `hold`: prescribed components, and what moves by itself, stay where they are.
  bool take_step(bool hold) {
    const bool free_of_gap = hold || at_rest();
    double tolerance = problem_.solves_exactly() ? 1e-12 : forcing_.next(now_.residual, goal());
    if (options_.linear_tolerance > 0.0) tolerance = options_.linear_tolerance;
    const int before = report_.iterations;
    for (const Projection projection : {Projection::none, Projection::contact, Projection::all}) {
      const bool exact = projection == Projection::none, last = projection == Projection::all;
      if (exact && curved_down_ && !options_.try_exact) continue;
      if (projection == Projection::contact && !(problem_.has_contact() && problem_.has_potential())) continue;
      const LinearReport solve =
          problem_.find_direction(y_, residual_, hold ? nullptr : &gap_, tolerance, projection, direction_);
      report_.linear_iterations += solve.iterations;
      if (reached()) return true;  // of what is rounding, which the matrix has told
      if (!last && (solve.indefinite || !solve.converged)) continue;
      if (!solve.converged) {
        report_.linear_failure = true;
        ended("SNES_DIVERGED_LINEAR_SOLVE: the linear solve failed, " + solve.reason + " after " +
              std::to_string(solve.iterations) + " iterations");
        return false;
      }
      slope_ = problem_.dot(residual_, direction_);
      // With a gap to close the potential may well rise.
      if (free_of_gap && problem_.has_potential() && slope_ >= 0.0) {
        ended("SNES_DIVERGED_LOCAL_MIN: there is no direction of descent");
        continue;
      }
      projected_ = !exact;
      report_.iterations = before + 1;
      report_.projections += projected_;
      if (problem_.has_potential() || !free_of_gap) return search(shortest_step, hold);
      if (projected_) {
        if (search(shortest_step, hold)) return true;
        may_rise_ = true;  // in this search alone: the residual has a maximum on every way down
        const bool found = search(shortest_step, hold);
        may_rise_ = false;
        return found;
      }
      if (search(slope_ < 0.0 ? patient_step : nearly_whole, hold)) return true;
      if (slope_ >= 0.0) continue;
      // Where the last way out has not led to half the residual, another would lead around in a circle.
      if (now_.residual > 0.5 * left_at_ && search(shortest_step, hold)) return true;
      left_at_ = now_.residual;
    }
    return false;
  }

  /// Backtracks along the direction, to no less than `least` of it, until a trial is valid and, with no gap left,
  /// better.
  bool search(double least, bool hold) {
    const bool free_of_gap = hold || at_rest();
    const double progress = problem_.progress(), goal = hold ? progress : problem_.progress_goal();
    problem_.move(y_, 1.0, direction_, trial_);
    double t = std::min(1.0, problem_.max_step(y_, progress, trial_, goal));
    // What turns has another way for each t, which is looked at again; a little less leaves room for that.
    if (progress < goal && t < 1.0) t *= 0.9;
    report_.obstructions += t < 1.0;
    const double admissible = t;
    if (free_of_gap) t *= variation();
    bool further = !free_of_gap && t < 1.0 && !options_.try_exact;
    for (; t > least; t *= std::exchange(further, false) ? 1.0 : 0.5) {
      double closed = t;
      const auto reached = [&] { return closed == 1.0 ? goal : progress + closed * (goal - progress); };
      problem_.move(y_, t, direction_, trial_);
      if (progress < goal && t < 1.0 && problem_.max_step(y_, progress, trial_, reached()) < 1.0) continue;
      if (further) closed = close_gap(t);
      problem_.set_progress(reached());
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
      else if (!hold)  // no gap comes of rounding where there was none
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

  /// Moves the trial's prescribed components from part t of the gap on as far as the terms that limit steps allow: to
  /// its end, to a half of it, … Contact cuts a step by pairs that are near, most of which prescribed components do not
  /// approach, as where they slide along; and as long as there is a gap nothing is minimised. Returns the part of the
  /// gap that the trial has closed.
  double close_gap(double t) {
    const double progress = problem_.progress(), missing = problem_.progress_goal() - progress;
    Field further = y_.like("further");
    for (double s = 1.0; s > std::max(worth_closing * t, least_closing); s *= 0.5) {
      problem_.move(trial_, s - t, gap_, further);
      if (problem_.max_step(y_, progress, further, progress + s * missing) < 1.0) continue;
      std::swap(trial_, further);
      return s;
    }
    return t;
  }

  /// Part of the admissible step that is tried first. Without a potential iterates may repeat after two or three
  /// steps, where friction changes between sticking and sliding; other lengths lead out of such a cycle.
  double variation() const {
    constexpr double parts[] = {1.0, 0.75, 0.5, 0.3};
    const bool may_repeat = !problem_.has_potential() && report_.iterations - progressed_at_ > patience;
    return may_repeat ? parts[report_.iterations % 4] : 1.0;
  }

  /// Doubles a whole step while the potential falls nearly as steeply at its end as where it began: the projected
  /// Jacobian is stiffer than the body where that buckles. Returns the length; `trial` and the trial fields are of it.
  double lengthen(Evaluation& trial) {
    double t = 1.0;
    while (problem_.dot(trial_residual_, direction_) < still_descending * slope_) {
      Field further = y_.like("further"), further_residual = y_.like("further_residual");
      problem_.move(y_, 2.0 * t, direction_, further);
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

  /// Armijo's condition. Where differences of the potential are lost in rounding, halving both residual and slope does
  /// as well: the direction is one of a positive definite matrix. Without a potential, the residual's decrease; or that
  /// R·d, negative where the direction begins, has not turned to half as much the other way: along a line any force
  /// has a potential, and this bounds how far past its minimum a trial may be. The residual may rise there, to the
  /// largest of the last iterations (Grippo, Lampariello & Lucidi 1986). A direction of the exact Jacobian that does
  /// not descend leads to saddles, and iterates repeat around these: it has to take much off the residual.
  bool is_better(const Evaluation& trial, double t) const {
    if (!problem_.has_potential()) {
      if (slope_ >= 0.0 && !projected_) return trial.residual <= much_less * now_.residual;
      return trial.residual <= (1.0 - sufficient_decrease * t) * now_.residual ||
             (slope_ < 0.0 && (may_rise_ || trial.residual <= largest_of_late()) &&
              problem_.dot(trial_residual_, direction_) <= -turned_slope * slope_);
    }
    if (trial.potential <= now_.potential + sufficient_decrease * t * slope_) return true;
    return trial.residual <= 0.5 * now_.residual &&
           std::abs(problem_.dot(trial_residual_, direction_)) <= 0.5 * std::abs(slope_);
  }

  /// Largest residual of the last iterates, N.
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
  double largest_gap_ = 0.0, scale_ = 0.0, slope_ = 0.0;
  bool projected_ = false;    // the direction at hand
  bool curved_down_ = false;  // along the last step, so that the exact Jacobian can be taken for indefinite
  bool may_rise_ = false;     // the residual, above those of the last iterations
  int holds_ = 0;             // steps to come in which prescribed components stay where they are
  int progressed_at_ = 0;     // the iteration that made progress last
  double least_gap_ = std::numeric_limits<double>::infinity(), least_residual_ = 0.0;
  double first_potential_ = 0.0, least_potential_ = 0.0;  // since there is no gap
  /// The residual where, without a potential, the exact Jacobian's direction was given up last.
  double left_at_ = std::numeric_limits<double>::infinity();
  NewtonReport report_;
};

}  // namespace

NewtonReport solve_by_newton(NewtonProblem& problem, const NewtonOptions& options, Field& y, NewtonTrace* trace) {
  return Newton(problem, options, y, trace).run();
}

}  // namespace diffsim::dynamics
