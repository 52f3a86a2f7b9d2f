// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/gradient_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/check_tools.hpp"

namespace diffsim {

using namespace inverse;

namespace {

constexpr int slope_window = 4;  // number of halvings in the window of Taylor orders
/// Least amplification for which a gradient is reported as exploded. The linearisation of an exploded gradient is valid
/// only for changes of the unknown below the unknown's magnitude divided by the amplification.
constexpr double exploded_from = 1e4;
/// Number of standard deviations of the noise below which a change of L is considered zero.
constexpr double deviations = 10.0;

/// Sum of the squares of a field's owned entries over all ranks. Collective.
double squared_norm(const Field& field, MPI_Comm comm) {
  const std::vector<double> values = field.to_host();
  double sum = 0.0;
  for (std::size_t i = 0; i < field.owned_size(); ++i) sum += values[i] * values[i];
  return sum_over_ranks(sum, comm);
}

/// Adds factor · tangent/‖tangent‖ to `weights`, field by field. Skips fields of `tangent` whose norm is zero or not
/// finite.
void add_normed(const State& tangent, double factor, MPI_Comm comm, State& weights) {
  for (std::size_t f = 0; f < weights.fields().size(); ++f) {
    const double norm = std::sqrt(squared_norm(tangent.fields()[f], comm));
    if (!(norm > 0.0) || !std::isfinite(norm)) continue;
    const std::vector<double> t = tangent.fields()[f].to_host();
    std::vector<double> sum = weights.fields()[f].to_host();
    for (std::size_t i = 0; i < tangent.fields()[f].owned_size(); ++i) sum[i] += factor / norm * t[i];
    weights.fields()[f].from_host(sum);
  }
}

State random_state(const State& like, unsigned seed, MPI_Comm comm) {
  State result = like.zero_like();
  std::mt19937_64 random = generator(seed, comm);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  for (Field& field : result.fields()) {
    std::vector<double> values(field.size(), 0.0);
    for (std::size_t i = 0; i < field.owned_size(); ++i) values[i] = number(random);
    field.from_host(values);
  }
  return result;
}

/// Check of the gradient with respect to each unknown, at the point u.
class GradientCheck {
 public:
  GradientCheck(InverseProblem& problem, const std::vector<double>& u, const GradientCheckOptions& options)
      : problem_(problem), comm_(problem.comm()), u_(u), options_(options), solver_(problem, u) {
    for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
      directions_.push_back(random_direction(problem, k, u, options.seed + static_cast<unsigned>(k)));
      checks_.emplace_back().name = problem.unknowns()[k].name();
    }
  }

  std::vector<UnknownCheck> run() {
    multiply_if_possible();
    if (options_.differences) {
      take_gradients();
      measure_loss_noise();
      for (std::size_t k = 0; k < checks_.size(); ++k) take_differences(k);
    }
    for (std::size_t k = 0; k < checks_.size(); ++k) {
      judge(k);
      checks_[k].passed = checks_[k].verdict == CheckVerdict::passed || checks_[k].verdict == CheckVerdict::independent;
    }
    return checks_;
  }

 private:
  double dot_product_tolerance() const {
    return std::max(options_.dot_product_tolerance, 10.0 * solver_.given_tolerance());
  }

  /// Calls `multiply`. If forward mode is not available, for example because a link of the user has no tangent, only
  /// finite differences test the derivatives: `no_products_` is set to the reason. Throws the Error of `multiply` if
  /// finite differences were not requested, or if not all ranks have an Error of the kind `input`.
  void multiply_if_possible() {
    std::exception_ptr error;
    std::string reason;
    try {
      multiply();
    } catch (const Error& caught) {
      error = std::current_exception();
      if (caught.kind() == ErrorKind::input) reason = caught.what();
    } catch (...) {  // for example an exception of a function in another language
      error = std::current_exception();
    }
    // A rank that received the Error of another rank, which has another kind, must not continue alone.
    const std::int64_t num_failed = sum_over_ranks(static_cast<std::int64_t>(error ? 1 : 0), comm_),
                       num_known = sum_over_ranks(static_cast<std::int64_t>(reason.empty() ? 0 : 1), comm_);
    if (num_failed == 0) return;
    if (error && (num_known < num_ranks(comm_) || !options_.differences)) std::rethrow_exception(error);
    if (num_known < num_ranks(comm_)) throw Error("a derivative in forward mode failed on another rank");
    no_products_ = reason;
    for (UnknownCheck& check : checks_) check.dot_product_error = check.amplification = std::nan("");
  }

