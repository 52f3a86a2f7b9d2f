// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

// Numerical derivatives of a function of one variable with error bounds, for checks of derivatives.

namespace diffsim::inverse {

/// Function of one variable; NaN where the function is not defined.
using Line = std::function<double(double)>;

/// Standard deviation of the noise of f(h) for small h, which rounding errors cause, from Hamming's difference table of
/// values at closely spaced points (Moré & Wild 2011). The result is at least the rounding error of f(0) = `at_zero`.
double measure_noise(const Line& f, double at_zero);

/// Values f(h) and f(-h) of a function f.
struct LinePair {
  double h = 0.0, plus = 0.0, minus = 0.0;
};

struct SlopeOptions {
  double first_step = 1.0 / 32.0;
  int halvings = 26;          ///< maximum number of halvings of the step
  int least_pairs = 5;        ///< minimum number of pairs of finite values f(h), f(-h) before the halving may end
  double resolution = 1e-10;  ///< relative error of the slope at which the halving ends
};

/// Derivative f'(0) computed from finite differences.
struct Slope {
  double value = 0.0;
  double error = 0.0;  ///< bound of the error of `value`, from extrapolation and noise; infinite if there is no value
  double step = 0.0;   ///< smallest h of the pairs from which `value` is computed
  std::vector<LinePair> pairs;  ///< pairs of finite values at successively halved h
};

/// Returns f'(0) from central differences (f(h) - f(-h))/(2h) with successively halved steps h. Richardson's method
/// extrapolates the differences to h = 0 in a table of estimates (Ridders 1982).
///
/// `noise`: standard deviation of the noise of f. The error bound of an estimate is the largest distance to the
/// neighbouring estimates of lower order or larger step, plus three standard deviations of the noise of the estimate.
/// For each estimate e' of smaller steps, the bound is at least the distance to e' minus the error bound of e'. The
/// estimate with the least bound is returned.
///
/// The halving ends when the best estimate is resolved (error ≤ `options.resolution` · |value|) and agrees with
/// `expected`, which means |value - `expected`| ≤ 10 error + 1e-9 |`expected`|. The halving also ends when three
/// standard deviations of the noise of the central difference exceed the error of an estimate that agrees with
/// `expected`, or a tenth of |value - `expected`| for an estimate that does not agree.
Slope measure_slope(const Line& f, double noise, double expected, const SlopeOptions& options = {});

/// Taylor expansion of a function of one variable: f(h) = value + h slope + h²/2 curvature + remainder.
struct Expansion {
  double value = 0.0, slope = 0.0, curvature = 0.0;
};

/// Orders of convergence of the remainder R(h) of a Taylor expansion.
struct RemainderOrders {
  std::vector<double> orders;  ///< log2(R(h)/R(h/2)) for the chosen successive halvings of h
  double first_step = 0.0;     ///< largest h of the chosen halvings
  bool exact = false;          ///< true: no R(h) exceeds 10 standard deviations of the noise
};

/// Returns the orders log2(R(h)/R(h/2)) of the remainder R(h) = |f(h) - value - h slope - h²/2 curvature| of
/// `expansion`, for `window` successive halvings of h. `pairs`: values of f. `noise`: standard deviation of the noise
/// of f. Of all sequences of `window` successive halvings, the sequence whose orders are closest to `wanted` is used.
RemainderOrders remainder_orders(const std::vector<LinePair>& pairs, const Expansion& expansion, double noise,
                                 double wanted, int window);

}  // namespace diffsim::inverse
