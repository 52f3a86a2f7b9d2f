// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

// Numerical derivatives, with error bounds, of a function of one variable, for checks of derivatives.

namespace diffsim::inverse {

/// Function of one variable that returns NaN where the function is not defined.
using Line = std::function<double(double)>;

/// Returns an estimate of the standard deviation of the rounding noise of f(h) for small h, from Hamming's difference
/// table of values of f at closely spaced points (Moré & Wild 2011). measure_noise() returns at least the rounding
/// error 2⁻⁵³ |f(0)| of the value f(0), which is passed as `at_zero`.
double measure_noise(const Line& f, double at_zero);

/// Step h and the values `plus` = f(h) and `minus` = f(-h) of a function f.
struct LinePair {
  double h = 0.0, plus = 0.0, minus = 0.0;
};

struct SlopeOptions {
  double first_step = 1.0 / 32.0;
  int halvings = 26;          ///< maximum number of halvings of the finite-difference step h
  int least_pairs = 5;        ///< minimum number of pairs of finite values f(h), f(-h) before the halving of h may end
  double resolution = 1e-10;  ///< relative error of the slope f'(0) at which the halving of h ends
};

/// Derivative f'(0) of a function f, computed from finite differences.
struct Slope {
  double value = 0.0;
  /// Bound of the error of the slope `value`, from extrapolation and noise; infinite if `value` was not computed.
  double error = 0.0;
  double step = 0.0;            ///< smallest finite-difference step h from which `value` is computed
  std::vector<LinePair> pairs;  ///< pairs of finite values f(h), f(-h) at successively halved steps h
};

/// Returns the slope f'(0), computed from central differences (f(h) - f(-h))/(2h) with successively halved steps h.
/// Richardson extrapolation of the central differences to h = 0 gives a table of estimates of f'(0) (Ridders 1982);
/// measure_slope() returns the estimate with the smallest error bound. `noise` is the standard deviation of the noise
/// of the function f.
///
/// The error bound of an estimate e in the Richardson table is the largest distance from e to the neighbouring
/// estimates of lower order or larger step, plus three standard deviations of the noise of e. For each estimate e' that
/// follows e in the Richardson table, with a smaller step or a higher order, the error bound of e is at least |e - e'|
/// minus the error bound of e'.
///
/// The halving of h ends when the best estimate `value` of the slope is resolved (error ≤ `options.resolution` ·
/// |`value`|) and agrees with the argument `expected`, which means |`value` - `expected`| ≤ 10 error + 1e-9
/// |`expected`|. The halving of h also ends when three standard deviations of the noise of the central difference
/// exceed a limit. If `value` does not agree with `expected`, the limit is |`value` - `expected`|/10. If `value` agrees
/// with `expected`, the limit is the error of `value`, and h must also be less than `Slope::step`/2. The halving of h
/// also ends when f(h) = f(-h) although f(2h) ≠ f(-2h), as for a piecewise constant function f.
Slope measure_slope(const Line& f, double noise, double expected, const SlopeOptions& options = {});

/// Taylor expansion of a function of one variable: f(h) = value + h slope + h²/2 curvature + remainder.
struct Expansion {
  double value = 0.0, slope = 0.0, curvature = 0.0;
};

/// Orders of convergence of the remainder R(h) of a Taylor expansion.
struct RemainderOrders {
  /// Orders log2(R(h)/R(h/2)) of the remainder R(h) for successive halvings of h, selected by remainder_orders(); empty
  /// if `exact` is true.
  std::vector<double> orders;
  /// Largest step h in the ratios R(h)/R(h/2) whose logarithms are in `orders`; largest h of the argument `pairs` of
  /// remainder_orders() if `exact`.
  double first_step = 0.0;
  bool exact = false;  ///< true if no remainder R(h) exceeds 10 standard deviations of the noise
};

/// Returns the orders log2(R(h)/R(h/2)) of the remainder R(h) = |f(h) - value - h slope - h²/2 curvature| of the Taylor
/// expansion `expansion` of f, for `window` successive halvings of h. Of all sequences of `window` successive halvings
/// of h, remainder_orders() selects the sequence whose orders are closest to the order `wanted`. `pairs` contains
/// values of the function f at successively halved steps h, and `noise` is the standard deviation of the noise of f.
RemainderOrders remainder_orders(const std::vector<LinePair>& pairs, const Expansion& expansion, double noise,
                                 double wanted, int window);

}  // namespace diffsim::inverse