  /// Computes J v for each direction v, and Jᵀ w for one state w, where J = ∂x[N]/∂u. The state w is random, but has a
  /// component along every J v, so that ⟨J v, w⟩ loses no digits to cancellation.
  void multiply() {
    std::mt19937 random(options_.seed);  // the same on every rank
    std::uniform_real_distribution<double> factor(0.5, 1.5);
    std::vector<State> tangents(checks_.size());
    State weights, state;
    for (std::size_t k = 0; k < checks_.size(); ++k) {
      problem_.final_state(u_, directions_[k], state, tangents[k]);
      if (k == 0) weights = state.zero_like();
      add_normed(tangents[k], factor(random), comm_, weights);
      const double size = squared_norm(state.fields().front(), comm_),
                   moved = squared_norm(tangents[k].fields().front(), comm_);
      checks_[k].amplification = moved == 0.0 ? 0.0 : std::sqrt(moved / size);
    }
    add_normed(random_state(weights, options_.seed + 1000, comm_), 1.0, comm_, weights);
    const std::vector<double> transposed = problem_.final_state_adjoint(u_, weights);
    for (std::size_t k = 0; k < checks_.size(); ++k) {
      const double forward = sum_over_ranks(local_dot(tangents[k], weights), comm_);
      const double reverse = inner_product(directions_[k], transposed, comm_);
      const double scale = std::max(std::abs(forward), std::abs(reverse));
      // If an inner product is NaN, the error is NaN and the check fails.
      checks_[k].dot_product_error = scale == 0.0 ? 0.0 : std::abs(forward - reverse) / scale;
    }
  }

  /// Computes ∇L with tightened tolerances of the solver and, for each direction v, the change of ⟨∇L, v⟩ that the
  /// given tolerances cause.
  void take_gradients() {
    loss_ = gradient_even_if_not_finite(problem_, u_, gradient_, not_finite_);
    std::vector<double> as_given = gradient_;
    if (solver_.given_tolerance() > 0.0) {
      solver_.loosen();
      std::string ignored;
      gradient_even_if_not_finite(problem_, u_, as_given, ignored);
      solver_.tighten();
    }
    for (std::size_t k = 0; k < checks_.size(); ++k) {
      checks_[k].slope = inner_product(gradient_, directions_[k], comm_);
      checks_[k].solver_effect = std::abs(inner_product(as_given, directions_[k], comm_) - checks_[k].slope);
    }
  }

  void measure_loss_noise() {
    std::vector<double> together(u_.size(), 0.0);
    for (const std::vector<double>& direction : directions_)
      for (std::size_t i = 0; i < together.size(); ++i) together[i] += direction[i];
    noise_ = measure_noise(line(together), loss_);
  }

  Line line(const std::vector<double>& direction) {
    return along(u_, direction, [this](const std::vector<double>& moved) { return problem_.value(moved); });
  }

  void take_differences(std::size_t k) {
    UnknownCheck& check = checks_[k];
    const Slope measured = measure_slope(line(directions_[k]), noise_, check.slope);
    check.noise = noise_;
    check.difference = measured.value;
    check.difference_error = measured.error;
    const RemainderOrders remainder =
        remainder_orders(measured.pairs, {loss_, check.slope, 0.0}, noise_, 2.0, slope_window);
    check.taylor_orders = remainder.orders;
    check.first_step = remainder.first_step;
    check.linear = remainder.exact;
    largest_change_ = largest_rate_ = 0.0;
    for (const LinePair& pair : measured.pairs)
      for (const double value : {pair.plus, pair.minus}) {
        largest_change_ = std::max(largest_change_, std::abs(value - loss_));
        largest_rate_ = std::max(largest_rate_, std::abs(value - loss_) / pair.h);
      }
    widest_ = measured.pairs.empty() ? 0.0 : measured.pairs.front().h;
    step_ = measured.step;
    compare(k);
  }

