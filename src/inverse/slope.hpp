// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

// Derivatives of a function of one variable by differences, with their errors: what checks of derivatives rest on.

namespace diffsim::inverse {

/// A function of one variable; NaN where it has no value.
using Line = std::function<double(double)>;

/// Standard deviation of the noise in f near 0, by Hamming's table of differences of values at tiny distances
/// (Moré & Wild 2011); at least the rounding of f(0), which is given.
double measure_noise(const Line& f, double at_zero);

/// f(h) and f(-h).
struct LinePair {
  double h = 0.0, plus = 0.0, minus = 0.0;
};

struct SlopeOptions {
  double first_step = 1.0 / 32.0;
  int halvings = 26;          ///< of the step, at most
  int least_pairs = 5;        ///< of values, where they exist
  double resolution = 1e-10;  ///< relative error that ends the search
};

/// Derivative f'(0) by differences.
struct Slope {
  double value = 0.0;
  double error = 0.0;           ///< bound of its error, from agreement and noise; infinite where nothing agreed
  double step = 0.0;            ///< h of the last pair that `value` is made of
  std::vector<LinePair> pairs;  ///< of one run of halvings, all with values
};

/// Central differences with steps that are halved, extrapolated by Richardson's method in a table (Ridders 1982). An
/// entry's error is the largest of its distances from its three neighbours of larger steps and lower order, and what
/// `noise` in f makes of it, and no less than what entries of smaller steps contradict; the entry of the least error is
/// taken. Ends when that is small beside the entry, and
/// beside its distance from `expected` too: a difference from what is expected is looked at with all steps.
Slope measure_slope(const Line& f, double noise, double expected, const SlopeOptions& options = {});

/// f(h) = value + h slope + h²/2 curvature + remainder.
struct Expansion {
  double value = 0.0, slope = 0.0, curvature = 0.0;
};

/// Orders of a remainder.
struct RemainderOrders {
  std::vector<double> orders;  ///< log2(R(h)/R(h/2)) over successive halvings, of the window closest to what is wanted
  double first_step = 0.0;     ///< h at which that window begins
  bool exact = false;          ///< no remainder is above the noise
};

/// Orders of R(h) = |f(h) - expansion| over `window` halvings, of the window closest to `wanted`.
RemainderOrders remainder_orders(const std::vector<LinePair>& pairs, const Expansion& expansion, double noise,
                                 double wanted, int window);

}  // namespace diffsim::inverse