  /// Sets the verdict for unknown k by comparing the slope ⟨∇L, v⟩ with the finite difference.
  void compare(std::size_t k) {
    UnknownCheck& check = checks_[k];
    const bool exploded = check.amplification >= exploded_from;
    if (!std::isfinite(check.slope)) {
      check.note = "the gradient is not finite" + (not_finite_.empty() ? "" : ": " + not_finite_);
      return;
    }
    if (exploded)
      check.note = fmt::format(
          "the gradient has exploded: a change of the parameter by its own size would change the final state by {:.0e} "
          "of the state's size; use fewer steps, a smaller dt or an integrator with damping, such as implicit_euler",
          check.amplification);
    if (!std::isfinite(check.difference_error)) {
      check.verdict = CheckVerdict::unresolved;
      note(check,
           "no finite differences to compare with: the rollouts fail on both sides, or their differences do not agree");
      return;
    }
    // Rounding error of ⟨∇L, v⟩, whose terms may cancel.
    double entries = 0.0;
    for (std::size_t i = 0; i < gradient_.size(); ++i) entries += std::abs(gradient_[i] * directions_[k][i]);
    const double rounding = dot_product_tolerance() * sum_over_ranks(entries, comm_);
    const double size = std::max(std::abs(check.slope), std::abs(check.difference));
    const double error = std::abs(check.slope - check.difference);
    const double allowed = std::max(options_.slope_tolerance * size, safety * check.difference_error) + rounding;
    if (error > allowed) {
      // If the step of the finite differences is beyond the range in which the motion is linear, the differences cannot
      // verify an exploded gradient.
      if (exploded && step_ * check.amplification > 1.0) {
        check.verdict = CheckVerdict::unresolved;
        return;
      }
      note(check, fmt::format("relative error {:.1e}; differences resolve {:.0e}", error / size,
                              check.difference_error / size));
      return;
    }
    if (largest_change_ <= deviations * noise_ && size <= allowed) {
      check.verdict = CheckVerdict::independent;
      note(check,
           fmt::format(
               "the loss does not depend on the parameter: changes by up to {:.0f} % change the loss by rounding only",
               100.0 * widest_));
    } else if (allowed <= options_.resolution * std::max(size, options_.resolution * largest_rate_)) {
      // For a slope close to zero, the allowed error is compared with the rate at which the loss changes over larger
      // steps.
      check.verdict = CheckVerdict::passed;
    } else {
      check.verdict = CheckVerdict::unresolved;
      note(check,
           fmt::format(
               "not resolvable: relative noise {:.0e} of the loss hides relative errors of the slope below {:.0e}",
               noise_ / std::abs(loss_), allowed / size));
    }
  }

  static void note(UnknownCheck& check, const std::string& words) {
    check.note += (check.note.empty() ? "" : "; ") + words;
  }

  /// Sets the verdict for unknown k to `failed` if the dot-product test fails. If the test passes and no finite
  /// differences were requested, the verdict is `passed`. Without a dot-product test, the verdict does not change.
  void judge(std::size_t k) {
    UnknownCheck& check = checks_[k];
    if (!no_products_.empty()) {
      note(check, "only finite differences were compared: " + no_products_);
      return;
    }
    if (!options_.differences) check.verdict = CheckVerdict::passed;
    if (check.dot_product_error <= dot_product_tolerance()) return;
    check.verdict = CheckVerdict::failed;
    note(check,
         fmt::format("products with the Jacobian and with its transpose differ by {:.1e}", check.dot_product_error));
  }

  InverseProblem& problem_;
  MPI_Comm comm_;
  const std::vector<double>& u_;
  const GradientCheckOptions& options_;
  TightSolver solver_;
  std::vector<std::vector<double>> directions_;
  std::vector<UnknownCheck> checks_;
  std::vector<double> gradient_;
  std::string no_products_;  // reason why dot products were not tested; empty if they were tested
  std::string not_finite_;   // message about the first value that is not finite; empty if all are finite
  double loss_ = 0.0, noise_ = 0.0;
  // Data of the current unknown's finite differences: largest |change of L|, largest |change of L|/step, largest step,
  // and the step of the accepted difference.
  double largest_change_ = 0.0, largest_rate_ = 0.0, widest_ = 0.0, step_ = 0.0;
};

}  // namespace

const char* to_string(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::passed:
      return "passed";
    case CheckVerdict::independent:
      return "independent";
    case CheckVerdict::unresolved:
      return "unresolved";
    case CheckVerdict::failed:
      break;
  }
  return "failed";
}

std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options) {
  std::vector<UnknownCheck> checks = GradientCheck(problem, u, options).run();
  problem.set(u);
  return checks;
}

}  // namespace diffsim
